"""Runs: the progress of a training, evaluations, and runs side by side."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Self

from rich import progress as bars
from rich.console import Console

from kgreckon.cli.bars import Bars
from kgreckon.cli.console import print_table
from kgreckon.models.interface import TrainingProgress
from kgreckon.models.settings import Settings, described
from kgreckon.query import NAMED_TYPES

if TYPE_CHECKING:
    from kgreckon.evaluation import EvaluationResult, Metrics, TargetTable
    from kgreckon.runs.comparing import Row


class TrainingBar(Bars, TrainingProgress):
    """A bar on stderr: loss, queries per second, the last validation, and the remaining time."""

    def __init__(self) -> None:
        super().__init__(
            bars.TextColumn("step"),
            bars.BarColumn(),
            bars.MofNCompleteColumn(),
            bars.TextColumn("{task.fields[text]}"),
            bars.TimeRemainingColumn(),
        )
        self._task: bars.TaskID | None = None
        self._validation = ""

    def begin(self, step: int, steps: int) -> None:
        """The bar appears."""
        self._task = self._add("training", steps, step, text="")

    def report(self, step: int, loss: float, queries_per_second: float) -> None:
        """The bar moves."""
        text = f"loss {loss:.3f}  {queries_per_second:,.0f} queries/s{self._validation}"
        assert self._task is not None
        self._bars.update(self._task, completed=step, text=text)

    def validated(self, step: int, mrr: float, best: bool) -> None:
        """The last validation stands beside the bar."""
        self._validation = f"  validation MRR {mrr:.2f}{' (best)' if best else ''}"

    def stage(self, text: str) -> None:
        """What goes on stands beside the bar, also where no step is left to take."""
        if self._task is None:
            self._task = self._add("training", None, text=text)
        self._bars.update(self._task, text=text)


class RankingBar(Bars):
    """A bar on stderr for the queries that are ranked."""

    def __init__(self) -> None:
        super().__init__(
            bars.TextColumn("ranked"), bars.BarColumn(), bars.MofNCompleteColumn(), bars.TextColumn("queries"),
            bars.TimeElapsedColumn(), bars.TimeRemainingColumn(),
        )  # fmt: skip

    def __enter__(self) -> Self:
        self._task = self._add("ranking", None)
        return self

    def advance(self, count: int, total: int) -> None:
        """So many more, of so many in all."""
        self._bars.update(self._task, advance=count, total=total)


def print_evaluation(evaluation: EvaluationResult, optimistic: bool, by_type: bool, out: Console) -> None:
    """The tables of an evaluation: entity targets first, number targets in a table of their own."""
    names = ("queries", "MRR", "H@1", "H@3", "H@10", *(("MRR, optimistic",) if optimistic else ()))

    def row(name: str, metrics: Metrics | None) -> list[object]:
        if metrics is None:
            return [name, *(None for _ in names)]
        hits = (metrics.hits_at_1, metrics.hits_at_3, metrics.hits_at_10)
        shares = (metrics.mrr, *hits, *((metrics.optimistic_mrr,) if optimistic else ()))
        return [name, metrics.queries, *(f"{share:.2f}" for share in shares)]

    tables = {
        "Queries for entities": evaluation.entity_targets,
        "Queries for entities, ranked among entities and values as released": evaluation.entity_targets_among_values,
        "Queries for numbers": evaluation.number_targets,
    }
    for title, table in tables.items():
        if table is None:
            continue
        rows = [row(name, metrics) for name, metrics in table.by_type.items()]
        rows.append(row("without numbers", table.without_numbers))
        rows.append(row("touching numbers", table.touching_numbers))
        rows.append(row("all", table.all))
        if table.types_without_negation:
            rows.append(row("mean of types without negation", table.types_without_negation))
        if table.types_with_negation:
            rows.append(row("mean of types with negation", table.types_with_negation))
        print_table(out, f"{title}: {evaluation.split} split, percent", ("queries of", *names), rows)
    _print_hardness(evaluation.entity_targets, "entities", out)
    _print_hardness(evaluation.number_targets, "numbers", out)
    if evaluation.absolute_errors:
        cells = [(unit, error.queries, error.median, error.mean) for unit, error in evaluation.absolute_errors.items()]
        print_table(out, "Absolute error of the best value", ("unit", "queries", "median", "mean"), cells)
    _print_reliability(evaluation, by_type, out)
    out.print(f"{evaluation.queries:,} queries in {evaluation.seconds:.1f} s", style="dim")


def _print_hardness(table: TargetTable, sort: str, out: Console) -> None:
    """The MRR of hard answers by what their cheapest proofs lack in the training graph, of all types and of each."""
    if table.by_hardness is None:
        return
    by_type = table.by_hardness.by_type
    rows: list[list[object]] = []
    for row in table.by_hardness.by_missing:
        cells = [next((part.mrr for part in by_type[name] if part.missing == row.missing), None) for name in by_type]
        mrrs = [f"{mrr:.2f}" if mrr is not None else "-" for mrr in (row.mrr, *cells)]
        rows.append([row.missing, row.queries, row.answers, *mrrs])
    columns = ("facts and values missing", "queries", "hard answers", "MRR", *by_type)
    print_table(out, f"Hard answers that are {sort}, by what their cheapest proofs lack", columns, rows)
    kinds = [
        [row.facts, row.values, row.queries, row.answers, f"{row.mrr:.2f}"]
        for row in table.by_hardness.by_facts_and_values
    ]
    names = ("facts missing", "values missing", "queries", "hard answers", "MRR")
    print_table(out, f"The same, facts and values apart: {sort}", names, kinds)


def _print_reliability(evaluation: EvaluationResult, by_type: bool, out: Console) -> None:
    """Of the answers that are shown with each probability, the share that is true; by type, how far off that is."""
    rows = evaluation.reliability
    if not rows:
        return
    from kgreckon.evaluation import expected_error, of_all_types

    typed = {name: [row for row in rows if row.type == name] for name in dict.fromkeys(row.type for row in rows)}
    shown = [*of_all_types(rows), *((row for own in typed.values() for row in own) if by_type else ())]
    cells = [(row.type, row.range, row.candidates, f"{row.stated:.1%}", f"{row.true:.1%}") for row in shown]
    title = f"Reliability of probabilities: {evaluation.split} split, answers that the training graph does not prove"
    print_table(out, title, ("queries of", "probability", "answers", "mean probability", "true"), cells)
    errors = ", ".join(f"{name} {expected_error(own):.3f}" for name, own in typed.items())
    out.print(f"expected calibration error: {expected_error(rows):.3f}; by type: {errors}", soft_wrap=True)


def print_settings(settings: type[Settings], model: str, out: Console) -> None:
    """The settings of a model: name, default, type or choices, and what it does."""
    print_table(
        out, f"Settings of {model}", ("setting", "default", "type or choices", "what it does"), described(settings)
    )


def print_comparison(rows: Sequence[Row], out: Console) -> None:
    """Runs side by side, queries for entities."""
    kinds = dict.fromkeys(kind for row in rows for kind in row.by_type)
    types = sorted(kinds, key=lambda kind: [*NAMED_TYPES, *kinds].index(kind))
    cells = [
        (row.name, *(f"{value:.2f}" for value in (row.mrr, row.hits_at_1, row.hits_at_3, row.hits_at_10)),
         *(f"{row.by_type[kind]:.2f}" if kind in row.by_type else "-" for kind in types))
        for row in rows
    ]  # fmt: skip
    print_table(out, "Queries for entities, percent", ("run", "MRR", "H@1", "H@3", "H@10", *types), cells)
