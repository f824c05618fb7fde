"""What is said of one thing, kind, relation or attribute: the requests and responses of those pages as types."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from kgreckon.models.interface import ScoreMeaning
from kgreckon.runs.quality import AttributeQuality, Quality, RelationQuality
from kgreckon.server.schemas import AnyQuery, AtMost, Count, Distribution, EntityName, Point, Schema, StatedValue

Name = Annotated[str, AtMost("name_characters"), Field(min_length=1)]
Offset = Annotated[int, Field(ge=0)]
PageSize = Annotated[int, Field(ge=1), AtMost("names")]

# ---------------------------------------------------------------------------------------------------------- requests


class NameRequest(Schema):
    """Which entity, relation or attribute is asked about."""

    name: Name


class FactsRequest(Schema):
    """Which facts of an entity are asked for: those of one relation in one direction, from some place on."""

    name: Name
    relation: Name
    inverse: bool = False
    offset: Offset = 0
    limit: PageSize = 50


class EndsRequest(Schema):
    """Which entities are asked for: those that a relation leads to, or, with `inverse`, those it leads from."""

    relation: Name
    inverse: bool = False
    offset: Offset = 0
    limit: PageSize = 50


class ValuesRequest(Schema):
    """Which values of an attribute are asked for: from the smallest or the largest on, perhaps of one kind."""

    attribute: Name
    order: Literal["smallest", "largest"] = "largest"
    kind: Name | None = None
    offset: Offset = 0
    limit: PageSize = 50


class NearRequest(Schema):
    """Which entity and attribute are asked about, and how many others."""

    name: Name
    attribute: Name
    limit: PageSize = 8


class GroupsRequest(Schema):
    """A question whose proved answers are counted by what they are linked to."""

    query: AnyQuery


# --------------------------------------------------------------------------------------------------------- responses


class RelationOf(Schema):
    """A relation as seen from an entity: with `inverse`, the entity is at its end."""

    relation: str
    label: str
    phrase: str | None
    inverse: bool


class FactGroup(RelationOf):
    """The facts of an entity with one relation in one direction: how many, and the most connected others."""

    count: Count
    things: list[EntityName]
    words: Annotated[str, Field(description="The question that all of them are the answers to.")]
    query: str


class ValueRank(Schema):
    """Where a value stands among those of the same attribute, of things of the same kind where there is one."""

    larger: Count
    of: Count
    kind: EntityName | None
    words: Annotated[str | None, Field(description="The things of that kind: countries.")]


class RankedValue(StatedValue):
    """A stated value and its place among others; null where the attribute is stated of this thing alone."""

    rank: ValueRank | None


class EntityDetails(Schema):
    """What the graph states of an entity."""

    name: str
    label: str
    kinds: list[EntityName]
    kind_relation: Annotated[str | None, Field(description="The relation that leads to the kinds.")]
    members: Annotated[Count, Field(description="Of a kind: how many things are of it.")]
    place: Point | None
    facts: list[FactGroup]
    values: list[RankedValue]


class Facts(FactGroup):
    """Some facts of an entity with one relation in one direction."""

    offset: Offset


class LikelyFact(RelationOf):
    """A fact of an entity that the graph does not state, and its probability."""

    entity: EntityName
    probability: float


class PredictedValue(Schema):
    """A value that the graph does not state, with its interval and the probability that there is one.

    The numbers are also given as text, with the digits that the interval justifies and without the unit.
    """

    attribute: str
    label: str
    estimate: float
    low: float
    high: float
    unit: str
    chance: float
    coverage: float
    text: str
    low_text: str
    high_text: str
    formula: str | None
    reasons: list[str]


class MissingDetails(Schema):
    """What an entity probably has, and the graph does not state; nothing from a model without probabilities."""

    name: str
    label: str
    calibration: ScoreMeaning
    facts: list[LikelyFact]
    values: list[PredictedValue]


class HeldValue(Schema):
    """An entity with its value of an attribute."""

    entity: EntityName
    value: StatedValue


class HeldValues(Schema):
    """Values of an attribute in order, with the entities that have them."""

    attribute: str
    label: str
    unit: str
    kind: EntityName | None
    count: Count
    offset: Offset
    values: list[HeldValue]


class NearDetails(Schema):
    """The things of the same kind whose value of an attribute is nearest to an entity's, from the largest on."""

    attribute: str
    label: str
    unit: str
    kind: EntityName | None
    rank: ValueRank
    values: Annotated[list[HeldValue], Field(description="With the entity itself at its place.")]


class CountedEntity(Schema):
    """An entity, and how many facts or values it is counted for, of how many that would be possible."""

    entity: EntityName
    count: Count
    of: Count | None = None


class RelationEnds(RelationOf):
    """The entities at one end of a relation with the number of its facts that they have, the largest first."""

    count: Count
    offset: Offset
    ends: list[CountedEntity]


class KindRelation(RelationOf):
    """A relation, and how many things of a kind have it."""

    count: Count


class KindAttribute(Schema):
    """An attribute, how many things of a kind have it, and how their values are spread."""

    attribute: str
    label: str
    unit: str
    count: Count
    smallest: HeldValue
    largest: HeldValue
    distribution: Distribution


class KindDetails(Schema):
    """A kind of things: how many there are, and what is known of how many of them."""

    name: str
    label: str
    relation: str
    words: str
    query: str
    count: Count
    things: list[EntityName]
    relations: list[KindRelation]
    attributes: list[KindAttribute]


class RelationDetails(Schema):
    """A relation: how often it is stated and of what, and what the run's quality report says of it."""

    name: str
    label: str
    phrase: str | None
    facts: Count
    heads: RelationEnds
    tails: RelationEnds
    head_kinds: list[CountedEntity]
    tail_kinds: list[CountedEntity]
    quality: RelationQuality | None


class AttributeDetails(Schema):
    """An attribute: how its values are spread, of what it is known, and what the run's quality report says of it."""

    name: str
    label: str
    unit: str
    values: Count
    things: Count
    mean: float
    quartiles: tuple[float, float, float]
    distribution: Distribution
    smallest: list[HeldValue]
    largest: list[HeldValue]
    kinds: list[CountedEntity]
    quality: AttributeQuality | None


class QualityReport(Schema):
    """How well the model found what was hidden from it, in words and in numbers; null where nothing was measured."""

    sentences: list[str]
    report: Quality | None


class KindOverview(Schema):
    """A kind: how many things are of it, and some that much is known of."""

    kind: EntityName
    words: Annotated[str, Field(description="The question for all of them: countries.")]
    count: Count
    things: list[EntityName]


class AttributeOverview(Schema):
    """An attribute and how its values are spread."""

    attribute: str
    count: Count
    distribution: Distribution


class RelationOverview(Schema):
    """A relation and how often it is stated."""

    relation: str
    label: str
    phrase: str | None
    facts: Count


class PlacedEntity(Schema):
    """An entity and where it is."""

    entity: EntityName
    place: Point


class Overview(Schema):
    """What the graph is about: the most frequent kinds, relations and attributes, and what most is known of."""

    kinds: list[KindOverview]
    num_kinds: Count
    things: list[EntityName]
    relations: list[RelationOverview]
    attributes: list[AttributeOverview]
    places: list[PlacedEntity]
    num_places: Count


class Groups(Schema):
    """How many of some things a relation leads from to what, the most frequent first; null where no relation fits."""

    relation: str | None
    label: str | None
    things: Annotated[Count, Field(description="How many are grouped.")]
    num_groups: Count
    groups: list[CountedEntity]
