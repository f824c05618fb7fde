"""Sets of things: `cities in countries that border France, with population > 1 million`."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence

from kgreckon.query.algebra import And, Entity, Follow, Not, Or, Query
from kgreckon.query.question import Question
from kgreckon.query.s_expressions import MAX_DEPTH
from kgreckon.query.within import hole
from kgreckon.query.words.asked import Asked, Spoken
from kgreckon.query.words.comparatives import SUPERLATIVES
from kgreckon.query.words.conditions import ConditionReader
from kgreckon.query.words.cursor import ARTICLES, is_numbers
from kgreckon.query.words.lexicon import Noun
from kgreckon.query.words.verbs import ANYTHING

TOP = {"top": True, "first": True, "bottom": False, "last": False}
_SMALL_IN_TEXT = "two three four five six seven eight nine ten"
SMALL = {word: number for number, word in enumerate(_SMALL_IN_TEXT.split(), start=2)}


class SetReader(ConditionReader):
    """Reads sets of entities, and with them what numbers are read from entities."""

    _nested = 0

    @abstractmethod
    def ranked(self, depth: int) -> Question:
        """Things with an order and a limit: `the 3 largest cities in Japan`."""

    def set(self, depth: int) -> Query:
        """A set, or the union of several."""
        parts = [self.part(depth)]
        while self.take("or", *[", or"] * (depth == 0)):
            parts.append(self.part(depth))
        if len(parts) > 1 and depth == 0 and self.asked.near is not None:
            raise self.error("a distance is asked of all answers: put what stands beside 'or' in brackets before it")
        return parts[0] if len(parts) == 1 else self.union(parts)

    def part(self, depth: int) -> Query:
        """One set of entities or numbers, with all that is said about it."""
        self._nested += 1
        if self._nested > 4 * MAX_DEPTH:
            raise self.error("the question is nested too deeply")
        before, self.kind = self.kind, None
        try:
            return self._part(depth)
        finally:
            self._nested -= 1
            self.kind = before

    def _part(self, depth: int) -> Query:
        if self.sees("("):
            found = self._bracketed()  # what a verb is about ends with its bracket
            return found if depth else self._with_modifiers(found, depth)
        if joined := self.take("all of (", "any of ("):
            return self._list(And if joined.startswith("all") else Or)
        if self.take("not"):
            return Not(self.part(depth))
        if self.take("what"):
            if self.predicate_begins(self.at):  # what borders France
                said = self.predicates(depth)
                return said[0] if len(said) == 1 else And(tuple(said))
            return self._object_of_verb(depth)
        if self.sees("numbers", "number") and self.value_begins(self.at + 1):
            self.at += 1
            return self.value(None, None, depth)
        if self.take("numbers"):
            return self.bracketed_value(None, None)
        named, end = self.entity_at(self.at)
        if (self.is_quoted() or self.low()[:1] == "#") and self.low(self.at + 1) != "of":
            return self._entity(named, end)
        article = self.take("the one of", *ARTICLES) if end <= self.at + 1 else None
        if article is None and end > self.at + 1 and self.low() in ARTICLES:
            return self._entity(named, end)
        return self._noun_phrase(depth)

    def _noun_phrase(self, depth: int) -> Query:
        named, name_end = self.entity_at(self.at)
        nouns, noun_end = self.noun_at(self.at)
        of_noun = bool(nouns) and self.sees("of", place=noun_end) is not None
        kind, class_end = self.class_at(self.at)
        if of_noun and noun_end + 1 > max(name_end, class_end) and not self._of_class(nouns, class_end, noun_end):
            start, self.at = self.at, noun_end + 1
            return self._noun_of(nouns, start, depth)
        if kind is not None and class_end >= name_end:
            return self._with_modifiers(self._kinds(), depth)
        if named or self.is_quoted() or self.low()[:1] == "#":
            return self._possessive(self._entity(named, name_end), depth)
        superlatives = (*self.lexicon.superlatives, *SUPERLATIVES, "nearest", "closest")
        if self.sees(*superlatives, *TOP) or (self._is_count() and self.sees(*superlatives, place=self.at + 1)):
            return self._asked_within(depth)
        start = self.at
        if self.take_ordinal() is not None:
            is_asked = self.sees(*superlatives) is not None or self.class_at(self.at)[0] is not None
            self.at = start
            if is_asked:
                return self._asked_within(depth)
        number = self.number(None)
        if number is not None:
            return number
        word = self.take(*ANYTHING)
        if word is not None:
            self.at -= word == "who"
            return self._anything(depth)
        if nouns and self.at + 1 <= noun_end:
            raise self.error(f"{self.span(self.at, noun_end)!r} of what? Expected 'of'", noun_end)
        self.unknown("a name, a kind of thing, or a property", self.at)

    def _of_class(self, nouns: Sequence[Noun], class_end: int, noun_end: int) -> bool:
        """Whether a noun before `of` is a class and not a property: in `countries of Europe`, which has no country."""
        start = self.at
        everywhere, self.at = self._is_everywhere(noun_end), start
        if everywhere and class_end == noun_end:
            return True
        named, _ = self.entity_at(noun_end + 1)
        if class_end != noun_end or len(named) != 1:
            return False
        return not any(self.vocabulary.leads(noun.id, named[0]) for noun in nouns if not noun.attribute)

    def _bracketed(self) -> Query:
        self.expect("(")
        self._deeper()
        before, self.asked.ranked = self.asked.ranked, False
        try:
            found = self.set(0)
        finally:
            self.asked.ranked = before
        self.expect(")")
        return found

    def _list(self, kind: type[And] | type[Or]) -> Query:
        """`all of (a; b)` and `any of (a; b)`: how an intersection or union of anything can be written."""
        self._deeper()
        parts = [self.set(0)]
        while self.take(";"):
            parts.append(self.set(0))
        self.expect(")")
        if len({is_numbers(part) for part in parts}) > 1:
            raise self.error("things and numbers have nothing in common", self.at - 1)
        return kind(tuple(parts))

    def _entity(self, ids: Sequence[int], end: int) -> Query:
        if not ids:
            self.unknown("a name", self.at)
        if len(ids) > 1:
            names = [self.vocabulary.entity_name(one) for one in ids]
            self.ambiguous(self.span(self.at, end), names, self.at)
        self.at = end
        return Entity(ids[0])

    def _possessive(self, query: Query, depth: int) -> Query:
        while self.take("'s", "’s"):
            start = self.at
            nouns, end = self.noun_at(start)
            if not nouns:
                self.unknown("a property", start)
            self.at = end
            query = self._of(self._one_noun(nouns, query, start), query)
        return query

    def _kinds(self) -> Query:
        """`cities`, or `cities or airports`."""
        found = [self._kind()]
        while self.sees("or"):
            kind, end = self.class_at(self.at + 1)
            if kind is None or self.entity_at(self.at + 1)[1] > end:
                break
            self.at += 1
            found.append(self._kind())
        if self.sees("and"):
            kind, end = self.class_at(self.at + 1)
            if kind is not None and self.entity_at(self.at + 1)[1] <= end:
                raise self.error("'and' would ask for things that are both: write 'or' between two kinds of things")
        return found[0] if len(found) == 1 else Or(tuple(found))

    def _kind(self) -> Query:
        kind, self.at = self.class_at(self.at)
        assert kind is not None and self.lexicon.is_a is not None
        return Follow(self.lexicon.is_a, Entity(kind))

    def _is_count(self) -> bool:
        return self.low() in SMALL or (self.low().isascii() and self.low().isdigit())

    def _asked_within(self, depth: int) -> Query:
        """A question within the question: its answers stand for it."""
        outer, self.asked = self.asked, Asked(self.at, depth, ranked=True, within=True)
        try:
            return self._hole(self.ranked(depth))
        finally:
            self.asked = outer

    def _hole(self, question: Question) -> Query:
        self.inner.append(question)
        return hole(len(self.inner) - 1)

    def _anything(self, depth: int) -> Query:
        return self._modified([], depth)

    def _modified(self, parts: list[Query], depth: int, singular: bool = False) -> Query:
        """A noun with what is said about it; with a superlative in it, it is a question of its own."""
        outer, self.spoken = self.spoken, Spoken(singular)
        try:
            parts, spoken = self._modifiers(parts, depth), self.spoken
        finally:
            self.spoken = outer
        query = And(tuple(parts)) if len(parts) > 1 else parts[0] if parts else Or((Entity(0), Not(Entity(0))))
        if spoken.best is None and spoken.near is None:
            return query
        return self._hole(Question(query, spoken.best, 1, spoken.skip, near=spoken.near))

    def _with_modifiers(self, head: Query, depth: int) -> Query:
        before, self.kind = self.kind, None
        match head:
            case Follow(relation, Entity(kind)) if relation == self.lexicon.is_a:
                self.kind = kind
        singular = self.kind is not None and self.is_singular(self.kind, self.at)
        try:
            return self._modified([head], depth, singular)
        finally:
            self.kind = before
