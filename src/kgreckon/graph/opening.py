"""One door to every graph: the embedded one, a graph folder, an MMKG folder, or a file."""

from __future__ import annotations

from pathlib import Path

from kgreckon.errors import UserError
from kgreckon.graph.changes.live_graph import open_graph_folder
from kgreckon.graph.knowledge_graph import KnowledgeGraph
from kgreckon.graph.readers import is_mmkg_folder, read_sources
from kgreckon.graph.storage import is_graph_folder
from kgreckon.graph.world import world


def is_address(place: object) -> bool:
    """Whether a place is the address of a SPARQL endpoint, and not a folder or file."""
    return isinstance(place, str) and place.lower().startswith(("http://", "https://"))


def open_graph(place: str | Path, top_attributes: int | None = None) -> KnowledgeGraph:
    """The graph called `world`, or the one in a graph folder, an MMKG folder or a file of any kind that is imported.

    `top_attributes` is for what is not a graph folder.
    """
    path = Path(place)
    if is_address(place):
        raise UserError(f"{place} is an address: a SPARQL endpoint is only asked, kgreckon ask {place} QUESTION")
    if str(place) == "world" and not path.exists():
        graph = world()
    elif not path.exists():
        raise UserError(f"{place}: no such folder or file; give a graph folder, a table, or the word 'world'")
    elif is_graph_folder(path):
        graph = open_graph_folder(path)
    elif (path.is_dir() and is_mmkg_folder(path)) or path.is_file():
        return read_sources([path], top_attributes)[0]
    elif (path / "benchmark.json").is_file():
        raise UserError(f"{place} is a benchmark: its graph is {path / 'graph'}")
    elif (path / "run.json").is_file():
        raise UserError(f"{place} is a run, not a graph: the benchmark that it was trained on holds one")
    else:
        raise UserError(f"{place} is not a graph folder; make one with: kgreckon import {place} --out FOLDER")
    if top_attributes is not None:
        raise UserError(f"{place} is a finished graph: choose its attributes when it is imported")
    return graph
