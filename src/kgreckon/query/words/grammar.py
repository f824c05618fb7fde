"""Reading a question in words: `top 5 cities by population in countries that speak French`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from kgreckon.errors import UserError
from kgreckon.query.algebra import And, Entity, Follow, Or, Query, ValueOf
from kgreckon.query.question import Aggregate, Near, Question, Sorting, check_sorts
from kgreckon.query.shapes import check_size
from kgreckon.query.terms import Calculated, Elsewhere, Operation, Term, dimension, own_attributes, own_of, terms_in
from kgreckon.query.vocabulary import Vocabulary
from kgreckon.query.within import filled, in_order
from kgreckon.query.words.comparatives import SUPERLATIVES
from kgreckon.query.words.cursor import WordsError, is_named, is_numbers
from kgreckon.query.words.inflection import singular
from kgreckon.query.words.lexicon import PLACES, lexicon_of, tightest
from kgreckon.query.words.things import SMALL, TOP, SetReader
from kgreckon.query.words.verbs import BE, ENDINGS, HAVE

_LEADS = ("what 's", "what ’s", "who 's", "who ’s", "what are", "what is", "which are", "which is", "who are", "who is",
          "show me", "give me", "tell me", "show", "list", "find", "name", "which", "whose", "where are",
          "please")  # fmt: skip
_DO = ("does", "do", "did")
_MOST_CLAIMS = 20  # of one thing
_COUNTS = ("how many", "the number of", "number of", "count of", "count")
_AGGREGATES = {
    "sum": Aggregate.SUM, "total": Aggregate.SUM, "mean": Aggregate.MEAN, "average": Aggregate.MEAN,
    "median": Aggregate.MEDIAN, "minimum": Aggregate.MINIMUM, "smallest": Aggregate.MINIMUM,
    "lowest": Aggregate.MINIMUM, "maximum": Aggregate.MAXIMUM, "largest": Aggregate.MAXIMUM,
    "highest": Aggregate.MAXIMUM, "max": Aggregate.MAXIMUM, "min": Aggregate.MINIMUM, "avg": Aggregate.MEAN,
}  # fmt: skip
_HOW = {
    "big": "size", "large": "size", "small": "size", "high": "height", "tall": "height", "low": "height",
    "long": "length", "short": "length", "heavy": "weight", "deep": "depth", "fast": "speed", "populous": "people",
    "old": "age", "far north": "north", "far south": "north", "far east": "east", "far west": "east",
}  # fmt: skip
_BEGINNINGS = ("born", "founded", "established", "built", "opened", "released", "published")
_KINDS_OF = {"largest": "size", "biggest": "size", "greatest": "size", "smallest": "size", "latest": "date",
             "newest": "date", "earliest": "date", "oldest": "date"}  # fmt: skip


def read_question(text: str, vocabulary: Vocabulary) -> Question:
    """The question that some words ask, its sorts and units checked; a mistake is shown at its place."""
    reader = QuestionReader(text, lexicon_of(vocabulary))
    question = reader.question()
    try:
        for asked in (question, *question.inner):
            check_size(asked.query)
            check_sorts(filled(asked, [Entity(0)] * len(question.inner)), vocabulary)
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

    _preposition: str | None = None  # with which it begins

    def question(self) -> Question:
        """The question, to the end of the text."""
        found = replace(self._question(), inner=tuple(self.inner))
        self.take(*ENDINGS)
        while self.take("?", ".", "!"):
            pass
        if self.at < len(self.tokens):
            self._left_over()
        return in_order(found)

    def _left_over(self) -> None:
        if self.low() == ")":
            raise self.error("this bracket was never opened")
        if self.low() in (",", "and", "or", "but"):
            self.at += 1
            if self.at >= len(self.tokens):
                raise self.error("expected one more condition")
        self.unknown("a condition, such as 'with …', 'that …' or 'in …', or the end", self.at)

    def _question(self) -> Question:
        if (place := self._where_is()) is not None:
            return Question(place)
        if (word := self.sees(*PLACES)) and self.sees("which", "what", place=self.at + 1):
            self._preposition, self.at = word, self.at + 1  # in which country is Paris?
        while word := self.take(*_LEADS):
            self.finite_allowed = True
            if word == "what is" and (self._near_at(self.at) or self.low() == "within"):
                self.at -= 1  # what is near Paris?
                return self._beside(self._modified([], 0))
            if word.endswith((" is", " are")) and (self.reduced_at(self.at)[0] or self._is_dated(self.at)):
                self.at -= 1  # what is in Japan?
                parts = self._modifiers(self.predicates(0), 0)
                return self._beside(parts[0] if len(parts) == 1 else And(tuple(parts)))
        if (asked := self._asked_of_one()) is not None:
            return Question(asked)
        if (question := self._how() or self._how_many_people()) is not None:
            return question
        if self.take(*_COUNTS):
            self.finite_allowed, self.asked.totalled = True, Aggregate.COUNT
            return replace(self._beside(self.set(0)), aggregate=Aggregate.COUNT)
        for read in (self._whether, self._distance_between, self._value, self._several):
            start = self.at
            if (question := read()) is not None:
                return question
            self.at = start
        self.asked.ranked = True
        start = self.at
        self.take("the")
        nouns, end = self.noun_at(self.at)
        named = bool(nouns) and end > self.at + 1 and self.sees("of", place=end) is not None  # the longest runway of
        aggregate = None if named else self._aggregate()
        if aggregate is not None:
            return aggregate
        self.at = start
        if named:
            return self._beside(self.set(0))
        return self.ranked(0)

    def _whether(self) -> Question | None:
        """`is Paris in France?`, `does France border Spain?`, `is there an airport in Monaco?`."""
        if self.take("is there", "are there"):
            return replace(self._beside(self.set(0)), aggregate=Aggregate.WHETHER)
        word = self.take("whether", "is it true that", *BE, *_DO, *HAVE)
        named, end = self.entity_at(self.at) if word is not None else ([], 0)
        if word is None or self.at >= len(self.tokens):
            return None
        if not named or (self.class_at(self.at)[1] > end and self.sees("of", place=end) is None):
            return None
        thing = self._entity(named, end)
        parts: list[Query] = [thing]
        at_place = self.at + (self.low() in BE and word not in BE)
        if self._near_at(at_place) or self.low(at_place) == "within":
            self.at = at_place
            self._modifier(0, False)
            return replace(self._beside(thing), aggregate=Aggregate.WHETHER)
        if word in ("whether", "is it true that"):
            return replace(self._beside(And((thing, *self.predicates(0)))), aggregate=Aggregate.WHETHER)
        for _ in range(_MOST_CLAIMS):
            parts += self.spliced(self.said_of_one(word))
            if not self.sees("and", "or"):
                break
            if self.take("or"):
                raise self.error("one thing is asked at a time: write 'and', or ask twice", self.at - 1)
            self.at += 1
        return replace(self._beside(And(tuple(parts))), aggregate=Aggregate.WHETHER)

    def _how(self) -> Question | None:
        """`how big is France?`, `how high is the highest airport?`: what is stated of it that says so."""
        start = self.at
        words = (f"how {word} {be}" for word in _HOW for be in ("is", "are", "was", "were"))
        word = self.take(*words) if self.low() == "how" else None
        if word is None:
            return None
        measure = _HOW[word.rpartition(" ")[0].removeprefix("how ")]
        of = self.set(0)
        if is_numbers(of):
            raise self.error("a number has no size: ask it of a thing", start)
        meant = self.lexicon.measures[measure]
        if measure == "age" and not meant:
            meant = [one for word in _BEGINNINGS for one in self.lexicon.dated.get(word, ())]
        meant = self._told_of(of, meant)
        if not meant:
            raise self.error(self._what_is_told(of), start)
        if len(meant) == 1:
            return self._beside(ValueOf(meant[0], of))
        return replace(self._beside(of), columns=tuple(meant))

    def _told_of(self, of: Query, attributes: Sequence[int]) -> list[int]:
        """The attributes of some that are stated of a thing, else of what is like it."""
        if is_named(of):
            stated = [one for one in attributes if self.vocabulary.has_value(one, of.entity)]
            classes = self.lexicon.classes
            kinds = [] if classes is None or stated else self.vocabulary.ends(classes, of.entity, 4)
            return stated or [one for one in attributes if any(one in self.lexicon.held_by(kind) for kind in kinds)]
        held = self._held_by(of)
        return [one for one in attributes if held is None or one in held]

    def _what_is_told(self, of: Query) -> str:
        """A message that says what is stated of a thing instead."""
        if not is_named(of):
            return "which attribute says so? Ask for instance: the population of …"
        label = self.vocabulary.entity_label(of.entity)
        names = self.lexicon.attributes
        told = [name for one, name in enumerate(names) if self.vocabulary.has_value(one, of.entity)]
        instead = f"ask for instance: the {told[0]} of {label}" if told else "no number is stated of it"
        return f"nothing is stated of {label} that says so; {instead}"

    def _how_many_people(self) -> Question | None:
        """`how many people live in Japan?`: its population, where people are no things of the graph."""
        start = self.at
        if self.take("how many") is None or self.class_at(self.at)[0] is not None or self.noun_at(self.at)[0]:
            self.at = start
            return None
        attributes, self.at = self.measured_at(self.at)
        has = self.take("do", "does") is not None
        live = self.take("are there", "is there", "live", "are living", "living", "lives", "are", "is")
        is_placed = not self._is_everywhere() and (has or self.take(*PLACES) is not None)
        if attributes and not is_placed and self.low() in ("", "?"):
            raise self.error("people are no things of this graph: ask how many people live in one of its things", start)
        if not attributes or live == "is" or not is_placed:
            self.at = start
            return None
        of = self._entity(*self.entity_at(self.at)) if has else self.set(0)
        if has:
            self.expect("have")
        if is_numbers(of):
            raise self.error("people live in places, not in numbers", start)
        attribute = self.one_of_measured(self._told_of(of, attributes) or attributes, start + 2)
        if is_named(of):
            return Question(ValueOf(attribute, of))
        return replace(self._beside(of), aggregate=Aggregate.SUM, of=attribute)

    def _where_is(self) -> Query | None:
        """`where is Paris?`: what the relations of place that are stated of it lead to."""
        word = self.sees("where is", "where are", "where was", "where 's", "where ’s")
        named, end = self.entity_at(self.at + 2) if word is not None else ([], 0)
        if not named or end <= self.class_at(self.at + 2)[1]:
            return None
        start, self.at = self.at, self.at + 2
        thing = self._entity(named, end)
        if self.take("located", "situated") is None and self.low() not in ("", "?"):
            done = [f"{self.low(start + 1)} {self.low()} {place}" for place in PLACES]  # where was Ada born?
            verbs = [verb for phrase in done for verb in self.lexicon.finite.get(phrase, ())]
            self.at += 1
        else:
            verbs = [verb for place in PLACES for verb in self.lexicon.reduced.get(place, ())]
        led = [verb for verb in verbs if self.vocabulary.leads(verb.relation ^ 1, named[0])]
        relations = list(dict.fromkeys(tightest(led)))
        if not relations:
            raise self.error(f"no place is stated for {self.vocabulary.entity_label(named[0])}", start)
        parts = tuple(Follow(relation ^ 1, thing) for relation in relations)
        return parts[0] if len(parts) == 1 else Or(parts)

    def _distance_between(self) -> Question | None:
        """`the distance between Rome and Paris`, `how far is Rome from Paris?`."""
        if self.take("how far is", "how far away is"):
            words: tuple[str, ...] = ("from", "away from", "to")
        elif self.take("the distance between", "distance between"):
            words = ("and",)
        elif self.take("the distance from", "distance from"):
            words = ("to",)
        else:
            return None
        ends = []
        for place in range(2):
            if place and self.take(*words) is None:
                raise self.error(f"expected {words[0]!r} and another thing")
            named, end = self.entity_at(self.at)
            ends.append(self._entity(named, end))
        return Question(ends[0], near=Near(ends[1]))

    def _value(self) -> Question | None:
        """`the population of France - the population of Germany`: one number, which is calculated."""
        try:
            term = self._between_two() or self._sum()
        except WordsError:
            return None
        self.take("?")
        if not isinstance(term, Calculated) or self.at < len(self.tokens):
            return None
        things = [part.entity for part in terms_in(term) if isinstance(part, Elsewhere)]
        if not things or (own_attributes(term) and len(set(things)) > 1):
            return None
        try:
            typed = own_of(self._typed(term, None), things[0])
            dimension(typed, self.vocabulary)
        except UserError as error:
            raise self.error(str(error), 0) from None
        assert isinstance(typed, Calculated)
        return Question(Entity(things[0]), aggregate=Aggregate.VALUE, of=typed)

    def _between_two(self) -> Term | None:
        """`the difference between the population of France and of Germany`, `the difference in area between …`."""
        self.take("the")
        if not self.take("difference"):
            return None
        attribute = self._attribute_here() if self.take("in") and (self.take("the") or True) else None
        self.expect("between")
        if attribute is None:
            one = self._factor_of_term()
            self.expect("and")
            if isinstance(one, Elsewhere) and self.take("that of", "of"):
                named, end = self.entity_at(self.at)
                other: Term = Elsewhere(one.attribute, self.named_here(named, end))
            else:
                other = self._factor_of_term()
            return Calculated(Operation.MINUS, one, other)
        ends = []
        for place in range(2):
            if place:
                self.expect("and")
            named, end = self.entity_at(self.at)
            ends.append(Elsewhere(attribute, self.named_here(named, end)))
        return Calculated(Operation.MINUS, ends[0], ends[1])

    def named_here(self, ids: Sequence[int], end: int) -> int:
        """The one thing that a name here means, moving past it."""
        thing = self._entity(ids, end)
        assert isinstance(thing, Entity)
        return thing.entity

    def _several(self) -> Question | None:
        """`population and area of France`: several numbers of things, each in a column."""
        self.take("the")
        columns: list[int] = []
        while True:
            nouns, end = self.noun_at(self.at)
            attributes = [noun.id for noun in nouns if noun.attribute]
            if len(attributes) != 1:
                return None
            columns.append(attributes[0])
            self.at = end
            if self.take(", and the", ", and", "and the", "and", ",") is None:
                break
        if len(columns) < 2 or self.take("of") is None:
            return None
        self.asked.ranked = True
        place = self.at
        query = self.set(0)
        if is_numbers(query):
            raise self.error("expected things whose values are shown", place)
        return replace(self._beside(query), columns=tuple(dict.fromkeys(columns)))

    def _beside(self, query: Query, sorting: Sorting | None = None, limit: int | None = None) -> Question:
        """A set with what was asked of its members beside it."""
        asked = self.asked
        return Question(query, sorting or asked.sorting, limit, asked.skip, near=asked.near, where=asked.where)

    def ranked(self, depth: int) -> Question:
        """Things with an order and a limit, if any are said: `the 3 largest cities in Japan`."""
        start = self.at
        nearest = self._nearest_things(depth)
        if nearest is not None:
            return nearest
        self.take("the")
        if not self.entity_at(self.at)[0]:
            self.take("world 's", "world ’s")
        is_ranking, limit = self._ranking()
        if not is_ranking:
            self.at = start
            limit = self._few()
        query = self.set(0) if not depth else self.part(depth)
        asked = self.asked
        sorting = asked.sorting
        if sorting is None and asked.measure is not None and is_ranking:
            sorting = Sorting(self.lexicon.as_held(asked.measure, self._held_by(query)), asked.descending)
        if (is_ranking or asked.only_best) and sorting is None and (asked.near is None or asked.measure_word):
            measured = self._held(query, _KINDS_OF.get(asked.measure_word, "size"))
            if len(measured) != 1 or asked.measure_word not in _KINDS_OF:
                raise self.error(self.which_attribute(measured), self.at)
            sorting = Sorting(measured[0], asked.descending)
        if asked.only_best:
            limit = limit or 1
        return self._beside(query, sorting, limit)

    def _few(self) -> int | None:
        """`5 cities nearest to Rome`, moving past the number."""
        start = self.at
        self.take("the")
        count = self._count()
        if count is None or self.class_at(self.at)[0] is None:
            self.at = start
            return None
        return count

    def _nearest_things(self, depth: int) -> Question | None:
        """`the 5 nearest airports to Oslo`; one, if it stands in the singular."""
        start = self.at
        self.take("the")
        skip = self.take_ordinal()
        limit = self._count() if skip is None else 1
        self.asked.near_what = self.take("nearest", "closest") is not None
        if not self.asked.near_what or self.sees("to"):
            self.at, self.asked.near_what = start, False
            return None
        self.asked.skip = skip or 0
        limit = self._count() if limit is None else limit
        kind, end = self.class_at(self.at)
        if limit is None and kind is not None and self.is_singular(kind, end):
            limit = 1
        query = self.set(0) if not depth else self.part(depth)
        if self.asked.near is None:
            raise self.error("expected 'to' and a thing", self.at)
        return self._beside(query, limit=limit)

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
        if not verbs and self._preposition is not None:
            verbs = self.lexicon.reduced.get(self._preposition, [])
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
        held = self._held_by(query)
        return [] if held is None else [one for one in self.lexicon.measures[measure] if one in held]

    def _held_by(self, query: Query) -> frozenset[int] | None:
        """The attributes that the members of the class of a set have; None where it names none."""
        match query.parts[0] if isinstance(query, And) else query:
            case Follow(relation, Entity(kind)) if relation == self.lexicon.is_a:
                return self.lexicon.held_by(kind)
        return None

    def _ranking(self) -> tuple[bool, int | None]:
        """Whether the best are wanted, and how many: one, or all in their order where they stand in the plural."""
        if word := self.take(*TOP):
            self.asked.descending = TOP[word]
            return True, self._count() or self._one_or_all()
        start, skip = self.at, self.take_ordinal()
        count = self._count() if skip is None else 1
        if word := self.take(*self.lexicon.superlatives, *SUPERLATIVES):
            attribute, self.asked.descending = self.lexicon.superlatives.get(word, (None, SUPERLATIVES.get(word, True)))
            self.asked.measure, self.asked.measure_word = attribute, word
            count = count or self._count() or self._one_or_all()
        elif skip is None or (self.class_at(self.at)[0] is None and self.low() != "("):
            self.at = start
            return False, None
        self.asked.skip = skip or 0
        return True, count

    def _one_or_all(self) -> int | None:
        """How many `the largest city` and `the largest cities` ask for; within a question it is one."""
        kind, end = self.class_at(self.at)
        noun = "" if kind is None else self.span(self.at, end).lower()
        return None if singular(noun) != noun and not self.asked.within else 1

    def _count(self) -> int | None:
        if self.low() in SMALL and self.entity_at(self.at)[1] <= self.at + 1:
            self.at += 1
            return SMALL[self.low(self.at - 1)]
        if not self._is_count() or self.entity_at(self.at)[1] > self.at + 1 or len(self.low()) > 6:
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
        self.asked.ranked, self.asked.totalled = False, _AGGREGATES[word]
        self.asked.total_of = what[0] if isinstance(what[0], int) else None
        self.at = end + 1
        place = self.at
        query = self.set(0)
        if is_numbers(query):
            raise self.error("expected things whose values are totalled", place)
        return replace(self._beside(query), aggregate=_AGGREGATES[word], of=what[0])
