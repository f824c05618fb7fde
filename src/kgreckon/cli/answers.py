"""Commands that answer: ask, serve, predict, demo."""

from __future__ import annotations

import sys
from enum import StrEnum
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from kgreckon.cli.app import AsJson, ComparisonsOption, MovedBenchmark, app, print_json
from kgreckon.cli.learned import learned_beside
from kgreckon.defaults import LEAST_PROBABILITY
from kgreckon.errors import BeyondAlgebraError, UserError

if TYPE_CHECKING:
    from kgreckon.answers import Answerer


class AccessLogOption(StrEnum):
    """How requests are logged."""

    OFF = "off"
    PLAIN = "plain"
    JSON = "json"


class OnlyOption(StrEnum):
    """Which answers of a run are shown."""

    OBSERVED = "observed"
    INFERRED = "inferred"


@app.command()
def ask(
    graph: Annotated[
        str,
        typer.Argument(
            help="A graph folder, an MMKG folder, 'world', the address of a SPARQL endpoint, or a run folder for "
            "inferred answers too."
        ),
    ],
    query: Annotated[
        str,
        typer.Argument(help="A question, such as: cities in Japan with population > 1 million. SPARQL is read too."),
    ],
    exact: Annotated[
        bool | None,
        typer.Option("--exact/--no-exact", help="Only answers that the graph proves; a graph has no others."),
    ] = None,
    learn: Annotated[
        bool, typer.Option("--learn", help="Learn from the file or graph first, into a run beside it, once for all.")
    ] = False,
    only: Annotated[
        OnlyOption | None, typer.Option(help="Of a run: only what the graph proves, or only what is inferred.")
    ] = None,
    why: Annotated[bool, typer.Option("--explain", help="Give the reason of each answer.")] = False,
    comparisons: Annotated[
        ComparisonsOption, typer.Option(help="Compare numbers by arithmetic, or along a graph's numerical edges.")
    ] = ComparisonsOption.COMPUTED,
    limit: Annotated[
        int | None, typer.Option(min=1, help="How many answers to show: 20, or what the question itself says.")
    ] = None,
    order: Annotated[
        str | None, typer.Option(help="Sort by an attribute: population, or -population for the largest first.")
    ] = None,
    columns: Annotated[
        str | None, typer.Option(help="Further attributes to show beside the answers, separated by commas.")
    ] = None,
    above: Annotated[
        float, typer.Option(min=0, max=1, help="Leave out inferred answers that are not more probable than this.")
    ] = LEAST_PROBABILITY,
    as_csv: Annotated[bool, typer.Option("--csv", help="Print CSV instead of tables.")] = False,
    benchmark: MovedBenchmark = None,
    as_json: AsJson = False,
) -> None:
    """Answer a question: what a graph proves, or what a trained run infers beside it."""
    from kgreckon.answers import Answerer
    from kgreckon.answers.answer_files import csv_pieces
    from kgreckon.cli.answer_tables import print_found
    from kgreckon.cli.console import console
    from kgreckon.models.run_files import is_run_folder
    from kgreckon.query.notations import is_paper

    if as_csv and as_json:
        raise UserError("choose one of --csv and --json")
    if learn and exact:
        raise UserError("choose one of --learn and --exact")
    if learn:
        graph = learned_beside(graph)
    is_run = is_run_folder(graph)
    if comparisons is not ComparisonsOption.COMPUTED:
        if is_run and not exact:
            raise UserError(f"{graph} is a run, which compares by arithmetic: numerical edges need --exact")
        if why:
            raise UserError("a reason compares by arithmetic: --explain is not for numerical edges")
    if only is OnlyOption.INFERRED and (exact or not is_run):
        remedy = "--exact leaves out what is inferred" if is_run else "only a trained run infers more"
        raise UserError(f"{graph} is asked for what it proves: {remedy}")
    if exact is False and not is_run:
        raise UserError(f"{graph} is a graph, not a trained model: it has exact answers only")
    if is_run and not exact:
        answerer = Answerer.open(graph, benchmark, "cpu")
    else:
        answerer = _exact_answerer(graph, benchmark, comparisons)
    further = [name.strip() for name in (columns or "").split(",") if name.strip()]
    kept = None if only is None else only.value
    try:
        found = answerer.ask(query, limit, kept, explain=why, above=above, columns=further, order=order)
    except BeyondAlgebraError as error:
        if only is OnlyOption.INFERRED or why or order or further or comparisons is not ComparisonsOption.COMPUTED:
            named = "--only inferred, --explain, --order, --columns and --comparisons"
            options = f"{named} need a query that can be answered with inference"
            raise UserError(f"{options}: {error}") from None
        _ask_sparql(answerer, query, limit, above, as_json, as_csv)
        return
    if as_json:
        print_json(found.as_json())
    elif as_csv:
        sys.stdout.writelines(csv_pieces(found))
    else:
        print_found(found, console(), notation=is_paper(query))


def _ask_sparql(answerer: Answerer, query: str, limit: int | None, above: float, as_json: bool, as_csv: bool) -> None:
    """Answer any SPARQL query, with inference if it can be: as many rows as it says itself, 20, or all triples."""
    from kgreckon.cli.console import console
    from kgreckon.cli.sparql_tables import LoadingBar, print_sparql, print_sparql_csv
    from kgreckon.query.notations import answers_wanted
    from kgreckon.query.sparql import gives_triples, own_limit

    most = limit if gives_triples(query) else answers_wanted(limit, own_limit(query))
    with LoadingBar() as bar:
        stated = partial(answerer.sparql, progress=bar)
        try:
            found = answerer.solutions(query, most, above, stated=stated)
        except BeyondAlgebraError:
            found = stated(query, most)
    if as_json:
        print_json(found.as_json())
    elif as_csv:
        print_sparql_csv(found, sys.stdout)
    else:
        print_sparql(found, console())


def _exact_answerer(place: str, benchmark: Path | None, comparisons: ComparisonsOption) -> Answerer:
    """What answers from the graph at a place, or of a run, alone."""
    from kgreckon.answers import Answerer
    from kgreckon.exact import ComparisonMode
    from kgreckon.graph import open_graph
    from kgreckon.graph.opening import is_address
    from kgreckon.models.exact_model import ExactModel
    from kgreckon.models.run_files import is_run_folder

    if is_address(place):
        if comparisons is not ComparisonsOption.COMPUTED:
            raise UserError(f"{place} is an endpoint, which compares by arithmetic: it has no numerical edges")
        return Answerer.open(place)
    if is_run_folder(place):
        from kgreckon.runs import Run

        graph = Run.open(place).benchmark(benchmark).graph
    else:
        graph = open_graph(place)
    return Answerer(ExactModel(graph, ComparisonMode(comparisons.value)))


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
    token_file: Annotated[
        Path | None,
        typer.Option(help="A file with the token that requests must bear; else KGRECKON_TOKEN in the environment."),
    ] = None,
    change_token_file: Annotated[
        Path | None,
        typer.Option(help="A file with the token for changes, which are off without; else KGRECKON_CHANGE_TOKEN."),
    ] = None,
    access_log: Annotated[
        AccessLogOption, typer.Option(help="One line for each request to stderr, without its query.")
    ] = AccessLogOption.OFF,
    trust_proxy: Annotated[
        list[str] | None,
        typer.Option(help="The address or network of a proxy whose X-Forwarded-For counts. May be repeated."),
    ] = None,
    benchmark: MovedBenchmark = None,
) -> None:
    """Open a page, a JSON interface and a SPARQL endpoint on a trained run, or on a graph."""
    from kgreckon.cli.console import notes
    from kgreckon.server import AccessLog, Limits, read_token
    from kgreckon.server import serve as serve_at
    from kgreckon.server.tokens import CHANGE_VARIABLE

    token, change_token = read_token(token_file), read_token(change_token_file, CHANGE_VARIABLE)
    limits = Limits(seconds=seconds, at_once=at_once, waiting=waiting, heads=heads)
    with notes().status("opening ...") as status:

        def started(address: str) -> None:
            status.stop()
            typer.echo(address)
            notes().print(f"SPARQL at {address}sparql, JSON at {address}api; Ctrl-C stops it", soft_wrap=True)

        serve_at(
            place,
            host,
            port,
            limits,
            answer_for or (),
            cross_origin,
            open_page,
            started,
            benchmark,
            token,
            AccessLog(access_log.value),
            trust_proxy or (),
            change_token,
        )


@app.command()
def predict(
    run: Annotated[Path, typer.Argument(help="The run folder of a reckoner.")],
    entity: Annotated[str, typer.Argument(help="An entity, by name or by label.")],
    attribute: Annotated[str, typer.Argument(help="An attribute.")],
    coverage: Annotated[float, typer.Option(help="The probability that the interval holds the value.")] = 0.9,
    benchmark: MovedBenchmark = None,
    as_json: AsJson = False,
) -> None:
    """Predict an entity's number, with an interval and what moved the estimate."""
    from kgreckon.answers import Answerer
    from kgreckon.cli.console import console

    answerer = Answerer.open(run, benchmark, "cpu")  # all that is stated is known, as for ask
    found = answerer.predict(entity, attribute, coverage)
    if as_json:
        print_json(found.as_json())
    else:
        console().print(str(found))


@app.command()
def demo(
    out: Annotated[Path, typer.Option(help="Where the demonstration keeps what it makes.")] = Path("runs/demo"),
) -> None:
    """Show what kgreckon does on the embedded World graph."""
    from kgreckon.cli.demo import run

    run(out)
