"""What is said about a noun after it: `in Japan`, `with population > 5 million`, `whose elevation is missing`.

It is about the nearest noun before it; after a comma it is about the outermost one.
"""

from __future__ import annotations

from kgreckon.query.algebra import (
    And,
    Compare,
    Comparison,
    Entity,
    Follow,
    HavingValue,
    Not,
    Number,
    Or,
    Order,
    Query,
    ValueOf,
)
from kgreckon.query.question import Near, Sorting
from kgreckon.query.terms import Calculated
from kgreckon.query.words.calculating import CalculationReader
from kgreckon.query.words.comparatives import ORDINALS, SIZES, SUPERLATIVES
from kgreckon.query.words.cursor import ARTICLES, COMPARING, is_numbers
from kgreckon.query.words.lexicon import PLACES, Noun, Verb
from kgreckon.query.words.measures import anything_in
from kgreckon.query.words.verbs import BE, HAVE

_WHICH = ("that", "which", "who", "whom")
_WITH = ("with", "having")
_BY = ("ordered by", "sorted by", "ranked by", "by")
_MOST = {"highest": True, "largest": True, "greatest": True, "biggest": True, "longest": True, "most": True,
         "latest": True, "lowest": False, "smallest": False, "least": False, "fewest": False, "shortest": False,
         "earliest": False}  # fmt: skip
_NEAREST = ("nearest to", "closest to", "nearest", "closest")
_NEAR = ("near to", "near", "close to", "nearby", "in the vicinity of", "not far from", "around")
NEAR_METRES = 100_000.0  # what is near, where nobody says how near
_EVERYWHERE = ("in the world", "of the world", "in the whole world", "in the entire world", "on earth", "worldwide")
_GROUPING = ("by", "per", "for each", "for every", "in each", "in every", "of each", "of every", "on each", "on every")
_IN_SPARQL = {"count": "COUNT", "sum": "SUM", "mean": "AVG", "minimum": "MIN", "maximum": "MAX"}
_LIE = ("are", "is", "lie", "lies")
_WHERE = ("where", "in which", "on which", "at which")
_DATES = ("before", "after", "in", "on", "since", "until", "between", "from", "around", "about", *COMPARING)


class ConditionReader(CalculationReader):
    """Reads conditions on things, and the order of answers."""

    finite_allowed = False  # `which countries border France`: a verb without `that`

    def _is_outermost(self, depth: int) -> bool:
        """Whether what is said about the noun here is asked of the answers, and not of things within the question."""
        return self.asked.ranked and depth == self.asked.depth

    def _modifiers(self, parts: list[Query], depth: int) -> list[Query]:
        """What is said about a noun after it, from here on."""
        given = len(parts)
        while True:
            start = self.at
            comma = depth == 0 and self.take(",") is not None
            word = self.take("and", "but", "or") if parts or comma else None
            if word == "or" and (comma or len(parts) == given or self._names_a_kind(self.at)):
                self.at = start
                break
            found = self._modifier(depth, free=comma or word is not None)
            if found is None:
                self.at = start
                break
            if word == "or" and not found:
                raise self.error(
                    "what stands after 'or' is asked of all answers: say it at the end, without 'or'", start
                )
            if word == "or":
                last = parts.pop()
                parts.append(Or((last, found[0] if len(found) == 1 else And(tuple(found)))))
            else:
                parts += found
        return parts

    def _names_a_kind(self, place: int) -> bool:
        """Whether a class noun here begins a set of its own, and not a condition such as `country France`."""
        kind, end = self.class_at(place + (self.low(place) in ARTICLES))
        return kind is not None and not self.entity_at(end)[0] and not self.value_begins(end)

    def _modifier_begins(self, place: int) -> bool:
        words = (*_WHICH, *_WITH, "without", "whose", "where", "not", *_BY, *_NEAREST, "within", *_WHERE)
        low = self.sees(*words, place=place)
        if low in _BY and not self.asked.ranked:
            low = None
        if self.sees(*self.lexicon.comparatives, *SIZES, place=place) or self._near_at(place) is not None:
            return True
        return low is not None or bool(self.reduced_at(place)[0]) or self._is_dated(place)

    def _is_dated(self, place: int) -> bool:
        attributes, end = self.dated_at(place)
        if not attributes or self.sees(*_DATES, place=end) is None:
            return False
        return not (self.reduced_at(place)[0] and not self.is_number(end + 1))

    def _modifier(self, depth: int, free: bool) -> list[Query] | None:
        """The conditions that begin here, or None; a `free` one follows a comma or an `and`."""
        if self._is_best(depth) or self._is_everywhere():
            return []
        if (near := self._is_near(depth)) is not None:
            return near
        if (led_to := self._where_something_is_done()) is not None:
            return self.spliced(led_to)
        if self.take(*_WHICH):
            return self.object_clause() or self.predicates(depth)
        if self._is_dated(self.at):
            return [self._dated(depth)]
        if self.sees("at least", "at most") and (quantity := self._of_quantity()) is not None:
            return [quantity]
        if self.kind is not None and self.low() == "of" and depth == 0 and (belonging := self.belonging()) is not None:
            return [belonging]
        if (self.asked.totalled or self.asked.measure_word) and (word := self.sees(*_GROUPING)):
            self._not_grouped(self.at + word.count(" ") + 1)
        verbs, end = self.reduced_at(self.at)
        if verbs and self.low() == "by" and end == self.at + 1 and self.asked.ranked and self._condition_begins(end):
            verbs = []  # by population, and not by Fritz Lang
        if verbs and (end > self.at + 1 or self.low() not in _WITH):
            return self.spliced(self._verb(verbs, end, depth))
        if (compared := self.comparative(depth)) is not None:
            return [compared]
        if self.take("whose", "where"):
            return self._conditions(depth)
        if self.take(*_WITH):
            return [] if self._superlative(depth) else self._conditions(depth)
        if self.take("without"):
            self.take(*ARTICLES)
            return [self._lacking(depth)]
        if self.take("within"):
            return self._near(depth)
        if self.asked.near_what and self.take("to"):
            return self._nearest(depth)
        if self.asked.ranked and self.take(*_BY):
            return self._by()
        if self.take(*_NEAREST):
            return self._nearest(depth)
        if self.sees("not"):
            self.at += 1
            begun = self.at
            found = self._modifier(depth, True) if not self.sees("not") else None
            if found is None:
                self.at = begun
                self.unknown("what is not so", self.at)
            if not found:
                raise self.error("an order, a distance or 'in the world' cannot be denied", begun)
            return [self.negated(found[0] if len(found) == 1 else And(tuple(found)))]
        if self.low() == "(" and self._modifier_begins(self.at + 1):
            self.at += 1
            self._deeper()
            found = self._modifiers([], 0)
            self.expect(")")
            return found
        if free and self.low() == "(":
            return [self._predicate_or_brackets(depth)]
        if (free or self.finite_allowed) and self.predicate_begins(self.at):
            return self.spliced(self.predicate(depth))
        if free and self._condition_begins(self.at):
            return [] if self.calculation(depth) else self.spliced(self._condition_on(depth))
        return None

    def _not_grouped(self, place: int) -> None:
        """`average length of films by genre` and `the largest city in each country` ask for many answers."""
        kind, end = self.class_at(place)
        named = self.entity_at(place)[1]
        is_kind = kind is not None and named <= end
        if not is_kind and (self.asked.totalled == "" or named != place or not self._condition_begins(place)):
            return
        if not self.asked.totalled and self.low() == "by" and self.noun_at(place)[0]:
            return  # the largest city by population
        if not self.asked.totalled:
            example = self._of_one_group(kind) if kind is not None else None
            message = "one answer is asked in words, not one for each of several groups; ask for one of them"
        else:
            example = self._in_sparql(kind) if kind is not None and is_kind else None
            message = "one number is asked in words; one for each of several groups needs SPARQL's GROUP BY"
        raise self.error(message if example is None else f"{message}: {example}", place)

    def _of_one_group(self, kind: int) -> str | None:
        """The question asked of one member of a class instead of each: `the largest city in France`."""
        assert self.lexicon.is_a is not None
        for one in self.vocabulary.ends(self.lexicon.is_a, kind, 8):
            example = f"{self.span(0, self.at)} in {self.vocabulary.entity_label(one)}"
            if self.is_question(example):
                return example
        return None

    def _in_sparql(self, group: int) -> str | None:
        """What counts, adds up or averages the members of a class for each of a group, where one relation leads there.

        Only of a class alone: what else is said of its members is not written here.
        """
        names, is_a = self.vocabulary, self.lexicon.is_a
        own = [one for one in range(self.at) if self.class_at(one) == (self.kind, self.at)]
        if self.kind is None or is_a is None or not own or self.asked.totalled not in _IN_SPARQL:
            return None
        members = names.ends(is_a, self.kind, 16)
        ways = [
            relation
            for relation in range(0, 2 * len(self.lexicon.relations), 2)
            if sum(self._ends_in(relation, member, group) for member in members) * 2 > len(members)
        ]
        placed = [one for one in ways if self.lexicon.relations[one >> 1].verb in ("is in", "is on")] or ways
        if len(placed) != 1:
            return None
        kind, other = names.entity_name(self.kind), names.entity_name(group)
        said = [names.relation_name(is_a & ~1), kind, names.relation_name(placed[0]), other]
        value, of = "?x", ""
        if self.asked.total_of is not None:
            said.append(names.attribute_name(self.asked.total_of))
            value, of = "?value", f" ; :{said[-1]} ?value"
        if not all(name.isidentifier() for name in said):
            return None
        total = f"({_IN_SPARQL[self.asked.totalled]}({value}) AS ?number)"
        where = f"?x :{said[0]} :{kind} ; :{said[2]} ?group{of} . ?group :{said[0]} :{other}"
        return f"SELECT ?group {total} {{ {where} }} GROUP BY ?group ORDER BY DESC(?number)"

    def negated(self, query: Query) -> Query:
        """What `not` means: a number that is stated otherwise; anything else that is not stated."""
        match query:
            case HavingValue(attribute, of) if of != anything_in(self.vocabulary.attribute_unit(attribute)):
                return HavingValue(attribute, Not(of))
        return Not(query)

    def _condition_begins(self, place: int) -> bool:
        nouns, end = self.noun_at(place + (self.low(place) in ARTICLES))
        return bool(nouns) and self.sees("of", place=end) is None

    def _conditions(self, depth: int) -> list[Query]:
        """The conditions after `with`, `whose` or `where`."""
        found = [] if self.calculation(depth) else self.spliced(self._condition_on(depth))
        while self.sees("and"):
            place = self.at + 1
            if self._modifier_begins(place) or self.predicate_begins(place) or not self._condition_begins(place):
                break
            self.at = place
            found += [] if self.calculation(depth) else self.spliced(self._condition_on(depth))
        return found

    def _condition_on(self, depth: int) -> Query:
        """One condition on a property: `population > 5 million`, `genre Drama`, `elevation is missing`."""
        if self.take("no"):
            return self._lacking(depth)
        if self.take("not"):
            return self.negated(self._condition_on(depth))
        self.take(*ARTICLES)
        known = self.take("known", "stated") is not None
        if not known and self.noun_at(self.at + 1)[0] and self.take("missing", "unknown", "unstated"):
            return self._lacking(depth)
        start = self.at
        nouns, end = self.noun_at(start)
        if not nouns:
            found = self._of_quantity() or self._more_of(depth)
            if found is not None:
                return found
            self.unknown("a property", start)
        self.at = end
        be = self.take(*BE) is not None
        if (
            len(nouns) > 1
            and any(noun.attribute for noun in nouns)
            and (known or self.value_begins() or self.is_number())
        ):
            nouns = [noun for noun in nouns if noun.attribute]
        if all(noun.attribute for noun in nouns):
            attribute = self._one_noun(nouns, None, start).id
            return self._on_attribute(attribute, known, be, depth)
        return self._on_relation(nouns, start, known, be, depth)

    def _on_attribute(self, attribute: int, known: bool, be: bool, depth: int) -> Query:
        stated = None if known else self.whether_known(attribute)
        if stated is not None:
            return stated
        unit = self.vocabulary.attribute_unit(attribute)
        if self.asked.ranked and self.take(*_NEAREST):
            self._sort(attribute, False, self.one_number(attribute, unit, depth))
            return HavingValue(attribute, anything_in(unit))
        if not known and (be or self._value_follows()):
            return HavingValue(attribute, self.value(attribute, unit, depth + 1))
        return HavingValue(attribute, anything_in(unit))

    def _value_follows(self) -> bool:
        """Whether a value stands after the name of an attribute, or the attribute is only known."""
        if self.at >= len(self.tokens):
            self.value_begins()
            return False
        if self.low() == "not" and self.low(self.at + 1) == "(":
            return True
        if self.value_begins() or self.is_number() or self.low() in ("(", "-", "−", "$", "€", "£", "of", "twice"):
            return True
        if self.low() in (",", ")", ";", "and", "or", "but", "?"):
            return False
        return not (self._modifier_begins(self.at) or self.predicate_begins(self.at))

    def _on_relation(self, nouns: list[Noun], start: int, known: bool, be: bool, depth: int) -> Query:
        nouns = [noun for noun in nouns if not noun.attribute]

        def at(of: Query | None) -> int:
            turned = [Noun(False, noun.id ^ 1) for noun in nouns]
            return self._one_noun(turned, of, start).id

        missing = self.take("missing", "unknown", "not known", "not stated", "unstated")
        anything = Or((Entity(0), Not(Entity(0))))
        if missing:
            return Not(Follow(at(None), anything))
        if known or self.take("known", "stated") or not (be or self._object_follows()):
            return Follow(at(None), anything)
        self.take("=")
        denied = self.take("not") is not None
        if be and (self.reduced_at(self.at)[0] or self._is_dated(self.at)):
            objects: list[Query] = [
                And(tuple(found)) if len(found := self._modifier(depth + 1, True) or []) > 1 else found[0]
            ]
        elif self.predicate_begins(self.at) and not self.sees("not"):
            objects = [self.predicate(depth + 1)]
        else:
            objects = self.objects(depth + 1)
        parts = tuple(Follow(at(of), self._things(of)) for of in objects)
        if len(parts) == 1 or denied:
            found_all: Query = parts[0] if len(parts) == 1 else And(parts)
            return Not(found_all) if denied else found_all
        self.joint = And(parts)
        return self.joint

    def _object_follows(self) -> bool:
        if self.at >= len(self.tokens):
            self.may_end("entity")
            return False
        if self.low() in (",", ")", ";", "and", "or", "but"):
            return False
        return not self._modifier_begins(self.at) or self.low() == "not" or bool(self.entity_at(self.at)[0])

    def _lacking(self, depth: int) -> Query:
        """`without elevation`: it is not stated, or none that meets the condition is."""
        self.take("known", "stated")
        return Not(self._condition_on(depth))

    def _dated(self, depth: int) -> Query:
        """`born before 1930`."""
        attributes, end = self.dated_at(self.at)
        if len(attributes) > 1:
            names = [self.vocabulary.attribute_name(one) for one in attributes]
            self.ambiguous(self.low(), names, self.at)
        self.at = end
        attribute = attributes[0]
        unit = self.vocabulary.attribute_unit(attribute)
        if self.take("in", "on") and self.is_number():
            place = self.at
            day = self.number(unit)
            assert day is not None
            if not self._is_bare_year(place, day):
                return HavingValue(attribute, day)
            return HavingValue(attribute, self._year(day))
        if self.take("from"):
            self.at -= 1
        return HavingValue(attribute, self.value(attribute, unit, depth + 1))

    @staticmethod
    def _year(day: Number) -> Query:
        beyond = Number(day.value + 1, day.unit)
        return And((Compare(Comparison(Order.AT_LEAST), day), Compare(Comparison(Order.LESS), beyond)))

    # ------------------------------------------------------------------------------------------ order and nearness

    def _is_best(self, depth: int) -> bool:
        """`has the largest population`, `that is the highest`, moving past it."""
        start = self.at
        self.take(*_WHICH)
        if self.at > start or self.finite_allowed:
            if self.take(*HAVE):
                if self._superlative(depth):
                    return True
            elif self.take(*BE) and self.take("the"):
                skip = self.take_ordinal() or 0
                if word := self.take(*self.lexicon.superlatives):
                    attribute, largest = self.lexicon.superlatives[word]
                    self._best(self.lexicon.as_held(attribute, self.held_here()), largest, depth, skip)
                    return True
                if word := self.take(*SUPERLATIVES):
                    by = self._compared_by()
                    if by is None and self._is_outermost(depth):  # it may be said further on
                        self.asked.descending, self.asked.measure_word = SUPERLATIVES[word], word
                        self.asked.only_best, self.asked.skip = True, skip
                    else:
                        self._best(self._size(self.at - 1) if by is None else by, SUPERLATIVES[word], depth, skip)
                    return True
        self.at = start
        return False

    def _superlative(self, depth: int) -> bool:
        """`with the highest population`, `with the second most people`."""
        start = self.at
        self.take("the")
        skip = self.take_ordinal() or 0
        word = self.take(*_MOST)
        attributes, end = self.measured_at(self.at) if word is not None else ([], 0)
        if word is None or not attributes:
            self.at = start
            return False
        self.at = end
        self._best(self.one_of_measured(attributes, end - 1), _MOST[word], depth, skip)
        return True

    def take_ordinal(self) -> int | None:
        """How many come before the `second` or `3rd` that stands here, moving past it."""
        if (word := self.sees(*ORDINALS)) is not None and self.entity_at(self.at)[1] <= self.at + 1:
            self.at += 1
            return ORDINALS[word] - 1
        number, ending = self.low(), self.sees("st", "nd", "rd", "th", place=self.at + 1)
        if ending is None or not number.isdecimal() or not 0 < len(number) < 7 or int(number) < 1:
            return None
        if self.tokens[self.at].end != self.tokens[self.at + 1].start or self.entity_at(self.at)[1] > self.at + 2:
            return None
        self.at += 2
        return int(number) - 1

    def _best(self, attribute: int, descending: bool, depth: int, skip: int = 0) -> None:
        """A superlative: of the answers, or of a noun within the question."""
        if self._is_outermost(depth):
            self._sort(attribute, descending)
            self.asked.only_best, self.asked.skip = True, skip
        elif self.spoken.best is not None:
            raise self.error("two superlatives cannot be said of one noun", self.at - 1)
        else:
            self.spoken.best, self.spoken.skip = Sorting(attribute, descending), skip

    def _is_everywhere(self, place: int | None = None) -> bool:
        """`in the world`, which every thing is, moving past it; unless something is called so."""
        place = self.at if place is None else place
        word = self.sees(*_EVERYWHERE, place=place)
        if word is None or self.entity_at(place + word.count(" "))[0]:
            return False
        self.at = place + word.count(" ") + 1
        return True

    def _where_something_is_done(self) -> Query | None:
        """`countries where French is spoken`, `in which people speak French`: what the same verb leads to."""
        start = self.at
        if self.take(*_WHERE) is None:
            return None
        if self.take("people", "they", "one") and self.predicate_begins(self.at):
            return self.predicate(1)
        things: list[Query] = []
        joint: str | None = None
        while len((named := self.entity_at(self.at))[0]) == 1:
            things.append(self._entity(*named))
            joint = word if (word := self.take(*([joint] if joint else ["and", "or"]))) else joint
            if word is None:
                break
        verbs = self._passive_here()
        if not things or not verbs:
            self.at = start
            return None
        self.at += 2
        parts = tuple(self.object_of(thing, verbs, self.at - 1, self.kind) for thing in things)
        if len(parts) == 1 or joint == "or":
            return parts[0] if len(parts) == 1 else Or(parts)
        self.joint = And(parts)
        return self.joint

    def _passive_here(self) -> list[Verb]:
        """The relations of `is spoken`, to where, whatever the preposition would be that is left out."""
        if not self.sees(*BE) or self.at + 1 >= len(self.tokens):
            return []
        phrases = (f"{self.low()} {self.low(self.at + 1)} {preposition}" for preposition in (*PLACES, "by"))
        return next((verbs for phrase in phrases if (verbs := self.lexicon.finite.get(phrase))), [])

    def _near_at(self, place: int) -> str | None:
        """The word for what is near, if one stands here before what it is near to."""
        word = self.sees(*_NEAR, place=place)
        if word is None or self.reduced_at(place)[0]:
            return None
        end = place + word.count(" ") + 1
        is_amount = self.is_number(end) and not self.entity_at(end)[0]  # around 5 km
        return None if word == "around" and (is_amount or end >= len(self.tokens)) else word

    def _is_near(self, depth: int) -> list[Query] | None:
        """`near Paris`, `that lie within 300 km of Paris`: nothing more is said of the things themselves."""
        start = self.at
        said = self.take(*_WHICH) is not None or self.finite_allowed
        verb_end = self.finite_at(self.at)[1]
        lie = (*(f"{verb} {word}" for verb in _LIE for word in ("located", "situated")), *_LIE)
        if said and self.take(*lie) and verb_end > self.at:  # a relation is called so: that lie within Japan
            self.at = start
            return None
        word = self._near_at(self.at)
        if word is not None:
            self.take(word)
            place = self.at
            of = self.part(depth + 1)
            if is_numbers(of):
                unit = self._unit_of(of) or "degrees"
                example = f"within 2 {unit} of {self.span(place, self.at)}"
                raise self.error(f"how near? Write for instance: {example}", place)
            return self._at_place(Near(of, NEAR_METRES), depth, place)
        if self.at > start and self.sees("within"):
            self.at += 1
            return self._near(depth)
        self.at = start
        return None

    def _by(self) -> list[Query]:
        self.take("the")
        word = self.take(*_MOST)
        term = self.calculated()
        if term is not None:
            direction = self.take("descending", "ascending", "desc", "asc")
            self._sort(term, self.asked.descending if direction is None else direction.startswith("desc"))
            return []
        nouns, end = self.noun_at(self.at)
        attributes = [noun for noun in nouns if noun.attribute]
        if not attributes:
            self.unknown("an attribute to sort by", self.at)
        self.at = end
        if self.take(*_NEAREST):
            unit = self.vocabulary.attribute_unit(attributes[0].id)
            in_brackets = self.sees("(") is not None
            of = self.bracketed_value(attributes[0].id, unit) if in_brackets else self.value(attributes[0].id, unit, 1)
            self._sort(attributes[0].id, False, of)
            return []
        direction = self.take("descending", "ascending", "desc", "asc")
        descending = self.asked.descending if direction is None else direction.startswith("desc")
        self._sort(attributes[0].id, descending if word is None else _MOST[word])
        return []

    def _sort(self, attribute: int | Calculated, descending: bool, nearest: Query | None = None) -> None:
        if self.asked.sorting is not None:
            raise self.error("answers can be sorted in one order", self.at - 1)
        self.asked.sorting = Sorting(attribute, descending, nearest)

    def _nearest(self, depth: int) -> list[Query]:
        """`nearest to Oslo`, or to the latitude of Oslo."""
        start = self.at
        of = self.part(depth + 1)
        if not is_numbers(of):
            if self.spoken.singular and not self._is_outermost(depth) and not self.asked.near_what:
                self.spoken.near = Near(of)  # the population of the city nearest to Rome
                return []
            return self._at_place(Near(of), depth, start)
        if not self.asked.ranked:
            raise self.error("nearness is asked at the outside of a question", start - 1)
        if not isinstance(of, ValueOf):
            raise self.error("nearest in what? Write: nearest to the latitude of …", start)
        self._sort(of.attribute, False, of)
        return []

    def _at_place(self, near: Near, depth: int, place: int) -> list[Query]:
        """A distance, which is asked of the answers alone."""
        if depth != self.asked.depth or self.is_bracketed(place):
            raise self.error("a distance is asked of the answers: begin it with a comma, at the end", place)
        if self.asked.near is not None:
            raise self.error("answers can be near to one thing, or to any of several", place)
        self.asked.near, self.asked.near_what = near, False
        return []

    def _near(self, depth: int) -> list[Query]:
        """`within 300 km of Rome`, or within 2 degrees of its latitude."""
        distance = self._amount("metres")
        if distance is None:
            raise self.error("expected a distance, such as 300 km or 2 degrees")
        if self.take("from") is None:
            self.expect("of")
        start = self.at
        of = self.part(depth + 1)
        if isinstance(of, ValueOf):
            return [HavingValue(of.attribute, self.near_to(distance, of, start))]
        if is_numbers(of):
            raise self.error("within so much of what? Write: within 2 degrees of the latitude of …", start)
        metres = None if distance.unit is None else self._number(distance, "metres", distance.place)
        if metres is None or metres.unit != "metres":
            raise self.error(
                "how far? Write: within 300 km of …, or within 2 degrees of the latitude of …", distance.place
            )
        if metres.value < 0:
            raise self.error("a distance is not negative", distance.place)
        return self._at_place(Near(of, round(metres.value, 6)), depth, start)  # a mile is 1,609.344 metres
