"""Oxigraph beside this process: a graph's triples, loaded when they are first needed, and queries within bounds."""

from __future__ import annotations

import json
import math
import os
import re
import signal
import socket
import subprocess
import sys
import threading
import time
import weakref
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from kgreckon.engine import keeper
from kgreckon.engine.rdf_terms import SparqlResult, Term
from kgreckon.errors import UserError
from kgreckon.graph import KnowledgeGraph
from kgreckon.graph.changes.change import Change
from kgreckon.graph.ntriples import changed_lines, n_triples
from kgreckon.graph.places import EARTH_RADIUS, Places
from kgreckon.query import Pause
from kgreckon.query.sparql.names import PREFIXES, iri

_TRIPLE_BYTES = 450  # of memory, measured with Oxigraph 0.5 on graphs of a million facts
# How many metres a unit of distance has; angles are those at the centre of the earth.
_UNITS = {
    "metre": 1.0, "kilometre": 1000.0, "mile": 1609.344, "degree": EARTH_RADIUS * math.pi / 180, "radian": EARTH_RADIUS,
}  # fmt: skip
_PATIENCE = 0.05  # seconds between two looks at whether to go on
_GONE = "the process that answers SPARQL has ended: ask again"
# What Oxigraph tells among what could stand at the place of an error, in plain words.
_TOLD = {
    "Prefix not found": "unknown prefix: declare it with PREFIX",
    "SELECT * is not authorized with GROUP BY": "SELECT * cannot stand with GROUP BY",
    "The SELECT overrides an existing variable": "AS gives a value to a variable that has one",
}
_FILES = "a query can open neither a file nor a connection: SERVICE is not supported"
_PLACE = re.compile(r"error at (\d+):(\d+): (.*)", re.DOTALL)


@dataclass(frozen=True)
class QueryLimits:
    """What one query may take and give; time is limited by whoever waits."""

    rows: int | None = None
    characters: int = 64_000_000  # of the result
    bytes: int = 2 << 30  # of memory, beside the triples


class SparqlMistakeError(UserError):
    """A text that is not SPARQL, and where in it that is seen."""

    def __init__(self, message: str, place: int, problem: str) -> None:
        super().__init__(message)
        self.place, self.problem = place, problem


class LoadingError(UserError):
    """The triples are still being loaded, and whoever asked does not wait for them."""


class TripleStore:
    """The triples of a graph in Oxigraph, in a process of its own; queries may come from several threads at once.

    `triples` gives them as N-Quads, and `count` says how many there are about. The process is started by the first
    query. It ends with this object.
    """

    def __init__(
        self, triples: Callable[[], Iterable[bytes]], count: int, places: dict[str, Any] | None = None
    ) -> None:
        self.triples, self.count, self.places = triples, count, places or _geometry()
        self._lock = threading.Lock()
        self._process: _Process | None = None

    @staticmethod
    def of(graph: KnowledgeGraph) -> TripleStore:
        """The facts, values and labels of a graph."""
        labels = len(graph.entities) + len(graph.relations) + len(graph.attributes)
        count = len(graph.facts) + len(graph.attribute_facts) + labels
        blocks = partial(n_triples, graph, dates=True, labels=True)
        return TripleStore(lambda: (block.encode() for block in blocks()), count, _geometry(graph))

    def changed(self, before: KnowledgeGraph, after: KnowledgeGraph, changes: Sequence[Change]) -> TripleStore:
        """The triples of a graph after some changes; a process that has loaded those before takes them over.

        What is asked of these triples then sees the changes too.
        """
        other = TripleStore.of(after)
        with self._lock:
            process = self._process
        if process is not None and process.lives and process.begun:
            lines = changed_lines(before, after, changes)
            if lines is not None:
                process.update(*lines)
                other._process = process
        return other

    def query(
        self,
        text: str,
        limits: QueryLimits | None = None,
        pause: Pause | None = None,
        progress: Callable[[int, int], None] | None = None,
        patience: float | None = None,
    ) -> SparqlResult:
        """The result of a query.

        `pause` is called every few hundredths of a second, and ends the query by raising an error. `progress` is told
        how many triples of how many have been given to Oxigraph. Who has `patience` for so many seconds gets a
        LoadingError if the triples are not loaded by then; loading goes on.
        """
        pause = pause or _never
        asked = {"query": text, "prefixes": PREFIXES, "places": self.places} | vars(limits or QueryLimits())
        process = self._started()
        if not process.begun:
            process.ask(asked | {"rows": 0}, pause)  # a mistake is told before all is loaded
            process.begin(self.triples)
        process.wait(pause, progress, patience)
        return process.ask(asked, pause)

    def close(self) -> None:
        """Let the triples go; the next query would load them again."""
        with self._lock:
            if self._process is not None:
                self._process.close()
            self._process = None

    def _started(self) -> _Process:
        with self._lock:
            if self._process is None or not self._process.lives:
                _check_memory(self.count)
                self._process = _Process(self.count)
            return self._process


def _geometry(graph: KnowledgeGraph | None = None) -> dict[str, Any]:
    """What functions of distances need to know: the attributes of latitude and longitude, and the units."""
    places = None if graph is None else Places(graph)
    known = None if places is None or places.attributes is None else places.attributes
    return {
        "functions": PREFIXES["geof"],
        "units": {PREFIXES["uom"] + name: size for name, size in _UNITS.items()},
        "radius": EARTH_RADIUS,
        "attributes": None if graph is None or known is None else [iri(graph.attributes.name(each)) for each in known],
        "angle": 1.0 if places is not None and places.in_radians else math.pi / 180,
    }


class _Process:
    """The process that holds the triples, and the socket to it."""

    def __init__(self, count: int) -> None:
        if not hasattr(os, "fork"):
            raise UserError("all of SPARQL needs a system with fork, such as Linux or macOS")
        self.count, self.given, self.begun = count, 0, False
        self.loaded = threading.Event()
        self.failure: str | None = None
        self._lock = threading.Lock()
        self._control, end = socket.socketpair()
        with end:
            command = [sys.executable, "-P", str(Path(keeper.__file__)), str(end.fileno())]
            process = subprocess.Popen(  # noqa: S603  # our own file; in a session of its own: Ctrl-C is for us, who then hang up
                command, pass_fds=[end.fileno()], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                start_new_session=True,
            )  # fmt: skip
        self._process = process
        self.close = weakref.finalize(self, _end, self._control, process)

    @property
    def lives(self) -> bool:
        """Whether it can be asked."""
        return self._process.poll() is None and self.failure is None

    def begin(self, triples: Callable[[], Iterable[bytes]]) -> None:
        """Let the triples be loaded, unless they are already."""
        with self._lock:
            if self.begun:
                return
            self.begun = True
        connection = self._connected(b"L")
        threading.Thread(target=_load, args=(weakref.ref(self), connection, triples), daemon=True).start()

    def update(self, removed: list[str], added: list[str]) -> None:
        """Let triples be taken out and put in before anything is asked from now on."""
        connection = self._connected(b"U")
        content = "".join([f"{len(removed)}\n", *removed, *added]).encode()
        threading.Thread(target=_update, args=(weakref.ref(self), connection, content), daemon=True).start()

    def wait(self, pause: Pause, progress: Callable[[int, int], None] | None, patience: float | None) -> None:
        """Until all triples are loaded."""
        end = None if patience is None else time.monotonic() + patience
        while not self.loaded.wait(_PATIENCE):
            pause()
            if progress is not None:
                progress(self.given, self.count)
            if end is not None and time.monotonic() > end:
                share = min(99, 100 * self.given // max(1, self.count))
                raise LoadingError(f"the {self.count:,} triples of the graph are being loaded ({share} %): try again")
        if self.failure is not None:
            raise UserError(self.failure)

    def ask(self, asked: dict[str, Any], pause: Pause) -> SparqlResult:
        """The result of a query on what is loaded."""
        with self._connected(b"Q") as connection:
            connection.sendall(json.dumps(asked).encode() + b"\n")
            return _result(_lines(connection, pause), asked)

    def _connected(self, task: bytes) -> socket.socket:
        """A new connection for a task."""
        own, other = socket.socketpair()
        try:
            with other, self._lock:
                socket.send_fds(self._control, [task], [other.fileno()])
        except OSError:
            own.close()
            raise UserError(_GONE) from None
        return own


def _end(control: socket.socket, process: subprocess.Popen[bytes]) -> None:
    """Hang up, upon which the process ends its queries and itself; while it loads it does not listen."""
    control.close()
    try:
        process.wait(0.5)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def _load(process: weakref.ref[_Process], connection: socket.socket, triples: Callable[[], Iterable[bytes]]) -> None:
    """Give triples to a process as long as somebody has it, and note what it says at the end."""
    failure: str | None = None
    try:
        with connection:
            for part in triples():
                connection.sendall(part)
                holder = process()
                if holder is None:
                    return
                holder.given += part.count(b"\n")
                del holder
            connection.shutdown(socket.SHUT_WR)
            with connection.makefile("rb") as lines:
                said = json.loads(lines.readline() or b"{}")
        if "loaded" not in said:
            failure = "the process that loads the triples ended: is there too little memory?"
        elif "error" in said:
            failure = f"Oxigraph cannot load the triples: {said['error']}"
    except OSError:
        failure = "the process that loads the triples ended: is there too little memory?"
    holder = process()
    if holder is not None:
        holder.failure = failure
        holder.loaded.set()


def _update(process: weakref.ref[_Process], connection: socket.socket, content: bytes) -> None:
    """Give a process what is to be changed; where it fails, the triples are loaded anew by who asks next."""
    said: dict[str, Any] = {}
    with suppress(OSError, ValueError), connection:
        connection.sendall(content)
        connection.shutdown(socket.SHUT_WR)
        with connection.makefile("rb") as lines:
            said = json.loads(lines.readline() or b"{}")
    holder = process()
    if holder is not None and "updated" not in said:
        holder.failure = f"Oxigraph cannot take a change: {said.get('error', 'it ended')}"


def _lines(connection: socket.socket, pause: Pause) -> Iterator[dict[str, Any]]:
    """What a process says, line by line; nothing more once it has ended."""
    connection.settimeout(_PATIENCE)
    held = b""
    while True:
        pause()
        try:
            part = connection.recv(1 << 18)
        except TimeoutError:
            continue
        except OSError:
            return
        if not part:
            return
        *lines, held = (held + part).split(b"\n")
        for line in lines:
            with suppress(ValueError):  # a line that was begun when its process was ended
                yield json.loads(line or b"{}")


def _result(lines: Iterator[dict[str, Any]], asked: dict[str, Any]) -> SparqlResult:
    """What the lines say; a UserError where they tell of a mistake or of an end."""
    found: SparqlResult | None = None
    for line in lines:
        match line:
            case {"rows": rows}:
                assert found is not None, "variables come before rows"
                found.rows.extend(tuple(map(_term, row)) for row in rows)
            case {"variables": None}:
                found = SparqlResult("triples", ("subject", "predicate", "object"))
            case {"variables": variables}:
                found = SparqlResult("table", tuple(variables))
            case {"truth": truth}:
                found = SparqlResult("truth", truth=truth)
            case {"more": more}:
                assert found is not None, "a result has a beginning"
                return replace(found, complete=not more)
            case {"syntax": message}:
                raise _syntax_error(message, asked["query"])
            case {"error": message}:
                raise UserError(_FILES if "os error 24" in message else f"SPARQL: {message}")
            case {"signal": signal.SIGABRT | signal.SIGSEGV | signal.SIGKILL | signal.SIGBUS}:
                raise UserError(
                    f"the query needs more than {asked['bytes'] / 2**30:.2g} GiB of memory: ask for less at once"
                )
    raise UserError(_GONE)


def _term(written: list[str | None] | None) -> Term | None:
    match written:
        case ["literal", str(text), datatype, language]:
            return Term(text, datatype, language)
        case ["iri" | "blank" as kind, str(text)]:
            return Term(text, blank=kind == "blank")
    return None


def _syntax_error(message: str, query: str) -> UserError:
    """Oxigraph's message without the list of all that could stand at the place."""
    found = _PLACE.match(message)
    if found is None:
        return UserError(f"SPARQL: {message}")
    line, column, told = int(found[1]), int(found[2]), found[3]
    lines = query.split("\n")
    near = "".join(lines[line - 1 : line])[max(0, column - 21) : column + 19]
    problem = _TOLD.get(next((each for each in _TOLD if each in told), ""), "syntax error")
    place = sum(len(each) + 1 for each in lines[: line - 1]) + column - 1
    at = f"SPARQL, line {line}, at or after column {column} (near {near!r})"
    return SparqlMistakeError(f"{at}: {problem}", place, problem)


def _check_memory(count: int) -> None:
    """Refuse to load more triples than there is memory for, where the system tells."""
    try:
        told = dict(line.split(":") for line in Path("/proc/meminfo").read_text(encoding="ascii").splitlines())
        free = int(told["MemAvailable"].split()[0]) * 1024
    except (OSError, KeyError, ValueError):
        return
    if count * _TRIPLE_BYTES > free:
        needed, there = count * _TRIPLE_BYTES / 2**30, free / 2**30
        raise UserError(
            f"for all of SPARQL the {count:,} triples of the graph are kept in Oxigraph, about {needed:.1f} GiB, "
            f"but {there:.1f} GiB of memory are free: ask on a larger machine, or within the subset of docs/sparql.md"
        )


def _never() -> None:
    """No pause."""
