"""Reasons: the proof of an answer as a sentence, then as statements in words, with how each is known."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from typing import Any

from kgreckon.answers.answer_columns import Cell, Column
from kgreckon.answers.estimates import interval_texts
from kgreckon.answers.predicted_numbers import Predict, number_points
from kgreckon.answers.reason_sentences import (
    condition_words,
    expected_words,
    likes_words,
    reason_sentence,
    rule_words,
)
from kgreckon.graph.literals import exactly_with_unit
from kgreckon.models.proofs import How, Member, Proof, Step, Support
from kgreckon.query import Comparison, Number, Operator, sentence
from kgreckon.query.algebra import children
from kgreckon.query.datatypes import with_unit
from kgreckon.query.vocabulary import Vocabulary
from kgreckon.query.words.claims import percent
from kgreckon.query.words.phrases import compared_with, fact_words, value_words

_CERTAIN = 1 - 1e-6
_WORTH_MENTIONING = 0.1  # the confidence of a rule
_ELLIPSIS = "…"


@dataclass(frozen=True)
class Statement:
    """One sentence of a reason."""

    text: str
    how: How | None = None  # None for a sentence that introduces what stands below it
    probability: float | None = None  # where it is not certain and the model says
    subject: str | None = None  # the fact itself, by readable names, where the sentence states one
    predicate: str | None = None
    object: str | None = None
    below: tuple[Statement, ...] = ()  # what speaks for it, or against it

    def __str__(self) -> str:
        if self.how is None:
            return self.text
        probability = "" if self.probability is None else f", {percent(self.probability)}"
        return f"{self.text} ({self.how}{probability})"


@dataclass(frozen=True)
class Reason:
    """Why something is an answer: in one sentence, and the facts that it rests on, the answer's own first."""

    statements: tuple[Statement, ...]
    sentence: str = ""

    def lines(self) -> list[str]:
        """The statements as text, with a dash before each that stands below another."""
        return list(_lines(self.statements))

    def as_json(self) -> dict[str, Any]:
        """The same as plain data."""
        return asdict(self)

    def __str__(self) -> str:
        return "\n".join([self.sentence, *self.lines()] if self.sentence else self.lines())


def with_value(reason: Reason, label: str, column: Column, cell: Cell | None) -> Reason:
    """The reason of an answer whose place comes from a value: its sentence says the value too."""
    if cell is None or not reason.sentence or f"the {column.label} of {label} is " in reason.sentence:
        return reason
    unit = column.unit or ""
    if cell.observed:
        text = f"Its {column.label} is {with_unit(cell.shown(unit), unit)}."
    else:
        assert cell.value is not None and cell.low is not None and cell.high is not None
        middle, low, high = interval_texts(cell.value, cell.low, cell.high, unit)
        text = f"Its {column.label} is not stated: about {with_unit(middle, unit)}, between {low} and {high}."
    return replace(reason, sentence=f"{reason.sentence} {text}")


def _lines(statements: Sequence[Statement], dashes: str = "") -> Iterator[str]:
    for statement in statements:
        yield f"{dashes}{statement}"
        yield from _lines(statement.below, f"{dashes}– ")


def reason_of(proof: Proof, names: Vocabulary, predict: Predict = lambda entity, attribute: None) -> Reason:
    """A proof in words; `predict` says what is expected of a number that is not stated."""
    if proof.probability <= 0:
        return Reason((), "Nothing speaks for it.")
    return Reason(tuple(_statements(proof, names, predict)), reason_sentence(proof, names, predict))


def _statements(proof: Proof, names: Vocabulary, predict: Predict) -> Iterator[Statement]:
    """The statements of a proof: its own step, then what that rests on.

    Of several conditions one of which is enough, a certain one is stated, else those that are possible. Of a condition
    that is denied, what speaks for it stands below a sentence that says how likely that is.
    """
    below = partial(_statements, names=names, predict=predict)
    step = proof.step
    if proof.claim is not None:
        yield _claimed(proof, names)
    elif step is not None and step.operator is Operator.HAVING_VALUE and step.how is How.PREDICTED:
        yield _predicted(proof, step, names, predict)
        for part in proof.parts:
            yield from _beneath_numbers(part, below)
        return
    elif step is not None:
        yield from _stated(step, names, predict)
    if proof.operator is Operator.NOT and proof.parts:
        against = proof.parts[0]
        if against.probability <= 0:
            yield Statement("nothing speaks against it")
        else:
            said = f"what speaks against it has a probability of {percent(against.probability)}:"
            yield Statement(said, probability=against.probability, below=tuple(below(against)))
        return
    for part in _enough(proof.parts) if proof.operator is Operator.OR else proof.parts:
        yield from below(part)


def _beneath_numbers(proof: Proof, below: partial[Iterator[Statement]]) -> Iterator[Statement]:
    """The facts behind the numbers that one which is not stated is compared with."""
    if proof.operator in (Operator.COMPARE, Operator.AND, Operator.OR, Operator.NOT):
        for part in proof.parts:
            yield from _beneath_numbers(part, below)
    elif proof.operator is not Operator.NUMBER:
        yield from below(proof)


def _enough(parts: Sequence[Proof]) -> Sequence[Proof]:
    """Of the parts of a union those that speak for it."""
    chances = [part.probability for part in parts]
    if max(chances) >= _CERTAIN:
        return [parts[chances.index(max(chances))]]
    return [part for part, chance in zip(parts, chances, strict=True) if chance > 0]


def _claimed(proof: Proof, names: Vocabulary) -> Statement:
    """A part of the query that is said as a whole."""
    assert proof.claim is not None
    if proof.operator is Operator.NOT and proof.how is How.OBSERVED:
        return Statement("nothing speaks against it")
    step = proof.step
    if step is not None and isinstance(step.label, Comparison) and isinstance(step.target, Number):
        described = sentence(children(proof.claim)[0], names)
        return Statement(
            f"{_shown(step.target)} is {compared_with(step.label, described)}",
            How.MISSING,
        )
    return Statement(sentence(proof.claim, names), proof.how)


def _shown(number: Number) -> str:
    return exactly_with_unit(number.value, number.unit)


def _predicted(proof: Proof, step: Step, names: Vocabulary, predict: Predict) -> Statement:
    """A number that is not stated and is likely to meet a condition, with what is expected of it."""
    assert isinstance(step.label, int) and isinstance(step.target, int)
    entity, condition = names.entity_label(step.target), condition_words(proof.parts[0], names)
    points = [Statement(point) for point in number_points(predict(step.target, step.label), step.label, names)]
    text, label = value_words(step.label, entity, condition, names), names.attribute_label(step.label)
    return Statement(text, step.how, step.probability, entity, label, condition, tuple(points))


def _stated(step: Step, names: Vocabulary, predict: Predict) -> Iterator[Statement]:
    """One step in words; nothing for what the query itself names."""

    def word(member: Member | None) -> str:
        if member is None:
            return _ELLIPSIS
        return _shown(member) if isinstance(member, Number) else names.entity_label(member)

    source, target = word(step.source), word(step.target)
    fact: tuple[str, str, str] | tuple[None, None, None] = (None, None, None)
    points: list[Statement] = []
    match step.operator:
        case Operator.FOLLOW:
            assert isinstance(step.label, int)
            text = fact_words(source, step.label, target, names)
            label = names.relation_label(step.label)
            fact = (target, label, source) if step.label & 1 else (source, label, target)
            points += _points(step.support, step.label, step, names)
        case Operator.VALUE_OF | Operator.HAVING_VALUE:
            assert isinstance(step.label, int)
            entity, number = (source, target) if step.operator is Operator.VALUE_OF else (target, source)
            text = value_words(step.label, entity, number, names)
            fact = (entity, names.attribute_label(step.label), number)
            if step.how is How.PREDICTED and isinstance(step.source, int):
                points += map(Statement, number_points(predict(step.source, step.label), step.label, names))
        case Operator.COMPARE:
            assert isinstance(step.label, Comparison)
            text = f"{target} is {compared_with(step.label, source)}"
        case Operator.ENTITY | Operator.NUMBER if step.how is How.MISSING:
            text = f"{target} is {source}"
        case _:
            return
    probability = step.probability if step.how is How.PREDICTED else None
    subject, predicate, object_ = fact
    yield Statement(text, step.how, probability, subject, predicate, object_, tuple(points))


def _points(support: Support | None, relation: int, step: Step, names: Vocabulary) -> Iterator[Statement]:
    """What speaks for a predicted fact or against it: a rule, what its likes do, and how many are expected."""
    if support is None:
        return
    if support.rule is not None and support.rule.confidence >= _WORTH_MENTIONING:
        yield Statement(f"since {rule_words(support.rule, names)}", None, support.rule.confidence)
    if support.likes is not None:
        yield Statement(likes_words(support.likes, relation, step, names, some=True))
    if support.expected is not None:
        yield Statement(expected_words(support.expected, names))
