"""Commands that answer: ask, serve, predict, demo."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from kgreckon.cli.app import AsJson, MovedBenchmark, NumbersOption, app, print_json
from kgreckon.errors import UserError

if TYPE_CHECKING:
    from kgreckon.graph import KnowledgeGraph


class OnlyOption(StrEnum):
    """Which answers of a run are shown."""

    OBSERVED = "observed"
    INFERRED = "inferred"


@app.command()
def ask(
    graph: Annotated[
        str, typer.Argument(help="A graph folder, an MMKG folder, 'world', or a run folder for inferred answers too.")
    ],
    query: Annotated[
        str, typer.Argument(help="A query: (rp,(^in_country),(e,(Japan))) in the paper's notation, or SPARQL.")
    ],
    exact: Annotated[
        bool | None,
        typer.Option("--exact/--no-exact", help="Only answers that the graph proves; a graph has no others."),
    ] = None,
    only: Annotated[
        OnlyOption | None, typer.Option(help="Of a run: only what the graph proves, or only what is inferred.")
    ] = None,
    why: Annotated[bool, typer.Option("--explain", help="Give the reason of each answer.")] = False,
    numbers: Annotated[
        NumbersOption, typer.Option(help="Compare numbers by arithmetic, or along a graph's numerical edges.")
    ] = NumbersOption.COMPUTED,
    limit: Annotated[
        int | None, typer.Option(min=1, help="How many answers to show: 20, or what a SPARQL query's LIMIT says.")
    ] = None,
    benchmark: MovedBenchmark = None,
    as_json: AsJson = False,
) -> None:
    """Answer a query: what a graph proves, or what a trained run infers beside it."""
    from kgreckon.exact import Numbers
    from kgreckon.exact import ask as ask_exactly
    from kgreckon.exact.answers import as_json as answers_as_json
    from kgreckon.graph import open_graph
    from kgreckon.query.reading import answers_wanted, read_query
    from kgreckon.terminal.graphs import print_answers, print_question
    from kgreckon.terminal.tables import console

    is_run = (Path(graph) / "run.json").is_file()  # known without loading torch, which a graph does not need
    if is_run and not exact:
        if numbers is NumbersOption.SAMPLED:
            raise UserError(
                f"{graph} is a run, which compares by arithmetic: numerical edges are a graph's, or --exact"
            )
        _ask_run(graph, benchmark, query, limit, only, why, as_json)
        return
    if only is OnlyOption.INFERRED:
        remedy = "--exact leaves out what is inferred" if is_run else "only a trained run infers more"
        raise UserError(f"{graph} is asked for what it proves: {remedy}")
    if exact is False:
        raise UserError(f"{graph} is a graph, not a trained model: it has exact answers only")
    if why and numbers is NumbersOption.SAMPLED:
        raise UserError("a reason compares by arithmetic: --explain is not for sampled numerical edges")
    opened = _graph_of_run(graph, benchmark) if is_run else open_graph(graph)
    parsed, own_limit = read_query(query, opened.vocabulary)
    limit = answers_wanted(limit, own_limit)
    answers = ask_exactly(opened, parsed, Numbers(numbers.value))
    shown = answers[:limit].tolist()
    reasons = []
    if why:
        from kgreckon.answering import name_of, witnesses
        from kgreckon.terminal.answers import print_reason

        reasons = witnesses(opened, parsed, shown)
    if as_json:
        print_json(answers_as_json(opened, parsed, answers, limit) | ({"reasons": reasons} if why else {}))
        return
    out = console()
    print_question(parsed, opened, out)
    print_answers(parsed, answers, opened, limit, out)
    for answer, reason in zip(shown, reasons, strict=False):
        print_reason(name_of(opened, parsed, answer), reason, out)


def _graph_of_run(run: str, benchmark: Path | None) -> KnowledgeGraph:
    from kgreckon.training import Run

    return Run.open(run).benchmark(benchmark).graph


def _ask_run(
    run: str, benchmark: Path | None, query: str, limit: int | None, only: OnlyOption | None, why: bool, as_json: bool
) -> None:
    from kgreckon.answering import Answerer, Only
    from kgreckon.terminal.answers import print_ranked
    from kgreckon.terminal.tables import console

    answerer = Answerer.open(run, benchmark, "cpu")
    found = answerer.ask(query, limit, None if only is None else Only(only.value))
    reasons = answerer.explain_all(query, [answer.id for answer in found.answers]) if why else []
    if as_json:
        print_json(found.as_json() | ({"reasons": reasons} if why else {}))
    else:
        print_ranked(found, reasons, console())


@app.command()
def serve(
    place: Annotated[
        str, typer.Argument(metavar="RUN", help="A run folder; or a graph folder or 'world', for exact answers only.")
    ],
    host: Annotated[str, typer.Option(help="The address to listen at; only this machine can reach the usual one.")] = (
        "127.0.0.1"
    ),
    port: Annotated[int, typer.Option(min=0, max=65535, help="The port to listen at; 0 for any that is free.")] = 8000,
    open_page: Annotated[bool, typer.Option("--open", help="Show the page in a browser.")] = False,
    seconds: Annotated[float, typer.Option(min=0.1, help="The longest that one request may take.")] = 10.0,
    at_once: Annotated[int, typer.Option(min=1, help="Requests that are computed at the same time.")] = 2,
    waiting: Annotated[int, typer.Option(min=0, help="Requests that may wait; beyond them the answer is 503.")] = 64,
    heads: Annotated[
        int, typer.Option(min=1, help="Likeliest heads of a reckoner's predicted facts: more is slower and finer.")
    ] = 64,
    answer_for: Annotated[
        list[str] | None, typer.Option(help="A further host name that requests may be for. May be repeated.")
    ] = None,
    cross_origin: Annotated[bool, typer.Option(help="Let pages of other sites ask at /sparql.")] = False,
    benchmark: MovedBenchmark = None,
) -> None:
    """Open a page, a JSON interface and a SPARQL endpoint on a trained run, or on a graph."""
    from kgreckon.server import Limits
    from kgreckon.server import serve as serve_at
    from kgreckon.terminal.tables import notes

    limits = Limits(seconds=seconds, at_once=at_once, waiting=waiting, heads=heads)
    with notes().status("opening ...") as status:

        def started(address: str) -> None:
            status.stop()
            typer.echo(address)
            notes().print(f"SPARQL at {address}sparql, JSON at {address}api; Ctrl-C stops it", soft_wrap=True)

        serve_at(place, host, port, limits, answer_for or (), cross_origin, open_page, started, benchmark)


@app.command()
def predict(
    run: Annotated[Path, typer.Argument(help="The run folder of a reckoner.")],
    entity: Annotated[str, typer.Argument(help="An entity, by name or by label.")],
    attribute: Annotated[str, typer.Argument(help="An attribute.")],
    coverage: Annotated[float, typer.Option(help="The probability that the interval holds the value.")] = 0.9,
    benchmark: MovedBenchmark = None,
    as_json: AsJson = False,
) -> None:
    """Predict an entity's number, with an interval."""
    from kgreckon.benchmark import Split
    from kgreckon.reckoner import PredictedFacts, Reckoner
    from kgreckon.reckoner.predicting import predict as predict_value
    from kgreckon.terminal.runs import print_prediction
    from kgreckon.terminal.tables import console
    from kgreckon.training import load

    reckoner = load(run, benchmark, "cpu", known=Split.TEST)  # all that is stated, as for ask
    if not isinstance(reckoner, Reckoner) or not isinstance(reckoner.facts, PredictedFacts):
        raise UserError(f"{run} is not a reckoner: only kgreckon train --model reckoner learns to predict numbers")
    names = reckoner.facts.observed.graph.vocabulary
    place, label = names.entity_id(entity), names.attribute_id(attribute)
    found = predict_value(reckoner.facts, place, label, coverage)
    if as_json:
        print_json(found.as_json())
    else:
        print_prediction(found, place, label, names, console())


@app.command()
def demo(
    out: Annotated[Path, typer.Option(help="Where the demonstration keeps what it makes.")] = Path("runs/demo"),
) -> None:
    """Show what kgreckon does on the embedded World graph."""
    from kgreckon.demo import run

    run(out)
