"""Writing the tables of a graph folder anew, with the changes of its log in them."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path

from kgreckon.files import new_folder
from kgreckon.graph.changes.live_graph import LiveGraph
from kgreckon.graph.folder_format import HEADER, MAPPING
from kgreckon.graph.knowledge_graph import KnowledgeGraph
from kgreckon.graph.storage import graph_identity, is_compressed, write_graph


def rewrite_graph(folder: Path, change: Callable[[KnowledgeGraph], KnowledgeGraph]) -> KnowledgeGraph:
    """Replace the graph in a folder by what `change` makes of it; nobody else writes tables there meanwhile.

    Others may change it: what they do after it was read stands in the log of the new tables.
    """
    live, mapping = LiveGraph(folder), folder / MAPPING
    with ExitStack() as until_replaced, new_folder(folder, HEADER, overwrite=True) as target:
        moment = live.now()
        graph = change(moment.graph)
        write_graph(graph, target, is_compressed(folder), mapping.read_bytes() if mapping.is_file() else None)
        log = until_replaced.enter_context(live.locked())
        log.carry(moment.number, target, graph_identity(target))
    return graph
