"""The names of a graph at an endpoint as notations see them: things are numbered as one question meets them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from kgreckon.engine.endpoint.lookups import Lookups
from kgreckon.errors import UnknownNameError, UserError
from kgreckon.graph import KnowledgeGraph
from kgreckon.graph.naming import GraphVocabulary
from kgreckon.graph.symbols import Symbols
from kgreckon.graph.triples import Triples
from kgreckon.graph.values import ValueTable
from kgreckon.query import Pause
from kgreckon.query.sparql import NAMESPACE, iri, name_of
from kgreckon.query.words.cursor import Cursor
from kgreckon.query.words.inflection import singulars
from kgreckon.query.words.lexicon import lexicon_of

_LONGEST_NAME = 16  # words


class EndpointNames(GraphVocabulary):
    """The vocabulary of one question to an endpoint: relations and attributes of its schema, and things as needed."""

    def __init__(self, lookups: Lookups, pause: Pause | None = None) -> None:
        super().__init__(schema_graph(lookups))
        self.lookups, self.pause = lookups, pause
        self._iris: list[str] = []
        self._ids: dict[str, int] = {}
        self._expected: tuple[str, ...] = ()
        self._beside: tuple[str, ...] = ()
        if lookups.schema.anything is not None:
            self.thing(lookups.schema.anything)  # what «all things» is written with

    def __repr__(self) -> str:
        return f"the names at {self.lookups.client!r}"

    def thing(self, iri_: str) -> int:
        """The number of a thing; one that is met for the first time gets the next."""
        if iri_ not in self._ids:
            self._ids[iri_] = len(self._iris)
            self._iris.append(iri_)
        return self._ids[iri_]

    def __len__(self) -> int:
        return len(self._iris)

    # --------------------------------------------------------------------------------------------------------- IRIs

    def entity_iri(self, entity: int) -> str:
        """The IRI of an entity."""
        found = self._iris[entity]
        if found.startswith("_:"):
            raise UserError(f"{found} is a blank node, which a query cannot name")
        return found

    def relation_iri(self, relation: int) -> str:
        """The IRI of a relation, the direction left out."""
        return self.lookups.schema.relations[relation >> 1]

    def attribute_iri(self, attribute: int) -> str:
        """The IRI of an attribute."""
        return self.lookups.schema.attributes[attribute].iri

    def own_datatype(self, unit: str) -> str | None:
        """The datatype that gives a unit its name, where it is none of XML Schema."""
        return next((one.datatype for one in self.lookups.schema.attributes if one.unit == unit), None)

    def own_datatypes(self) -> list[str]:
        """All such datatypes."""
        return self.lookups.schema.own_datatypes

    # ------------------------------------------------------------------------------------------------------- things

    def expect_words(self, text: str) -> None:
        """Look up whatever a question in words may name at once, when the first of it is asked for."""
        cursor = Cursor(text, lexicon_of(self))
        spans: dict[str, None] = {}
        for place, token in enumerate(cursor.tokens):
            if cursor.is_quoted(place) or not token.text[0].isalnum():
                continue
            for end in range(place + 1, min(place + _LONGEST_NAME, len(cursor.tokens)) + 1):
                span = cursor.span(place, end)
                spans[span] = None
                spans.update(dict.fromkeys(singulars(span) if end - place <= _LONGEST_NAME // 2 else ()))
        self._expected = tuple(spans)

    def entities_called(self, text: str) -> Sequence[int]:
        """All things called `text`: the one of that name, else those of that label, whatever the case."""
        if not text.strip():
            return []
        return [self.thing(one) for one in self.lookups.called(_short(text), self._expected, self.pause)]

    def entity_id(self, text: str) -> int:
        """The thing called `text`."""
        text = _short(text)
        own = self._ids.get(iri(text), self._ids.get(text))
        if own is not None:
            return own
        found = self.entities_called(text)
        if len(found) == 1:
            return found[0]
        if found:
            shown = ", ".join(repr(self.entity_name(one)) for one in found[:5])
            raise UserError(f"{text!r} is the label of more than one entity: give one of the names {shown}")
        raise UnknownNameError("entity", text, tuple)

    def relation_id(self, text: str) -> int:
        """The relation called `text`; `^name` is the inverse of `name`."""
        inverse = text.startswith("^")
        return super().relation_id("^" * inverse + _short(text[inverse:]))

    def attribute_id(self, text: str) -> int:
        """The attribute called `text`."""
        return super().attribute_id(_short(text))

    def entities_like(self, text: str, count: int) -> Sequence[str]:
        """Nothing: an endpoint has no index of names that are alike."""
        return ()

    def entities_starting(self, text: str, count: int) -> Sequence[str]:
        """Nothing, for the same reason."""
        return ()

    def entity_name(self, entity: int) -> str:
        """The unique name of a thing: its IRI, or what follows `urn:kgreckon:`."""
        return _name(self._iris[entity])

    def entity_label(self, entity: int) -> str:
        """The readable name of a thing."""
        return self.lookups.label(self._iris[entity])

    def expect_labels(self, entities: Sequence[int]) -> None:
        """Look up the labels of some things at once."""
        self.lookups.labels([self._iris[one] for one in entities], self.pause)

    def knows(self, kind: str, number: int) -> bool:
        """Whether `number` is the id of a thing that was met, of a relation or an attribute."""
        return 0 <= number < len(self._iris) if kind == "entity" else super().knows(kind, number)

    # -------------------------------------------------------------------------------------------------------- facts

    def leads(self, relation: int, entity: int) -> bool:
        """Whether a fact leads from a thing along a relation or an inverse."""
        return relation in self.lookups.leading(self.entity_iri(entity), self.pause)

    def ends(self, relation: int, entity: int, count: int) -> Sequence[int]:
        """Some things that a relation or an inverse leads to."""
        if not self.leads(relation, entity):
            return []
        found = self.lookups.ends(relation, self.entity_iri(entity), count, self._beside, self.pause)
        self._beside = found if len(found) > 1 else self._beside
        return [self.thing(one) for one in found]

    def frequent_ends(self, relation: int, count: int) -> Sequence[int]:
        """Nothing: counting all facts of a relation takes an endpoint long."""
        return []

    def has_value(self, attribute: int, entity: int) -> bool:
        """Whether an attribute of a thing is stated."""
        return attribute in self.stated_attributes([entity])

    def stated_attributes(self, entities: Sequence[int]) -> frozenset[int]:
        """The attributes that are stated of any of some things."""
        return self.lookups.stated([self.entity_iri(one) for one in entities], self.pause)

    def count_values(self, attribute: int, entity: int) -> int:
        """How many values of an attribute are stated of a thing."""
        return self.lookups.count_values(attribute, self.entity_iri(entity), self.pause)


def schema_graph(lookups: Lookups) -> KnowledgeGraph:
    """A graph with the relations, attributes and units of an endpoint, and nothing stated."""
    schema = lookups.schema
    attributes = [one.iri for one in schema.attributes]
    units = tuple(sorted({one.unit for one in schema.attributes}))
    nothing = np.zeros(0, dtype=np.int32)
    return KnowledgeGraph(
        Symbols("entity", pa.array([], pa.string()), pa.array([], pa.string())),
        _symbols("relation", schema.relations, schema.labels),
        (None,) * len(schema.relations),
        _symbols("attribute", attributes, schema.labels),
        np.array([units.index(one.unit) for one in schema.attributes], dtype=np.int32),
        ValueTable(units, np.zeros(len(units) + 1, dtype=np.int64), np.zeros(0)),
        Triples(nothing, nothing, nothing),
        Triples(nothing, nothing, nothing),
    )


def _symbols(kind: str, iris: Sequence[str], labels: dict[str, str]) -> Symbols:
    names = pa.array(list(map(_name, iris)), pa.string())
    return Symbols(kind, names, pa.array([labels.get(one) for one in iris], pa.string()))


def _short(text: str) -> str:
    """A name that is written as an IRI of ours, as the name that this stands for."""
    return name_of(text) if text.startswith(NAMESPACE) else text


def _name(iri_: str) -> str:
    """The name that an IRI stands for, where the IRI can be told from it."""
    name = name_of(iri_)
    return name if iri(name) == iri_ else iri_
