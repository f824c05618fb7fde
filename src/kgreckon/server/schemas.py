"""The requests and responses of the JSON interface as types: they check what comes in and describe what goes out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, GetCoreSchemaHandler, GetJsonSchemaHandler, ValidationInfo
from pydantic import WithJsonSchema as Described
from pydantic_core import CoreSchema, PydanticCustomError, core_schema

from kgreckon.answers import Answer, Column, Estimate, Reason, Total
from kgreckon.defaults import LEAST_PROBABILITY
from kgreckon.models.interface import ScoreMeaning
from kgreckon.query import SEVEN
from kgreckon.server.limits import Limits

REFERENCE = "#/components/schemas/{model}"
# The key of a reference to a schema that only the description adds; pydantic resolves any `$ref` itself.
COMPONENT = "component"


@dataclass(frozen=True)
class AtMost:
    """A bound that the server's limits set: the largest number, or the most characters of a text."""

    limit: str

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        return core_schema.with_info_after_validator_function(self._check, handler(source))

    def __get_pydantic_json_schema__(self, schema: CoreSchema, handler: GetJsonSchemaHandler) -> dict[str, Any]:
        described = handler(schema)
        return described | {"maxLength" if described["type"] == "string" else "maximum": f"limits.{self.limit}"}

    def _check(self, value: str | int, info: ValidationInfo) -> str | int:
        most = getattr(info.context, self.limit)
        if (len(value) if isinstance(value, str) else value) > most:
            unit = " characters" if isinstance(value, str) else ""
            raise PydanticCustomError("at_most", "Input should be at most {most}", {"most": f"{most:,}{unit}"})
        return value


class Schema(BaseModel):
    """A JSON object with these fields and no others."""

    model_config = ConfigDict(extra="forbid", frozen=True, json_schema_serialization_defaults_required=True)


Kind = Literal["entity", "relation", "attribute"]
AnswerSort = Literal["entities", "numbers"]
Count = Annotated[int, Field(ge=0)]
Point = Annotated[tuple[float, float], Field(description="Latitude and longitude.")]
# Blocks, which `kgreckon.query.blocks` reads and writes; BLOCKS describes them.
Tree = Annotated[dict[str, Any], Described({COMPONENT: "Tree"})]
# A text in words, in SPARQL or in the paper's notation, or blocks: the service says what is wrong with it.
AnyQuery = Annotated[Any, Described({COMPONENT: "Query"})]
QueryText = Annotated[str, AtMost("query_characters")]

# In which order they are shown.
PROPOSED_KINDS = ("unit", "class", "attribute", "relation", "entity", "verb", "keyword")

BLOCKS: dict[str, dict[str, Any]] = {
    "entity": {"name": str},
    "number": {"value": float | str, "unit": (str | None, None)},
    "follow": {"relation": str, "inverse": (bool, False), "phrase": (str | None, None), "of": Tree},
    "value_of": {"attribute": str, "of": Tree},
    "having_value": {"attribute": str, "of": Tree},
    "compare": {"comparison": str, "of": Tree},
    "and": {"parts": Annotated[list[Tree], Field(min_length=1)]},
    "or": {"parts": Annotated[list[Tree], Field(min_length=1)]},
    "not": {"of": Tree},
}

_ORDER = "The name of a column, `name`, `value` or `probability`; else as the question says, the surest first."
_ABOVE = "Inferred answers whose probability is not above this are left out."

# ---------------------------------------------------------------------------------------------------------- requests


class NoParameters(Schema):
    """A request that says nothing more."""


class NamesRequest(Schema):
    """Which names are looked for."""

    kind: Kind = "entity"
    text: QueryText = ""
    limit: Annotated[int, Field(ge=1), AtMost("names")] = 20


class ProposeRequest(Schema):
    """A question in words as far as it is written."""

    text: QueryText = ""
    limit: Annotated[int, Field(ge=1), AtMost("names")] = 20


class TranslateRequest(Schema):
    """A query to translate."""

    query: AnyQuery


class CompleteRequest(Schema):
    """A query to complete; without one, everything."""

    query: AnyQuery | None = None


class AskRequest(Schema):
    """A question."""

    query: AnyQuery
    limit: Annotated[int, Field(ge=1), AtMost("answers")] | None = None  # 20, or the LIMIT of SPARQL
    explain: bool = False
    only: Literal["observed", "inferred"] | None = None
    offset: Count = 0
    order: Annotated[QueryText | None, Field(description=_ORDER)] = None
    descending: bool = False
    above: Annotated[float, Field(ge=0, le=1, description=_ABOVE)] = LEAST_PROBABILITY
    columns: Annotated[list[QueryText], Field(max_length=12, description="Further attributes to show.")] = []


class TableRequest(Schema):
    """A question whose answers are wanted as a file."""

    query: QueryText
    format: Literal["csv", "json", "parquet"] = "csv"
    only: Literal["observed", "inferred"] | None = None
    order: Annotated[QueryText | None, Field(description=_ORDER)] = None
    descending: bool = False
    above: Annotated[float, Field(ge=0, le=1, description=_ABOVE)] = LEAST_PROBABILITY
    columns: Annotated[QueryText, Field(description="Further attributes to show, separated by commas as in CSV.")] = ""


class ExplainRequest(Schema):
    """An answer whose reason is asked for: the name of an entity, or a number."""

    query: AnyQuery
    answer: str | float
    unit: str | None = None  # of a number, where the query can mean several


class StatementText(Schema):
    """A fact, whose object is a thing's name, or a value: a number, or a text such as `5 km`."""

    subject: Annotated[QueryText, Field(min_length=1)]
    predicate: Annotated[QueryText, Field(min_length=1)]
    object: Annotated[str, AtMost("query_characters")] | float
    unit: QueryText | None = None  # of a number, where it is not the attribute's


class NewLabel(Schema):
    """A readable name for a thing."""

    name: Annotated[QueryText, Field(min_length=1)]
    label: Annotated[QueryText, Field(min_length=1)]


class ChangeRequest(Schema):
    """What is to be changed, all of it or nothing: removed first, then replaced, added and labelled.

    What is replaced takes the place of all that is stated of the same subject by the same predicate. With `new`, names
    that the graph does not have are added; without, they are errors.
    """

    add: list[StatementText] = []
    remove: list[StatementText] = []
    replace: list[StatementText] = []
    labels: list[NewLabel] = []
    new: bool = False


# --------------------------------------------------------------------------------------------------------- responses


class Mistake(Schema):
    """What is wrong with a question in words: the word at `start`, none at its end, and what may be meant."""

    message: str
    start: Count
    word: str
    suggestions: list[str]


class Error(Schema):
    """Why a request is refused, in one line."""

    model_config = ConfigDict(json_schema_serialization_defaults_required=False)

    error: str
    mistake: Mistake | None = None


class Health(Schema):
    """That the server lives, and whether no question waits any more for what is computed once."""

    ready: bool


class ModelInfo(Schema):
    """The model that answers, what its scores mean, and whether it knows more than the seven comparisons."""

    name: str
    calibration: ScoreMeaning
    any_comparison: bool


class GraphSizes(Schema):
    """How large the graph is."""

    entities: Count
    relations: Count
    attributes: Count
    facts: Count
    values: Count


class ComparisonName(Schema):
    """One of the paper's seven comparisons."""

    name: Annotated[str, Field(json_schema_extra={"enum": list(SEVEN)})]
    label: str


class Info(Schema):
    """What this server answers, and within which limits."""

    version: str
    model: ModelInfo
    graph: GraphSizes
    comparisons: tuple[ComparisonName, ...]
    units: tuple[str, ...]
    examples: Annotated[list[str], Field(description="Questions in words that have answers.")]
    has_map: bool
    limits: Limits
    takes_changes: Annotated[bool, Field(description="Whether the graph can be changed with the token for changes.")]
    changes_in_the_log: Annotated[
        Count | None, Field(description="Changes since the tables were written; null where the graph cannot change.")
    ]


class ChangeMade(Schema):
    """What a change came to, which is durable; `things` are the names of those that are new."""

    facts_removed: Count
    values_removed: Count
    facts_added: Count
    values_added: Count
    labels: Count
    new_things: Count
    new_relations: Count
    new_attributes: Count
    things: list[str]
    changes_in_the_log: Count


class EntityName(Schema):
    """An entity, and perhaps some facts that distinguish it from others."""

    name: str
    label: str
    detail: str | None = None


class RelationName(Schema):
    """A relation in one direction, and how many answers it leads on from, or how often it is stated."""

    name: str
    label: str
    phrase: str | None
    inverse: bool
    count: Count | None = None
    detail: str | None = None


class AttributeName(Schema):
    """An attribute, and how many answers have it, or the range of its values."""

    name: str
    label: str
    units: list[str]
    count: Count | None = None
    detail: str | None = None


class Names(Schema):
    """Names that match a text."""

    names: list[EntityName] | list[RelationName] | list[AttributeName]


class WordsProposal(Schema):
    """A way to go on: the text that stands from `start` of the question on, what it is, and how much there is of it."""

    text: str
    kind: Annotated[str, Field(json_schema_extra={"enum": list(PROPOSED_KINDS)})]
    start: Annotated[int, Field(ge=0, description="In characters of Unicode.")]
    count: Annotated[
        Count | None,
        Field(
            description="Members of a class, facts or values of a name; in a condition on things of a class, how many "
            "of them have it; else null."
        ),
    ]
    detail: str | None


class WordsProposals(Schema):
    """What can come next in a question in words, the likeliest first."""

    proposals: list[WordsProposal]


class Completion(Schema):
    """What can be said of the exact answers to a query."""

    sort: AnswerSort
    units: list[str] = []
    count: Count
    relations: list[RelationName] = []
    attributes: list[AttributeName]
    comparisons: tuple[ComparisonName, ...] = ()


class Translation(Schema):
    """A question in every notation; SPARQL is null where it cannot say it.

    What only words can say, an order for instance, is not in the tree, the paper's notation and SPARQL.
    """

    tree: Tree
    paper: str
    sparql: str | None
    words: str
    only_in_words: list[str]
    sort: AnswerSort
    units: list[str]


class Distribution(Schema):
    """A histogram of values: with the range that the question allows or excludes, or with the answers' scores."""

    attribute: str | None
    label: str
    unit: str
    edges: list[float]
    counts: list[Count]
    log: bool
    low: float | None = None
    high: float | None = None
    excluded: bool = False
    answers: list[float] | None = None


class RankedAnswers(Translation):
    """The best answers to a query as everywhere, with the places of those that have one, and histograms."""

    query: str
    type: str
    specific_type: str
    calibration: ScoreMeaning
    observed: Count
    answers: tuple[Answer, ...]
    estimate: Estimate | None
    columns: tuple[Column, ...]
    total: Total | None
    unlikely: Count
    above: float
    unordered: Count
    unplaced: Count
    rests_on_absence: bool
    stated_otherwise: bool
    within: Annotated[tuple[str, ...], Field(description="What questions within the question were answered with.")]
    among: Count
    skipped: Count
    count: Annotated[Count, Field(description="How many answers there are, those of other parts with them.")]
    notes: Annotated[list[str], Field(description="What is left out, and how the question was read.")]
    limit: Count
    offset: Count
    places: dict[str, Point]
    distributions: list[Distribution]
    seconds: float


class Explanation(Schema):
    """Why an answer is one."""

    reason: Reason


class StatedValue(Schema):
    """A value that the graph states; the text is without the unit."""

    attribute: str
    label: str
    value: float
    unit: str
    text: str


class PlaceList(Schema):
    """Points for a map."""

    places: list[Point]
