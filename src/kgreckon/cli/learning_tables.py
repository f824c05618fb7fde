"""The quality report of a learned run as sentences and tables."""

from __future__ import annotations

from pathlib import Path
from typing import Self

from rich import progress as bars
from rich.console import Console
from rich.text import Text

from kgreckon.answers.estimates import number_text
from kgreckon.cli.bars import Bars
from kgreckon.cli.console import print_table
from kgreckon.graph.literals import is_calendar
from kgreckon.runs.quality import LEAST, Quality


class CompletingBar(Bars):
    """A bar on stderr for the questions that are asked to fill the gaps."""

    def __init__(self) -> None:
        super().__init__(
            bars.TextColumn("asked"), bars.BarColumn(), bars.MofNCompleteColumn(), bars.TextColumn("questions"),
            bars.TimeElapsedColumn(), bars.TimeRemainingColumn(),
        )  # fmt: skip

    def __enter__(self) -> Self:
        self._task = self._add("completing", None)
        return self

    def advance(self, count: int, total: int) -> None:
        """So many more, of so many in all."""
        self._bars.update(self._task, advance=count, total=total)


def print_quality(quality: Quality, run: Path, out: Console, rows: int) -> None:
    """What was measured, the most frequent relations and attributes first, and what to do next."""
    counts = f"{quality.entities:,} things, {quality.facts:,} facts, {quality.values:,} values"
    out.print(Text(f"{run}: learned from {counts} in {_duration(quality.seconds)}"), style="bold", soft_wrap=True)
    for sentence in quality.sentences():
        out.print(Text(sentence), soft_wrap=True)
    relations = quality.relations[:rows]
    if quality.tested:
        columns = ("relation", "facts", "hidden", "first ten, %", "MRR, %", "expected", "true")
        cells = [
            (
                row.label,
                row.facts,
                row.tested,
                *_figures(row.tested, row.hits_at_10, row.mrr),
                f"{row.stated:,.0f}",
                row.true,
            )
            for row in relations
        ]
        print_table(out, _title("Hidden facts", len(relations), len(quality.relations)), columns, cells)
        out.print(f"expected, true: of facts that were not stated and had at least {LEAST:.0%}", style="dim")
    for what, tenths in (("facts", quality.tenths), ("numbers", quality.value_tenths)):
        if tenths:
            cells = [
                (f"{tenth.low:.0%} to {tenth.high:.0%}", tenth.candidates, f"{tenth.stated:.0%}", f"{tenth.true:.0%}")
                for tenth in tenths
            ]
            print_table(
                out, f"Probabilities of {what} that were not stated", ("between", what, "stated", "true"), cells
            )
    if quality.attributes:
        shown = quality.attributes[:rows]
        cells = [
            (
                row.label,
                "years" if is_calendar(row.unit) else row.unit,
                row.values,
                row.tested,
                *(number_text(error, error / 30, "") for error in (row.mean_error, row.mean_error_of_the_median)),
                f"{row.covered:.0%}",
            )
            for row in shown
        ]
        columns = ("attribute", "unit", "values", "hidden", "mean error", "of the median", "in the interval")
        print_table(out, _title("Hidden numbers", len(shown), len(quality.attributes)), columns, cells)
    if quality.suggestions:
        out.print("What to ask next, of what is not stated", style="bold")
    for suggestion in quality.suggestions:
        out.print(Text(f"  {suggestion.shell(str(run))}"), soft_wrap=True)
        out.print(Text(f"      {suggestion.outcome}", style="dim"), soft_wrap=True)
    out.print(Text(f"Next: kgreckon ask {run} QUESTION --explain, or kgreckon serve {run} --open"), soft_wrap=True)


def _figures(tested: int, *figures: float) -> list[str]:
    return [f"{figure:.0f}" if tested else "-" for figure in figures]


def _title(what: str, shown: int, all_of_them: int) -> str:
    return what if shown == all_of_them else f"{what}: the {shown} most frequent of {all_of_them:,}"


def _duration(seconds: float) -> str:
    if seconds < 90:
        return f"{seconds:.0f} seconds"
    return f"{seconds / 60:.0f} minutes" if seconds < 5_400 else f"{seconds / 3600:.1f} hours"
