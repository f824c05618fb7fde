"""The demonstration on the embedded World graph: what `make demo` runs."""

from __future__ import annotations

import shutil
import sys
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
from rich.console import Console
from rich.text import Text

from kgreckon.answers import Answerer
from kgreckon.benchmark import Benchmark, BuildSettings, Split, build
from kgreckon.benchmark.examples import Example, example_queries
from kgreckon.cli.benchmark_tables import BuildBar, print_example
from kgreckon.cli.console import console, print_table
from kgreckon.cli.graph_tables import print_answers, print_question, print_statistics
from kgreckon.cli.run_tables import RankingBar, TrainingBar, print_comparison
from kgreckon.exact import ask
from kgreckon.graph import KnowledgeGraph, world
from kgreckon.graph.statistics import graph_statistics
from kgreckon.query import Builder, Query, greater_than
from kgreckon.runs import Run, is_run_folder, resume, train
from kgreckon.runs.comparing import compare_runs


@dataclass(frozen=True)
class DemoQuestion:
    """A question as a person asks it, and as a query."""

    words: str
    query: Query


def questions(graph: KnowledgeGraph) -> list[DemoQuestion]:
    """The three questions of the demonstration."""
    which, the = Builder(graph.vocabulary).words()
    cities, airports, countries = (which("is_a", kind) for kind in ("City", "Airport", "Country"))
    japanese = cities & which("in_country", "Japan")
    return [
        DemoQuestion(
            "Which cities lie north of a Japanese city?",
            cities & which("latitude", greater_than(the("latitude", of=japanese))),
        ),
        DemoQuestion(
            "Which airports lie more than twice as high as the one in Zürich?",
            airports & which("elevation", greater_than(the("elevation", of="Zürich Airport"), times=2)),
        ),
        DemoQuestion(
            "Which neighbours of a French-speaking country have more than twice as many people as France?",
            countries
            & which("borders", which("speaks", "French"))
            & which("population", greater_than(the("population", of="France"), times=2)),
        ),
    ]


# Enough training queries of each type to see what a benchmark is, few enough for a demonstration.
QUERIES = 5000
MODEL = "query2box"
RANK = 32  # of the reckoner: half of what its small preset has, for a minute of training
SHOWN = 8
INFERRED = 3  # answers of the reckoner to each question
EVALUATED = 150  # testing queries of each type


def run(folder: Path) -> None:
    """Show the World graph, make a benchmark of it in `folder`, answer questions exactly, train models, and infer."""
    out = console()
    graph = _show_world(out)
    made = _build_benchmark(graph, folder / "world-benchmark", out)
    _answer_questions(graph, out)
    _heading(out, "4. Two models learn from the training graph: numbers as entities, and the Number Reasoning Network")
    runs = [
        _train(made, folder / f"world-{MODEL}-{encoding}", {"model": MODEL, "encoding": encoding})
        for encoding in ("baseline", "sinusoidal")
    ]
    print_comparison(compare_runs([run.folder for run in runs]), out)
    out.print(
        f"On {EVALUATED} testing queries of each type. A minute of training says little about a model:", style="dim"
    )
    out.print("docs/results.md has the paper's benchmark.", style="dim")
    _infer_answers(runs[-1], made, out)
    _heading(out, "6. The reckoner: the logic stays exact, single facts are predicted")
    reckoner = _train(made, folder / "world-reckoner", {"model": "reckoner", "rank": RANK})
    print_comparison(compare_runs([run.folder for run in (*runs, reckoner)]), out)
    _infer_with_reasons(reckoner, made, out)
    out.print("\nAsk your own:")
    question = "'the capital of Japan'"
    out.print(f"{_program()} ask world {question}", style="bold", soft_wrap=True, highlight=False)
    out.print(f"Look further: {_program()} --help, README.md, docs/", soft_wrap=True, highlight=False)
    out.print("\nOpen the page on what was just trained:")
    out.print(f"{_program()} serve {reckoner.folder} --open", style="bold", soft_wrap=True, highlight=False)


def _program() -> str:
    """The command as this shell can call it: a virtual environment that is not active needs the path."""
    path = Path(sys.executable).with_name("kgreckon")
    if shutil.which("kgreckon") or not path.is_file():
        return "kgreckon"
    return str(path.relative_to(Path.cwd()) if path.is_relative_to(Path.cwd()) else path)


def _show_world(out: Console) -> KnowledgeGraph:
    _heading(out, "1. The World graph: what is in it")
    start = perf_counter()
    graph = world()
    opened = perf_counter() - start
    print_statistics(graph_statistics(graph), "World", 14, out)
    out.print(f"opened in {opened * 1000:.0f} ms", style="dim")
    return graph


def _build_benchmark(graph: KnowledgeGraph, folder: Path, out: Console) -> Benchmark:
    _heading(out, "2. A benchmark: facts are held out, and queries ask for them")
    with BuildBar() as progress:
        made = build(graph, folder, BuildSettings.choose(graph, queries=QUERIES), progress=progress)
    types = list(made.types)
    rows = [(split.label, *(made.summary(split, name)["found"] for name in types)) for split in Split]
    print_table(out, f"Queries by type, in {folder}", ("graph", *types), rows)
    out.print(
        "Two testing queries. An easy answer follows from the facts that a model may learn from, a hard one does not:"
    )
    for example in _examples(made):
        print_example(example, made.graph, 5, out)
    return made


def _examples(made: Benchmark) -> list[Example]:
    return [example_queries(made, Split.TEST, name, 1, seed=2)[0] for name in ("1p", "2i")]


def _answer_questions(graph: KnowledgeGraph, out: Console) -> None:
    _heading(out, "3. Three questions, answered exactly: what the graph proves")
    asked = questions(graph)
    for question in asked:  # compiles what has not been compiled yet, so that what follows is timed without it
        ask(graph, question.query)
    for question in asked:
        out.print(f"\n{question.words}", style="bold green")
        start = perf_counter()
        answers = ask(graph, question.query)
        elapsed = perf_counter() - start
        print_question(question.query, graph, out)
        print_answers(question.query, answers, graph, 10, out)
        out.print(f"answered in {elapsed * 1000:.1f} ms", style="dim")


def _train(made: Benchmark, folder: Path, chosen: dict[str, Any]) -> Run:
    """A model of the demonstration: trained and evaluated, unless an earlier one did it."""
    if is_run_folder(folder) and (folder / "test_metrics.json").is_file():
        return Run.open(folder)
    with TrainingBar() as bar:
        if is_run_folder(folder):
            run = resume(folder, made.folder, bar)
        else:
            run = train(made, out=folder, preset="small", progress=bar, **chosen)
    with RankingBar() as bar:
        run.evaluate(benchmark=made.folder, queries_per_type=EVALUATED, advance=bar.advance)
    return run


def _infer_answers(run: Run, made: Benchmark, out: Console) -> None:
    _heading(out, "5. The three questions again, answered by a model that saw four fifths of the facts")
    answerer, graph = Answerer.open(run.folder, made.folder, "cpu", known="train"), made.graph
    for question in questions(graph):
        true = set(ask(graph, question.query).tolist())
        ranking = answerer.rank(question.query)
        proved, candidates = set(ranking.proved.tolist()), ranking.candidates
        best = np.argsort(-candidates.scores, kind="stable")[:SHOWN]
        rows = [
            (
                graph.entities.label(entity),
                f"{score:.4f}",
                "observed" if entity in proved else "inferred",
                "yes" if entity in true else "no",
            )
            for entity, score in zip(candidates.ids[best].tolist(), candidates.scores[best].tolist(), strict=True)
        ]
        out.print(f"\n{question.words}", style="bold green")
        columns = ("answer", "share of the score", "in the training graph", "in the whole graph")
        print_table(out, f"the {SHOWN} best of {len(graph.entities):,} candidates", columns, rows)


def _infer_with_reasons(run: Run, made: Benchmark, out: Console) -> None:
    """The likeliest answers that the training graph does not prove, each with the facts it rests on."""
    answerer = Answerer.open(run.folder, made.folder, "cpu", known="train")
    for question in questions(made.graph):
        answers = answerer.ask(question.query, INFERRED, "inferred", explain=True)
        true = {made.graph.entities.name(entity) for entity in ask(made.graph, question.query).tolist()}
        out.print(f"\n{question.words}", style="bold green")
        out.print(f"{answers.observed:,} answers follow from the training graph; the likeliest others:")
        for answer in answers:
            told = "the whole graph has it" if answer.name in true else "the whole graph does not have it"
            out.print(Text.assemble((answer.label, "bold"), f" {answer.score:.3f}: {told}"))
            for line in answer.reason.lines() if answer.reason is not None else ():
                out.print(f"    {line}", style="dim")


def _heading(out: Console, text: str) -> None:
    out.print(f"\n{text}", style="bold")
    out.print("─" * len(text))
