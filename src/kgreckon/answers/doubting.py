"""Errors in the data: stated facts that a model which has not seen them finds unlikely, and numbers far out.

A fact is judged by the trial of a learned run, from which it was held back, or by one of several models that each
learned without a part of the facts. Its chance is that of anything as unlikely in its place: what all candidates weigh
that are no likelier than it, beside all of them. A number's chance is that of one as far out; it is estimated from
everything but itself, so that all numbers can be judged by the finished model. Of what is right, a chance of 2 % comes
two times in a hundred.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial

import numpy as np

from kgreckon.errors import UserError
from kgreckon.exact import ask
from kgreckon.files import writing
from kgreckon.graph import KnowledgeGraph, Triples
from kgreckon.models.held_back import HeldBack, hold_back
from kgreckon.models.interface import TrainedModel, TrainingProgress
from kgreckon.models.run_files import LAST, RunFiles
from kgreckon.processes import started_together
from kgreckon.query import Batch, Entity, Follow
from kgreckon.runs import Run

FOLDS = "folds"  # in the run's folder, while the models of a check are learned
_AT_ONCE = 16
Advance = Callable[[int, int], None]  # so many more facts, of so many in all


@dataclass(frozen=True)
class DoubtfulFact:
    """A stated fact that is unlikely, and what is likelier in its place."""

    head: str
    relation: str
    tail: str
    chance: float
    probability: float
    instead: str  # another head or tail, whichever the relation decides
    instead_probability: float
    of_head: bool  # whether another head is named, and not another tail


@dataclass(frozen=True)
class DoubtfulNumber:
    """A stated number that lies outside its interval."""

    entity: str
    attribute: str
    number: float
    unit: str
    chance: float
    expected: float
    low: float
    high: float


@dataclass(frozen=True)
class DoubtSettings:
    """What is judged, and how: relations and attributes by name, all if None."""

    share: float = 0.02  # the chance up to which something is doubtful
    relations: Sequence[str] | None = None
    attributes: Sequence[str] | None = None
    folds: int = 0  # models to learn, each without a part of the facts; none: only what the trial has not seen


@dataclass
class Doubts:
    """What a check found, the least likely first, and how much it judged."""

    facts: list[DoubtfulFact] = field(default_factory=list)
    numbers: list[DoubtfulNumber] = field(default_factory=list)
    facts_judged: int = 0
    facts_stated: int = 0
    numbers_judged: int = 0


def find_doubts(
    run: Run,
    settings: DoubtSettings,
    progress: TrainingProgress | None = None,
    advance: Advance = lambda count, total: None,
) -> Doubts:
    """Judge the facts and numbers that a learned run states."""
    if not 0 < settings.share < 1:
        raise UserError(f"the share must be above 0 and below 1, not {settings.share:g}")
    if settings.folds == 1 or settings.folds < 0:
        raise UserError("facts are parted into 2 folds or more")
    if not run.is_learned:
        raise UserError(f"{run.folder} was trained on a benchmark: a check needs a run of kgreckon learn")
    graph = run.graph()
    names = graph.vocabulary
    only_named = settings.relations is not None or settings.attributes is not None
    relations = [names.relation_id(name) // 2 for name in settings.relations or ()]
    attributes = [names.attribute_id(name) for name in settings.attributes or ()]
    if not only_named:
        relations, attributes = list(range(len(graph.relations))), list(range(len(graph.attributes)))
    doubts = Doubts()
    wanted = np.isin(graph.facts.labels, relations)
    doubts.facts_stated = int(np.count_nonzero(wanted))
    if relations:
        for model, hidden in _judges(run, graph, settings.folds, progress or TrainingProgress()):
            own = hidden[np.isin(hidden.labels, relations)]
            doubts.facts_judged += len(own)
            step = partial(_advance, advance, doubts.facts_stated if settings.folds else len(own))
            doubts.facts += doubtful_facts(model, hidden, own, settings.share, step)
    if attributes:
        known = run.load(device="cpu")
        for attribute in attributes:
            judged, found = _doubtful_numbers(known, attribute, settings.share)
            doubts.numbers_judged += judged
            doubts.numbers += found
    doubts.facts.sort(key=lambda fact: fact.chance)
    doubts.numbers.sort(key=lambda one: (one.chance, -_beyond(one)))
    return doubts


def _advance(advance: Advance, total: int, count: int) -> None:
    advance(count, total)


def _judges(
    run: Run, graph: KnowledgeGraph, folds: int, progress: TrainingProgress
) -> Iterator[tuple[TrainedModel, Triples]]:
    """Models, each with the facts that it has not seen: the trial alone, or one for each part of the facts."""
    from kgreckon.models.devices import device_for

    device = device_for("cpu")
    if not folds:
        graph = run.trial_graph()  # what came later the trial has not seen, but was not held back from it either
        kept, held = hold_back(graph, run.held_back, np.random.default_rng(run.settings.seed))
        yield run.family.open_learned(run.trial, kept, kept, held.stated_share, run.settings, device), held.facts
        return
    part = np.random.default_rng(run.settings.seed).integers(folds, size=len(graph.facts))
    all_values = np.ones(len(graph.attribute_facts), dtype=bool)
    if started_together(device).size > 1:
        raise UserError("facts are checked by one process: start kgreckon without torchrun")
    with writing(run.folder):
        for fold in range(folds):
            progress.stage(f"learning without part {fold + 1} of {folds}")
            kept, hidden = graph.restricted(part != fold, all_values), graph.facts[part == fold]
            held_back = HeldBack(hidden, graph.attribute_facts[:0], 1 - 1 / folds)
            files = RunFiles(run.folder / FOLDS / f"{fold + 1} of {folds}")  # a check that was stopped goes on there
            with writing(files.folder, make=True):
                run.family.learn(files, kept, held_back, run.settings, device, progress)
            (files.folder / LAST).unlink(missing_ok=True)
            yield run.family.open_learned(files, kept, kept, held_back.stated_share, run.settings, device), hidden
        shutil.rmtree(run.folder / FOLDS)


def doubtful_facts(
    model: TrainedModel, hidden: Triples, asked: Triples, share: float, step: Callable[[int], None]
) -> Iterator[DoubtfulFact]:
    """Those of some facts that are unlikely, judged from the end that has fewer facts of the relation."""
    for relation in np.unique(asked.labels).tolist():
        own, all_hidden = asked[asked.labels == relation], hidden[hidden.labels == relation]
        side = int(len(np.unique(all_hidden.targets)) > len(np.unique(all_hidden.sources)))
        yield from _of_relation(model, relation, side, all_hidden, own, share, step)


def _of_relation(
    model: TrainedModel,
    relation: int,
    side: int,  # 0 to judge tails, 1 to judge heads
    hidden: Triples,
    asked: Triples,
    share: float,
    step: Callable[[int], None],
) -> Iterator[DoubtfulFact]:
    import torch

    graph, names, label = model.graph, model.graph.vocabulary, 2 * relation + side
    shape = Batch.of([Follow(label, Entity(0))], graph.values)
    starts, ends = (asked.targets, asked.sources) if side else (asked.sources, asked.targets)
    all_starts, all_ends = (hidden.targets, hidden.sources) if side else (hidden.sources, hidden.targets)
    order = np.argsort(all_starts, kind="stable")
    rows = np.searchsorted(all_starts[order], [starts, starts + 1])
    for first in range(0, len(asked), _AT_ONCE):
        some = starts[first : first + _AT_ONCE].astype(np.int32)
        ids = torch.from_numpy(np.stack([np.full_like(some, label), some], axis=1)).to(model.device)
        scores = model.scores(shape.with_ids(ids)).float().cpu().numpy().astype(np.float64)
        for place, odds in enumerate(scores, first):
            start, end = int(starts[place]), int(ends[place])
            probability = float(odds[end])
            others = all_ends[order[rows[0, place] : rows[1, place]]]
            odds[np.setdiff1d(others, end)] = 0.0
            odds[ask(graph, Follow(label, Entity(start)))] = 0.0
            odds /= 1 - odds.clip(max=1 - 1e-9)
            chance = float(odds[odds <= odds[end]].sum() / max(odds.sum(), 1e-300))
            if chance > share:
                continue
            odds[end] = -1.0
            instead = int(odds.argmax())
            head, tail = (end, start) if side else (start, end)
            yield DoubtfulFact(
                head=names.entity_name(head),
                relation=names.relation_name(2 * relation),
                tail=names.entity_name(tail),
                chance=chance,
                probability=probability,
                instead=names.entity_name(instead),
                instead_probability=float(odds[instead] / (1 + odds[instead])),
                of_head=bool(side),
            )
        step(len(some))


def _doubtful_numbers(model: TrainedModel, attribute: int, share: float) -> tuple[int, list[DoubtfulNumber]]:
    """How many numbers of an attribute were judged, and those that lie outside their intervals."""
    graph, names = model.graph, model.graph.vocabulary
    facts = graph.attribute_facts[graph.attribute_facts.labels == attribute]
    numbers = graph.values.numbers[facts.targets]
    judged = model.judge_numbers(attribute, facts.sources.astype(np.int64), numbers, 1 - share)
    if judged is None:
        return 0, []
    found = [
        DoubtfulNumber(
            entity=names.entity_name(int(facts.sources[place])),
            attribute=names.attribute_name(attribute),
            number=float(numbers[place]),
            unit=names.attribute_unit(attribute),
            chance=float(judged.chances[place]),
            expected=float(judged.estimates[place]),
            low=float(judged.lows[place]),
            high=float(judged.highs[place]),
        )
        for place in np.flatnonzero((numbers < judged.lows) | (numbers > judged.highs)).tolist()
    ]
    return len(facts), found


def _beyond(one: DoubtfulNumber) -> float:
    """How far a number lies outside its interval, in widths of it."""
    return max(one.low - one.number, one.number - one.high) / max(one.high - one.low, 1e-300)
