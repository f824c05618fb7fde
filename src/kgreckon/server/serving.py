"""Running the server."""

from __future__ import annotations

import errno
import ipaddress
import os
import signal
import socket
import threading
import webbrowser
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import uvicorn

from kgreckon.answers import Answerer
from kgreckon.errors import UserError
from kgreckon.graph.opening import is_address
from kgreckon.runs import Run, is_run_folder
from kgreckon.runs.changing import changeable_graph
from kgreckon.server.application import application
from kgreckon.server.clients import Proxies
from kgreckon.server.connections import BoundedProtocol, Connections
from kgreckon.server.gate import Gate
from kgreckon.server.limits import Limits
from kgreckon.server.monitor import AccessLog, Monitor
from kgreckon.server.service import Service

_LOOPBACK = ("localhost", "127.0.0.1", "[::1]")


def open_service(place: str | Path, limits: Limits, benchmark: Path | None = None) -> Service:
    """The service of a run folder, whose benchmark may have moved, or of a graph, which has exact answers only."""
    if is_address(place):
        raise UserError(f"{place} is an endpoint: it serves itself, and is asked with kgreckon ask")
    answerer = Answerer.open(place, benchmark, "cpu")
    quality = Run.open(place).quality() if is_run_folder(place) else None
    return Service(answerer.limited(limits.heads), limits, quality=quality)


def serve(
    place: str | Path,
    host: str = "127.0.0.1",
    port: int = 8000,
    limits: Limits | None = None,
    hosts: Collection[str] = (),
    cross_origin: bool = False,
    open_page: bool = False,
    started: Callable[[str], None] = lambda address: None,
    benchmark: Path | None = None,
    token: str | None = None,
    access_log: AccessLog = AccessLog.OFF,
    proxies: Collection[str] = (),
    change_token: str | None = None,
) -> None:
    """Answer requests until SIGINT or SIGTERM; running requests then have `stop_seconds` to end.

    On a loopback address only requests for this machine, or for one of `hosts`, are answered. With a `token` only those
    are that bear it. `proxies` are the addresses, or networks, that are trusted to name the client of a request.
    With a `change_token` requests that bear it may change the graph; without, none may.
    `started` is called with the address once the socket is open.
    """
    limits = limits or Limits()
    monitor = Monitor(access_log, Proxies.of(proxies))
    listening = listen(host, port)
    with listening:
        service = open_service(place, limits, benchmark)
        if change_token is not None:
            changeable_graph(place)
        gate = Gate(limits, max(1, (os.cpu_count() or 1) // limits.at_once))
        allowed = {*_LOOPBACK, *hosts} if _is_loopback(host) else set(hosts) or None
        app = application(service, gate, allowed, cross_origin, token, monitor, change_token)
        server = uvicorn.Server(config(app, limits, monitor))
        address = address_of(listening)
        started(address)
        if open_page:
            webbrowser.open(address)
        # Uvicorn ends in order, then passes the signal on.
        with _in_background(service), terminated_like_interrupted(), suppress(KeyboardInterrupt):
            server.run(sockets=[listening])


@contextmanager
def terminated_like_interrupted() -> Iterator[None]:
    """SIGTERM is a KeyboardInterrupt too, where signals can be handled at all."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


@contextmanager
def _in_background(service: Service) -> Iterator[None]:
    """Do what many requests need while the first ones are answered; whoever needs it sooner computes it."""
    ending = threading.Event()

    def pause() -> None:
        if ending.is_set():
            raise KeyboardInterrupt

    def predict() -> None:
        with suppress(KeyboardInterrupt, UserError):  # of a damaged file, which the requests that need it say
            service.warm_up()
            service.predict_values(pause)

    thread = threading.Thread(target=predict, name="predicting")
    thread.start()
    try:
        yield
    finally:
        ending.set()
        thread.join()


def config(app: object, limits: Limits, monitor: Monitor | None = None) -> uvicorn.Config:
    """Uvicorn's settings: bounded, quiet, and silent about what it is."""
    register = Connections(limits, monitor or Monitor())
    return uvicorn.Config(
        app,  # type: ignore[arg-type]
        http=type("Protocol", (BoundedProtocol,), {"register": register}),
        ws="none",
        log_level="error",  # a mistake of ours; those of clients are theirs to know
        access_log=False,
        server_header=False,
        proxy_headers=False,
        timeout_keep_alive=5,
        timeout_graceful_shutdown=limits.stop_seconds,  # type: ignore[arg-type]  # a fraction does too
    )


def listen(host: str, port: int) -> socket.socket:
    """A socket that listens at an address."""
    try:
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        listening = socket.create_server((host, port), family=family, backlog=1024)
    except (OverflowError, UnicodeError):
        raise UserError(f"{host}, port {port}, is not an address: a port is a number from 0 to 65535") from None
    except OSError as error:
        taken = error.errno in (errno.EADDRINUSE, errno.EACCES)
        remedy = "choose another port" if taken else "give an address of this machine"
        reason = os.strerror(error.errno) if error.errno and error.errno > 0 else error.strerror
        raise UserError(f"cannot listen at {host}, port {port}: {reason}; {remedy}") from None
    # Head and body of an answer are two packets; the second must not wait for the first to be acknowledged.
    listening.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return listening


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def address_of(listening: socket.socket) -> str:
    """The address that a socket listens at, as a URL."""
    host, port = listening.getsockname()[:2]
    return f"http://{f'[{host}]' if ':' in host else host}:{port}/"
