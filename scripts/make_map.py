"""Make the coasts and borders of the page's maps from Natural Earth, as the npm package world-atlas has them.

    npm pack world-atlas@2.0.2 && tar xzf world-atlas-2.0.2.tgz
    python scripts/make_map.py package/countries-50m.json

The result is a JSON object with two lists of lines: `land` are rings, `borders` are open. A line is a text: the
differences between its points, longitude before latitude, in hundredths of a degree, written as Google's "encoded
polylines" are.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterable, Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

OUT = Path(__file__).resolve().parents[1] / "src/kgreckon/server/page/vendored/world.json"
UNITS = 100  # in a degree
TOLERANCE = 0.02  # degrees that a line may be off


def main() -> None:
    """Read the topology, and write what the page draws."""
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("topology", type=Path, help="countries-50m.json of world-atlas")
    topology = json.loads(arguments.parse_args().topology.read_text())
    arcs = [simplified(arc) for arc in decoded_arcs(topology)]
    land = [part for ring in rings_of(topology, arcs) for part in cut(unwound(ring))]
    borders = [unwound(arcs[arc]) for arc in shared_arcs(topology["objects"]["countries"])]
    lines = {name: sorted(filter(None, map(encoded, some)), key=len, reverse=True)
             for name, some in (("land", land), ("borders", borders))}  # fmt: skip
    OUT.parent.mkdir(exist_ok=True)
    OUT.write_text(json.dumps(lines, separators=(",", ":")) + "\n")
    print(f"{OUT.name}: {len(land)} coasts, {len(borders)} borders, {OUT.stat().st_size:,} bytes")


def decoded_arcs(topology: dict[str, Any]) -> Iterator[np.ndarray]:  # (points, 2) each
    """The arcs of a TopoJSON topology, in degrees."""
    scale, translate = (np.array(topology["transform"][name]) for name in ("scale", "translate"))
    for arc in topology["arcs"]:
        yield np.cumsum(np.array(arc), axis=0) * scale + translate


def simplified(line: np.ndarray) -> np.ndarray:
    """A line with fewer points, none of the others further off than the tolerance (Douglas and Peucker)."""
    kept, spans = {0, len(line) - 1}, [(0, len(line) - 1)]
    while spans:
        first, last = spans.pop()
        chord, inner = line[last] - line[first], line[first + 1 : last] - line[first]
        if not len(inner):
            continue
        length = float(np.hypot(*chord))
        across = np.abs(inner @ np.array([-chord[1], chord[0]])) / length if length else np.hypot(*inner.T)
        furthest = int(across.argmax())
        if across[furthest] > TOLERANCE:
            middle = first + 1 + furthest
            kept.add(middle)
            spans += [(first, middle), (middle, last)]
    return line[sorted(kept)]


def rings_of(topology: dict[str, Any], arcs: list[np.ndarray]) -> Iterator[np.ndarray]:
    """The rings around land: arcs one after another, those with a negative number backwards."""
    for shape in topology["objects"]["land"]["geometries"]:
        for polygon in shape["arcs"]:
            for ring in polygon:
                parts = [arcs[arc] if arc >= 0 else arcs[~arc][::-1] for arc in ring]
                yield np.concatenate([parts[0], *(part[1:] for part in parts[1:])])


def shared_arcs(countries: dict[str, Any]) -> list[int]:
    """The arcs that two countries have in common."""
    uses: dict[int, int] = {}
    for country in countries["geometries"]:
        for arc in _numbers_in(country["arcs"]):
            uses[max(arc, ~arc)] = uses.get(max(arc, ~arc), 0) + 1
    return [arc for arc, count in uses.items() if count > 1]


def _numbers_in(nested: Iterable[Any]) -> Iterator[int]:
    for one in nested:
        if isinstance(one, int):
            yield one
        else:
            yield from _numbers_in(one)


def unwound(line: np.ndarray) -> np.ndarray:
    """A line that goes on beyond 180 degrees instead of jumping to the other side of the map."""
    unwound_line = line.copy()
    unwound_line[:, 0] = np.unwrap(line[:, 0], period=360)
    return unwound_line


def cut(ring: np.ndarray) -> Iterator[np.ndarray]:
    """The parts of a ring on a map from -180 to 180 degrees; one around a pole goes along the edge of the map."""
    turn = ring[-1, 0] - ring[0, 0]
    if abs(turn) > 180:
        pole = -90.0 if ring[:, 1].mean() < 0 else 90.0
        ring = np.vstack([ring, [[ring[-1, 0], pole], [ring[0, 0], pole]]])
    for shift in (-360, 0, 360):
        moved = ring + np.array([shift, 0])
        for side in (-1, 1):
            moved = _beside(moved, side)
        if len(moved) > 2:
            yield np.vstack([moved, moved[:1]])


def _beside(ring: np.ndarray, side: int) -> np.ndarray:
    """What of a ring is on this side of the map's eastern (1) or western (-1) edge (Sutherland and Hodgman)."""
    points: list[np.ndarray] = []
    for before, point in pairwise([*ring[-1:], *ring]):
        inside, was_inside = (180 - side * one[0] >= 0 for one in (point, before))
        if inside != was_inside:
            share = (side * 180 - before[0]) / (point[0] - before[0])
            points.append(before + share * (point - before))
        if inside:
            points.append(point)
    return np.array(points).reshape(-1, 2)


def encoded(line: np.ndarray) -> str:
    """A line as text; nothing where it is a point."""
    points = np.round(line * UNITS).astype(int)
    steps = np.diff(points, axis=0, prepend=[[0, 0]])
    steps = steps[np.append(True, steps[1:].any(axis=1))]
    return "".join(_character_codes(steps.ravel().tolist())) if len(steps) > 1 else ""


def _character_codes(numbers: Iterable[int]) -> Iterator[str]:
    for number in numbers:
        rest = 2 * number if number >= 0 else -2 * number - 1
        while rest >= 32:
            yield chr(63 + 32 + rest % 32)
            rest //= 32
        yield chr(63 + rest)


if __name__ == "__main__":
    main()
