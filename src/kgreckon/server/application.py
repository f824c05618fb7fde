"""The application: routes, and what becomes of a mistake."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable, Collection
from contextlib import asynccontextmanager
from functools import partial
from typing import Any

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import ASGIApp

from kgreckon.answering import Only
from kgreckon.errors import UserError
from kgreckon.query import Pause
from kgreckon.server.description import description
from kgreckon.server.gate import BusyError, ClientGoneError, Gate, TimeLimitError
from kgreckon.server.headers import CrossOrigin, HostCheck, SecurityHeaders
from kgreckon.server.negotiation import preferred
from kgreckon.server.page import INDEX, page_files
from kgreckon.server.protocol import read_query, select
from kgreckon.server.requests import HttpError, read_json, url_parameters, whole_number
from kgreckon.server.results import FORMATS
from kgreckon.server.service import Service

_RETRY = {"Retry-After": "1"}


def application(
    service: Service, gate: Gate, hosts: Collection[str] | None = None, cross_origin: bool = False
) -> ASGIApp:
    """The whole server; requests for other `hosts` are refused, `cross_origin` opens /sparql to pages of any site."""
    endpoints = _Endpoints(service, gate, cross_origin)

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        yield
        gate.close()

    inner = Starlette(
        routes=endpoints.routes(),
        exception_handlers={
            UserError: lambda request, error: _failure(400, str(error)),
            HttpError: lambda request, error: _failure(error.status, error.message, error.headers),
            HTTPException: lambda request, error: _http_failure(request, error),
            BusyError: lambda request, error: _failure(503, "too many requests at once: try again soon", _RETRY),
            ClientGoneError: lambda request, error: _failure(400, "the client has gone"),  # nobody reads it
            TimeLimitError: lambda request, error: _failure(503, _took_too_long(service), _RETRY),
            Exception: lambda request, error: _failure(500, "internal error"),
        },
        lifespan=lifespan,
    )
    inner.router.redirect_slashes = False
    opened = CrossOrigin(inner, "/sparql") if cross_origin else inner
    return SecurityHeaders(opened if hosts is None else HostCheck(opened, hosts))


def _took_too_long(service: Service) -> str:
    return f"the question takes longer than {service.limits.seconds:g} s to answer: ask a simpler one"


def _json(data: Any, status: int = 200, headers: dict[str, str] | None = None) -> Response:
    # A lone surrogate, which JSON can escape and UTF-8 cannot write, comes back as a question mark.
    text = json.dumps(data, ensure_ascii=False, allow_nan=False).encode("utf-8", errors="replace")
    return Response(text, status, headers, "application/json")


def _failure(status: int, message: str, headers: dict[str, str] | None = None) -> Response:
    return _json({"error": " ".join(message.split())}, status, headers)


def _http_failure(request: Request, error: HTTPException) -> Response:
    known = {
        404: f"there is nothing at {request.url.path[:100]}",
        405: f"{request.method[:20]} is not allowed at {request.url.path[:100]}",
    }
    return _failure(error.status_code, known.get(error.status_code, error.detail), dict(error.headers or {}))


class _Endpoints:
    """One method for each route."""

    def __init__(self, service: Service, gate: Gate, cross_origin: bool) -> None:
        self.service, self.gate, self.limits = service, gate, service.limits
        self.cross_origin = cross_origin
        self.files = page_files()

    def routes(self) -> list[Route]:
        sparql = ["GET", "POST", "OPTIONS"] if self.cross_origin else ["GET", "POST"]
        return [
            Route("/", self.index),
            Route("/page/{name}", self.page),
            Route("/api", self.api),
            Route("/api/info", self.info),
            Route("/api/names", self.names),
            Route("/api/complete", self.complete, methods=["POST"]),
            Route("/api/translate", self.translate, methods=["POST"]),
            Route("/api/ask", self.ask, methods=["POST"]),
            Route("/api/explain", self.explain, methods=["POST"]),
            Route("/api/entity", self.entity),
            Route("/api/places", self.places),
            Route("/sparql", self.sparql, methods=sparql),
        ]

    async def _answer(self, request: Request, work: Callable[[Pause], Any]) -> Response:
        """The result of some work behind the gate, written as JSON by the worker too."""
        return await self.gate.run(lambda pause: _json(work(pause)), partial(_left, request))

    # ---------------------------------------------------------------------------------------------------- the page

    async def index(self, request: Request) -> Response:
        return self._file(request, INDEX)

    async def page(self, request: Request) -> Response:
        return self._file(request, request.path_params["name"])

    def _file(self, request: Request, name: str) -> Response:
        file = self.files.get(name)
        if file is None:
            raise HTTPException(404)
        headers = {"ETag": file.tag, "Cache-Control": "no-cache"}
        if file.tag in request.headers.get("if-none-match", ""):
            return Response(status_code=304, headers=headers)
        return Response(file.content, headers=headers | {"Content-Type": file.media_type})

    # ------------------------------------------------------------------------------------------------- the interface

    async def api(self, request: Request) -> Response:
        return _json(description(self.limits))

    async def info(self, request: Request) -> Response:
        url_parameters(request, ())
        return _json(self.service.info)

    async def names(self, request: Request) -> Response:
        asked = url_parameters(request, ("kind", "text", "limit"))
        limit = whole_number(asked.get("limit", 20), "limit", 1, self.limits.names)
        text = asked.get("text", "")
        if len(text) > self.limits.query_characters:
            raise HttpError(400, f"'text' may have at most {self.limits.query_characters:,} characters")
        return await self._answer(request, lambda _: self.service.search(asked.get("kind", "entity"), text, limit))

    async def complete(self, request: Request) -> Response:
        asked = await read_json(request, self.limits, ("query",))
        return await self._answer(request, lambda pause: self.service.complete(asked.get("query"), pause))

    async def translate(self, request: Request) -> Response:
        asked = await read_json(request, self.limits, ("query",))
        return await self._answer(request, lambda _: self.service.translate(_query(asked)))

    async def ask(self, request: Request) -> Response:
        asked = await read_json(request, self.limits, ("query", "limit", "explain", "only"))
        limit = whole_number(asked["limit"], "limit", 1, self.limits.answers) if "limit" in asked else None
        explain = asked.get("explain", False)
        if not isinstance(explain, bool):
            raise HttpError(400, "'explain' must be true or false")
        only = asked.get("only")
        if only is not None and only not in list(Only):
            raise HttpError(400, f"'only' must be {' or '.join(Only)}, or left out")
        kept = None if only is None else Only(only)
        return await self._answer(request, lambda pause: self.service.ask(_query(asked), limit, explain, pause, kept))

    async def explain(self, request: Request) -> Response:
        asked = await read_json(request, self.limits, ("query", "answer"))
        answer = whole_number(asked.get("answer"), "answer", 0, 2**31)
        return await self._answer(request, lambda pause: self.service.explain(_query(asked), answer, pause))

    async def entity(self, request: Request) -> Response:
        name = url_parameters(request, ("name",)).get("name", "")
        if not name or len(name) > self.limits.query_characters:
            raise HttpError(400, f"give a 'name' of at most {self.limits.query_characters:,} characters")
        return await self._answer(request, lambda _: self.service.entity(name))

    async def places(self, request: Request) -> Response:
        url_parameters(request, ())
        if not self.service.places:
            raise HttpError(404, "the graph has no latitudes and longitudes")
        return await self._answer(request, lambda _: {"places": self.service.places.background()})

    # ------------------------------------------------------------------------------------------------------- SPARQL

    async def sparql(self, request: Request) -> Response:
        headers = {"Vary": "Accept"}
        if request.method == "OPTIONS":
            return Response(status_code=204, headers=headers)
        text = await read_query(request, self.limits)
        form = preferred(", ".join(request.headers.getlist("accept")) or None, tuple(FORMATS))
        if form is None:
            raise HttpError(406, f"the answers come as {', '.join(FORMATS)}")

        def answered(pause: Pause) -> Response:
            content = FORMATS[form](select(self.service, text, pause)).encode()
            charset = "; charset=utf-8" if form.startswith("text/") else ""
            return Response(content, headers=headers | {"Content-Type": f"{form}{charset}"})

        return await self.gate.run(answered, partial(_left, request))


async def _left(request: Request) -> None:
    """Wait until the client has gone; its body is read before."""
    while (await request.receive())["type"] != "http.disconnect":
        pass


def _query(asked: dict[str, Any]) -> object:
    if asked.get("query") is None:
        raise HttpError(400, "the field 'query' is missing: a text, or blocks")
    return asked["query"]
