"""The vocabulary: how names, ids and units of a graph meet a query. Notations know a graph through this alone."""

from __future__ import annotations

from typing import Protocol

from kgreckon.query.algebra import Number, Units
from kgreckon.query.shapes import ValueRows


class Vocabulary(Units, Protocol):
    """Names to ids and back; an unknown or ambiguous name raises a UserError with the nearest ones."""

    @property
    def values(self) -> ValueRows:
        """The value table."""
        ...

    def entity_id(self, text: str) -> int:
        """The entity called `text`, by name or by label."""
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
