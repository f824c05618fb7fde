"""The names of a graph and some after them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property

import pyarrow as pa

from kgreckon.graph.symbols import Symbols


class LongerSymbols(Symbols):
    """Symbols with others after them, and other labels for some; what is known of the first is not computed again."""

    def __init__(self, base: Symbols, names: Sequence[str], labels: Mapping[int, str]) -> None:
        """`labels` are those of the names to come, and other ones for names that are there, by their places."""
        self.kind = base.kind
        self._base, self._first = base, len(base)
        self._more, self._given = tuple(names), dict(labels)
        self._places_of_more = {name: self._first + place for place, name in enumerate(names)}
        changed = {*range(self._first, self._first + len(names)), *labels}
        self._changed: dict[str, list[int]] = {}
        for place in sorted(changed):
            for text in {self.name(place).casefold(), self.label(place).casefold()}:
                self._changed.setdefault(text, []).append(place)

    def __len__(self) -> int:
        return self._first + len(self._more)

    @cached_property
    def names(self) -> pa.Array:
        """All names."""
        base = self._base.names
        return pa.concat_arrays([base, pa.array(self._more, base.type)]) if self._more else base

    @cached_property
    def labels(self) -> pa.Array:
        """All labels that the data gives."""
        base = self._base.labels
        own = {place: label for place, label in self._given.items() if place < self._first}
        if own:
            given = base.to_pylist()
            for place, label in own.items():
                given[place] = label
            base = pa.array(given, base.type)
        more = [self._given.get(place) for place in range(self._first, len(self))]
        return pa.concat_arrays([base, pa.array(more, base.type)]) if more else base

    def name(self, place: int) -> str:
        """The unique name."""
        return self._base.name(place) if place < self._first else self._more[place - self._first]

    def given_label(self, place: int) -> str | None:
        """The label that the data gives, if any."""
        if place in self._given:
            return self._given[place]
        return self._base.given_label(place) if place < self._first else None

    def starting(self, text: str, count: int) -> list[str]:
        """Labels that begin with `text`, whatever the case, in alphabetical order."""
        wanted = text.casefold()
        own = [self.label(place) for places in self._changed.values() for place in places]
        more = [label for label in dict.fromkeys(own) if label.casefold().startswith(wanted)]
        of_base = self._base.starting(text, count + len(self._given))
        found = [*(label for label in of_base if self.places_of_label(label)), *more]
        return sorted(dict.fromkeys(found), key=lambda label: (label.casefold(), label))[:count]

    def _place(self, name: str) -> int | None:
        place = self._places_of_more.get(name)
        return self._base.place_of(name) if place is None else place

    def _labelled(self, folded: str) -> list[int]:
        of_base = [place for place in self._base.places_of_label(folded) if place not in self._given]
        return sorted([*of_base, *self._changed.get(folded, ())])
