"""The demonstration on the embedded World graph: what `make demo` runs."""

from __future__ import annotations

from dataclasses import dataclass
from time import perf_counter

from rich.console import Console

from kgreckon.display import console, notes, print_answers, print_question, print_statistics
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


def run() -> None:
    """Show the World graph and answer three questions exactly."""
    out = console()
    start = perf_counter()
    graph = world()
    opened = perf_counter() - start
    _heading(out, "1. The World graph: what is in it")
    print_statistics(graph_statistics(graph), "World", 12, out)
    out.print(f"opened in {opened * 1000:.0f} ms", style="dim")
    _heading(out, "2. Three questions, answered exactly: what the graph proves")
    with notes().status("compiling the set operations (kept for the next time) ..."):
        for question in questions(graph):
            ask(graph, question.query)
    for question in questions(graph):
        out.print(f"\n[bold green]{question.words}[/bold green]")
        start = perf_counter()
        answers = ask(graph, question.query)
        elapsed = perf_counter() - start
        print_question(question.query, graph, out)
        print_answers(question.query, answers, graph, 10, out)
        out.print(f"answered in {elapsed * 1000:.1f} ms", style="dim")
    out.print("\nAsk your own: [bold].venv/bin/kgreckon ask world '(rp,(^capital_of),(e,(Japan)))'[/bold]")


def _heading(out: Console, text: str) -> None:
    out.print()
    out.rule(f"[bold]{text}", align="left")
