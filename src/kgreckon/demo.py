"""The demonstration on the embedded World graph: what `make demo` runs."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from time import perf_counter

from rich.console import Console

from kgreckon.benchmark import Benchmark, BuildSettings, Split, build
from kgreckon.benchmark.examples import Example, example_queries
from kgreckon.display import (
    BuildProgress,
    console,
    notes,
    print_answers,
    print_example,
    print_question,
    print_statistics,
    print_table,
)
from kgreckon.exact import ask
from kgreckon.graph import KnowledgeGraph, world
from kgreckon.graph.statistics import graph_statistics
from kgreckon.query import Builder, Query, at_most, greater_than


@dataclass(frozen=True)
class Question:
    """A question as a person asks it, and as a query."""

    words: str
    query: Query


def questions(graph: KnowledgeGraph) -> list[Question]:
    """The three questions of the demonstration."""
    which, the = Builder(graph.vocabulary).words()
    cities, airports, countries = (which("is_a", kind) for kind in ("City", "Airport", "Country"))
    japanese = cities & which("in_country", "Japan")
    swiss = airports & which("in_country", "Switzerland")
    return [
        Question(
            "Which cities lie north of a Japanese city?",
            cities & which("latitude", greater_than(the("latitude", of=japanese))),
        ),
        Question(
            "Which airports lie higher than every airport in Switzerland?",
            airports & which("elevation", ~at_most(the("elevation", of=swiss))),
        ),
        Question(
            "Which neighbours of a French-speaking country have more than twice as many people as France?",
            countries
            & which("borders", which("speaks", "French"))
            & which("population", greater_than(the("population", of="France"), times=2)),
        ),
    ]


# Enough training queries of each type to see what a benchmark is, few enough for a demonstration.
QUERIES = 5000


def run(folder: Path) -> None:
    """Show the World graph, make a benchmark of it in `folder`, and answer three questions exactly."""
    out = console()
    graph = _show_world(out)
    _build_benchmark(graph, folder / "world-benchmark", out)
    _answer_questions(graph, out)
    out.print("\nAsk your own: [bold]kgreckon ask world '(rp,(^capital_of),(e,(Japan)))'[/bold]")
    out.print("Look further: [bold]kgreckon --help[/bold], README.md, docs/")
    out.print("(kgreckon is in .venv/bin unless you installed it elsewhere.)", style="dim")


def _show_world(out: Console) -> KnowledgeGraph:
    _heading(out, "1. The World graph: what is in it")
    start = perf_counter()
    graph = world()
    opened = perf_counter() - start
    print_statistics(graph_statistics(graph), "World", 14, out)
    out.print(f"opened in {opened * 1000:.0f} ms", style="dim")
    return graph


def _build_benchmark(graph: KnowledgeGraph, folder: Path, out: Console) -> None:
    _heading(out, "2. A benchmark: facts are held out, and queries ask for them")
    with BuildProgress() as progress:
        made = build(graph, folder, BuildSettings.choose(graph, queries=QUERIES), progress=progress)
    types = list(made.types)
    rows = [(split.label, *(made.summary(split, name)["found"] for name in types)) for split in Split]
    print_table(out, f"Queries by type, in {folder}", ("graph", *types), rows)
    out.print(
        "Two testing queries. An easy answer follows from the facts that a model may learn from, a hard one does not:"
    )
    for example in _examples(made):
        print_example(example, made.graph, 5, out)


def _examples(made: Benchmark) -> list[Example]:
    return [example_queries(made, Split.TEST, name, 1, seed=2)[0] for name in ("1p", "2i")]


def _answer_questions(graph: KnowledgeGraph, out: Console) -> None:
    _heading(out, "3. Three questions, answered exactly: what the graph proves")
    asked = questions(graph)
    with notes().status("compiling the set operations (kept for the next time) ..."):
        for question in asked:
            ask(graph, question.query)
    for question in asked:
        out.print(f"\n[bold green]{question.words}[/bold green]")
        start = perf_counter()
        answers = ask(graph, question.query)
        elapsed = perf_counter() - start
        print_question(question.query, graph, out)
        print_answers(question.query, answers, graph, 10, out)
        out.print(f"answered in {elapsed * 1000:.1f} ms", style="dim")


def _heading(out: Console, text: str) -> None:
    out.print()
    out.rule(f"[bold]{text}", align="left")
