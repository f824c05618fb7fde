"""What one request, and one client, may cost."""

from __future__ import annotations

from dataclasses import dataclass, fields

from kgreckon.errors import UserError


@dataclass(frozen=True)
class Limits:
    """The bounds that every request keeps to, whoever sends it."""

    query_characters: int = 4_000  # of a query's text
    name_characters: int = 20_000  # of the name of a thing, relation or attribute in an address
    sparql_tokens: int = 1_000  # words and signs; nothing can stop rdflib's parser, which reads 2,000 in a second
    query_depth: int = 16  # levels of a query
    query_nodes: int = 48
    head_bytes: int = 65_536  # of a request: its first line and its header fields
    head_seconds: float = 10.0  # until a head that has begun, or the first of a connection, is complete
    body_bytes: int = 65_536
    answers: int = 1_000  # of the JSON interface
    reasons: int = 50  # answers of one request that are explained
    names: int = 100  # of one search
    sparql_answers: int = 10_000
    sparql_floor: float = 0.01  # the least score of an inferred answer, unless a request says another
    sparql_default: int = 100  # rows for a SELECT without a LIMIT, unless the graph proves more
    sparql_triples: int = 20_000_000  # of a graph that is kept in Oxigraph too, for queries outside of the subset
    sparql_characters: int = 16_000_000  # of the result of such a query
    sparql_bytes: int = 1 << 30  # of memory that it may take
    heads: int = 64  # of a reckoner's predicted facts, fewer than in evaluations: docs/results.md shows what it costs
    seconds: float = 10.0  # from the request to its answer
    at_once: int = 2  # requests that are computed at the same time; one client has all of these workers but one
    waiting: int = 64  # requests that may wait for their turn
    client_waiting: int = 16  # of one client
    connections: int = 512
    client_connections: int = 64  # of one client
    stop_seconds: float = 10.0  # for running requests when the server is asked to stop

    def __post_init__(self) -> None:
        for field in fields(self):
            value = getattr(self, field.name)
            if value < 0 or (value == 0 and field.name != "waiting"):
                raise UserError(f"the limit {field.name} must be above 0, not {value}")
