"""N-Triples by the block: ids from the compiled tables of names, and pyoxigraph for lines that are not plain."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np
import pyoxigraph as ox

from kgreckon.graph.graph_builder import GraphBuilder
from kgreckon.graph.literals import is_plain_number_type, local_name
from kgreckon.graph.name_table import NameTable
from kgreckon.graph.readers.table_blocks import NUMBER, kinds_of, numbers_in
from kgreckon.graph.readers.triple_blocks import FACT, IN_LANGUAGE, NOTHING, OTHER, PLAIN, TYPED, triple_lines

LABEL = "http://www.w3.org/2000/01/rdf-schema#label"
SAME_AS = "http://www.w3.org/2002/07/owl#sameAs"
LANG_STRING = "http://www.w3.org/1999/02/22-rdf-syntax-ns#langString"
_STRING = "http://www.w3.org/2001/XMLSchema#string"
_EXACT = 2.0**53


class TripleReader(Protocol):
    """What takes the triples of a file one by one."""

    builder: GraphBuilder

    def add(self, quad: ox.Quad) -> None:
        """Add one."""
        ...

    def name(self, term: object) -> str:
        """The name of a term that is not a literal."""
        ...

    def take_label(self, subject: str, label: str, language: str | None) -> None:
        """Keep a label unless there is one in a better language."""
        ...

    def take_text(self, subject: str, predicate: str, text: str, datatype: str, language: str | None) -> bool:
        """Keep a literal of text; False where it is none."""
        ...

    def number_of(self, lexical: str, datatype: str) -> tuple[float, str] | None:
        """The number that a literal denotes and its unit, or None."""
        ...


class _Statements:
    """What the lines of a block state, in their order: terms in one run of bytes, numbers, labels."""

    def __init__(self, content: bytes) -> None:
        found = triple_lines(content)
        self.content, self.lines = content, found.lines
        self.kinds, self.starts, self.ends = found.kinds, found.starts, found.ends
        self.is_fact = self.kinds == FACT
        self.numbers = np.zeros(len(self.kinds))
        self.unit_of = np.full(len(self.kinds), -1, dtype=np.int64)  # of lines that state a number
        self.labels: list[tuple[int, str, str, str | None]] = []  # line, subject, label, language
        self._units: dict[str, int] = {}
        self._added: list[bytes] = []  # terms that do not stand in the content as they are
        self._end = len(content)

    @property
    def units(self) -> Sequence[str]:
        """The units, as `unit_of` counts them."""
        return list(self._units)

    @property
    def bytes_of(self) -> np.ndarray:
        """The content, and the terms after it."""
        return np.frombuffer(b"".join([self.content, *self._added]), dtype=np.uint8)

    def text(self, line: int, term: int) -> str:
        """A term of a line."""
        return self.content[self.starts[line, term] : self.ends[line, term]].decode()

    def set_term(self, line: int, term: int, text: str) -> None:
        """Put a term in the place of what stands in a line."""
        added = text.encode()
        self._added.append(added)
        self.starts[line, term], self.ends[line, term] = self._end, self._end + len(added)
        self._end += len(added)

    def set_number(self, line: int, number: tuple[float, str] | None) -> None:
        """Note the number that a line states, if it does."""
        if number is not None:
            self.numbers[line], self.unit_of[line] = number[0], self._units.setdefault(number[1], len(self._units))

    def set_numbers(self, lines: np.ndarray, numbers: np.ndarray, unit: str) -> None:
        """The same for many lines."""
        if len(lines):
            self.numbers[lines], self.unit_of[lines] = numbers, self._units.setdefault(unit, len(self._units))


def add_block(content: bytes, reader: TripleReader) -> int:
    """Add the triples of some whole lines; returns how many.

    Where a line is not valid, pyoxigraph's error is raised, and nothing of the block has been added.
    """
    content.decode()
    found = _Statements(content)
    quads = _other_lines(found)
    if quads is None or LANG_STRING in {found.text(line, 3) for line in _first_typed(found)}:
        whole = list(ox.parse(content, format=ox.RdfFormat.N_TRIPLES))
        for quad in whole:
            reader.add(quad)
        return len(whole)
    languages = _languages(found)
    _merge(found, reader.builder)
    for line, quad in quads:
        _take(line, quad, found, reader)
    _take_literals(found, languages, reader)
    for _, subject, label, language in sorted(found.labels, key=lambda each: each[0]):
        reader.take_label(subject, label, language)
    _state(found, reader.builder)
    return int((found.kinds != NOTHING).sum())


def _state(found: _Statements, builder: GraphBuilder) -> None:
    """Give the statements to a builder."""
    values = found.unit_of >= 0
    stated = found.is_fact | values
    # The names of things in the order in which they are met: the subject of each statement and, of a fact, its object.
    things = np.stack([np.ones(int(stated.sum()), dtype=bool), found.is_fact[stated]], axis=1)
    run = found.bytes_of
    ids = builder.ids_of_things(run, found.starts[stated][:, :3:2][things], found.ends[stated][:, :3:2][things])
    subjects = np.cumsum(things.sum(axis=1)) - things.sum(axis=1)
    facts, own = subjects[things[:, 1]], subjects[~things[:, 1]]
    relations = builder.ids_of_relations(run, found.starts[found.is_fact, 1], found.ends[found.is_fact, 1])
    builder.add_fact_ids(ids[facts], relations, ids[facts + 1])
    attributes = builder.ids_of_attributes(run, found.starts[values, 1], found.ends[values, 1])
    builder.add_value_ids(ids[own], attributes, found.numbers[values], found.units, found.unit_of[values])


def _other_lines(found: _Statements) -> list[tuple[int, ox.Quad]] | None:
    """The triples of the lines that are not plain; None where one does not hold just one."""
    lines = np.flatnonzero(found.kinds == OTHER).tolist()
    if not lines:
        return []
    text = b"".join(found.content[found.lines[line] : found.lines[line + 1]] for line in lines)
    quads = list(ox.parse(text, format=ox.RdfFormat.N_TRIPLES))
    return list(zip(lines, quads, strict=True)) if len(quads) == len(lines) else None


def _first_typed(found: _Statements) -> list[int]:
    """A line for each datatype that literals have."""
    lines = np.flatnonzero(found.kinds == TYPED)
    run = np.frombuffer(found.content, dtype=np.uint8)
    ids = NameTable().add_all(run, found.starts[lines, 3], found.ends[lines, 3])
    return [int(line) for line in lines[np.unique(ids, return_index=True)[1]]]


def _take(line: int, quad: ox.Quad, found: _Statements, reader: TripleReader) -> None:
    """Put a triple that pyoxigraph read in the place of its line."""
    subject, predicate, object_ = reader.name(quad.subject), quad.predicate.value, quad.object
    if not isinstance(object_, ox.Literal) and predicate == SAME_AS:
        reader.builder.same(subject, reader.name(object_))
        return
    if not isinstance(object_, ox.Literal):
        found.is_fact[line] = True
        found.set_term(line, 2, reader.name(object_))
    elif predicate == LABEL:
        found.labels.append((line, subject, object_.value, object_.language))
        return
    elif reader.take_text(subject, predicate, object_.value, object_.datatype.value, object_.language):
        return
    else:
        found.set_number(line, reader.number_of(object_.value, object_.datatype.value))
    found.set_term(line, 0, subject)
    found.set_term(line, 1, predicate)


def _languages(found: _Statements) -> dict[str, str | None]:
    """The languages of literals as RDF writes them; a ValueError where one is not valid."""
    lines = np.flatnonzero(found.kinds == IN_LANGUAGE)
    written = {found.text(line, 3) for line in lines.tolist()}
    return {language: ox.Literal("", language=language).language for language in written}


def _take_literals(found: _Statements, languages: dict[str, str | None], reader: TripleReader) -> None:
    """Note labels and numbers, and count other literals."""
    lines = np.flatnonzero((found.kinds == PLAIN) | (found.kinds == TYPED) | (found.kinds == IN_LANGUAGE))
    run = np.frombuffer(found.content, dtype=np.uint8)
    predicates = NameTable()
    label = predicates.add(LABEL)
    is_label = predicates.add_all(run, found.starts[lines, 1], found.ends[lines, 1]) == label
    for line in lines[is_label].tolist():
        language = languages[found.text(line, 3)] if found.kinds[line] == IN_LANGUAGE else None
        found.labels.append((line, found.text(line, 0), found.text(line, 2), language))
    lines = lines[~is_label]
    datatypes = NameTable()
    own = np.where(found.kinds[lines] == PLAIN, datatypes.add(_STRING), datatypes.add(LANG_STRING))
    typed = found.kinds[lines] == TYPED
    own[typed] = datatypes.add_all(run, found.starts[lines[typed], 3], found.ends[lines[typed], 3])
    kinds = kinds_of(run, found.starts[lines, 2], found.ends[lines, 2])
    left = np.full(len(lines), True)
    for place in range(len(datatypes)):
        datatype = datatypes.text(place)
        if is_plain_number_type(datatype):
            plain = np.flatnonzero((own == place) & (kinds == NUMBER))
            numbers = numbers_in(run, found.starts[lines[plain], 2], found.ends[lines[plain], 2])
            exact = np.abs(numbers) < _EXACT
            found.set_numbers(lines[plain[exact]], numbers[exact], local_name(datatype))
            left[plain[exact]] = False
    for place in np.flatnonzero(left).tolist():
        line, datatype = int(lines[place]), datatypes.text(int(own[place]))
        language = languages[found.text(line, 3)] if found.kinds[line] == IN_LANGUAGE else None
        if not reader.take_text(found.text(line, 0), found.text(line, 1), found.text(line, 2), datatype, language):
            found.set_number(line, reader.number_of(found.text(line, 2), datatype))


def _merge(found: _Statements, builder: GraphBuilder) -> None:
    """Take out the facts that say that two things are one, and tell the builder."""
    lines = np.flatnonzero(found.is_fact)
    run = np.frombuffer(found.content, dtype=np.uint8)
    predicates = NameTable()
    same = predicates.add(SAME_AS)
    for line in lines[predicates.add_all(run, found.starts[lines, 1], found.ends[lines, 1]) == same].tolist():
        builder.same(found.text(line, 0), found.text(line, 2))
        found.is_fact[line] = False
