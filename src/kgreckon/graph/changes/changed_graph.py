"""A graph with changes: the arrays of the stored one with others spliced in, when a question asks for them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from kgreckon.graph.adjacency import Adjacency
from kgreckon.graph.changes.changed_values import changed_values
from kgreckon.graph.changes.longer_symbols import LongerSymbols
from kgreckon.graph.changes.overlay import Overlay
from kgreckon.graph.changes.splicing import (
    STILL,
    EdgeChanges,
    Renumbering,
    changed_rows,
    changed_triples,
    edges_of,
    states,
)
from kgreckon.graph.knowledge_graph import KnowledgeGraph
from kgreckon.graph.triples import Triples
from kgreckon.graph.values import ValueTable

_ROWS = ("offsets", "labels", "starts", "targets")
_COLUMNS = ("sources", "labels", "targets")


class _LaterTriples(Triples):
    """Triples that are put together when a column is asked for."""

    def __init__(self, count: int, make: Callable[[], tuple[np.ndarray, ...]]) -> None:
        vars(self).update(_count=count, _make=make)

    def __len__(self) -> int:
        return int(vars(self)["_count"])

    def __getattr__(self, name: str) -> Any:
        if name not in _COLUMNS:
            raise AttributeError(name)
        vars(self).update(zip(_COLUMNS, vars(self)["_make"](), strict=True))
        return vars(self)[name]


class _LaterRows(Adjacency):
    """Compressed rows that are put together when they are asked for."""

    def __init__(self, num_targets: int, make: Callable[[], tuple[np.ndarray, ...]]) -> None:
        vars(self).update(num_targets=num_targets, _make=make)

    def __getattr__(self, name: str) -> Any:
        if name not in _ROWS:
            raise AttributeError(name)
        vars(self).update(zip(_ROWS, vars(self)["_make"](), strict=True))
        return vars(self)[name]


def changed_graph(overlay: Overlay) -> KnowledgeGraph:
    """The graph with all changes of an overlay, as they are now; later ones do not reach it.

    Ids of things, relations and attributes stay, and new ones come after them. Rows of the value table may move.
    """
    base = overlay.base
    facts, values = _fact_changes(overlay), _value_changes(overlay)
    units = np.array([*(base.values.units[unit] for unit in base.attribute_units.tolist()), *overlay.units])
    table, moved, rows = _table(overlay, values, units)
    num_entities = len(overlay.entities)
    graph = KnowledgeGraph(
        entities=LongerSymbols(base.entities, overlay.entities.names, overlay.labels),
        relations=LongerSymbols(base.relations, overlay.relations.names, {}),
        relation_phrases=(*base.relation_phrases, *(None for _ in overlay.relations.names)),
        attributes=LongerSymbols(base.attributes, overlay.attributes.names, {}),
        attribute_units=np.array([table.units.index(unit) for unit in units.tolist()], dtype=np.int32),
        values=table,
        facts=_later_triples(base.facts, facts),
        attribute_facts=_later_triples(base.attribute_facts, rows, moved),
    )
    vars(graph).update(  # in the place of what would be computed
        follows=_later_rows(base, "follows", facts.both_ways(), num_entities, num_entities),
        values_of=_later_rows(base, "values_of", rows, num_entities, len(table), STILL, moved),
        having=_later_rows(base, "having", rows.turned(), len(overlay.attributes), num_entities, moved),
    )
    return graph


def _later_triples(base: Triples, changes: EdgeChanges, moved: Renumbering = STILL) -> Triples:
    if not len(changes) and moved.rows is None:
        return base
    count = len(base) + len(changes.added) - len(changes.removed)
    return _LaterTriples(count, lambda: changed_triples(base, changes, moved))


def _later_rows(
    graph: KnowledgeGraph,
    name: str,
    changes: EdgeChanges,
    num_sources: int,
    num_targets: int,
    labels_to: Renumbering = STILL,
    targets_to: Renumbering = STILL,
) -> Adjacency:
    def make() -> tuple[np.ndarray, ...]:
        return changed_rows(getattr(graph, name), changes, num_sources, labels_to, targets_to)

    return _LaterRows(num_targets, make)


def _fact_changes(overlay: Overlay) -> EdgeChanges:
    """The facts that are not stated any more, and those that are stated now."""
    edges = edges_of(overlay.facts)
    keys = zip(edges.sources.tolist(), edges.labels.tolist(), edges.targets.tolist(), strict=True)
    wanted = np.array([overlay.facts[key] for key in keys], dtype=bool)
    there = states(overlay.base.follows, Triples(edges.sources, 2 * edges.labels, edges.targets))
    return EdgeChanges(edges[there & ~wanted], edges[wanted & ~there])


def _value_changes(overlay: Overlay) -> tuple[Triples, list[tuple[int, int, float]]]:
    """The values that are not stated any more, by their rows, and those that are stated now."""
    base = overlay.base
    known: list[tuple[int, int, int]] = []
    known_stated: list[bool] = []
    new: list[tuple[int, int, float]] = []
    for (entity, attribute, number), stated in overlay.values.items():
        row = None
        if attribute < len(base.attributes):
            row = base.values.row_of(number, base.values.units[int(base.attribute_units[attribute])])
        if row is not None:
            known.append((entity, attribute, row))
            known_stated.append(stated)
        elif stated:
            new.append((entity, attribute, number))
    columns = np.array(known, dtype=np.int32).reshape(-1, 3)
    order = np.lexsort((columns[:, 2], columns[:, 1], columns[:, 0]))
    edges = Triples(*(columns[order, place].copy() for place in range(3)))
    wanted = np.array(known_stated, dtype=bool)[order]
    there = states(base.values_of, edges)
    added = edges[wanted & ~there]
    numbers = base.values.numbers[added.targets] if len(added) else np.zeros(0)
    new += zip(added.sources.tolist(), added.labels.tolist(), numbers.tolist(), strict=True)
    return edges[there & ~wanted], new


def _table(
    overlay: Overlay, changes: tuple[Triples, list[tuple[int, int, float]]], units: np.ndarray
) -> tuple[ValueTable, Renumbering, EdgeChanges]:
    """The value table with the numbers that are stated now, how rows move, and the changes of values by row."""
    removed, added = changes
    base = overlay.base.values
    by_unit: dict[str, set[float]] = {str(unit): set() for unit in units.tolist()}
    for _, attribute, number in added:
        by_unit[str(units[attribute])].add(number)
    dropped = _without_holders(overlay.base, removed, by_unit)
    for (_, attribute, number), _ in overlay.values.items():  # a unit that an attribute has needs a row
        own = str(units[attribute])
        if not by_unit[own] and own not in base.units:
            by_unit[own].add(number)
    new = {
        unit: np.array(sorted(number for number in own if base.row_of(number, unit) is None), dtype=np.float64)
        for unit, own in by_unit.items()
    }
    table, moved = changed_values(base, dropped, new)
    edges = []
    for entity, attribute, number in added:
        row = table.row_of(number, str(units[attribute]))
        assert row is not None, "the table was made with it"
        edges.append((entity, attribute, row))
    return table, moved, EdgeChanges(removed, edges_of(edges))


def _without_holders(graph: KnowledgeGraph, removed: Triples, added: dict[str, set[float]]) -> np.ndarray:
    """The rows of the value table, rising, that no attribute has any more once some values are removed."""
    values, dropped = graph.values, []
    rows, counts = np.unique(removed.targets, return_counts=True)
    left = np.diff(values.unit_starts).tolist()
    for row, count in zip(rows.tolist(), counts.tolist(), strict=True):
        number, unit = values.number_at(row)
        place = values.units.index(unit)
        attributes = np.flatnonzero(graph.attribute_units == place).tolist()
        holders = sum(len(graph.having.row(attribute, row)) for attribute in attributes)
        if holders == count and number not in added.get(unit, ()) and left[place] > 1:
            left[place] -= 1
            dropped.append(row)
    return np.array(dropped, dtype=np.int64)
