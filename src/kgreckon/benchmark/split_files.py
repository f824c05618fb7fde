"""A split of one's own: facts and values from files, some for each of the three splits."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NoReturn

import numpy as np

from kgreckon.benchmark.splits import Split, SplitGraph
from kgreckon.errors import UserError
from kgreckon.graph import GraphBuilder, ImportReport
from kgreckon.graph.readers import built, read_into
from kgreckon.query.datatypes import PLAIN_UNIT

Files = str | Path | Sequence[str | Path]


def read_split(files: Mapping[str, Files], skip_bad_lines: bool = False) -> tuple[SplitGraph, ImportReport]:
    """The three nested graphs of files for `train`, `valid` and `test`, and what was met on the way.

    A fact or value of two splits is a UserError that names the line; with `skip_bad_lines` it counts with the earlier
    split. Entities and relations may occur in one split alone.
    """
    sources = [(split, path) for split in Split for path in _paths(files, split)]
    builder, report = GraphBuilder(), ImportReport(skip_bad_lines=skip_bad_lines)
    shares = read_into(builder, report, [path for _, path in sources])
    graph = built(builder, report)
    facts, values = builder.rows_in(graph)
    splits = [split for split, _ in sources]
    of_facts = _earliest(facts, [share.facts for share in shares], splits, len(graph.facts))
    of_values = _earliest(values, [share.values for share in shares], splits, len(graph.attribute_facts))
    for (split, path), share in zip(sources, shares, strict=True):
        again = _of_an_earlier_split(facts[share.facts], of_facts, split)
        values_again = _of_an_earlier_split(values[share.values], of_values, split)
        if len(again) + len(values_again) and not skip_bad_lines:
            _raise_at(path, *(int(places[0]) if len(places) else -1 for places in (again, values_again)))
        report.of_an_earlier_split += len(again) + len(values_again)
    return SplitGraph(graph, of_facts, of_values), report


def _paths(files: Mapping[str, Files], split: Split) -> list[Path]:
    given = files.get(split.label, ())
    paths = [Path(given)] if isinstance(given, str | Path) else [Path(path) for path in given]
    if not paths or len(files) > len(Split):
        raise UserError(
            f"a split needs files for train, valid and test, here are some for {', '.join(files) or 'none'}"
        )
    return paths


def _earliest(rows: np.ndarray, shares: list[slice], splits: list[Split], count: int) -> np.ndarray:  # (count,) int8
    """The first split of each of `count` facts, given the row of each fact as the files state them."""
    earliest = np.full(count, Split.TEST, dtype=np.int8)
    for share, split in zip(reversed(shares), reversed(splits), strict=True):
        rows_of_split = rows[share]
        earliest[rows_of_split[rows_of_split >= 0]] = split
    return earliest


def _of_an_earlier_split(rows: np.ndarray, splits: np.ndarray, split: Split) -> np.ndarray:
    """Which of a file's facts, by their place in it, an earlier split has."""
    kept = np.flatnonzero(rows >= 0)
    return kept[splits[rows[kept]] < split]


def _raise_at(path: Path, fact: int, value: int) -> NoReturn:
    """Read a file again up to a fact or a value that is in an earlier split, so that its reader names the line."""
    try:
        read_into(_StoppingBuilder(fact, value), ImportReport(), [path])
    except UserError as error:
        message = str(error)  # of an RDF file the line is not known
        raise UserError(message if message.startswith(str(path)) else f"{path}: {message}") from None
    raise AssertionError(f"{path} reads differently the second time")


class _StoppingBuilder(GraphBuilder):
    """Objects to the fact, or to the value, of some number."""

    takes_many = False

    def __init__(self, fact: int, value: int) -> None:
        super().__init__()
        self.fact, self.value = fact, value

    def add_fact(self, head: str, relation: str, tail: str) -> None:
        if self.num_facts_given == self.fact:
            raise _again(head, relation, tail)
        super().add_fact(head, relation, tail)

    def add_value(
        self, entity: str, attribute: str, number: float, unit: str = PLAIN_UNIT, any_unit: bool = False
    ) -> None:
        if self.num_values_given == self.value:
            raise _again(entity, attribute, number)
        super().add_value(entity, attribute, number, unit, any_unit)

    def add_facts(self, heads: np.ndarray, relation: str, tails: np.ndarray) -> None:
        place = self.fact - self.num_facts_given
        if 0 <= place < len(heads):
            raise _again(self.name_of(int(heads[place])), relation, self.name_of(int(tails[place])))
        super().add_facts(heads, relation, tails)

    def add_values(self, entities: np.ndarray, attribute: str, numbers: np.ndarray, unit: str = PLAIN_UNIT) -> None:
        place = self.value - self.num_values_given
        if 0 <= place < len(numbers):
            raise _again(self.name_of(int(entities[place])), attribute, float(numbers[place]))
        super().add_values(entities, attribute, numbers, unit)


def _again(*fact: object) -> UserError:
    return UserError(
        f"{' '.join(map(repr, fact))} is in an earlier split too: leave it out of one, or count it with the earlier "
        "one with --skip-bad-lines"
    )
