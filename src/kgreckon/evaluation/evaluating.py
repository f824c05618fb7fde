"""Ranking the hard answers of a split's queries by anyone's scores."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from time import perf_counter

import numpy as np
import torch
from torch import Tensor

from kgreckon.benchmark import Benchmark, QuerySet, Split
from kgreckon.benchmark.hardness import Hardness, ProofSearch
from kgreckon.errors import UserError
from kgreckon.evaluation.by_hardness import HardAnswers
from kgreckon.evaluation.metrics import QueryScores
from kgreckon.evaluation.ranking import AnswerPairs, filtered_ranks
from kgreckon.evaluation.results import Evaluation, ShapeResult
from kgreckon.processes import ALONE, Processes
from kgreckon.query import Batch, Shape

# Queries ranked at once.
_AT_ONCE = {"cpu": 256, "cuda": 4096}


@dataclass(frozen=True)
class RankedQueries:
    """The queries of one specific type with easy and hard answers: items where the scores are, offsets on the host."""

    type: str
    shape: Shape
    ids: Tensor  # (queries, width) int32
    offsets: tuple[np.ndarray, np.ndarray]  # (queries + 1,) int64 each
    items: tuple[Tensor, Tensor]  # (all answers,) int32 each
    hardness: Hardness | None = None  # of the hard answers, where it is asked for

    @staticmethod
    def load(
        name: str, queries: QuerySet, device: torch.device, proofs: ProofSearch | None = None, workers: int = 1
    ) -> RankedQueries:
        """Move queries and answers to the device; how hard these are is counted where `proofs` are looked for."""
        answers = (queries.easy, queries.hard)
        easy, hard = (torch.from_numpy(np.array(array.items)).to(device) for array in answers)
        ids = torch.from_numpy(np.array(queries.batch.ids)).to(device)
        hardness = None if proofs is None else proofs.hardness(queries.batch, queries.hard, workers)
        offsets = queries.easy.offsets, queries.hard.offsets
        return RankedQueries(name, queries.shape, ids, offsets, (easy, hard), hardness)

    def __len__(self) -> int:
        return len(self.ids)

    def answers(self, first: int, last: int) -> tuple[AnswerPairs, AnswerPairs]:
        """The easy and the hard answers of some neighbouring queries."""
        easy, hard = (
            AnswerPairs.of(items[offsets[first] : offsets[last]], np.diff(offsets[first : last + 1]))
            for items, offsets in zip(self.items, self.offsets, strict=True)
        )
        return easy, hard


@dataclass(frozen=True)
class EvaluationQueries:
    """The queries of a split on a device, to be ranked once or many times."""

    split: Split
    sets: tuple[RankedQueries, ...]
    num_entities: int
    numbers: Tensor  # (values,) float64
    units: Tensor  # (values,) int64
    unit_names: Sequence[str]

    @staticmethod
    def load(
        benchmark: Benchmark,
        split: Split,
        device: torch.device,
        queries_per_type: int = 0,
        seed: int = 0,
        with_hardness: bool = False,
    ) -> EvaluationQueries:
        """All queries of a split, or a random choice of so many of each type; how hard they are if that is wanted."""
        sets = []
        proofs = ProofSearch(benchmark.graphs, split, benchmark.mode) if with_hardness else None
        workers = os.cpu_count() or 1
        for name in benchmark.types:
            of_type = [queries for queries in benchmark.query_sets(split, name) if len(queries)]
            chosen = _choice(of_type, queries_per_type, seed)
            sets += [RankedQueries.load(name, queries, device, proofs, workers) for queries in chosen if len(queries)]
        table = benchmark.graph.values
        numbers = torch.from_numpy(np.array(table.numbers)).to(device)
        units = torch.from_numpy(table.unit_ids.astype(np.int64)).to(device)
        return EvaluationQueries(split, tuple(sets), len(benchmark.graph.entities), numbers, units, table.units)

    def __len__(self) -> int:
        return sum(map(len, self.sets))


def _choice(sets: list[QuerySet], count: int, seed: int) -> list[QuerySet]:
    ends = np.cumsum([0] + [len(queries) for queries in sets])
    total = int(ends[-1])
    if not count or count >= total:
        return sets
    picked = np.sort(np.random.default_rng(seed).permutation(total)[:count])
    rows = [picked[(picked >= low) & (picked < high)] - low for low, high in pairwise(ends)]
    return [queries.take(chosen) for queries, chosen in zip(sets, rows, strict=True)]


@torch.no_grad()
def evaluate_scores(
    score: Callable[[Batch[Tensor]], Tensor],
    queries: EvaluationQueries,
    advance: Callable[[int, int], None] = lambda count, total: None,
    at_once: int = 0,
    see: Callable[[RankedQueries, int, int, Tensor], None] | None = None,
    processes: Processes = ALONE,
) -> Evaluation:
    """Rank every hard answer by the scores that `score` gives to all candidates of a batch's queries.

    Where `score` gives more scores after those of all entities, answers are also ranked among all of them. `advance`
    hears of so many more queries of so many in all, and `see` looks at the scores of neighbouring queries. On a GPU
    everything is queued, and the host waits only for the end. Several processes take the batches in turns. Raises a
    UserError where a score is not a number.
    """
    start = perf_counter()
    at_once = at_once or _AT_ONCE[queries.numbers.device.type]
    dealt = [(of_shape, first) for of_shape in queries.sets for first in range(0, len(of_shape), at_once)]
    own = []
    for place, (of_shape, first) in enumerate(dealt):
        last = min(first + at_once, len(of_shape))
        if place % processes.size == processes.number:
            scores = score(Batch(of_shape.shape, of_shape.ids[first:last])).float()
            own.append(_ranked(queries, of_shape, first, last, scores, see, processes.size > 1))
        advance(last - first, len(queries))
    ranked = processes.in_order(own)
    by_shape: dict[int, list[dict[str, Tensor]]] = {}
    for (of_shape, _), part in zip(dealt, ranked, strict=True):
        by_shape.setdefault(id(of_shape), []).append(part)
    results = [_result(of_shape, by_shape[id(of_shape)]) for of_shape in queries.sets]
    if ranked and torch.stack([part["broken"] for part in ranked]).any():
        raise UserError("the model's scores are not numbers: its training went astray; lower the learning rate")
    on_host = tuple(result.cpu() for result in results)
    return Evaluation(queries.split, queries.unit_names, on_host, perf_counter() - start)


def _ranked(
    queries: EvaluationQueries,
    of_shape: RankedQueries,
    first: int,
    last: int,
    scores: Tensor,
    see: Callable[[RankedQueries, int, int, Tensor], None] | None,
    for_others: bool,
) -> dict[str, Tensor]:
    """What is known of some neighbouring queries from the scores of their candidates, by name."""
    ranked = {"broken": scores.isnan().any()}
    easy, hard = of_shape.answers(first, last)
    candidates = len(queries.numbers) if of_shape.shape.denotes_numbers else queries.num_entities
    if scores.shape[1] > candidates:
        among = QueryScores.from_ranks(filtered_ranks(scores, easy, hard))
        ranked |= {"realistic among values": among.realistic, "optimistic among values": among.optimistic}
        scores = scores[:, :candidates]
    if see is not None:
        see(of_shape, first, last, scores)
    ranks = filtered_ranks(scores, easy, hard)
    own = QueryScores.from_ranks(ranks)
    ranked |= {"realistic": own.realistic, "optimistic": own.optimistic, "answers": easy.counts + hard.counts}
    if of_shape.hardness is not None or for_others:  # the first process knows how hard the answers are
        ranked["ranks"] = ranks.realistic
    if of_shape.shape.denotes_numbers:
        ranked["units"], ranked["errors"] = _value_errors(scores, easy, hard, queries)
    return ranked


def _result(of_shape: RankedQueries, parts: list[dict[str, Tensor]]) -> ShapeResult:
    """What was reached on all queries of one specific type, from that on neighbouring ones."""
    columns = {name: torch.cat([part[name] for part in parts]) for name in parts[0] if name != "broken"}
    among = None
    if "realistic among values" in columns:
        among = QueryScores(columns["realistic among values"], columns["optimistic among values"])
    hard_answers = None
    if of_shape.hardness is not None:
        hard_answers = HardAnswers(np.diff(of_shape.offsets[1]), of_shape.hardness, columns["ranks"])
    return ShapeResult(
        of_shape.type,
        of_shape.shape,
        QueryScores(columns["realistic"], columns["optimistic"]),
        columns["answers"],
        columns.get("units"),
        columns.get("errors"),
        among,
        hard_answers,
    )


def _value_errors(
    scores: Tensor, easy: AnswerPairs, hard: AnswerPairs, queries: EvaluationQueries
) -> tuple[Tensor, Tensor]:
    """For each query the unit of its first hard answer, and how far the best value of that unit is from a hard one."""
    numbers, units = queries.numbers, queries.units
    unit = units[hard.item[hard.counts.cumsum(0) - hard.counts]]
    allowed = scores.masked_fill(units[None] != unit[:, None], -torch.inf)
    allowed[easy.query, easy.item] = -torch.inf
    best = numbers[allowed.argmax(dim=1)]
    distance = (numbers[hard.item] - best[hard.query]).abs()
    distance = distance.masked_fill(units[hard.item] != unit[hard.query], torch.inf)
    nearest = torch.full((len(scores),), torch.inf, device=scores.device, dtype=distance.dtype)
    nearest.scatter_reduce_(0, hard.query, distance, "amin")
    return unit, nearest
