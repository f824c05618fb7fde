"""The application: routes, and what becomes of a mistake."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Collection, Mapping
from contextlib import asynccontextmanager
from functools import partial
from typing import Any

from pydantic_core import to_json
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import ASGIApp

from kgreckon.errors import UserError
from kgreckon.query import Pause
from kgreckon.server.gate import BusyError, ClientGoneError, Gate, TimeLimitError
from kgreckon.server.headers import CROSS_ORIGIN, SECURITY, AddedHeaders, HostCheck
from kgreckon.server.negotiation import preferred
from kgreckon.server.page import INDEX, page_files
from kgreckon.server.protocol import read_query, select
from kgreckon.server.requests import HttpError, read_request
from kgreckon.server.routes import ApiRoute, api_routes, description
from kgreckon.server.schemas import Error
from kgreckon.server.service import Service
from kgreckon.server.sparql_results import FORMATS

_RETRY = {"Retry-After": "1"}


def application(
    service: Service, gate: Gate, hosts: Collection[str] | None = None, cross_origin: bool = False
) -> ASGIApp:
    """The whole server; requests for other `hosts` are refused, `cross_origin` opens /sparql to pages of any site."""
    too_long = f"the question takes longer than {service.limits.seconds:g} s to answer: ask a simpler one"

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        yield
        gate.close()

    inner = Starlette(
        routes=_Endpoints(service, gate, cross_origin).routes(),
        exception_handlers={
            UserError: lambda request, error: _failure(400, str(error)),
            HttpError: lambda request, error: _failure(error.status, error.message, error.headers),
            HTTPException: lambda request, error: _http_failure(request, error),
            BusyError: lambda request, error: _failure(503, "too many requests at once: try again soon", _RETRY),
            ClientGoneError: lambda request, error: _failure(400, "the client has gone"),  # nobody reads it
            TimeLimitError: lambda request, error: _failure(503, too_long, _RETRY),
            Exception: lambda request, error: _failure(500, "internal error"),
        },
        lifespan=lifespan,
    )
    inner.router.redirect_slashes = False
    opened = AddedHeaders(inner, CROSS_ORIGIN, "/sparql") if cross_origin else inner
    checked = opened if hosts is None else HostCheck(opened, hosts)
    return AddedHeaders(checked, SECURITY | {"Cache-Control": "no-store"})


def _json(data: Any, status: int = 200, headers: Mapping[str, str] | None = None) -> Response:
    return Response(to_json(data), status, headers, "application/json")


def _failure(status: int, message: str, headers: Mapping[str, str] | None = None) -> Response:
    return _json(Error(error=" ".join(message.split())), status, headers)


def _http_failure(request: Request, error: HTTPException) -> Response:
    known = {
        404: f"there is nothing at {request.url.path[:100]}",
        405: f"{request.method[:20]} is not allowed at {request.url.path[:100]}",
    }
    return _failure(error.status_code, known.get(error.status_code, error.detail), error.headers)


class _Endpoints:
    """The routes of the interface, of the page and of SPARQL."""

    def __init__(self, service: Service, gate: Gate, cross_origin: bool) -> None:
        self.service, self.gate, self.cross_origin = service, gate, cross_origin
        self.files = page_files()
        self.api = api_routes(service)
        self.description = description(self.api, service.limits)

    def routes(self) -> list[Route]:
        sparql = ["GET", "POST", "OPTIONS"] if self.cross_origin else ["GET", "POST"]
        return [
            Route("/", self.page),
            Route("/page/{name}", self.page),
            Route("/api", lambda request: _json(self.description)),
            *(Route(each.path, partial(self.answer, each), methods=[each.method]) for each in self.api),
            Route("/sparql", self.sparql, methods=sparql),
        ]

    async def answer(self, route: ApiRoute[Any, Any], request: Request) -> Response:
        """The response of a route of the interface, written as JSON by the worker too."""
        asked = await read_request(request, route.request, self.service.limits)
        if not route.waits:
            return _json(route.work(asked, lambda: None))
        return await self.wait(request, lambda pause: _json(route.work(asked, pause)))

    async def wait(self, request: Request, work: Callable[[Pause], Response]) -> Response:
        """The result of some work behind the gate, unless the client goes before."""

        async def left() -> None:
            while (await request.receive())["type"] != "http.disconnect":  # its body is read already
                pass

        return await self.gate.run(work, left)

    async def page(self, request: Request) -> Response:
        """A file of the page: the page itself where none is named."""
        file = self.files.get(request.path_params.get("name", INDEX))
        if file is None:
            raise HTTPException(404)
        headers = {"ETag": file.tag, "Cache-Control": "no-cache"}
        if file.tag in request.headers.get("if-none-match", ""):
            return Response(status_code=304, headers=headers)
        return Response(file.content, headers=headers | {"Content-Type": file.media_type})

    async def sparql(self, request: Request) -> Response:
        """The SPARQL protocol."""
        headers = {"Vary": "Accept"}
        if request.method == "OPTIONS":
            return Response(status_code=204, headers=headers)
        text = await read_query(request, self.service.limits)
        form = preferred(", ".join(request.headers.getlist("accept")) or None, tuple(FORMATS))
        if form is None:
            raise HttpError(406, f"the answers come as {', '.join(FORMATS)}")

        def answered(pause: Pause) -> Response:
            content = FORMATS[form](select(self.service, text, pause)).encode()
            charset = "; charset=utf-8" if form.startswith("text/") else ""
            return Response(content, headers=headers | {"Content-Type": f"{form}{charset}"})

        return await self.wait(request, answered)
