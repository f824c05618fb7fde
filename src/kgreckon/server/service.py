"""The service: what each request of the JSON interface answers, as plain data, without a word of HTTP."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import Any

import numpy as np

from kgreckon import __version__
from kgreckon.answering import Answer, Answerer, Answers, Only, Ranking
from kgreckon.errors import UserError
from kgreckon.exact import ask as ask_exactly
from kgreckon.query import SEVEN, EntitySort, Number, NumberSort, Pause, Query, blocks, sentence, sort_of
from kgreckon.query.english import comparison_label
from kgreckon.query.paper import parse as parse_paper
from kgreckon.query.paper import write as write_paper
from kgreckon.query.reading import answers_wanted, is_sparql
from kgreckon.query.shapes import check_size
from kgreckon.query.sparql import SparqlQuery
from kgreckon.query.sparql import parse as parse_sparql
from kgreckon.query.sparql import write as write_sparql
from kgreckon.reckoner import PredictedFacts, Reckoner
from kgreckon.reckoner.predicting import predict
from kgreckon.server.catalogue import KINDS, Catalogue
from kgreckon.server.distributions import distributions
from kgreckon.server.examples import examples
from kgreckon.server.limits import Limits
from kgreckon.server.places import Places

_PROPOSED = 30  # relations and attributes in one completion
_FACTS = 100
_PREDICTED = 5
_FEW_ATTRIBUTES = 16
_LIKELY = 0.25  # from which chance on a missing value is worth showing
_COMPARISONS = [{"name": name, "label": comparison_label(comparison)} for name, comparison in SEVEN.items()]


@dataclass(frozen=True)
class Asked:
    """A query as a request gave it, with the most answers that its text asks for, if it says."""

    query: Query
    limit: int | None = None


class Service:
    """An answerer with what the interface needs beside it; all methods may run in several threads at once."""

    def __init__(
        self, answerer: Answerer, model: str, limits: Limits, clock: Callable[[], float] = time.perf_counter
    ) -> None:
        self.answerer, self.model, self.limits, self.clock = answerer, model, limits, clock
        self.graph = answerer.graph
        self.names = self.graph.vocabulary
        self.catalogue, self.places = Catalogue(self.graph), Places(self.graph)

    def warm_up(self) -> None:
        """Do once what the first requests would wait for: indices, compiled kernels, the parser."""
        for kind in KINDS:
            self.search(kind, "a", 1)
        self.complete(None, _never)
        for query in self._examples:
            translated = self._translated(query)
            self.complete(translated["sparql"] or translated["tree"], _never)

    def predict_values(self, pause: Pause) -> None:
        """Ask the examples, and predict what attributes lack, which a reckoner keeps; of many, only when asked."""
        for query in self._examples:
            self.ask(blocks.write(query, self.names), 3, True, pause)
        model = self.answerer.model
        if isinstance(model, Reckoner) and len(self.graph.attributes) <= _FEW_ATTRIBUTES:
            for attribute in range(len(self.graph.attributes)):
                pause()
                model.facts.missing(attribute)

    # ------------------------------------------------------------------------------------------------- questions

    def read(self, query: object) -> Asked:
        """The query that a request gives: a text in the paper's notation or in SPARQL, or blocks."""
        if not isinstance(query, str):
            return Asked(blocks.read(query, self.names, self.limits.query_depth, self.limits.query_nodes))
        if is_sparql(query):
            found = self.read_sparql(query)
            return Asked(found.query, found.limit)
        self._check_text(query)
        read = parse_paper(query, self.names)
        self._check_size(read)
        return Asked(read)

    def read_sparql(self, text: str) -> SparqlQuery:
        """The SELECT that a text writes."""
        self._check_text(text)
        found = parse_sparql(text, self.names, self.limits.sparql_tokens)
        self._check_size(found.query)
        return found

    def _check_text(self, text: str) -> None:
        most = self.limits.query_characters
        if len(text) > most:
            raise UserError(f"a query may have at most {most:,} characters, not {len(text):,}")
        if not text.strip():
            raise UserError("the query is empty")

    def _check_size(self, query: Query) -> None:
        check_size(query, self.limits.query_depth, self.limits.query_nodes)

    def translate(self, query: object) -> dict[str, Any]:
        """The query in every notation."""
        return self._translated(self.read(query).query)

    def _translated(self, query: Query) -> dict[str, Any]:
        sort = sort_of(query, self.names)
        try:
            sparql: str | None = write_sparql(query, self.names)
        except UserError:  # a set of numbers in a unit that no attribute has cannot be written
            sparql = None
        return {
            "tree": blocks.write(query, self.names),
            "paper": write_paper(query, self.names),
            "sparql": sparql,
            "words": sentence(query, self.names),
            "sort": "numbers" if isinstance(sort, NumberSort) else "entities",
            "units": sorted(sort.units) if isinstance(sort, NumberSort) else [],
        }

    def ask(
        self, query: object, limit: int | None, explain: bool, pause: Pause, only: Only | None = None
    ) -> dict[str, Any]:
        """The best answers to a query, with what a page shows beside them."""
        start = self.clock()
        asked = self.read(query)
        limit = min(answers_wanted(limit, asked.limit), self.limits.answers)
        ranking, found = self.rank(asked.query, limit, pause, only)
        explained = [answer.id for answer in found.answers[: self.limits.reasons]]
        reasons: list[list[str]] = []
        if explain:
            reasons = self.answerer.explain_all(asked.query, explained, pause)
        answers = [self._answer(answer) for answer in found.answers]
        for answer, reason in zip(answers, reasons, strict=False):
            answer["reasons"] = reason
        return {
            **self._translated(asked.query),
            "observed": found.observed,
            "limit": limit,
            "answers": answers,
            "estimate": None if found.estimate is None else asdict(found.estimate),
            "distributions": distributions(self.catalogue, ranking, pause),
            "seconds": self.clock() - start,
        }

    def rank(self, query: Query, limit: int, pause: Pause, only: Only | None = None) -> tuple[Ranking, Answers]:
        """All candidates, and the best of them in words."""
        ranking = self.answerer.rank(query, pause, only)
        pause()
        return ranking, self.answerer.best(ranking, limit, only)

    def _answer(self, answer: Answer) -> dict[str, Any]:
        found = {
            "id": answer.id,
            "name": answer.name,
            "label": answer.label,
            "score": answer.score,
            "observed": answer.observed,
        }
        if answer.value is not None and answer.unit is not None:
            text = self.names.write_number(Number(answer.value, answer.unit))
            return found | {"value": answer.value, "unit": answer.unit, "text": text}
        place = self.places.of(answer.id)
        return found if place is None else found | {"latitude": place[0], "longitude": place[1]}

    def explain(self, query: object, answer: int, pause: Pause) -> dict[str, Any]:
        """Why an answer is one."""
        return {"reasons": self.answerer.explain_all(self.read(query).query, [answer], pause)[0]}

    # ------------------------------------------------------------------------------------------- what can be asked

    def complete(self, query: object, pause: Pause) -> dict[str, Any]:
        """What can be said of the exact answers to a query, or of everything where there is none."""
        asked = None if query is None else self.read(query).query
        sort = EntitySort() if asked is None else sort_of(asked, self.names)
        members = np.arange(len(self.graph.entities)) if asked is None else ask_exactly(self.graph, asked, pause=pause)
        if isinstance(sort, NumberSort):
            return self._complete_numbers(members, sort)
        follows, values_of = self.graph.follows, self.graph.values_of
        everything = asked is None
        relations = _label_counts(follows.offsets, follows.labels, members, everything, 2 * len(self.graph.relations))
        attributes = _label_counts(values_of.offsets, values_of.labels, members, everything, len(self.graph.attributes))
        return {
            "sort": "entities",
            "count": len(members),
            "relations": [self._relation(label) | {"count": int(relations[label])} for label in _most(relations)],
            "attributes": [self._attribute(label) | {"count": int(attributes[label])} for label in _most(attributes)],
        }

    def _complete_numbers(self, rows: np.ndarray, sort: NumberSort) -> dict[str, Any]:
        facts = self.graph.attribute_facts
        held = np.zeros(len(self.graph.values), dtype=bool)
        held[rows] = True
        counts = np.bincount(facts.labels[held[facts.targets]], minlength=len(self.graph.attributes))
        measured = [
            label for label in range(len(self.graph.attributes)) if self.names.attribute_unit(label) in sort.units
        ]
        measured.sort(key=lambda label: -int(counts[label]))
        return {
            "sort": "numbers",
            "units": sorted(sort.units),
            "count": len(rows),
            "attributes": [self._attribute(label) | {"count": int(counts[label])} for label in measured[:_PROPOSED]],
            "comparisons": _COMPARISONS,
        }

    def _relation(self, relation: int) -> dict[str, Any]:
        return {
            "name": self.names.relation_name(relation & ~1),
            "label": self.names.relation_label(relation),
            "phrase": self.names.relation_phrase(relation),
            "inverse": bool(relation & 1),
        }

    def _attribute(self, attribute: int) -> dict[str, Any]:
        return {
            "name": self.names.attribute_name(attribute),
            "label": self.names.attribute_label(attribute),
            "units": [self.names.attribute_unit(attribute)],
        }

    def search(self, kind: str, text: str, limit: int) -> dict[str, Any]:
        """Names of a kind that match a text."""
        return {"names": self.catalogue.search(kind, text, limit)}

    @cached_property
    def _examples(self) -> tuple[Query, ...]:
        return examples(self.catalogue, self.answerer.check)

    @cached_property
    def info(self) -> dict[str, Any]:
        """What this server answers, and within which limits."""
        graph = self.graph
        return {
            "version": __version__,
            "model": self.model,
            "graph": {
                "entities": len(graph.entities),
                "relations": len(graph.relations),
                "attributes": len(graph.attributes),
                "facts": len(graph.facts),
                "values": len(graph.attribute_facts),
            },
            "comparisons": _COMPARISONS,
            "units": list(graph.values.units),
            "examples": [
                {"words": sentence(query, self.names), "query": write_paper(query, self.names)}
                for query in self._examples
            ],
            "has_map": bool(self.places),
            "limits": self.limits.as_json(),
        }

    # ---------------------------------------------------------------------------------------------------- entities

    def entity(self, name: str) -> dict[str, Any]:
        """What the graph states of an entity, and which numbers are likely where it states none."""
        entity = self.names.entity_id(name)
        values = self.graph.values_of
        groups = range(int(values.offsets[entity]), int(values.offsets[entity + 1]))
        stated = [
            (int(values.labels[group]), int(row))
            for group in groups
            for row in values.targets[values.starts[group] : values.starts[group + 1]]
        ]
        return {
            "name": self.names.entity_name(entity),
            "label": self.names.entity_label(entity),
            "facts": self._facts(entity),
            "values": [self._value(attribute, row) for attribute, row in stated[:_FACTS]],
            "predicted": self._predicted(entity, {attribute for attribute, _ in stated}),
        } | self._place(entity)

    def _place(self, entity: int) -> dict[str, Any]:
        place = self.places.of(entity)
        return {} if place is None else {"latitude": place[0], "longitude": place[1]}

    def _facts(self, entity: int) -> list[dict[str, Any]]:
        """The facts of an entity, those that it is the head of first, every relation with its first tails."""
        follows, found = self.graph.follows, []
        groups = range(int(follows.offsets[entity]), int(follows.offsets[entity + 1]))
        each = max(3, _FACTS // max(1, len(groups)))
        for group in sorted(groups, key=lambda group: int(follows.labels[group]) & 1):
            relation = int(follows.labels[group])
            for tail in follows.targets[follows.starts[group] : follows.starts[group + 1]][:each].tolist():
                said = self._relation(relation)
                found.append(
                    {
                        "relation": said["name"],
                        "label": said["label"],
                        "phrase": said["phrase"],
                        "inverse": said["inverse"],
                        "entity": {"name": self.names.entity_name(tail), "label": self.names.entity_label(tail)},
                    }
                )
        return found[:_FACTS]

    def _value(self, attribute: int, row: int) -> dict[str, Any]:
        value, unit = self.graph.values.number_at(row)
        said = self._attribute(attribute)
        text = self.names.write_number(Number(value, unit))
        return {"attribute": said["name"], "label": said["label"], "value": value, "unit": unit, "text": text}

    def _predicted(self, entity: int, stated: set[int]) -> list[dict[str, Any]]:
        model = self.answerer.model
        if not isinstance(model, Reckoner) or not isinstance(model.facts, PredictedFacts) or not model.facts.attributes:
            return []
        chances = model.facts.existences(entity).cpu().numpy()
        chances[sorted(stated)] = 0
        found = []
        for attribute in np.argsort(-chances, kind="stable")[:_PREDICTED].tolist():
            if chances[attribute] < _LIKELY:
                break
            own = predict(model.facts, entity, attribute)
            said = self._attribute(attribute)
            found.append(
                {
                    "attribute": said["name"],
                    "label": said["label"],
                    "estimate": own.estimate,
                    "low": own.low,
                    "high": own.high,
                    "unit": own.unit,
                    "chance": float(chances[attribute]),
                }
            )
        return found


def _never() -> None:
    """No pause."""


def _most(counts: np.ndarray) -> list[int]:
    """The most frequent labels that occur at all."""
    order = np.argsort(-counts, kind="stable")[:_PROPOSED]
    return [int(label) for label in order if counts[label]]


def _label_counts(
    offsets: np.ndarray, labels: np.ndarray, members: np.ndarray, everything: bool, size: int
) -> np.ndarray:  # (labels,)
    """How many of the members have each label, in compressed rows."""
    if everything:
        return np.bincount(labels, minlength=size)
    starts, counts = offsets[members], offsets[members + 1] - offsets[members]
    total = int(counts.sum())
    places = np.arange(total) + np.repeat(starts - (np.cumsum(counts) - counts), counts)
    return np.bincount(labels[places], minlength=size)
