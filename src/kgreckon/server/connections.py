"""Connections that keep nobody waiting: so many of each client, heads in time and within bounds, and no resets."""

from __future__ import annotations

import asyncio
import json
import sys
from collections import Counter
from http import HTTPStatus
from typing import Any

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

from kgreckon.server.clients import share_of
from kgreckon.server.headers import SECURITY
from kgreckon.server.limits import Limits
from kgreckon.server.monitor import Monitor

_LINGER_SECONDS = 2.0  # for a client to read why it is refused
_LINGERING = 256  # connections


class Connections:
    """Who is connected: so many in all, and so many of each client but a trusted proxy, which speaks for many."""

    def __init__(self, limits: Limits, monitor: Monitor) -> None:
        self.limits, self.monitor = limits, monitor
        self.of_clients: Counter[str] = Counter()
        self.refused: dict[BoundedProtocol, None] = {}  # the first one first
        monitor.connections = self.of_clients.total

    def enter(self, address: str) -> str | None:
        """Count a connection, or say why there may not be another one."""
        client = share_of(address)
        if self.of_clients.total() >= self.limits.connections:
            return "connections"
        if self.of_clients[client] >= self.limits.client_connections and not self.monitor.proxies.trust(address):
            return "client_connections"
        self.of_clients[client] += 1
        return None

    def leave(self, address: str) -> None:
        """Count one connection less."""
        self.of_clients -= Counter([share_of(address)])

    def linger(self, protocol: BoundedProtocol) -> None:
        """Remember a connection that is refused; of too many the first ones have had time enough."""
        self.refused[protocol] = None
        while len(self.refused) > _LINGERING:
            first = next(iter(self.refused))
            del self.refused[first]
            first.transport.abort()


class _Unacceptable(h11.RemoteProtocolError):
    """A request that is HTTP, but refused before it is looked at."""


class _Reader(h11.Connection):
    """HTTP as h11 reads it, without what h11 lets pass: heads that come whole but too large, and two ends of a body."""

    def __init__(self, head_bytes: int) -> None:
        super().__init__(h11.SERVER, head_bytes)  # which it asks of heads that are not complete
        self.head_bytes = head_bytes

    def next_event(self) -> Any:
        """The next event, or an error that says which status it deserves."""
        before = len(self.trailing_data[0]) if self.their_state is h11.IDLE else 0
        event = super().next_event()
        if isinstance(event, h11.Request):
            if before - len(self.trailing_data[0]) > self.head_bytes:
                raise h11.RemoteProtocolError("the head is too large", error_status_hint=431)
            names = {name for name, _ in event.headers}
            if b"transfer-encoding" in names and (b"content-length" in names or event.http_version < b"1.1"):
                # RFC 9112, 6.1 and 6.3: whoever is between us and the client may have seen another end of the body.
                other = "Content-Length" if b"content-length" in names else "HTTP/1.0"
                raise _Unacceptable(f"Transfer-Encoding and {other} exclude each other")
        return event


class BoundedProtocol(H11Protocol):
    """Uvicorn's protocol within bounds: by itself it waits for ever for the rest of a head, and takes any client."""

    register: Connections

    def __init__(self, *arguments: Any, **named: Any) -> None:
        super().__init__(*arguments, **named)
        self.conn = _Reader(self.register.limits.head_bytes)
        self._overdue: asyncio.TimerHandle | None = None
        self._counted = self._refused = False

    @property
    def _address(self) -> str:
        return self.client[0] if self.client else ""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """A client is here: its first request must follow."""
        super().connection_made(transport)
        reason = self.register.enter(self._address)
        self._counted = reason is None
        if reason is None:
            self._expect_head()
        else:
            whose = "" if reason == "connections" else " of one client"
            self._refuse(503, reason, f"too many connections{whose}: try again soon", "Retry-After: 1\r\n")

    def data_received(self, data: bytes) -> None:
        """Some bytes: the end of a head, or a part of one, for which the clock starts to run."""
        if not self._refused:
            before = self.cycle
            super().data_received(data)
            self._keep_time(before)

    def _keep_time(self, before: object) -> None:
        """Stop the clock for a head that is complete, start it for one that is not."""
        if not self._refused:
            if self.cycle is not before:
                self._stop()
            if self._between_requests and self._overdue is None:
                self._expect_head()

    def send_400_response(self, msg: str) -> None:
        """Answer bytes that are not valid HTTP, or not allowed."""
        error = sys.exception()
        status = error.error_status_hint if isinstance(error, h11.RemoteProtocolError) else 400
        if status == 431:
            most = self.register.limits.head_bytes
            self._refuse(431, "head", f"the head of a request may have at most {most:,} bytes")
        else:
            self._refuse(status, "malformed", str(error) if isinstance(error, _Unacceptable) else msg)

    def _refuse(self, status: int, reason: str, message: str, headers: str = "") -> None:
        """An answer that is given in place of the application's, and the end of the connection.

        Only our side of it ends at once: if we left unread what a client still sends, it would see a reset.
        """
        self._refused = True
        self._stop()
        begun = False
        if not self._between_requests:  # the application has nobody to answer any more
            begun, self.cycle.disconnected = self.cycle.response_started, True
            self.cycle.waiting_for_100_continue = False
            self.cycle.message_event.set()
        body = "" if begun else json.dumps({"error": message})
        if not begun:
            head = [f"HTTP/1.1 {status} {HTTPStatus(status).phrase}", "Content-Type: application/json"]
            head += [f"Content-Length: {len(body)}", "Connection: close"]
            head += [f"{name}: {value}" for name, value in SECURITY.items()]
            self.transport.write("\r\n".join([*head, f"{headers}\r\n{body}"]).encode("ascii"))
        self.register.monitor.refused(self._address, status, reason, len(body))
        self.flow.resume_reading()
        self.transport.write_eof()
        self._overdue = self.loop.call_later(_LINGER_SECONDS, self.transport.abort)
        self.register.linger(self)

    def connection_lost(self, exc: Exception | None) -> None:
        """The client has gone."""
        self._stop()
        if self._counted:
            self.register.leave(self._address)
        self.register.refused.pop(self, None)
        super().connection_lost(exc)

    def shutdown(self) -> None:
        """The server ends: whoever has been refused has been answered."""
        if self._refused:
            self.transport.abort()
        else:
            super().shutdown()

    @property
    def _between_requests(self) -> bool:
        return self.cycle is None or self.cycle.response_complete

    def _expect_head(self) -> None:
        self._overdue = self.loop.call_later(self.register.limits.head_seconds, self._give_up)

    def _stop(self) -> None:
        if self._overdue is not None:
            self._overdue.cancel()
            self._overdue = None

    def _give_up(self) -> None:
        self._overdue = None
        if self._between_requests and not self.transport.is_closing():
            self.transport.close()
