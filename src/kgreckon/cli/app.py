"""The program that commands are added to, and what they share."""

from __future__ import annotations

import codecs
import json
import sys
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

from kgreckon.version import __version__

app = typer.Typer(
    help="Reckon over incomplete knowledge graphs: compute what they prove, infer what they do not state yet.",
    no_args_is_help=True,
    context_settings={"help_option_names": ["-h", "--help"]},
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)

BenchmarkPlace = Annotated[Path, typer.Argument(help="A benchmark folder.")]
GraphPlace = Annotated[
    str | None, typer.Argument(help="A graph folder, an MMKG folder, or 'world' for the embedded graph.")
]
MovedBenchmark = Annotated[Path | None, typer.Option("--benchmark", help="Where the run's benchmark is, if it moved.")]
MappingFile = Annotated[
    Path | None, typer.Option(help="What the columns of wide tables become, as TOML; the rest is guessed.")
]
KeyColumn = Annotated[
    str | None, typer.Option(help="The column that names the rows of a wide table; COLUMN+COLUMN, or 'row number'.")
]
SkipBadLines = Annotated[bool, typer.Option(help="Count and report bad lines instead of stopping.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON instead of tables.")]


class ComparisonsOption(StrEnum):
    """Where numerical relations come from."""

    COMPUTED = "computed"
    SAMPLED = "sampled"
    RELEASED = "released"


class BalanceOption(StrEnum):
    """By what validation and testing queries are in equal shares."""

    MISSING = "missing"


def print_json(data: Any) -> None:
    """A result as JSON, for `--json`."""
    json.dump(data, sys.stdout, ensure_ascii=not _writes_utf8(), indent=2)
    sys.stdout.write("\n")


def _writes_utf8() -> bool:
    return codecs.lookup(sys.stdout.encoding or "ascii").name == "utf-8"


def _version(value: bool) -> None:
    if value:
        typer.echo(f"kgreckon {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version.")
    ] = False,
) -> None:
    pass
