"""Facts as sentences: `Rome is the capital of Italy`, `Austria probably does not border France`."""

from __future__ import annotations

from kgreckon.query.vocabulary import Vocabulary
from kgreckon.query.words.inflection import base_form, plural
from kgreckon.query.words.lexicon import RelationWords, lexicon_of

_SURE, _LIKELY, _OPEN, _HARDLY = 0.98, 0.6, 0.4, 0.002


def hedged(probability: float) -> tuple[str, bool]:
    """An adverb for a probability, and whether what it stands with is denied."""
    if probability >= _LIKELY:
        return "almost certainly" if probability >= _SURE else "probably", False
    if probability >= _OPEN:
        return "perhaps", False
    return "almost certainly" if probability < _HARDLY else "probably", True


def percent(probability: float) -> str:
    """A probability for people: `35 %`, `0.4 %`, `less than 0.1 %`."""
    if probability < 0.001:
        return "less than 0.1 %"
    if probability > 0.999:
        return "more than 99.9 %"
    return f"{100 * probability:.{3 if probability >= 0.995 else 2}g} %"  # 99.6 %, not 1e+02 %


def fact_claim(head: str, relation: int, tail: str, names: Vocabulary, adverb: str = "", denied: bool = False) -> str:
    """What a fact says, in whatever direction it is followed, with how sure it is."""
    if relation & 1:
        head, tail = tail, head
    words, lexicon = lexicon_of(names).relations[relation >> 1], lexicon_of(names)
    if relation & ~1 == lexicon.classes:
        tail = tail[:1].lower() + tail[1:] if tail[1:].islower() else tail
    sure = " ".join(filter(None, (adverb, "not" if denied else "")))
    if words.verb is None:
        if words.backwards:
            return _spaced(head, "is", sure, f"the {words.noun} of", tail)
        return _spaced(f"the {words.noun or names.relation_label(relation)} of {head} is", sure, tail)
    first, _, rest = words.verb.partition(" ")
    if rest == "a" and tail[:1].lower() in "aeiou":
        rest = "an"
    base = base_form(first)
    if base == "be":
        return _spaced(head, first, sure, rest, tail)
    if not denied:
        return _spaced(head, adverb, words.verb, tail)
    if base == first:  # a past form, such as directed
        return _spaced("it is", adverb, "not so that", head, words.verb, tail)
    return _spaced(head, adverb, "does not", base, rest, tail)


def shared_claim(count: int, of: str, relation: int, other: str, names: Vocabulary) -> str:
    """How many of some things have a fact with another: `4 of the 10 things most like Oslo are in Norway`."""
    words, some = lexicon_of(names).relations[relation >> 1], f"{count or 'none'} of {of}"
    if relation & 1:  # the things are at the end
        if words.verb is None and not words.backwards:
            return (
                f"{some} {'is' if count == 1 else 'are'} the {words.noun or names.relation_label(relation)} of {other}"
            )
        return fact_claim(other, relation & ~1, some, names)
    if relation & ~1 == lexicon_of(names).classes:
        kinds = plural(other[:1].lower() + other[1:] if other[1:].islower() else other)
        return f"{some} {'is one of the' if count == 1 else 'are'} {kinds}"
    if words.verb is None:
        return f"{some} {'has' if count == 1 else 'have'} the {words.noun or names.relation_label(relation)} {other}"
    return _spaced(some, _agreeing(words, count == 1), other)


def _agreeing(words: RelationWords, one: bool) -> str:
    assert words.verb is not None
    if one:
        return words.verb
    first, _, rest = words.verb.partition(" ")
    base = base_form(first)
    return f"{'were' if first == 'was' else 'are' if base == 'be' else base} {rest}".rstrip()


def _spaced(*parts: str) -> str:
    return " ".join(filter(None, parts))
