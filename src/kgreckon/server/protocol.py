"""The SPARQL 1.1 protocol: a query by GET or POST, and its answer."""

from __future__ import annotations

import math
from contextlib import suppress
from dataclasses import dataclass

from starlette.requests import Request

from kgreckon.answers import Only, SparqlAnswers
from kgreckon.engine.rdf_terms import Row, SparqlResult, Term
from kgreckon.errors import BeyondAlgebraError
from kgreckon.models.interface import ScoreMeaning
from kgreckon.query import Pause, Query
from kgreckon.query.sparql import SparqlQuery, iri, is_ask
from kgreckon.query.sparql.syntax import read_table
from kgreckon.server.limits import Limits
from kgreckon.server.requests import HttpError, media_type, read_body, read_parameters, text_of
from kgreckon.server.service import Service

_FORM = "application/x-www-form-urlencoded"
_QUERY = "application/sparql-query"
_UPDATE = "application/sparql-update"
_DATASET = ("default-graph-uri", "named-graph-uri", "using-graph-uri", "using-named-graph-uri")


@dataclass(frozen=True)
class SparqlRequest:
    """The text of a query, and the least score of an inferred answer to it; or the text of an update."""

    text: str
    floor: float
    is_update: bool = False


async def read_query(request: Request, limits: Limits) -> SparqlRequest:
    """What a request carries in one of the protocol's three ways."""
    parameters = read_parameters(request.url.query)
    if request.method != "POST":
        return _asked(parameters, limits)
    kind = media_type(request)
    if kind == _FORM:
        form = read_parameters(text_of(await read_body(request, limits)))
        if "update" in form and "query" not in form:
            return _update(form)
        for name, values in parameters.items():
            form.setdefault(name, []).extend(values)
        return _asked(form, limits)
    if kind == _UPDATE:
        return _update(parameters | {"update": [text_of(await read_body(request, limits))]})
    if kind != _QUERY:
        raise HttpError(415, f"the content type must be {_QUERY} or {_FORM}")
    if "query" in parameters:
        raise HttpError(400, "the query stands in the body: the address may not carry another")
    body = text_of(await read_body(request, limits))
    return _asked(parameters | {"query": [body]}, limits)


def _update(parameters: dict[str, list[str]]) -> SparqlRequest:
    """The one update of a request."""
    _check_dataset(parameters)
    updates = parameters["update"]
    if len(updates) != 1:
        raise HttpError(400, f"give one parameter 'update', not {len(updates)}")
    return SparqlRequest(updates[0], 0.0, is_update=True)


def _check_dataset(parameters: dict[str, list[str]]) -> None:
    for name in _DATASET:
        if name in parameters:
            raise HttpError(400, f"{name} is not supported: there is one graph, the default one")


def _asked(parameters: dict[str, list[str]], limits: Limits) -> SparqlRequest:
    text, floors = _only_query(parameters), parameters.get("floor", [str(limits.sparql_floor)])
    try:
        (floor,) = map(float, floors)
    except ValueError:
        floor = math.nan
    if not 0 <= floor <= 1:
        raise HttpError(400, f"floor must be one number from 0 to 1, not {', '.join(floors)!r:.80}")
    return SparqlRequest(text, floor)


def _only_query(parameters: dict[str, list[str]]) -> str:
    """The one query among the parameters; those of the protocol that we cannot serve are refused, others ignored."""
    if "update" in parameters:
        raise HttpError(400, "an update is sent by POST, alone")
    _check_dataset(parameters)
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


def answer(service: Service, request: SparqlRequest, pause: Pause) -> SparqlReply:
    """The answer to any query: with inference what the algebra can say, else what the graph states."""
    text = request.text
    try:
        if is_ask(text):
            proved = service.read_ask(text)
        else:
            asked = service.read_sparql(text)
    except BeyondAlgebraError:
        return _beyond(service, request, pause)
    if is_ask(text):
        return SparqlReply(SparqlResult("truth", truth=_proves(service, proved, pause)), inferred=False)
    return _select(service, asked, request.floor, pause)


def _beyond(service: Service, request: SparqlRequest, pause: Pause) -> SparqlReply:
    """What a query of several variables is told: what is stated and, if it selects ?score or ?observed, inferred."""

    def stated(text: str, rows: int | None) -> SparqlAnswers:
        return service.stated(text, pause, rows)

    text, limits = request.text, service.limits
    with suppress(BeyondAlgebraError):
        if read_table(text, limits.sparql_tokens).marks:
            found = service.answerer.solutions(text, limits.sparql_answers, request.floor, pause, stated)
            return SparqlReply(found.result, found.inferred)
    return SparqlReply(stated(text, None).result, inferred=False)


def _select(service: Service, asked: SparqlQuery, floor: float, pause: Pause) -> SparqlReply:
    """The answers to a SELECT, one row for each.

    Only a query that selects ?score or ?observed gets inferred answers, down to the `floor`: where nothing tells them
    from facts, there are none. Without a LIMIT there are as many as keep the table short.
    """
    limits = service.limits
    only = Only.OBSERVED if set(asked.columns) == {asked.variable} else None
    ranking = service.answerer.rank(asked.query, pause, only)
    proved = len(ranking.proved)
    wanted = max(limits.sparql_default, proved) if asked.limit is None else asked.limit
    answers = service.answerer.best(ranking, min(wanted, limits.sparql_answers), only, above=0.0)
    rows: list[Row] = []
    for answer in answers.answers:
        if not answer.observed and answer.score < floor:
            continue
        term = Term(iri(answer.name)) if answer.value is None else Term.of_number(answer.value)
        said = {"score": Term.of_number(answer.score), "observed": Term.of_truth(answer.observed)}
        rows.append(tuple(term if name == asked.variable else said[name] for name in asked.columns))
    complete = wanted <= limits.sparql_answers or proved <= limits.sparql_answers
    infers = only is None and service.model.calibration is not ScoreMeaning.CERTAIN
    return SparqlReply(SparqlResult("table", asked.columns, rows, complete=complete), infers)


def _proves(service: Service, queries: tuple[Query, ...], pause: Pause) -> bool:
    """Whether the graph proves an answer to each."""
    answerer = service.answerer.exact
    return all(len(answerer.rank(query, pause).proved) for query in queries)
