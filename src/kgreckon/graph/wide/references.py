"""Columns that name the rows of a table: declared foreign keys, and those whose cells and headers say so."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from kgreckon.graph.wide.column_headers import is_id, is_plain_id
from kgreckon.graph.wide.forms import Profile
from kgreckon.graph.wide.wide_table import WideTable

_MOST = 0.9  # of the different cells that name a row
_MOST_OF_ONE_HEADER = 0.6  # where the columns have one header
_SCATTERED = 1.5  # numbers for each id, from the least to the largest
_FEW = 3  # different cells, of which any column may hold some by chance

Profiles = Mapping[str, Mapping[str, Profile]]  # by table and column


@dataclass(frozen=True)
class Reference:
    """The column that a column's cells name the rows by, and how that is known."""

    table: str
    column: str
    why: str


def references(
    tables: Sequence[WideTable], profiles: Profiles, keys: Mapping[str, str]
) -> dict[tuple[str, str], Reference]:
    """The references of all tables, by table and column; `keys` are the columns that name the rows of each."""
    found = {}
    for table in tables:
        for column, profile in profiles[table.name].items():
            declared = table.references.get(column)
            if declared is not None and declared[1] in profiles.get(declared[0], {}):
                found[table.name, column] = Reference(*declared, f"a foreign key to {declared[0]}")
                continue
            of_rows = column == keys.get(table.name)
            guessed = (_of_one_row if of_rows else _guessed)(table, profile, tables, profiles, keys)
            if guessed is not None:
                found[table.name, column] = guessed
    return found


def _of_one_row(
    table: WideTable, profile: Profile, tables: Sequence[WideTable], profiles: Profiles, keys: Mapping[str, str]
) -> Reference | None:
    """The column of ids of a table whose rows have names, where the ids of these rows are the same.

    Ids without gaps say nothing: those of any table begin with 1.
    """
    if not (profile.is_whole and is_plain_id(profile.header)):
        return None
    own = profile.distinct
    numbers = [int(text) for text in own.texts]
    if len(own) < _FEW or max(numbers) - min(numbers) < _SCATTERED * len(own):
        return None
    for other in tables:
        target = profiles[other.name].get(profile.header)
        if other is table or target is None or keys.get(other.name) in (None, profile.header):
            continue
        unique = len(target.distinct) == target.distinct.total
        if unique and own.shared(target.distinct) >= _MOST * len(own):
            return Reference(other.name, profile.header, f"the ids of {other.name}")
    return None


def _guessed(
    table: WideTable, profile: Profile, tables: Sequence[WideTable], profiles: Profiles, keys: Mapping[str, str]
) -> Reference | None:
    """The column of a table that most cells are found in."""
    whole = profile.is_whole
    cells = profile.distinct
    if not len(cells) or (profile.form is not None and not whole and profile.form.why != "lists"):
        return None
    best: tuple[float, Reference] | None = None
    for other in tables:
        for column, target in profiles[other.name].items():
            unique = len(target.distinct) == target.distinct.total
            if not unique or target is profile or target.is_whole != whole or len(target.distinct) < _FEW:
                continue
            same_header = profile.header.casefold() == column.casefold() and other is not table
            if whole and not (
                (same_header and is_id(column) and _stem(column)) or _is_of(profile.header, other.name, column)
            ):
                continue
            if not whole and len(cells) < _FEW and not same_header:
                continue
            if not whole and column != keys.get(other.name) and not same_header:
                continue
            inside = cells.shared(target.distinct) / len(cells)
            if inside >= (_MOST_OF_ONE_HEADER if same_header or _is_of(profile.header, other.name, column) else _MOST):
                why = f"{inside:.0%} of its cells name rows of {other.name}".replace("100% of its", "its")
                if best is None or inside > best[0]:
                    best = inside, Reference(other.name, column, why)
    return best[1] if best else None


def _is_of(header: str, table: str, column: str) -> bool:
    """Whether a header names a table: `director_id` that of directors, `directorId`, `director`."""
    ending = _singular(_stem(header))
    return bool(ending) and (ending == _singular(table) or ending.endswith("_" + _singular(table)))


def _stem(header: str) -> str:
    """`director_id` without what says that it is an id."""
    folded = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", header)
    return re.sub(r"[\W_]*(?:id|key|code|no|nr|fk|number)$", "", folded, flags=re.IGNORECASE)


def _singular(text: str) -> str:
    folded = re.sub(r"[\W_]+", "_", text).strip("_").casefold()
    return folded.removesuffix("ies") + "y" if folded.endswith("ies") else folded.removesuffix("s")


def one_class(columns: Sequence[tuple[str, Profile]]) -> dict[str, str]:
    """Columns whose cells are largely the same are of one class: what each class is called instead."""
    renamed: dict[str, str] = {}
    for place, (name, profile) in enumerate(columns):
        own = profile.distinct
        for earlier, other in columns[:place]:
            if earlier == name or renamed.get(earlier, earlier) == name:
                continue
            shared = own.shared(other.distinct)
            fewer, more = sorted((len(own), len(other.distinct)))
            # Nearly all of the fewer, or a part of both: many counties are called as some city is, and are none.
            if shared >= _FEW and (shared >= _MOST * fewer or (shared >= 0.5 * fewer and shared >= 0.2 * more)):
                renamed[name] = renamed.get(earlier, earlier)
                break
    return renamed


def codes_of(texts: Sequence[str], among: Sequence[str]) -> np.ndarray:  # (texts,) int64
    """The place of each text among others, -1 where it is not there."""
    places = {text: place for place, text in enumerate(among)}
    return np.array([places.get(text, -1) for text in texts], dtype=np.int64)
