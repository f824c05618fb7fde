"""RDF in every syntax that pyoxigraph reads. Numeric and date literals become values, rdfs:label gives names."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import pyoxigraph as ox

from kgreckon.errors import UserError
from kgreckon.graph.builder import GraphBuilder
from kgreckon.graph.literals import NotANumberError, UnknownDateError, local_name, read_literal
from kgreckon.graph.readers.report import ImportReport
from kgreckon.graph.readers.tables import open_bytes, suffix_of

_LABEL = "http://www.w3.org/2000/01/rdf-schema#label"
_LANG_STRING = "http://www.w3.org/1999/02/22-rdf-syntax-ns#langString"
# The language a label is taken in, the best first; other languages only where none of these is there.
_LANGUAGES = ("en", None, "en-us", "en-gb")


def is_rdf_file(path: Path) -> bool:
    """Whether the file's ending is one of an RDF syntax."""
    return _syntax(path) is not None


def read_rdf(path: Path, builder: GraphBuilder, report: ImportReport) -> None:
    """Add the facts, values and labels of an RDF file."""
    syntax = _syntax(path)
    if syntax is None:
        raise UserError(f"{path} has no ending of an RDF syntax")
    report.files.append(path.name)
    labels: dict[str, tuple[int, str]] = {}
    before = builder.num_facts_given + builder.num_values_given + sum(report.other_literals.values())
    if report.skip_bad_lines and syntax in (ox.RdfFormat.N_TRIPLES, ox.RdfFormat.N_QUADS):
        _read_line_by_line(path, syntax, builder, report, labels)
    else:
        _read_whole(path, syntax, builder, report, labels)
    if (
        before == builder.num_facts_given + builder.num_values_given + sum(report.other_literals.values())
        and not labels
    ):
        raise UserError(f"{path} holds no triples")
    for name, (_, label) in labels.items():
        if builder.label(name, label):
            report.labels += 1
        else:
            report.labels_of_nothing += 1


def _syntax(path: Path) -> ox.RdfFormat | None:
    return ox.RdfFormat.from_extension(suffix_of(path).lstrip("."))


def _read_whole(path: Path, syntax: ox.RdfFormat, builder: GraphBuilder, report: ImportReport,
                labels: dict[str, tuple[int, str]]) -> None:  # fmt: skip
    with open_bytes(path) as content:
        try:
            for quad in ox.parse(content, format=syntax, base_iri=path.absolute().as_uri()):
                _add(quad, builder, report, labels)
        except SyntaxError as error:
            raise UserError(f"{path}:{error.lineno or 1}: {error.msg}") from None
        except (ValueError, EOFError, OSError) as error:
            raise UserError(f"{path} cannot be read as {syntax.name}: {error}") from None


def _read_line_by_line(path: Path, syntax: ox.RdfFormat, builder: GraphBuilder, report: ImportReport,
                       labels: dict[str, tuple[int, str]]) -> None:  # fmt: skip
    with open_bytes(path) as content:
        for line, statement in enumerate(content, 1):
            try:
                quads: Iterable[ox.Quad] = list(ox.parse(statement, format=syntax))
            except (SyntaxError, ValueError) as error:
                report.reject(path, line, str(getattr(error, "msg", error)))
                continue
            for quad in quads:
                _add(quad, builder, report, labels)


def _add(quad: ox.Quad, builder: GraphBuilder, report: ImportReport, labels: dict[str, tuple[int, str]]) -> None:
    subject, predicate, object_ = _name(quad.subject), quad.predicate.value, quad.object
    if not isinstance(object_, ox.Literal):
        builder.add_fact(subject, predicate, _name(object_))
        return
    if predicate == _LABEL:
        rank = _LANGUAGES.index(object_.language) if object_.language in _LANGUAGES else len(_LANGUAGES)
        if subject not in labels or rank < labels[subject][0]:
            labels[subject] = rank, object_.value
        return
    datatype = object_.datatype.value
    try:
        number, unit = read_literal(object_.value, datatype)
        builder.add_value(subject, predicate, number, unit)
    except UnknownDateError:
        report.unknown_dates += 1
    except NotANumberError:
        report.other_literals["text in a language" if datatype == _LANG_STRING else local_name(datatype)] += 1
    except UserError:
        report.other_literals[f"{local_name(datatype)} beside values of another kind"] += 1


def _name(term: object) -> str:
    if isinstance(term, ox.NamedNode):
        return term.value
    return str(term)  # a blank node as _:id, a quoted triple as its text
