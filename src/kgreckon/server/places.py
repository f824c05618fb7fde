"""Places: entities with a latitude and a longitude, for a map."""

from __future__ import annotations

import re
from functools import cached_property

import numpy as np

from kgreckon.graph import KnowledgeGraph

_MOST = 5_000
_LATITUDE = re.compile(r"(?:has|.*[^a-z])?(?:lat|latitude)", re.IGNORECASE)
_LONGITUDE = re.compile(r"(?:has|.*[^a-z])?(?:lon|long|longitude)", re.IGNORECASE)


class Places:
    """Where the entities of a graph are, if it says."""

    def __init__(self, graph: KnowledgeGraph) -> None:
        self.graph = graph
        self._latitude, self._longitude = (_first(graph, pattern) for pattern in (_LATITUDE, _LONGITUDE))

    def __bool__(self) -> bool:
        return self._latitude is not None and self._longitude is not None and len(self.entities) > 0

    def of(self, entity: int) -> tuple[float, float] | None:
        """The latitude and longitude of an entity."""
        latitude = self._number(entity, self._latitude, 90)
        longitude = self._number(entity, self._longitude, 180)
        return None if latitude is None or longitude is None else (latitude, longitude)

    def background(self) -> list[tuple[float, float]]:
        """Latitude and longitude of some entities, evenly taken from all."""
        step = max(1, -(-len(self.entities) // _MOST))
        found = [place for entity in self.entities[::step].tolist() if (place := self.of(entity)) is not None]
        return [(latitude, longitude) for latitude, longitude in np.array(found).reshape(-1, 2).round(4).tolist()]

    @cached_property
    def entities(self) -> np.ndarray:
        """All that have a place."""
        if self._latitude is None or self._longitude is None:
            return np.zeros(0, dtype=np.int64)
        latitudes, longitudes = self._within(self._latitude, 90), self._within(self._longitude, 180)
        return np.intersect1d(latitudes, longitudes, assume_unique=True)

    def _within(self, attribute: int, bound: float) -> np.ndarray:
        """The entities whose first value of an attribute is within its bound."""
        values_of = self.graph.values_of
        groups = np.flatnonzero(values_of.labels == attribute)
        numbers = self.graph.values.numbers[values_of.targets[values_of.starts[groups]]]
        own = groups[np.abs(numbers) <= bound]
        return np.searchsorted(values_of.offsets, own, side="right") - 1

    def _number(self, entity: int, attribute: int | None, bound: float) -> float | None:
        """The first value of an attribute on an entity, if it is within its bound."""
        if attribute is None:
            return None
        rows = self.graph.values_of.row(entity, attribute)
        number = float(self.graph.values.numbers[rows[0]]) if len(rows) else np.inf
        return number if abs(number) <= bound else None


def _first(graph: KnowledgeGraph, pattern: re.Pattern[str]) -> int | None:
    """The first attribute that is called so."""
    labels = (graph.attributes.label(attribute) for attribute in range(len(graph.attributes)))
    return next((attribute for attribute, label in enumerate(labels) if pattern.fullmatch(label)), None)
