"""What the tests of the server share: clients without a socket, and a server with one."""

import socket
import threading
import time
from contextlib import contextmanager

import uvicorn
from starlette.testclient import TestClient

from kgreckon.server import Gate, Limits, application
from kgreckon.server.serving import config

NORTH = "(i,(rp,(^is_a),(e,(City))),(rap,(latitude),(np,(GreaterThan),(ap,(latitude),(rp,(^in_country),(e,(Japan)))))))"
POPULATIONS = "(ap,(population),(rp,(^capital_of),(rp,(^on_continent),(e,(South America)))))"
IN_JAPAN = "SELECT ?c ?score ?observed { ?c :in_country :Japan ; :is_a :City }"


def no_pause():
    pass


def client_of(service, limits=None, **options):
    return TestClient(application(service, Gate(limits or service.limits), **options))


@contextmanager
def running(app, limits=None, monitor=None):
    """The application at a port of this machine, in a thread; gives its address."""
    server = uvicorn.Server(config(app, limits or Limits(), monitor))
    listening = socket.create_server(("127.0.0.1", 0))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
    thread.start()
    try:
        for _ in range(500):
            if server.started:
                break
            time.sleep(0.01)
        yield listening.getsockname()[1]
    finally:
        server.should_exit = True
        thread.join()
        listening.close()
