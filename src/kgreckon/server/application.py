"""The application: routes, and what becomes of a mistake."""

from __future__ import annotations

from collections import deque
from collections.abc import AsyncIterator, Callable, Collection, Mapping
from contextlib import asynccontextmanager
from functools import partial
from typing import Any

from pydantic_core import to_json
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route
from starlette.types import ASGIApp

from kgreckon.answers.answer_files import FILES
from kgreckon.engine.oxigraph import LoadingError
from kgreckon.errors import UserError
from kgreckon.query import Pause
from kgreckon.query.sparql import gives_triples, is_ask
from kgreckon.server.clients import share_of
from kgreckon.server.counters import MEDIA_TYPE
from kgreckon.server.gate import BusyError, ClientGoneError, Gate, TimeLimitError
from kgreckon.server.headers import CROSS_ORIGIN, SECURITY, AddedHeaders, HostCheck, TokenCheck, bears
from kgreckon.server.misread import MisreadError
from kgreckon.server.monitor import Monitor, Monitored
from kgreckon.server.negotiation import preferred, takes_gzip
from kgreckon.server.page import INDEX, ROUTES, page_files
from kgreckon.server.protocol import answer, read_query
from kgreckon.server.requests import HttpError, read_request
from kgreckon.server.routes import ApiRoute, Speed, api_routes, description
from kgreckon.server.schemas import Error, TableRequest
from kgreckon.server.service import Service
from kgreckon.server.service_description import FORMS, service_description
from kgreckon.server.sparql_results import FORMATS, TRIPLES, TRUTHS

_RETRY = {"Retry-After": "1"}
_RETRY_LATER = {"Retry-After": "5"}
_CLIENT_GONE = 499  # for the log alone, as nginx writes it: nobody reads the answer


def application(
    service: Service,
    gate: Gate,
    hosts: Collection[str] | None = None,
    cross_origin: bool = False,
    token: str | None = None,
    monitor: Monitor | None = None,
    change_token: str | None = None,
) -> ASGIApp:
    """The whole server.

    Requests for other `hosts` are refused, and those without the `token` if there is one; `cross_origin` opens /sparql
    to pages of any site. Only requests with the `change_token` change the graph, and none where there is no such token.
    """
    monitor = monitor or Monitor()
    rejected = monitor.counters.rejected

    def busy(request: Request, error: Exception) -> Response:
        assert isinstance(error, BusyError)
        rejected["client_waiting" if error.of_client else "waiting"] += 1
        return _failure(503, str(error), _RETRY)

    def too_long(request: Request, error: Exception) -> Response:
        rejected["seconds"] += 1
        seconds = f"{service.limits.seconds:g} s"
        return _failure(503, f"the question takes longer than {seconds} to answer: ask a simpler one", _RETRY)

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        yield
        gate.close()

    routes = _Endpoints(service, gate, monitor, cross_origin, token is not None, change_token).routes()
    inner = Starlette(
        routes=routes,
        exception_handlers={
            LoadingError: lambda request, error: _failure(503, str(error), _RETRY_LATER),
            MisreadError: lambda request, error: _json(error.told, 400),
            UserError: lambda request, error: _failure(400, str(error)),
            HttpError: lambda request, error: _failure(error.status, error.message, error.headers),
            HTTPException: lambda request, error: _http_failure(request, error),
            BusyError: busy,
            ClientGoneError: lambda request, error: _failure(_CLIENT_GONE, "the client has gone"),
            TimeLimitError: too_long,
            Exception: lambda request, error: _failure(500, "internal error"),
        },
        lifespan=lifespan,
    )
    inner.router.redirect_slashes = False
    app: ASGIApp = inner
    if token is not None:
        app = TokenCheck(app, token, change_token)
    if cross_origin:
        app = AddedHeaders(app, CROSS_ORIGIN, "/sparql")
    if hosts is not None:
        app = HostCheck(app, hosts)
    monitored = Monitored(app, monitor, [route.path for route in routes])
    return AddedHeaders(monitored, SECURITY | {"Cache-Control": "no-store"})


def _json(data: Any, status: int = 200, headers: Mapping[str, str] | None = None) -> Response:
    return Response(to_json(data, exclude_none=isinstance(data, Error)), status, headers, "application/json")


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

    def __init__(
        self,
        service: Service,
        gate: Gate,
        monitor: Monitor,
        cross_origin: bool,
        with_token: bool,
        change_token: str | None,
    ) -> None:
        self.service, self.gate, self.monitor, self.cross_origin = service, gate, monitor, cross_origin
        self.change_token = change_token
        self.files = page_files()
        self.api = api_routes(service, change_token is not None)
        self._works = service, {route.path: route.work for route in self.api}
        self.description = description(self.api, service.limits, with_token)

    def routes(self) -> list[Route]:
        sparql = ["GET", "POST", "OPTIONS"] if self.cross_origin else ["GET", "POST"]
        return [
            *(Route(path, self.page) for path in ROUTES),
            Route("/page/{name:path}", self.page),
            Route("/api", lambda request: _json(self.description)),
            Route("/metrics", self.metrics),
            *(
                Route(api_route.path, partial(self.answer, api_route), methods=[api_route.method])
                for api_route in self.api
            ),
            Route("/api/table", self.table),
            Route("/sparql", self.sparql, methods=sparql),
        ]

    async def answer(self, route: ApiRoute[Any, Any], request: Request) -> Response:
        """The response of a route of the interface, written as JSON by the worker too."""
        if route.changes:
            check_change(request, self.change_token)
        asked = await read_request(request, route.request, self.service.limits)
        if route.speed is Speed.AT_HAND:
            return _json(route.work(asked, lambda: None))
        return await self.wait(request, lambda pause: _json(self.work(route)(asked, pause)), route.speed is Speed.QUICK)

    def work(self, route: ApiRoute[Any, Any]) -> Callable[[Any, Pause], Any]:
        """What a route does over the graph as it is now, from the beginning of a request to its end."""
        now, (service, works) = self.service.now(), self._works
        if service is not now:
            works = {each.path: each.work for each in api_routes(now, self.change_token is not None)}
            self._works = now, works
        return works[route.path]

    async def wait(self, request: Request, work: Callable[[Pause], Response], quick: bool = False) -> Response:
        """The result of some work behind the gate, unless the client goes before."""

        async def left() -> None:
            while (await request.receive())["type"] != "http.disconnect":  # its body is read already
                pass

        address = request.client.host if request.client else ""
        return await self.gate.run(work, left, share_of(address), quick)

    async def metrics(self, request: Request) -> Response:
        """Counts, durations, and what the server is doing now."""
        gauges: dict[str, tuple[str, float]] = {
            "requests_running": ("Requests that are computed.", self.gate.running),
            "requests_waiting": ("Requests that wait for their turn.", self.gate.waiting),
            "connections": ("Open connections.", self.monitor.connections()),
            "ready": ("Whether all is computed that can be before it is asked for.", self.service.ready),
        }
        return Response(self.monitor.counters.text(gauges), media_type=MEDIA_TYPE)

    async def page(self, request: Request) -> Response:
        """A file of the page: the page itself where none is named."""
        file = self.files.get(request.path_params.get("name", INDEX))
        if file is None:
            raise HTTPException(404)
        headers = {"ETag": f"W/{file.tag}", "Cache-Control": "no-cache", "Vary": "Accept-Encoding"}
        if file.tag in request.headers.get("if-none-match", ""):
            return Response(status_code=304, headers=headers)
        headers["Content-Type"] = file.media_type
        if not takes_gzip(request.headers.get("accept-encoding")):
            return Response(file.content, headers=headers)
        return Response(file.zipped, headers=headers | {"Content-Encoding": "gzip"})

    async def table(self, request: Request) -> Response:
        """The answers to a question as a file: all of it, or a refusal.

        A client that reads slowly keeps what it has not read yet of the file, but not the answers.
        """
        asked = await read_request(request, TableRequest, self.service.limits)
        headers = {
            "Content-Type": FILES[asked.format][0],
            "Content-Disposition": f'attachment; filename="answers.{asked.format}"',
        }

        def written(pause: Pause) -> Response:
            pieces = deque(self.service.now().table(asked, pause))
            return StreamingResponse(
                _given_up(pieces), headers=headers | {"Content-Length": str(sum(map(len, pieces)))}
            )

        return await self.wait(request, written)

    async def sparql(self, request: Request) -> Response:
        """The SPARQL protocol, or the description of the service where nothing is asked."""
        if request.method == "OPTIONS":
            return Response(status_code=204, headers={"Vary": "Accept"})
        if request.method == "GET" and not request.url.query:
            form = _form(request, FORMS)

            def described(pause: Pause) -> Response:
                return _written(service_description(self.service.now().graph, form), form)

            return await self.wait(request, described, quick=True)
        asked = await read_query(request, self.service.limits)
        if asked.is_update:
            check_change(request, self.change_token)
            return await self.wait(request, lambda pause: _json(self.service.now().update(asked.text, pause)))
        forms = TRIPLES if gives_triples(asked.text) else TRUTHS if is_ask(asked.text) else FORMATS
        form = _form(request, forms)

        def answered(pause: Pause) -> Response:
            reply = answer(self.service.now(), asked, pause)
            return _written(forms[form](reply.result), form, reply.headers)

        return await self.wait(request, answered)


async def _given_up(pieces: deque[bytes]) -> AsyncIterator[bytes]:
    """Each piece, which is then kept no longer."""
    while pieces:
        yield pieces.popleft()


def check_change(request: Request, token: str | None) -> None:
    """Refuse a request that may not change the graph."""
    if token is None:
        raise HttpError(403, "changes are off: start the server with a token for them, --change-token-file")
    if not bears(request.headers, token):
        given = "authorization" in request.headers
        challenge = 'Bearer realm="kgreckon changes"' + (', error="invalid_token"' if given else "")
        raise HttpError(401, "changes ask for the token that is for them", {"WWW-Authenticate": challenge})


def _form(request: Request, offers: Mapping[str, Any]) -> str:
    """The media type that a client likes best."""
    form = preferred(", ".join(request.headers.getlist("accept")) or None, tuple(offers))
    if form is None:
        raise HttpError(406, f"the answers come as {', '.join(offers)}")
    return form


def _written(content: str, form: str, headers: Mapping[str, str] | None = None) -> Response:
    charset = "; charset=utf-8" if form.startswith("text/") else ""
    said = {"Vary": "Accept", "Content-Type": f"{form}{charset}"}
    return Response(content.encode(), headers=said | dict(headers or {}))
