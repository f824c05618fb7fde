"""RDF terms, and what a SPARQL query gives: a table of them, a truth value, or triples."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from kgreckon.query.sparql import PREFIXES

XSD = PREFIXES["xsd"]
STRING, LANG_STRING = f"{XSD}string", f"{PREFIXES['rdf']}langString"


@dataclass(frozen=True, slots=True)
class Term:
    """An RDF term: an IRI, a blank node, or a literal with its datatype and perhaps a language."""

    text: str
    datatype: str | None = None  # the IRI of a literal's datatype
    language: str | None = None
    blank: bool = False

    @property
    def is_iri(self) -> bool:
        """Whether it is an IRI."""
        return self.datatype is None and not self.blank

    @staticmethod
    def of_number(value: float) -> Term:
        """A number."""
        return Term(repr(float(value)), f"{XSD}double")

    @staticmethod
    def of_truth(value: bool) -> Term:
        """True or false."""
        return Term("true" if value else "false", f"{XSD}boolean")


Row = tuple[Term | None, ...]  # None where a variable is not bound


@dataclass(frozen=True)
class SparqlResult:
    """The result of a query; `complete` is False where there is more than was asked for."""

    form: Literal["table", "truth", "triples"]
    variables: tuple[str, ...] = ()
    rows: list[Row] = field(default_factory=list)  # of triples: subject, predicate, object
    truth: bool = False
    complete: bool = True
