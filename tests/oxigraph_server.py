"""Oxigraph's own server on loopback, in memory."""

import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.client import HTTPConnection
from pathlib import Path


class OxigraphServer:
    """A server whose default graph can be replaced."""

    def __init__(self, port: int) -> None:
        self.port = port
        self.address = f"http://127.0.0.1:{port}/query"

    def hold(self, turtle: str) -> str:
        """Let it hold these triples and no others; gives the address to ask."""
        connection = HTTPConnection("127.0.0.1", self.port, timeout=30)
        connection.request("PUT", "/store?default", turtle.encode(), {"Content-Type": "text/turtle"})
        answer = connection.getresponse()
        said = answer.read()
        connection.close()
        assert answer.status in (201, 204), said
        return self.address


@contextmanager
def oxigraph_server() -> Iterator[OxigraphServer]:
    """The server, which ends with the block."""
    beside = Path(sys.executable).with_name("oxigraph")
    program = str(beside) if beside.exists() else shutil.which("oxigraph")
    assert program is not None, "the server of the package oxigraph: pip install -e '.[dev]'"
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [program, "serve", "--bind", f"127.0.0.1:{port}"]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        for _ in range(200):
            with socket.socket() as trial:
                if trial.connect_ex(("127.0.0.1", port)) == 0:
                    break
            time.sleep(0.05)
        yield OxigraphServer(port)
    finally:
        process.kill()
        process.wait()
