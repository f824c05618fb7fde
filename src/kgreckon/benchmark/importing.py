"""Importing published benchmarks: their facts and queries, with answers found by exact search on the three graphs."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from kgreckon.benchmark import format as on_disk
from kgreckon.benchmark.betae import BetaEBenchmark, is_betae_folder
from kgreckon.benchmark.building import BuildProgress, BuildSettings, build_split
from kgreckon.benchmark.format import Benchmark, QuerySet
from kgreckon.benchmark.packed import PackedBenchmark, is_packed_folder
from kgreckon.benchmark.published import PublishedBenchmark, PublishedQueries, StatedAnswers
from kgreckon.benchmark.splits import Split
from kgreckon.errors import UserError
from kgreckon.exact import ComparisonMode, Ragged, answer
from kgreckon.exact.sets import combine_points
from kgreckon.files import new_folder, write_json
from kgreckon.query import NAMED_TYPES, Batch, Shape, general_type

_AT_ONCE = 4096  # queries answered between two reports of progress
_NOTHING = np.zeros(0, dtype=np.int32)


class ImportProgress(BuildProgress):
    """How an import reports its progress; by default not at all."""

    def reading(self, name: str, done: int, total: int) -> None:
        """So many bytes of a file are read."""


@dataclass(frozen=True)
class Difference:
    """How the answers that a file gives for the queries of a split and type differ from those that the facts prove."""

    file: str
    queries: int  # that differ
    unproved: int  # answers that the file gives and the facts do not prove
    missing: int  # answers that the facts prove and the file does not give
    first: str  # one of them, in words


@dataclass
class TypeCounts:
    """What became of the queries of a split and type."""

    split: str
    type: str
    read: int = 0
    kept: int = 0
    without_hard_answers: int = 0
    differences: list[Difference] = field(default_factory=list)


@dataclass(frozen=True)
class PublishedReport:
    """What an import met."""

    types: tuple[TypeCounts, ...]
    remarks: tuple[str, ...]

    def as_json(self) -> dict[str, Any]:
        """The same as plain data."""
        return asdict(self)


def import_benchmark(
    source: Path,
    folder: Path,
    strict: bool = False,
    validation_queries: int = 0,
    progress: ImportProgress | None = None,
) -> tuple[Benchmark, PublishedReport]:
    """A benchmark of the facts and queries in the folder `source`, and what was met on the way.

    The answers are those that the facts prove. Where files give others, or a file repeats facts of a split before it,
    that is counted; with `strict` it is a UserError. Where the folder has no validation queries, so many of each type
    are drawn as `build` draws them.
    """
    progress = progress or ImportProgress()
    with new_folder(folder) as target:  # before the work, not after it
        published = _open(source)
        repeats = list(published.facts.repeats())
        if strict and repeats:
            raise UserError(repeats[0])
        importer = _Importer(published, target, strict, progress)
        for split in Split:
            importer.add(split)
        importer.finish(validation_queries)
    counts = tuple(importer.counts.values())
    told = published.remarks + [f"{repeat}: they count where they stand first" for repeat in repeats]
    return Benchmark.open(folder), PublishedReport(counts, (*told, *_remarks(counts)))


def _open(source: Path) -> PublishedBenchmark:
    if not source.is_dir():
        raise UserError(f"{source}: no such folder")
    if is_betae_folder(source):
        return BetaEBenchmark(source)
    if is_packed_folder(source):
        return PackedBenchmark(source)
    raise UserError(
        f"{source} holds no benchmark that is known: neither test-queries.pkl, as BetaE and its successors have it, "
        "nor testing_queries.json"
    )


class _Importer:
    """Answers the queries of a published benchmark and writes them to a folder."""

    def __init__(self, published: PublishedBenchmark, target: Path, strict: bool, progress: ImportProgress) -> None:
        self.published, self.graphs, self.target = published, published.graphs, target
        self.strict, self.progress = strict, progress
        self.types: dict[str, Shape] = {}
        self.counts: dict[tuple[Split, str], TypeCounts] = {}
        self._digest = hashlib.blake2b(digest_size=16)  # so that runs distinguish benchmarks with other queries
        on_disk.write_graphs(target, self.graphs)

    def add(self, split: Split) -> None:
        """Write the queries of a split."""
        sets: dict[str, list[QuerySet]] = {}
        for queries in self.published.queries(split, self.progress.reading):
            name = self._name(queries.shape)
            own = sets.setdefault(name, [])
            if any(other.shape == queries.shape for other in own):
                raise UserError(f"{queries.path} holds queries of the type {queries.shape} in two places")
            own.append(self._answered(split, name, queries))
        for name, own in sets.items():
            on_disk.write_queries(self.target / split.label / name, own)

    def finish(self, validation_queries: int) -> None:
        """Write the header, draw validation queries where there are none, and note where a type has none."""
        if not any(counts.kept for counts in self.counts.values()):
            raise UserError(f"{self.published.folder}: no query has a hard answer: are the facts those of the queries?")
        order = [*NAMED_TYPES, *self.types]
        types = dict(sorted(self.types.items(), key=lambda item: order.index(item[0])))
        drawn = validation_queries and not any(split is Split.VALID for split, _ in self.counts)
        read = {key: counts.read for key, counts in self.counts.items()}
        read |= {(Split.VALID, name): validation_queries for name in types if drawn}
        wanted = {split: {name: read.get((split, name), 0) for name in types} for split in Split}
        settings = BuildSettings(types, wanted, ComparisonMode.COMPUTED)
        identity = on_disk.identity(self.graphs) | {"imported": self._digest.hexdigest()}
        header = {"format": on_disk.FORMAT, "version": on_disk.VERSION, **identity, **settings.as_json()}
        write_json(self.target / on_disk.HEADER, header)
        if drawn:
            build_split(Benchmark.open(self.target), Split.VALID, settings, self.progress)
        for split, names in wanted.items():
            for name in names:
                if not (self.target / split.label / name).exists():
                    on_disk.write_queries(self.target / split.label / name, [])

    def _name(self, shape: Shape) -> str:
        """The name of a shape's general type, or one that no other has."""
        general = shape.generalised.canonical
        known = {own: name for name, own in self.types.items()}
        name = known.get(general) or general_type(shape)
        if name not in NAMED_TYPES and general not in known:
            name = f"type{len(self.types)}"
        self.types[name] = general
        return name

    def _answered(self, split: Split, name: str, queries: PublishedQueries) -> QuerySet:
        """The queries that have a hard answer, with the answers that the facts prove.

        As in the files of BetaE, easy answers are all that the graph before proves: a query with negation may have some
        that the split's own facts refute. None of them is ranked against.
        """
        counts = self.counts.setdefault((split, name), TypeCounts(split.label, name))
        self.progress.start(split, name, len(queries))
        parts = list(self._answers(split, queries))
        easy, hard = (Ragged.concatenate(list(column)) for column in zip(*parts, strict=True))
        for stated, answers in ((queries.easy, easy), (queries.hard, hard)):
            difference = None if stated is None else _difference(stated, answers, queries, self.strict)
            if difference is not None:
                counts.differences.append(difference)
        kept = np.flatnonzero(hard.counts)
        counts.read += len(queries)
        counts.kept += len(kept)
        counts.without_hard_answers += len(queries) - len(kept)
        answered = QuerySet(Batch(queries.shape, queries.ids), easy, hard).take(kept)
        for array in (answered.batch.ids, answered.easy.items, answered.hard.items):
            self._digest.update(np.ascontiguousarray(array).tobytes())
        self.progress.finish(split, name, len(kept), None)
        return answered

    def _answers(self, split: Split, queries: PublishedQueries) -> Iterator[tuple[Ragged, Ragged]]:
        """The easy and the hard answers of some queries at a time."""
        for start in range(0, len(queries), _AT_ONCE):
            batch = Batch(queries.shape, queries.ids[start : start + _AT_ONCE])
            after = answer(self.graphs.at(split), batch)
            before = Ragged(np.zeros(len(batch) + 1, dtype=np.int64), _NOTHING)
            if split is not Split.TRAIN:
                before = answer(self.graphs.at(Split(split - 1)), batch)
            yield before, _without(after, before)
            self.progress.advance(start + len(batch))


def _without(these: Ragged, those: Ragged) -> Ragged:
    """For each query, what is in its first set and not in its second."""
    return Ragged(*combine_points(these.offsets, these.items, those.offsets, those.items, True, False, False))


def _difference(stated: StatedAnswers, proved: Ragged, queries: PublishedQueries, strict: bool) -> Difference | None:
    """How a file's answers differ from those that the facts prove; None where they do not."""
    unproved, missing = _without(stated.answers, proved), _without(proved, stated.answers)
    differing = np.flatnonzero(unproved.counts + missing.counts)
    if not len(differing):
        return None
    query = int(differing[0])
    what = f"lacks the answer {missing[query][0]}, which the facts prove" if len(missing[query]) else ""
    if len(unproved[query]):
        what = f"has the answer {unproved[query][0]}, which the facts do not prove"
    first = f"the query {queries.written[query]} {what}"
    if strict:
        raise UserError(f"{stated.path}: {first}")
    return Difference(stated.path.name, len(differing), len(unproved.items), len(missing.items), first)


def _remarks(types: Iterable[TypeCounts]) -> Iterator[str]:
    """A sentence for each type that lost queries or whose answers differ."""
    for counts in types:
        if counts.without_hard_answers:
            kind = "answer" if counts.split == Split.TRAIN.label else "hard answer"
            yield (
                f"{counts.split} {counts.type}: {counts.without_hard_answers:,} of {counts.read:,} queries left out, "
                f"which have no {kind}"
            )
        for wrong in counts.differences:
            yield (
                f"{wrong.file}: the answers of {wrong.queries:,} of {counts.read:,} {counts.type} queries are not what "
                f"the facts prove ({wrong.unproved:,} not proved, {wrong.missing:,} missing), which is taken instead; "
                f"the first: {wrong.first}"
            )
