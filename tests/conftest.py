"""Shared fixtures."""

import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from kgreckon.graph import KnowledgeGraph, world

# The first call of a compiled kernel takes seconds, which is no sign of a slow test.
settings.register_profile("kgreckon", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("kgreckon")

DATA = Path(os.environ.get("KGRECKON_DATA", Path(__file__).parents[2] / "shared" / "data"))


@pytest.fixture(scope="session")
def world_graph() -> KnowledgeGraph:
    return world()


@pytest.fixture(scope="session")
def data_folder() -> Path:
    """The folder with the MMKG graphs FB15K, DB15K and YAGO15K."""
    if not DATA.is_dir():
        pytest.skip("the MMKG graphs are not here; set KGRECKON_DATA to their folder")
    return DATA
