"""From what a person or a program wants changed to a change: names are found, numbers read and converted."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from kgreckon.errors import UnknownNameError, UserError, shortened, unknown_name
from kgreckon.graph.changes.change import Change, ChangedStatement
from kgreckon.graph.graph_builder import check_name
from kgreckon.graph.knowledge_graph import KnowledgeGraph
from kgreckon.graph.literals import (
    NotANumberError,
    UnknownDateError,
    is_calendar,
    looks_like_a_date,
    read_date,
    same_family,
)
from kgreckon.graph.symbols import Symbols
from kgreckon.query.datatypes import PLAIN_UNIT

_ADD_IT = "if it is new, say so: --new, or new=True"


Deed = Literal["add", "remove", "replace", "label"]


@dataclass(frozen=True, slots=True)
class Wish:
    """What is to be done with one statement, as it was written: the object is a thing's name, a text or a number."""

    deed: Deed
    subject: str
    predicate: str  # of a label, nothing
    object: str | float
    unit: str | None = None  # of a number; else the attribute's own


class Draft:
    """A change that is being put together on a graph; names that are not there are errors, or new with `new`."""

    def __init__(self, graph: KnowledgeGraph, new: bool = False) -> None:
        self.graph, self.new = graph, new
        self._things: dict[str, None] = {}
        self._relations: dict[str, None] = {}
        self._attributes: dict[str, str] = {}
        self._removed: dict[ChangedStatement, None] = {}
        self._added: dict[ChangedStatement, None] = {}
        self._labels: dict[str, str] = {}

    @staticmethod
    def change_of(graph: KnowledgeGraph, wishes: Iterable[Wish], new: bool = False) -> Change:
        """The change that some wishes come to."""
        draft = Draft(graph, new)
        for wish in wishes:
            draft.take(wish)
        return draft.change()

    def change(self) -> Change:
        """All that was taken: what is removed first, then what is added."""
        return Change(
            tuple(self._things),
            tuple(self._relations),
            tuple(self._attributes.items()),
            tuple(self._removed),
            tuple(self._added),
            tuple(self._labels.items()),
        )

    def take(self, wish: Wish) -> None:
        """Take a wish into the change, or raise a UserError that says what is wrong with it."""
        if wish.deed == "label":
            self._label(wish)
            return
        subject = self._thing(wish.subject, wish.deed != "remove")
        statement = self._statement(subject, wish)
        if wish.deed == "remove":
            if not self.take_out(statement):
                raise UserError(f"the graph does not state {_written(wish)}: there is nothing to remove")
            return
        if wish.deed == "replace":
            for other in self._stated_of(statement):
                if other != statement:
                    self._removed[other] = None
        self._put_in(statement)

    def take_out(self, statement: ChangedStatement) -> bool:
        """State no more what is stated, by names and numbers as the graph has them; False where it is not."""
        if statement in self._added:
            del self._added[statement]
            return True
        stated = statement not in self._removed and self._is_stated(statement)
        if stated:
            self._removed[statement] = None
        return stated

    def _put_in(self, statement: ChangedStatement) -> None:
        if statement in self._removed:
            del self._removed[statement]
        elif not self._is_stated(statement):
            self._added[statement] = None

    def unit_of(self, predicate: str) -> str | None:
        """The unit of the attribute of that name, one that is new among them; None where it is none."""
        place = self.graph.attributes.place_of(predicate)
        if place is None:
            return self._attributes.get(predicate)
        return self.graph.values.units[int(self.graph.attribute_units[place])]

    def numbers_of(self, thing: str, attribute: str) -> list[float]:
        """The numbers that the graph states of an attribute on a thing, by their unique names."""
        place = self.graph.entities.place_of(thing)
        return [] if place is None else self._numbers(place, attribute)

    def add_label(self, name: str, label: str) -> None:
        """Give a thing of the graph, or one that is added, a label."""
        self._labels[self._thing(name, True)] = label

    # ---------------------------------------------------------------------------------------------------- names

    def _thing(self, text: str, may_be_new: bool) -> str:
        """The unique name of a thing."""
        if text in self._things:
            return text
        return self._named(self.graph.entities, text, self._things if may_be_new else None)

    def _named(self, symbols: Symbols, text: str, more: dict[str, None] | None) -> str:
        try:
            return symbols.name(symbols.find(text))
        except UnknownNameError as error:
            if more is None:
                raise
            if not self.new:
                raise UserError(f"{error}; {_ADD_IT}") from None
        more[check_name(text)] = None
        return text

    def _label(self, wish: Wish) -> None:
        if not isinstance(wish.object, str) or not wish.object.strip():
            raise UserError(f"the label of {wish.subject!r} must be a text")
        self.add_label(wish.subject, wish.object)

    def _statement(self, subject: str, wish: Wish) -> ChangedStatement:
        attribute = self._attribute(wish)
        if attribute is not None:
            name, unit = attribute
            return ChangedStatement(subject, name, self._number(wish, name, unit))
        if not isinstance(wish.object, str):
            raise UserError(f"{wish.predicate!r} is a relation, which leads to a thing, not to {wish.object!r}")
        if wish.unit is not None:
            raise UserError(f"{wish.predicate!r} is a relation: its object has no unit")
        relations = self.graph.relations
        if wish.predicate in self._relations:
            relation = wish.predicate
        elif wish.predicate.startswith("^") and relations.place_of(wish.predicate) is None:
            raise UserError(f"{wish.predicate!r} is an inverse: write the fact the other way round, without ^")
        elif wish.deed == "remove" or relations.meant(wish.predicate):
            relation = relations.name(relations.find(wish.predicate))
        elif not self.new:
            raise _unknown_predicate(self.graph, wish.predicate)
        else:
            relation = self._named(relations, wish.predicate, self._relations)
        return ChangedStatement(subject, relation, self._thing(wish.object, wish.deed != "remove"))

    def _attribute(self, wish: Wish) -> tuple[str, str] | None:
        """The name and unit of the attribute that a wish is about; None where it is about a relation."""
        graph, text = self.graph, wish.predicate
        if text in self._attributes:
            return text, self._attributes[text]
        if text in self._relations:
            return None
        places = graph.attributes.meant(text)
        if graph.relations.place_of(text) is not None or (graph.relations.meant(text) and not places):
            return None
        if places:
            place = graph.attributes.find(text)
            return graph.attributes.name(place), graph.values.units[int(graph.attribute_units[place])]
        unit = _new_unit(wish)
        if unit is None or wish.deed == "remove":
            return None
        if not self.new:
            raise _unknown_predicate(graph, text)
        self._attributes[check_name(text)] = unit
        return text, unit

    # -------------------------------------------------------------------------------------------------- numbers

    def _number(self, wish: Wish, attribute: str, unit: str) -> float:
        """The number of a wish in the attribute's unit."""
        number, own = _quantity(wish, unit)
        if own is not None and own != unit:
            number = _converted(number, own, unit, attribute)
        if not math.isfinite(number):
            raise UserError(f"{attribute!r} of {wish.subject!r} is {number}, which is not a finite number")
        return number + 0.0  # there is one zero

    # ------------------------------------------------------------------------------------------- what is stated

    def _is_stated(self, statement: ChangedStatement) -> bool:
        graph, subject = self.graph, self.graph.entities.place_of(statement.subject)
        if subject is None:
            return False
        if isinstance(statement.object, str):
            relation = graph.relations.place_of(statement.predicate)
            tail = graph.entities.place_of(statement.object)
            return relation is not None and tail is not None and tail in graph.follows.row(subject, 2 * relation)
        return statement.object in self._numbers(subject, statement.predicate)

    def _numbers(self, subject: int, attribute: str) -> list[float]:
        place = self.graph.attributes.place_of(attribute)
        if place is None:
            return []
        return self.graph.values.numbers[self.graph.values_of.row(subject, place)].tolist()

    def _stated_of(self, statement: ChangedStatement) -> list[ChangedStatement]:
        """What the graph states of the same subject by the same predicate."""
        graph, subject = self.graph, self.graph.entities.place_of(statement.subject)
        if subject is None:
            return []
        name, predicate = statement.subject, statement.predicate
        if statement.is_value:
            return [ChangedStatement(name, predicate, number) for number in self._numbers(subject, predicate)]
        relation = graph.relations.place_of(predicate)
        tails = [] if relation is None else graph.follows.row(subject, 2 * relation).tolist()
        return [ChangedStatement(name, predicate, graph.entities.name(tail)) for tail in tails]


def wishes_of(graph: KnowledgeGraph, deed: Deed) -> list[Wish]:
    """To do the same with all that a graph states; what is added has its labels too."""
    names, facts, values = graph.vocabulary, graph.facts, graph.attribute_facts
    wishes = [
        Wish(deed, names.entity_name(head), names.relation_name(2 * relation), names.entity_name(tail))
        for head, relation, tail in zip(
            facts.sources.tolist(), facts.labels.tolist(), facts.targets.tolist(), strict=True
        )
    ]
    for entity, attribute, row in zip(
        values.sources.tolist(), values.labels.tolist(), values.targets.tolist(), strict=True
    ):
        number, unit = graph.values.number_at(row)
        wishes.append(Wish(deed, names.entity_name(entity), names.attribute_name(attribute), number, unit))
    if deed != "remove":
        for place in range(len(graph.entities)):
            label = graph.entities.given_label(place)
            if label is not None:
                wishes.append(Wish("label", graph.entities.name(place), "", label))
    return wishes


def _written(wish: Wish) -> str:
    unit = f" {wish.unit}" if wish.unit else ""
    return f"{wish.subject!r} {wish.predicate!r} {wish.object!r}{unit}"


def _unknown_predicate(graph: KnowledgeGraph, text: str) -> UserError:
    names = [*graph.relations.names.to_pylist(), *graph.attributes.names.to_pylist()]
    return UserError(f"{unknown_name('relation or attribute', text, names)}; {_ADD_IT}")


def _new_unit(wish: Wish) -> str | None:
    """The unit of the attribute that a predicate would be if it were new; None where the object is not a number."""
    if not isinstance(wish.object, str):
        return _unit(wish.unit) if wish.unit else PLAIN_UNIT
    quantity = _read(wish.object)
    if quantity is not None:
        return _unit(wish.unit) if wish.unit else quantity[1] or PLAIN_UNIT
    return "date" if looks_like_a_date(wish.object) else None


def _unit(text: str) -> str:
    from kgreckon.graph.wide.units import unit_named

    return unit_named(text) or text


def _read(text: str) -> tuple[float, str | None] | None:
    """The number and unit that a text writes, or None."""
    from kgreckon.graph.wide.written import read_quantity

    quantity = read_quantity(text)
    return None if quantity is None else (quantity.number, quantity.unit)


def _quantity(wish: Wish, unit: str) -> tuple[float, str | None]:
    """The number that a wish gives, and its unit; None for the attribute's own."""
    if not isinstance(wish.object, str):
        return float(wish.object), wish.unit and _unit(wish.unit)
    text = wish.object.strip()
    if is_calendar(unit):
        try:
            return read_date(text), None
        except (NotANumberError, UnknownDateError) as error:
            raise UserError(f"{wish.predicate!r} is measured in dates: {error}") from None
    word = text.removesuffix(unit).strip()
    read = _read(word if word and word != text else text)
    if read is None:
        raise UserError(f"{wish.predicate!r} is a number of {unit}, which {shortened(wish.object)!r} is not")
    number, own = read
    return number, _unit(wish.unit) if wish.unit else own


def _converted(number: float, unit: str, to: str, attribute: str) -> float:
    import numpy as np

    from kgreckon.graph.wide.units import converted, same_dimension

    if same_family(unit, to) or unit == PLAIN_UNIT:
        return number
    canonical = _unit(to)
    if unit == canonical:
        return number
    if not same_dimension(unit, canonical):
        raise UserError(f"{attribute!r} is measured in {to}, and {unit} cannot be converted to it")
    return float(converted(np.array([number]), unit, canonical)[0])
