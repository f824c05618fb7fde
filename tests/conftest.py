"""Shared fixtures."""

import gc
import gzip
import os
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

from kgreckon.graph import KnowledgeGraph
from kgreckon.graph import world as open_world

# The first call of a compiled kernel takes seconds, which does not mean that the test is slow.
settings.register_profile("kgreckon", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("kgreckon")

DATA = Path(os.environ.get("KGRECKON_DATA", Path(__file__).parents[2] / "shared" / "data"))


@pytest.fixture(scope="module", autouse=True)
def collected():
    """Rubbish of a file is cleared away by the thread that made it: pyoxigraph's may not be dropped by another."""
    yield
    gc.collect()


@pytest.fixture(scope="session")
def world_graph() -> KnowledgeGraph:
    return open_world()


@pytest.fixture(scope="session")
def data_folder() -> Path:
    """The folder with the MMKG graphs FB15K, DB15K and YAGO15K."""
    if not DATA.is_dir():
        pytest.skip("the MMKG graphs are not here; set KGRECKON_DATA to their folder")
    return DATA


@pytest.fixture(scope="session")
def world(world_graph):
    """The service of World, with exact answers only."""
    from kgreckon.answers import Answerer
    from kgreckon.models.exact_model import ExactModel
    from kgreckon.server import Limits, Service

    return Service(Answerer(ExactModel(world_graph)), Limits())


@pytest.fixture(scope="session")
def client(world):
    """A client of that service, without a socket."""
    from served import client_of

    return client_of(world)


@pytest.fixture(scope="session")
def reckoner(tmp_path_factory):
    """The service of a small reckoner, which also infers."""
    from kgreckon.answers import Answerer
    from kgreckon.benchmark import BuildSettings, build
    from kgreckon.runs import train
    from kgreckon.server import Limits, Service
    from random_graph import random_graph

    graph = random_graph()
    made = build(graph, tmp_path_factory.mktemp("served") / "b", BuildSettings.choose(graph, queries=60))
    few: dict[str, Any] = {
        "rank": 8,
        "epochs": 3,
        "batch_size": 64,
        "heads": 16,
        "validation_queries": 2,
        "device": "cpu",
    }
    run = train(made, "reckoner", out=tmp_path_factory.mktemp("served") / "r", **few)
    return Service(Answerer.open(run.folder, device="cpu"), Limits())


@pytest.fixture(scope="module")
def browser():
    """Chromium."""
    from browsing import chromium

    with chromium() as launched:
        yield launched


@pytest.fixture
def visit(browser, address):
    """Opens pages of the server whose `address` a module gives; afterwards, none complained about anything."""
    from browsing import Visits

    visits = Visits(browser, address)
    yield visits
    visits.close()


@pytest.fixture
def file(tmp_path):
    """Make a file from text or bytes; a name that ends in .gz is zipped."""

    def make(name, content):
        data = content if isinstance(content, bytes) else content.encode()
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(gzip.compress(data) if name.endswith(".gz") and isinstance(content, str) else data)
        return path

    return make
