"""World: the graph embedded in the package. scripts/build_world.py makes it; NOTICE names its sources."""

from __future__ import annotations

from pathlib import Path

from kgreckon.graph.knowledge_graph import KnowledgeGraph
from kgreckon.graph.storage import open_tables

WORLD_FOLDER = Path(__file__).with_name("world")


def world() -> KnowledgeGraph:
    """Countries, cities, airports and what belongs to them, with latitudes, populations and other numbers."""
    return open_tables(WORLD_FOLDER)
