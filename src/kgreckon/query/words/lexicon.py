"""The words of a graph: what its relations and attributes are called in a sentence, given or guessed."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from weakref import WeakKeyDictionary

from kgreckon.query.datatypes import CALENDAR
from kgreckon.query.vocabulary import Vocabulary
from kgreckon.query.words.inflection import (
    active,
    base_form,
    base_of_past,
    gerund,
    guessed_noun,
    guessed_verb,
    participle,
    plural,
    singular,
    words_of,
)

IS_A = ("is a", "is an", "is a kind of", "is an instance of")
PLACES = ("in", "on", "at")
_PAST_OF = {
    "birth": "born", "born": "born", "death": "died", "died": "died", "release": "released", "released": "released",
    "founded": "founded", "founding": "founded", "foundation": "founded", "established": "established",
    "opened": "opened", "opening": "opened", "built": "built", "construction": "built", "published": "published",
    "publication": "published",
}  # fmt: skip
_MEMBERS = 64  # of a class that are asked which attributes they have
_DATES = (*CALENDAR, "year", "years")


@dataclass(frozen=True, slots=True)
class Noun:
    """What `the … of x` means: following a relation (an inverse where odd) or reading an attribute."""

    attribute: bool
    id: int


@dataclass(frozen=True, slots=True)
class Verb:
    """What `things that … x` means: following `relation` from x; a loose one only where no sure one fits x."""

    relation: int
    loose: int = 0  # 1: the preposition in the relation's name, 2: another one of place, more: where no such one fits


def tightest(verbs: Sequence[Verb]) -> list[int]:
    """The relations of the verbs that mean them most surely."""
    least = min((verb.loose for verb in verbs), default=0)
    return [verb.relation for verb in verbs if verb.loose == least]


@dataclass(frozen=True, slots=True)
class RelationWords:
    """How a relation is written: a verb phrase in the third person, a noun, or both."""

    verb: str | None
    noun: str | None
    backwards: bool  # the noun names the head: `the capital of France`


# What people compare without naming it, with the attributes that may be meant, the likeliest first.
_MEASURES: dict[str, tuple[str, ...]] = {
    "height": ("elevation", "height", "altitude"), "length": ("length", "runtime", "running time", "duration"),
    "weight": ("mass", "weight"), "north": ("latitude", "lat"), "east": ("longitude", "lon", "long", "lng"),
    "size": ("size", "area", "population", "inhabitants", "length", "height"),
    "people": ("population", "inhabitants"), "depth": ("depth",), "speed": ("speed", "top speed"), "age": ("age",),
}  # fmt: skip
_COMPARATIVES: dict[str, tuple[str, bool]] = {
    "higher than": ("height", True), "taller than": ("height", True), "lower than": ("height", False),
    "longer than": ("length", True), "shorter than": ("length", False), "heavier than": ("weight", True),
    "lighter than": ("weight", False), "deeper than": ("depth", True), "faster than": ("speed", True),
    "slower than": ("speed", False), "more populous than": ("people", True), "less populous than": ("people", False),
    "north of": ("north", True), "south of": ("north", False), "east of": ("east", True), "west of": ("east", False),
}  # fmt: skip
_SUPERLATIVES: dict[str, tuple[str, bool]] = {
    "highest": ("height", True), "tallest": ("height", True), "lowest": ("height", False), "longest": ("length", True),
    "shortest": ("length", False), "heaviest": ("weight", True), "lightest": ("weight", False),
    "deepest": ("depth", True), "fastest": ("speed", True), "slowest": ("speed", False),
    "most populous": ("people", True), "least populous": ("people", False), "northernmost": ("north", True),
    "southernmost": ("north", False), "easternmost": ("east", True), "westernmost": ("east", False),
}  # fmt: skip


@dataclass
class Lexicon:
    """All words of one vocabulary: texts in lower case, with what they mean."""

    vocabulary: Vocabulary
    relations: list[RelationWords] = field(default_factory=list)
    attributes: list[str] = field(default_factory=list)
    nouns: dict[str, list[Noun]] = field(default_factory=dict)
    finite: dict[str, list[Verb]] = field(default_factory=dict)  # `is in`, `are in`, `border`, `borders`
    reduced: dict[str, list[Verb]] = field(default_factory=dict)  # `in`, `directed by`, `bordering`
    dated: dict[str, list[int]] = field(default_factory=dict)  # attributes by `born`, `released`
    units: dict[str, str] = field(default_factory=dict)
    comparatives: dict[str, tuple[int, bool]] = field(default_factory=dict)  # `north of`: more latitude
    superlatives: dict[str, tuple[int, bool]] = field(default_factory=dict)  # `northernmost`: the most latitude
    measures: dict[str, list[int]] = field(default_factory=dict)  # attributes by `height`, `size`
    classes: int | None = None  # the relation `is a`, as stated
    longest: int = 1  # words of a noun or verb
    _held: dict[int, frozenset[int]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        vocabulary = self.vocabulary
        relation = 0
        while vocabulary.knows("relation", relation):
            self._relation(relation)
            relation += 2
        attribute = 0
        while vocabulary.knows("attribute", attribute):
            self._attribute(attribute)
            attribute += 1
        for measure, names in _MEASURES.items():
            meant = [noun.id for name in names for noun in self.nouns.get(name, ()) if noun.attribute]
            self.measures[measure] = list(dict.fromkeys(meant))
        dates = [one for one in range(attribute) if vocabulary.attribute_unit(one) in _DATES]
        self.measures["date"] = dates
        for words, given in ((self.comparatives, _COMPARATIVES), (self.superlatives, _SUPERLATIVES)):
            for word, (measure, more) in given.items():
                if self.measures[measure]:
                    words[word] = self.measures[measure][0], more
        for table in (self.nouns, self.finite, self.reduced, self.dated, self.units):
            self.longest = max([self.longest, *(text.count(" ") + 1 for text in table)])

    def _relation(self, relation: int) -> None:
        vocabulary = self.vocabulary
        label, given = vocabulary.relation_label(relation), vocabulary.relation_phrase(relation)
        words = words_of(label)
        guess = guessed_verb(words) if words else None
        noun, backwards = guessed_noun(words) if words else (label, False)
        plain, noun = noun, None if noun is None else singular(noun)
        verb = given or guess
        if verb is None and noun is None:
            noun = label
        turned = active(words)
        if turned is not None and noun is None and turned[0].endswith(("ed", "wrote")):
            noun = turned[1]
        self.relations.append(RelationWords(verb, noun, backwards))
        if turned is not None:
            for form in (turned[0], base_of_past(turned[0])):
                _add(self.finite, form, Verb(relation))
        for text in _spellings([label, vocabulary.relation_name(relation)]):
            if text.endswith(" of"):  # `the capital of France`: the capital is what is asked for
                continue
            _add(self.nouns, text, Noun(False, relation))
        if noun is not None:
            own = Noun(False, relation ^ backwards)
            for text in _spellings([noun, plural(noun), noun.replace(" ", ""), plain or noun]):
                _add(self.nouns, text, own)
        if verb is not None:
            if self.classes is None and verb in IS_A:
                self.classes = relation
            self._verb(verb, Verb(relation ^ 1))
        if guess is not None and guess != verb and guess != f"is {words[0]}":
            self._verb(guess, Verb(relation ^ 1, 1))
        if turned is not None:
            self._verb("is by", Verb(relation ^ 1, 2))
        if words and words[0] in PLACES:
            of_place = verb is None or verb.rpartition(" ")[2] in PLACES  # `lies on`, and not `is part of`
            for place in PLACES:
                self._verb(f"is {place}", Verb(relation ^ 1, (2 if of_place else 4) - (place == words[0])))
            self._verb(f"is {words[0]} {' '.join(words[1:])}".rstrip(), Verb(relation ^ 1))

    def _verb(self, phrase: str, verb: Verb) -> None:
        first, _, rest = phrase.lower().partition(" ")
        base = base_form(first)
        if base == "be":
            for form in ("is", "are", "was", "were"):
                _add(self.finite, f"{form} {rest}", verb)
            _add(self.reduced, rest, verb)
        else:
            forms = {first, base, base_of_past(base)} | ({"have", "had", "has"} if base == "have" else set())
            if base != "have" and not rest:  # diseases treated by aspirin
                for preposition, loose in (("by", 1), ("in", 3)):  # and languages spoken in Switzerland
                    passive = f"{participle(base_of_past(base))} {preposition}"
                    turned = Verb(verb.relation ^ 1, max(loose, verb.loose))
                    for be in ("is ", "are ", "was ", "were ", ""):
                        _add(self.finite if be else self.reduced, be + passive, turned)
            for form in forms:
                _add(self.finite, f"{form} {rest}".rstrip(), verb)
            _add(self.reduced, f"{gerund(base)} {rest}".rstrip(), verb)
            if base == "have":
                for text in (rest, rest.removeprefix("the ").removeprefix("a ").removeprefix("an ")):
                    _add(self.reduced, f"with {text}", verb)

    def _attribute(self, attribute: int) -> None:
        vocabulary = self.vocabulary
        label, name = vocabulary.attribute_label(attribute), vocabulary.attribute_name(attribute)
        words = words_of(label) or [label]
        shown = " ".join(words[1:] if words[0] == "has" and len(words) > 1 else words)
        self.attributes.append(shown)
        for text in _spellings([shown, plural(shown), label, name]):
            _add(self.nouns, text, Noun(True, attribute))
        unit = vocabulary.attribute_unit(attribute)
        self.units[unit.casefold()] = unit
        if unit in _DATES or "year" in words or "date" in words:
            for word in words:
                if word in _PAST_OF:
                    _add_number(self.dated, _PAST_OF[word], attribute)

    def measured_in(self, units: Sequence[str]) -> list[int]:
        """The attributes of some units."""
        return [
            attribute for attribute in range(len(self.attributes)) if self.vocabulary.attribute_unit(attribute) in units
        ]

    @property
    def is_a(self) -> int | None:
        """From a class to its members."""
        return None if self.classes is None else self.classes ^ 1

    def held_by(self, kind: int) -> frozenset[int]:
        """The attributes that are stated for some of the first members of a class."""
        if kind not in self._held:
            assert self.is_a is not None
            members = self.vocabulary.ends(self.is_a, kind, _MEMBERS)
            self._held[kind] = self.vocabulary.stated_attributes(members)
        return self._held[kind]

    def as_held(self, attribute: int, held: frozenset[int] | None) -> int:
        """What people compare without naming it, by the attribute that the things have: of elements the atomic weight.

        Where they have another attribute than the likeliest one, and only one that is called like it.
        """
        if held is None or attribute in held:
            return attribute
        names = next((names for names in _MEASURES.values() if self.attributes[attribute] in names), ())
        alike = [one for one in sorted(held) if self.attributes[one].rpartition(" ")[2] in names]
        return alike[0] if len(alike) == 1 else attribute

    def is_class(self, entity: int) -> bool:
        """Whether something is stated to be a member of this."""
        return self.is_a is not None and self.vocabulary.leads(self.is_a, entity)


def _spellings(texts: Iterable[str]) -> set[str]:
    return {" ".join(text.casefold().split()) for text in texts if text.strip()}


def _add(table: dict[str, list], text: str, meaning: Noun | Verb) -> None:
    known = table.setdefault(text, [])
    if isinstance(meaning, Verb):  # a sure meaning counts before a loose one
        same = [place for place, other in enumerate(known) if other.relation == meaning.relation]
        if same:
            known[same[0]] = min(known[same[0]], meaning, key=lambda verb: verb.loose)
            return
    if meaning not in known:
        known.append(meaning)


def _add_number(table: dict[str, list[int]], text: str, attribute: int) -> None:
    if attribute not in table.setdefault(text, []):
        table[text].append(attribute)


_LEXICONS: WeakKeyDictionary[Vocabulary, Lexicon] = WeakKeyDictionary()


def lexicon_of(vocabulary: Vocabulary) -> Lexicon:
    """The words of a vocabulary, made once."""
    found = _LEXICONS.get(vocabulary)
    if found is None:
        found = _LEXICONS[vocabulary] = Lexicon(vocabulary)
    return found
