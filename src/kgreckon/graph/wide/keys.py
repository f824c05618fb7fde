"""Which column names the rows of a wide table."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kgreckon.errors import UserError
from kgreckon.graph.wide.column_headers import is_id, is_plain_id, is_year, names_rank
from kgreckon.graph.wide.forms import Profile
from kgreckon.graph.wide.mapping import ROW, Becomes
from kgreckon.graph.wide.wide_table import WideTable

_COMPLETE = 0.95  # of the rows that a key has a cell for
_NEARLY = 0.9  # of the rows' names that are different where some are told apart by a second column
_APART = 0.98
_OFTEN = 0.3  # the same where a header is one of names
_TRIED = 5  # columns, as the first of two that name rows together
_LONG = 60  # characters on average: text, not a name


@dataclass(frozen=True)
class Key:
    """The columns that name the rows, and why these; none where no column does."""

    columns: tuple[str, ...]
    why: str
    label: str = ""  # the column of readable names, where the key is an id


def key_of(table: WideTable, profiles: dict[str, Profile]) -> Key | None:
    """The key of a table, if some column can be one."""
    names = [profile for profile in profiles.values() if _may_name(profile, table)]
    unique = [profile for profile in names if profile.distinct.total == len(profile.distinct)]
    rank = {profile.header: (names_rank(profile.header, table.name), place) for place, profile in enumerate(names)}
    named = min((profile for profile in unique if not profile.is_whole), key=lambda one: rank[one.header], default=None)
    ids = [profile for profile in unique if profile.is_whole and _is_an_id(profile, table)]
    likely = min(
        (one for one in names if not one.is_whole and (rank[one.header][0] <= 2 or one is names[0])),
        key=lambda one: rank[one.header],
        default=None,
    )
    if named is not None and (likely is None or rank[named.header][0] <= 2 or likely is named):
        return Key((named.header,), _told(named, table))
    declared = table.primary_key if all(column in profiles for column in table.primary_key) else ()
    share = len(likely.distinct) / likely.distinct.total if likely is not None else 0.0
    if likely is not None and share >= (_OFTEN if rank[likely.header][0] <= 2 else 0.5):
        found = _told_apart(likely, table, profiles)
        if found is not None and (share >= _NEARLY or not (ids or named)):
            return found
    if named is not None:
        return Key((named.header,), _told(named, table))
    if len(declared) == 1 or ids:
        header = declared[0] if len(declared) == 1 else ids[0].header
        label = likely.header if likely is not None and rank[likely.header][0] <= 2 else ""
        why = "the primary key" if header in declared else "a different number in every row"
        return Key((header,), why, label)
    return None


def no_key(table: WideTable, profiles: dict[str, Profile]) -> UserError:
    """The error that says that no column names the rows, and what to do."""
    names = [profile for profile in profiles.values() if not profile.form and profile.distinct.total]
    nearest = ""
    if names:
        best = max(names, key=lambda one: len(one.distinct))
        nearest = f" (the nearest is {best.header!r}: {len(best.distinct):,} different in {table.num_rows:,} rows)"
    pair = _pair(table, profiles)
    together = f" {pair[0]!r} and {pair[1]!r} together do: --key '{pair[0]}+{pair[1]}'." if pair else ""
    columns = "" if pair else " --key 'COLUMN+COLUMN' where the second tells rows of one name apart,"
    return UserError(
        f"{table.source}: no column of the table {table.name!r} names its rows{nearest}.{together} Say which do: "
        f"--key COLUMN,{columns} or --key 'row number'"
        f"{'; or, if each row is a fact, --triples FILE' if len(table.columns) == 3 else ''}"
    )


def _pair(table: WideTable, profiles: dict[str, Profile]) -> tuple[str, str] | None:
    """Two columns that together differ in each row, such as country and year; the first is one of names."""
    whole = [one for one in profiles.values() if one.distinct.total == table.num_rows and one.mean_length <= _LONG]
    firsts = [one for one in whole if one.form is None]
    seconds = [one for one in whole if one.form is None or one.form.mapping.kind is Becomes.DATE or one.is_whole]
    for first in sorted(firsts, key=lambda one: names_rank(one.header, table.name))[:_TRIED]:
        for second in sorted(seconds, key=lambda one: one.form is None or one.form.mapping.kind is not Becomes.DATE):
            pairs = first.distinct.codes.astype(np.int64) * len(second.distinct) + second.distinct.codes
            if second is not first and len(np.unique(pairs)) == table.num_rows:
                return first.header, second.header
    return None


def _may_name(profile: Profile, table: WideTable) -> bool:
    if not profile.distinct.total or profile.distinct.total < _COMPLETE * table.num_rows or profile.mean_length > _LONG:
        return False
    if profile.form is None:
        return not any("://" in text for text in profile.distinct.some(most=3))
    return profile.is_whole and profile.form.mapping.kind is Becomes.NUMBER


def _is_an_id(profile: Profile, table: WideTable) -> bool:
    return (
        is_plain_id(profile.header)
        or profile.form is None  # 00501: a code
        or table.primary_key == (profile.header,)
        or names_rank(profile.header, table.name) <= 1
    )


def _told(profile: Profile, table: WideTable) -> str:
    missing = table.num_rows - profile.distinct.total
    none = f"; {missing:,} rows have none and are left out" if missing else ""
    total = profile.distinct.total
    return ("" if total == 1 else f"a different one in each of {total:,} rows") + none


def _told_apart(profile: Profile, table: WideTable, profiles: dict[str, Profile]) -> Key | None:
    """A key of nearly unique names, and the column that tells rows of one name apart, if that is needed."""
    different, total = len(profile.distinct), profile.distinct.total
    told = f"{different:,} different in {table.num_rows:,} rows"
    if total < table.num_rows:
        told += f"; {table.num_rows - total:,} rows have none and are left out"
    best, most = "", float(different)
    for other in profiles.values():
        if other is profile or (
            other.form is not None
            and (other.form.mapping.kind not in (Becomes.DATE, Becomes.NUMBER) or other.is_since_1970)
        ):
            continue
        if other.distinct.total < _COMPLETE * table.num_rows or other.mean_length > _LONG:
            continue
        if (
            other.form is not None
            and other.form.mapping.kind is Becomes.NUMBER
            and not (other.is_whole and (is_id(other.header) or is_year(other.header)))
        ):
            continue
        pairs = profile.distinct.codes.astype(np.int64) * (len(other.distinct) + 1) + other.distinct.codes
        together = len(np.unique(pairs[profile.distinct.codes >= 0]))
        preferred = other.form is not None and other.form.mapping.kind is Becomes.DATE
        if together > most * (1.0 if preferred else 1.02) or (
            preferred and together > 0.99 * most and together > different
        ):
            best, most = other.header, together
    if best and most >= _APART * total:
        numbered = (ROW,) if most < total else ()
        return Key((profile.header, best, *numbered), f"{told}; those of one name are told apart by {best}")
    if different >= _NEARLY * total:
        return Key((profile.header, ROW), f"{told}; those of one name are numbered")
    return None
