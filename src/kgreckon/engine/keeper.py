"""The process that holds a graph's triples in Oxigraph: a program of its own, started by `kgreckon.engine.oxigraph`.

Oxigraph cannot be told to stop, and a query of a few words can run for ever or fill the memory. So each query is
answered by a fork of this process, which shares the loaded triples without copying them, may use so much memory and
time, can open neither a file nor a connection, and is ended when whoever asked hangs up.

It is started with the number of a socket. One byte with a descriptor comes for each task: "L" for triples to load, read
from the descriptor to its end, "U" for triples to take out and put in, of which the first line says how many the former
are, and "Q" for a query, which stands in the first line that the descriptor gives. The rest
is lines of JSON back. Only the standard library and pyoxigraph are imported, so that it starts at once.
"""

from __future__ import annotations

import json
import math
import os
import re
import resource
import select
import signal
import socket
import sys
import warnings
from collections.abc import Callable
from contextlib import suppress
from typing import IO, Any, cast

import pyoxigraph as ox

_BATCH = 100  # rows in one line, at most
_BATCH_BYTES = 1 << 16
_NUMBER = r"([-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?)"
_POINT = re.compile(rf"\s*(?:<[^>]*>\s*)?POINT\s*\(\s*{_NUMBER}\s+{_NUMBER}\s*\)\s*", re.IGNORECASE)


def main() -> None:
    """Serve until the other end of the socket is closed."""
    # The loader's threads wait for work that never comes again: a fork takes no lock of theirs.
    warnings.simplefilter("ignore", DeprecationWarning)
    control = socket.socket(fileno=int(sys.argv[1]))
    _Keeper(control).serve()


class _Keeper:
    """The triples, and the queries that are being answered."""

    def __init__(self, control: socket.socket) -> None:
        self.control, self.store = control, ox.Store()
        self.running: dict[int, socket.socket] = {}  # by the process that answers
        self.wake, wake = socket.socketpair()
        for each in (self.wake, wake):
            each.setblocking(False)
        self._kept = wake
        signal.signal(signal.SIGCHLD, lambda *_: None)
        signal.set_wakeup_fd(wake.fileno(), warn_on_full_buffer=False)

    def serve(self) -> None:
        while True:
            poll = select.poll()
            poll.register(self.control, select.POLLIN)
            poll.register(self.wake, select.POLLIN)
            hung_up = {connection.fileno(): process for process, connection in self.running.items()}
            for number in hung_up:
                poll.register(number, 0)  # that the other end is closed is always told
            for number, _ in poll.poll():
                if number in hung_up:
                    os.kill(hung_up[number], signal.SIGKILL)  # ours until it is reaped below
                elif number == self.wake.fileno():
                    self.wake.recv(1024)
                elif not self.receive():
                    self.end()
                    return
            self.reap()

    def receive(self) -> bool:
        """Begin a task; False where nobody is there any more."""
        try:
            task, descriptors, _, _ = socket.recv_fds(self.control, 1, 1)
        except OSError:
            return False
        if not descriptors:
            return bool(task)
        connection = socket.socket(fileno=descriptors[0])
        if task == b"L":
            self.load(connection)
        elif task == b"U":
            self.update(connection)
        else:
            self.fork(connection)
        return True

    def load(self, connection: socket.socket) -> None:
        said: dict[str, Any] = {}
        try:
            with cast(IO[bytes], connection.makefile("rb", buffering=1 << 20)) as triples:
                self.store.bulk_load(input=triples, format=ox.RdfFormat.N_QUADS, lenient=True)
        except (OSError, SyntaxError, ValueError) as error:
            said = {"error": str(error)}
        with connection:
            _send(connection, {"loaded": len(self.store)} | said)

    def update(self, connection: socket.socket) -> None:
        said: dict[str, Any] = {"updated": True}
        try:
            with cast(IO[bytes], connection.makefile("rb", buffering=1 << 20)) as lines:
                removed = int(lines.readline())
                for place, quad in enumerate(ox.parse(input=lines, format=ox.RdfFormat.N_QUADS, lenient=True)):
                    if place < removed:
                        self.store.remove(quad)
                    else:
                        self.store.add(quad)
        except (OSError, SyntaxError, ValueError) as error:
            said = {"error": str(error)}
        with connection:
            _send(connection, said)

    def fork(self, connection: socket.socket) -> None:
        process = os.fork()
        if process:
            self.running[process] = connection
            return
        try:
            self.control.close()
            self.wake.close()
            self._kept.close()
            for each in self.running.values():
                each.close()
            _answer(self.store, connection)
        finally:
            os._exit(0)

    def reap(self) -> None:
        """Forget those that have ended, and say it of those that did not end by themselves."""
        for process in list(self.running):
            ended, status = os.waitpid(process, os.WNOHANG)
            if ended:
                with self.running.pop(process) as connection:
                    connection.setblocking(False)
                    if os.WIFSIGNALED(status):
                        _send(connection, {"signal": os.WTERMSIG(status)}, before=b"\n")

    def end(self) -> None:
        for process, connection in self.running.items():
            os.kill(process, signal.SIGKILL)
            os.waitpid(process, 0)
            connection.close()


def _send(connection: socket.socket, line: dict[str, Any], before: bytes = b"") -> None:
    with suppress(OSError):  # who asked has gone
        connection.sendall(before + json.dumps(line).encode() + b"\n")


# ------------------------------------------------------------------------------------------- in a process for one query


def _answer(store: ox.Store, connection: socket.socket) -> None:
    """Answer the query of a connection within its bounds."""
    signal.set_wakeup_fd(-1)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    with connection.makefile("rb") as lines:
        asked = json.loads(lines.readline())
    _confine(connection, asked["bytes"])
    try:
        functions = _Distances(store, asked["places"]).functions()
        found: Any = store.query(asked["query"], prefixes=asked["prefixes"], custom_functions=functions)
        _write(found, connection, asked["rows"], asked["characters"])
    except SyntaxError as error:
        _send(connection, {"syntax": str(error)})
    except (OSError, RuntimeError, ValueError) as error:
        _send(connection, {"error": str(error)})
    except BaseException as error:  # a panic of Oxigraph is none of Exception
        _send(connection, {"error": f"Oxigraph failed: {error}"})


class _Distances:
    """GeoSPARQL's distance between two things with a latitude and a longitude, or two points (graph/places.py)."""

    def __init__(self, store: ox.Store, places: dict[str, Any]) -> None:
        self.store, self.places = store, places
        self.known: dict[Any, tuple[float, float] | None] = {}

    def functions(self) -> dict[ox.NamedNode, Callable[..., Any]]:
        """The functions by name: in the unit that is asked for, and in metres."""
        named = (("distance", self.distance), ("metricDistance", self.metres))
        return {ox.NamedNode(self.places["functions"] + name): function for name, function in named}

    def distance(self, one: Any, other: Any, unit: Any = None) -> Any:
        """The distance in metres, or in another unit."""
        size = 1.0 if unit is None else self.places["units"].get(getattr(unit, "value", ""))
        metres = self._metres(one, other)
        return None if size is None or metres is None else ox.Literal(metres / size)

    def metres(self, one: Any, other: Any) -> Any:
        """The distance in metres."""
        return self.distance(one, other)

    def _metres(self, one: Any, other: Any) -> float | None:
        start, end = self._place(one), self._place(other)
        if start is None or end is None:
            return None
        (a, b), (c, d) = start, end
        share = math.sin((c - a) / 2) ** 2 + math.cos(a) * math.cos(c) * math.sin((d - b) / 2) ** 2
        return 2 * float(self.places["radius"]) * math.asin(math.sqrt(min(1.0, share)))

    def _place(self, term: Any) -> tuple[float, float] | None:
        """Latitude and longitude in radians."""
        if term not in self.known:
            self.known[term] = self._find(term)
        return self.known[term]

    def _find(self, term: Any) -> tuple[float, float] | None:
        if isinstance(term, ox.Literal):
            written = _POINT.fullmatch(term.value)
            if written is None:
                return None
            longitude, latitude, size = float(written[1]), float(written[2]), math.pi / 180
        elif self.places["attributes"] is None or not isinstance(term, ox.NamedNode):
            return None
        else:
            ends = [self._number(term, attribute) for attribute in self.places["attributes"]]
            if None in ends:
                return None
            (latitude, longitude), size = cast(list[float], ends), float(self.places["angle"])
        latitude, longitude = latitude * size, longitude * size
        limits = math.pi / 2 * (1 + 1e-12), math.pi * (1 + 1e-12)
        return (latitude, longitude) if abs(latitude) <= limits[0] and abs(longitude) <= limits[1] else None

    def _number(self, thing: Any, attribute: str) -> float | None:
        """The smallest number that an attribute has."""
        quads = self.store.quads_for_pattern(thing, ox.NamedNode(attribute), None)
        numbers = [float(quad.object.value) for quad in quads if isinstance(quad.object, ox.Literal)]
        return min(numbers, default=None)


def _confine(connection: socket.socket, more_bytes: int) -> None:
    """Let this process have so much more memory, and neither files nor connections beside the one it answers on."""
    own_bytes = _memory()
    nothing = os.open(os.devnull, os.O_RDWR)
    for number in (0, 1, 2):
        os.dup2(nothing, number)
    last = max(connection.fileno(), 2)
    os.closerange(3, last)
    os.closerange(last + 1, 1024)
    resource.setrlimit(resource.RLIMIT_NOFILE, (0, 0))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    if own_bytes is not None:
        resource.setrlimit(resource.RLIMIT_AS, (own_bytes + more_bytes,) * 2)


def _memory() -> int | None:
    """The bytes of address space that this process has; None on a system that does not tell."""
    try:
        with open("/proc/self/statm") as told:  # noqa: PTH123  # pathlib takes a fifth of the time to start
            return int(told.read().split()[0]) * resource.getpagesize()
    except OSError:
        return None


def _write(found: Any, connection: socket.socket, most_rows: int | None, most_characters: int) -> None:
    """The kind of a result, its rows in batches, and whether there are more than were asked for."""
    if isinstance(found, ox.QueryBoolean):
        _send(connection, {"truth": bool(found)})
        _send(connection, {"more": False})
        return
    table = isinstance(found, ox.QuerySolutions)
    _send(connection, {"variables": [each.value for each in found.variables] if table else None})
    batch: list[str] = []
    rows = characters = waiting = 0
    more = False
    for row in found:
        if rows == most_rows or characters > most_characters:
            more = True
            break
        written = json.dumps([_term(each) for each in row], ensure_ascii=False)
        batch.append(written)
        rows, characters, waiting = rows + 1, characters + len(written), waiting + len(written)
        if len(batch) == _BATCH or waiting > _BATCH_BYTES:
            connection.sendall(f'{{"rows": [{",".join(batch)}]}}\n'.encode())
            batch, waiting = [], 0
    if batch:
        connection.sendall(f'{{"rows": [{",".join(batch)}]}}\n'.encode())
    _send(connection, {"more": more})


def _term(term: Any) -> list[str | None] | None:
    """A term as a list: what it is, its text, and of a literal its datatype and language."""
    if term is None:
        return None
    if isinstance(term, ox.Literal):
        return ["literal", term.value, term.datatype.value, term.language]
    if isinstance(term, ox.NamedNode):
        return ["iri", term.value]
    if isinstance(term, ox.BlankNode):
        return ["blank", term.value]
    raise ValueError("a result may hold no triple as a term")


if __name__ == "__main__":
    main()
