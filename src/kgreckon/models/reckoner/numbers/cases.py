"""Cases: entities whose number is asked for, each with the facts that may speak for it."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from kgreckon.graph import KnowledgeGraph
from kgreckon.models.reckoner.numbers.scales import Scale


@dataclass(frozen=True)
class KnownNumbers:
    """What a graph states of numbers, one for each entity and attribute (the mean of several), in rows by entity."""

    graph: KnowledgeGraph
    scales: list[Scale]  # of each attribute, from the training graph
    offsets: np.ndarray  # (entities + 1,): the rows of each entity
    attributes: np.ndarray  # (rows,)
    numbers: np.ndarray  # (rows,)
    scores: np.ndarray  # (rows,): the numbers on the scale of their attribute
    single: np.ndarray  # (rows,) bool: whether there is only one
    by_attribute: np.ndarray  # (rows,): rows sorted by attribute, then by entity
    starts: np.ndarray  # (attributes + 1,): where each attribute starts there

    @staticmethod
    def of(graph: KnowledgeGraph, scales: list[Scale]) -> KnownNumbers:
        """Gather the numbers of a graph."""
        facts, attributes = graph.attribute_facts, len(graph.attributes)
        keys = facts.sources.astype(np.int64) * max(1, attributes) + facts.labels
        first = np.flatnonzero(np.diff(keys, prepend=-1))  # facts are sorted by entity and attribute
        stated = graph.values.numbers[facts.targets]
        counts = np.diff(np.append(first, len(keys)))
        shares = stated / np.repeat(counts, counts)  # first divided, so that the largest numbers have a sum
        numbers = np.add.reduceat(shares, first) if len(first) else np.zeros(0)
        entities, labels = facts.sources[first], facts.labels[first]
        by_attribute = np.argsort(labels, kind="stable")
        starts = np.searchsorted(labels[by_attribute], np.arange(attributes + 1))
        scores = np.zeros(len(numbers))
        for attribute, scale in enumerate(scales):
            rows = by_attribute[starts[attribute] : starts[attribute + 1]]
            scores[rows] = scale.score(numbers[rows])
        offsets = np.searchsorted(entities, np.arange(len(graph.entities) + 1))
        return KnownNumbers(graph, scales, offsets, labels, numbers, scores, counts == 1, by_attribute, starts)

    def holders(self, attribute: int) -> tuple[np.ndarray, np.ndarray]:  # (n,) rising, (n,)
        """The entities that have an attribute, and their numbers."""
        rows = self.by_attribute[self.starts[attribute] : self.starts[attribute + 1]]
        return np.searchsorted(self.offsets, rows, side="right") - 1, self.numbers[rows]


@dataclass(frozen=True)
class Cases:
    """Some entities, each with its links and its own numbers. Leave a fact out, and it is as if it were not known."""

    entities: np.ndarray  # (n,)
    link_cases: np.ndarray  # (links,) rising
    link_labels: np.ndarray  # (links,): relations in both directions
    link_others: np.ndarray  # (links,): the entity at the other end, never the case's own
    own_cases: np.ndarray  # (own numbers,) rising
    own_rows: np.ndarray  # (own numbers,): rows of what is known

    def __len__(self) -> int:
        return len(self.entities)

    @staticmethod
    def of(known: KnownNumbers, entities: np.ndarray) -> Cases:
        """All facts of some entities."""
        follows = known.graph.follows
        starts = follows.starts[follows.offsets[entities]], follows.starts[follows.offsets[entities + 1]]
        link_cases, edges = ranges(*starts)
        labels = follows.labels[np.searchsorted(follows.starts, edges, side="right") - 1]
        others = follows.targets[edges]
        kept = others != entities[link_cases]
        own_cases, own_rows = ranges(known.offsets[entities], known.offsets[entities + 1])
        return Cases(
            entities,
            link_cases[kept],
            labels[kept].astype(np.int64),
            others[kept].astype(np.int64),
            own_cases,
            own_rows,
        )

    def without_each(self, links: list[np.ndarray], own: list[np.ndarray]) -> Cases:
        """The first case again and again: each time without some of its links, then without some of its numbers."""
        kept_links = [np.setdiff1d(np.arange(len(self.link_cases)), left) for left in links]
        kept_links += [np.arange(len(self.link_cases))] * len(own)
        kept_own = [np.arange(len(self.own_cases))] * len(links)
        kept_own += [np.setdiff1d(np.arange(len(self.own_cases)), left) for left in own]
        nothing = [np.zeros(0, dtype=np.int64)]
        link, number = (np.concatenate(kept + nothing).astype(np.int64) for kept in (kept_links, kept_own))
        link_cases, own_cases = (
            np.repeat(np.arange(len(kept)), [len(each) for each in kept]) for kept in (kept_links, kept_own)
        )
        entities = np.full(len(kept_links), self.entities[0])
        others = self.link_labels[link], self.link_others[link]
        return replace(
            self,
            entities=entities,
            link_cases=link_cases,
            link_labels=others[0],
            link_others=others[1],
            own_cases=own_cases,
            own_rows=self.own_rows[number],
        )


def ranges(starts: np.ndarray, ends: np.ndarray) -> tuple[np.ndarray, np.ndarray]:  # (b,), (b,) -> (n,), (n,)
    """All places of some ranges, each with the number of its range."""
    counts = ends - starts
    which = np.repeat(np.arange(len(starts)), counts)
    shift = starts - (np.cumsum(counts) - counts)
    return which, np.arange(len(which)) + shift[which]
