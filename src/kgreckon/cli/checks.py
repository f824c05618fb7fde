"""The command that checks folders."""

from __future__ import annotations

from typing import Annotated

import typer

from kgreckon.cli.app import AsJson, app, print_json


@app.command()
def check(
    folder: Annotated[str, typer.Argument(help="A graph, benchmark or run folder, or 'world'.")],
    as_json: AsJson = False,
) -> None:
    """Check that every file of a folder is as it was written, and show what still holds; exit code 1 where not."""
    from kgreckon.cli.check_tables import print_check
    from kgreckon.cli.console import console
    from kgreckon.runs.checking import check_folder

    report = check_folder(folder)
    if as_json:
        print_json(report.as_json())
    else:
        print_check(report, console())
    if report.is_damaged:
        raise typer.Exit(1)
