"""What the columns of wide tables become: guessed from their headers and cells, or as a mapping says."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping as Dictionary
from collections.abc import Sequence

import pyarrow as pa
import pyarrow.compute as pc

from kgreckon.errors import UserError
from kgreckon.graph.wide.column_headers import (
    edge_columns,
    is_code,
    is_plain_id,
    name_of,
    names_rank,
    read_header,
    unit_column_of,
)
from kgreckon.graph.wide.forms import REPEATED, CellForm, Profile
from kgreckon.graph.wide.keys import Key, key_of, no_key
from kgreckon.graph.wide.mapping import (
    GIVEN,
    ROW,
    Becomes,
    ColumnGuess,
    ColumnMapping,
    Mapping,
    TableGuess,
    TableMapping,
    check_columns,
)
from kgreckon.graph.wide.references import Reference, one_class, references
from kgreckon.graph.wide.units import unit_named
from kgreckon.graph.wide.wide_table import WideTable
from kgreckon.query.words.inflection import guessed_verb, singular, words_of
from kgreckon.query.words.lexicon import IS_A

_LONG = 60  # characters on average, beyond which a text is free text
_MANY_ROWS = 5
_FEW_NAMES = 0.5  # of the rows: fewer different cells do not name them alone
_LINKED = "linked_to"
_NO_NOUNS_IN_TEXT = """
    table data dataset sheet export output input result query file download untitled unnamed train test tmp temp
    """
_NO_NOUNS = frozenset(_NO_NOUNS_IN_TEXT.split())
_NO_PART_OF_A_NOUN = re.compile(r"\([^)]*\)|\b(?:1[5-9]|20)\d\d\b")  # a remark or a year: wines_2020

Profiles = dict[str, dict[str, Profile]]


def guess(tables: Sequence[WideTable], given: Mapping | None = None, source: str = "the mapping") -> list[TableGuess]:
    """What each table becomes: as `given` says, and guessed where it says nothing."""
    given = given or {}
    check_columns(given, tables, source)
    kept = [table for table in tables if not given.get(table.name, TableMapping()).skip]
    profiles = {
        table.name: {header: Profile(header, column, table.decimal) for header, column in table.columns.items()}
        for table in kept
    }
    keys = {table.name: _key(table, profiles[table.name], given.get(table.name)) for table in kept}
    named_by = {name: key.columns[0] for name, key in keys.items() if key is not None and key.columns}
    found = references(kept, profiles, named_by)
    guesses = []
    for table in tables:
        own = given.get(table.name, TableMapping())
        if own.skip:
            guesses.append(
                TableGuess(
                    table.name,
                    table.source,
                    table.num_rows,
                    own,
                    "",
                    (),
                    (f"{table.name} is skipped, as the mapping says",),
                )
            )
            continue
        guesses.append(_Table(table, profiles[table.name], found, keys[table.name], own, len(kept)).guess())
    return _classes_joined(guesses, profiles)


def _key(table: WideTable, profiles: dict[str, Profile], given: TableMapping | None) -> Key | None:
    if given is not None and given.key:
        return Key(given.key, GIVEN)
    if not table.num_rows:
        raise UserError(f"{table.source}: the table {table.name!r} has no rows")
    ends = edge_columns(list(table.columns))
    if (
        ends is not None
        and not table.primary_key
        and not any(names_rank(header, table.name) <= 2 for header in profiles)
    ):
        return Key((ends[0],), f"each row is a link from its {ends[0]} to its {ends[1]}")
    return key_of(table, profiles)


class _Table:
    """One table and what its columns become."""

    def __init__(
        self,
        table: WideTable,
        profiles: dict[str, Profile],
        found: Dictionary[tuple[str, str], Reference],
        key: Key | None,
        given: TableMapping,
        num_tables: int,
    ) -> None:
        self.table, self.profiles, self.given, self.num_tables = table, profiles, given, num_tables
        self.references = {header: found[table.name, header] for header in profiles if (table.name, header) in found}
        self.ends: tuple[str, str] | None = None
        self.key, self.key_reference = self._key(key)
        ends = None if given.key or given.references else edge_columns(list(profiles))
        if ends is not None and self.key.columns[0] == ends[0]:
            self.ends = ends

    def _key(self, key: Key | None) -> tuple[Key, str]:
        """The key, and the column whose rows it names where the rows say more about things of another table."""
        if self.given.references:
            return key or Key(self.given.key, GIVEN), self.given.references
        primary = self.table.primary_key
        of_others = [header for header in self.references if self.references[header].table != self.table.name]
        links = len(primary) > 1 and set(primary) <= set(of_others)
        same_rows = key is not None and len(key.columns) == 1 and key.columns[0] in of_others
        if (key is None or links or same_rows) and of_others and not self.given.key:
            header = key.columns[0] if key is not None and same_rows else primary[0] if links else of_others[0]
            reference = self.references[header]
            return Key(
                (header,), f"its rows say more about those of {reference.table}"
            ), f"{reference.table}.{reference.column}"
        if key is None:
            if self.num_tables == 1:
                raise no_key(self.table, self.profiles)
            return Key((ROW,), "no column names its rows"), ""
        return key, ""

    def guess(self) -> TableGuess:
        """The guess of the whole table."""
        columns, taken = [], set[str]()
        for header, profile in self.profiles.items():
            if header in self.given.columns:
                column = self._as_given(header, profile)
            elif header == self.key.columns[0] and not self._is_a_part(profile):
                continue
            else:
                column = self._column(header, profile)
            column = _named_apart(column, taken)
            taken.add(column.mapping.name)
            columns.append(column)
        things = self.given.things or (self.key_reference.partition(".")[0] if self.key_reference else self.table.name)
        mapping = self.given.model_copy(
            update={
                "source": self.given.source or self.table.source,
                "key": self.key.columns,
                "things": things,
                "type": self.given.type if "type" in self.given.model_fields_set else self._type(columns),
                "references": self.key_reference,
                "columns": {column.column: column.mapping for column in columns},
            }
        )
        return TableGuess(
            self.table.name,
            self.table.source,
            self.table.num_rows,
            mapping,
            self.key.why,
            tuple(columns),
            self.table.remarks,
        )

    def _type(self, columns: Sequence[ColumnGuess]) -> str:
        """What each row is, by the table's name; nothing where that says nothing, or the rows say it themselves."""
        words = _NO_PART_OF_A_NOUN.sub(" ", re.sub(r"[_-]", " ", self.table.name)).split()
        named = singular(_without_data(" ".join(words)))
        if self.key_reference or self.ends is not None or _says_nothing(named):
            return ""
        relations = [column for column in columns if column.mapping.kind is Becomes.RELATION]
        names = [words for column in relations if (words := words_of(column.mapping.name))]
        if any(guessed_verb(words) in IS_A for words in names):
            return ""
        same = pa.scalar(named.lower())
        own = [column.column for column in relations if not column.mapping.references] + list(self.key.columns[:1])
        texts = (self.profiles[header].distinct.values for header in own if header in self.profiles)
        if any(pc.any(pc.equal(pc.utf8_lower(values), same), min_count=0).as_py() for values in texts):
            return ""  # what is called so is a thing of its own
        return named

    def _is_a_part(self, profile: Profile) -> bool:
        """Whether the first column of the key names what several rows are of: the country of country and year."""
        found = profile.distinct
        return len(self.key.columns) > 1 and profile.form is None and len(found) <= _FEW_NAMES * found.total

    def _as_given(self, header: str, profile: Profile) -> ColumnGuess:
        """What a mapping says of a column, with what is guessed where it says nothing."""
        said = self.given.columns[header]
        guessed = self._column(header, profile).mapping
        if guessed.kind is not said.kind:
            form = profile.form
            name = read_header(header).name if said.kind is Becomes.NUMBER else header
            things = said.name or name_of(header) if said.kind is Becomes.RELATION else ""
            guessed = ColumnMapping(kind=said.kind, name=name_of(name), things=things)
            if form is not None and form.mapping.kind is said.kind:
                guessed = form.mapping.model_copy(update={"name": guessed.name})
        mapping = guessed.model_copy(update={name: getattr(said, name) for name in said.model_fields_set})
        return ColumnGuess(header, mapping, GIVEN, profile.examples)

    def _column(self, header: str, profile: Profile) -> ColumnGuess:
        found, form = profile.distinct, profile.form
        if not found.total:
            return _left_out(profile, "empty")
        if self.ends is not None:
            return self._of_a_link(profile)
        if header == self.key.label:
            return _taken(profile, ColumnMapping(kind=Becomes.LABEL), "readable names of the rows")
        if of := self._unit_of(header):
            return _taken(profile, ColumnMapping(kind=Becomes.UNIT, of=of), f"units of {of}")
        if reference := self.references.get(header):
            mapping = ColumnMapping(
                kind=Becomes.RELATION,
                name=_relation_name(header),
                things=reference.table,
                references=f"{reference.table}.{reference.column}",
                separator=form.mapping.separator if form is not None else "",
            )
            return _taken(profile, mapping, reference.why)
        if len(found) == 1 and found.total == self.table.num_rows >= _MANY_ROWS:
            return _left_out(profile, "the same in every row")
        if form is not None and form.mapping.kind is Becomes.NUMBER:
            return self._number(profile, form)
        if form is not None:
            return _taken(profile, form.mapping, form.why)
        return self._text(profile)

    def _of_a_link(self, profile: Profile) -> ColumnGuess:
        assert self.ends is not None
        if profile.header == self.ends[1]:
            mapping = ColumnMapping(kind=Becomes.RELATION, name=_LINKED, things=self.table.name)
            return _taken(profile, mapping, "the other end")
        return _left_out(profile, "a link has no values of its own")

    def _number(self, profile: Profile, form: CellForm) -> ColumnGuess:
        header, found = profile.header, profile.distinct
        different = len(found) == found.total
        tells_apart = profile.is_whole and (is_plain_id(header) or is_code(header))
        if tells_apart and different and self.table.num_rows >= _MANY_ROWS:
            return _left_out(profile, f"{'codes' if is_code(header) else 'ids'}: a different number in every row")
        if tells_apart and found.repeated >= REPEATED * found.total:
            mapping = ColumnMapping(kind=Becomes.RELATION, name=_relation_name(header), things=_relation_name(header))
            return _taken(profile, mapping, "ids that repeat")
        mapping, why = form.mapping, form.why
        if own := next((other for other in self.profiles if self._unit_of(other) == header), None):
            mapping = mapping.model_copy(update={"unit": _commonest_unit(self.profiles[own])})
            return _taken(profile, mapping, f"in the units that {own} says, as {mapping.unit}")
        if mapping.unit or mapping.factor != 1:
            mapping = mapping.model_copy(update={"name": name_of(read_header(header).name)})
        return _taken(profile, mapping, why)

    def _text(self, profile: Profile) -> ColumnGuess:
        found, header = profile.distinct, profile.header
        if profile.mean_length > _LONG:
            return _left_out(profile, "long texts")
        if found.repeated >= REPEATED * found.total and found.repeated:
            why = f"{len(found):,} different in {found.total:,} rows"
            return _taken(profile, ColumnMapping(kind=Becomes.RELATION), why + self._mixed(profile))
        if names_rank(header, self.table.name) <= 2 and self.key.columns[0] != ROW and is_plain_id(self.key.columns[0]):
            return _taken(profile, ColumnMapping(kind=Becomes.LABEL), "names of the rows")
        rarely = "a different one in every row" if len(found) == found.total else "hardly any is in two rows"
        return _left_out(profile, rarely + self._mixed(profile))

    @staticmethod
    def _mixed(profile: Profile) -> str:
        """A remark where numbers stand among other text."""
        numbers = sum(text.replace(".", "", 1).lstrip("-").isdecimal() for text, _ in profile.sample)
        return (
            f"; mixed: {numbers / len(profile.sample):.0%} are numbers"
            if 0.3 < numbers / len(profile.sample) < 1
            else ""
        )

    def _unit_of(self, header: str) -> str | None:
        """The column of numbers that a column holds the units of."""
        of = unit_column_of(header, [other for other in self.profiles if other != header])
        if of is None or self.profiles[of].form is None or pa.types.is_list(self.profiles[of].column.type):
            return None
        texts = self.profiles[header].sample
        known = sum(unit_named(text) is not None for text, _ in texts)
        return of if texts and known * 2 > len(texts) else None


def _without_data(name: str) -> str:
    """A table's name without a last word that says only that it is one: `country data` has countries."""
    first, _, last = name.rpartition(" ")
    return first if first and last.lower() in _NO_NOUNS and not _says_nothing(first) else name


def _says_nothing(name: str) -> bool:
    """Whether a table's name is no noun for its rows: `Sheet1`, `data`, `t`, `2020`."""
    word = name.lower().rstrip("0123456789 ")
    return word in _NO_NOUNS or sum(map(str.isalpha, word)) < 2


def _taken(profile: Profile, mapping: ColumnMapping, why: str) -> ColumnGuess:
    """A column that becomes something, called by its header where nothing else is said."""
    update: dict[str, str] = {}
    if not mapping.name and mapping.kind not in (Becomes.LABEL, Becomes.UNIT):
        update["name"] = name_of(profile.header)
    if mapping.kind is Becomes.RELATION and not mapping.things:
        update["things"] = mapping.name or name_of(profile.header)
    return ColumnGuess(profile.header, mapping.model_copy(update=update), why, profile.examples)


def _left_out(profile: Profile, why: str) -> ColumnGuess:
    return ColumnGuess(profile.header, ColumnMapping(kind=Becomes.LEFT_OUT), why, profile.examples)


def _commonest_unit(profile: Profile) -> str:
    """The unit that most cells of a column of units name."""
    counts = Counter[str]()
    for text, count in profile.sample:
        if unit := unit_named(text):
            counts[unit] += count
    return counts.most_common(1)[0][0]


def _relation_name(header: str) -> str:
    """`director_id` leads to a director."""
    for ending in ("_id", "_ID", "_Id", " id", " ID", " Id", "Id", "ID", "_key", "_code", "_fk"):
        if header.endswith(ending) and len(header) > len(ending) + 1:
            return name_of(header[: -len(ending)])
    return name_of(header)


def _named_apart(column: ColumnGuess, taken: set[str]) -> ColumnGuess:
    """Two columns that would be called the same without their units keep their whole headers."""
    if column.mapping.name and column.mapping.name in taken:
        return ColumnGuess(
            column.column,
            column.mapping.model_copy(update={"name": name_of(column.column)}),
            column.why,
            column.examples,
        )
    return column


def _classes_joined(guesses: list[TableGuess], profiles: Profiles) -> list[TableGuess]:
    """Columns of different names with largely the same cells lead to the same things."""
    columns = [
        (column.mapping.things, profiles[guess.table][column.column])
        for guess in guesses
        for column in guess.columns
        if column.mapping.kind is Becomes.RELATION
        and not column.mapping.references
        and not column.mapping.separator
        and column.why != GIVEN
    ]
    renamed = one_class(columns)
    if not renamed:
        return guesses
    result = []
    for guess in guesses:
        own = []
        for column in guess.columns:
            mapping, why = column.mapping, column.why
            if mapping.things in renamed and not mapping.references and why != GIVEN:
                mapping = mapping.model_copy(update={"things": renamed[mapping.things]})
                why = f"{why}, largely those of {mapping.things}"
            own.append(ColumnGuess(column.column, mapping, why, column.examples))
        table = guess.mapping.model_copy(update={"columns": {column.column: column.mapping for column in own}})
        result.append(
            TableGuess(guess.table, guess.source, guess.rows, table, guess.key_why, tuple(own), guess.remarks)
        )
    return result
