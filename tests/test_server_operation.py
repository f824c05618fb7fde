"""What operators need: health, metrics, an access log, a token, an orderly end, and strictness about HTTP."""

import json
import os
import re
import signal
import socket
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from datetime import datetime

import pytest
from starlette.testclient import TestClient

from kgreckon.errors import UserError
from kgreckon.server import AccessLog, Gate, Limits, Service, application, read_token
from kgreckon.server.clients import Proxies
from kgreckon.server.counters import Counters
from kgreckon.server.headers import SECURITY
from kgreckon.server.monitor import Monitor
from served import IN_JAPAN, NORTH, client_of, no_pause, running

TOKEN = "a-token-for-tests-0123456789"
BEARER = {"Authorization": f"Bearer {TOKEN}"}


def exchange(port, *sent):
    """Everything that a server answers to some pieces of bytes, until it ends the connection."""
    with socket.create_connection(("127.0.0.1", port), timeout=30) as connection:
        for place, piece in enumerate(sent):
            time.sleep(0.01 * (place > 0))
            connection.sendall(piece)
        return b"".join(iter(lambda: connection.recv(65536), b""))


def samples(text):
    """The samples of Prometheus' text format, by name and labels; any other line is an error."""
    found, kinds = {}, {}
    for line in text.splitlines():
        if line.startswith("# HELP "):
            continue
        if line.startswith("# TYPE "):
            _, _, name, kind = line.split(" ")
            assert name not in kinds and kind in ("counter", "gauge", "histogram")
            kinds[name] = kind
            continue
        match = re.fullmatch(r'([a-z_]+)(\{(?:[a-z]+="[^"\\\n]*",?)*\})? (\S+)', line)
        assert match, line
        family = re.sub(r"_(bucket|sum|count)$", "", match[1])
        assert match[1] in kinds or kinds[family] == "histogram"
        assert match[1] + (match[2] or "") not in found
        found[match[1] + (match[2] or "")] = float(match[3])
    return found


@pytest.fixture(scope="module")
def port(world):
    """Where a server answers that takes heads of 8,000 bytes."""
    limits = Limits(head_bytes=8_000)
    with running(application(world, Gate(limits)), limits) as port:
        yield port


class TestHttp:
    @pytest.mark.parametrize(
        ("head", "body"),
        [
            ("Content-Length: 5\r\nTransfer-Encoding: chunked\r\n", "0\r\n\r\nGET /health HTTP/1.1\r\nHost: x\r\n\r\n"),
            ("Transfer-Encoding: chunked\r\nContent-Length: 0\r\n", "0\r\n\r\nGET /health HTTP/1.1\r\nHost: x\r\n\r\n"),
            ("Content-Length: 2\r\nContent-Length: 3\r\n", "{}"),
            ("Content-Length: 1, 2\r\n", "{}"),
            ("Content-Length: +2\r\n", "{}"),
            ("Content-Length : 2\r\n", "{}"),
            ("Transfer-Encoding: chunked\r\n", "xyz\r\n"),
        ],
    )
    def test_a_body_whose_end_is_in_doubt_is_refused_and_ends_the_connection(self, port, head, body):
        sent = f"POST /api/ask HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n{head}\r\n{body}"
        found = exchange(port, sent.encode()).decode()
        assert found.startswith("HTTP/1.1 400 ") and found.count("HTTP/1.1") == 1
        answer, _, body = found.partition("\r\n\r\n")
        assert "\r\nConnection: close\r\n" in answer and json.loads(body)["error"]
        assert all(f"{name}: {value}" in answer for name, value in SECURITY.items())

    def test_what_excludes_each_other_is_named(self, port):
        chunked = "Transfer-Encoding: chunked\r\n"
        both = f"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n{chunked}\r\n"
        assert b"Transfer-Encoding and Content-Length exclude each other" in exchange(port, both.encode())
        old = f"POST / HTTP/1.0\r\nHost: x\r\n{chunked}\r\n"
        assert b"Transfer-Encoding and HTTP/1.0 exclude each other" in exchange(port, old.encode())

    def test_a_transfer_coding_that_nobody_knows_is_not_implemented(self, port):
        sent = b"POST /api/ask HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: gzip\r\n\r\n"
        assert exchange(port, sent).startswith(b"HTTP/1.1 501 ")

    @pytest.mark.parametrize("header", ["X: {}", "X:{}x", "{}: x"])
    @pytest.mark.parametrize("pieces", [1, 7])
    def test_a_head_is_bounded_whether_it_comes_whole_or_not(self, port, header, pieces):
        def head(size):
            filling = " " if header.endswith("x") and ":{" in header else "y"
            bare = f"GET /health HTTP/1.1\r\nHost: x\r\nConnection: close\r\n{header}\r\n\r\n"
            return bare.format(filling * (size - len(bare) + 2)).encode()

        for size, expected in ((8_000, 200), (8_001, 431), (80_000, 431)):
            sent = head(size)
            assert len(sent) == size
            step = -(-size // pieces)
            received = exchange(port, *(sent[start : start + step] for start in range(0, size, step)))
            answer, _, body = received.partition(b"\r\n\r\n")
            assert answer.startswith(f"HTTP/1.1 {expected} ".encode())
            if expected == 431:
                assert json.loads(body) == {"error": "the head of a request may have at most 8,000 bytes"}

    def test_what_goes_wrong_in_a_body_is_answered_once(self, world):
        limits, monitor = Limits(seconds=0.5), Monitor()
        app = application(Service(world.answerer, limits), Gate(limits), monitor=monitor)
        head = "POST /api/ask HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n"
        with running(app, limits, monitor) as port:
            for expect in ("", "Expect: 100-continue\r\n"):
                found = exchange(port, f"{head}{expect}\r\n2\r\n{{}}\r\nnonsense\r\n".encode())
                assert re.findall(rb"HTTP/1.1 (\d+)", found.replace(b"HTTP/1.1 100", b"")) == [b"400"]
            assert exchange(port, b"GET /health HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n").endswith(b"}")
        assert monitor.counters.rejected["malformed"] == 2


class TestHealthAndMetrics:
    def test_it_is_alive_and_then_ready(self, world):
        service = Service(world.answerer, Limits())
        client = client_of(service)
        assert client.get("/health").json() == {"ready": False}
        service.predict_values(no_pause)
        assert client.get("/health").json() == {"ready": True}
        assert samples(client.get("/metrics").text)["kgreckon_ready"] == 1

    def test_requests_are_counted_by_route_and_status_and_nothing_else(self, world):
        monitor = Monitor()
        client = TestClient(application(world, Gate(Limits()), monitor=monitor))
        for _ in range(3):
            client.get("/api/names", params={"text": "jap"})
        client.get("/api/names", params={"limit": 0})
        for path in ("/page/main.js", "/page/style.css", "/nowhere", "/%22%7D%0A1", "/api/info/" + "x" * 500):
            client.get(path)
        response = client.get("/metrics")
        assert response.headers["content-type"] == "text/plain; version=0.0.4; charset=utf-8"
        found = samples(response.text)
        requests = {name: value for name, value in found.items() if name.startswith("kgreckon_requests_total")}
        assert requests == {
            'kgreckon_requests_total{route="/api/names",status="200"}': 3,
            'kgreckon_requests_total{route="/api/names",status="400"}': 1,
            'kgreckon_requests_total{route="/page",status="200"}': 2,
            'kgreckon_requests_total{route="other",status="404"}': 3,
        }
        assert found['kgreckon_request_duration_seconds_count{route="/api/names"}'] == 4
        assert found['kgreckon_request_duration_seconds_bucket{route="/api/names",le="+Inf"}'] == 4
        assert found["kgreckon_requests_running"] == found["kgreckon_requests_waiting"] == 0
        assert found["process_resident_memory_bytes"] > 1e7 and found["process_open_fds"] > 3
        assert found["process_cpu_seconds_total"] > 0 and abs(found["process_start_time_seconds"] - time.time()) < 1e5

    def test_a_histogram_adds_up(self):
        counters = Counters()
        for seconds in (0.001, 0.005, 0.006, 0.3, 99.0):
            counters.count("/sparql", 200, seconds)
        found = samples(counters.text({}))
        name = 'kgreckon_request_duration_seconds_bucket{route="/sparql",le="%s"}'
        assert [found[name % each] for each in ("0.005", "0.01", "0.25", "0.5", "10.0", "+Inf")] == [2, 3, 3, 4, 4, 5]
        assert found['kgreckon_request_duration_seconds_sum{route="/sparql"}'] == pytest.approx(99.312)

    def test_what_is_under_way_and_why_something_is_refused_show(self, world):
        limits = Limits(seconds=0.3, client_waiting=1, connections=9)
        begun, release = threading.Event(), threading.Event()

        class Slow(Service):
            def translate(self, request, pause):
                begun.set()
                release.wait(20)
                return super().translate(request, pause)

        monitor = Monitor()
        app = application(Slow(world.answerer, limits), Gate(limits), monitor=monitor)
        with running(app, limits, monitor) as port, ThreadPoolExecutor(8) as pool:
            body = json.dumps({"query": NORTH})
            head = "POST /api/translate HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Type: application/json\r\n"
            sent = f"{head}Content-Length: {len(body)}\r\n\r\n{body}".encode()
            get = b"GET /metrics HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"
            asked = [pool.submit(exchange, port, sent)]
            assert begun.wait(20)
            asked += [pool.submit(exchange, port, sent) for _ in range(2)]
            while not any(each.done() for each in asked):
                time.sleep(0.005)
            found = samples(exchange(port, get).decode().partition("\r\n\r\n")[2])
            assert found["kgreckon_requests_running"] == 1 and found["kgreckon_connections"] >= 1
            assert found['kgreckon_rejected_total{reason="client_waiting"}'] == 1
            assert all(each.result().startswith(b"HTTP/1.1 503 ") for each in asked)
            release.set()
            found = samples(exchange(port, get).decode().partition("\r\n\r\n")[2])
            assert found['kgreckon_rejected_total{reason="seconds"}'] == 2


class TestAccessLog:
    def test_a_line_for_each_request_without_what_was_asked(self, world):
        for form in AccessLog:
            lines: list[str] = []
            monitor = Monitor(form, Proxies.of(["10.0.0.0/8"]), lines.append)
            client = TestClient(application(world, Gate(Limits()), monitor=monitor), client=("10.1.2.3", 99))
            found = client.get("/sparql", params={"query": IN_JAPAN}, headers={"X-Forwarded-For": "198.51.100.7"})
            client.post("/api/ask", json={"query": "(e,(secret))"})
            client.get("/no%0Asuch%1B[31mplace%20?query=secret")
            assert len(lines) == (0 if form is AccessLog.OFF else 3)
            assert not any("secret" in line or "Japan" in line or "\x1b" in line for line in lines)
            assert all(line.endswith("\n") and line.count("\n") == 1 for line in lines)
            if form is AccessLog.JSON:
                first, second, third = map(json.loads, lines)
                assert first["client"] == "198.51.100.7" and second["client"] == "10.1.2.3"
                assert (first["method"], first["path"], first["status"]) == ("GET", "/sparql", 200)
                assert first["bytes"] == len(found.content) and first["seconds"] > 0
                assert datetime.fromisoformat(first["time"]).tzinfo
                assert (second["path"], second["status"]) == ("/api/ask", 400)
                assert third["status"] == 404 and third["path"].startswith("/no")
            if form is AccessLog.PLAIN:
                assert re.fullmatch(r"\S+ 198\.51\.100\.7 GET /sparql 200 \d+ \d\.\d+\n", lines[0])

    def test_what_is_refused_before_it_is_read_has_a_line_too(self, world):
        lines: list[str] = []
        monitor = Monitor(AccessLog.JSON, write=lines.append)
        with running(application(world, Gate(Limits()), monitor=monitor), monitor=monitor) as port:
            exchange(port, b"\x16\x03\x01\r\n\r\n")
        (line,) = map(json.loads, lines)
        assert (line["client"], line["method"], line["path"], line["status"]) == ("127.0.0.1", "-", "-", 400)

    def test_a_log_that_cannot_be_written_stops_nothing(self, world):
        def full(line):
            raise OSError("no space left on device")

        client = TestClient(application(world, Gate(Limits()), monitor=Monitor(AccessLog.PLAIN, write=full)))
        assert client.get("/health").status_code == 200


class TestToken:
    @pytest.fixture
    def locked(self, world):
        return client_of(world, token=TOKEN)

    @pytest.mark.parametrize("path", ["/api", "/api/info", "/api/names", "/api/places", "/sparql", "/metrics", "/x"])
    def test_nothing_is_said_without_it(self, locked, path):
        refused = locked.get(path)
        assert refused.status_code == 401 and "error" in refused.json()
        assert refused.headers["www-authenticate"] == 'Bearer realm="kgreckon"'
        assert refused.headers["x-content-type-options"] == "nosniff"
        assert locked.post("/api/ask", json={"query": NORTH}).status_code == 401
        assert locked.get(path, headers=BEARER).status_code in (200, 404)

    @pytest.mark.parametrize(
        "given",
        [
            f"Bearer {TOKEN}x",
            f"Bearer {TOKEN[:-1]}",
            f"Basic {TOKEN}",
            "Bearer",
            "Bearer ",
            TOKEN,
            "",
            "Bearer \xe9",
            f"Bearer {TOKEN}, Bearer {TOKEN}",
        ],
    )
    def test_another_one_is_none(self, locked, given):
        refused = locked.get("/api/info", headers={"Authorization": given.encode("latin-1")})
        assert refused.status_code == 401
        assert refused.headers["www-authenticate"] == 'Bearer realm="kgreckon", error="invalid_token"'
        twice = [("Authorization", f"Bearer {TOKEN}")] * 2
        assert locked.get("/api/info", headers=twice).status_code == 401
        assert locked.get("/api/info", headers={"Authorization": f"bearer  {TOKEN} "}).status_code == 200

    def test_the_page_and_the_health_are_open(self, locked):
        for path in ("/", "/ask?q=x", "/thing/Oslo", "/thing/http://a/b", "/page/main.js", "/health"):
            assert locked.get(path).status_code == 200

    def test_pages_of_other_sites_can_send_it(self, world):
        client = client_of(world, token=TOKEN, cross_origin=True)
        asked = client.options("/sparql", headers={"Origin": "http://other.example"})
        assert asked.status_code == 204 and "Authorization" in asked.headers["access-control-allow-headers"]
        refused = client.get("/sparql")
        assert refused.status_code == 401 and refused.headers["access-control-allow-origin"] == "*"

    def test_the_description_tells_of_it(self, world, locked):
        described = locked.get("/api", headers=BEARER).json()
        assert described["components"]["securitySchemes"]["token"] == {"type": "http", "scheme": "bearer"}
        for path, methods in described["paths"].items():
            for operation in methods.values():
                assert ("security" in operation) == ("401" in operation["responses"]) == (path != "/health")
        assert "securitySchemes" not in client_of(world).get("/api").json()["components"]

    def test_where_it_is_read_from(self, tmp_path, monkeypatch):
        monkeypatch.delenv("KGRECKON_TOKEN", raising=False)
        assert read_token() is None
        monkeypatch.setenv("KGRECKON_TOKEN", TOKEN)
        assert read_token() == TOKEN
        file = tmp_path / "token"
        file.write_text("another-token-0123456789==\n")
        assert read_token(file) == "another-token-0123456789=="
        for wrong in ("", "\n", "short", "with a space in the middle", "x" * 20 + "é"):
            file.write_text(wrong)
            with pytest.raises(UserError, match="at least 16 characters"):
                read_token(file)
        monkeypatch.setenv("KGRECKON_TOKEN", "")  # a secret that is not there must not open the server
        with pytest.raises(UserError, match="environment variable KGRECKON_TOKEN must hold"):
            read_token()
        file.write_bytes(b"\xff" * 20)
        with pytest.raises(UserError, match="it is not text"):
            read_token(file)
        with pytest.raises(UserError, match="No such file"):
            read_token(tmp_path / "none")


class TestStopping:
    def test_what_runs_is_finished(self, world):
        begun, release = threading.Event(), threading.Event()

        class Slow(Service):
            def translate(self, request, pause):
                begun.set()
                release.wait(20)
                return super().translate(request, pause)

        found = self.stopped_amid(Slow(world.answerer, Limits()), begun, release, Limits())
        assert found.startswith(b"HTTP/1.1 200 ") and b"latitude" in found

    def test_what_does_not_end_in_time_is_told(self, world):
        begun, ended = threading.Event(), threading.Event()

        class Endless(Service):
            def translate(self, request, pause):
                begun.set()
                try:
                    while True:
                        pause()
                        time.sleep(0.005)
                finally:
                    ended.set()

        limits = Limits(stop_seconds=0.3)
        found = self.stopped_amid(Endless(world.answerer, limits), begun, threading.Event(), limits)
        assert found.startswith(b"HTTP/1.1 503 ") and b"the server is stopping" in found and b"retry-after" in found
        assert ended.wait(20)  # nobody is worked for any more

    @staticmethod
    def stopped_amid(service, begun, release, limits):
        """The answer to a request during which the server is told to stop."""
        body = json.dumps({"query": NORTH})
        head = f"POST /api/translate HTTP/1.1\r\nHost: x\r\nContent-Length: {len(body)}\r\n"
        sent = f"{head}Content-Type: application/json\r\n\r\n{body}".encode()
        with ThreadPoolExecutor(1) as pool, ExitStack() as stack:
            port = stack.enter_context(running(application(service, Gate(limits)), limits))
            asked = pool.submit(exchange, port, sent)
            assert begun.wait(20)
            idle = stack.enter_context(socket.create_connection(("127.0.0.1", port), timeout=30))
            later = threading.Timer(0.5, release.set)
            later.start()
            stack.pop_all().close()  # the connection that asks nothing, then the server
            later.join()
            assert idle.fileno() == -1
            with pytest.raises(ConnectionError):
                socket.create_connection(("127.0.0.1", port), timeout=5)
            return asked.result(30)

    def test_the_command_ends_in_order_when_it_is_terminated(self, tmp_path):
        command = [sys.executable, "-m", "kgreckon", "serve", "world", "--port", "0", "--access-log", "json"]
        environment = {**os.environ, "KGRECKON_TOKEN": TOKEN}
        pipe = subprocess.PIPE
        with (
            subprocess.Popen(command, env=environment, stdout=pipe, stderr=pipe, text=True) as process,
            ExitStack() as failed,
        ):
            failed.callback(process.kill)
            assert process.stdout and process.stderr
            port = int(process.stdout.readline().strip().rstrip("/").rpartition(":")[2])
            get = "GET {} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n{}\r\n"
            assert exchange(port, get.format("/api/info", "").encode()).startswith(b"HTTP/1.1 401 ")
            bearer = f"Authorization: Bearer {TOKEN}\r\n"
            assert exchange(port, get.format("/api/names?text=secret", bearer).encode()).startswith(b"HTTP/1.1 200 ")
            with socket.create_connection(("127.0.0.1", port), timeout=30) as idle:
                process.send_signal(signal.SIGTERM)
                assert process.wait(30) == 0
                assert idle.recv(100) == b""
            failed.pop_all()
            log = process.stderr.read()
        lines = [json.loads(line) for line in log.splitlines() if line.startswith("{")]
        assert [(line["path"], line["status"]) for line in lines] == [("/api/info", 401), ("/api/names", 200)]
        assert "Traceback" not in log and "secret" not in log and TOKEN not in log

    @pytest.mark.parametrize(
        ("options", "problem"),
        [
            (("--token-file", "nowhere"), "the token cannot be read from nowhere: No such file"),
            (("--trust-proxy", "proxy.example"), "a trusted proxy is an address or a network"),
        ],
    )
    def test_wrong_options_are_said(self, options, problem):
        command = [sys.executable, "-m", "kgreckon", "serve", "world", "--port", "0", *options]
        done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
        assert done.returncode == 2 and problem in done.stderr and "Traceback" not in done.stderr
