"""The SPARQL 1.1 protocol: a query by GET or POST, and its answer."""

from __future__ import annotations

from dataclasses import dataclass

from starlette.requests import Request

from kgreckon.engine.rdf_terms import Row, SparqlResult, Term
from kgreckon.errors import BeyondAlgebraError
from kgreckon.models.interface import ScoreMeaning
from kgreckon.query import Pause, Query
from kgreckon.query.sparql import SparqlQuery, iri, is_ask
from kgreckon.server.limits import Limits
from kgreckon.server.requests import HttpError, media_type, read_body, read_parameters, text_of
from kgreckon.server.service import Service

_FORM = "application/x-www-form-urlencoded"
_QUERY = "application/sparql-query"
_UPDATE = "application/sparql-update"
_DATASET = ("default-graph-uri", "named-graph-uri", "using-graph-uri", "using-named-graph-uri")


async def read_query(request: Request, limits: Limits) -> str:
    """The text of the query that a request carries in one of the protocol's three ways."""
    parameters = read_parameters(request.url.query)
    if request.method != "POST":
        return _only_query(parameters)
    kind = media_type(request)
    if kind == _FORM:
        form = read_parameters(text_of(await read_body(request, limits)))
        for name, values in parameters.items():
            form.setdefault(name, []).extend(values)
        return _only_query(form)
    if kind == _UPDATE:
        raise HttpError(400, "updates are not supported: the graph is read only")
    if kind != _QUERY:
        raise HttpError(415, f"the content type must be {_QUERY} or {_FORM}")
    if "query" in parameters:
        raise HttpError(400, "the query stands in the body: the address may not carry another")
    body = text_of(await read_body(request, limits))
    return _only_query(parameters | {"query": [body]})


def _only_query(parameters: dict[str, list[str]]) -> str:
    """The one query among the parameters; those of the protocol that we cannot serve are refused, others ignored."""
    if "update" in parameters:
        raise HttpError(400, "updates are not supported: the graph is read only")
    for name in _DATASET:
        if name in parameters:
            raise HttpError(400, f"{name} is not supported: there is one graph, the default one")
    queries = parameters.get("query", [])
    if len(queries) != 1:
        raise HttpError(400, "give one parameter 'query'" + (f", not {len(queries)}" if queries else ""))
    return queries[0]


@dataclass(frozen=True)
class SparqlReply:
    """The answer to a query, and whether a model may have inferred a part of it."""

    result: SparqlResult
    inferred: bool

    @property
    def headers(self) -> dict[str, str]:
        """What the formats of the W3C have no place for."""
        said = {"Kgreckon-Inferred": "yes" if self.inferred else "no"}
        return said if self.result.complete else said | {"Kgreckon-Complete": "no"}


def answer(service: Service, text: str, pause: Pause) -> SparqlReply:
    """The answer to any query: with inference what the algebra can say, else what the graph states."""
    try:
        if is_ask(text):
            proved = service.read_ask(text)
        else:
            asked = service.read_sparql(text)
    except BeyondAlgebraError:
        return SparqlReply(service.stated(text, pause).result, inferred=False)
    if is_ask(text):
        return SparqlReply(SparqlResult("truth", truth=_proves(service, proved, pause)), inferred=False)
    return _select(service, asked, pause)


def _select(service: Service, asked: SparqlQuery, pause: Pause) -> SparqlReply:
    """The answers to a SELECT: one row for each, with ?score and ?observed where they are asked for.

    Without a LIMIT these are all answers that the graph proves, and inferred ones as long as the table is short.
    """
    limits = service.limits
    ranking = service.answerer.rank(asked.query, pause)
    proved = len(ranking.proved)
    wanted = max(limits.sparql_default, proved) if asked.limit is None else asked.limit
    answers = service.answerer.best(ranking, min(wanted, limits.sparql_answers))
    rows: list[Row] = []
    for answer in answers.answers:
        term = Term(iri(answer.name)) if answer.value is None else Term.of_number(answer.value)
        said = {"score": Term.of_number(answer.score), "observed": Term.of_truth(answer.observed)}
        rows.append(tuple(term if name == asked.variable else said[name] for name in asked.columns))
    complete = wanted <= limits.sparql_answers or proved <= limits.sparql_answers
    infers = service.model.calibration is not ScoreMeaning.CERTAIN
    return SparqlReply(SparqlResult("table", asked.columns, rows, complete=complete), infers)


def _proves(service: Service, queries: tuple[Query, ...], pause: Pause) -> bool:
    """Whether the graph proves an answer to each."""
    answerer = service.answerer.exact
    return all(len(answerer.rank(query, pause).proved) for query in queries)
