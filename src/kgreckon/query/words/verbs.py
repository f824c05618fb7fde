"""Verbs and what they are about: `border France or Spain`, `are in Japan`, `do not speak French`."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from itertools import product

from kgreckon.query.algebra import And, Entity, Follow, Not, Or, Query, ValueOf
from kgreckon.query.words.cursor import ARTICLES, is_named, is_numbers
from kgreckon.query.words.lexicon import PLACES, Lexicon, Noun, Verb, tightest
from kgreckon.query.words.measures import ValueReader

BE = ("is", "are", "was", "were", "isn't", "aren't", "wasn't", "weren't")
_ALL_LOOKED_AT = 4096
_LOOKED_AT = 16  # ends of a relation, where it is asked whether one is of a class
_DO_NOT = ("do not", "does not", "did not", "don't", "doesn't", "didn't", "don’t", "doesn’t")
HAVE = ("have", "has", "had")
ANYTHING = ("things", "something", "anything", "everything", "someone", "anyone", "everyone", "somebody", "whatever",
            "thing", "those", "ones", "people who", "people", "who", "that which")  # fmt: skip
ENDINGS = ("are there", "is there", "do we know", "are known", "there are")  # of a question


def _named_in(objects: Sequence[Query]) -> list[int]:
    """The things that are named as objects, where all of them are."""
    single = [one for part in objects for one in (part.parts if isinstance(part, Or) else (part,))]
    return [one.entity for one in single if is_named(one)] if all(map(is_named, single)) else []


class VerbReader(ValueReader):
    """Reads verbs, the nouns before `of`, and their objects."""

    joint: And | None = None  # the conditions of one verb with several objects: each stands for itself

    def __init__(self, text: str, lexicon: Lexicon) -> None:
        super().__init__(text, lexicon)
        self._ways: dict[tuple[int, int, int], tuple[int, Query, int] | None] = {}

    def spliced(self, condition: Query) -> list[Query]:
        """A condition, or several where one verb has several objects."""
        return list(condition.parts) if condition is self.joint and isinstance(condition, And) else [condition]

    @abstractmethod
    def _modifier_begins(self, place: int) -> bool:
        """Whether what may follow a noun begins here."""

    @abstractmethod
    def _is_dated(self, place: int) -> bool:
        """Whether a participle with a date begins here."""

    @abstractmethod
    def _dated(self, depth: int) -> Query:
        """`born before 1930`."""

    @abstractmethod
    def _condition_begins(self, place: int) -> bool:
        """Whether a condition on a property begins here."""

    @abstractmethod
    def _condition_on(self, depth: int) -> Query:
        """One condition on a property."""

    @abstractmethod
    def comparative(self, depth: int) -> Query | None:
        """`higher than 4 km`, `larger than France`, `above 3 km`."""

    @abstractmethod
    def negated(self, query: Query) -> Query:
        """What `not` means."""

    @abstractmethod
    def _entity(self, ids: Sequence[int], end: int) -> Query:
        """The one thing that a name means."""

    @abstractmethod
    def _kinds(self) -> Query:
        """One class or several."""

    def union(self, parts: list[Query]) -> Query:
        """The union of some sets of one sort."""
        if len({is_numbers(part) for part in parts}) > 1:
            raise self.error("'or' joins things or numbers, not both", self.at - 1)
        return Or(tuple(parts))

    # ------------------------------------------------------------------------------------------- nouns and verbs

    def _noun_of(self, nouns: list[Noun], start: int, depth: int) -> Query:
        parts = self.objects(depth + 1)
        of = parts[0] if len(parts) == 1 else Or(tuple(parts))  # the capitals of France and Spain are those of either
        return self._of(self._one_noun(nouns, of, start), of)

    def _of(self, noun: Noun, of: Query) -> Query:
        if is_numbers(of):
            raise self.error("a property is asked of things, not of numbers", self.at - 1)
        return ValueOf(noun.id, of) if noun.attribute else Follow(noun.id, of)

    def _one_noun(self, nouns: list[Noun], of: Query | None, place: int, turned: bool = False) -> Noun:
        """The one noun that is meant: of several, the one that has anything at the thing that is named."""
        if len(nouns) > 1 and of is not None and is_named(of):
            stated = [
                noun
                for noun in nouns
                if (not noun.attribute and self.vocabulary.leads(noun.id ^ turned, of.entity))
                or (noun.attribute and self.vocabulary.has_value(noun.id, of.entity))
            ]
            nouns = stated or nouns
        if len(nouns) > 1:
            names = [
                self.vocabulary.attribute_name(noun.id)
                if noun.attribute
                else self.vocabulary.relation_name(noun.id & ~1)
                for noun in nouns
            ]
            kinds = ["attribute" if noun.attribute else "relation" for noun in nouns]
            if len(set(names)) < len(names):
                raise self.error(
                    f"{names[0]!r} is a relation and an attribute: write 'the relation' or 'the attribute' "
                    "before its name in quotes",
                    place,
                )
            self.ambiguous(
                self.low(place), [f"{name} ({kind})" for name, kind in zip(names, kinds, strict=True)], place
            )
        return nouns[0]

    def _one_verb(self, verbs: list[Verb], objects: list[Query], place: int, text: str) -> int:
        """The one relation that a verb means: what is surely called so, else what the named things are ends of."""
        ends = _named_in(objects)

        def leads(relation: int) -> bool:
            return all(self.vocabulary.leads(relation, end) for end in ends)

        sure = [verb.relation for verb in verbs if not verb.loose]
        if ends:
            stated = [relation for relation in sure if leads(relation)]
            if len(sure) != 1 and len(stated) == 1:
                return stated[0]
            if not stated:
                loose = tightest([verb for verb in verbs if leads(verb.relation)])
                if len(loose) == 1:
                    return loose[0]
        options = tightest(verbs)
        if len(options) == 1:
            return options[0]
        names = [self.vocabulary.relation_name(relation & ~1) for relation in options]
        shown = ", ".join(f'whose "{name}" is …' for name in names[:4])
        raise self.error(f"{text!r} may mean several relations: write {shown}", place)

    def _verb(self, verbs: list[Verb], end: int, depth: int) -> Query:
        """A verb with its objects: what stands in that relation to them."""
        start, text, self.at = self.at, self.span(self.at, end), end
        if all(verb.relation == self.lexicon.is_a for verb in verbs):
            kind, beyond = self.class_at(end + (self.low(end) in ARTICLES))
            if kind is not None and self.entity_at(end)[1] <= beyond:
                self.at = beyond
                return Follow(verbs[0].relation, Entity(kind))
        none = self.take("neither", "no") is not None
        objects = self.objects(depth + 1, or_nor=none)
        refused = [] if none else self._refused(depth + 1)
        relation = self._one_verb(verbs, objects, start, text)
        in_place = text.rpartition(" ")[2].casefold() in PLACES
        parts = [(in_place and self._through(relation, of)) or Follow(relation, self._things(of)) for of in objects]
        denied = [Not(self._refusal(relation, self._things(of))) for of in refused]
        if none:
            return Not(parts[0] if len(parts) == 1 else Or(tuple(parts)))
        if len(parts) + len(denied) == 1:
            return parts[0]
        self.joint = And((*parts, *denied))
        return self.joint

    def _through(self, relation: int, place: Query) -> Query | None:
        """`cities in Europe`, where cities are in countries, and these in Europe: the one way that is stated."""
        named = _named_in([place])
        ways = {self._way(relation, one, self.kind) for one in named} if self.kind is not None else set()
        way = ways.pop() if len(ways) == 1 else None
        if way is None:
            return None
        first, between, last = way
        return Follow(first, And((between, Follow(last, place))))

    def _way(self, relation: int, place: int, kind: int) -> tuple[int, Query, int] | None:
        """The one way to members of a class from a place that a relation does not lead to: what lies between."""
        if (relation, place, kind) in self._ways:
            return self._ways[relation, place, kind]
        ways: dict[tuple[int, int, int], None] = {}
        if (classes := self.lexicon.classes) is not None and not self._ends_in(relation, place, kind, _ALL_LOOKED_AT):
            near = {verb.relation for word in PLACES for verb in self.lexicon.reduced.get(word, ()) if verb.loose < 4}
            for last, first in product(sorted(near), repeat=2):
                between = [
                    one for one in self.vocabulary.ends(last, place, _LOOKED_AT) if self._ends_in(first, one, kind)
                ]
                ways.update(
                    {(first, one, last): None for end in between for one in self.vocabulary.ends(classes, end, 1)}
                )
        found = None
        if len(ways) == 1 and classes is not None:
            first, one, last = next(iter(ways))
            found = first, Follow(classes ^ 1, Entity(one)), last
        self._ways[relation, place, kind] = found
        return found

    def _refusal(self, relation: int, of: Query) -> Query:
        """What `but not Egypt` leaves out: what a verb leads to from there, or the thing itself."""
        itself = is_named(of) and not self.vocabulary.leads(relation, of.entity)
        return of if itself else Follow(relation, of)

    def _refused(self, depth: int) -> list[Query]:
        """`but not Switzerland`, `and not Drama`: further objects of the same verb, which it must not have."""
        found: list[Query] = []
        while word := self.sees("but not", "and not"):
            named, end = self.entity_at(self.at + 2)
            if not named or end < self.class_at(self.at + 2)[1] or self._modifier_begins(self.at + 2):
                break
            self.take(word)
            found.append(self.part(depth))
        return found

    def _things(self, of: Query) -> Query:
        if is_numbers(of):
            raise self.error("a relation leads to things, not to numbers", self.at - 1)
        return of

    def _object_of_verb(self, depth: int) -> Query:
        """`what France borders`: where a relation leads to."""
        subject = self.part(depth + 1)
        verbs, end = self.finite_at(self.at)
        if not verbs:
            self.unknown("a verb", self.at)
        start, self.at = self.at, end
        return self.object_of(self._things(subject), verbs, start)

    def object_of(self, subject: Query, verbs: list[Verb], place: int, kind: int | None = None) -> Query:
        """What a verb leads to from its subject; of several relations, one that has such ends there."""
        if len(verbs) > 1 and is_named(subject):
            stated = [verb for verb in verbs if self._ends_in(verb.relation ^ 1, subject.entity, kind)]
            verbs = [verb for verb in stated if not verb.loose] or stated or verbs
        return Follow(self._one_verb(verbs, [], place, self.span(place, self.at)) ^ 1, subject)

    def _ends_in(self, relation: int, entity: int, kind: int | None, most: int = _LOOKED_AT) -> bool:
        """Whether a relation leads from something to members of a class, or to anything where none is given."""
        ends = self.vocabulary.ends(relation, entity, most)
        classes = self.lexicon.classes
        if kind is None or classes is None:
            return len(ends) > 0
        return any(kind in self.vocabulary.ends(classes, end, _LOOKED_AT) for end in ends)

    def belonging(self) -> Query | None:
        """`cities of Japan`, `languages of Switzerland`: by the only relation that leads to such things from there."""
        named, end = self.entity_at(self.at + 1)
        if len(named) != 1 or self.kind is None:
            return None
        place = self.at
        relations = [
            one
            for one in range(2 * len(self.lexicon.relations))
            if self._ends_in(one, named[0], self.kind, _ALL_LOOKED_AT)
        ]
        in_place = [one for one in relations if one & 1 and self.lexicon.relations[one >> 1].verb in ("is in", "is on")]
        relations = in_place or relations
        if not relations:
            return None
        if len(relations) > 1:
            names = [self.vocabulary.relation_name(one & ~1) for one in relations]
            raise self.error(f"'of' may mean several relations: {', '.join(names)}; write one of them", place)
        self.at = end
        return Follow(relations[0], Entity(named[0]))

    def object_clause(self) -> list[Query]:
        """`languages that Switzerland speaks`: nothing where a verb comes first."""
        named, end = self.entity_at(self.at)
        verbs, beyond = self.finite_at(end) if named else ([], end)
        if not verbs or self.predicate_begins(self.at):
            return []
        thing = self._entity(named, end)
        start, self.at = self.at, beyond
        return [self.object_of(thing, verbs, start, self.kind)]

    def objects(self, depth: int, or_nor: bool = False) -> list[Query]:
        """What a verb or an `of` is about: `France`, `France or Spain` (one set), `France and Spain` (two).

        After `neither` a `nor` stands for an `or`.
        """
        self.take("both", "either")
        word, listed = self._list_ahead()
        found = [[self.part(depth)]]

        def another(joint: str) -> None:
            self.at += 1
            if joint == "and":
                found.append([])
            found[-1].append(self.part(depth))

        for _ in range(listed):
            another(word)
        if listed:
            self.take(",")
        while (joint := self.sees("or", "and", *["nor"] * or_nor)) and self._another_object(self.at + 1):
            if self._begins_its_own_phrase(self.at + 1, found):
                if joint == "or":
                    break
                raise self.error("both, or either? Write 'or' between two sets of things, or put an object in brackets")
            another(joint)
        return [parts[0] if len(parts) == 1 else self.union(parts) for parts in found]

    def _begins_its_own_phrase(self, place: int, objects: Sequence[Sequence[Query]]) -> bool:
        """Whether a class noun after an object is not one more: `countries in Europe or countries in Asia`.

        After an object of the same class it is: `cities in countries that speak French or countries in Africa`.
        """
        kind, end = self.class_at(place + (self.low(place) in ARTICLES))
        if kind is None or self.entity_at(place)[1] > end:
            return False
        return not any(kind in self._classes_of(one) for parts in objects for one in parts)

    def _classes_of(self, query: Query) -> list[int]:
        """The classes that the noun of a set names."""
        match query:
            case Follow(relation, Entity(kind)) if relation == self.lexicon.is_a:
                return [kind]
            case And((first, *_)):
                return self._classes_of(first)
            case Or(parts):
                return [kind for part in parts for kind in self._classes_of(part)]
        return []

    def _list_ahead(self) -> tuple[str, int]:
        """Of `France, Germany and Italy` the word at the end, and how many commas separate names before it."""
        place, commas = self.entity_at(self.at)[1], 0
        while place > self.at and self.low(place) == "," and self.low(place + 1) not in ("and", "or"):
            named, end = self.entity_at(place + 1)
            if not named or self.class_at(place + 1)[1] > end:
                return "", 0
            place, commas = end, commas + 1
        place += self.low(place) == ","
        word = self.low(place)
        is_list = word in ("and", "or") and self.entity_at(place + 1)[0] and self._another_object(place + 1)
        return (word, commas) if is_list else ("", 0)

    def _another_object(self, place: int) -> bool:
        """Whether what stands after an `and` or `or` is one more object, and not one more condition."""
        opened = place
        while self.low(place) == "(":
            place += 1
        if self.sees("numbers", "=", place=place) or (self.is_number(place) and not self.entity_at(place)[0]):
            return False
        if self._modifier_begins(place) or self.predicate_begins(place) or self.value_begins(place):
            return False
        after = place + (self.low(place) in ARTICLES)
        nouns, end = self.noun_at(after)
        if nouns and not self.is_quoted(after) and max(self.entity_at(place)[1], self.class_at(after)[1]) < end:
            return False
        if nouns and self.entity_at(end)[0] and not self.predicate_begins(end) and not self._modifier_begins(end):
            return False  # and genre Crime
        if nouns and self.sees("of", place=end):
            return place > opened and not any(noun.attribute for noun in nouns)
        return (
            place > opened or self.low(place) in ANYTHING or bool(self.entity_at(place)[0] or self.class_at(after)[0])
        )

    # ---------------------------------------------------------------------------------------------- predicates

    def predicate_begins(self, place: int) -> bool:
        """Whether a verb begins here."""
        if self.sees(*ENDINGS, place=place) is not None:
            return False
        if self.sees(*_DO_NOT, *BE, *HAVE, "not", place=place) is not None:
            return True
        return bool(self.finite_at(place)[0]) and not (self.entity_at(place)[1] > self.finite_at(place)[1])

    def predicates(self, depth: int) -> list[Query]:
        """The conditions after `that`: joined by `and`, which binds more tightly, and `or`."""
        alternatives = [self.spliced(self._predicate_or_brackets(depth))]
        while word := self.sees("and", "or"):
            place = self.at + 1
            if not (self.predicate_begins(place) or self.low(place) == "(" or self._is_dated(place)):
                break
            self.at = place
            if word == "and":
                alternatives[-1] += self.spliced(self._predicate_or_brackets(depth))
            else:
                alternatives.append(self.spliced(self._predicate_or_brackets(depth)))
        if len(alternatives) == 1:
            return alternatives[0]
        return [Or(tuple(parts[0] if len(parts) == 1 else And(tuple(parts)) for parts in alternatives))]

    def _predicate_or_brackets(self, depth: int) -> Query:
        if not self.take("("):
            return self.predicate(depth)
        self._deeper()
        found = self.predicates(0)
        self.expect(")")
        return found[0] if len(found) == 1 else And(tuple(found))

    def predicate(self, depth: int) -> Query:
        """A verb and what it is about."""
        if self.take(*_DO_NOT):
            if self.take("have"):
                self.take(*ARTICLES)
                return self.negated(self._condition_on(depth))
            verbs, end = self.finite_at(self.at)
            if not verbs:
                self.unknown("a verb", self.at)
            return Not(self._verb(verbs, end, depth))
        if self._is_dated(self.at + (self.low() in BE)):
            self.at += self.low() in BE
            return self._dated(depth)
        verbs, end = self.finite_at(self.at)
        if verbs and not (self.low(end - 1) in ARTICLES and self.entity_at(end - 1)[1] > end):  # is A Coruña
            return self._verb(verbs, end, depth)
        if self.take("not"):
            return self.negated(self._condition_on(depth) if self._condition_begins(self.at) else self.predicate(depth))
        if be := self.take(*BE):
            denied = be.endswith("n't") or self.take("not") is not None
            bracketed = self.sees("(") is not None
            found = self._being(depth)
            if not denied:
                return found
            return Not(found) if bracketed else self.negated(found)
        if self.take(*HAVE):
            return self._condition_on(depth)
        self.unknown("a verb, such as 'is', 'has' or " + self._some_verb(), self.at)

    def said_of_one(self, auxiliary: str) -> Query:
        """What a question asks of a thing that stands after `is`, `does` or `has`."""
        denied = self.take("not") is not None
        if auxiliary in BE:
            found = self._dated(0) if self._is_dated(self.at) else self._being(0)
        elif auxiliary in HAVE or self.take("have"):
            self.take(*ARTICLES)
            found = self._condition_on(0)
        else:
            verbs, end = self.finite_at(self.at)
            if not verbs:
                self.unknown("a verb", self.at)
            found = self._verb(verbs, end, 0)
        return self.negated(found) if denied else found

    def _some_verb(self) -> str:
        verb = next((words.verb for words in self.lexicon.relations if words.verb is not None), "'are'")
        return repr(verb)

    def _being(self, depth: int) -> Query:
        """What stands after `are`."""
        verbs, end = self.reduced_at(self.at)
        if verbs:
            return self._verb(verbs, end, depth)
        if self._is_dated(self.at):
            return self._dated(depth)
        if (compared := self.comparative(depth)) is not None:
            return compared
        skipped = self.low() in ARTICLES
        kind, end = self.class_at(self.at + skipped)
        if kind is not None and self.entity_at(self.at)[1] <= end:
            self.at += skipped
            return self._kinds()
        found = self.part(depth + 1)
        return self._things(found)
