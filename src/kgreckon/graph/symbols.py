"""Names: every entity, relation and attribute has a unique name and may have a readable label."""

from __future__ import annotations

from bisect import bisect_left
from functools import cached_property
from urllib.parse import unquote

import pyarrow as pa

from kgreckon.errors import FEW, UnknownNameError, UserError, nearest
from kgreckon.graph.literals import local_name


class Symbols:
    """A column of unique names with labels beside it; the place of a name is its id."""

    def __init__(self, kind: str, names: pa.Array, labels: pa.Array) -> None:
        self.kind = kind
        self.names = names
        self.labels = labels

    def __len__(self) -> int:
        return len(self.names)

    def name(self, id_: int) -> str:
        """The unique name."""
        return str(self.names[id_].as_py())

    def label(self, id_: int) -> str:
        """The readable name: the given one, else what the unique name ends with."""
        given = self.given_label(id_)
        return readable(self.name(id_)) if given is None else given

    def given_label(self, id_: int) -> str | None:
        """The label that the data gives, if any."""
        label = self.labels[id_].as_py()
        return None if label is None else str(label)

    def has(self, name: str) -> bool:
        """Whether there is a thing of that unique name."""
        return self._place(name) is not None

    def place_of(self, name: str) -> int | None:
        """The place of a unique name, or None."""
        return self._place(name)

    def places_of_label(self, label: str) -> list[int]:
        """The places of all that have a name or label, whatever its case."""
        return self._labelled(label.casefold())

    def called(self, text: str) -> list[int]:
        """The places of all that have that name, or that label whatever its case."""
        place = self._place(text)
        return [
            *([] if place is None else [place]),
            *(other for other in self._labelled(text.casefold()) if other != place),
        ]

    def find(self, text: str) -> int:
        """The place of a name or label; the exact name first, then labels whatever their case."""
        id_ = self._place(text)
        if id_ is not None:
            return id_
        places = self._labelled(text.casefold())
        if len(places) == 1:
            return places[0]
        if places:
            shown = ", ".join(repr(self.name(id_)) for id_ in places[:5])
            more = f" and {len(places) - 5} more" if len(places) > 5 else ""
            raise UserError(f"{text!r} is the label of more than one {self.kind}: give one of the names {shown}{more}")
        few = self.names.to_pylist() if len(self) <= FEW else ()
        raise UnknownNameError(
            self.kind, text, lambda: [*self.names.to_pylist(), *map(self.label, range(len(self)))], few
        )

    def meant(self, text: str) -> list[int]:
        """The place of that unique name, else all places of that label whatever its case; none is no error."""
        place = self._place(text)
        return self._labelled(text.casefold()) if place is None else [place]

    def like(self, text: str, count: int) -> list[str]:
        """The names and labels that look most like `text`."""
        return nearest(text, [*self.names.to_pylist(), *all_labels(self).to_pylist()], count)

    def starting(self, text: str, count: int) -> list[str]:
        """Labels that begin with `text`, whatever the case, in alphabetical order."""
        wanted = text.casefold()
        first = bisect_left(self._sorted_labels, (wanted, ""))
        found: list[str] = []
        while first < len(self._sorted_labels) and len(found) < count:
            folded, label = self._sorted_labels[first]
            if not folded.startswith(wanted):
                break
            found.append(label)
            first += 1
        return found

    @cached_property
    def _sorted_labels(self) -> list[tuple[str, str]]:
        return sorted((label.casefold(), label) for label in all_labels(self).to_pylist())

    def _place(self, name: str) -> int | None:
        """The place of a unique name."""
        return self._places.get(name)

    def _labelled(self, folded: str) -> list[int]:
        """The places of the names and labels that are this when they are folded."""
        return self._by_label.get(folded, [])

    @cached_property
    def _places(self) -> dict[str, int]:
        return {name: id_ for id_, name in enumerate(self.names.to_pylist())}

    @cached_property
    def _by_label(self) -> dict[str, list[int]]:
        by_label: dict[str, list[int]] = {}
        for id_, (name, given) in enumerate(zip(self.names.to_pylist(), self.labels.to_pylist(), strict=True)):
            for text in {name.casefold(), (readable(name) if given is None else given).casefold()}:
                by_label.setdefault(text, []).append(id_)
        return by_label


def text_hash(text: str) -> int:
    """The 64-bit FNV-1a hash of a text's UTF-8."""
    found = 0xCBF29CE484222325
    for byte in text.encode(errors="surrogatepass"):
        found = ((found ^ byte) * 0x100000001B3) & 0xFFFFFFFFFFFFFFFF
    return found


def readable(name: str) -> str:
    """What a person would call a thing with that name: the last part of an IRI, decoded, underscores as blanks."""
    is_path = "://" in name or name.startswith(("/", "urn:"))
    return (unquote(local_name(name)) if is_path else name).replace("_", " ")


def all_labels(symbols: Symbols) -> pa.Array:
    """The label of each thing, in the order of their ids; those of plain names by Arrow, all at once."""
    import pyarrow.compute as pc

    names, given = symbols.names, symbols.labels
    paths = pc.or_(pc.match_substring(names, "://"), pc.or_(pc.starts_with(names, "/"), pc.starts_with(names, "urn:")))
    shown = pc.replace_substring(names, "_", " ")
    of_paths = [readable(name) for name in names.filter(paths).to_pylist()]
    return pc.coalesce(given, pc.replace_with_mask(shown, paths, pa.array(of_paths, names.type)))
