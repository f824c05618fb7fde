"""What one request, and one client, may cost."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from kgreckon.errors import UserError, first_problem

Count = Annotated[int, Field(gt=0)]
Amount = Annotated[float, Field(gt=0)]


class Limits(BaseModel):
    """The bounds that every request keeps to, whoever sends it."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    query_characters: Count = Field(4_000, description="Length of a query text.")
    name_characters: Count = Field(
        20_000,
        description="Length of the name of a thing, relation or attribute in an address.",
    )
    sparql_tokens: Count = Field(
        1_000,
        description="Words and signs of a SPARQL query; its parser cannot be interrupted and reads 2,000 per second.",
    )
    query_depth: Count = Field(16, description="Levels of a query.")
    query_nodes: Count = Field(48, description="Parts of a query.")
    head_bytes: Count = Field(
        65_536,
        description="First line and header fields of a request, whether they arrive at once or in pieces.",
    )
    head_seconds: Amount = Field(
        10.0,
        description="Until the head of a request that has begun, or the first of a connection, is complete.",
    )
    body_bytes: Count = Field(
        65_536,
        description="Body of a request, counted while it is read, whatever length it declares.",
    )
    answers: Count = Field(
        1_000, description="Answers of one request to the JSON interface; `offset` gets further ones."
    )
    table_rows: Count = Field(100_000, description="Answers in a file.")
    reasons: Count = Field(
        50,
        description="Answers of one request that are explained; further ones can be explained one by one.",
    )
    names: Count = Field(100, description="Names of one search.")
    sparql_answers: Count = Field(10_000, description="Rows of a SPARQL result.")
    sparql_floor: Amount = Field(
        0.01,
        description="The least score of an inferred answer at `/sparql`, unless the request gives a `floor`.",
    )
    sparql_default: Count = Field(100, description="Rows for a SELECT without a LIMIT, unless the graph proves more.")
    sparql_triples: Count = Field(
        20_000_000,
        description="Triples of a graph that is also loaded into Oxigraph, for queries without inference.",
    )
    sparql_characters: Count = Field(16_000_000, description="Size of the result of such a query.")
    sparql_bytes: Count = Field(1 << 30, description="Memory that such a query may take.")
    heads: Count = Field(
        64,
        description="Heads that a reckoner's predicted facts start from, a quarter of the 256 of evaluations.",
    )
    seconds: Amount = Field(10.0, description="From the request to its answer, including waiting.")
    at_once: Count = Field(
        2,
        description="Requests that are computed at the same time; one client has all of these workers but one.",
    )
    waiting: int = Field(64, ge=0, description="Requests that may wait for their turn; any more get 503 immediately.")
    client_waiting: Count = Field(16, description="Waiting requests of one client.")
    connections: Count = Field(512, description="Open connections; any more get 503 immediately.")
    client_connections: Count = Field(64, description="Open connections of one client.")
    stop_seconds: Amount = Field(10.0, description="For running requests when the server is asked to stop.")

    def __init__(self, **limits: Any) -> None:
        try:
            super().__init__(**limits)
        except ValidationError as error:
            raise UserError(f"limits of the server: {first_problem(error)}") from None
