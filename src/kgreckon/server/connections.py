"""Connections that keep nobody waiting: so many at a time, and a request's head must arrive in time."""

from __future__ import annotations

import asyncio
import json
from typing import Any

from uvicorn.protocols.http.h11_impl import H11Protocol

from kgreckon.server.headers import SECURITY


class PunctualProtocol(H11Protocol):
    """Uvicorn's protocol, which waits for ever for the rest of a head that has begun, with an end to that."""

    head_seconds = 10.0
    most = 512  # connections

    def __init__(self, *arguments: Any, **named: Any) -> None:
        super().__init__(*arguments, **named)
        self._overdue: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """A client is here: its first request must follow."""
        super().connection_made(transport)
        if len(self.connections) > self.most:
            self._refuse("503 Service Unavailable", "too many connections: try again soon", "Retry-After: 1\r\n")
        else:
            self._expect_head()

    def data_received(self, data: bytes) -> None:
        """Some bytes: the end of a head, or a part of one, for which the clock starts to run."""
        before = self.cycle
        super().data_received(data)
        if self.cycle is not before:
            self._stop()
        if self._between_requests and self._overdue is None:
            self._expect_head()

    def send_400_response(self, msg: str) -> None:
        """What came is no HTTP."""
        self._refuse("400 Bad Request", msg)

    def _refuse(self, status: str, message: str, headers: str = "") -> None:
        """An answer that is given before there is a request, and the end of the connection."""
        body = json.dumps({"error": message})
        secured = "".join(f"{name}: {value}\r\n" for name, value in SECURITY.items())
        head = f"HTTP/1.1 {status}\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n"
        self.transport.write(f"{head}Connection: close\r\n{headers}{secured}\r\n{body}".encode("ascii"))
        self.transport.close()

    def connection_lost(self, exc: Exception | None) -> None:
        """The client has gone."""
        self._stop()
        super().connection_lost(exc)

    @property
    def _between_requests(self) -> bool:
        return self.cycle is None or self.cycle.response_complete

    def _expect_head(self) -> None:
        self._overdue = self.loop.call_later(self.head_seconds, self._give_up)

    def _stop(self) -> None:
        if self._overdue is not None:
            self._overdue.cancel()
            self._overdue = None

    def _give_up(self) -> None:
        self._overdue = None
        if self._between_requests and not self.transport.is_closing():
            self.transport.close()
