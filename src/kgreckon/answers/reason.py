"""Reasons: the proof of an answer as statements in words, with how each is known."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from kgreckon.models.proofs import How, Member, Proof, RulePath, Step
from kgreckon.query import Comparison, Number, Operator, sentence
from kgreckon.query.algebra import children
from kgreckon.query.vocabulary import Vocabulary
from kgreckon.query.words.phrases import compared_with, fact_words, number_words, value_words

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
        probability = "" if self.probability is None else f", {self.probability:.3g}"
        return f"{self.text} ({self.how}{probability})"


@dataclass(frozen=True)
class Reason:
    """Why something is an answer: the facts that it rests on, the answer's own first."""

    statements: tuple[Statement, ...]

    def lines(self) -> list[str]:
        """The statements as text, with a dash before each that stands below another."""
        return list(_lines(self.statements))

    def as_json(self) -> dict[str, Any]:
        """The same as plain data."""
        return asdict(self)

    def __str__(self) -> str:
        return "\n".join(self.lines())


def _lines(statements: Sequence[Statement], dashes: str = "") -> Iterator[str]:
    for statement in statements:
        yield f"{dashes}{statement}"
        yield from _lines(statement.below, f"{dashes}– ")


def reason_of(proof: Proof, names: Vocabulary) -> Reason:
    """A proof in words."""
    if proof.probability <= 0:
        return Reason((Statement("nothing speaks for it"),))
    return Reason(tuple(_statements(proof, names)))


def _statements(proof: Proof, names: Vocabulary) -> Iterator[Statement]:
    """The statements of a proof: its own step, then what that rests on.

    Of several conditions one of which is enough, a certain one is stated, else those that are possible. Of a condition
    that is denied, what speaks for it stands below a sentence that says how likely that is.
    """
    if proof.claim is not None:
        yield _claimed(proof, names)
    elif proof.step is not None:
        yield from _stated(proof.step, names)
    if proof.operator is Operator.NOT and proof.parts:
        against = proof.parts[0]
        if against.probability <= 0:
            yield Statement("nothing speaks against it")
        else:
            said = f"what speaks against it has a probability of {against.probability:.3g}:"
            yield Statement(said, probability=against.probability, below=tuple(_statements(against, names)))
        return
    for part in _enough(proof.parts) if proof.operator is Operator.OR else proof.parts:
        yield from _statements(part, names)


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
        return Statement(f"{number_words(step.target, names)} is {compared_with(step.label, described)}", How.MISSING)
    return Statement(sentence(proof.claim, names), proof.how)


def _stated(step: Step, names: Vocabulary) -> Iterator[Statement]:
    """One step in words; nothing for what the query itself names."""

    def word(member: Member | None) -> str:
        if member is None:
            return _ELLIPSIS
        return number_words(member, names) if isinstance(member, Number) else names.entity_label(member)

    source, target = word(step.source), word(step.target)
    fact: tuple[str, str, str] | tuple[None, None, None] = (None, None, None)
    match step.operator:
        case Operator.FOLLOW:
            assert isinstance(step.label, int)
            text = fact_words(source, step.label, target, names)
            label = names.relation_label(step.label)
            fact = (target, label, source) if step.label & 1 else (source, label, target)
        case Operator.VALUE_OF | Operator.HAVING_VALUE:
            assert isinstance(step.label, int)
            entity, number = (source, target) if step.operator is Operator.VALUE_OF else (target, source)
            text = value_words(step.label, entity, number, names)
            if step.operator is Operator.HAVING_VALUE and step.how is How.PREDICTED:
                text += " or another of the set"
            fact = (entity, names.attribute_label(step.label), number)
        case Operator.COMPARE:
            assert isinstance(step.label, Comparison)
            text = f"{target} is {compared_with(step.label, source)}"
        case Operator.ENTITY | Operator.NUMBER if step.how is How.MISSING:
            text = f"{target} is {source}"
        case _:
            return
    probability = step.probability if step.how is How.PREDICTED else None
    subject, predicate, object_ = fact
    yield Statement(text, step.how, probability, subject, predicate, object_, tuple(_because(step.rule, names)))


def _because(rule: RulePath | None, names: Vocabulary) -> Iterator[Statement]:
    """The path from which a rule infers a fact, and how often such a path ends in one."""
    if rule is None or rule.confidence < _WORTH_MENTIONING:
        return
    steps = [
        fact_words(names.entity_label(head), label, names.entity_label(tail), names) for head, label, tail in rule.steps
    ]
    text = f"since {' and '.join(steps)}: so in {100 * rule.confidence:.0f} % of such cases"
    yield Statement(text, None, rule.confidence)
