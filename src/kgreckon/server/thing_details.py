"""ThingPages: what a graph states of one, what it probably lacks, and what is near it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from kgreckon.answers import COVERAGE
from kgreckon.answers.estimates import formula_text, influence_text, interval_texts
from kgreckon.errors import UserError
from kgreckon.graph.places import Places
from kgreckon.models.interface import Model, Prediction, ScoreMeaning
from kgreckon.query import Entity, Follow, Pause, sentence
from kgreckon.query.paper import write
from kgreckon.server import thing_schemas as schemas
from kgreckon.server.catalogue import Catalogue, label_counts, most_frequent, runs
from kgreckon.server.kinds import Kinds
from kgreckon.server.schemas import EntityName

_GROUPS = 60  # relations of one thing
_FIRST = 12  # others of one relation
_VALUES = 100
_PREDICTED = 8
_LIKELY = 0.25  # the least probability of a missing number that is worth showing
_POSSIBLE = 0.1  # and of a missing fact
_FACTS = 24  # likely ones
_ASKED = 24  # relations that are asked for likely facts: a graph may have thousands
_PEERS = 500  # things of the same kind that tell which relations to ask


class ThingPages:
    """What is known and likely of single entities."""

    def __init__(self, catalogue: Catalogue, kinds: Kinds, places: Places, model: Model) -> None:
        self.catalogue, self.kinds, self.places, self.model = catalogue, kinds, places, model
        self.graph, self.names = catalogue.graph, catalogue.graph.vocabulary

    # ---------------------------------------------------------------------------------------------- what is stated

    def entity(self, request: schemas.NameRequest, pause: Pause) -> schemas.EntityDetails:
        """What the graph states of an entity."""
        entity = self.names.entity_id(request.name)
        return schemas.EntityDetails(
            name=self.names.entity_name(entity),
            label=self.names.entity_label(entity),
            kinds=[self.named(kind) for kind in self.kinds.of(entity)],
            kind_relation=None if self.kinds.relation is None else self.names.relation_name(self.kinds.relation),
            members=len(self.kinds.members(entity)),
            place=self.places.of(entity),
            facts=list(self._groups(entity)),
            values=list(self._values(entity, pause)),
        )

    def facts(self, request: schemas.FactsRequest, pause: Pause) -> schemas.Facts:
        """The facts of an entity with one relation in one direction, from some place on."""
        entity = self.names.entity_id(request.name)
        relation = self.names.relation_id(request.relation) ^ int(request.inverse)
        others = self.graph.follows.row(entity, relation)
        shown = self.catalogue.most_connected(others)[request.offset : request.offset + request.limit]
        return schemas.Facts(
            **self.relation_of(relation),
            **self.question_of(relation, entity),
            count=len(others),
            offset=request.offset,
            things=[self.catalogue.entity(other) for other in shown.tolist()],
        )

    def named(self, entity: int) -> EntityName:
        """An entity's names alone."""
        return EntityName(name=self.names.entity_name(entity), label=self.names.entity_label(entity))

    def relation_of(self, relation: int) -> dict[str, Any]:
        """The fields of a relation in one direction."""
        return {
            "relation": self.names.relation_name(relation & ~1),
            "label": self.names.relation_label(relation),
            "phrase": self.names.relation_phrase(relation),
            "inverse": bool(relation & 1),
        }

    def question_of(self, relation: int, entity: int) -> dict[str, Any]:
        """The question for all that a relation leads to from an entity, in words and in the paper's notation."""
        query = Follow(relation, Entity(entity))
        return {"words": sentence(query, self.names), "query": write(query, self.names)}

    def _groups(self, entity: int) -> Iterator[schemas.FactGroup]:
        """The facts of an entity by relation, those that it is the head of first."""
        offsets, labels, starts, targets = self.graph.follows.touched(np.array([entity]))
        groups = range(int(offsets[entity]), int(offsets[entity + 1]))
        for group in sorted(groups, key=lambda group: int(labels[group]) & 1)[:_GROUPS]:
            others = targets[starts[group] : starts[group + 1]]
            yield schemas.FactGroup(
                **self.relation_of(int(labels[group])),
                **self.question_of(int(labels[group]), entity),
                count=len(others),
                things=[self.named(other) for other in self.catalogue.most_connected(others)[:_FIRST].tolist()],
            )

    def stated_rows(self, entity: int) -> list[tuple[int, int]]:
        """The attributes of an entity with the rows of their values."""
        offsets, labels, starts, targets = self.graph.values_of.touched(np.array([entity]))
        return [
            (int(labels[group]), int(row))
            for group in range(int(offsets[entity]), int(offsets[entity + 1]))
            for row in targets[starts[group] : starts[group + 1]]
        ]

    def _values(self, entity: int, pause: Pause) -> Iterator[schemas.RankedValue]:
        kind = self.kinds.main(entity)
        for attribute, row in self.stated_rows(entity)[:_VALUES]:
            pause()
            rows = self.holders(attribute, kind)[1]
            rank = self._rank(rows, row, kind) if len(rows) > 1 else None
            yield schemas.RankedValue(**dict(self.catalogue.stated(attribute, row)), rank=rank)

    def holders(self, attribute: int, kind: int | None) -> tuple[np.ndarray, np.ndarray]:  # (facts,) each
        """The things, perhaps of one kind, that have an attribute, and the rows of their values, rising."""
        entities, rows = self.catalogue.held(attribute)
        if kind is None:
            return entities, rows
        of_kind = np.isin(entities, self.kinds.members(kind))
        return entities[of_kind], rows[of_kind]

    def _rank(self, rows: np.ndarray, row: int, kind: int | None) -> schemas.ValueRank:
        larger = len(rows) - int(np.searchsorted(rows, row, side="right"))
        if kind is None or self.kinds.relation is None:
            return schemas.ValueRank(larger=larger, of=len(rows), kind=None, words=None)
        words = self.question_of(self.kinds.relation ^ 1, kind)["words"]
        return schemas.ValueRank(larger=larger, of=len(rows), kind=self.named(kind), words=words)

    # --------------------------------------------------------------------------------------------------- what is near

    def near(self, request: schemas.NearRequest, pause: Pause) -> schemas.NearDetails:
        """The things of the same kind whose value is nearest, with the entity at its place."""
        entity, attribute = self.names.entity_id(request.name), self.names.attribute_id(request.attribute)
        own = self.graph.values_of.row(entity, attribute).tolist()
        label = self.names.attribute_label(attribute)
        if not own:
            raise UserError(f"{self.names.entity_label(entity)} has no stated {label}: nothing is near it by that")
        kind = self.kinds.main(entity)
        entities, rows = self.holders(attribute, kind)
        at = int(np.flatnonzero((entities == entity) & (rows == own[0]))[0])
        around = np.arange(max(0, at - request.limit), min(len(rows), at + request.limit + 1))
        around = around[entities[around] != entity]
        numbers = self.graph.values.numbers
        distance = np.abs(numbers[rows[around]] - numbers[rows[at]])
        nearest = np.sort(np.append(around[np.argsort(distance, kind="stable")[: request.limit]], at))[::-1]
        return schemas.NearDetails(
            attribute=self.names.attribute_name(attribute),
            label=label,
            unit=self.names.attribute_unit(attribute),
            kind=None if kind is None else self.named(kind),
            rank=self._rank(rows, own[0], kind),
            values=[self.held_value(attribute, int(entities[place]), int(rows[place])) for place in nearest],
        )

    def held_value(self, attribute: int, entity: int, row: int) -> schemas.HeldValue:
        """An entity with its value."""
        return schemas.HeldValue(entity=self.named(entity), value=self.catalogue.stated(attribute, row))

    # ------------------------------------------------------------------------------------------------ what is missing

    def missing(self, request: schemas.NameRequest, pause: Pause) -> schemas.MissingDetails:
        """The facts and values that the graph does not state of an entity, and that are likely."""
        entity = self.names.entity_id(request.name)
        return schemas.MissingDetails(
            name=self.names.entity_name(entity),
            label=self.names.entity_label(entity),
            calibration=self.model.calibration,
            facts=self._likely_facts(entity, pause),
            values=self.predicted(entity, pause, reasons=True),
        )

    def _likely_facts(self, entity: int, pause: Pause) -> list[schemas.LikelyFact]:
        if self.model.calibration is not ScoreMeaning.PROBABILITY:
            return []
        likely: list[tuple[float, int, int]] = []
        for relation in self._worth_asking(entity):
            pause()
            _, tails, chances = self.model.likely_facts(relation, np.array([entity]), _POSSIBLE)
            likely += [
                (chance, relation, tail)
                for chance, tail in zip(chances.tolist(), tails.tolist(), strict=True)
                if tail != entity
            ]
        likely.sort(key=lambda fact: -fact[0])
        return [
            schemas.LikelyFact(**self.relation_of(relation), entity=self.catalogue.entity(tail), probability=chance)
            for chance, relation, tail in likely[:_FACTS]
        ]

    def _worth_asking(self, entity: int) -> list[int]:
        """The relations, in their direction, that most things like this one have."""
        kind = self.kinds.main(entity)
        peers = np.array([entity]) if kind is None else self.kinds.members(kind)
        if kind is None:  # whatever has a fact in common with it
            pairs = self._groups_of(peers)
            shared = [self.graph.follows.row(int(tail), int(label) ^ 1)[:_PEERS] for label, tail in pairs[:_GROUPS]]
            peers = np.unique(np.concatenate([peers, *shared]))
        step = max(1, len(peers) // _PEERS)
        peers = np.append(peers[::step], entity)
        counts = label_counts(self.graph.follows, peers, 2 * len(self.graph.relations))
        return most_frequent(counts, _ASKED)

    def _groups_of(self, entities: np.ndarray) -> list[tuple[int, int]]:
        """The relations of some entities, and one entity that each leads to."""
        offsets, labels, starts, targets = self.graph.follows.touched(entities)
        groups = runs(offsets[entities], offsets[entities + 1])
        return list(zip(labels[groups].tolist(), targets[starts[groups]].tolist(), strict=True))

    def predicted(self, entity: int, pause: Pause, reasons: bool) -> list[schemas.PredictedValue]:
        """The numbers that the model expects where the graph states none, the likeliest first."""
        chances = self.model.attribute_chances(entity)
        if chances is None:
            return []
        chances = chances.copy()
        chances[[attribute for attribute, _ in self.stated_rows(entity)]] = 0
        predictions = []
        for attribute in np.argsort(-chances, kind="stable")[:_PREDICTED].tolist():
            pause()
            likely = chances[attribute] >= _LIKELY
            found = self.model.predict(entity, attribute, COVERAGE, reasons) if likely else None
            if found is None:
                break
            predictions.append(self._prediction(attribute, float(chances[attribute]), found))
        return predictions

    def _prediction(self, attribute: int, chance: float, found: Prediction) -> schemas.PredictedValue:
        text, low, high = interval_texts(found.estimate, found.low, found.high, found.unit)
        return schemas.PredictedValue(
            attribute=self.names.attribute_name(attribute),
            label=self.names.attribute_label(attribute),
            estimate=found.estimate,
            low=found.low,
            high=found.high,
            unit=found.unit,
            chance=chance,
            coverage=found.coverage,
            text=text,
            low_text=low,
            high_text=high,
            formula=None if found.formula is None else formula_text(found.formula, attribute, self.names),
            reasons=[influence_text(influence, found, self.names) for influence in found.reasons],
        )
