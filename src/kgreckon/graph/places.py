"""Places: things with a latitude and a longitude, and how far they are from each other.

Distances are along great circles of a sphere with the mean radius of the WGS84 ellipsoid, by the haversine formula.
They differ from those on the ellipsoid by at most about 0.6 %.
"""

from __future__ import annotations

import re
from functools import cached_property

import numpy as np
from scipy.spatial import KDTree

from kgreckon.graph.knowledge_graph import KnowledgeGraph

EARTH_RADIUS = 6_371_008.8  # metres: (2a + b) / 3 of WGS84
_MOST = 5_000
_FEW = 4  # places from which distances are computed one by one
_NAME = r"(?P<before>has|.*[^a-z])?(?:{})(?P<after>[^a-z]*(?:deg|degrees|rad|radians|wgs84)?)"
_LATITUDE = re.compile(_NAME.format("lat|latitude"), re.IGNORECASE)
_LONGITUDE = re.compile(_NAME.format("lon|long|lng|longitude"), re.IGNORECASE)
_RADIANS = ("rad", "radian", "radians")


def distances(
    latitude: float | np.ndarray, longitude: float | np.ndarray, latitudes: np.ndarray, longitudes: np.ndarray
) -> np.ndarray:  # (places,), metres
    """How far some places are from one, or each from its own, all in degrees."""
    one, others = np.radians(latitude), np.radians(latitudes)
    across = np.sin((others - one) / 2) ** 2
    along = np.cos(one) * np.cos(others) * np.sin(np.radians(longitudes - longitude) / 2) ** 2
    return 2 * EARTH_RADIUS * np.arcsin(np.sqrt(np.clip(across + along, 0, 1)))


class Places:
    """Where the entities of a graph are, if it says: the first attributes that are called latitude and longitude.

    They are found by label (`latitude`, `lat`, `geo lat`, `hasLongitude`, `lng`), two with the same words around first.
    Numbers are degrees, or radians if that is their unit. Of several values of an entity the smallest counts.
    """

    def __init__(self, graph: KnowledgeGraph) -> None:
        self.graph = graph
        self.attributes = _coordinates(graph)

    def __bool__(self) -> bool:
        return len(self.entities) > 0

    def of(self, entity: int) -> tuple[float, float] | None:
        """The latitude and longitude of an entity, in degrees."""
        at = int(np.searchsorted(self.entities, entity))
        if at == len(self.entities) or self.entities[at] != entity:
            return None
        return float(self.latitudes[at]), float(self.longitudes[at])

    def background(self) -> list[tuple[float, float]]:
        """Latitude and longitude of some entities, evenly taken from all."""
        step = max(1, -(-len(self.entities) // _MOST))
        found = np.stack([self.latitudes[::step], self.longitudes[::step]], axis=1).round(4)
        return [(latitude, longitude) for latitude, longitude in found.tolist()]

    @property
    def in_radians(self) -> bool:
        """Whether the numbers are radians."""
        return self.attributes is not None and self._unit(self.attributes[0]) in _RADIANS

    def _unit(self, attribute: int) -> str:
        return self.graph.vocabulary.attribute_unit(attribute).casefold()

    # --------------------------------------------------------------------------------------------------- distances

    def from_nearest(self, of: np.ndarray, among: np.ndarray, within: float = np.inf) -> np.ndarray:  # (among,)
        """How many metres each of some entities is from the nearest of others: infinitely many where that is unknown.

        What is further than `within` may be infinitely far, too.
        """
        found = np.full(len(among), np.inf)
        targets, rows = self._rows(of)[1], self._rows(among)
        if not len(targets) or not len(rows[0]):
            return found
        places, at = rows
        if len(targets) > _FEW:
            found[places] = self._by_tree(targets, at)
            return found
        height = np.degrees(within / EARTH_RADIUS) * (1 + 1e-9)  # of a band of latitudes that holds all that are near
        for target in targets.tolist():
            near = np.abs(self.latitudes[at] - self.latitudes[target]) <= height
            place = self.latitudes[target], self.longitudes[target]
            metres = distances(*place, self.latitudes[at[near]], self.longitudes[at[near]])
            found[places[near]] = np.minimum(found[places[near]], metres)
        return found

    def _by_tree(self, targets: np.ndarray, at: np.ndarray) -> np.ndarray:
        """The same from many places: chords through the earth find the nearest one of each."""
        _, nearest = KDTree(self._vectors[targets]).query(self._vectors[at])
        to = targets[nearest]
        return distances(self.latitudes[to], self.longitudes[to], self.latitudes[at], self.longitudes[at])

    def _rows(self, entities: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Which of some entities have a place, and in which rows."""
        if not len(self.entities):
            return np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64)
        rows = np.minimum(np.searchsorted(self.entities, entities), len(self.entities) - 1)
        known = np.flatnonzero(self.entities[rows] == entities)
        return known, rows[known]

    @cached_property
    def _vectors(self) -> np.ndarray:  # (places, 3)
        latitudes, longitudes = np.radians(self.latitudes), np.radians(self.longitudes)
        flat = np.cos(latitudes)
        return np.stack([flat * np.cos(longitudes), flat * np.sin(longitudes), np.sin(latitudes)], axis=1)

    # ------------------------------------------------------------------------------------------------- coordinates

    @property
    def entities(self) -> np.ndarray:  # rising
        """All that have a place."""
        return self._known[0]

    @property
    def latitudes(self) -> np.ndarray:
        """Of each of them, in degrees."""
        return self._known[1]

    @property
    def longitudes(self) -> np.ndarray:
        """Of each of them, in degrees."""
        return self._known[2]

    @cached_property
    def _known(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        if self.attributes is None:
            return np.zeros(0, dtype=np.int64), np.zeros(0), np.zeros(0)
        (one, latitudes), (other, longitudes) = map(self._column, self.attributes, (90, 180))
        entities, of_one, of_other = np.intersect1d(one, other, assume_unique=True, return_indices=True)
        return entities, latitudes[of_one], longitudes[of_other]

    def _column(self, attribute: int, bound: float) -> tuple[np.ndarray, np.ndarray]:
        """The entities whose first value of an attribute is an angle of that size, and it in degrees."""
        values_of = self.graph.values_of
        groups = np.flatnonzero(values_of.labels == attribute)
        numbers = self.graph.values.numbers[values_of.targets[values_of.starts[groups]]]
        if self._unit(attribute) in _RADIANS:
            numbers = np.degrees(numbers)
        fits = np.abs(numbers) <= bound
        return np.searchsorted(values_of.offsets, groups[fits], side="right") - 1, numbers[fits]


def _coordinates(graph: KnowledgeGraph) -> tuple[int, int] | None:
    """The attributes of latitude and longitude."""
    found: tuple[list[tuple[int, str]], list[tuple[int, str]]] = [], []
    for attribute in range(len(graph.attributes)):
        label = graph.attributes.label(attribute)
        for pattern, kind in zip((_LATITUDE, _LONGITUDE), found, strict=True):
            if match := pattern.fullmatch(label):
                kind.append((attribute, f"{match['before'] or ''} {match['after']}"))
    pairs = [(one, other, words == others) for one, words in found[0] for other, others in found[1]]
    best = max(pairs, key=lambda pair: pair[2], default=None)
    return None if best is None else (best[0], best[1])
