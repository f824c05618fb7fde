"""The vocabulary: how names, ids and units of a graph meet a query. Notations know a graph through this alone."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from kgreckon.query.algebra import Number, Units
from kgreckon.query.batches import ValueRows


class Vocabulary(Units, Protocol):
    """Names to ids and back; an unknown or ambiguous name raises a UserError with the nearest ones."""

    @property
    def values(self) -> ValueRows:
        """The value table."""
        ...

    def entity_id(self, text: str) -> int:
        """The entity called `text`, by name or by label."""
        ...

    def entities_called(self, text: str) -> Sequence[int]:
        """All entities called `text`: the one of that name, else those of that label, whatever the case."""
        ...

    def entities_like(self, text: str, count: int) -> Sequence[str]:
        """The names and labels that look most like `text`."""
        ...

    def entities_starting(self, text: str, count: int) -> Sequence[str]:
        """Labels that begin with `text`, whatever the case."""
        ...

    def frequent_ends(self, relation: int, count: int) -> Sequence[int]:
        """The entities that most facts of a relation, as stated, lead to."""
        ...

    def units(self) -> Sequence[str]:
        """All units."""
        ...

    def leads(self, relation: int, entity: int) -> bool:
        """Whether a fact leads from an entity along a relation or an inverse."""
        ...

    def ends(self, relation: int, entity: int, count: int) -> Sequence[int]:
        """The first entities that a relation or an inverse leads to."""
        ...

    def has_value(self, attribute: int, entity: int) -> bool:
        """Whether an attribute of an entity is stated."""
        ...

    def count_values(self, attribute: int, entity: int) -> int:
        """How many values of an attribute are stated of an entity."""
        ...

    def stated_attributes(self, entities: Sequence[int]) -> frozenset[int]:
        """The attributes that are stated of any of some entities."""
        ...

    def entity_name(self, entity: int) -> str:
        """The unique name of an entity."""
        ...

    def entity_label(self, entity: int) -> str:
        """The readable name of an entity."""
        ...

    def relation_id(self, text: str) -> int:
        """The relation called `text`; `^name` is the inverse of `name`."""
        ...

    def relation_name(self, relation: int) -> str:
        """The unique name of a relation, with `^` where it is an inverse."""
        ...

    def relation_label(self, relation: int) -> str:
        """The readable name of a relation, the direction left out."""
        ...

    def relation_phrase(self, relation: int) -> str | None:
        """The verb phrase that reads between head and tail ('is in'), where the graph has one."""
        ...

    def attribute_id(self, text: str) -> int:
        """The attribute called `text`."""
        ...

    def attribute_label(self, attribute: int) -> str:
        """The readable name of an attribute."""
        ...

    def read_number(self, text: str, unit: str | None) -> Number:
        """The number that `text` writes, in its own unit if it names one, else in `unit`."""
        ...

    def write_number(self, number: Number) -> str:
        """The number without its unit, such that `read_number` gives it back."""
        ...
