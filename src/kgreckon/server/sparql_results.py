"""SPARQL results: tables and truth values in the four formats of the W3C (JSON, XML, CSV and TSV), triples in RDF's."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Callable
from functools import partial
from xml.sax.saxutils import escape, quoteattr

from kgreckon.answers.sparql_answers import term_json
from kgreckon.engine.rdf_terms import STRING, SparqlResult, Term
from kgreckon.engine.serializing import serialized

_TURTLE_ESCAPES = str.maketrans({"\\": "\\\\", '"': '\\"', "\n": "\\n", "\r": "\\r", "\t": "\\t"})
_NOT_XML = re.compile(r"[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def as_json(table: SparqlResult) -> str:
    """SPARQL 1.1 Query Results JSON Format."""
    bindings = [
        {name: term_json(term) for name, term in zip(table.variables, row, strict=True) if term is not None}
        for row in table.rows
    ]
    return json.dumps({"head": {"vars": table.variables}, "results": {"bindings": bindings}}, ensure_ascii=False)


def as_xml(table: SparqlResult) -> str:
    """SPARQL Query Results XML Format."""

    def bound(name: str, term: Term | None) -> str:
        if term is None:
            return ""
        text = escape(_xml_text(term.text))
        if term.datatype is None:
            inner = f"<bnode>{text}</bnode>" if term.blank else f"<uri>{text}</uri>"
        elif term.language is not None:
            inner = f"<literal xml:lang={quoteattr(term.language)}>{text}</literal>"
        elif term.datatype == STRING:
            inner = f"<literal>{text}</literal>"
        else:
            inner = f"<literal datatype={quoteattr(term.datatype)}>{text}</literal>"
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


def as_csv(table: SparqlResult) -> str:
    """SPARQL 1.1 Query Results CSV Format: the bare texts."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\r\n")
    writer.writerow(table.variables)
    writer.writerows([_bare(term) for term in row] for row in table.rows)
    return out.getvalue()


def as_tsv(table: SparqlResult) -> str:
    """SPARQL 1.1 Query Results TSV Format: terms as Turtle writes them."""

    def written(term: Term | None) -> str:
        return "" if term is None else _turtle(term)

    lines = ["\t".join(f"?{name}" for name in table.variables)]
    lines += ["\t".join(map(written, row)) for row in table.rows]
    return "\n".join(lines) + "\n"


def _bare(term: Term | None) -> str:
    """A term as CSV has it: its text, and nothing where there is none."""
    return "" if term is None else f"_:{term.text}" if term.blank else term.text


def _turtle(term: Term) -> str:
    """A term as Turtle writes it."""
    if term.datatype is None:
        return f"_:{term.text}" if term.blank else f"<{term.text}>"
    text = term.text.translate(_TURTLE_ESCAPES)
    if term.language is not None:
        return f'"{text}"@{term.language}'
    return f'"{text}"' if term.datatype == STRING else f'"{text}"^^<{term.datatype}>'


def _xml_text(text: str) -> str:
    """Text without the characters that XML cannot hold, which are shown as unknown ones."""
    return _NOT_XML.sub("\ufffd", text)


def truth_as_json(found: SparqlResult) -> str:
    """The answer to an ASK in the JSON format."""
    return json.dumps({"head": {}, "boolean": found.truth})


def truth_as_xml(found: SparqlResult) -> str:
    """The answer to an ASK in the XML format."""
    return (
        '<?xml version="1.0" encoding="UTF-8"?>\n<sparql xmlns="http://www.w3.org/2005/sparql-results#">\n'
        f"<head/>\n<boolean>{str(found.truth).lower()}</boolean>\n</sparql>\n"
    )


def truth_as_text(found: SparqlResult) -> str:
    """The answer to an ASK as one word: the W3C's formats of tables have none."""
    return f"{str(found.truth).lower()}\n"


# By media type, in our own order of preference; the general types are for clients that know no others.
FORMATS: dict[str, Callable[[SparqlResult], str]] = {
    "application/sparql-results+json": as_json,
    "application/sparql-results+xml": as_xml,
    "text/csv": as_csv,
    "text/tab-separated-values": as_tsv,
    "application/json": as_json,
    "application/xml": as_xml,
    "text/xml": as_xml,
}

# The same for truth values.
TRUTHS: dict[str, Callable[[SparqlResult], str]] = {
    form: truth_as_json if "json" in form else truth_as_xml if "xml" in form else truth_as_text for form in FORMATS
}

# Triples, by media type.
TRIPLES: dict[str, Callable[[SparqlResult], str]] = {
    form: partial(serialized, media_type=form)
    for form in ("text/turtle", "application/n-triples", "application/rdf+xml", "application/ld+json", "text/plain")
}
