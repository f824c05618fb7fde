"""Types of queries as a user names them on the command line."""

from __future__ import annotations

from collections.abc import Sequence

from kgreckon.errors import UserError, unknown_name
from kgreckon.query import NAMED_TYPES, Shape


def parse_types(texts: Sequence[str] | None) -> dict[str, Shape] | None:
    """The types that some options name: `1p,2i`, or `3p=(p,(p,(p,(e))))` for one of one's own; None for the eight."""
    if not texts:
        return None
    types: dict[str, Shape] = {}
    for text in texts:
        name, equals, shape = text.partition("=")
        if equals:
            _add(types, name.strip(), Shape.parse(shape.strip().strip("'\"")).canonical)
            continue
        for known in (part.strip() for part in text.split(",")):
            if known not in NAMED_TYPES:
                error = unknown_name("type", known, NAMED_TYPES)
                raise UserError(f"{error}; or write a type of your own, NAME='(p,(p,(p,(e))))'")
            _add(types, known, NAMED_TYPES[known])
    return types


def _add(types: dict[str, Shape], name: str, shape: Shape) -> None:
    if name in types:
        raise UserError(f"the type {name!r} is named twice")
    if name in NAMED_TYPES and shape != NAMED_TYPES[name]:
        raise UserError(f"{name!r} is the name of the type {NAMED_TYPES[name]}: give yours another name")
    types[name] = shape
