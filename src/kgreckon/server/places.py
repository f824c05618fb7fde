"""Places: entities with a latitude and a longitude, for a map."""

from __future__ import annotations

import re

import numpy as np

from kgreckon.graph import KnowledgeGraph

_MOST = 5_000
_LATITUDE = re.compile(r"(?:has|.*[^a-z])?(?:lat|latitude)", re.IGNORECASE)
_LONGITUDE = re.compile(r"(?:has|.*[^a-z])?(?:lon|long|longitude)", re.IGNORECASE)


class Places:
    """Where the entities of a graph are, if it says."""

    def __init__(self, graph: KnowledgeGraph) -> None:
        latitudes, longitudes = (
            _first(graph, pattern, bound) for pattern, bound in ((_LATITUDE, 90), (_LONGITUDE, 180))
        )
        known = np.isfinite(latitudes) & np.isfinite(longitudes)
        self.latitudes, self.longitudes = latitudes, longitudes
        self.entities = np.flatnonzero(known)

    def __bool__(self) -> bool:
        return len(self.entities) > 0

    def of(self, entity: int) -> tuple[float, float] | None:
        """The latitude and longitude of an entity."""
        found = float(self.latitudes[entity]), float(self.longitudes[entity])
        return found if all(map(np.isfinite, found)) else None

    def background(self) -> list[tuple[float, float]]:
        """Latitude and longitude of some entities, evenly taken from all."""
        step = max(1, -(-len(self.entities) // _MOST))
        chosen = self.entities[::step]
        return [*zip(*(each[chosen].round(4).tolist() for each in (self.latitudes, self.longitudes)), strict=True)]


def _first(graph: KnowledgeGraph, pattern: re.Pattern[str], bound: float) -> np.ndarray:  # (entities,)
    """The first value, within its bound, of the first attribute that is called so; NaN where there is none."""
    found = np.full(len(graph.entities), np.nan)
    for attribute in range(len(graph.attributes)):
        if not pattern.fullmatch(graph.attributes.label(attribute)):
            continue
        facts = graph.attribute_facts
        own = np.flatnonzero(facts.labels == attribute)[::-1]  # the first fact is written last
        found[facts.sources[own]] = graph.values.numbers[facts.targets[own]]
        break
    found[np.abs(found) > bound] = np.nan
    return found
