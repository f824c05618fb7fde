"""Building a benchmark: splits, numerical edges, and queries with easy and hard answers.

Queries of each split and type are drawn by numbered attempts, so they depend on the seed alone and not on the number of
workers, and each split and type is written on its own, so a build that was stopped goes on where it stood.
"""

from __future__ import annotations

import hashlib
import os
from collections import deque
from collections.abc import Callable, Generator, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.ipc

from kgreckon.benchmark import format as on_disk
from kgreckon.benchmark.balancing import Balance, by_missing, equal_shares, walkers_along_missing_facts
from kgreckon.benchmark.datasets import Counts, paper_dataset, scaled_counts
from kgreckon.benchmark.format import Benchmark
from kgreckon.benchmark.hardness import ProofSearch
from kgreckon.benchmark.numerical_edges import with_numerical_edges
from kgreckon.benchmark.sampling import DrawnQueries, Seen, Walker, one_hop_queries
from kgreckon.benchmark.splits import Split, SplitGraph, entities_in, random_split, values_in
from kgreckon.benchmark.walking import Program
from kgreckon.errors import UserError
from kgreckon.exact import ComparisonMode, Ragged, answer
from kgreckon.exact.sets import combine_points
from kgreckon.files import is_occupied, make_folders, new_part, write_json, writing
from kgreckon.graph import KnowledgeGraph
from kgreckon.query import GENERAL_TYPES, Batch, Operator, Shape

ATTEMPTS = 1 << 15  # walks in a block
PATIENCE = 64  # blocks looked back at to see whether a type still yields new queries
ONE_HOP = GENERAL_TYPES["1p"]


@dataclass(frozen=True)
class BuildSettings:
    """What a benchmark depends on beside the graph."""

    types: dict[str, Shape] = field(default_factory=lambda: dict(GENERAL_TYPES))
    counts: Counts = field(default_factory=dict)
    mode: ComparisonMode = ComparisonMode.SAMPLED
    seed: int = 0
    dataset: str | None = None
    known_anchors: bool = True  # whether validation and testing queries name only what the training graph holds
    balance: Balance | None = None  # of validation and testing queries
    every_one_hop: bool = True  # whether the training queries of one hop are all there are, whatever their count

    @staticmethod
    def choose(
        graph: KnowledgeGraph,
        types: dict[str, Shape] | None = None,
        queries: int | None = None,
        mode: ComparisonMode | str | None = None,
        seed: int = 0,
        dataset: str | None = None,
        known_anchors: bool | None = None,
        balance: Balance | str | None = None,
    ) -> BuildSettings:
        """The settings for a graph: counts that scale with it, or a paper's dataset's.

        A dataset is built as the paper's numbers were made, with released edges and any anchors by default.
        """
        types = types or dict(GENERAL_TYPES)
        mode = ComparisonMode.of(mode or (ComparisonMode.SAMPLED if dataset is None else ComparisonMode.RELEASED))
        known_anchors = dataset is None if known_anchors is None else known_anchors
        for name, shape in types.items():
            on_disk.check_type_name(name)
            if not any(operator is Operator.PROJECT for operator in shape.columns):
                shape.check()
        counts = scaled_counts(len(graph.facts) + len(graph.attribute_facts), list(types), queries)
        if dataset is not None:
            chosen = paper_dataset(dataset)
            if len(graph.attributes) != chosen.top_attributes:
                raise UserError(
                    f"the dataset {dataset} has {chosen.top_attributes} attributes, this graph has "
                    f"{len(graph.attributes)}: "
                    f"it is for the MMKG folder of {chosen.title}, or for that imported with --top-attributes "
                    f"{chosen.top_attributes}"
                )
            facts = chosen.graphs[Split.TEST]["relation_edges"] // 2
            if not 0.9 < len(graph.facts) / facts < 1.1:
                raise UserError(
                    f"{chosen.title} has {facts:,} facts, this graph {len(graph.facts):,}: it is not the one of the "
                    f"dataset {dataset}"
                )
            if queries is None:
                for split, by_type in chosen.queries.items():
                    counts[split].update(
                        (name, by_type[name]) for name in types if types[name] == GENERAL_TYPES.get(name)
                    )
        balance = None if balance is None else Balance.of(balance)
        return BuildSettings(types, counts, mode, seed, dataset, known_anchors, balance, every_one_hop=queries is None)

    def as_json(self) -> dict[str, Any]:
        """The settings as a benchmark's header holds them."""
        return {
            "types": {name: shape.text for name, shape in self.types.items()},
            "queries": {split.label: counts for split, counts in self.counts.items()},
            "numbers": self.mode.value,
            "known_anchors": self.known_anchors,
            "seed": self.seed,
            "preset": self.dataset,
            **({} if self.balance is None else {"balance": self.balance.value}),
            **({} if self.every_one_hop else {"one_hop": "drawn"}),
        }


class BuildProgress:
    """How a build reports its progress; by default not at all."""

    def start(self, split: Split, name: str, wanted: int | None) -> None:
        """The queries of a split and type are begun."""

    def advance(self, found: int) -> None:
        """So many have been found so far."""

    def finish(self, split: Split, name: str, found: int, wanted: int | None) -> None:
        """They are written."""


def build(
    graph: KnowledgeGraph | SplitGraph,
    folder: Path,
    settings: BuildSettings,
    workers: int | None = None,
    progress: BuildProgress | None = None,
) -> Benchmark:
    """Make the benchmark of a graph in `folder`, or go on with one that was begun with the same settings.

    The facts are split at random unless they come with their splits.
    """
    progress = progress or BuildProgress()
    with writing(folder, make=True):
        benchmark = begin(graph, folder, settings)
        for split in Split:
            build_split(benchmark, split, settings, progress, workers)
    return benchmark


def build_split(
    benchmark: Benchmark, split: Split, settings: BuildSettings, progress: BuildProgress, workers: int | None = None
) -> None:
    """Draw the queries of a split, of all types that are not complete."""
    missing = [name for name in settings.types if not benchmark.is_complete(split, name)]
    if missing:
        workers = workers or os.cpu_count() or 1
        walkers: Sequence[Walker] = (Walker(benchmark.graphs.at(split), settings.mode),)
        if settings.balance is not None and split is not Split.TRAIN:
            walkers = walkers_along_missing_facts(benchmark.graphs, split, settings.mode)
        with ThreadPoolExecutor(workers) as pool:
            for name in missing:
                TypeBuilder(benchmark, split, name, settings, walkers, pool, workers).run(progress)


def begin(graph: KnowledgeGraph | SplitGraph, folder: Path, settings: BuildSettings) -> Benchmark:
    """The benchmark folder with its header and graphs, new or as an earlier build left it."""
    header = {
        "format": on_disk.FORMAT,
        "version": on_disk.VERSION,
        **on_disk.identity(graph),
        **settings.as_json(),
    }
    if on_disk.is_benchmark_folder(folder):
        benchmark = Benchmark.open(folder)
        if benchmark.header["version"] != on_disk.VERSION:
            raise UserError(
                f"{folder} holds a benchmark of an older version, which sampled queries by another rule: it can be "
                "used as it is, but not continued; choose another folder"
            )
        for key, value in {"balance": None, "one_hop": None, **header}.items():
            if benchmark.header.get(key) != value:
                what = "another graph" if key in ("graph", "splits") else f"other settings ({key})"
                raise UserError(f"{folder} holds a benchmark of {what}: choose another folder, or the same settings")
    elif is_occupied(folder):
        raise UserError(f"{folder} already exists and is not a benchmark folder")
    else:
        make_folders(folder)
        write_json(folder / on_disk.HEADER, header)  # first: what a killed build leaves is known to be of this one
        benchmark = Benchmark.open(folder)
    if not benchmark.has_graphs:
        rng = np.random.default_rng(settings.seed)
        graphs = graph if isinstance(graph, SplitGraph) else random_split(graph, rng)
        if not settings.mode.is_computed:
            graphs = with_numerical_edges(graphs, rng, settings.mode)
        on_disk.write_graphs(folder, graphs)
    return benchmark


@dataclass(frozen=True)
class _Found:
    """Queries of one shape that are kept, with the number of the draw that each came from."""

    shape: Shape
    order: np.ndarray
    ids: np.ndarray
    easy: Ragged
    hard: Ragged
    missing: int = 0  # in a balanced benchmark: how many facts and values the proofs of the hard answers lack

    def __len__(self) -> int:
        return len(self.ids)

    def first(self, limit: int) -> _Found:
        """Those among the first `limit` draws."""
        kept = self.order < limit
        easy, hard = take(self.easy, kept), take(self.hard, kept)
        return replace(self, order=self.order[kept], ids=self.ids[kept], easy=easy, hard=hard)

    def by_missing(self, proofs: ProofSearch) -> list[_Found]:
        """The same queries for each number of facts and values that the proofs of their hard answers lack."""
        hardness = proofs.hardness(Batch(self.shape, self.ids), self.hard)
        return [
            _Found(self.shape, self.order[asked], self.ids[asked], easy, hard, missing)
            for missing, asked, easy, hard in by_missing(self.easy, self.hard, hardness)
        ]


class TypeBuilder:
    """DrawnQueries and answers the queries of one split and general type."""

    def __init__(
        self,
        benchmark: Benchmark,
        split: Split,
        name: str,
        settings: BuildSettings,
        walkers: Sequence[Walker],
        pool: ThreadPoolExecutor,
        workers: int,
    ) -> None:
        self.graphs = benchmark.graphs
        self.folder = benchmark.folder / split.label / name
        self.split, self.name, self.shape = split, name, settings.types[name]
        self.mode, self.known_anchors = settings.mode, settings.known_anchors
        self.walkers, self.pool, self.workers = walkers, pool, workers
        self.one_hop = split is Split.TRAIN and self.shape == ONE_HOP  # these are numbered, so no walk is needed
        self.every = self.one_hop and settings.every_one_hop
        self.wanted = settings.counts[split][name]
        self.seed = settings.seed
        balanced = settings.balance is not None and split is not Split.TRAIN
        self.proofs = ProofSearch(self.graphs, split, self.mode) if balanced else None
        training = self.graphs.at(Split.TRAIN)
        self.entities_known, self.values_known = entities_in(training), values_in(training)

    def run(self, progress: BuildProgress) -> None:
        """Write the queries to their folder, all or nothing."""
        wanted = None if self.every else self.wanted
        progress.start(self.split, self.name, wanted)
        make_folders(self.folder.parent)
        writers: dict[Shape, pa.ipc.RecordBatchFileWriter] = {}
        shapes: dict[str, int] = {}
        with new_part(self.folder) as target:
            with ExitStack() as opened:
                for part in self._of_one_hop() if self.one_hop else self.draw(progress.advance):
                    if part.shape not in writers:
                        path, schema = target / on_disk.file_name(part.shape), on_disk.query_schema(part.shape)
                        writers[part.shape] = opened.enter_context(pa.ipc.new_file(str(path), schema))
                    writers[part.shape].write_batch(on_disk.query_table(part.ids, part.easy, part.hard, part.shape))
                    shapes[part.shape.text] = shapes.get(part.shape.text, 0) + len(part)
            on_disk.write_summary(target, wanted, shapes)
        progress.finish(self.split, self.name, sum(shapes.values()), wanted)

    def _of_one_hop(self) -> Iterator[_Found]:
        """One-hop queries of the training graph: all, or random ones."""
        rng, wanted = np.random.default_rng([self.seed, 1]), None if self.every else self.wanted
        for shape, ids in one_hop_queries(self.graphs.at(Split.TRAIN), self.mode, rng, wanted):
            for start in range(0, len(ids), ATTEMPTS):
                block = ids[start : start + ATTEMPTS]
                answered = self._answered(shape, block, np.arange(len(block)))
                if len(answered):
                    yield answered

    def draw(self, advance: Callable[[int], None] = lambda found: None) -> Iterator[_Found]:
        """Distinct random queries, until there are enough or the graph yields no more."""
        program = Program(self.shape)
        blocks = self._blocks(program)
        running: deque[Future[list[_Found]]] = deque()
        recent: deque[int] = deque(maxlen=PATIENCE)
        left = {0: self.wanted} if self.proofs is None else equal_shares(self.shape, self.wanted)
        total = 0
        try:
            while any(left.values()):
                while len(running) <= self.workers:  # one block more than there are workers, so that none waits
                    running.append(self.pool.submit(self._answer_block, program, next(blocks)))
                answered = running.popleft().result()
                count = 0
                for missing in left:
                    parts = _cut([part for part in answered if part.missing == missing], left[missing])
                    yield from parts
                    own = sum(map(len, parts))
                    left[missing] -= own
                    count += own
                total += count
                recent.append(count)
                advance(total)
                if len(recent) == PATIENCE and sum(recent) < PATIENCE:
                    return  # two million attempts gave fewer than 64 new queries: there are no more worth waiting for
        finally:
            blocks.close()
            for job in running:
                job.cancel()

    def _blocks(self, program: Program) -> Generator[DrawnQueries, None, None]:
        """Blocks of queries that were not drawn before and whose anchors may stand in a query."""
        text = f"{self.seed}/{self.split.label}/{program.shape.text}"
        seed = int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest())
        seen = Seen(program.width)
        attempt = 0
        walks: deque[Future[DrawnQueries]] = deque()
        try:
            while True:
                while len(walks) <= self.workers:
                    walker = self.walkers[attempt // ATTEMPTS % len(self.walkers)]
                    walks.append(self.pool.submit(walker.draw, program, seed, attempt, ATTEMPTS))
                    attempt += ATTEMPTS
                drawn = seen.new(walks.popleft().result())
                yield drawn[self._anchors_known(program, drawn)]
        finally:
            for walk in walks:
                walk.cancel()

    def _anchors_known(self, program: Program, drawn: DrawnQueries) -> np.ndarray:
        known = np.ones(len(drawn), dtype=bool)
        if self.split is Split.TRAIN or not self.known_anchors:
            return known
        for column, operator in enumerate(program.shape.columns):
            if operator in (Operator.ENTITY, Operator.NUMBER):
                ids, is_number = drawn.ids[:, column], drawn.kinds[:, column] == 1
                known &= np.where(
                    is_number,
                    self.values_known[np.where(is_number, ids, 0)] if len(self.values_known) else False,
                    self.entities_known[np.where(is_number, 0, ids)] if len(self.entities_known) else False,
                )
        return known

    def _answer_block(self, program: Program, drawn: DrawnQueries) -> list[_Found]:
        """The queries of a block that have the answers that the split asks for, by shape."""
        answered = []
        for code in np.unique(drawn.codes):
            places = np.flatnonzero(drawn.codes == code)
            shape = program.specific_shape(drawn.kinds[places[0]].tolist())
            part = self._answered(shape, drawn.ids[places], places)
            if len(part):
                answered += [part] if self.proofs is None else part.by_missing(self.proofs)
        return answered

    def _answered(self, shape: Shape, ids: np.ndarray, order: np.ndarray) -> _Found:
        """Answer queries of one shape and keep those that the split accepts.

        A training query has an answer. A validation or testing query has answers on every graph, and on its own graph
        one that the graph before does not prove.
        """

        def on(split: Split, ids: np.ndarray) -> Ragged:
            return answer(self.graphs.at(split), Batch(shape, ids), self.mode)

        training = on(Split.TRAIN, ids)
        kept = training.counts > 0
        ids, order = ids[kept], order[kept]
        if self.split is Split.TRAIN:
            nothing = Ragged(np.zeros(len(ids) + 1, dtype=np.int64), np.zeros(0, dtype=np.int32))
            return _Found(shape, order, ids, nothing, take(training, kept))
        before = take(training, kept) if self.split is Split.VALID else on(Split.VALID, ids)
        after = on(self.split, ids)
        hard = Ragged(*combine_points(after.offsets, after.items, before.offsets, before.items, True, False, False))
        kept = (hard.counts > 0) & (before.counts > 0)
        after, before, hard = take(after, kept), take(before, kept), take(hard, kept)
        easy = Ragged(*combine_points(after.offsets, after.items, before.offsets, before.items, False, True, False))
        return _Found(shape, order[kept], ids[kept], easy, hard)


def take(answers: Ragged, kept: np.ndarray) -> Ragged:
    """The runs of some queries, given as a mask."""
    counts = answers.counts
    offsets = np.zeros(int(kept.sum()) + 1, dtype=np.int64)
    np.cumsum(counts[kept], out=offsets[1:])
    return Ragged(offsets, answers.items[np.repeat(kept, counts)])


def _cut(parts: list[_Found], count: int) -> list[_Found]:
    """The first `count` queries in the order in which they were drawn."""
    if sum(map(len, parts)) <= count:
        return parts
    order = np.sort(np.concatenate([part.order for part in parts]))
    limit = int(order[count]) if count < len(order) else int(order[-1]) + 1
    cut = [part.first(limit) for part in parts]
    return [part for part in cut if len(part)]
