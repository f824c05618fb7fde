"""SPARQL results, tables and truth values, in the four formats of the W3C: JSON, XML, CSV and TSV."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from xml.sax.saxutils import escape, quoteattr

_XSD = "http://www.w3.org/2001/XMLSchema#"


@dataclass(frozen=True)
class Term:
    """An RDF term: an IRI, or the text of a literal with its datatype."""

    text: str
    datatype: str | None = None  # of XML Schema, without its namespace; None for an IRI

    @staticmethod
    def of_number(value: float) -> Term:
        """A number."""
        return Term(repr(float(value)), "double")

    @staticmethod
    def of_truth(value: bool) -> Term:
        """True or false."""
        return Term("true" if value else "false", "boolean")


@dataclass(frozen=True)
class ResultTable:
    """Variables, and rows with a term for each of them."""

    variables: tuple[str, ...]
    rows: Sequence[tuple[Term, ...]]


def as_json(table: ResultTable) -> str:
    """SPARQL 1.1 Query Results JSON Format."""

    def bound(term: Term) -> dict[str, str]:
        if term.datatype is None:
            return {"type": "uri", "value": term.text}
        return {"type": "literal", "value": term.text, "datatype": _XSD + term.datatype}

    bindings = [dict(zip(table.variables, map(bound, row), strict=True)) for row in table.rows]
    return json.dumps({"head": {"vars": table.variables}, "results": {"bindings": bindings}}, ensure_ascii=False)


def as_xml(table: ResultTable) -> str:
    """SPARQL Query Results XML Format."""

    def bound(name: str, term: Term) -> str:
        text = escape(term.text)
        if term.datatype is None:
            inner = f"<uri>{text}</uri>"
        else:
            inner = f"<literal datatype={quoteattr(_XSD + term.datatype)}>{text}</literal>"
        return f"<binding name={quoteattr(name)}>{inner}</binding>"

    head = "".join(f"<variable name={quoteattr(name)}/>" for name in table.variables)
    rows = "\n".join(
        f"<result>{''.join(bound(name, term) for name, term in zip(table.variables, row, strict=True))}</result>"
        for row in table.rows
    )
    return (
        '<?xml version="1.0" encoding="UTF-8"?>\n<sparql xmlns="http://www.w3.org/2005/sparql-results#">\n'
        f"<head>{head}</head>\n<results>\n{rows}\n</results>\n</sparql>\n"
    )


def as_csv(table: ResultTable) -> str:
    """SPARQL 1.1 Query Results CSV Format: the bare texts."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\r\n")
    writer.writerow(table.variables)
    writer.writerows([term.text for term in row] for row in table.rows)
    return out.getvalue()


def as_tsv(table: ResultTable) -> str:
    """SPARQL 1.1 Query Results TSV Format: terms as Turtle writes them."""

    def written(term: Term) -> str:
        return f"<{term.text}>" if term.datatype is None else f'"{term.text}"^^<{_XSD}{term.datatype}>'

    lines = ["\t".join(f"?{name}" for name in table.variables)]
    lines += ["\t".join(map(written, row)) for row in table.rows]
    return "\n".join(lines) + "\n"


def truth_as_json(truth: bool) -> str:
    """The answer to an ASK in the JSON format."""
    return json.dumps({"head": {}, "boolean": truth})


def truth_as_xml(truth: bool) -> str:
    """The answer to an ASK in the XML format."""
    return (
        '<?xml version="1.0" encoding="UTF-8"?>\n<sparql xmlns="http://www.w3.org/2005/sparql-results#">\n'
        f"<head/>\n<boolean>{str(truth).lower()}</boolean>\n</sparql>\n"
    )


def truth_as_text(truth: bool) -> str:
    """The answer to an ASK as one word: the W3C's formats of tables have none."""
    return f"{str(truth).lower()}\n"


# By media type, in our own order of preference; the general types are for clients that know no others.
FORMATS: dict[str, Callable[[ResultTable], str]] = {
    "application/sparql-results+json": as_json,
    "application/sparql-results+xml": as_xml,
    "text/csv": as_csv,
    "text/tab-separated-values": as_tsv,
    "application/json": as_json,
    "application/xml": as_xml,
    "text/xml": as_xml,
}

# The same for truth values.
TRUTHS: dict[str, Callable[[bool], str]] = {
    form: truth_as_json if "json" in form else truth_as_xml if "xml" in form else truth_as_text for form in FORMATS
}
