"""Commands that change a graph: add, remove, update, compact."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from kgreckon.cli.app import AsJson, app, print_json
from kgreckon.errors import UserError

if TYPE_CHECKING:
    from kgreckon.graph.changes.change import Change
    from kgreckon.graph.changes.drafting import Deed, Wish

Place = Annotated[Path, typer.Argument(help="A graph folder, or the run folder of a model that learned from a graph.")]
Statements = Annotated[
    list[str] | None,
    typer.Argument(metavar="[SUBJECT PREDICATE OBJECT]...", help="Facts and values, three words each."),
]
Files = Annotated[
    list[Path] | None, typer.Option("--from", help="A table or an RDF file of facts and values. May be repeated.")
]
_NUMBERS = {"ignore_unknown_options": True}  # -3.5 is no option


@app.command(context_settings=_NUMBERS)
def add(
    place: Place,
    statements: Statements = None,
    files: Files = None,
    new: Annotated[
        bool, typer.Option("--new", help="Add things, relations and attributes that are not there.")
    ] = False,
    replace: Annotated[
        bool, typer.Option("--replace", help="Remove what is stated of the same subject by the same predicate.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """State facts and values of a graph, durably; all of them or none."""
    _change(place, _wishes(statements, files, "replace" if replace else "add"), new, as_json)


@app.command(context_settings=_NUMBERS)
def remove(place: Place, statements: Statements = None, files: Files = None, as_json: AsJson = False) -> None:
    """State facts and values of a graph no more, durably; all of them or none."""
    _change(place, _wishes(statements, files, "remove"), False, as_json)


@app.command()
def update(
    place: Place,
    text: Annotated[str | None, typer.Argument(metavar="UPDATE", help="A SPARQL update; or give --file.")] = None,
    file: Annotated[Path | None, typer.Option(help="A file with the update; - for standard input.")] = None,
    as_json: AsJson = False,
) -> None:
    """Change a graph by SPARQL 1.1 UPDATE: INSERT DATA, DELETE DATA, DELETE and INSERT with WHERE."""
    from kgreckon.answers.live_answerer import LiveAnswerer
    from kgreckon.files import read_text
    from kgreckon.models.exact_model import ExactModel
    from kgreckon.runs.changing import changeable_graph

    if (text is None) == (file is None):
        raise UserError("give a SPARQL update, or a file with --file")
    update = text if file is None else read_text(file)
    answerer = LiveAnswerer(changeable_graph(place), lambda moment: ExactModel(moment.graph))
    report(place, answerer.update(update or ""), answerer.standing, as_json)


@app.command()
def compact(place: Place, as_json: AsJson = False) -> None:
    """Fold the changes of a graph folder into its tables; of a run, use learn --update."""
    from kgreckon.runs.changing import compact as fold

    count = fold(place)
    if as_json:
        print_json({"folder": str(place), "changes": count})
    else:
        typer.echo(f"{place}: {count:,} change{'s' * (count != 1)} folded into the tables")


def _wishes(statements: list[str] | None, files: list[Path] | None, deed: Deed) -> list[Wish]:
    """What the words and the files state."""
    from kgreckon.graph import read_sources
    from kgreckon.graph.changes.drafting import Wish, wishes_of

    words = statements or []
    if len(words) % 3:
        shown = " ".join(map(repr, words[-(len(words) % 3) :]))
        raise UserError(f"a statement is three words, subject, predicate and object; left over: {shown}")
    wishes = [Wish(deed, *words[place : place + 3]) for place in range(0, len(words), 3)]
    for file in files or ():
        wishes += wishes_of(read_sources([file])[0], deed)
    if not wishes:
        raise UserError("give statements of three words each, or files with --from")
    return wishes


def _change(place: Path, wishes: list[Wish], new: bool, as_json: bool) -> None:
    from kgreckon.graph.changes.drafting import Draft
    from kgreckon.runs.changing import changeable_graph

    live = changeable_graph(place)
    report(place, live.change(lambda graph: Draft.change_of(graph, wishes, new)), len(live.now().changes), as_json)


def report(place: Path, change: Change, standing: int, as_json: bool) -> None:
    """Print what a change came to."""
    if as_json:
        print_json({"folder": str(place), **change.counts(), "changes_in_the_log": standing})
    else:
        typer.echo(f"{place}: {change.summary()}; {standing:,} change{'s' * (standing != 1)} in the log")
