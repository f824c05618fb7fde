"""A predicted value in names and words: what `predict` gives, one form in Python and in JSON, printed as lines."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from kgreckon.answers.estimates import formula_text, influence_text, interval_texts
from kgreckon.graph.literals import exactly_with_unit
from kgreckon.graph.naming import GraphVocabulary
from kgreckon.models.interface import Influence, Prediction
from kgreckon.query.datatypes import is_said, with_unit


@dataclass(frozen=True)
class Mover:
    """Known facts that moved an estimate: a number of the entity's own, or its facts of one relation."""

    text: str  # `in country → Japan: 12.4 degrees more`
    effect: float  # the estimate less what it would be without them
    attribute: str | None = None
    number: float | None = None  # of that attribute
    relation: str | None = None  # ^ before the name: these facts lead to the entity
    entities: tuple[str, ...] = ()  # at the other ends, those that moved the estimate most
    facts: int = 1  # how many there are

    @staticmethod
    def of(influence: Influence, found: Prediction, names: GraphVocabulary) -> Mover:
        """An influence in names."""
        return Mover(
            influence_text(influence, found, names),
            influence.effect,
            None if influence.attribute is None else names.attribute_name(influence.attribute),
            influence.number,
            None if influence.relation is None else names.relation_name(influence.relation),
            tuple(names.entity_name(entity) for entity in influence.entities),
            influence.facts,
        )

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True, repr=False)
class PredictedNumber:
    """The value of an attribute on an entity: what is stated, and what everything else makes likely."""

    entity: str
    attribute: str
    title: str  # `latitude of Oslo`
    stated: tuple[float, ...]
    stated_texts: tuple[str, ...]  # with their unit
    unit: str
    has_it: float  # the probability that there is such a value; 1 where one is stated
    estimate: float  # the median
    low: float
    high: float
    coverage: float  # the probability that the value lies between low and high
    text: dict[str, str]  # estimate, low and high with the digits that the interval justifies
    formula: str | None  # what made the estimate, where it is an identity
    reasons: tuple[Mover, ...]  # what moved the estimate most, the strongest first

    @staticmethod
    def of(found: Prediction, entity: int, attribute: int, names: GraphVocabulary) -> PredictedNumber:
        """What a model predicts, in names."""
        texts = interval_texts(found.estimate, found.low, found.high, found.unit)
        return PredictedNumber(
            entity=names.entity_name(entity),
            attribute=names.attribute_name(attribute),
            title=f"{names.attribute_label(attribute)} of {names.entity_label(entity)}",
            stated=found.stated,
            stated_texts=tuple(exactly_with_unit(each, found.unit) for each in found.stated),
            unit=found.unit,
            has_it=found.has_it,
            estimate=found.estimate,
            low=found.low,
            high=found.high,
            coverage=found.coverage,
            text=dict(zip(("estimate", "low", "high"), texts, strict=True)),
            formula=None if found.formula is None else formula_text(found.formula, attribute, names),
            reasons=tuple(Mover.of(influence, found, names) for influence in found.reasons),
        )

    def as_json(self) -> dict[str, Any]:
        """The same as plain data."""
        return asdict(self)

    def __str__(self) -> str:
        interval = (
            f"{self.text['low']} to {with_unit(self.text['high'], self.unit)} with a probability of {self.coverage:.0%}"
        )
        lines = [
            f"{self.title}, {self.unit}" if is_said(self.unit) else self.title,
            *(f"stated: {text}" for text in self.stated_texts),
        ]
        lines.append(f"predicted from everything else: about {self.text['estimate']}, {interval}")
        if not self.stated:
            lines.append(f"the probability that there is one, though none is stated: {self.has_it:.0%}")
        if self.formula is not None:
            lines.append(f"computed: {self.formula}")
        if self.reasons:
            lines.append("what moved the estimate, compared with not knowing it:")
        return "\n".join([*lines, *(f"  {reason}" for reason in self.reasons)])

    __repr__ = __str__
