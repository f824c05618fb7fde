"""Clients share the server fairly: who asks much waits for itself, and nobody is kept out by another."""

import asyncio
import json
import socket
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, suppress
from functools import partial

import pytest
from hypothesis import given
from hypothesis import strategies as st
from starlette.testclient import TestClient

from kgreckon.errors import UserError
from kgreckon.server import Gate, Limits, Service, application
from kgreckon.server.clients import Proxies, share_of
from kgreckon.server.gate import BusyError, FairQueue
from kgreckon.server.headers import SECURITY
from kgreckon.server.monitor import Monitor
from served import NORTH, no_pause, running

HOSTILE, POLITE = "127.0.0.2", "127.0.0.3"  # addresses of this machine, too


class FakeClock:
    """A clock that work turns forward."""

    def __init__(self):
        self.now = 0.0

    def __call__(self):
        return self.now


def played(play):
    """Run what plays with queues, and fail where it does not end."""
    asyncio.run(asyncio.wait_for(play(), 30))


def connect(port, source):
    return socket.create_connection(("127.0.0.1", port), timeout=30, source_address=(source, 0))


def message(path, body=None):
    sent = b"" if body is None else json.dumps(body).encode()
    kind = "" if body is None else f"Content-Type: application/json\r\nContent-Length: {len(sent)}\r\n"
    return f"{'GET' if body is None else 'POST'} {path} HTTP/1.1\r\nHost: x\r\n{kind}\r\n".encode() + sent


def received(connection):
    """All that comes until the server ends the connection; a reset would be raised here."""
    return b"".join(iter(lambda: connection.recv(65536), b""))


class TestQueue:
    def test_turns_go_by_the_time_that_clients_have_had(self):
        async def play():
            clock, turns = FakeClock(), []
            queue = FairQueue(Limits(), workers=1, clock=clock)

            def work(client, seconds):
                turns.append(client)
                clock.now += seconds

            jobs = [queue.enter("slow", lambda: work("slow", 3)) for _ in range(3)]
            jobs += [queue.enter("quick", lambda: work("quick", 1)) for _ in range(6)]
            await asyncio.gather(*(job.result for job in jobs))
            assert "".join(turn[0] for turn in turns) == "sqqqsqqqs"
            assert not queue.running and not queue.waiting and not queue.clients

        played(play)

    def test_who_comes_late_has_no_claim_on_what_was_before(self):
        async def play():
            clock, turns, come = FakeClock(), [], threading.Event()
            queue = FairQueue(Limits(), workers=1, clock=clock)

            def work(client):
                turns.append(client)
                assert len(turns) != 5 or come.wait(20)
                clock.now += 1

            first = [queue.enter("a", lambda: work("a")) for _ in range(8)]
            while len(turns) < 5:
                await asyncio.sleep(0.001)
            late = [queue.enter("b", lambda: work("b")) for _ in range(3)]
            come.set()
            await asyncio.gather(*(job.result for job in first + late))
            assert "".join(turns) == "aaaaa" + "bababa"

        played(play)

    def test_one_client_never_has_all_workers(self):
        async def play():
            queue, release = FairQueue(Limits(), workers=3), threading.Event()
            held = [queue.enter("a", partial(release.wait, 20)) for _ in range(5)]
            assert queue.running == 2 and queue.waiting == 3
            assert await queue.enter("b", lambda: "at once").result == "at once"
            release.set()
            assert await asyncio.gather(*(job.result for job in held)) == [True] * 5

        played(play)

    def test_a_full_queue_takes_from_who_waits_for_most(self):
        async def play():
            queue, release = FairQueue(Limits(waiting=3, client_waiting=3), workers=1), threading.Event()
            held = [queue.enter("a", partial(release.wait, 20)) for _ in range(4)]
            with pytest.raises(BusyError, match="of one client"):
                queue.enter("a", no_pause)
            others = [queue.enter(name, no_pause) for name in ("b", "c")]
            for job in held[2:]:
                with pytest.raises(BusyError, match="of one client"):
                    await job.result
            with pytest.raises(BusyError, match="requests at once"):  # each waits for one
                queue.enter("d", no_pause)
            release.set()
            await asyncio.gather(*(job.result for job in held[:2] + others))

        played(play)

    @given(st.data())
    def test_its_counts_are_true_whatever_happens(self, data):
        async def play():
            limits = Limits(waiting=data.draw(st.integers(0, 4)), client_waiting=data.draw(st.integers(1, 3)))
            queue, release = FairQueue(limits, workers=data.draw(st.integers(1, 3))), threading.Event()
            jobs = []
            for name in data.draw(st.text("abc", max_size=12)):
                with suppress(BusyError):
                    jobs.append(queue.enter(name, partial(release.wait, 20)))
                if jobs and data.draw(st.booleans()):
                    queue.withdraw(data.draw(st.sampled_from(jobs)))
                held = sum(len(client.jobs) for client in queue.clients.values())
                assert queue.waiting == held <= limits.waiting
                assert all(len(client.jobs) <= limits.client_waiting for client in queue.clients.values())
                assert queue.running == sum(client.running for client in queue.clients.values()) <= queue.workers
            release.set()
            while queue.running:
                await asyncio.sleep(0.001)
            assert queue.waiting == 0 and not queue.clients
            for job in jobs:
                assert not job.result.done() or job.result.exception() or job.result.result()
            queue.pool.shutdown()

        played(play)


class Held(Service):
    """A service whose questions last until they are let go, or until their time is over."""

    def __init__(self, service, limits):
        super().__init__(service.answerer, limits)
        self.let_go = threading.Event()

    def ask(self, request, pause):
        while not self.let_go.wait(0.005):
            pause()
        return super().ask(request, pause)


class TestOneHostileClient:
    def test_seventy_heavy_connections_keep_nobody_waiting(self, world):
        limits = Limits(seconds=60)
        service = Held(world, limits)
        heavy, quick = message("/api/ask", {"query": NORTH}), message("/api/translate", {"query": NORTH})
        with running(application(service, Gate(limits)), limits) as port, ExitStack() as open_connections:
            for _ in range(70):
                open_connections.enter_context(connect(port, HOSTILE)).sendall(heavy)

            def polite(number):
                statuses = []
                with connect(port, f"127.0.1.{number}") as connection:
                    for each in (quick, message("/api/names?text=jap"), message("/"), message("/health")) * 3:
                        connection.sendall(each)
                        head, _, body = connection.recv(1 << 20).partition(b"\r\n\r\n")
                        statuses.append(int(head.split()[1]))
                        length = int(head.lower().partition(b"content-length: ")[2].split()[0])
                        while len(body) < length:
                            body += connection.recv(1 << 20)
                return statuses

            with ThreadPoolExecutor(10) as pool:
                assert list(pool.map(polite, range(1, 21))) == [[200] * 12] * 20
            assert not service.let_go.is_set()  # they were answered while the others were still being computed
            service.let_go.set()

    def test_what_is_too_much_of_it_is_told_to_come_back(self, world):
        limits = Limits(seconds=60, client_waiting=5, client_connections=20)
        service, monitor = Held(world, limits), Monitor()
        heavy = message("/api/ask", {"query": NORTH}).replace(b"\r\n\r\n", b"\r\nConnection: close\r\n\r\n", 1)
        answered: list[bytes] = []

        def ask_one(_):
            with connect(port, HOSTILE) as connection:
                connection.sendall(heavy)
                answered.append(received(connection))

        app = application(service, Gate(limits), monitor=monitor)
        with running(app, limits, monitor) as port, ThreadPoolExecutor(70) as pool:
            asked = pool.map(ask_one, range(70))
            while len(answered) < 64:  # all but one that is computed and five that wait
                time.sleep(0.01)
            assert all(each.startswith(b"HTTP/1.1 503 ") and b"retry-after: 1" in each.lower() for each in answered)
            service.let_go.set()
            list(asked)
            assert sum(each.startswith(b"HTTP/1.1 200 ") for each in answered) == 6
        rejected = monitor.counters.rejected
        assert rejected["client_connections"] + rejected["client_waiting"] == 64
        assert rejected["client_connections"] >= 1 and rejected["client_waiting"] >= 1

    def test_half_open_connections_lock_nobody_out(self, world):
        limits = Limits(client_connections=16, connections=40)
        with running(application(world, Gate(limits)), limits) as port, ExitStack() as stack:
            halves = [stack.enter_context(connect(port, HOSTILE)) for _ in range(300)]
            for each in halves:
                each.sendall(b"GET /api/info HTTP/1.1\r\nHost: lo")
            for _ in range(20):
                with connect(port, POLITE) as connection:
                    connection.sendall(message("/api/info"))
                    assert connection.recv(65536).startswith(b"HTTP/1.1 200 ")
            refused = [received(each) for each in halves[16:]]
            assert all(each.startswith(b"HTTP/1.1 503 ") and b"Retry-After: 1\r\n" in each for each in refused)
            assert all(f"{name}: {value}\r\n".encode() in refused[0] for name, value in SECURITY.items())
            halves[0].sendall(b"calhost\r\n\r\n")  # those that were let in still are
            assert halves[0].recv(65536).startswith(b"HTTP/1.1 200 ")

    def test_who_is_refused_with_much_to_say_sees_the_answer_and_no_reset(self, world):
        limits = Limits(client_connections=1)
        with running(application(world, Gate(limits)), limits) as port, connect(port, HOSTILE) as first:
            first.sendall(b"GET")
            for _ in range(5):
                with connect(port, HOSTILE) as connection:
                    connection.sendall(message("/api/ask", {"query": " " * 200_000}))
                    time.sleep(0.05)
                    assert received(connection).startswith(b"HTTP/1.1 503 ")
            first.sendall(b" /health HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
            assert received(first).startswith(b"HTTP/1.1 200 ")
            with connect(port, HOSTILE) as connection:  # nobody is counted for ever
                connection.sendall(message("/health"))
                assert connection.recv(65536).startswith(b"HTTP/1.1 200 ")


class TestClients:
    @pytest.mark.parametrize(
        ("address", "share"),
        [
            ("192.0.2.7", "192.0.2.7"),
            ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"),
            ("2001:db8:1:2::9", "2001:db8:1:2::/64"),
            ("::ffff:192.0.2.7", "192.0.2.7"),
            ("fe80::1%eth0", "fe80::/64"),
            ("testclient", "testclient"),
            ("", ""),
        ],
    )
    def test_a_client_is_an_address_or_the_network_of_a_subscriber(self, address, share):
        assert share_of(address) == share

    @pytest.mark.parametrize(
        ("peer", "forwarded", "client"),
        [
            ("192.0.2.1", ["198.51.100.1"], "192.0.2.1"),  # no proxy of ours
            ("127.0.0.1", [], "127.0.0.1"),
            ("127.0.0.1", ["198.51.100.1"], "198.51.100.1"),
            ("127.0.0.1", ["198.51.100.1:4711"], "198.51.100.1"),
            ("127.0.0.1", ["[2001:db8::1]:80"], "2001:db8::1"),
            ("127.0.0.1", ["203.0.113.9, 198.51.100.1"], "198.51.100.1"),
            ("127.0.0.1", ["203.0.113.9", "198.51.100.1, 10.1.2.3"], "198.51.100.1"),  # by way of two proxies
            ("10.9.9.9", ["unknown"], "10.9.9.9"),
            ("10.9.9.9", ["198.51.100.1, "], "10.9.9.9"),
        ],
    )
    def test_only_what_a_trusted_proxy_says_counts(self, peer, forwarded, client):
        assert Proxies.of(["127.0.0.1", "10.0.0.0/8"]).client(peer, forwarded) == client

    @given(st.lists(st.text("0123456789.,: []af"), max_size=3), st.ip_addresses(v=4))
    def test_nobody_can_pass_for_another(self, forged, address):
        proxies = Proxies.of(["127.0.0.1"])
        if not proxies.trust(str(address)):
            assert proxies.client("127.0.0.1", [*forged, str(address)]) == str(address)
        assert Proxies().client(str(address), forged) == str(address)

    def test_a_proxy_that_is_none_is_said(self):
        with pytest.raises(UserError, match="a trusted proxy is an address or a network"):
            Proxies.of(["localhost"])

    def test_clients_behind_a_trusted_proxy_are_told_apart(self, world):
        limits = Limits(seconds=60, client_waiting=1, client_connections=2)
        for proxies, expected in ((Proxies.of([POLITE]), 200), (Proxies(), 503)):
            service, monitor = Held(world, limits), Monitor(proxies=proxies)
            app = application(service, Gate(limits), monitor=monitor)
            with running(app, limits, monitor) as port, ExitStack() as stack:

                def ask_as(client, path, body=None, port=port, stack=stack):
                    connection = stack.enter_context(connect(port, POLITE))
                    named = f"\r\nX-Forwarded-For: {client}\r\n\r\n".encode()
                    connection.sendall(message(path, body).replace(b"\r\n\r\n", named, 1))
                    return connection

                for _ in range(2):
                    ask_as("198.51.100.1", "/api/ask", {"query": NORTH})
                time.sleep(0.1)
                other = ask_as("198.51.100.2", "/api/translate", {"query": NORTH})
                assert int(other.recv(65536).split()[1]) == expected
                service.let_go.set()

    def test_the_gate_tells_clients_apart(self, world):
        limits = Limits(seconds=60, at_once=2, client_waiting=1)
        service = Held(world, limits)
        app = application(service, Gate(limits))
        with TestClient(app) as hostile, ThreadPoolExecutor(8) as pool:
            polite = TestClient(app, client=("198.51.100.2", 1))
            polite.portal = hostile.portal
            asked = [pool.submit(hostile.post, "/api/ask", json={"query": NORTH}) for _ in range(6)]
            while sum(each.done() for each in asked) < 4:
                time.sleep(0.005)
            assert polite.post("/api/translate", json={"query": NORTH}).status_code == 200
            service.let_go.set()
            assert sorted(each.result().status_code for each in asked) == [200, 200, 503, 503, 503, 503]
