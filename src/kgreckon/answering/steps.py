"""For an answer that a graph does not prove: which steps of the query it states, and which are missing."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import numpy as np

from kgreckon.exact import ask
from kgreckon.graph import KnowledgeGraph
from kgreckon.query import And, Compare, Entity, Follow, HavingValue, Not, Number, Or, Pause, Query, ValueOf, sentence
from kgreckon.query.english import compared_with, fact_words, number_words, value_words

_WAYS = 8  # that are looked at where a step leads on to several

Proof = Callable[[Query, int], list[str]]


class Steps:
    """Walks a query back from an answer, along the way that lacks the fewest steps.

    `proof` gives the facts of a part of the query that the graph proves.
    """

    def __init__(self, graph: KnowledgeGraph, proof: Proof, pause: Pause | None = None) -> None:
        self.graph, self.names, self.proof, self.pause = graph, graph.vocabulary, proof, pause
        self._known: dict[Query, frozenset[int]] = {}

    def lines(self, query: Query, answer: int) -> list[str]:
        """Each step in words, observed or missing."""
        if answer in self.proved(query):
            return self.proof(query, answer)
        match query:
            case Entity(entity):
                return [f"{self.names.entity_label(answer)} is {self.names.entity_label(entity)} (missing)"]
            case Number():
                return [f"{self._number(answer)} is {sentence(query, self.names)} (missing)"]
            case And(parts):
                return [line for part in parts for line in self.lines(part, answer)]
            case Or(parts):
                return _fewest(self.lines(part, answer) for part in parts)
            case Not():
                return [f"{sentence(query, self.names)} (missing)"]
            case Follow(relation, of):
                sources = self.graph.follows.row(answer, relation ^ 1)
                return self._through(sources, of, lambda source: self._fact(source, relation, answer))
            case ValueOf(attribute, of):
                facts = self.graph.attribute_facts
                holders = facts.sources[(facts.labels == attribute) & (facts.targets == answer)]
                return self._through(holders, of, lambda holder: self._value(attribute, holder, answer))
            case HavingValue(attribute, of):
                rows = self.graph.values_of.row(answer, attribute)
                return self._through(rows, of, lambda row: self._value(attribute, answer, row))
            case Compare(comparison, of):
                return [f"{self._number(answer)} is {compared_with(comparison, self._described(of))} (missing)"]

    def _through(self, sources: np.ndarray, of: Query, said: Callable[[int | None], str]) -> list[str]:
        """A step from some sources that the graph states, and what is known of these; or a step that it does not."""
        if isinstance(of, Entity):
            return [f"{said(of.entity)} (missing)"]
        if not len(sources):
            rest = "observed" if self.proved(of) else "missing"
            return [f"{said(None)} (missing)", f"{sentence(of, self.names)} ({rest})"]
        known = self.proved(of)
        good = [source for source in sources.tolist() if source in known] or sources[:_WAYS].tolist()
        return _fewest([f"{said(source)} (observed)", *self.lines(of, source)] for source in good[:_WAYS])

    def proved(self, query: Query) -> frozenset[int]:
        """The answers that the graph proves."""
        if query not in self._known:
            self._known[query] = frozenset(ask(self.graph, query, pause=self.pause).tolist())
        return self._known[query]

    # -------------------------------------------------------------------------------------------------- in words

    def _fact(self, source: int | None, relation: int, target: int) -> str:
        return fact_words(self._name(source), relation, self._name(target), self.names)

    def _value(self, attribute: int, entity: int | None, row: int | None) -> str:
        return value_words(attribute, self._name(entity), "…" if row is None else self._number(row), self.names)

    def _name(self, entity: int | None) -> str:
        return "…" if entity is None else self.names.entity_label(entity)

    def _number(self, row: int) -> str:
        return number_words(Number(*self.graph.values.number_at(row)), self.names)

    def _described(self, query: Query) -> str:
        return sentence(query, self.names).replace("whatever", "something that", 1)


def _fewest(ways: Iterable[list[str]]) -> list[str]:
    """The way with the fewest missing steps."""
    return min(ways, key=lambda way: sum(line.endswith("(missing)") for line in way))
