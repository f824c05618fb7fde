"""Collecting what is to be changed, and making it in one change at the end."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from types import TracebackType

from kgreckon.errors import UserError
from kgreckon.graph.changes.change import Change
from kgreckon.graph.changes.drafting import Wish

Make = Callable[[Sequence[Wish], bool], Change]


class Wishes:
    """What a block of `with` is to change: all of it, durably, when the block ends, or nothing where it fails.

    With `new`, names that the graph does not have are added; without, they are errors.
    """

    def __init__(self, make: Make, new: bool = False) -> None:
        self._make, self.new = make, new
        self._wishes: list[Wish] = []
        self._made: Change | None = None

    def add(self, subject: str, predicate: str, object: str | float, unit: str | None = None) -> None:
        """State a fact, or a value: a number, or a text such as `5 km`, in any unit of the attribute's dimension."""
        self._wishes.append(Wish("add", subject, predicate, object, unit))

    def remove(self, subject: str, predicate: str, object: str | float, unit: str | None = None) -> None:
        """State a fact or value no more; it must be there."""
        self._wishes.append(Wish("remove", subject, predicate, object, unit))

    def replace(self, subject: str, predicate: str, object: str | float, unit: str | None = None) -> None:
        """State this, and nothing else of the subject by the predicate any more."""
        self._wishes.append(Wish("replace", subject, predicate, object, unit))

    def label(self, name: str, label: str) -> None:
        """Give a thing a readable name."""
        self._wishes.append(Wish("label", name, "", label))

    @property
    def made(self) -> Change:
        """What was written; empty where all of it was so before."""
        if self._made is None:
            raise UserError("nothing is changed before the block ends")
        return self._made

    def __enter__(self) -> Wishes:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if kind is None:
            self._made = self._make(self._wishes, self.new)
