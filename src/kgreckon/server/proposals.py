"""Proposals: what can come next in a question in words, the names that are used most first."""

from __future__ import annotations

from functools import cached_property

from kgreckon.query.words import Proposal, completions
from kgreckon.query.words.inflection import of_class
from kgreckon.query.words.lexicon import lexicon_of, tightest
from kgreckon.server.catalogue import Catalogue
from kgreckon.server.kinds import Kinds
from kgreckon.server.schemas import PROPOSED_KINDS, WordsProposal, WordsProposals

_EACH = 8  # of a kind
_KINDS = 100  # classes whose members are counted: no more are proposed
_ALL = 400  # completions that are put in order
_SEARCHED = 60  # names that contain a text, of which those are kept that begin with it


class Proposals:
    """Proposes words with what the graph knows about them."""

    def __init__(self, catalogue: Catalogue, kinds: Kinds) -> None:
        self.catalogue, self.kinds = catalogue, kinds
        self.names = catalogue.graph.vocabulary

    def after(self, text: str, limit: int) -> WordsProposals:
        """What can come next after a text, or complete its last words."""
        details: dict[str, str | None] = {}

        def starting(begun: str, count: int) -> list[str]:
            found = self.catalogue.search("entity", begun, _SEARCHED).names
            details.update({one.label: one.detail for one in found if one.label.casefold().startswith(begun)})
            return list(details)[:count]

        by_kind: dict[str, list[WordsProposal]] = {kind: [] for kind in PROPOSED_KINDS}
        for proposal in completions(text, self.names, _ALL, starting):
            if len(proposal.text) > 1 or proposal.kind != "verb":  # `a`, of `is a`, says nothing
                by_kind[proposal.kind].append(self._counted(proposal, details.get(proposal.text)))
        for found in by_kind.values():
            found.sort(key=lambda one: (one.start, -(one.count or 0)))
        ordered = [one for kind in PROPOSED_KINDS for one in by_kind[kind][:_EACH]]
        return WordsProposals(proposals=ordered[:limit])

    def _counted(self, proposal: Proposal, detail: str | None) -> WordsProposal:
        if proposal.kind == "entity":
            known = self.names.entities_called(proposal.text)
            count: int | None = max((int(self.catalogue.degrees[one]) for one in known), default=None)
        else:
            count, detail = self._counts.get((proposal.kind, proposal.text)), None
        return WordsProposal(text=proposal.text, kind=proposal.kind, start=proposal.start, count=count, detail=detail)

    @cached_property
    def _counts(self) -> dict[tuple[str, str], int]:
        """Members of each class, facts of each relation and values of each attribute, by what they are called."""
        lexicon, catalogue = lexicon_of(self.names), self.catalogue
        counts: dict[tuple[str, str], int] = {}
        if lexicon.classes is not None:
            for kind in self.names.frequent_ends(lexicon.classes, _KINDS):
                counts.setdefault(("class", of_class(self.names.entity_label(kind))), len(self.kinds.members(kind)))
        for attribute, label in enumerate(lexicon.attributes):
            counts.setdefault(("attribute", label), int(catalogue.attribute_counts[attribute]))
        for relation, words in enumerate(lexicon.relations):
            if words.noun is not None:
                counts.setdefault(("relation", words.noun), int(catalogue.relation_facts[relation]))
        for verbs in (lexicon.reduced, lexicon.finite):
            for text, meanings in verbs.items():
                facts = sum(int(catalogue.relation_facts[relation >> 1]) for relation in tightest(meanings))
                counts.setdefault(("verb", text), facts)
        for text, attributes in lexicon.dated.items():
            counts.setdefault(("verb", text), sum(int(catalogue.attribute_counts[one]) for one in attributes))
        return counts
