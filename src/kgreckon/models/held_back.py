"""Facts held back from a graph: true, and unknown to what is learned from the rest."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from kgreckon.graph import KnowledgeGraph, Triples


@dataclass(frozen=True)
class HeldBack:
    """True facts that a graph lacks, over the same entities, relations and values."""

    facts: Triples
    attribute_facts: Triples
    stated_share: float  # of all true facts, the share that the graph states
    of_hidden: float = 1.0  # of all true facts that the graph lacks, the share that is held back

    @staticmethod
    def nothing(graph: KnowledgeGraph, stated_share: float) -> HeldBack:
        """Nothing is held back from a graph; so many of all true facts it is believed to state."""
        return HeldBack(graph.facts[:0], graph.attribute_facts[:0], stated_share)

    @staticmethod
    def between(graph: KnowledgeGraph, larger: KnowledgeGraph, stated_share: float, of_hidden: float = 1.0) -> HeldBack:
        """What a larger graph over the same names states beyond a graph."""

        def more(own: Triples, others: Triples) -> Triples:
            return others[own.rows_of(others.sources, others.labels, others.targets) < 0]

        facts, attribute_facts = more(graph.facts, larger.facts), more(graph.attribute_facts, larger.attribute_facts)
        return HeldBack(facts, attribute_facts, stated_share, of_hidden)

    def split(self, share: float, rng: np.random.Generator) -> tuple[HeldBack, HeldBack]:
        """A random share of what is held back, and the rest: two parts that share nothing."""
        first, first_values = (rng.random(len(own)) < share for own in (self.facts, self.attribute_facts))
        one = replace(self, facts=self.facts[first], attribute_facts=self.attribute_facts[first_values])
        other = replace(self, facts=self.facts[~first], attribute_facts=self.attribute_facts[~first_values])
        return replace(one, of_hidden=share * self.of_hidden), replace(other, of_hidden=(1 - share) * self.of_hidden)


def hold_back(graph: KnowledgeGraph, share: float, rng: np.random.Generator) -> tuple[KnowledgeGraph, HeldBack]:
    """A graph without a random share of its facts and values, and these."""
    kept, kept_values = (rng.random(len(own)) >= share for own in (graph.facts, graph.attribute_facts))
    held = HeldBack(graph.facts[~kept], graph.attribute_facts[~kept_values], 1 - share)
    return graph.restricted(kept, kept_values), held
