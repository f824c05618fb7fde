"""RDF in every syntax that pyoxigraph reads. Numeric and date literals become values, rdfs:label gives names."""

from __future__ import annotations

import codecs
import re
from collections import deque
from itertools import islice
from pathlib import Path
from typing import IO

import pyoxigraph as ox

from kgreckon.errors import UserError
from kgreckon.graph.graph_builder import GraphBuilder
from kgreckon.graph.literals import (
    NotANumberError,
    UnknownDateError,
    is_calendar,
    is_numeric_type,
    is_rounded,
    local_name,
    read_literal,
)
from kgreckon.graph.readers.import_report import ImportReport, Labels
from kgreckon.graph.readers.tables import GZIP_ERRORS, open_bytes, suffix_of

_LABEL = "http://www.w3.org/2000/01/rdf-schema#label"
_LANG_STRING = "http://www.w3.org/1999/02/22-rdf-syntax-ns#langString"
# The language a label is taken in, the best first; other languages only where none of these is there.
_LANGUAGES = ("en", None, "en-us", "en-gb")


_LINE_BY_LINE = (ox.RdfFormat.N_TRIPLES, ox.RdfFormat.N_QUADS)
_LOOKED_BACK = 1000  # lines, for the one that an error is about


def is_rdf_file(path: Path) -> bool:
    """Whether the file's ending is one of an RDF syntax."""
    return _syntax(path) is not None


def read_rdf(path: Path, builder: GraphBuilder, report: ImportReport, labels: Labels) -> None:
    """Add the facts and values of an RDF file, and put its labels into `labels`."""
    syntax = _syntax(path)
    if syntax is None:
        raise UserError(f"{path} has no ending of an RDF syntax")
    report.files.append(path.name)
    reader = _Reader(path, builder, report, labels)
    try:
        with open_bytes(path) as content:
            if content.peek(3)[:3] == codecs.BOM_UTF8:  # type: ignore[attr-defined]  # plain and gzip files both peek
                content.read(3)
            if report.skip_bad_lines and syntax in _LINE_BY_LINE:
                reader.read_line_by_line(content, syntax)
            else:
                reader.read_whole(content, syntax)
    except GZIP_ERRORS as error:
        raise UserError(f"{path} is not a whole gzip file: {error}") from None
    if not reader.triples:
        raise UserError(f"{path} holds no triples")


def _syntax(path: Path) -> ox.RdfFormat | None:
    return ox.RdfFormat.from_extension(suffix_of(path).lstrip("."))


def _message(error: Exception) -> str:
    """What is wrong, without the line, which the caller names."""
    return re.sub(r"^Parser error at line \d+ ", "", str(getattr(error, "msg", error)))


class _Reader:
    """Reads the triples of one file."""

    def __init__(self, path: Path, builder: GraphBuilder, report: ImportReport, labels: Labels) -> None:
        self.path = path
        self.builder = builder
        self.report = report
        self.labels = labels
        self.triples = 0
        # A blank node means something in its own file only, and may come with a random id: number them as they appear.
        self.blank_nodes: dict[str, str] = {}

    def read_whole(self, content: IO[bytes], syntax: ox.RdfFormat) -> None:
        try:
            for quad in ox.parse(content, format=syntax, base_iri=self.path.absolute().as_uri()):
                self.add(quad)
        except SyntaxError as error:
            message, line = _message(error), error.lineno
            if line and syntax in _LINE_BY_LINE and (at_fault := self._culprit(line, syntax)) != line:
                message, line = re.sub(r"^column \d+: ", "", message), at_fault  # it is the later line's
            place = f":{line}" if line else ""
            raise UserError(f"{self.path}{place}: {message}") from None
        except ValueError as error:
            raise UserError(f"{self.path} cannot be read as {syntax.name}: {error}") from None

    def _culprit(self, line: int, syntax: ox.RdfFormat) -> int:
        """The line at fault: what one lacks at its end is missed only on a later one."""
        with open_bytes(self.path) as content:
            before = deque(islice(enumerate(content, 1), line - 1), maxlen=_LOOKED_BACK)
        for number, statement in before:
            try:
                list(ox.parse(statement.removeprefix(codecs.BOM_UTF8), format=syntax))
            except (SyntaxError, ValueError):
                return number
        return line

    def read_line_by_line(self, content: IO[bytes], syntax: ox.RdfFormat) -> None:
        for line, statement in enumerate(content, 1):
            try:
                quads = list(ox.parse(statement, format=syntax))
            except (SyntaxError, ValueError) as error:
                self.report.reject(self.path, line, _message(error))
                continue
            for quad in quads:
                self.add(quad)

    def add(self, quad: ox.Quad) -> None:
        self.triples += 1
        subject, predicate, object_ = self.name(quad.subject), quad.predicate.value, quad.object
        if not isinstance(object_, ox.Literal):
            self.builder.add_fact(subject, predicate, self.name(object_))
            return
        if predicate == _LABEL:
            rank = _LANGUAGES.index(object_.language) if object_.language in _LANGUAGES else len(_LANGUAGES)
            if object_.value and (subject not in self.labels or rank < self.labels[subject][0]):
                self.labels[subject] = rank, object_.value
            return
        datatype = object_.datatype.value
        try:
            number, unit = read_literal(object_.value, datatype)
            self.report.rounded += is_rounded(object_.value, number)
            self.builder.add_value(subject, predicate, number, unit, any_unit=True)
        except UnknownDateError:
            self.report.unknown_dates += 1
        except NotANumberError:
            kind = "text in a language" if datatype == _LANG_STRING else local_name(datatype)
            if is_numeric_type(datatype):
                kind += " that is not a date" if is_calendar(kind) else " that is not a finite number"
            self.report.other_literals[kind] += 1

    def name(self, term: object) -> str:
        if isinstance(term, ox.NamedNode):
            return term.value
        if isinstance(term, ox.BlankNode):
            if term.value not in self.blank_nodes:
                self.report.blank_nodes += 1
                self.blank_nodes[term.value] = f"_:{self.report.blank_nodes}"
            return self.blank_nodes[term.value]
        return str(term)  # a quoted triple as its text
