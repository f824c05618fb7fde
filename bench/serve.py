"""A server under load and attack: many clients of `kgreckon serve RUN`, each from an address of its own.

    python bench/serve.py RUN --clients 200 --seconds 60           each sends valid and hostile requests
    python bench/serve.py RUN --clients 200 --seconds 60 --fair    polite ones, then with a hostile one beside them

Every valid request was asked once before, by one client alone: under load its answer must be the same, or 503 with a
time to come back after. Every hostile one must be refused in the way it deserves. Prints requests a second, latencies
by kind, and the server's memory; the exit code is 1 if the server crashed or any answer was wrong.

With --fair the clients pause between their requests, and come back when they are told to. After a time one more client
sends the largest question that the limits allow on 70 connections, again and again. The exit code is 1 if that makes
the 99th percentile of the others more than 5 times as long.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import random
import signal
import subprocess
import sys
import time
from collections import Counter, defaultdict
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import quote, urlencode

HOSTILE_SHARE = 0.3
HEAVY_CONNECTIONS = 70  # of the hostile client
MOST_TIMES = 5.0  # that it may make the others wait as long
JSON = "application/json"


@dataclass(frozen=True)
class Request:
    """Bytes to send, and what may come back."""

    kind: str
    raw: bytes
    statuses: tuple[int, ...] = (200,)
    hostile: bool = False
    leave: bool = False  # without waiting for the answer


@dataclass
class Tally:
    """What was seen."""

    latencies: dict[str, list[float]] = field(default_factory=lambda: defaultdict(list))
    statuses: Counter[tuple[str, int]] = field(default_factory=Counter)
    wrong: list[str] = field(default_factory=list)
    broken: Counter[str] = field(default_factory=Counter)  # connections that ended without an answer


def message(
    method: str, path: str, body: bytes = b"", kind: str = "", host: str = "localhost", accept: str = "*/*"
) -> bytes:
    lines = [f"{method} {path} HTTP/1.1", f"Host: {host}", f"Accept: {accept}"]
    if kind:
        lines.append(f"Content-Type: {kind}")
    if body or method == "POST":
        lines.append(f"Content-Length: {len(body)}")
    return "\r\n".join([*lines, "", ""]).encode() + body


def post(path: str, data: object) -> bytes:
    return message("POST", path, json.dumps(data).encode(), JSON)


# -------------------------------------------------------------------------------------------------------------- clients


class Connection:
    """A connection that is opened when it is needed and kept as long as the server keeps it."""

    def __init__(self, port: int, address: str = "127.0.0.1") -> None:
        self.port, self.address = port, address
        self.reader: asyncio.StreamReader | None = None
        self.writer: asyncio.StreamWriter | None = None

    async def ask(self, raw: bytes, leave: bool = False) -> tuple[int, dict[str, str], bytes]:
        if self.writer is None:
            here = (self.address, 0)
            self.reader, self.writer = await asyncio.open_connection("127.0.0.1", self.port, local_addr=here)
        assert self.reader is not None
        try:
            self.writer.write(raw)
            try:
                await self.writer.drain()
            except ConnectionError:
                if leave:
                    raise
            if leave:
                self.close()
                return 0, {}, b""
            head = await self.reader.readuntil(b"\r\n\r\n")
            first, *lines = head.decode("latin-1").split("\r\n")
            headers = {
                name.strip().lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)
            }
            body = await self.reader.readexactly(int(headers.get("content-length", 0)))
        except BaseException:
            self.close()
            raise
        if headers.get("connection") == "close":
            self.close()
        return int(first.split()[1]), headers, body

    def close(self) -> None:
        if self.writer is not None:
            self.writer.close()
        self.reader = self.writer = None


def address_of(number: int) -> str:
    """The loopback address of a client."""
    return f"127.0.{1 + number // 250}.{1 + number % 250}"


async def client(
    port: int,
    valid: list[Request],
    hostile: list[Request],
    expected: dict[bytes, bytes],
    end: float,
    tally: Tally,
    seed: int,
) -> None:
    chance = random.Random(seed)
    connection = Connection(port, address_of(seed))
    await asyncio.sleep(chance.random())
    while time.monotonic() < end:
        request = chance.choice(hostile if chance.random() < HOSTILE_SHARE else valid)
        start = time.monotonic()
        try:
            status, headers, body = await asyncio.wait_for(connection.ask(request.raw, request.leave), 60)
        except TimeoutError:
            tally.wrong.append(f"{request.kind}: no answer in a minute")
            continue
        except (ConnectionError, asyncio.IncompleteReadError) as error:
            # A server may close a kept connection, and must close one on which a body goes on that it has refused.
            tally.broken[f"{request.kind}: {type(error).__name__}"] += 1
            continue
        if request.leave:
            tally.statuses[request.kind, 0] += 1
            continue
        tally.statuses[request.kind, status] += 1
        if status == 503:
            if "retry-after" not in headers:
                tally.wrong.append(f"{request.kind}: 503 without Retry-After")
            if not request.hostile:  # who is polite comes back when told to
                await asyncio.sleep(float(headers.get("retry-after", 1)) * (0.5 + chance.random()))
            continue
        tally.latencies[request.kind].append(time.monotonic() - start)
        if status not in request.statuses:
            tally.wrong.append(f"{request.kind}: {status} instead of {request.statuses}: {body[:200]!r}")
        elif b"Traceback" in body:
            tally.wrong.append(f"{request.kind}: a traceback")
        elif not request.hostile and timeless(body) != expected[request.raw]:
            tally.wrong.append(f"{request.kind}: another answer than alone to {request.raw[-200:]!r}")
    connection.close()


async def polite(
    port: int, valid: list[Request], expected: dict[bytes, bytes], end: float, tally: Tally, seed: int, pause: float
) -> None:
    """A client that asks one thing after the other, and comes back when it is told to; that counts as waiting."""
    chance = random.Random(seed)
    connection = Connection(port, address_of(seed))
    await asyncio.sleep(pause * chance.random())
    while time.monotonic() < end:
        request, start, status = chance.choice(valid), time.monotonic(), 503
        while status == 503 and time.monotonic() < end + 60:
            try:
                status, headers, body = await asyncio.wait_for(connection.ask(request.raw), 60)
            except (ConnectionError, asyncio.IncompleteReadError, TimeoutError) as error:
                tally.wrong.append(f"{request.kind}: {type(error).__name__}")
                break
            finally:
                connection.close()
            tally.statuses[request.kind, status] += 1
            if status == 503:
                await asyncio.sleep(float(headers["retry-after"]) * (0.5 + chance.random()))
            elif status != 200 or timeless(body) != expected[request.raw]:
                tally.wrong.append(f"{request.kind}: {status}, another answer than alone")
        tally.latencies["all"].append(time.monotonic() - start)
        await asyncio.sleep(max(0.0, min(chance.expovariate(1 / pause), end - time.monotonic())))


async def heavy(port: int, raw: bytes, end: float, statuses: Counter[int]) -> None:
    """One connection of the hostile client, which waits for nothing."""
    connection = Connection(port)
    while time.monotonic() < end:
        try:
            status, _, _ = await asyncio.wait_for(connection.ask(raw), 60)
            statuses[status] += 1
        except (ConnectionError, asyncio.IncompleteReadError, TimeoutError):
            statuses[0] += 1
        await asyncio.sleep(0.05)
    connection.close()


async def fairness(port: int, clients: int, seconds: float, pause: float) -> list[str]:
    """What polite clients see without and with a hostile one; returns what is wrong with it."""
    valid = await valid_requests(port)
    valid = random.Random(0).sample(valid, min(len(valid), 200))
    (large,) = (each.raw for each in hostile_requests(*await some_names(port)) if each.kind == "large query")
    expected, _ = await alone(port, valid)
    wrong, slowest = [], []
    for connections in (0, HEAVY_CONNECTIONS):
        tally, sent, end = Tally(), Counter[int](), time.monotonic() + seconds
        await asyncio.gather(
            *(polite(port, valid, expected, end, tally, seed, pause) for seed in range(clients)),
            *(heavy(port, large, end, sent) for _ in range(connections)),
        )
        print_latencies(f"{connections} hostile connections", tally.latencies)
        busy = sum(count for (_, status), count in tally.statuses.items() if status == 503)
        print(f"polite requests told to come back: {busy}; hostile ones by status: {dict(sorted(sent.items())) or '-'}")
        wrong += tally.wrong
        times = sorted(tally.latencies["all"])
        slowest.append(times[min(len(times) - 1, int(0.99 * len(times)))])
    print(f"\np99 with the hostile client: {slowest[1] / slowest[0]:.2f} times that without")
    if slowest[1] > MOST_TIMES * slowest[0]:
        wrong.append(f"more than {MOST_TIMES} times")
    return wrong


def timeless(body: bytes) -> bytes:
    """An answer without how long it took, and without the last digits of numbers, which depend on the threads."""
    try:
        data = json.loads(body, parse_float=lambda text: float(f"{float(text):.5g}"))
    except ValueError:
        return body  # a page, or XML
    if isinstance(data, dict):
        data.pop("seconds", None)
    return json.dumps(data).encode()


# ------------------------------------------------------------------------------------------------------------- requests


async def valid_requests(port: int) -> list[Request]:
    """Questions of every kind about what the graph holds, found out by asking."""
    connection = Connection(port)

    async def get(path: str) -> dict:
        return json.loads((await connection.ask(message("GET", path)))[2])

    async def sent(path: str, data: object) -> dict:
        return json.loads((await connection.ask(post(path, data)))[2])

    found = [Request("page", message("GET", "/")), Request("info", message("GET", "/api/info"))]
    queries: list[object] = [*(await get("/api/info"))["examples"]]
    names = [each["name"] for each in (await get("/api/names?limit=25"))["names"]]
    for name in names:
        entity = {"op": "entity", "name": name}
        found.append(Request("entity", message("GET", f"/api/entity?name={quote(name, safe='')}")))
        found.append(Request("names", message("GET", f"/api/names?text={quote(name[:3], safe='')}&limit=20")))
        offered = await sent("/api/complete", {"query": entity})
        for relation in offered["relations"][:3]:
            way = {"op": "follow", "relation": relation["name"], "inverse": relation["inverse"]}
            queries.append(way | {"of": entity})
            queries += [{"op": "value_of", "attribute": each["name"], "of": way | {"of": entity}}
                        for each in offered["attributes"][:1]]  # fmt: skip
    for query in queries:
        translated = await sent("/api/translate", {"query": query})
        found.append(Request("ask", post("/api/ask", {"query": query, "limit": 20})))
        found.append(Request("translate", post("/api/translate", {"query": query})))
        found.append(Request("complete", post("/api/complete", {"query": query})))
        if len(found) % 3 == 0:
            found.append(Request("ask, explained", post("/api/ask", {"query": query, "limit": 10, "explain": True})))
        if translated["sparql"]:
            asked = urlencode({"query": translated["sparql"]})
            xml = "application/sparql-results+xml"
            found.append(Request("sparql", message("GET", f"/sparql?{asked}")))
            form = "application/x-www-form-urlencoded"
            found.append(Request("sparql", message("POST", "/sparql", asked.encode(), form, accept=xml)))
    connection.close()
    return found


def hostile_requests(name: str, relation: str) -> list[Request]:
    """What nobody should send; the one valid kind among them is as large as a question may be."""

    def refused(kind: str, raw: bytes, *statuses: int, leave: bool = False) -> Request:
        return Request(kind, raw, statuses, hostile=True, leave=leave)

    entity = {"op": "entity", "name": name}
    there = {"op": "follow", "relation": relation, "of": entity}
    and_back = {"op": "follow", "relation": relation, "inverse": True, "of": there}
    large = {"op": "or", "parts": [and_back] * 15}
    deep = b'{"query": ' + b'{"op":"not","of":' * 3000
    chunked = message("POST", "/api/ask", b"", JSON).replace(b"Content-Length: 0", b"Transfer-Encoding: chunked")
    sparql = "SELECT ?x { " + "{SELECT ?x{}}" * 120 + " }"
    growing = "SELECT ?x { ?y " + "/".join([f"(<urn:kgreckon:{relation}>|^<urn:kgreckon:{relation}>)"] * 30) + " ?x }"
    hidden = "SELECT ?x { ?x :a\\' :b . " + "{}" * 1500 + "}"
    misspelt = {"query": f"(e,({name[::-1]}x))"}
    return [
        refused("no JSON", message("POST", "/api/ask", b'{"query": ', JSON), 400),
        refused("no UTF-8", message("POST", "/api/ask", b'{"query": "\xff"}', JSON), 400),
        refused("wrong type", message("POST", "/api/ask", b'{"query": "x"}', "text/plain"), 415),
        refused("large body", message("POST", "/api/ask", b" " * 300_000, JSON), 413),
        refused("endless body", chunked + b"".join(b"4000\r\n" + b" " * 0x4000 + b"\r\n" for _ in range(8)), 413),
        refused("deep JSON", message("POST", "/api/ask", deep, JSON), 400),
        refused("long text", post("/api/ask", {"query": "(i," * 3000}), 400),
        refused("deep text", post("/api/ask", {"query": "(n," * 900}), 400),
        refused("large query", post("/api/ask", {"query": large, "limit": 1000, "explain": True}), 200),
        refused("many nodes", post("/api/ask", {"query": {"op": "and", "parts": [entity] * 500}}), 400),
        refused("slow SPARQL", message("GET", f"/sparql?{urlencode({'query': sparql})}"), 400),
        refused("growing path", message("GET", f"/sparql?{urlencode({'query': growing})}"), 400),
        refused("hidden words", message("GET", f"/sparql?{urlencode({'query': hidden})}"), 400),
        refused("unknown name", post("/api/translate", misspelt), 400),
        refused("unknown comparison", post("/api/ask", {"query": "(np,(x > 1e999y),(nv,(1)))"}), 400),
        refused("update", message("POST", "/sparql", b"update=DROP+ALL", "application/x-www-form-urlencoded"), 400),
        refused("another host", message("GET", "/api/info", host="evil.example"), 421),
        refused("a file", message("GET", "/page/..%2f..%2f..%2fetc%2fpasswd"), 404),
        refused("no HTTP", b"\x16\x03\x01\x00\x00\r\n\r\n", 400),
        refused("half a head", b"GET /api/info HTTP/1.1\r\nHost: loc", leave=True),
        refused("gone early", post("/api/ask", {"query": large}), leave=True),
    ]


# ---------------------------------------------------------------------------------------------------------- measurement


def memory(process: int) -> float:
    """The resident memory of a process, in MiB."""
    lines = Path(f"/proc/{process}/status").read_text().splitlines()
    return next(int(line.split()[1]) / 1024 for line in lines if line.startswith("VmRSS"))


async def alone(port: int, requests: list[Request]) -> tuple[dict[bytes, bytes], dict[str, list[float]]]:
    """The answers that one client gets by itself, and how long each took."""
    connection, found, latencies = Connection(port), {}, defaultdict(list)
    for request in requests:
        start = time.monotonic()
        status, _, body = await connection.ask(request.raw)
        latencies[request.kind].append(time.monotonic() - start)
        if status != 200:
            raise SystemExit(f"{request.kind}: {status} {body[:300]!r}")
        found[request.raw] = timeless(body)
    connection.close()
    return found, latencies


def print_latencies(title: str, latencies: dict[str, list[float]]) -> None:
    print(f"\n{title:<22}{'requests':>9}{'p50 ms':>9}{'p90 ms':>9}{'p99 ms':>9}{'worst ms':>9}")
    for kind, times in sorted(latencies.items()):
        times = sorted(times)
        shown = [1000 * times[min(len(times) - 1, int(share * len(times)))] for share in (0.5, 0.9, 0.99, 1)]
        print(f"{kind:<22}{len(times):>9}" + "".join(f"{each:>9.1f}" for each in shown))


async def some_names(port: int) -> tuple[str, str]:
    """The first entity and the first relation."""
    connection = Connection(port)
    found = [
        json.loads((await connection.ask(message("GET", f"/api/names?{kind}limit=1")))[2])["names"][0]["name"]
        for kind in ("", "kind=relation&")
    ]
    connection.close()
    return found[0], found[1]


async def load(port: int, process: int, clients: int, seconds: float) -> Tally:
    valid = await valid_requests(port)
    hostile = hostile_requests(*await some_names(port))
    expected, latencies = await alone(port, valid)
    print_latencies("one client alone", latencies)
    print(f"\nmemory before the load {memory(process):.0f} MiB")
    tally, start = Tally(), time.monotonic()
    tasks = [asyncio.create_task(client(port, valid, hostile, expected, start + seconds, tally, seed))
             for seed in range(clients)]  # fmt: skip
    while time.monotonic() < start + seconds:
        await asyncio.sleep(min(10, seconds / 4))
        print(f"  after {time.monotonic() - start:3.0f} s {memory(process):.0f} MiB")
    await asyncio.gather(*tasks)
    took = time.monotonic() - start
    print_latencies(f"{clients} clients", tally.latencies)
    total, busy = (
        sum(tally.statuses.values()),
        sum(count for (_, status), count in tally.statuses.items() if status == 503),
    )
    answered = sum(count for (_, status), count in tally.statuses.items() if status == 200)
    print(
        f"\n{total / took:.0f} requests a second: {answered / took:.0f} answered, {busy / took:.0f} told to come back"
    )
    again, _ = await alone(port, valid)
    if again != expected:
        tally.wrong.append("after the load the answers are others")
    print(f"memory after the load {memory(process):.0f} MiB")
    return tally


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("run", help="a run folder, a graph folder, or 'world'")
    parser.add_argument("--clients", type=int, default=200)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--fair", action="store_true", help="polite clients, without and with a hostile one")
    parser.add_argument("--pause", type=float, default=10, help="seconds that a polite client waits on average")
    parser.add_argument("--longest", type=float, default=10, help="seconds that one answer may take, on a slow machine")
    chosen = parser.parse_args()
    start = time.monotonic()
    command = [sys.executable, "-m", "kgreckon", "serve", chosen.run, "--port", "0", "--seconds", str(chosen.longest)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None and server.stderr is not None
        address = server.stdout.readline().strip()
        if not address:
            raise SystemExit(server.stderr.read())
        print(f"started in {time.monotonic() - start:.1f} s, {memory(server.pid):.0f} MiB")
        try:
            port = int(address.rstrip("/").rpartition(":")[2])
            if chosen.fair:
                tally = Tally(wrong=asyncio.run(fairness(port, chosen.clients, chosen.seconds, chosen.pause)))
            else:
                tally = asyncio.run(load(port, server.pid, chosen.clients, chosen.seconds))
        finally:
            crashed = server.poll() is not None
            server.send_signal(signal.SIGINT)
            code = server.wait(60)
            log = server.stderr.read()
    by_status: Counter[int] = Counter()
    for (_, status), count in tally.statuses.items():
        by_status[status] += count
    print("statuses", {status or "left early": count for status, count in sorted(by_status.items())})
    print("connections closed by the server:", dict(tally.broken) or "none")
    print(f"wrong answers: {len(tally.wrong)}; exit code {code}; {'CRASHED' if crashed else 'no crash'}")
    for line in tally.wrong[:10]:
        print("  ", line)
    if "Traceback" in log:
        print(log[-3000:])
    sys.exit(bool(tally.wrong or crashed or code or "Traceback" in log))


if __name__ == "__main__":
    main()
