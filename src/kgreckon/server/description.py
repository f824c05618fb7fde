"""The description of the interface, in OpenAPI 3.1; the tests hold the routes and their answers against it."""

from __future__ import annotations

from typing import Any

from kgreckon import __version__
from kgreckon.answering import Only
from kgreckon.query import SEVEN
from kgreckon.server.catalogue import KINDS
from kgreckon.server.limits import Limits
from kgreckon.server.results import FORMATS

Schema = dict[str, Any]

_TEXT: Schema = {"type": "string"}
_TRUTH: Schema = {"type": "boolean"}
_NUMBER: Schema = {"type": "number"}
_COUNT: Schema = {"type": "integer", "minimum": 0}
_TEXT_OR_NONE: Schema = {"type": ["string", "null"]}
_NUMBER_OR_NONE: Schema = {"type": ["number", "null"]}


def _refer(name: str) -> Schema:
    return {"$ref": f"#/components/schemas/{name}"}


def _list(of: Schema) -> Schema:
    return {"type": "array", "items": of}


def _object(optional: dict[str, Schema] | None = None, /, **fields: Schema) -> Schema:
    return {
        "type": "object",
        "properties": fields | (optional or {}),
        "required": list(fields),
        "additionalProperties": False,
    }


def _op(name: str, optional: dict[str, Schema] | None = None, /, **fields: Schema) -> Schema:
    return _object({"label": _TEXT} | (optional or {}), op={"const": name}, **fields)


def _schemas(limits: Limits) -> dict[str, Schema]:
    tree = _refer("Tree")
    relation = {"name": _TEXT, "label": _TEXT, "phrase": _TEXT_OR_NONE, "inverse": _TRUTH}
    attribute = {"name": _TEXT, "label": _TEXT, "units": _list(_TEXT)}
    counted_attributes = _list(_object(**attribute, count=_COUNT))
    comparisons = _list(_object(name={"enum": list(SEVEN)}, label=_TEXT))
    place = {"latitude": _NUMBER, "longitude": _NUMBER}
    translated = {
        "tree": tree,
        "paper": _TEXT,
        "sparql": _TEXT_OR_NONE,
        "words": _TEXT,
        "sort": {"enum": ["entities", "numbers"]},
        "units": _list(_TEXT),
    }
    sizes = ("entities", "relations", "attributes", "facts", "values")
    return {
        "Error": _object(error=_TEXT),
        "Tree": {
            "description": "A query as nested blocks. Names are the graph's; labels and phrases are not read.",
            "oneOf": [
                _op("entity", name=_TEXT),
                _op("number", {"unit": _TEXT_OR_NONE}, value={"type": ["number", "string"]}),
                _op("follow", {"inverse": _TRUTH, "phrase": _TEXT_OR_NONE}, relation=_TEXT, of=tree),
                _op("value_of", attribute=_TEXT, of=tree),
                _op("having_value", attribute=_TEXT, of=tree),
                _op("compare", comparison=_TEXT, of=tree),
                _op("and", parts=_list(tree) | {"minItems": 1}),
                _op("or", parts=_list(tree) | {"minItems": 1}),
                _op("not", of=tree),
            ],
        },
        "Query": {
            "description": "A text in the paper's notation or in SPARQL, or blocks.",
            "oneOf": [{"type": "string", "maxLength": limits.query_characters}, tree],
        },
        "Info": _object(
            version=_TEXT,
            model=_TEXT,
            graph=_object(**dict.fromkeys(sizes, _COUNT)),
            comparisons=comparisons,
            units=_list(_TEXT),
            examples=_list(_object(words=_TEXT, query=_TEXT)),
            has_map=_TRUTH,
            limits=_object(**dict.fromkeys(limits.as_json(), _NUMBER)),
        ),
        "Names": _object(
            names=_list(
                {
                    "anyOf": [
                        _object(name=_TEXT, label=_TEXT, detail=_TEXT),
                        _object(**relation, detail=_TEXT),
                        _object(**attribute, smallest=_NUMBER_OR_NONE, largest=_NUMBER_OR_NONE, detail=_TEXT),
                    ]
                }
            )
        ),
        "Completion": {
            "description": "A relation counts the answers that it leads on from; an attribute, those that have it.",
            "oneOf": [
                _object(
                    sort={"const": "entities"},
                    count=_COUNT,
                    relations=_list(_object(**relation, count=_COUNT)),
                    attributes=counted_attributes,
                ),
                _object(
                    sort={"const": "numbers"},
                    units=_list(_TEXT),
                    count=_COUNT,
                    attributes=counted_attributes,
                    comparisons=comparisons,
                ),
            ],
        },
        "Translation": _object(**translated),
        "Answer": _object(
            {"value": _NUMBER, "unit": _TEXT, "text": _TEXT, "reasons": _list(_TEXT)} | place,
            id=_COUNT,
            name=_TEXT,
            label=_TEXT,
            score={"type": "number", "minimum": 0, "maximum": 1},
            observed=_TRUTH,
        ),
        "Distribution": _object(
            attribute=_TEXT_OR_NONE,
            label=_TEXT,
            unit=_TEXT,
            edges=_list(_NUMBER),
            counts=_list(_COUNT),
            log=_TRUTH,
            low=_NUMBER_OR_NONE,
            high=_NUMBER_OR_NONE,
            excluded=_TRUTH,
            answers={"oneOf": [_list(_NUMBER), {"type": "null"}]},
        ),
        "Answers": _object(
            **translated,
            observed=_COUNT,
            limit=_COUNT,
            answers=_list(_refer("Answer")),
            estimate={
                "oneOf": [
                    {"type": "null"},
                    _object(value=_NUMBER, low=_NUMBER, high=_NUMBER, unit=_TEXT, expected=_NUMBER, coverage=_NUMBER),
                ]
            },
            distributions=_list(_refer("Distribution")),
            seconds=_NUMBER,
        ),
        "Reasons": _object(reasons=_list(_TEXT)),
        "Entity": _object(
            place,
            name=_TEXT,
            label=_TEXT,
            facts=_list(
                _object(
                    relation=_TEXT,
                    label=_TEXT,
                    phrase=_TEXT_OR_NONE,
                    inverse=_TRUTH,
                    entity=_object(name=_TEXT, label=_TEXT),
                )
            ),
            values=_list(_object(attribute=_TEXT, label=_TEXT, value=_NUMBER, unit=_TEXT, text=_TEXT)),
            predicted=_list(
                _object(
                    attribute=_TEXT,
                    label=_TEXT,
                    estimate=_NUMBER,
                    low=_NUMBER,
                    high=_NUMBER,
                    unit=_TEXT,
                    chance=_NUMBER,
                )
            ),
        ),
        "Places": _object(places=_list(_list(_NUMBER) | {"minItems": 2, "maxItems": 2})),
    }


def _answers(schema: Schema, *statuses: int) -> dict[str, Any]:
    """The responses of a route: its answer, and the errors it may give."""
    names = {
        400: "A wrong request, or a query that cannot be meant.",
        404: "There is no such thing.",
        408: "The body did not arrive in time.",
        413: "The body is too large.",
        415: "The content type is another.",
        503: "Too many requests at once, or a question that takes too long.",
    }
    found: dict[str, Any] = {"200": {"description": "The answer.", "content": {"application/json": {"schema": schema}}}}
    for status in statuses:
        found[str(status)] = {
            "description": names[status],
            "content": {"application/json": {"schema": _refer("Error")}},
        }
    if "503" in found:
        found["503"]["headers"] = {"Retry-After": {"schema": _COUNT}}
    return found


def _parameter(name: str, schema: Schema, required: bool = False) -> dict[str, Any]:
    return {"name": name, "in": "query", "required": required, "schema": schema}


def _get(summary: str, schema: Schema, *parameters: dict[str, Any], statuses: tuple[int, ...] = ()) -> dict[str, Any]:
    return {"get": {"summary": summary, "parameters": list(parameters), "responses": _answers(schema, *statuses)}}


def _post(summary: str, body: Schema, schema: Schema) -> dict[str, Any]:
    return {
        "post": {
            "summary": summary,
            "requestBody": {"required": True, "content": {"application/json": {"schema": body}}},
            "responses": _answers(schema, 400, 408, 413, 415, 503),
        }
    }


def _sparql(limits: Limits) -> dict[str, Any]:
    table = {"content": {form: {"schema": {} if "json" in form else _TEXT} for form in FORMATS}}
    responses = _answers({}, 400, 408, 413, 415, 503)
    responses["200"] = {"description": "The answers, in the form that the Accept header asks for.", **table}
    responses["406"] = {
        "description": "None of our forms is welcome.",
        "content": {"application/json": {"schema": _refer("Error")}},
    }
    query = {"type": "string", "maxLength": limits.query_characters}
    body = {
        "application/sparql-query": {"schema": query},
        "application/x-www-form-urlencoded": {"schema": {"type": "object", "properties": {"query": query}}},
    }
    return {
        "get": {
            "summary": "The SPARQL 1.1 protocol, by address.",
            "parameters": [_parameter("query", query, True)],
            "responses": {status: each for status, each in responses.items() if status not in ("408", "413", "415")},
        },
        "post": {
            "summary": "The SPARQL 1.1 protocol, by body.",
            "requestBody": {"required": True, "content": body},
            "responses": responses,
        },
    }


def description(limits: Limits) -> dict[str, Any]:
    """What can be asked at which address, and what comes back."""
    query, text = _refer("Query"), {"type": "string", "maxLength": limits.query_characters}
    only_query = _object(query=query)
    asked = _object(
        {
            "limit": {"type": "integer", "minimum": 1, "maximum": limits.answers, "default": 20},
            "explain": _TRUTH,
            "only": {"enum": [*Only, None], "default": None},
        },
        query=query,
    )
    anything = _object({"query": {"oneOf": [query, {"type": "null"}]}})
    names = (
        _parameter("kind", {"enum": list(KINDS), "default": KINDS[0]}),
        _parameter("text", text),
        _parameter("limit", {"type": "integer", "minimum": 1, "maximum": limits.names, "default": 20}),
    )
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "kgreckon",
            "version": __version__,
            "summary": "Ask a knowledge graph: what it proves, and what is likely.",
        },
        "paths": {
            "/api": _get("This description.", {"type": "object"}),
            "/api/info": _get("What this server answers, and within which limits.", _refer("Info"), statuses=(400,)),
            "/api/names": _get("Names that match a text.", _refer("Names"), *names, statuses=(400, 503)),
            "/api/complete": _post("What can be added to a query.", anything, _refer("Completion")),
            "/api/translate": _post("A query in every notation.", only_query, _refer("Translation")),
            "/api/ask": _post("The best answers to a query.", asked, _refer("Answers")),
            "/api/explain": _post("Why an answer is one.", _object(query=query, answer=_COUNT), _refer("Reasons")),
            "/api/entity": _get(
                "What is known and likely of an entity.",
                _refer("Entity"),
                _parameter("name", text, True),
                statuses=(400, 503),
            ),
            "/api/places": _get("Points for a map.", _refer("Places"), statuses=(400, 404, 503)),
            "/sparql": _sparql(limits),
        },
        "components": {"schemas": _schemas(limits)},
    }
