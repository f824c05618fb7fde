"""The values that a question speaks of, as columns beside its answers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from kgreckon.answers.estimates import interval_texts
from kgreckon.graph import KnowledgeGraph
from kgreckon.graph.literals import exactly
from kgreckon.models.interface import Model
from kgreckon.query import And, Entity, Follow, HavingValue, Not, Number, Or, Query, ValueOf
from kgreckon.query.datatypes import is_said
from kgreckon.query.question import Question
from kgreckon.query.terms import Calculated, own_attributes
from kgreckon.query.words.lexicon import lexicon_of

_NAMED = 3  # things of one value that are named


@dataclass(frozen=True)
class Column:
    """One column: an attribute with its unit, or, of numbers, the things whose values they are."""

    name: str  # of the attribute; its label where it is a distance or a calculation; or "of"
    label: str
    unit: str | None = None

    @property
    def header(self) -> str:
        """What stands above the column."""
        return f"{self.label} ({self.unit})" if is_said(self.unit) else self.label


@dataclass(frozen=True)
class Cell:
    """What stands in a column for one answer: a value that is observed or inferred, or names."""

    text: str
    value: float | None = None
    observed: bool = True
    low: float | None = None  # of an inferred value: where it lies with the probability of an interval
    high: float | None = None

    @property
    def datum(self) -> float | str:
        """The value as a number, or the names."""
        return self.text if self.value is None else self.value

    def shown(self, unit: str) -> str:
        """The cell for people: what is stated with all its digits, what is inferred with its interval."""
        if self.value is None:
            return self.text
        if self.observed:
            return exactly(self.value, unit) if ", " not in self.text else self.text
        assert self.low is not None and self.high is not None  # an inferred value has an interval
        middle, low, high = interval_texts(self.value, self.low, self.high, unit)
        return f"about {middle} ({low} to {high})"


def attributes_asked(question: Question) -> list[int]:
    """The attributes of the answers themselves that a question speaks of: what it sorts by, then its conditions."""
    by = None if question.sorting is None else question.sorting.attribute
    found = [one for one in (by, question.of) if isinstance(one, int)]
    found += own_attributes(*(term for term in (by, question.of) if isinstance(term, Calculated)))
    found += own_attributes(*(term for each in question.where for term in (each.left, each.right)))
    found += [*question.columns, *_compared(question.query)]
    return list(dict.fromkeys(found))


def _compared(query: Query) -> Iterator[int]:
    match query:
        case HavingValue(attribute, _):
            yield attribute
        case And(parts) | Or(parts):
            for part in parts:
                yield from _compared(part)
        case Not(of):
            yield from _compared(of)


def stated_values(graph: KnowledgeGraph, entity: int, attribute: int) -> np.ndarray:
    """The numbers that the graph states for an attribute of an entity, rising."""
    return graph.values.numbers[graph.values_of.row(entity, attribute)]


class ColumnWriter:
    """Fills the columns of answers."""

    def __init__(self, graph: KnowledgeGraph, model: Model, question: Question, attributes: Sequence[int]) -> None:
        self.graph, self.model, self.question, self.attributes = graph, model, question, attributes
        self.names = graph.vocabulary

    def of_things(self) -> tuple[Column, ...]:
        """The columns beside answers that are things."""
        labels = lexicon_of(self.names).attributes
        return tuple(
            Column(self.names.attribute_name(one), labels[one], self.names.attribute_unit(one))
            for one in self.attributes
        )

    def cells(self, entity: int, coverage: float) -> tuple[Cell | None, ...]:
        """What stands beside a thing: what is stated, else what the model predicts."""
        return tuple(self._cell(entity, attribute, coverage) for attribute in self.attributes)

    def _cell(self, entity: int, attribute: int, coverage: float) -> Cell | None:
        unit = self.names.attribute_unit(attribute)
        stated = stated_values(self.graph, entity, attribute)
        if len(stated):
            if len(stated) == 1:
                return Cell(self.names.write_number(Number(float(stated[0]), unit)), float(stated[0]))
            return Cell(", ".join(exactly(value, unit) for value in stated.tolist()), float(stated[0]))
        predicted = self.model.predict(entity, attribute, coverage)
        if predicted is None:
            return None
        text = self.names.write_number(Number(predicted.estimate, unit))
        return Cell(text, predicted.estimate, False, predicted.low, predicted.high)

    # ----------------------------------------------------------------------------------------------------- numbers

    def of_numbers(self) -> tuple[Column, ...]:
        """The column beside numbers that an attribute takes on things: the things."""
        query = self.question.query
        if not isinstance(query, ValueOf) or isinstance(query.of, Entity):
            return ()
        return (Column("of", self._called(query.of)),)

    def _called(self, query: Query) -> str:
        """A word for the things of a set: the class, or the noun of the relation that leads to them."""
        lexicon = lexicon_of(self.names)
        match query:
            case Follow(relation, Entity(entity)) if relation == lexicon.is_a:
                return self.names.entity_label(entity).lower()
            case Follow(relation, _) if (words := lexicon.relations[relation >> 1]).noun is not None:
                return words.noun if words.backwards == bool(relation & 1) else "of"
            case And(parts):
                return next((word for word in map(self._called, parts) if word != "of"), "of")
        return "of"

    def holders(self, members: np.ndarray, rows: Sequence[int]) -> list[tuple[Cell | None, ...]]:
        """Beside each of some values, the members of the set whose values are asked for that have it."""
        query = self.question.query
        assert isinstance(query, ValueOf)
        found: dict[int, list[int]] = {row: [] for row in rows}
        for entity in members.tolist():
            for row in self.graph.values_of.row(entity, query.attribute).tolist():
                if row in found:
                    found[row].append(entity)
        self.names.expect_labels([entity for held in found.values() for entity in held[:_NAMED]])
        return [self._held_by(found[row]) for row in rows]

    def _held_by(self, entities: Sequence[int]) -> tuple[Cell | None, ...]:
        """The names of the things that have a value."""
        if not entities:
            return (None,)
        labels = [self.names.entity_label(entity) for entity in entities[:_NAMED]]
        more = f" and {len(entities) - _NAMED} more" if len(entities) > _NAMED else ""
        return (Cell(", ".join(labels) + more),)
