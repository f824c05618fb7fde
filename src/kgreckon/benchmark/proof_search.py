"""The compiled search for the proof of an answer that lacks the fewest facts.

It goes backwards from the answer through the nodes of the query, in the order in which they are written, so that a
node's item is known before its parts are looked at. What the known facts prove needs no search. Proofs that lack one
fact are looked for first, then those that lack two, and so on: the first that is met is the cheapest.
"""

from __future__ import annotations

import numpy as np

from kgreckon.compiling import compiled
from kgreckon.exact.arithmetic import holds
from kgreckon.exact.ragged import first_at_least

# What a node does, and what a proof may lack.
ANCHOR, FOLLOW, VALUE_OF, HAVING_VALUE, COMPARE, AND, OR, NOT = range(8)
_FACT, _VALUE, _STATED = range(3)

Rows = tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]  # the arrays of an Adjacency
# Sets of rising intervals end to end: where those of each node and query begin, their bounds, and whether they are
# what the set of a node leaves out.
Sets = tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]


@compiled
def _holds_item(sets: Sets, node: int, query: int, item: int) -> bool:
    """Whether the set of a node and a query has an item."""
    offsets, lows, highs, negated = sets
    low = offsets[node, query]
    index = first_at_least(lows, low, offsets[node, query + 1], item + 1)
    return (index > low and highs[index - 1] > item) != negated[node]


@compiled
def _row(rows: Rows, source: int, label: int) -> tuple[int, int]:
    """Where the targets of a source and a label stand."""
    offsets, labels, starts, _ = rows
    end = offsets[source + 1]
    group = first_at_least(labels, offsets[source], end, label)
    if group == end or labels[group] != label:
        return 0, 0
    return starts[group], starts[group + 1]


@compiled
def _lacks(lacking: np.ndarray, size: int, kind: int, label: int, one: int, other: int) -> int:
    """Add what a proof lacks to a list, unless it is there; returns the list's new size."""
    for index in range(size):
        entry = lacking[index]
        if entry[0] == kind and entry[1] == label and entry[2] == one and entry[3] == other:
            return size
    lacking[size, 0], lacking[size, 1], lacking[size, 2], lacking[size, 3] = kind, label, one, other
    return size + 1


@compiled
def _count(lacking: np.ndarray, size: int) -> tuple[int, int]:
    """How many facts and values are lacking, and how many of them are values.

    That a value must be stated of some entity costs nothing where a lacking fact states it.
    """
    total = values = 0
    for index in range(size):
        kind = lacking[index, 0]
        if kind == _STATED:
            told = False
            for other in range(size):
                told |= lacking[other, 0] == _VALUE and lacking[other, 3] == lacking[index, 3]
            if told:
                continue
        total += 1
        values += kind != _FACT
    return total, values


@compiled
def _cheapest(
    query: int,
    answer: int,
    limit: int,
    repeats: bool,
    program: tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray],
    ids: np.ndarray,
    own: Sets,
    known: Sets,
    complete: tuple[Rows, Rows, Rows],
    training: tuple[Rows, Rows, Rows],
    compared: Rows,
    computed: bool,
    numbers: np.ndarray,
    units: np.ndarray,
    comparisons: tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray],
    stated: np.ndarray,
    state: np.ndarray,
    lacking: np.ndarray,
) -> int:
    """The fewest values that a proof of an answer lacks which lacks `limit` facts and values at most; -1 if none does.

    `state` and `lacking` are room to work in: rows for each node, and a list.
    """
    steps, columns, ends, parents = program
    items, below, cursors, lows, highs, known_lows, known_highs, sizes, chosen, trail, listed = state
    depth = size = node = 0
    best = -1
    forward = True
    while True:
        if forward:  # `node` is next, all before it is proved
            if node == len(steps):
                values = _count(lacking, size)[1]
                if best < 0 or values < best:
                    best = values
                if best == 0:
                    return best
                forward = False
                continue
            parent = parents[node]
            if parent >= 0 and steps[parent] == OR and chosen[parent] != node:
                node = ends[node]
                continue
            here = answer
            if parent >= 0:
                here = items[parent] if steps[parent] in (AND, OR) else below[parent]
            if _holds_item(known, node, query, here):
                node = ends[node]
                continue
            step = steps[node]
            items[node] = here
            forward = step == AND
            if step in (ANCHOR, NOT) or (not repeats and _count(lacking, size)[0] >= limit):
                forward = False
                continue
            if step == AND:
                node += 1
                continue
            trail[depth] = node
            depth += 1
            chosen[node] = -1
            listed[node] = 0
            if step != OR:
                child = node + 1
                label = ids[query, columns[node]]
                if step == FOLLOW:
                    lows[node], highs[node] = _row(complete[0], here, label ^ 1)
                    known_lows[node], known_highs[node] = _row(training[0], here, label ^ 1)
                elif step == VALUE_OF:
                    lows[node], highs[node] = _row(complete[1], label, here)
                    known_lows[node], known_highs[node] = _row(training[1], label, here)
                elif step == HAVING_VALUE:
                    lows[node], highs[node] = _row(complete[2], here, label)
                    known_lows[node], known_highs[node] = _row(training[2], here, label)
                elif computed:
                    lows[node], highs[node] = own[0][child, query], own[0][child, query + 1]
                    chosen[node] = own[1][lows[node]] if lows[node] < highs[node] else 0
                else:
                    lows[node], highs[node] = _row(compared, here, label)
                    if not stated[here]:
                        size = _lacks(lacking, size, _STATED, 0, 0, here)
                cursors[node] = lows[node]
                if step in (FOLLOW, VALUE_OF) and not own[3][child]:
                    first, end = own[0][child, query], own[0][child, query + 1]
                    if end - first < highs[node] - lows[node]:  # look up these, not those
                        listed[node] = 1
                        cursors[node] = first
            sizes[node] = size
            forward = False
            continue
        # back to the last choice: the next of what it may be
        if depth == 0:
            return best
        node = trail[depth - 1]
        size = sizes[node]
        step = steps[node]
        if step == OR:
            part = node + 1 if chosen[node] < 0 else ends[chosen[node]]
            if part == ends[node]:
                depth -= 1
                continue
            chosen[node] = part
            node = part
            forward = True
            continue
        child = node + 1
        label = ids[query, columns[node]]
        here = items[node]
        while not forward:
            if step == COMPARE and computed:
                if cursors[node] == highs[node]:
                    break
                item = chosen[node]
                chosen[node] += 1
                if chosen[node] == own[2][cursors[node]]:
                    cursors[node] += 1
                    if cursors[node] < highs[node]:
                        chosen[node] = own[1][cursors[node]]
                order, factor, addend, tolerance = comparisons
                if units[item] != units[here] or not holds(
                    numbers[here], numbers[item], order[label], factor[label], addend[label], tolerance[label]
                ):
                    continue
            elif step == COMPARE:
                if cursors[node] == highs[node]:
                    break
                item = compared[3][cursors[node]]
                cursors[node] += 1
                if not _holds_item(own, child, query, item):
                    continue
            else:
                kind = step - FOLLOW
                targets = complete[kind][3]
                if listed[node]:
                    if cursors[node] == own[0][child, query + 1]:
                        break
                    item = own[1][cursors[node]]
                    cursors[node] += 1
                    index = first_at_least(targets, lows[node], highs[node], item)
                    if index == highs[node] or targets[index] != item:
                        continue
                else:
                    if cursors[node] == highs[node]:
                        break
                    item = targets[cursors[node]]
                    cursors[node] += 1
                    if not _holds_item(own, child, query, item):
                        continue
                size = sizes[node]
                targets = training[kind][3]
                index = first_at_least(targets, known_lows[node], known_highs[node], item)
                if index == known_highs[node] or targets[index] != item:
                    if step == FOLLOW:
                        head, tail = (here, item) if label & 1 else (item, here)
                        size = _lacks(lacking, size, _FACT, label >> 1, head, tail)
                    elif step == VALUE_OF:
                        size = _lacks(lacking, size, _VALUE, label, item, here)
                    else:
                        size = _lacks(lacking, size, _VALUE, label, here, item)
            total, values = _count(lacking, size)
            if total > limit or (best >= 0 and values >= best):
                continue
            below[node] = item
            forward = True
        if forward:
            node = child
        else:
            depth -= 1


@compiled
def fewest_missing(
    offsets: np.ndarray,
    answers: np.ndarray,
    repeats: np.ndarray,
    most: int,
    program: tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray],
    ids: np.ndarray,
    own: Sets,
    known: Sets,
    complete: tuple[Rows, Rows, Rows],
    training: tuple[Rows, Rows, Rows],
    compared: Rows,
    computed: bool,
    numbers: np.ndarray,
    units: np.ndarray,
    comparisons: tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray],
    stated: np.ndarray,
) -> tuple[np.ndarray, np.ndarray]:
    """For each answer, how many facts its cheapest proof lacks, and how many values; -1 where it has no proof.

    `own` holds the sets of all nodes on the graph that proves the answers, whose edges are `complete` and `compared`,
    and `known` those on the training graph. `repeats` says in which queries two steps may need the same fact, so that
    a proof that lacks `limit` facts may need more steps without lacking more.
    """
    facts = np.full(len(answers), -1, dtype=np.int8)
    values = np.full(len(answers), -1, dtype=np.int8)
    state = np.zeros((11, len(program[0])), dtype=np.int64)
    lacking = np.zeros((2 * len(program[0]), 4), dtype=np.int64)
    for query in range(len(offsets) - 1):
        for index in range(offsets[query], offsets[query + 1]):
            if _holds_item(known, 0, query, answers[index]):
                facts[index] = values[index] = 0
                continue
            for limit in range(1, most + 1):
                missing_values = _cheapest(
                    query, answers[index], limit, repeats[query], program, ids, own, known, complete, training,
                    compared, computed, numbers, units, comparisons, stated, state, lacking,
                )  # fmt: skip
                if missing_values >= 0:
                    facts[index], values[index] = limit - missing_values, missing_values
                    break
    return facts, values
