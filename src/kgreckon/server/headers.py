"""What stands before the application: the host that a request names, and the headers that every answer carries."""

from __future__ import annotations

import json
from collections.abc import Collection

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


_CROSS_ORIGIN = {
    "Access-Control-Allow-Origin": "*",
    "Access-Control-Allow-Methods": "GET, POST",
    "Access-Control-Allow-Headers": "Accept, Content-Type",
    "Access-Control-Expose-Headers": "Retry-After",
}


class SecurityHeaders:
    """Adds the security headers to every answer, and forbids to keep those that do not say otherwise."""

    def __init__(self, application: ASGIApp) -> None:
        self.application = application

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""

        async def secured(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                headers.update(SECURITY)
                headers.setdefault("Cache-Control", "no-store")
            await send(message)

        await self.application(scope, receive, secured if scope["type"] == "http" else send)


class CrossOrigin:
    """Lets pages of any site read the answers at one path, refusals included."""

    def __init__(self, application: ASGIApp, path: str) -> None:
        self.application, self.path = application, path

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""

        async def opened(message: Message) -> None:
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message).update(_CROSS_ORIGIN)
            await send(message)

        here = scope["type"] == "http" and scope["path"] == self.path
        await self.application(scope, receive, opened if here else send)


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
