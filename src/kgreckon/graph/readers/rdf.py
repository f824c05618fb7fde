"""RDF in every syntax that pyoxigraph reads. Numeric and date literals become values, rdfs:label gives names."""

from __future__ import annotations

import codecs
import re
from collections import deque
from itertools import islice
from pathlib import Path
from typing import IO, cast

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
from kgreckon.graph.readers.fast_triples import LABEL, LANG_STRING, SAME_AS, add_block
from kgreckon.graph.readers.import_report import ImportReport, Labels
from kgreckon.graph.readers.rdf_texts import RdfTexts
from kgreckon.graph.readers.table_blocks import whole_lines
from kgreckon.graph.readers.tables import bounded_lines
from kgreckon.graph.unpacking import GZIP_ERRORS, MOST_LINE, EntityGuard, open_bytes, suffix_of

# The language a label is taken in, the best first; other languages only where none of these is there.
_LANGUAGES = ("en", None, "en-us", "en-gb")


_LINE_BY_LINE = (ox.RdfFormat.N_TRIPLES, ox.RdfFormat.N_QUADS)
_LOOKED_BACK = 1000  # lines, for the one that an error is about
_MOST_BETWEEN = 2 * MOST_LINE  # bytes without a statement, which the parser may keep; it reads ahead
_LOOKED_AT = 2**16  # bytes at the start and at the end of an XML document
_ASIDE = rb"\s|<\?.*?\?>|<!--.*?-->"
_TAG = re.compile(rb"(?:%b|<!DOCTYPE[^>\[]*(?:\[[^]]*\])?\s*>)*<([^\s/>!?]+)(?=[\s>])(?![^<>]*/>)" % _ASIDE, re.DOTALL)


def is_rdf_file(path: Path) -> bool:
    """Whether the file's ending is one of an RDF syntax."""
    return _syntax(path) is not None


def read_rdf(path: Path, builder: GraphBuilder, report: ImportReport, labels: Labels, texts: RdfTexts) -> None:
    """Add the facts and values of an RDF file, and put its labels into `labels` and its texts into `texts`."""
    syntax = _syntax(path)
    if syntax is None:
        raise UserError(f"{path} has no ending of an RDF syntax")
    report.files.append(path.name)
    reader = _Reader(path, builder, report, labels, texts)
    try:
        with open_bytes(path) as content:
            _skip_mark(content)
            if report.skip_bad_lines and syntax in _LINE_BY_LINE:
                reader.read_line_by_line(content, syntax)
            elif builder.takes_many and syntax == ox.RdfFormat.N_TRIPLES and path.is_file():
                reader.read_blocks(content)
            else:
                reader.read_whole(content, syntax)
    except GZIP_ERRORS as error:
        raise UserError(f"{path} is not a whole gzip file: {error}") from None
    if not reader.triples:
        raise UserError(f"{path} holds no triples")


def _syntax(path: Path) -> ox.RdfFormat | None:
    return ox.RdfFormat.from_extension(suffix_of(path).lstrip("."))


def _skip_mark(content: IO[bytes]) -> None:
    """Leave out a byte order mark."""
    if content.peek(3)[:3] == codecs.BOM_UTF8:  # type: ignore[attr-defined]  # plain and gzip files both peek
        content.read(3)


def _message(error: Exception) -> str:
    """What is wrong, without the line, which the caller names."""
    return re.sub(r"^Parser error at line \d+ ", "", str(getattr(error, "msg", error)))


def _too_long(path: Path) -> str:
    return f"{path}: a statement is too long: {MOST_LINE >> 20} MiB is what one may have"


class _Bounded:
    """What a parser reads, as long as it does not have to keep too much of it.

    XML entities, of which a small file can make an enormous one, are refused.
    """

    def __init__(self, content: IO[bytes], path: Path, is_xml: bool) -> None:
        self.content, self.path, self.is_xml = content, path, is_xml
        self._guard = EntityGuard(path)
        self.since_a_statement = 0
        self._start = self._end = b""  # of all that was read

    def read(self, size: int = -1) -> bytes:
        data = self.content.read(size)
        self.since_a_statement += len(data)
        if self.since_a_statement > _MOST_BETWEEN:
            raise UserError(_too_long(self.path))
        if self.is_xml:
            self._guard.look_at(data)
            self._start += data[: _LOOKED_AT - len(self._start)]
            self._end = (self._end + data)[-_LOOKED_AT:]
        return data

    @property
    def is_cut(self) -> bool:
        """Whether an XML document does not end with its first element, which the parser does not mind."""
        root = _TAG.match(self._start)
        closed = root is None or re.search(rb"</%b\s*>(?:%b)*\Z" % (re.escape(root[1]), _ASIDE), self._end, re.DOTALL)
        return self.is_xml and not closed


class _Reader:
    """Reads the triples of one file."""

    def __init__(
        self, path: Path, builder: GraphBuilder, report: ImportReport, labels: Labels, texts: RdfTexts
    ) -> None:
        self.path = path
        self.builder = builder
        self.report = report
        self.labels = labels
        self.texts = texts
        self.triples = 0
        # A blank node means something in its own file only, and may come with a random id: number them as they appear.
        self.blank_nodes: dict[str, str] = {}

    def read_whole(self, content: IO[bytes], syntax: ox.RdfFormat) -> None:
        try:
            bounded = _Bounded(content, self.path, syntax == ox.RdfFormat.RDF_XML)
            for quad in ox.parse(cast(IO[bytes], bounded), format=syntax, base_iri=self.path.absolute().as_uri()):
                bounded.since_a_statement = 0
                self.add(quad)
            if bounded.is_cut:
                raise UserError(f"{self.path} is cut off: its first element is not closed")
        except SyntaxError as error:
            message, line = _message(error), error.lineno
            if line and syntax in _LINE_BY_LINE and (at_fault := self._culprit(line, syntax)) != line:
                message, line = re.sub(r"^column \d+: ", "", message), at_fault  # it is the later line's
            place = f":{line}" if line else ""
            raise UserError(f"{self.path}{place}: {message}") from None
        except ValueError as error:
            raise UserError(f"{self.path} cannot be read as {syntax.name}: {error}") from None
        except MemoryError:  # the parser's own bound, of 16 MiB in most syntaxes
            raise UserError(_too_long(self.path)) from None

    def read_blocks(self, content: IO[bytes]) -> None:
        """N-Triples by the block; where one cannot be read, the whole file says why."""
        for lines in whole_lines(content):
            try:
                if len(lines) > MOST_LINE:
                    raise ValueError("a line may be too long")
                self.triples += add_block(lines, self)
            except (SyntaxError, ValueError):
                with open_bytes(self.path) as again:
                    _skip_mark(again)
                    _Reader(self.path, GraphBuilder(), ImportReport(), {}, RdfTexts()).read_whole(
                        again, ox.RdfFormat.N_TRIPLES
                    )
                for quad in ox.parse(lines, format=ox.RdfFormat.N_TRIPLES):
                    self.add(quad)
            self.report.read(self.path, len(lines))

    def _culprit(self, line: int, syntax: ox.RdfFormat) -> int:
        """The line at fault: what one lacks at its end is missed only on a later one."""
        with open_bytes(self.path) as content:
            before = deque(islice(enumerate(bounded_lines(content, self.path), 1), line - 1), maxlen=_LOOKED_BACK)
        for number, statement in before:
            try:
                list(ox.parse(statement.removeprefix(codecs.BOM_UTF8), format=syntax))
            except (SyntaxError, ValueError):
                return number
        return line

    def read_line_by_line(self, content: IO[bytes], syntax: ox.RdfFormat) -> None:
        for line, statement in enumerate(bounded_lines(content, self.path), 1):
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
            if predicate == SAME_AS:
                self.builder.same(subject, self.name(object_))
                return
            self.builder.add_fact(subject, predicate, self.name(object_))
            return
        if predicate == LABEL:
            self.take_label(subject, object_.value, object_.language)
            return
        if self.take_text(subject, predicate, object_.value, object_.datatype.value, object_.language):
            return
        number = self.number_of(object_.value, object_.datatype.value)
        if number is not None:
            self.builder.add_value(subject, predicate, *number, any_unit=True)

    def take_text(self, subject: str, predicate: str, text: str, datatype: str, language: str | None) -> bool:
        """Keep a literal of text, whose meaning is seen when all are read; False where it is none."""
        return self.texts.add(subject, predicate, text, datatype, language)

    def take_label(self, subject: str, label: str, language: str | None) -> None:
        """Keep a label unless there is one in a better language."""
        rank = _LANGUAGES.index(language) if language in _LANGUAGES else len(_LANGUAGES)
        if label and (subject not in self.labels or rank < self.labels[subject][0]):
            self.labels[subject] = rank, label

    def number_of(self, lexical: str, datatype: str) -> tuple[float, str] | None:
        """The number that a literal denotes and its unit, or None, which the report then counts."""
        try:
            number, unit = read_literal(lexical, datatype)
        except UnknownDateError:
            self.report.unknown_dates += 1
            return None
        except NotANumberError:
            kind = "text in a language" if datatype == LANG_STRING else local_name(datatype)
            if is_numeric_type(datatype):
                kind += " that is not a date" if is_calendar(kind) else " that is not a finite number"
            self.report.other_literals[kind] += 1
            return None
        self.report.rounded += is_rounded(lexical, number)
        return number, unit

    def name(self, term: object) -> str:
        if isinstance(term, ox.NamedNode):
            return term.value
        if isinstance(term, ox.BlankNode):
            if term.value not in self.blank_nodes:
                self.report.blank_nodes += 1
                self.blank_nodes[term.value] = f"_:{self.report.blank_nodes}"
            return self.blank_nodes[term.value]
        return str(term)  # a quoted triple as its text
