"""How far answers are from what they should be near to, from the latitudes and longitudes that a graph states."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kgreckon.answers.answer_columns import Cell, Column
from kgreckon.errors import UserError
from kgreckon.graph.places import Places
from kgreckon.models.interface import Candidates, Model
from kgreckon.query import Entity
from kgreckon.query.question import Near

_SURE = 0.5  # the probability above which an answer stands among those that are proved, in the order of distances


@dataclass(frozen=True)
class Nearness:
    """The candidates that are near enough, with their distances."""

    column: Column
    metres: dict[int, float]
    unplaced: int  # proved answers that are left out: no latitude and longitude is stated

    def cell(self, entity: int) -> Cell:
        """The distance of an answer, for people in kilometres to the metre."""
        kilometres = round(self.metres[entity] / 1000, 3)
        return Cell(f"{kilometres:,.1f}", kilometres)

    def in_order(self, answers: list[tuple[int, float]], proved: set[int]) -> list[tuple[int, float]]:
        """The nearest first; those that are unlikely after all others."""
        return sorted(answers, key=lambda each: (each[0] not in proved and each[1] <= _SURE, self.metres[each[0]]))


def near_ones(
    places: Places, model: Model, near: Near, candidates: Candidates, proved: np.ndarray
) -> tuple[Candidates, np.ndarray, Nearness]:
    """The candidates that are near enough, those of them that are proved, and how far they are."""
    if places.attributes is None:
        raise UserError("distances need a latitude and a longitude: the graph has no attributes that are called so")
    of = model.proved(near.of)
    if not np.isin(of, places.entities).any():
        raise UserError("the graph states no latitude and longitude of what the answers should be near to")
    bound = np.inf if near.within is None else near.within
    metres = places.from_nearest(of, candidates.ids, bound)
    chosen = (metres <= bound) & np.isfinite(metres)
    if near.within is None:  # nothing is nearest to itself
        chosen &= ~np.isin(candidates.ids, of)
    kept = Candidates(candidates.ids[chosen], candidates.scores[chosen])
    unplaced = int(np.count_nonzero(~np.isin(proved, places.entities, assume_unique=True)))
    what = places.graph.vocabulary.entity_label(near.of.entity) if isinstance(near.of, Entity) else "the nearest"
    column = Column(f"distance to {what}", f"distance to {what}", "kilometres")
    known = dict(zip(kept.ids.tolist(), metres[chosen].tolist(), strict=True))
    return kept, proved[np.isin(proved, kept.ids, assume_unique=True)], Nearness(column, known, unplaced)
