"""Examples: questions in words that a graph can answer, to begin with, made of its most frequent names."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain, islice, zip_longest
from typing import TypeVar

import numpy as np

from kgreckon.answers import Answerer
from kgreckon.errors import UserError
from kgreckon.exact import ask
from kgreckon.graph.literals import is_calendar
from kgreckon.graph.places import Places
from kgreckon.models.exact_model import ExactModel
from kgreckon.query import (
    And,
    Compare,
    Comparison,
    Entity,
    Follow,
    HavingValue,
    Number,
    Order,
    Query,
    ValueOf,
    sentence,
)
from kgreckon.query.question import Aggregate, Near, Question, Sorting
from kgreckon.query.words import read_question
from kgreckon.query.words.lexicon import lexicon_of
from kgreckon.server.catalogue import Catalogue, label_counts, most_frequent
from kgreckon.server.kinds import Kinds

T = TypeVar("T")
_COUNT = 8
_KINDS = 4  # that questions are about
_LINKS = 6  # relations of a kind, or of all
_FEW = 3  # answers or values that make a question worth asking
_LONGEST = 90  # characters of a question that is read at a glance
_MEMBERS = 20_000  # of a kind, from which its numbers and relations are told
_DISTANCES = (100_000.0, 300_000.0, 1_000_000.0)  # metres
_TOP = 5
_SHORTER = (
    (re.compile(",000,000,000(?=[ ,]|$)"), " billion"),
    (re.compile(",000,000(?=[ ,]|$)"), " million"),
    (re.compile(r"(between [\d.,]+( [mb]illion)?) \D+? and "), r"\1 and "),  # the unit once
    (re.compile(r"([<>=≥≤] [\d.,]+( [mb]illion)?) persons\b"), r"\1"),
    (re.compile(r"(between .* and [\d.,]+( [mb]illion)?) persons\b"), r"\1"),
)


def examples(catalogue: Catalogue, kinds: Kinds, places: Places, check: Callable[[Query], None]) -> tuple[str, ...]:
    """Some questions with answers, of different forms.

    Questions for which `check` raises a UserError are left out: the model cannot answer them.
    """
    plain: list[str] = []
    others: list[str] = []  # which are not as people write
    for text in islice(_Maker(catalogue, kinds, places, check).texts(), 3 * _COUNT):
        (others if '"' in text or "://" in text else plain).append(text)
        if len(plain) == _COUNT:
            break
    return tuple([*plain, *others][:_COUNT])


class _Subject:
    """What questions are about: the things of a kind, or all; with the numbers and links that most of them have."""

    def __init__(self, catalogue: Catalogue, query: Query | None, members: np.ndarray, left_out: Iterable[int]) -> None:
        graph = catalogue.graph
        self.query, self.size = query, len(members)
        self.members = members[:: max(1, len(members) // _MEMBERS)]
        attributes = label_counts(graph.values_of, self.members, len(graph.attributes))
        relations = label_counts(graph.follows, self.members, 2 * len(graph.relations))
        relations[list(left_out)] = 0
        self.attributes = [one for one in most_frequent(attributes, _LINKS) if attributes[one] >= _FEW]
        self.relations = [one for one in most_frequent(relations, _LINKS) if relations[one] >= _FEW]

    def that(self, *conditions: Query) -> Query:
        """The things of this kind that meet some conditions."""
        parts = (*(() if self.query is None else (self.query,)), *conditions)
        return And(parts) if len(parts) > 1 else parts[0]


class _Maker:
    """Makes questions, of one form after another, about one kind after another."""

    def __init__(self, catalogue: Catalogue, kinds: Kinds, places: Places, check: Callable[[Query], None]) -> None:
        self.catalogue, self.graph, self.places, self.check = catalogue, catalogue.graph, places, check
        self.names = self.graph.vocabulary
        self.exact = Answerer(ExactModel(self.graph))
        self.dates = set(chain.from_iterable(lexicon_of(self.names).dated.values()))
        self.is_a = () if kinds.relation is None else (kinds.relation, kinds.relation ^ 1)
        self.subjects = self._subjects(kinds)

    def _subjects(self, kinds: Kinds) -> list[_Subject]:
        """The kinds of which most is known, or everything where there are none."""
        if kinds.relation is None:
            held = np.flatnonzero(self.catalogue.degrees)
            return [_Subject(self.catalogue, None, held, ())] if len(held) else []
        sizes = {kind: len(kinds.members(kind)) for kind in kinds.all()[:_LINKS]}
        of_kinds = [
            _Subject(self.catalogue, Follow(kinds.relation ^ 1, Entity(kind)), kinds.members(kind), self.is_a)
            for kind, size in sizes.items()
            if size >= _FEW
        ]
        of_kinds.sort(key=lambda one: -len(one.attributes) * math.log(1 + one.size) - len(one.relations))
        return of_kinds[:_KINDS]

    def texts(self) -> Iterator[str]:
        """Questions that have answers, first one of each form, then further ones."""
        forms = (
            self._largest, self._linked, self._chained, self._between, self._counted, self._near, self._averaged,
            self._compared, self._values,
        )  # fmt: skip
        told: set[str] = set()
        made = [
            self._good(chain.from_iterable(map(form, _turned(self.subjects, place))))
            for place, form in enumerate(forms)
        ]
        for text in chain.from_iterable(zip_longest(*made)):
            if text is not None and text not in told:
                told.add(text)
                yield text

    def _good(self, questions: Iterable[Question]) -> Iterator[str]:
        """Those that are short, that the model can answer, and that have an answer."""
        for question in questions:
            text = self._words(question)
            if len(text) <= _LONGEST and self._answered(question):
                yield text

    def _answered(self, question: Question) -> bool:
        try:
            self.check(question.query)
            answers = self.exact.ask(question, limit=1)
        except UserError:
            return False
        return answers.observed > 0 and (answers.total is None or answers.total.value is not None)

    def _words(self, question: Question) -> str:
        """A question as a person would type it: `with population between 2 million and 3 million`."""
        text = sentence(question, self.names)
        for written, typed in _SHORTER:
            shorter = written.sub(typed, text)
            text = shorter if self._means(shorter, question) else text
        return text

    def _means(self, text: str, question: Question) -> bool:
        try:
            return read_question(text, self.names) == question
        except UserError:
            return False

    # ------------------------------------------------------------------------------------------------------- forms

    def _largest(self, subject: _Subject) -> Iterator[Question]:
        """`top 5 cities by population`."""
        for attribute in self._measures(subject):
            if subject.query is not None:
                yield Question(subject.query, Sorting(attribute), _TOP)

    def _linked(self, subject: _Subject) -> Iterator[Question]:
        """`cities in Japan with population > 1,000,000`."""
        for relation, hub in self._hubs(subject):
            around = subject.that(Follow(relation ^ 1, Entity(hub)))
            for attribute in self._measures(subject)[:2]:
                value = self._quantile(attribute, ask(self.graph, around), 0.6)
                if value is not None:
                    bound = Compare(Comparison(Order.GREATER), value)
                    yield Question(subject.that(Follow(relation ^ 1, Entity(hub)), HavingValue(attribute, bound)))
            yield Question(around)

    def _chained(self, subject: _Subject) -> Iterator[Question]:
        """`cities in countries that border France`."""
        for relation, hub in self._hubs(subject):
            for other in self.subjects:
                for further, end in self._hubs(other, 2) if hub in other.members else ():
                    if further >> 1 != relation >> 1:
                        between = other.that(Follow(further ^ 1, Entity(end)))
                        yield Question(subject.that(Follow(relation ^ 1, between)))

    def _between(self, subject: _Subject) -> Iterator[Question]:
        """`airports with elevation between 2,000 and 3,000 metres`."""
        for attribute in reversed(self._measures(subject)):
            low, high = (self._quantile(attribute, subject.members, share) for share in (0.8, 0.95))
            if low is None or high is None or low == high:
                continue
            within = And((Compare(Comparison(Order.AT_LEAST), low), Compare(Comparison(Order.AT_MOST), high)))
            yield Question(subject.that(HavingValue(attribute, within)))

    def _counted(self, subject: _Subject) -> Iterator[Question]:
        """`how many airports in Brazil`."""
        for relation, hub in self._hubs(subject, 1):
            yield Question(subject.that(Follow(relation ^ 1, Entity(hub))), aggregate=Aggregate.COUNT)

    def _near(self, subject: _Subject) -> Iterator[Question]:
        """`cities within 300 km of Rome`."""
        if subject.query is None or not self.places:
            return
        placed = subject.members[np.isin(subject.members, self.places.entities)]
        for centre in self.catalogue.most_connected(self.places.entities)[:_LINKS].tolist():
            metres = self.places.from_nearest(np.array([centre]), placed)
            for within in _DISTANCES:
                if _FEW < np.count_nonzero(metres <= within) <= 10 * _FEW:
                    yield Question(subject.query, near=Near(Entity(centre), within))

    def _averaged(self, subject: _Subject) -> Iterator[Question]:
        """`average population of cities in Japan`."""
        for relation, hub in self._hubs(subject):
            for attribute in self._measures(subject)[:2]:
                if attribute in self.dates:
                    continue  # their mean says little
                around = subject.that(Follow(relation ^ 1, Entity(hub)))
                yield Question(around, aggregate=Aggregate.MEAN, of=attribute)

    def _compared(self, subject: _Subject) -> Iterator[Question]:
        """`countries with population > the population of Japan`."""
        for attribute in self._measures(subject)[:2]:
            for entity in self._held_by(attribute, subject, 0.9):
                bound = Compare(Comparison(Order.GREATER), ValueOf(attribute, Entity(entity)))
                yield Question(subject.that(HavingValue(attribute, bound)))

    def _values(self, subject: _Subject) -> Iterator[Question]:
        """`the population of cities in Japan`."""
        for relation, hub in self._hubs(subject):
            for attribute in self._measures(subject)[:1]:
                yield Question(ValueOf(attribute, subject.that(Follow(relation ^ 1, Entity(hub)))))

    # ---------------------------------------------------------------------------------------------- what is frequent

    def _measures(self, subject: _Subject) -> list[int]:
        """The attributes of a subject that are more than where it is."""
        return [one for one in subject.attributes if one not in (self.places.attributes or ())]

    def _hubs(self, subject: _Subject, first: int = 0) -> Iterator[tuple[int, int]]:
        """Relations of a subject, and what each leads to from several of its things but not from all."""
        for relation in _turned(subject.relations, first):
            ends, counts = self._ends(subject.members, relation)
            if len(ends) and _FEW <= counts[0] < subject.size:
                yield relation, int(ends[0])

    def _ends(self, members: np.ndarray, relation: int) -> tuple[np.ndarray, np.ndarray]:
        """What a relation leads to from some things, and from how many of them, the most frequent first."""
        facts = self.graph.facts
        own = facts.labels == relation >> 1
        heads, tails = (facts.sources, facts.targets) if not relation & 1 else (facts.targets, facts.sources)
        own &= np.isin(heads, members)
        ends, counts = np.unique(tails[own], return_counts=True)
        order = np.argsort(-counts, kind="stable")
        return ends[order], counts[order]

    def _numbers(self, attribute: int, members: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The members that have an attribute, and their values, rising."""
        entities, rows = self.catalogue.held(attribute)
        own = np.isin(entities, members)
        return entities[own], self.graph.values.numbers[rows[own]]

    def _quantile(self, attribute: int, members: np.ndarray, share: float) -> Number | None:
        """A round number that a share of the values is below."""
        numbers = self._numbers(attribute, members)[1]
        if len(numbers) < _FEW:
            return None
        unit = self.names.attribute_unit(attribute)
        value = float(numbers[int(share * (len(numbers) - 1))])
        return Number(float(math.floor(value)) if is_calendar(unit) else _round(value), unit)

    def _held_by(self, attribute: int, subject: _Subject, share: float) -> Iterator[int]:
        """The best known thing among those whose value is that large."""
        entities = self._numbers(attribute, subject.members)[0]
        if len(entities) >= _FEW:
            yield int(self.catalogue.most_connected(entities[int(share * len(entities)) :])[0])


def _round(value: float) -> float:
    """The value with one digit."""
    return float(f"{value:.1g}")


def _turned(some: Sequence[T], places: int) -> list[T]:
    """The same in order, beginning with another one."""
    at = places % len(some) if some else 0
    return [*some[at:], *some[:at]]
