"""What operators see of requests: counters, and a line for each in the access log."""

from __future__ import annotations

import asyncio
import json
import sys
import time
from collections.abc import Callable, Collection
from contextlib import suppress
from datetime import UTC, datetime
from enum import StrEnum
from urllib.parse import quote

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from kgreckon.server.clients import Proxies
from kgreckon.server.counters import Counters
from kgreckon.server.headers import answer_error
from kgreckon.server.page import FOLDERS


class AccessLog(StrEnum):
    """How requests are logged."""

    OFF = "off"
    PLAIN = "plain"
    JSON = "json"


class Monitor:
    """Counts and logs requests, and distinguishes clients."""

    def __init__(
        self,
        log: AccessLog = AccessLog.OFF,
        proxies: Proxies | None = None,
        write: Callable[[str], object] = lambda line: sys.stderr.write(line),
    ) -> None:
        self.log, self.proxies, self.write = log, proxies or Proxies(), write
        self.counters = Counters()
        self.connections: Callable[[], int] = lambda: 0

    def answered(self, client: str, method: str, path: str, route: str, status: int, size: int, seconds: float) -> None:
        """Count and log a request."""
        self.counters.count(route, status, seconds)
        self._write(client, method, path, status, size, seconds)

    def refused(self, client: str, status: int, reason: str, size: int) -> None:
        """Count and log what was refused before it was read: it has no method and no path."""
        self.counters.rejected[reason] += 1
        self._write(client, "-", "-", status, size, 0.0)

    def _write(self, client: str, method: str, path: str, status: int, size: int, seconds: float) -> None:
        """A line without the query of the address, which is the client's own business."""
        if self.log is AccessLog.OFF:
            return
        fields = {
            "time": datetime.now(UTC).isoformat(timespec="milliseconds"),
            "client": client or "-",
            "method": method[:20],
            "path": quote(path[:200], errors="replace"),
            "status": status,
            "bytes": size,
            "seconds": round(seconds, 4),
        }
        line = json.dumps(fields) if self.log is AccessLog.JSON else " ".join(map(str, fields.values()))
        with suppress(OSError, ValueError):  # a log that is closed or full stops no server
            self.write(f"{line}\n")


class Monitored:
    """An application whose requests a monitor sees, with the client that a trusted proxy names."""

    def __init__(self, application: ASGIApp, monitor: Monitor, paths: Collection[str]) -> None:
        self.application, self.monitor, self.paths = application, monitor, frozenset(paths)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] != "http":
            await self.application(scope, receive, send)
            return
        peer, port = scope.get("client") or ("", 0)
        client = self.monitor.proxies.client(peer, Headers(scope=scope).getlist("x-forwarded-for"))
        path, start = scope["path"], time.monotonic()
        status = size = 0

        async def counted(message: Message) -> None:
            nonlocal status, size
            status = message.get("status", status)
            size += len(message.get("body", b""))
            await send(message)

        try:
            await self.application({**scope, "client": (client, port)}, receive, counted)
        except asyncio.CancelledError:  # the server stops, and has waited long enough
            if not status:
                self.monitor.counters.rejected["stopping"] += 1
                await answer_error(counted, 503, "the server is stopping", {"Retry-After": "1"})
        finally:
            route = path if path in self.paths else "/page" if path.startswith(FOLDERS) else "other"
            seconds = time.monotonic() - start
            self.monitor.answered(client, scope["method"], path, route, status, size, seconds)
