"""What stands before the application: checks of the host and the token, and headers that every answer carries."""

from __future__ import annotations

import hmac
import json
from collections.abc import Collection, Mapping

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from kgreckon.server.page import FOLDERS

SECURITY = {
    "Content-Security-Policy": (
        "default-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'; object-src 'none'"
    ),
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
}

# What lets pages of any site read an answer.
CROSS_ORIGIN = {
    "Access-Control-Allow-Origin": "*",
    "Access-Control-Allow-Methods": "GET, POST",
    "Access-Control-Allow-Headers": "Accept, Authorization, Content-Type",
    "Access-Control-Expose-Headers": "Kgreckon-Complete, Kgreckon-Inferred, Retry-After",
}

WITHOUT_TOKEN = ("/", "/ask", "/quality", "/health")  # and the files of the page: they say nothing of the graph


class AddedHeaders:
    """Adds headers, unless they are set, to every answer, refusals included, or to those at one path."""

    def __init__(self, application: ASGIApp, headers: Mapping[str, str], path: str | None = None) -> None:
        self.application, self.headers, self.path = application, headers, path

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""

        async def completed(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in self.headers.items():
                    headers.setdefault(name, value)
            await send(message)

        here = scope["type"] == "http" and self.path in (None, scope["path"])
        await self.application(scope, receive, completed if here else send)


class HostCheck:
    """Refuses requests that name another host.

    A page of another site can have its own name point to this machine ("DNS rebinding") and would then count as being
    of the same origin; what it cannot do is to send our name as the host.
    """

    def __init__(self, application: ASGIApp, hosts: Collection[str]) -> None:
        self.application, self.hosts = application, frozenset(host.lower() for host in hosts)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] != "http" or host_name(Headers(scope=scope).getlist("host")) in self.hosts:
            await self.application(scope, receive, send)
            return
        await answer_error(send, 421, "this server does not answer for that host name")


class TokenCheck:
    """Refuses requests without the token (RFC 6750), but for the page's own files and /health.

    What a browser asks before it asks for another site (OPTIONS) bears no token, and is answered with headers alone.
    """

    def __init__(self, application: ASGIApp, token: str, other: str | None = None) -> None:
        """Of two tokens, either will do."""
        self.application, self.tokens = application, [each for each in (token, other) if each is not None]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] != "http" or self._is_open(scope) or self._holds(scope):
            await self.application(scope, receive, send)
            return
        given = "authorization" in Headers(scope=scope)
        challenge = 'Bearer realm="kgreckon"' + (', error="invalid_token"' if given else "")
        message = "the token is not the right one" if given else "this server asks for a token: Authorization: Bearer …"
        await answer_error(send, 401, message, {"WWW-Authenticate": challenge})

    @staticmethod
    def _is_open(scope: Scope) -> bool:
        path = scope["path"]
        return path in WITHOUT_TOKEN or path.startswith(FOLDERS) or scope["method"] == "OPTIONS"

    def _holds(self, scope: Scope) -> bool:
        return any(bears(Headers(scope=scope), token) for token in self.tokens)


def bears(headers: Headers, token: str) -> bool:
    """Whether a request bears a token."""
    values = headers.getlist("authorization")
    scheme, _, given = values[0].partition(" ") if len(values) == 1 else ("", "", "")
    right = hmac.compare_digest(given.strip().encode("latin-1"), token.encode())
    return right and scheme.lower() == "bearer"


async def answer_error(send: Send, status: int, message: str, headers: Mapping[str, str] | None = None) -> None:
    """Answer with an error in JSON."""
    body = json.dumps({"error": message}).encode()
    told = {"Content-Type": "application/json", "Content-Length": str(len(body)), **(headers or {})}
    raw = [(name.lower().encode(), value.encode()) for name, value in told.items()]
    await send({"type": "http.response.start", "status": status, "headers": raw})
    await send({"type": "http.response.body", "body": body})


def host_name(values: list[str]) -> str | None:
    """The host that the only Host header names, without its port."""
    if len(values) != 1:
        return None
    host, colon, port = values[0].strip().lower().rpartition(":")
    if colon and (port.isascii() and port.isdigit()):
        return host
    return values[0].strip().lower()
