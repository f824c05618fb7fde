"""What stands before the application: the host that a request names, and the headers that every answer carries."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

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
    "Access-Control-Allow-Headers": "Accept, Content-Type",
    "Access-Control-Expose-Headers": "Retry-After",
}


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
        body = json.dumps({"error": "this server does not answer for that host name"}).encode()
        headers = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode())]
        await send({"type": "http.response.start", "status": 421, "headers": headers})
        await send({"type": "http.response.body", "body": body})


def host_name(values: list[str]) -> str | None:
    """The host that the only Host header names, without its port."""
    if len(values) != 1:
        return None
    host, colon, port = values[0].strip().lower().rpartition(":")
    if colon and (port.isascii() and port.isdigit()):
        return host
    return values[0].strip().lower()
