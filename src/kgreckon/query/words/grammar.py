"""Reading a question in words: `top 5 cities by population in countries that speak French`."""

from __future__ import annotations

from kgreckon.errors import UserError
from kgreckon.query.algebra import And, Entity, Follow, Query
from kgreckon.query.question import Aggregate, Question, Sorting, check_sorts
from kgreckon.query.shapes import check_size
from kgreckon.query.vocabulary import Vocabulary
from kgreckon.query.words.cursor import is_numbers
from kgreckon.query.words.lexicon import lexicon_of
from kgreckon.query.words.things import SetReader
from kgreckon.query.words.verbs import ENDINGS

_LEADS = ("what 's", "what ’s", "who 's", "who ’s", "what are", "what is", "which are", "which is", "who are", "who is",
          "show me", "give me", "tell me", "show", "list", "find", "name", "which", "whose", "where are",
          "please")  # fmt: skip
_DO = ("does", "do", "did")
_COUNTS = ("how many", "the number of", "number of", "count of", "count")
_AGGREGATES = {
    "sum": Aggregate.SUM, "total": Aggregate.SUM, "mean": Aggregate.MEAN, "average": Aggregate.MEAN,
    "median": Aggregate.MEDIAN, "minimum": Aggregate.MINIMUM, "smallest": Aggregate.MINIMUM,
    "lowest": Aggregate.MINIMUM, "maximum": Aggregate.MAXIMUM, "largest": Aggregate.MAXIMUM,
    "highest": Aggregate.MAXIMUM, "max": Aggregate.MAXIMUM, "min": Aggregate.MINIMUM, "avg": Aggregate.MEAN,
}  # fmt: skip
_TOP = {"top": True, "first": True, "bottom": False, "last": False}
_ADJECTIVES = {
    "largest": True, "biggest": True, "greatest": True, "highest": True, "longest": True, "latest": True,
    "newest": True, "smallest": False, "lowest": False, "shortest": False, "least": False, "earliest": False,
    "oldest": False,
}  # fmt: skip


_KINDS_OF = {"largest": "size", "biggest": "size", "greatest": "size", "smallest": "size", "latest": "date",
             "newest": "date", "earliest": "date", "oldest": "date"}  # fmt: skip
_SMALL_IN_TEXT = "two three four five six seven eight nine ten"
_SMALL = {word: number for number, word in enumerate(_SMALL_IN_TEXT.split(), start=2)}


def read_question(text: str, vocabulary: Vocabulary) -> Question:
    """The question that some words ask, its sorts and units checked; a mistake is shown at its place."""
    reader = QuestionReader(text, lexicon_of(vocabulary))
    question = reader.question()
    try:
        check_size(question.query)
        check_sorts(question, vocabulary)
    except UserError as error:
        raise reader.error(str(error), 0) from None
    return question


def read(text: str, vocabulary: Vocabulary) -> Query:
    """The query that some words denote."""
    question = read_question(text, vocabulary)
    if not question.is_plain or question.limit is not None:
        raise UserError("a set is expected here, not a count, an order or a total")
    return question.query


class QuestionReader(SetReader):
    """Reads a whole question."""

    measure: int | None = None  # the attribute that a superlative is about, if it says
    measure_word = ""

    def question(self) -> Question:
        """The question, to the end of the text."""
        found = self._question()
        self.take(*ENDINGS)
        while self.take("?", ".", "!"):
            pass
        if self.at < len(self.tokens):
            self._left_over()
        return found

    def _left_over(self) -> None:
        if self.low() == ")":
            raise self.error("this bracket was never opened")
        if self.low() in (",", "and", "or", "but"):
            self.at += 1
            if self.at >= len(self.tokens):
                raise self.error("expected one more condition")
        self.unknown("a condition, such as 'with …', 'that …' or 'in …', or the end", self.at)

    def _question(self) -> Question:
        while word := self.take(*_LEADS):
            self.finite_allowed = True
            if word.endswith((" is", " are")) and (self.reduced_at(self.at)[0] or self._is_dated(self.at)):
                self.at -= 1  # what is in Japan?
                parts = self._modifiers(self.predicates(0), 0)
                return Question(parts[0] if len(parts) == 1 else And(tuple(parts)), near=self.near, where=self.where)
        if (asked := self._asked_of_one()) is not None:
            return Question(asked)
        self.ranked = True
        if self.take(*_COUNTS):
            self.finite_allowed, self.ranked = True, False
            return Question(self.set(0), aggregate=Aggregate.COUNT, near=self.near, where=self.where)
        start = self.at
        nearest = self._nearest_things()
        if nearest is not None:
            return nearest
        self.take("the")
        nouns, end = self.noun_at(self.at)
        named = bool(nouns) and end > self.at + 1 and self.sees("of", place=end) is not None  # the longest runway of
        aggregate = None if named else self._aggregate()
        if aggregate is not None:
            return aggregate
        limit = None if named else self._ranking()
        few = None
        if limit is None:
            self.at = start
            few = self._few()
        query = self.set(0)
        sorting = self.sorting
        if sorting is None and self.measure is not None and limit is not None:
            sorting = Sorting(self.measure, self.descending)
        if limit is not None and sorting is None and self.near is None:
            measured = self._held(query, _KINDS_OF.get(self.measure_word, "size"))
            if len(measured) != 1 or self.measure_word not in _KINDS_OF:
                raise self.error(self.which_attribute(measured), len(self.tokens))
            sorting = Sorting(measured[0], self.descending)
        if self.only_best:
            limit = limit or few or 1
        return Question(query, sorting, limit or few, near=self.near, where=self.where)

    def _few(self) -> int | None:
        """`5 cities nearest to Rome`, moving past the number."""
        start = self.at
        self.take("the")
        count = self._count()
        if count is None or self.class_at(self.at)[0] is None:
            self.at = start
            return None
        return count

    def _nearest_things(self) -> Question | None:
        """`the 5 nearest airports to Oslo`; one, if it stands in the singular."""
        start = self.at
        self.take("the")
        limit = self._count()
        self.near_what = self.take("nearest", "closest") is not None
        if not self.near_what or self.sees("to"):
            self.at, self.near_what = start, False
            return None
        limit = self._count() if limit is None else limit
        kind, end = self.class_at(self.at)
        if (
            limit is None
            and kind is not None
            and self.span(self.at, end).casefold()
            in (self.vocabulary.entity_label(kind).casefold(), self.vocabulary.entity_name(kind).casefold())
        ):
            limit = 1
        query = self.set(0)
        if self.near is None:
            raise self.error("expected 'to' and a thing", self.at)
        return Question(query, self.sorting, limit, near=self.near, where=self.where)

    def _asked_of_one(self) -> Query | None:
        """`which country is Paris in`, `which languages does Switzerland speak`."""
        start = self.at
        asked = self.take("what", "who", "whom") is not None
        kind, place = self.class_at(self.at)
        auxiliaries = _DO if kind is None else (*_DO, "is", "are", "was", "were")
        verb = self.sees(*auxiliaries, place=place) if kind is not None or asked else None
        named, end = self.entity_at(place + 1) if verb is not None else ([], place)
        if verb is None or not named or self.class_at(place + 1)[1] > end:
            self.finite_allowed = self.finite_allowed or (kind is not None and self.at > start)  # what cities are in …
            self.at = start if kind is None else self.at
            return None
        self.at = place + 1
        thing = self._entity(named, end)
        verbs, end = (self.finite_at if verb.startswith("d") else self.reduced_at)(self.at)
        if not verbs:
            self.unknown("a verb" if verb.startswith("d") else "a preposition", self.at)
        self.at = end
        of_it = self.object_of(thing, verbs, end - 1, kind)
        if kind is None:
            return of_it
        assert self.lexicon.is_a is not None
        return And((Follow(self.lexicon.is_a, Entity(kind)), of_it))

    def _held(self, query: Query, measure: str) -> list[int]:
        """The attributes that say how large, or of which date, the members of a class are."""
        for part in query.parts[:1] if isinstance(query, And) else (query,):
            match part:
                case Follow(relation, Entity(kind)) if relation == self.lexicon.is_a:
                    return [one for one in self.lexicon.measures[measure] if one in self.lexicon.held_by(kind)]
        return []

    def _ranking(self) -> int | None:
        """How many of the best are wanted; 0 where it is not said."""
        if word := self.take(*_TOP):
            self.descending = _TOP[word]
            return self._count() or 1
        count = self._count()
        if word := self.take(*self.lexicon.superlatives, *_ADJECTIVES):
            attribute, self.descending = self.lexicon.superlatives.get(word, (None, _ADJECTIVES.get(word, True)))
            self.measure, self.measure_word = attribute, word
            return count or self._count() or 1
        return None

    def _count(self) -> int | None:
        if self.low() in _SMALL and self.entity_at(self.at)[1] <= self.at + 1:
            self.at += 1
            return _SMALL[self.low(self.at - 1)]
        if (
            not (self.low().isascii() and self.low().isdigit())
            or self.entity_at(self.at)[1] > self.at + 1
            or len(self.low()) > 6
        ):
            return None
        self.at += 1
        return int(self.low(self.at - 1))

    def _aggregate(self) -> Question | None:
        """`average population of cities in Japan`."""
        start = self.at
        word = self.take(*_AGGREGATES)
        if word is None or self.class_at(start)[1] > start + 1 or self.entity_at(start)[1] > start + 1:
            self.at = start
            return None
        if word in ("sum", "total"):
            self.take("of")
        self.take("the")
        term = self.calculated()
        nouns, end = ([], self.at) if term is not None else self.noun_at(self.at)
        what = [noun.id for noun in nouns if noun.attribute] if term is None else [term]
        if not what or self.sees("of", place=end) is None:
            self.at = start
            return None
        self.ranked = False
        self.at = end + 1
        place = self.at
        query = self.set(0)
        if is_numbers(query):
            raise self.error("expected things whose values are totalled", place)
        return Question(query, aggregate=_AGGREGATES[word], of=what[0], near=self.near, where=self.where)
