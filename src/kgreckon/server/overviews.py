"""Overviews of a graph, a kind of things, a relation or an attribute: how large, how spread, how well known."""

from __future__ import annotations

from functools import cached_property

import numpy as np

from kgreckon.errors import UserError
from kgreckon.query import Pause
from kgreckon.runs.quality import Quality
from kgreckon.server import thing_schemas as schemas
from kgreckon.server.catalogue import label_counts, most_frequent
from kgreckon.server.distributions import histogram, of_attribute
from kgreckon.server.schemas import EntityName, NoParameters
from kgreckon.server.thing_details import ThingPages

_FIRST = 20
_RELATIONS = 30
_ATTRIBUTES = 16
_KINDS = 12
_EXAMPLES = 3
_PLACES = 200


class Overviews:
    """What is known of whole kinds, relations and attributes, and how well a run finds what is missing of them."""

    def __init__(self, things: ThingPages, quality: Quality | None) -> None:
        self.things, self.quality = things, quality
        self.catalogue, self.kinds = things.catalogue, things.kinds
        self.graph, self.names = things.graph, things.names

    def report(self, request: NoParameters, pause: Pause) -> schemas.QualityReport:
        """How well the model found what was hidden from it."""
        quality = self.quality
        return schemas.QualityReport(sentences=[] if quality is None else quality.sentences(), report=quality)

    def overview(self, request: NoParameters, pause: Pause) -> schemas.Overview:
        """What the graph is about."""
        return self._of_all

    @cached_property
    def _of_all(self) -> schemas.Overview:
        catalogue, kinds, places = self.catalogue, self.kinds.all(), self.things.places
        coordinates = places.attributes or ()
        attributes = sorted(most_frequent(catalogue.attribute_counts, _KINDS), key=lambda one: one in coordinates)
        placed = np.argsort(-catalogue.degrees[places.entities], kind="stable")[:_PLACES]
        return schemas.Overview(
            kinds=[self._kind_of_all(kind) for kind in kinds[:_KINDS]],
            num_kinds=len(kinds),
            things=self._best_known(np.flatnonzero(catalogue.degrees), _KINDS),
            relations=[
                schemas.RelationOverview(
                    relation=self.names.relation_name(2 * relation),
                    label=self.names.relation_label(2 * relation),
                    phrase=self.names.relation_phrase(2 * relation),
                    facts=int(catalogue.relation_facts[relation]),
                )
                for relation in most_frequent(catalogue.relation_facts, _KINDS)
            ],
            attributes=[
                schemas.AttributeOverview(
                    attribute=self.names.attribute_name(attribute),
                    count=int(catalogue.attribute_counts[attribute]),
                    distribution=of_attribute(catalogue, attribute),
                )
                for attribute in attributes
            ],
            places=[
                schemas.PlacedEntity(
                    entity=self.things.named(int(places.entities[row])),
                    place=(float(places.latitudes[row]), float(places.longitudes[row])),
                )
                for row in placed
            ],
            num_places=len(places.entities),
        )

    def _kind_of_all(self, kind: int) -> schemas.KindOverview:
        assert self.kinds.relation is not None  # there is a kind
        members = self.kinds.members(kind)
        words = self.things.question_of(self.kinds.relation ^ 1, kind)["words"]
        things = self._best_known(members, _EXAMPLES)
        return schemas.KindOverview(kind=self.things.named(kind), words=words, count=len(members), things=things)

    def _best_known(self, entities: np.ndarray, count: int) -> list[EntityName]:
        return [self.things.named(entity) for entity in self.catalogue.most_connected(entities)[:count].tolist()]

    # ------------------------------------------------------------------------------------------------------- kinds

    def kind(self, request: schemas.NameRequest, pause: Pause) -> schemas.KindDetails:
        """What is known of the things of a kind."""
        kind = self.names.entity_id(request.name)
        members = self.kinds.members(kind)
        label = self.names.entity_label(kind)
        if self.kinds.relation is None:
            raise UserError("the graph states no kinds of things: it has no relation that means 'is a'")
        if not len(members):
            raise UserError(f"nothing is stated to be of the kind {label!r}")
        relations = label_counts(self.graph.follows, members, 2 * len(self.graph.relations))
        relations[self.kinds.relation] = 0
        attributes = label_counts(self.graph.values_of, members, len(self.graph.attributes))
        return schemas.KindDetails(
            name=self.names.entity_name(kind),
            label=label,
            relation=self.names.relation_name(self.kinds.relation),
            **self.things.question_of(self.kinds.relation ^ 1, kind),
            count=len(members),
            things=[
                self.catalogue.entity(member) for member in self.catalogue.most_connected(members)[:_FIRST].tolist()
            ],
            relations=[
                schemas.KindRelation(**self.things.relation_of(relation), count=int(relations[relation]))
                for relation in most_frequent(relations, _RELATIONS)
            ],
            attributes=[
                self._of_kind(attribute, kind, int(attributes[attribute]), pause)
                for attribute in most_frequent(attributes, _ATTRIBUTES)
            ],
        )

    def _of_kind(self, attribute: int, kind: int, count: int, pause: Pause) -> schemas.KindAttribute:
        pause()
        entities, rows = self.things.holders(attribute, kind)
        name, label, unit = self._attribute(attribute)
        return schemas.KindAttribute(
            attribute=name,
            label=label,
            unit=unit,
            count=count,
            smallest=self.things.held_value(attribute, int(entities[0]), int(rows[0])),
            largest=self.things.held_value(attribute, int(entities[-1]), int(rows[-1])),
            distribution=histogram(name, label, unit, self.graph.values.numbers[rows]),
        )

    def _counted_kinds(self, entities: np.ndarray) -> list[schemas.CountedEntity]:
        """How many of some entities are of which kind, of how many there are."""
        return [
            schemas.CountedEntity(entity=self.things.named(kind), count=count, of=len(self.kinds.members(kind)))
            for kind, count in self.kinds.counted(np.unique(entities))[:_KINDS]
        ]

    # --------------------------------------------------------------------------------------------------- relations

    def relation(self, request: schemas.NameRequest, pause: Pause) -> schemas.RelationDetails:
        """A relation: how often it is stated, of what, and how well its missing facts are found."""
        relation = self.names.relation_id(request.name) & ~1
        name = self.names.relation_name(relation)
        heads, tails = self._ends(relation ^ 1), self._ends(relation)
        pause()
        rows = [] if self.quality is None else self.quality.relations
        return schemas.RelationDetails(
            name=name,
            label=self.names.relation_label(relation),
            phrase=self.names.relation_phrase(relation),
            facts=int(self.catalogue.relation_facts[relation >> 1]),
            heads=self._shown(relation ^ 1, heads, 0, _FIRST),
            tails=self._shown(relation, tails, 0, _FIRST),
            head_kinds=self._counted_kinds(heads[0]),
            tail_kinds=self._counted_kinds(tails[0]),
            quality=next((row for row in rows if row.name == name), None),
        )

    def ends(self, request: schemas.EndsRequest, pause: Pause) -> schemas.RelationEnds:
        """The entities at one end of a relation, those with the most facts first, from some place on."""
        relation = self.names.relation_id(request.relation) ^ int(request.inverse)
        return self._shown(relation, self._ends(relation), request.offset, request.limit)

    def _ends(self, relation: int) -> tuple[np.ndarray, np.ndarray]:  # (entities,) each
        """What a relation leads to, and by how many facts, the most frequent first."""
        follows = self.graph.follows
        groups = np.flatnonzero(follows.labels == relation ^ 1)
        entities = np.searchsorted(follows.offsets, groups, side="right") - 1
        counts = follows.starts[groups + 1] - follows.starts[groups]
        order = np.argsort(-counts, kind="stable")
        return entities[order], counts[order]

    def _shown(
        self, relation: int, ends: tuple[np.ndarray, np.ndarray], offset: int, limit: int
    ) -> schemas.RelationEnds:
        page = slice(offset, offset + limit)
        return schemas.RelationEnds(
            **self.things.relation_of(relation),
            count=len(ends[0]),
            offset=offset,
            ends=[
                schemas.CountedEntity(entity=self.things.named(entity), count=count)
                for entity, count in zip(ends[0][page].tolist(), ends[1][page].tolist(), strict=True)
            ],
        )

    # -------------------------------------------------------------------------------------------------- attributes

    def attribute(self, request: schemas.NameRequest, pause: Pause) -> schemas.AttributeDetails:
        """An attribute: how its values are spread, of what it is known, and how well missing values are predicted."""
        attribute = self.names.attribute_id(request.name)
        name, label, unit = self._attribute(attribute)
        entities, rows = self.catalogue.held(attribute)
        if not len(rows):
            raise UserError(f"the graph states no value of {label}")
        numbers = self.graph.values.numbers[rows]
        pause()
        low, middle, high = (4 * np.quantile(numbers / 4, (0.25, 0.5, 0.75))).tolist()  # differences may overflow
        quality = [] if self.quality is None else self.quality.attributes
        return schemas.AttributeDetails(
            name=name,
            label=label,
            unit=unit,
            values=len(rows),
            things=len(np.unique(entities)),
            mean=float(np.sum(numbers / len(numbers))),
            quartiles=(low, middle, high),
            distribution=of_attribute(self.catalogue, attribute),
            smallest=self._held(attribute, entities[:_KINDS], rows[:_KINDS]),
            largest=self._held(attribute, entities[::-1][:_KINDS], rows[::-1][:_KINDS]),
            kinds=self._counted_kinds(entities),
            quality=next((row for row in quality if row.name == name), None),
        )

    def values(self, request: schemas.ValuesRequest, pause: Pause) -> schemas.HeldValues:
        """The values of an attribute in order, from some place on, with the things that have them."""
        attribute = self.names.attribute_id(request.attribute)
        kind = None if request.kind is None else self.names.entity_id(request.kind)
        entities, rows = self.things.holders(attribute, kind)
        if request.order == "largest":
            entities, rows = entities[::-1], rows[::-1]
        page = slice(request.offset, request.offset + request.limit)
        name, label, unit = self._attribute(attribute)
        return schemas.HeldValues(
            attribute=name,
            label=label,
            unit=unit,
            kind=None if kind is None else self.things.named(kind),
            count=len(rows),
            offset=request.offset,
            values=self._held(attribute, entities[page], rows[page]),
        )

    def _held(self, attribute: int, entities: np.ndarray, rows: np.ndarray) -> list[schemas.HeldValue]:
        pairs = zip(entities.tolist(), rows.tolist(), strict=True)
        return [self.things.held_value(attribute, entity, row) for entity, row in pairs]

    def _attribute(self, attribute: int) -> tuple[str, str, str]:
        """The name, the label and the unit."""
        names = self.names
        return names.attribute_name(attribute), names.attribute_label(attribute), names.attribute_unit(attribute)
