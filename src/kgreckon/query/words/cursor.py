"""A text as tokens, and what stands at a place in it: names, nouns, verbs, classes. Every look is remembered."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple, NoReturn, TypeGuard

from kgreckon.errors import UserError, nearest
from kgreckon.query.algebra import And, Compare, Entity, Not, Number, Or, Query, ValueOf
from kgreckon.query.question import Question
from kgreckon.query.words.asked import Asked, Spoken
from kgreckon.query.words.inflection import singulars
from kgreckon.query.words.lexicon import Lexicon, Noun, Verb

MAX_LENGTH = 65_536
MAX_TOKENS = 8_000
_LONGEST_NAME = 16  # tokens of a name that is not in quotes
_SHOWN = 100  # characters of a line around a mistake
ARTICLES = ("a", "an", "the", "all", "any", "some", "each", "every")
_SIGNS_IN_TEXT = "< > = <= >= != == ≤ ≥ ≠ ≈ ≉ ~"
COMPARING = frozenset(_SIGNS_IN_TEXT.split())
_RESERVED_IN_TEXT = """
    a about above after an and any are around at before below between but by count do does every from has have how
    in is known many missing neither nor not number numbers of on or over since something someone that the than things
    times to top twice under unknown until was were what which who whose where with within without
    """
RESERVED = frozenset(_RESERVED_IN_TEXT.split())

_TOKEN = re.compile(
    r"""
      "(?:[^"\\]|\\.)*"                                          # a quoted name
    | \#\d+                                                      # an id
    | \d{3,9}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:\.\d*)?)?)?    # a date
    | \d{1,3}(?:,\d{3})+(?:\.\d+)?(?![\d])                       # 1,000,000
    | (?:\d+(?:\.\d+)?|\.\d+)(?:[eE][-+]?\d+)?                   # a number
    | <=|>=|!=|==
    | [^\W\d]\w*(?:[-'’](?!s\b)\w+)*                             # a word
    | 's\b|’s\b
    | \S
    """,
    re.VERBOSE,
)
_SURROGATES = re.compile("[\ud800-\udfff]")
_NUMBER = re.compile(r"\.?\d")


class Token(NamedTuple):
    """A piece of the text: where it begins and ends, and its lower-case form."""

    text: str
    low: str
    start: int
    end: int


class WordsError(UserError):
    """A mistake in a line of words: what is wrong, a caret below its place, and what may be meant."""

    def __init__(
        self, line: str, start: int, message: str, candidates: Callable[[], Iterable[str]] | None = None, word: str = ""
    ) -> None:
        super().__init__(message)
        self.line, self.start, self.message = line, start, message
        self._candidates, self.word = candidates, word

    @property
    def suggestions(self) -> list[str]:
        """What looks most like the wrong words, or like the first of them."""
        if self._candidates is None:
            return []
        candidates = list(self._candidates())
        whole = nearest(self.word, candidates)
        first = nearest(self.word.split(" ")[0], candidates) if " " in self.word else []
        close = dict.fromkeys([*whole[:1], *first[:1], *whole, *first])
        return [text for text in close if text.casefold() != self.word.casefold()][:3]

    def __str__(self) -> str:
        close = self.suggestions
        remedy = f"; did you mean {' or '.join(repr(text) for text in close)}?" if close else ""
        begin = max(0, min(self.start - _SHOWN // 2, len(self.line) - _SHOWN))
        shown = re.sub(r"\s", " ", self.line[begin : begin + _SHOWN])
        before, after = "… " * (begin > 0), " …" * (begin + _SHOWN < len(self.line))
        caret = " " * (len(before) + self.start - begin) + "^"
        return f"{self.message}{remedy}\n  {before}{shown}{after}\n  {caret}"


class Cursor:
    """Moves over the tokens of a text. Looking at the end of the text notes what might stand there."""

    def __init__(self, text: str, lexicon: Lexicon) -> None:
        if len(text) > MAX_LENGTH:
            raise UserError(f"a question may have at most {MAX_LENGTH:,} characters, not {len(text):,}")
        text = _SURROGATES.sub("\ufffd", text)  # what no terminal can show
        self.text, self.lexicon, self.vocabulary = text, lexicon, lexicon.vocabulary
        self.tokens = [Token(m[0], m[0].casefold(), m.start(), m.end()) for m in _TOKEN.finditer(text)]
        if len(self.tokens) > MAX_TOKENS:
            raise UserError(f"a question may have at most {MAX_TOKENS:,} words, not {len(self.tokens):,}")
        self.at = 0
        self.wanted: dict[str, None] = {}  # keywords that may come at the end
        self.kind: int | None = None  # the class of the things that are spoken of
        self.kinds: dict[str, int | None] = {}  # kinds of names that may come at the end, and of what class it is said
        self.asked, self.spoken = Asked(), Spoken()
        self.inner: list[Question] = []  # the questions within the question
        self._names: dict[int, tuple[list[int], int]] = {}
        self._classes: dict[int, tuple[int | None, int]] = {}

    # ------------------------------------------------------------------------------------------------------- tokens

    def low(self, place: int | None = None) -> str:
        """The lower-case form of a token, empty at the end."""
        place = self.at if place is None else place
        return self.tokens[place].low if place < len(self.tokens) else ""

    def sees(self, *phrases: str, place: int | None = None) -> str | None:
        """The first of some phrases that stands here."""
        place = self.at if place is None else place
        if place >= len(self.tokens):
            self.wanted.update(dict.fromkeys(phrases))
            return None
        for phrase in phrases:
            words = phrase.split(" ")
            if all(self.low(place + number) == word for number, word in enumerate(words)):
                return phrase
            if len(words) > 1 and place + len(words) > len(self.tokens):
                here = [self.low(number) for number in range(place, len(self.tokens))]
                if words[: len(here)] == here:
                    self.wanted[" ".join(words[len(here) :])] = None
        return None

    def take(self, *phrases: str) -> str | None:
        """The first of some phrases that stands here, moving past it."""
        found = self.sees(*phrases)
        if found is not None:
            self.at += found.count(" ") + 1
        return found

    def expect(self, phrase: str, why: str = "") -> None:
        """Move past what must stand here."""
        if self.take(phrase) is None:
            raise self.error(f"expected {phrase!r}{why}")

    def is_number(self, place: int | None = None) -> bool:
        """Whether a number or a date stands here."""
        return _NUMBER.match(self.low(place)) is not None

    def is_quoted(self, place: int | None = None) -> bool:
        """Whether a name in quotes stands here."""
        text = self.low(place)
        return len(text) > 1 and text.startswith('"')

    def unquoted(self, place: int) -> str:
        """The name in quotes that stands there."""
        try:
            return str(json.loads(self.tokens[place].text, strict=False))
        except json.JSONDecodeError:
            raise self.error("the name in quotes holds a bad escape", place) from None

    def span(self, start: int, end: int) -> str:
        """The text of some tokens as it stands, with single blanks."""
        return " ".join(self.text[self.tokens[start].start : self.tokens[end - 1].end].split())

    def may_end(self, *kinds: str) -> None:
        """Note that names of some kinds may come at the end."""
        for kind in kinds:
            self.kinds[kind] = self.kind if self.kinds.get(kind, self.kind) == self.kind else None

    # -------------------------------------------------------------------------------------------------------- names

    def entity_at(self, place: int) -> tuple[list[int], int]:
        """What the longest name that begins here may mean, and where it ends."""
        if place not in self._names:
            self._names[place] = self._entity_at(place)
        if place >= len(self.tokens):
            self.may_end("entity")
        return self._names[place]

    def _entity_at(self, place: int) -> tuple[list[int], int]:
        if place >= len(self.tokens):
            return [], place
        token = self.tokens[place]
        if token.text[0] == '"' and len(token.text) > 1:
            return list(self.vocabulary.entities_called(self.unquoted(place))), place + 1
        if token.text[0] == "#" and len(token.text) > 1:
            known = len(token.text) < 20 and self.vocabulary.knows("entity", int(token.text[1:]))
            return ([int(token.text[1:])] if known else []), place + 1
        for end in range(min(place + _LONGEST_NAME, len(self.tokens)), place, -1):
            if end == place + 1 and token.low in RESERVED:
                continue
            found = self.vocabulary.entities_called(self.span(place, end))
            if found:
                return list(found), end
        return [], place

    def class_at(self, place: int) -> tuple[int | None, int]:
        """The class that the longest noun here names, in the singular or plural, and where it ends."""
        if place not in self._classes:
            self._classes[place] = self._class_at(place)
        if place >= len(self.tokens):
            self.may_end("class")
        return self._classes[place]

    def _class_at(self, place: int) -> tuple[int | None, int]:
        if self.lexicon.classes is None or place >= len(self.tokens) or not self.low(place)[0].isalpha():
            return None, place
        for end in range(min(place + _LONGEST_NAME // 2, len(self.tokens)), place, -1):
            if end == place + 1 and self.low(place) in RESERVED:
                continue
            for noun in singulars(self.span(place, end)):
                members = [one for one in self.vocabulary.entities_called(noun) if self.lexicon.is_class(one)]
                if len(members) == 1:
                    return members[0], end
        return None, place

    def is_singular(self, kind: int, end: int) -> bool:
        """Whether the noun of a class that ends there stands in the singular."""
        names = self.vocabulary.entity_label(kind), self.vocabulary.entity_name(kind)
        return any(
            self.span(start, end).casefold() == name.casefold()
            for name in names
            for start in range(max(0, end - name.count(" ") - 1), end)
        )

    def is_bracketed(self, place: int) -> bool:
        """Whether brackets are open at a token, since the question began that is read."""
        before = [token.low for token in self.tokens[self.asked.begin : place]]
        return before.count("(") != before.count(")")

    def noun_at(self, place: int) -> tuple[list[Noun], int]:
        """The relations and attributes that the longest noun here may mean, and where it ends."""
        if place >= len(self.tokens):
            self.may_end("noun", "attribute")
            return [], place
        low = self.low(place)
        if low in ("relation", "attribute") and self.low(place + 1)[:1] in ('"', "#"):
            return self._exact(low, place + 1), place + 2
        if self.is_quoted(place):
            return self._named(self.unquoted(place)), place + 1
        return self._longest(self.lexicon.nouns, place)

    def _exact(self, kind: str, place: int) -> list[Noun]:
        """The relation or attribute that is named in quotes, or by its id."""
        token, vocabulary = self.tokens[place].text, self.vocabulary
        if token.startswith("#"):
            if len(token) < 2 or len(token) > 19 or not vocabulary.knows(kind, int(token[1:])):
                raise self.error(f"the graph has no {kind} {token}", place)
            return [Noun(kind == "attribute", int(token[1:]))]
        find = vocabulary.relation_id if kind == "relation" else vocabulary.attribute_id
        return [Noun(kind == "attribute", find(self.unquoted(place)))]

    def _named(self, name: str) -> list[Noun]:
        found = []
        for attribute, find in ((False, self.vocabulary.relation_id), (True, self.vocabulary.attribute_id)):
            try:
                found.append(Noun(attribute, find(name)))
            except UserError:
                continue
        return found

    def finite_at(self, place: int) -> tuple[list[Verb], int]:
        """The relations of the longest verb here: `is in`, `borders`."""
        if place >= len(self.tokens):
            self.may_end("finite")
        return self._longest(self.lexicon.finite, place)

    def reduced_at(self, place: int) -> tuple[list[Verb], int]:
        """The relations of the longest phrase here that may follow a noun: `in`, `directed by`, `bordering`."""
        if place >= len(self.tokens):
            self.may_end("reduced")
        return self._longest(self.lexicon.reduced, place)

    def dated_at(self, place: int) -> tuple[list[int], int]:
        """The attributes of a participle here that has a date: `born`, `released`."""
        if place >= len(self.tokens):
            self.may_end("dated")
        return self.lexicon.dated.get(self.low(place), []), place + 1

    def _longest(self, table: dict[str, list], place: int) -> tuple[list, int]:
        for end in range(min(place + self.lexicon.longest, len(self.tokens)), place, -1):
            found = table.get(self.span(place, end).casefold())
            if found:
                return found, end
        return [], place

    # ------------------------------------------------------------------------------------------------------- errors

    def error(self, message: str, place: int | None = None) -> WordsError:
        """A mistake at a token, or after the last one."""
        place = self.at if place is None else place
        start = self.tokens[place].start if place < len(self.tokens) else len(self.text.rstrip())
        if place < len(self.tokens) and message.startswith("expected"):
            message += f", found {self.tokens[place].text!r}"
        elif message.startswith("expected"):
            message += " at the end"
        return WordsError(self.text, start, message)

    def unknown(self, what: str, place: int) -> NoReturn:
        """Nothing here has such a name: say so, with what looks like it."""
        if place >= len(self.tokens):
            raise self.error(f"expected {what}", place)
        end = place + 1
        while end < len(self.tokens) and end - place < 5 and self.tokens[end].low not in RESERVED:
            if not (self.tokens[end].text[0].isalnum() or self.tokens[end].text[0] in "'’.-"):
                break
            end += 1
        word = self.unquoted(place) if self.is_quoted(place) else self.span(place, end)
        first = self.unquoted(place) if self.is_quoted(place) else self.tokens[place].text

        def candidates() -> list[str]:
            lexicon = self.lexicon
            nouns = [words.noun for words in lexicon.relations if words.noun is not None]
            if "verb" in what:
                return [*lexicon.finite, *lexicon.dated]
            if what.startswith(("a property", "an attribute")):
                return [*lexicon.attributes, *nouns]
            named = [*self.vocabulary.entities_like(word, 3), *self.vocabulary.entities_like(first, 3)]
            return [*named, *lexicon.attributes, *nouns, *lexicon.reduced]

        shown = word if len(word) <= 60 else word[:60] + "…"
        raise WordsError(
            self.text, self.tokens[place].start, f"unknown name or word {shown!r}: expected {what}", candidates, word
        )

    def ambiguous(self, word: str, choices: Sequence[str], place: int) -> NoReturn:
        """A word here has several meanings: name them."""
        shown = ", ".join(json.dumps(choice, ensure_ascii=False) for choice in choices[:5])
        more = f" and {len(choices) - 5} more" if len(choices) > 5 else ""
        message = f"{word!r} may mean {shown}{more}: write one of them, in quotes"
        raise self.error(message, place)


def is_named(query: Query) -> TypeGuard[Entity]:
    """Whether a query is a thing that is named, and not what an inner question asks for."""
    return isinstance(query, Entity) and query.entity >= 0


def is_numbers(query: Query) -> bool:
    """Whether a query that was read denotes numbers."""
    match query:
        case Number() | ValueOf() | Compare():
            return True
        case And(parts) | Or(parts):
            return is_numbers(parts[0])
        case Not(of):
            return is_numbers(of)
    return False
