"""The compiled backward walk: from a random answer to a query that has it (the paper's appendix).

A general type is a short program, its nodes in the order in which they are written. Because a node stands before its
parts, one pass from left to right grounds it: the root gets a random node of the graph, a projection draws a
predecessor for its part, an intersection hands its node to all parts, a union to one of them.

The branches of an intersection must differ: as queries, and in the nodes from which they step into the answer. A
projection steps from its predecessor, an anchor stands on the answer itself; a negation, or an intersection or union
within an intersection, steps from wherever its parts do.
"""

from __future__ import annotations

from itertools import combinations, pairwise, product

import numpy as np

from kgreckon.compiling import compiled
from kgreckon.exact.arithmetic import equal_within
from kgreckon.exact.ragged import Int
from kgreckon.query import Operator, Shape

# What a place of a grounded query is. Within projections and within anchors the order is that of their texts, so that
# sorting the parts of an intersection by these codes gives a shape's canonical order.
AP, NP, RAP, RP = 0, 1, 2, 3
ANY_PROJECTION, ANY_ANCHOR = 4, 5
E, NV = 0, 1
ANCHOR, PROJECTION, AND, OR, NOT = 0, 1, 2, 3, 4

_PROJECTIONS = {
    Operator.VALUE_OF: AP,
    Operator.COMPARE: NP,
    Operator.HAVING_VALUE: RAP,
    Operator.FOLLOW: RP,
    Operator.PROJECT: ANY_PROJECTION,
}
PROJECTION_OF = {code: operator for operator, code in _PROJECTIONS.items()}
ANCHOR_OF = {E: Operator.ENTITY, NV: Operator.NUMBER}


class Program:
    """A shape as arrays: the step of each node, its parent, and what its place may be."""

    def __init__(self, shape: Shape) -> None:
        self.shape = shape.canonical
        # In a general type `e` is any anchor; in a type written out it is an entity.
        general = any(operator is Operator.PROJECT for operator in self.shape.columns)
        steps: list[int] = []
        parents: list[int] = []
        kinds: list[int] = []
        places: list[int] = []  # the column of a node, -1 for logic
        spans: list[int] = []  # the first node after a node's subtree
        texts: list[str] = []

        def add(shape: Shape, parent: int) -> None:
            node = len(steps)
            operator = shape.operator
            logic = {Operator.AND: AND, Operator.OR: OR, Operator.NOT: NOT}.get(operator)
            parents.append(parent)
            spans.append(0)
            texts.append(shape.text)
            if logic is not None:
                steps.append(logic)
                kinds.append(-1)
                places.append(-1)
            elif operator in _PROJECTIONS:
                steps.append(PROJECTION)
                kinds.append(_PROJECTIONS[operator])
                places.append(sum(place >= 0 for place in places))
            else:
                steps.append(ANCHOR)
                kinds.append(ANY_ANCHOR if general else {Operator.ENTITY: E, Operator.NUMBER: NV}[operator])
                places.append(sum(place >= 0 for place in places))
            for part in shape.parts:
                add(part, node)
            spans[node] = len(steps)

        add(self.shape, -1)
        self.steps = np.array(steps, dtype=np.int64)
        self.parents = np.array(parents, dtype=np.int64)
        self.kinds = np.array(kinds, dtype=np.int64)
        self.places = np.array(places, dtype=np.int64)
        self.width = self.shape.width
        self.sizes = np.array([len(self._parts(node)) for node in range(len(steps))], dtype=np.int64)
        self.turns = np.array([self._turn(node) for node in range(len(steps))], dtype=np.int64)
        self.apart = self._steps_apart()
        self.swaps = self._swaps(spans, texts)
        self.unlike = self._unlike(spans, texts)

    def _parts(self, node: int) -> list[int]:
        return [part for part, parent in enumerate(self.parents) if parent == node]

    def _turn(self, node: int) -> int:
        """Which part of its parent a node is."""
        return 0 if node == 0 else self._parts(int(self.parents[node])).index(node)

    def _steps_apart(self) -> np.ndarray:
        """Pairs of nodes in different branches of one intersection whose predecessors must differ."""
        pairs: list[tuple[int, int]] = []
        for node in np.flatnonzero(self.steps == AND).tolist():
            for one, other in combinations(map(self._entries, self._parts(node)), 2):
                pairs += product(one, other)
        return np.array(pairs, dtype=np.int64).reshape(-1, 2)

    def _entries(self, node: int) -> list[int]:
        """The projections and anchors by which a branch reaches the answer, through negations and other logic."""
        if self.steps[node] in (PROJECTION, ANCHOR):
            return [node]
        return [entry for part in self._parts(node) for entry in self._entries(part)]

    def _swaps(self, spans: list[int], texts: list[str]) -> np.ndarray:
        """Adjacent runs of columns to put in order, one bubble sort after the other, the innermost first."""
        swaps = []
        for node in reversed(np.flatnonzero((self.steps == AND) | (self.steps == OR)).tolist()):
            parts = self._parts(node)
            for end in range(len(parts) - 1, 0, -1):
                swaps += self._alike(parts[: end + 1], spans, texts)
        return np.array(swaps, dtype=np.int64).reshape(-1, 3)

    def _unlike(self, spans: list[int], texts: list[str]) -> np.ndarray:
        """Adjacent runs of columns that must differ once they are in order: branches of one intersection."""
        runs = []
        for node in np.flatnonzero(self.steps == AND).tolist():
            runs += self._alike(self._parts(node), spans, texts)
        return np.array(runs, dtype=np.int64).reshape(-1, 3)

    def _alike(self, parts: list[int], spans: list[int], texts: list[str]) -> list[tuple[int, int, int]]:
        """The columns of neighbouring parts of one general type: where the left and the right begin, and how many."""
        runs = []
        for left, right in pairwise(parts):
            if texts[left] == texts[right]:
                columns = [int(place) for place in self.places[left : spans[left]] if place >= 0]
                runs.append((columns[0], columns[0] + len(columns), len(columns)))
        return runs

    def specific_shape(self, kinds: list[int]) -> Shape:
        """The shape that the kinds of its columns make of this type."""
        column = iter(kinds)

        def build(shape: Shape) -> Shape:
            operator = shape.operator
            if operator in _PROJECTIONS:
                operator = PROJECTION_OF[next(column)]
            elif operator in (Operator.ENTITY, Operator.NUMBER):
                operator = ANCHOR_OF[next(column)]
            return Shape(operator, tuple(build(part) for part in shape.parts))

        return build(self.shape)


@compiled
def _next(state: np.ndarray) -> np.uint64:
    """The next 64 random bits (splitmix64)."""
    state[0] += np.uint64(0x9E3779B97F4A7C15)
    z = state[0]
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))


@compiled
def _below(state: np.ndarray, count: Int) -> np.int64:
    """A random number below `count`."""
    return np.int64(((_next(state) >> np.uint64(32)) * np.uint64(count)) >> np.uint64(32))


@compiled
def _draw_comparison(state: np.ndarray, x: float, y: float) -> Int:
    """One of the seven relations that x has to y, at random; -1 if it has none."""
    equal, twice, thrice = equal_within(x, y, 0.01), equal_within(x, 2.0 * y, 0.01), equal_within(x, 3.0 * y, 0.01)
    count = np.int64(equal) + (x < y) + (x > y) + twice + thrice + (x > 2.0 * y) + (x > 3.0 * y)
    if count == 0:
        return -1
    pick = _below(state, count)
    for number, holds in enumerate((equal, x < y, x > y, twice, thrice, x > 2.0 * y, x > 3.0 * y)):
        if holds:
            if pick == 0:
                return number
            pick -= 1
    return -1


@compiled
def _draw_edge(
    state: np.ndarray, offsets: np.ndarray, predecessors: np.ndarray, starts: np.ndarray, labels: np.ndarray, node: Int
) -> tuple[Int, Int]:
    """A random predecessor of `node`, then a random label that leads from it; -1 where there is none."""
    low, count = offsets[node], offsets[node + 1] - offsets[node]
    if count == 0:
        return -1, -1
    group = low + _below(state, count)
    label = labels[starts[group] + _below(state, starts[group + 1] - starts[group])]
    return np.int64(predecessors[group]), np.int64(label)


@compiled
def _less(ids: np.ndarray, kinds: np.ndarray, left: int, right: int, size: int) -> int:
    """Whether a run of columns comes before another: by kinds first, then by ids."""
    for column in range(size):
        if kinds[left + column] != kinds[right + column]:
            return kinds[left + column] < kinds[right + column]
    for column in range(size):
        if ids[left + column] != ids[right + column]:
            return ids[left + column] < ids[right + column]
    return False


@compiled
def walk(
    seed: np.uint64,
    first: int,
    count: int,
    steps: np.ndarray,
    parents: np.ndarray,
    kinds: np.ndarray,
    places: np.ndarray,
    sizes: np.ndarray,
    turns: np.ndarray,
    apart: np.ndarray,
    swaps: np.ndarray,
    unlike: np.ndarray,
    width: int,
    entities: np.ndarray,
    values: np.ndarray,
    computed: bool,
    numbers: np.ndarray,
    row_units: np.ndarray,
    unit_offsets: np.ndarray,
    rp: tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray],
    rap: tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray],
    ap: tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray],
    np_: tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray],
) -> tuple[np.ndarray, np.ndarray]:
    """The queries that attempts `first` to `first + count` reach: their ids, and the kinds of their columns.

    `entities` and `values` are the nodes of the graph; `unit_offsets` says where the values of each unit stand. The
    last four are the predecessors along each projection, in compressed rows.
    """
    out_ids = np.empty((count, width), dtype=np.int32)
    out_kinds = np.empty((count, width), dtype=np.int8)
    found = 0
    num_nodes = len(steps)
    node_sort = np.empty(num_nodes, dtype=np.int64)
    node_id = np.empty(num_nodes, dtype=np.int64)
    chosen = np.empty(num_nodes, dtype=np.int64)
    state = np.empty(1, dtype=np.uint64)
    for attempt in range(first, first + count):
        state[0] = seed ^ (np.uint64(attempt) * np.uint64(0xD1B54A32D192ED03))
        _next(state)
        ids = out_ids[found]
        columns = out_kinds[found]
        alive = True
        for node in range(num_nodes):
            if node == 0:
                start = _below(state, len(entities) + len(values))
                sort = E if start < len(entities) else NV
                here = np.int64(entities[start] if sort == E else values[start - len(entities)])
            else:
                parent = parents[node]
                sort, here = node_sort[parent], node_id[parent]
                if steps[parent] == OR and turns[node] != chosen[parent]:
                    here = np.int64(
                        entities[_below(state, len(entities))] if sort == E else values[_below(state, len(values))]
                    )
            step = steps[node]
            column = places[node]
            if step == PROJECTION:
                kind = kinds[node]
                if kind == ANY_PROJECTION:
                    backwards = _below(state, 2) == 0
                    kind = (RP if backwards else RAP) if sort == E else (AP if backwards else NP)
                elif (kind in (RP, RAP)) != (sort == E):
                    alive = False
                    break
                if kind == RP:
                    before, label = _draw_edge(state, rp[0], rp[1], rp[2], rp[3], here)
                elif kind == RAP:
                    before, label = _draw_edge(state, rap[0], rap[1], rap[2], rap[3], here)
                elif kind == AP:
                    before, label = _draw_edge(state, ap[0], ap[1], ap[2], ap[3], here)
                elif computed:
                    unit = row_units[here]
                    low, high = unit_offsets[unit], unit_offsets[unit + 1]
                    before = np.int64(values[low + _below(state, high - low)])
                    label = _draw_comparison(state, numbers[here], numbers[before])
                else:
                    before, label = _draw_edge(state, np_[0], np_[1], np_[2], np_[3], here)
                if label < 0:
                    alive = False
                    break
                ids[column] = label
                columns[column] = kind
                node_sort[node] = E if kind in (RP, AP) else NV
                node_id[node] = before
            elif step == ANCHOR:
                if kinds[node] != ANY_ANCHOR and kinds[node] != sort:
                    alive = False
                    break
                ids[column] = here
                columns[column] = sort
                node_sort[node] = sort
                node_id[node] = here
            else:
                node_sort[node] = sort
                node_id[node] = here
                if step == OR:
                    chosen[node] = _below(state, sizes[node])
        if not alive:
            continue
        for pair in range(len(apart)):
            one, other = apart[pair, 0], apart[pair, 1]
            if node_id[one] == node_id[other] and node_sort[one] == node_sort[other]:
                alive = False
                break
        if not alive:
            continue
        for swap in range(len(swaps)):
            left, right, size = swaps[swap, 0], swaps[swap, 1], swaps[swap, 2]
            if _less(ids, columns, right, left, size):
                for column in range(size):
                    ids[left + column], ids[right + column] = ids[right + column], ids[left + column]
                    columns[left + column], columns[right + column] = columns[right + column], columns[left + column]
        for run in range(len(unlike)):
            left, right, size = unlike[run, 0], unlike[run, 1], unlike[run, 2]
            if not _less(ids, columns, left, right, size):  # in order, and not less: the same
                alive = False
                break
        found += alive
    return out_ids[:found].copy(), out_kinds[:found].copy()


@compiled
def add_new_rows(table: np.ndarray, rows: np.ndarray, num_rows: int, ids: np.ndarray, kinds: np.ndarray) -> np.ndarray:
    """Which of some rows were not met before; the new ones go to the end of `rows`, the hash `table` finds them.

    `rows` holds ids and kinds side by side; there must be room, and the table must be larger than all rows together.
    """
    count, width = ids.shape
    new = np.zeros(count, dtype=np.bool_)
    mask = np.uint64(len(table) - 1)
    row = np.empty(2 * width, dtype=np.int32)
    for index in range(count):
        code = np.uint64(0x9E3779B97F4A7C15)
        for column in range(width):
            row[column] = ids[index, column]
            row[width + column] = kinds[index, column]
            code ^= np.uint64(np.uint32(ids[index, column])) | (np.uint64(kinds[index, column]) << np.uint64(40))
            code *= np.uint64(0xBF58476D1CE4E5B9)
            code ^= code >> np.uint64(29)
        slot = code & mask
        while True:
            held = table[slot]
            if held < 0:
                rows[num_rows] = row
                table[slot] = num_rows
                num_rows += 1
                new[index] = True
                break
            same = True
            for column in range(2 * width):
                if rows[held, column] != row[column]:
                    same = False
                    break
            if same:
                break
            slot = (slot + np.uint64(1)) & mask
    return new
