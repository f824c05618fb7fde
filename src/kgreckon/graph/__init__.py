"""Knowledge graphs with numbers: building, reading, storing and naming them."""

from kgreckon.graph.adjacency import Adjacency
from kgreckon.graph.changes.live_graph import open_graph_folder
from kgreckon.graph.graph_builder import GraphBuilder
from kgreckon.graph.knowledge_graph import KnowledgeGraph
from kgreckon.graph.opening import open_graph
from kgreckon.graph.readers import ImportReport, Reading, TableKind, read_sources
from kgreckon.graph.triples import Triples
from kgreckon.graph.values import ValueTable
from kgreckon.graph.world import world

__all__ = [
    "Adjacency",
    "GraphBuilder",
    "ImportReport",
    "KnowledgeGraph",
    "Reading",
    "TableKind",
    "Triples",
    "ValueTable",
    "open_graph",
    "open_graph_folder",
    "read_sources",
    "world",
]
