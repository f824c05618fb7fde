"""Networks as wide tables: NetworkX graphs, and the files that NetworkX reads (GraphML, GEXF, GML)."""

from __future__ import annotations

import io
from collections import Counter
from pathlib import Path
from typing import Any

import pyarrow as pa

from kgreckon.errors import UserError
from kgreckon.graph.unpacking import BoundedContent, suffix_of
from kgreckon.graph.wide.wide_table import WideTable, from_values

NETWORK_ENDINGS = (".graphml", ".gexf", ".gml")
_NODE = "node"
_LINKED = "linked_to"
_NAMING = ("relation", "predicate", "type", "label", "kind")  # attributes of a link that say how it links


def is_network(given: Any) -> bool:
    """Whether something is a graph of NetworkX."""
    return all(hasattr(given, name) for name in ("nodes", "edges", "is_directed"))


def read_network(path: Path, name: str) -> list[WideTable]:
    """The tables of a network file."""
    import networkx

    readers = {".graphml": networkx.read_graphml, ".gexf": networkx.read_gexf, ".gml": networkx.read_gml}
    ending = suffix_of(path)
    is_xml = ending != ".gml"
    try:
        with io.BufferedReader(BoundedContent(path, b"<" if is_xml else b"\r\n", is_xml)) as content:
            network = readers[ending](content)
    except UserError:
        raise
    except Exception as error:  # of the XML parser, of NetworkX and of what both call: a file can be wrong in any way
        problem = str(error).partition("\n")[0]
        raise UserError(f"{path} cannot be read as {ending[1:]}: {problem or type(error).__name__}") from None
    return network_tables(network, name, str(path))


def network_tables(network: Any, name: str, source: str) -> list[WideTable]:
    """A table of the nodes with their attributes, and one for each relation that links them."""
    nodes = list(network.nodes(data=True))
    if not nodes:
        raise UserError(f"{source} has no nodes")
    columns = {_NODE: pa.array([str(node) for node, _ in nodes], pa.string())}
    for header in dict.fromkeys(header for _, data in nodes for header in data):
        if str(header) != _NODE:
            columns[str(header)] = from_values(data.get(header) for _, data in nodes)
    tables = [WideTable(name, source, columns, row_word="node", primary_key=(_NODE,))]
    links: dict[str, list[tuple[str, str]]] = {}
    left_out = Counter[str]()
    edges = network.edges(keys=True, data=True) if network.is_multigraph() else network.edges(data=True)
    for one, other, *key, data in edges:
        naming = next((header for header in _NAMING if isinstance(data.get(header), str) and data[header]), None)
        relation = data[naming] if naming else key[0] if key and isinstance(key[0], str) and key[0] else _LINKED
        links.setdefault(relation, []).append((str(one), str(other)))
        left_out.update(str(header) for header in data if header not in (naming, "id"))
    remarks = [
        f"{header} of {count:,} links left out: a link has no values of its own" for header, count in left_out.items()
    ]
    for relation, ends in links.items():
        header = relation if relation != _NODE else f"{relation} "
        reference = (name, _NODE)
        tables.append(
            WideTable(
                f"{name}_{relation}".replace(".", "_"),
                source,
                {_NODE: pa.array([one for one, _ in ends]), header: pa.array([other for _, other in ends])},
                row_word=f"link {relation}",
                primary_key=(_NODE, header),
                references={_NODE: reference, header: reference},
                remarks=tuple(remarks),
            )
        )
        remarks = []
    return tables
