"""What the tools for agents answer: everything says how it is known, and nothing is longer than a model should read."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, SerializerFunctionWrapHandler, model_serializer


class Status(StrEnum):
    """How something is known."""

    PROVED = "proved"
    FOUND = "found"  # in what is stated, where the question counts as false what is not: one more fact could end it
    LIKELY = "likely"  # inferred, and more likely than not where there is a probability
    UNKNOWN = "unknown"


class Reply(BaseModel):
    """An object with these fields and no others; what is empty is left out where it is written."""

    model_config = ConfigDict(extra="forbid")

    @model_serializer(mode="wrap")
    def _short(self, whole: SerializerFunctionWrapHandler) -> dict[str, Any]:
        return {name: value for name, value in whole(self).items() if value is not None and value != []}


class Bounded(Reply):
    """A reply with lists, which may be cut."""

    more: bool = Field(default=False, description="Whether there is more than is given here.")


class Name(Reply):
    """Something that has a name."""

    name: str = Field(description="The unique name, to be used in queries.")
    label: str
    kind: str
    detail: str | None = None


class FoundNames(Bounded):
    """Names that match a text."""

    names: list[Name] = []


class StatedFact(Reply):
    """A fact that the graph states, in words, with the name at its other end."""

    text: str
    relation: str
    inverse: bool = Field(description="Whether the entity at the other end is the one that the fact begins with.")
    entity: str
    status: Status = Status.PROVED


class KnownValue(Reply):
    """A number of an entity: stated, or predicted with an interval and the probability that there is such a number."""

    attribute: str
    value: str | None = None
    unit: str
    status: Status
    low: str | None = None
    high: str | None = None
    probability: float | None = None


class Description(Bounded):
    """What is known of an entity."""

    name: str
    label: str
    facts: list[StatedFact] = []
    values: list[KnownValue] = []


class FoundAnswer(Reply):
    """One answer and how it is known; what is not proved has a probability where the model has calibrated ones."""

    answer: str
    name: str | None = Field(default=None, description="The unique name of an entity.")
    status: Status
    probability: float | None = None
    score: float | None = Field(
        default=None, description="Where the model ranks without probabilities: higher is better."
    )
    values: list[str | None] = Field(
        default=[],
        description="What stands in each column: what is stated or, after 'about', a prediction with its interval.",
    )
    reasons: list[str] = Field(default=[], description="In one sentence, then fact by fact.")


class RowStatus(Reply):
    """How a row is known."""

    status: Status
    probability: float | None = None
    score: float | None = None


class Found(Bounded):
    """The answers to a question, the best first.

    `status` is that of the best answer; "unknown" means that nothing is stated or likely, not that nothing exists.
    """

    question: str = Field(description="The question as it was understood, in words or as it was given.")
    status: Status
    inferred: bool = Field(description="Whether a model may have added answers that are not stated.")
    proved: int = Field(description="How many answers the graph proves.")
    found: int | None = Field(
        default=None,
        description="Instead, where what is not stated counts as false: how many answers fit what is stated.",
    )
    columns: list[str] = Field(default=[], description="The values that the question speaks of, with their units.")
    answers: list[FoundAnswer] = []
    variables: list[str] | None = Field(
        default=None, description="Of SPARQL with several variables: the columns of the rows."
    )
    rows: list[list[str]] = Field(
        default=[],
        description="Of SPARQL with several variables: labels, with the name in brackets where it differs.",
    )
    known: list[RowStatus] = Field(default=[], description="Of rows some of which may be inferred: how each is known.")
    estimate: str | None = Field(default=None, description="Where a number that is not stated is likely to be.")
    notes: list[str] = []


class InferredFact(Reply):
    """A fact that is not stated, in words and by its names."""

    text: str
    subject: str
    relation: str
    object: str
    status: Status
    probability: float
    reasons: list[str] = []


class InferredValue(KnownValue):
    """A number that is not stated, and what moved its estimate."""

    entity: str
    reasons: list[str] = []


class Completed(Bounded):
    """What is likely and not stated, the most probable first."""

    facts: list[InferredFact] = []
    values: list[InferredValue] = []


class WantedStatement(BaseModel):
    """A fact or a value that is to be added or removed."""

    model_config = ConfigDict(extra="forbid")

    subject: Annotated[str, Field(min_length=1, max_length=4_000, description="An entity, by name or by label.")]
    predicate: Annotated[str, Field(min_length=1, max_length=4_000, description="A relation or an attribute.")]
    object: Annotated[str, Field(max_length=4_000)] | float = Field(
        description="Another entity; or a number, or a text such as '5 km'."
    )
    unit: Annotated[str, Field(max_length=4_000)] | None = Field(
        default=None, description="Of a number, where it is not the attribute's."
    )


class Changed(Reply):
    """What a change came to, which is durable."""

    facts_added: int
    values_added: int
    facts_removed: int
    values_removed: int
    new_names: list[str] = Field(default=[], description="Entities that the graph did not have.")


class Why(Reply):
    """Why something is an answer, or how likely it is."""

    answer: str
    status: Status
    probability: float | None = None
    score: float | None = None
    reasons: list[str] = []
