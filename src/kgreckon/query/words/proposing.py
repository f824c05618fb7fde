"""What can come next in a question: names, nouns, verbs, units and keywords that go on where a text ends."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass

from kgreckon.errors import UserError
from kgreckon.query.vocabulary import Vocabulary
from kgreckon.query.words.grammar import QuestionReader
from kgreckon.query.words.inflection import of_class
from kgreckon.query.words.lexicon import Lexicon, lexicon_of

_WORDS_BACK = 4  # of a name that is begun
_COMMON = frozenset(("that", "with", "whose", "without", "in", "and", "or", "not", ">", "<", "=", "between", "of"))
_KINDS = 40  # classes that are proposed where nothing is begun


@dataclass(frozen=True, slots=True)
class Proposal:
    """A way to go on: the text that stands from `start` of the question on, and what it is."""

    text: str
    kind: str  # attribute, relation, class, entity, verb, unit or keyword
    start: int
    of: int | None = None  # the class of the things that it says something about, where it is of one


Starting = Callable[[str, int], Iterable[str]]  # so many labels of things that begin with a text


def completions(text: str, vocabulary: Vocabulary, count: int = 12, starting: Starting | None = None) -> list[Proposal]:
    """What can come next after a text, or complete its last words; the longest begun name first.

    Who keeps the names of things in an order of their own gives what is `starting` with a text.
    """
    lexicon, starting = lexicon_of(vocabulary), starting or vocabulary.entities_starting
    found: dict[tuple[str, int], Proposal] = {}
    for start in _starts(text):
        begun = text[start:].casefold()
        reader = QuestionReader(text[:start], lexicon)
        with suppress(UserError):  # the text ends too early, which is why one asks
            reader.question()
        for completion in _candidates(reader, begun, start, lexicon, count, starting):
            if completion.text.casefold().startswith(begun) and completion.text.casefold() != begun:
                found.setdefault((completion.text, start), completion)
    return list(found.values())[:count]


def _starts(text: str) -> Iterator[int]:
    """Where the last words may begin that are still to be completed: the most words first."""
    ends = [place for place, character in enumerate(text) if character.isspace() or character in "(,"]
    places = [end + 1 for end in ends if end + 1 == len(text) or not text[end + 1].isspace()]
    if not text[:1].isspace():
        places.insert(0, 0)
    yield from sorted(set(places[-_WORDS_BACK:]))


def _candidates(
    reader: QuestionReader, begun: str, start: int, lexicon: Lexicon, count: int, starting: Starting
) -> Iterator[Proposal]:
    vocabulary = lexicon.vocabulary

    kinds = reader.kinds

    def each(kind: str, texts: Iterable[str], role: str = "") -> Iterator[Proposal]:
        return (Proposal(text, kind, start, kinds.get(role)) for text in texts)

    if "unit" in kinds:
        yield from each("unit", vocabulary.units())
    if "class" in kinds and lexicon.classes is not None:
        labels = [vocabulary.entity_label(one) for one in vocabulary.frequent_ends(lexicon.classes, _KINDS)]
        yield from each("class", map(of_class, labels))
    if "attribute" in kinds or "noun" in kinds:
        yield from each("attribute", lexicon.attributes, "attribute")
    if "noun" in kinds:
        yield from each("relation", (words.noun for words in lexicon.relations if words.noun is not None), "noun")
    keywords = (word for word in reader.wanted if word[0].isalpha() or word in "<>=≤≥≈×+-(")
    plain = [word for word in keywords if "'" not in word and "’" not in word]
    yield from each("keyword", (word for word in plain if word in _COMMON))
    if "reduced" in kinds:
        yield from each("verb", lexicon.reduced, "reduced")
    if "finite" in kinds:
        yield from each("verb", lexicon.finite, "finite")
    if "dated" in kinds:
        yield from each("verb", lexicon.dated, "dated")
    if "entity" in kinds and begun.strip():
        yield from each("entity", starting(begun, count))
    yield from each("keyword", (word for word in plain if word not in _COMMON))
