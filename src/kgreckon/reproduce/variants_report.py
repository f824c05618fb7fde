"""Runs beside the main rows: other seeds, the paper's own loss on numbers, and what is changed one at a time."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import mean

from kgreckon.models.neural import ENCODINGS
from kgreckon.reproduce.layout import Block, Heading, Table, Text
from kgreckon.reproduce.plan import ABLATED, COMPUTED, PAPER_LOSS
from kgreckon.reproduce.rows import Result, first_seeds, mean_over_types, name_of


def seed_blocks(results: Sequence[Result]) -> list[Block]:
    """How far the seeds of one model are apart."""
    groups: dict[str, list[Result]] = {}
    for result in results:
        if result.get("variant") is None:
            groups.setdefault(name_of(result), []).append(result)
    rows: list[list[object]] = []
    for name, group in groups.items():
        if len(group) < 2:
            continue
        figures = [
            [result["entity_targets"]["all"]["mrr"] for result in group],
            [mean_over_types(result) for result in group],
        ]
        cells = [f"{mean(values):.2f} ({min(values):.2f} to {max(values):.2f})" for values in figures]
        rows.append([name, len(group), *cells])
    if not rows:
        return []
    return [
        Text("Several seeds: the mean, the least and the greatest."),
        Table(("", "seeds", "MRR", "mean over types"), rows),
    ]


def variant_blocks(results: Sequence[Result]) -> list[Block]:
    """The paper's own loss, then one thing changed at a time."""
    return [*_paper_loss(results), *_ablation(results)]


def _paper_loss(results: Sequence[Result]) -> list[Block]:
    """Number reasoning with the paper's own loss, beside the same models as they stand in the tables."""
    changed = {name_of(result): result for result in results if result.get("variant") == PAPER_LOSS}
    if not changed:
        return []
    main = {name_of(result): result for result in first_seeds(results)}
    rows = []
    for name, result in sorted(changed.items()):
        for title, shown in ((name, main.get(name)), (f"{name}, the paper's loss", result)):
            if shown is not None:
                entities, numbers = shown["entity_targets"], shown["number_targets"]["all"]
                parts = (entities["all"], entities["touching_numbers"], entities["without_numbers"], numbers)
                cells = (_last_validation(shown), mean_over_types(shown), *(part["mrr"] for part in parts))
                rows.append([title, *("" if cell is None else f"{cell:.2f}" for cell in cells)])
    columns = ("", "validation", "mean over types", "MRR", "touching a number", "without", "for a number")
    return [
        Heading("The paper's own loss on numbers", 3),
        Text(
            "The rows above learn numbers by a softmax over all values, as the released code does. The paper's text\n"
            "has a Gaussian over the encoded value, a prior of its type, the MAP loss of both, and learns no vector\n"
            "of a value. Here are the same models in that form, with the best validation MRR of each:"
        ),
        Table(columns, rows),
    ]


def _last_validation(result: Result) -> float | None:
    curve = [line["validation_mrr"] for line in result["records"] if "validation_mrr" in line]
    return max(curve) if curve else None


def _ablation(results: Sequence[Result]) -> list[Block]:
    changed = [result for result in results if result.get("variant") not in (None, PAPER_LOSS)]
    if not changed:
        return []
    wanted = [f"{ABLATED[0]}, {form}" for form in ENCODINGS]
    whole = sorted((result for result in first_seeds(results) if name_of(result) in wanted), key=name_of)
    rows = []
    for result in (*whole, *changed):
        entities = result["entity_targets"]
        parts = (
            entities["all"],
            entities["touching_numbers"],
            entities["without_numbers"],
            result["number_targets"]["all"],
        )
        cells = (mean_over_types(result), *(part["mrr"] for part in parts))
        rows.append([result.get("variant") or name_of(result), *(f"{cell:.2f}" for cell in cells)])
    notes = f"One thing changed at a time in {' with '.join(ABLATED)} numbers:"
    blocks: list[Block] = [
        Heading("Ablation", 3),
        Text(notes),
        Table(("", "mean over types", "MRR", "touching a number", "without", "for a number"), rows),
    ]
    if any(result["variant"] == COMPUTED for result in changed):
        blocks.append(
            Text(
                "With computed comparisons all pairs of values are compared, so that its benchmark has other\n"
                "queries and more answers: its figures stand beside the others, not against them."
            )
        )
    return blocks
