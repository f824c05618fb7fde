"""A change: what one writer does to a graph at once, by unique names, so that it reads the same in any numbering."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from kgreckon.errors import UserError


@dataclass(frozen=True, slots=True)
class Statement:
    """A fact, whose object is the name of a thing, or a value, whose object is a number in the attribute's unit."""

    subject: str
    predicate: str
    object: str | float

    @property
    def is_value(self) -> bool:
        """Whether the object is a number."""
        return not isinstance(self.object, str)


@dataclass(frozen=True)
class Change:
    """New names, then statements that are taken out, then statements that are put in, then labels."""

    things: tuple[str, ...] = ()
    relations: tuple[str, ...] = ()
    attributes: tuple[tuple[str, str], ...] = ()  # name and unit
    removed: tuple[Statement, ...] = ()
    added: tuple[Statement, ...] = ()
    labels: tuple[tuple[str, str], ...] = ()  # of things

    def __bool__(self) -> bool:
        return bool(self.removed or self.added or self.labels)

    def as_text(self) -> str:
        """The change as JSON in one line, as a log keeps it."""
        parts: dict[str, Any] = {
            "things": self.things,
            "relations": self.relations,
            "attributes": self.attributes,
            "removed": [_as_list(one) for one in self.removed],
            "added": [_as_list(one) for one in self.added],
            "labels": self.labels,
        }
        return json.dumps({name: part for name, part in parts.items() if part}, ensure_ascii=False)

    @staticmethod
    def from_text(text: str) -> Change:
        """The same again; a UserError where the text is not of a change."""
        try:
            data = json.loads(text)
            return Change(
                things=tuple(map(_name, data.get("things", ()))),
                relations=tuple(map(_name, data.get("relations", ()))),
                attributes=tuple((_name(name), _name(unit)) for name, unit in data.get("attributes", ())),
                removed=tuple(map(_statement, data.get("removed", ()))),
                added=tuple(map(_statement, data.get("added", ()))),
                labels=tuple((_name(name), _name(label)) for name, label in data.get("labels", ())),
            )
        except (ValueError, TypeError, AttributeError):
            raise UserError("an entry is not a change") from None


def _as_list(statement: Statement) -> list[str | float]:
    return [statement.subject, statement.predicate, statement.object]


def _statement(data: Any) -> Statement:
    subject, predicate, object_ = data
    if not isinstance(object_, str):
        object_ = float(object_)
    return Statement(_name(subject), _name(predicate), object_)


def _name(data: Any) -> str:
    if not isinstance(data, str):
        raise TypeError
    return data
