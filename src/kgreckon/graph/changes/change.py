"""A change: what one writer does to a graph at once, by unique names, so that it reads the same in any numbering."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from kgreckon.errors import UserError


@dataclass(frozen=True, slots=True)
class ChangedStatement:
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
    removed: tuple[ChangedStatement, ...] = ()
    added: tuple[ChangedStatement, ...] = ()
    labels: tuple[tuple[str, str], ...] = ()  # of things

    def __bool__(self) -> bool:
        return bool(self.removed or self.added or self.labels)

    def counts(self) -> dict[str, int]:
        """How much of each kind it does."""
        values, removed = (sum(one.is_value for one in part) for part in (self.added, self.removed))
        return {
            "facts_removed": len(self.removed) - removed,
            "values_removed": removed,
            "facts_added": len(self.added) - values,
            "values_added": values,
            "labels": len(self.labels),
            "new_things": len(self.things),
            "new_relations": len(self.relations),
            "new_attributes": len(self.attributes),
        }

    def summary(self) -> str:
        """How much of each kind it does, in words."""
        told = []
        for name, count in self.counts().items():
            words = name.split("_")
            noun = words[1] if words[0] == "new" else words[0]
            one = noun if count != 1 else noun.removesuffix("s")
            told += [f"{count:,} {name.replace('_', ' ').replace(noun, one)}"] if count else []
        return ", ".join(told) if told else "all of it was so before"

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


def _as_list(statement: ChangedStatement) -> list[str | float]:
    return [statement.subject, statement.predicate, statement.object]


def _statement(data: Any) -> ChangedStatement:
    subject, predicate, object_ = data
    if not isinstance(object_, str):
        object_ = float(object_)
    return ChangedStatement(_name(subject), _name(predicate), object_)


def _name(data: Any) -> str:
    if not isinstance(data, str):
        raise TypeError
    return data
