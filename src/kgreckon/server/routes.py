"""The routes of the JSON interface with the types of their requests and responses, and their OpenAPI description."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import Enum
from functools import partial
from http import HTTPStatus
from typing import Any, Generic, Literal, TypeVar, Union

from pydantic import TypeAdapter, create_model
from pydantic.json_schema import GenerateJsonSchema
from pydantic_core import core_schema

from kgreckon.answers.answer_files import FILES
from kgreckon.query import Pause
from kgreckon.server import schemas, thing_schemas
from kgreckon.server.headers import WITHOUT_TOKEN
from kgreckon.server.limits import Limits
from kgreckon.server.schemas import COMPONENT, REFERENCE
from kgreckon.server.service import Service
from kgreckon.server.service_description import FORMS
from kgreckon.server.sparql_results import FORMATS, TRIPLES
from kgreckon.version import __version__

_TABLE = "/api/table"
Request = TypeVar("Request", bound=schemas.Schema)
Answer = TypeVar("Answer", bound=schemas.Schema)


class Speed(Enum):
    """Whether a request waits for its turn."""

    AT_HAND = "it is answered at once"
    QUICK = "it waits for others that are quick"
    QUESTION = "it waits with all questions"


@dataclass(frozen=True)
class ApiRoute(Generic[Request, Answer]):
    """An address of the interface: what it takes, what it gives, and what computes it."""

    method: Literal["GET", "POST"]
    path: str
    summary: str
    request: type[Request]  # from the address for GET, from a JSON body for POST
    response: type[Answer]
    work: Callable[[Request, Pause], Answer]
    speed: Speed = Speed.QUESTION
    changes: bool = False  # the graph, for which a token of its own is asked


def api_routes(service: Service, takes_changes: bool = False) -> tuple[ApiRoute[Any, Any], ...]:
    """All routes of the interface but its description; where it takes no changes, it says so."""
    s, t, info = schemas, thing_schemas, partial(service.info, takes_changes=takes_changes)
    things, overviews, quick = service.things, service.overviews, Speed.QUICK
    return (
        ApiRoute("GET", "/health", "Is it alive?", s.NoParameters, s.Health, service.health, Speed.AT_HAND),
        ApiRoute("GET", "/api/info", "What it answers.", s.NoParameters, s.Info, info, Speed.AT_HAND),
        ApiRoute("GET", "/api/overview", "What it is about.", s.NoParameters, t.Overview, overviews.overview),
        ApiRoute("GET", "/api/names", "Names that match a text.", s.NamesRequest, s.Names, service.search, quick),
        ApiRoute(
            "GET", "/api/propose", "What can come next.", s.ProposeRequest, s.WordsProposals, service.propose, quick
        ),
        ApiRoute("GET", "/api/entity", "What is stated of an entity.", t.NameRequest, t.EntityDetails, things.entity),
        ApiRoute("GET", "/api/facts", "More facts of an entity.", t.FactsRequest, t.Facts, things.facts),
        ApiRoute("GET", "/api/missing", "What it probably has.", t.NameRequest, t.MissingDetails, things.missing),
        ApiRoute("GET", "/api/near", "What has a value like it.", t.NearRequest, t.NearDetails, things.near),
        ApiRoute("GET", "/api/kind", "A kind of things.", t.NameRequest, t.KindDetails, overviews.kind),
        ApiRoute("GET", "/api/relation", "A relation.", t.NameRequest, t.RelationDetails, overviews.relation),
        ApiRoute("GET", "/api/ends", "What a relation leads to.", t.EndsRequest, t.RelationEnds, overviews.ends),
        ApiRoute("GET", "/api/attribute", "An attribute.", t.NameRequest, t.AttributeDetails, overviews.attribute),
        ApiRoute("GET", "/api/values", "Its values in order.", t.ValuesRequest, t.HeldValues, overviews.values),
        ApiRoute(
            "GET", "/api/quality", "How well it infers.", s.NoParameters, t.QualityReport, overviews.report, quick
        ),
        ApiRoute("GET", "/api/places", "For a map.", s.NoParameters, s.PlaceList, service.all_places, quick),
        ApiRoute(
            "POST", "/api/change", "Change the graph.", s.ChangeRequest, s.ChangeMade, service.change, changes=True
        ),
        ApiRoute("POST", "/api/complete", "What can be added.", s.CompleteRequest, s.Completion, service.complete),
        ApiRoute("POST", "/api/translate", "All notations.", s.TranslateRequest, s.Translation, service.translate),
        ApiRoute("POST", "/api/ask", "The best answers to a query.", s.AskRequest, s.RankedAnswers, service.ask),
        ApiRoute("POST", "/api/groups", "Answers counted.", t.GroupsRequest, t.Groups, service.groups),
        ApiRoute("POST", "/api/explain", "Why an answer is one.", s.ExplainRequest, s.Explanation, service.explain),
    )


def description(routes: Sequence[ApiRoute[Any, Any]], limits: Limits, with_token: bool = False) -> dict[str, Any]:
    """What can be asked at which address, and what comes back, in OpenAPI 3.1."""
    types: list[tuple[str, Literal["validation", "serialization"], TypeAdapter[Any]]] = [
        ("Tree", "validation", TypeAdapter(_tree())),
        ("Query", "validation", TypeAdapter(schemas.QueryText | schemas.Tree)),
        ("Error", "serialization", TypeAdapter(schemas.Error)),
    ]
    for route in routes:
        types.append((route.path, "validation", TypeAdapter(route.request)))
        types.append((route.path, "serialization", TypeAdapter(route.response)))
    types.append((_TABLE, "validation", TypeAdapter(schemas.TableRequest)))
    schemas_of, whole = TypeAdapter.json_schemas(types, ref_template=REFERENCE, schema_generator=_Schemas)
    components = whole["$defs"] | {name: schemas_of[name, "validation"] for name in ("Tree", "Query")}
    paths: dict[str, Any] = {"/api": {"get": _operation("This description.", {"type": "object"}, ())}}
    for route in routes:
        answer = schemas_of[route.path, "serialization"]
        if route.method == "GET":
            asked = components.pop(route.request.__name__, {})
            inputs: dict[str, Any] = {"parameters": _parameters(asked)}
            refusals: tuple[int, ...] = (400,) if route.speed is Speed.AT_HAND else (400, 503)
        else:
            inputs = {"requestBody": _body({"application/json": schemas_of[route.path, "validation"]})}
            refusals = (400, *((401, 403) if route.changes else ()), 408, 413, 415, 503)
        paths[route.path] = {route.method.lower(): _operation(route.summary, answer, refusals) | inputs}
    described: dict[str, Any] = {
        "openapi": "3.1.0",
        "info": {
            "title": "kgreckon",
            "version": __version__,
            "summary": "Ask a knowledge graph: what it proves, and what is likely.",
        },
        "paths": paths | {_TABLE: {"get": _table(components)}, "/sparql": _sparql(), "/metrics": {"get": _metrics()}},
        "components": {"schemas": components},
    }
    if with_token:
        described["components"]["securitySchemes"] = {"token": {"type": "http", "scheme": "bearer"}}
        for path, methods in described["paths"].items():
            for operation in methods.values() if path not in WITHOUT_TOKEN else ():
                operation["security"] = [{"token": []}]
                operation["responses"]["401"] = _refusal(401)
    # A limit's name becomes its number, a component's name a reference to it.
    text = re.sub(r'"limits\.(\w+)"', lambda name: str(getattr(limits, name[1])), json.dumps(described))
    text = re.sub(rf'"{COMPONENT}": "(\w+)"', lambda name: f'"$ref": "{REFERENCE.format(model=name[1])}"', text)
    return json.loads(text)


class _Schemas(GenerateJsonSchema):
    """JSON schemas in which a data class has exactly its fields: whatever has a default is written too."""

    def dataclass_schema(self, schema: core_schema.DataclassSchema) -> dict[str, Any]:
        described = super().dataclass_schema(schema)
        return described | {"required": list(described["properties"]), "additionalProperties": False}


def _tree() -> Any:
    """The type of blocks: one of the kinds, each with its own fields."""
    kinds: list[Any] = []
    for op, fields in schemas.BLOCKS.items():
        fields_of: dict[str, Any] = {"op": (Literal[op], ...), "label": (str, "")}
        fields_of |= {name: kind if isinstance(kind, tuple) else (kind, ...) for name, kind in fields.items()}
        name = f"{op.title().replace('_', '')}Block"
        kinds.append(create_model(name, __base__=schemas.Schema, **fields_of))
    return Union[*kinds]


def _operation(summary: str, answer: dict[str, Any], refusals: Sequence[int]) -> dict[str, Any]:
    responses = {"200": {"description": "The answer.", "content": {"application/json": {"schema": answer}}}}
    return {"summary": summary, "responses": responses | {str(status): _refusal(status) for status in refusals}}


def _refusal(status: int) -> dict[str, Any]:
    refused = {"application/json": {"schema": {"$ref": REFERENCE.format(model="Error")}}}
    headers = {
        401: {"WWW-Authenticate": {"schema": {"type": "string"}}},
        503: {"Retry-After": {"schema": {"type": "integer", "minimum": 0}}},
    }.get(status)
    return {"description": HTTPStatus(status).phrase, "content": refused} | ({"headers": headers} if headers else {})


def _parameters(asked: dict[str, Any]) -> list[dict[str, Any]]:
    required = asked.get("required", ())
    fields = asked.get("properties", {}).items()
    return [{"name": name, "in": "query", "required": name in required, "schema": kind} for name, kind in fields]


def _body(content: dict[str, Any]) -> dict[str, Any]:
    return {"required": True, "content": {kind: {"schema": schema} for kind, schema in content.items()}}


_FLOOR = {"type": "number", "minimum": 0, "maximum": 1, "description": "the least score of an inferred answer"}


def _sparql() -> dict[str, Any]:
    query = {"type": "string", "maxLength": "limits.query_characters"}
    form = {"type": "object", "properties": {"query": query, "floor": _FLOOR}, "required": ["query"]}
    by_get = _operation(
        "The SPARQL 1.1 protocol, by address; the service description without a query.", {}, (400, 406, 503)
    )
    by_get["parameters"] = _parameters({"properties": {"query": query, "floor": _FLOOR}})
    bodies = {"application/sparql-query": query, "application/x-www-form-urlencoded": form}
    by_post = _operation("The SPARQL 1.1 protocol, by body.", {}, (400, 406, 408, 413, 415, 503))
    by_post["requestBody"] = _body(bodies)
    for each, forms in ((by_get, (*FORMATS, *TRIPLES, *FORMS)), (by_post, (*FORMATS, *TRIPLES))):
        contents = {kind: {"schema": {} if "json" in kind else {"type": "string"}} for kind in forms}
        each["responses"]["200"]["content"] = contents
    return {"get": by_get, "post": by_post}


def _table(components: dict[str, Any]) -> dict[str, Any]:
    operation = _operation("The answers to a question as a file.", {}, (400, 503))
    operation["parameters"] = _parameters(components.pop(schemas.TableRequest.__name__))
    operation["responses"]["200"]["content"] = {kind.partition(";")[0]: {"schema": {}} for kind, _ in FILES.values()}
    return operation


def _metrics() -> dict[str, Any]:
    operation = _operation("Counts and durations in the text format of Prometheus.", {}, ())
    operation["responses"]["200"]["content"] = {"text/plain": {"schema": {"type": "string"}}}
    return operation
