"""Proposals: what can come next in a question in words, the names that are used most first.

Of what can be said of the things of a kind, only what is stated of some of them is proposed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cached_property, lru_cache

import numpy as np

from kgreckon.query.words import Proposal, completions
from kgreckon.query.words.inflection import of_class
from kgreckon.query.words.lexicon import lexicon_of, tightest
from kgreckon.server.catalogue import Catalogue, label_counts
from kgreckon.server.kinds import Kinds
from kgreckon.server.schemas import PROPOSED_KINDS, WordsProposal, WordsProposals

_EACH = 8  # of a kind
_KINDS = 100  # classes whose members are counted: no more are proposed
_ALL = 10_000  # completions that are put in order
_SEARCHED = 60  # names that contain a text, of which those are kept that begin with it
_REMEMBERED = 64  # kinds of which it is known what their things have

Counts = dict[tuple[str, str], int]  # by what a proposal is and its text


class Proposals:
    """Proposes words with what the graph knows about them."""

    def __init__(self, catalogue: Catalogue, kinds: Kinds) -> None:
        self.catalogue, self.kinds = catalogue, kinds
        self.names = catalogue.graph.vocabulary
        self._counts_of = lru_cache(_REMEMBERED)(self._count_of)

    def after(self, text: str, limit: int) -> WordsProposals:
        """What can come next after a text, or complete its last words."""
        details: dict[str, str | None] = {}

        def starting(begun: str, count: int) -> list[str]:
            found = self.catalogue.search("entity", begun, _SEARCHED).names
            details.update({one.label: one.detail for one in found if one.label.casefold().startswith(begun)})
            return list(details)[:count]

        by_kind: dict[str, list[tuple[Proposal, int | None]]] = {kind: [] for kind in PROPOSED_KINDS}
        for proposal in completions(text, self.names, _ALL, starting):
            count = self._count(proposal)
            can_be_true = proposal.of is None or count
            if can_be_true and (len(proposal.text) > 1 or proposal.kind != "verb"):  # `a`, of `is a`, says nothing
                by_kind[proposal.kind].append((proposal, count))
        for found in by_kind.values():
            found.sort(key=lambda one: (one[0].start, -(one[1] or 0)))
        ordered = [one for kind in PROPOSED_KINDS for one in by_kind[kind][:_EACH]][:limit]
        return WordsProposals(
            proposals=[
                WordsProposal(
                    text=one.text,
                    kind=one.kind,
                    start=one.start,
                    count=count,
                    detail=details.get(one.text) if one.kind == "entity" else None,
                )
                for one, count in ordered
            ]
        )

    def _count(self, proposal: Proposal) -> int | None:
        if proposal.kind == "entity":
            known = self.names.entities_called(proposal.text)
            return max((int(self.catalogue.degrees[one]) for one in known), default=None)
        counts = self._counts if proposal.of is None else self._counts_of(proposal.of)
        return counts.get((proposal.kind, proposal.text))

    @cached_property
    def _counts(self) -> Counts:
        """Members of each class, facts of each relation and values of each attribute, by what they are called."""
        lexicon, catalogue = lexicon_of(self.names), self.catalogue
        counts = self._named(np.repeat(catalogue.relation_facts, 2), catalogue.attribute_counts, sum)
        if lexicon.classes is not None:
            for kind in self.names.frequent_ends(lexicon.classes, _KINDS):
                counts.setdefault(("class", of_class(self.names.entity_label(kind))), len(self.kinds.members(kind)))
        return counts

    def _count_of(self, kind: int) -> Counts:
        """How many things of a kind have each relation and attribute, by what they are called."""
        graph, members = self.catalogue.graph, self.kinds.members(kind)
        facts = label_counts(graph.follows, members, 2 * len(graph.relations))
        return self._named(facts, label_counts(graph.values_of, members, len(graph.attributes)), max)

    def _named(self, facts: np.ndarray, values: np.ndarray, of_several: Callable[[Iterable[int]], int]) -> Counts:
        """How often there is what is called so, given how often a relation, or an inverse, and an attribute are stated.

        A verb means the relation from what it is about: `cities in Japan` are led to from Japan, so it is the inverse.
        """
        lexicon = lexicon_of(self.names)
        counts: Counts = {}
        for attribute, label in enumerate(lexicon.attributes):
            counts.setdefault(("attribute", label), int(values[attribute]))
        for relation, words in enumerate(lexicon.relations):
            if words.noun is not None:
                counts.setdefault(("relation", words.noun), int(facts[2 * relation + words.backwards]))
        for verbs in (lexicon.reduced, lexicon.finite):
            for text, meanings in verbs.items():
                counts.setdefault(("verb", text), of_several(int(facts[one ^ 1]) for one in tightest(meanings)))
        for text, attributes in lexicon.dated.items():
            counts.setdefault(("verb", text), of_several(int(values[one]) for one in attributes))
        return counts
