"""What the graph states, for any SPARQL query: a table, a truth value or triples. Nothing of it is inferred."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from html import escape
from typing import TYPE_CHECKING, Any

from kgreckon.engine.rdf_terms import XSD, Row, SparqlResult, Term
from kgreckon.errors import naming_extras, nearest
from kgreckon.graph import KnowledgeGraph
from kgreckon.graph.symbols import Symbols
from kgreckon.query.algebra import plain_number
from kgreckon.query.sparql import NAMESPACE, PREFIXES, iris_in, name_of, term

if TYPE_CHECKING:
    import pandas

_NUMBERS = ("double", "float", "decimal", "integer")
_LARGE = 1e15  # beyond it not every digit of a float is one
_UNKNOWN = 3  # names that are told to be none


@dataclass(frozen=True)
class Known:
    """How a row is known: its probability, which is 1 where it is stated."""

    score: float
    observed: bool


@dataclass(frozen=True, repr=False)
class SparqlAnswers:
    """The result of a SPARQL query on what a graph states, or with what is inferred."""

    query: str
    result: SparqlResult
    graph: KnowledgeGraph
    unknown: tuple[str, ...] = ()  # without an answer: what the query names and the graph does not have
    inferred: bool = False  # whether a model may have added rows
    known: tuple[Known, ...] = ()  # of each row, where some are inferred

    @property
    def truth(self) -> bool | None:
        """The answer to an ASK."""
        return self.result.truth if self.result.form == "truth" else None

    @property
    def variables(self) -> tuple[str, ...]:
        """The columns; of triples: subject, predicate, object."""
        return self.result.variables

    @property
    def complete(self) -> bool:
        """Whether these are all rows."""
        return self.result.complete

    def __len__(self) -> int:
        return len(self.result.rows)

    def __iter__(self) -> Iterator[Row]:
        return iter(self.result.rows)

    def cells(self, with_names: bool = False) -> list[list[str]]:
        """The rows as people read them: labels of names, perhaps with the name, and numbers without their datatypes."""
        return [[self._cell(each, with_names) for each in row] for row in self]

    def _cell(self, term_: Term | None, with_names: bool) -> str:
        if term_ is None:
            return ""
        if not term_.is_iri:
            return f"_:{term_.text}" if term_.blank else _written(term_)
        name = name_of(term_.text)
        symbols = next((each for each in _symbols(self.graph) if each.has(name)), None)
        if symbols is None:
            return term(name)
        label = symbols.label(symbols.find(name))
        return f"{label} ({name})" if with_names and label != name else label

    def as_json(self) -> dict[str, Any]:
        """The W3C's JSON of results, with `inferred` and `complete` beside it; triples as lists of terms."""
        said: dict[str, Any] = {"query": self.query, "inferred": self.inferred, "complete": self.complete}
        if self.known:
            said["known"] = [asdict(each) for each in self.known]
        if self.unknown:
            said["unknown"] = list(self.unknown)
        if self.result.form == "truth":
            return said | {"head": {}, "boolean": self.truth}
        if self.result.form == "triples":
            return said | {"triples": [[term_json(each) for each in row if each is not None] for row in self]}
        bindings = [
            {name: term_json(each) for name, each in zip(self.variables, row, strict=True) if each is not None}
            for row in self
        ]
        return said | {"head": {"vars": list(self.variables)}, "results": {"bindings": bindings}}

    @naming_extras()
    def to_pandas(self) -> pandas.DataFrame:
        """A frame with a column for each variable, numbers as numbers and names as names (needs pandas)."""
        import pandas

        def value(each: Term | None) -> object:
            if each is None:
                return None
            number = _number(each)
            return number if number is not None else name_of(each.text) if each.is_iri else each.text

        return pandas.DataFrame([[value(each) for each in row] for row in self], columns=list(self.variables))

    def summary(self) -> str:
        """How much there is, in words."""
        if self.truth is not None:
            return "true" if self.truth else "false"
        noun = "triple" if self.result.form == "triples" else "row"
        count = f"{len(self):,} {noun}{'s' * (len(self) != 1)}"
        if self.inferred:
            stated = sum(each.observed for each in self.known)
            count += f", {stated:,} stated and {len(self) - stated:,} inferred"
        return count if self.complete else f"the first {count}"

    @property
    def _how(self) -> str:
        return "with inference" if self.inferred else "stated, nothing is inferred"

    def __repr__(self) -> str:
        lines = [f"{self.summary()}; {self._how}", *self.unknown]
        if len(self):
            rows = [list(self.variables), *self.cells()]
            widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
            for row in rows:
                lines.append("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip())
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        head = "".join(f"<th>{escape(name)}</th>" for name in self.variables)
        body = "".join(f"<tr>{''.join(f'<td>{escape(cell)}</td>' for cell in row)}</tr>" for row in self.cells())
        caption = escape("; ".join([self.summary(), self._how, *self.unknown]))
        return f"<table><caption>{caption}</caption><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def unknown_names(query: str, graph: KnowledgeGraph) -> tuple[str, ...]:
    """What a query names and the graph does not have, with what is called similarly."""
    known, told = _symbols(graph), []
    for iri in dict.fromkeys(iris_in(query)):
        name = name_of(iri)
        if iri.startswith(tuple(each for prefix, each in PREFIXES.items() if prefix)):
            continue
        if not any(symbols.has(name) for symbols in known):
            own = iri.startswith(NAMESPACE)  # else it is of another graph
            close = nearest(name, (each for symbols in known for each in symbols.names.to_pylist())) if own else []
            remedy = f"; did you mean {' or '.join(repr(text) for text in close)}?" if close else ""
            told.append(f"the graph has nothing named {name!r}{remedy}")
    return tuple(told[:_UNKNOWN])


def term_json(term_: Term) -> dict[str, str]:
    """A term in the W3C's JSON format."""
    if term_.datatype is None:
        return {"type": "bnode" if term_.blank else "uri", "value": term_.text}
    found = {"type": "literal", "value": term_.text}
    if term_.language is not None:
        return found | {"xml:lang": term_.language}
    return found if term_.datatype == f"{XSD}string" else found | {"datatype": term_.datatype}


def _symbols(graph: KnowledgeGraph) -> tuple[Symbols, ...]:
    return graph.entities, graph.relations, graph.attributes


def _number(term_: Term) -> float | int | None:
    kind = (term_.datatype or "").removeprefix(XSD)
    try:
        return int(term_.text) if kind == "integer" else float(term_.text) if kind in _NUMBERS else None
    except ValueError:  # no number of its datatype
        return None


def _written(term_: Term) -> str:
    """A literal as people read it."""
    number = _number(term_)
    if number is None:
        return term_.text
    whole = isinstance(number, int) or (number.is_integer() and abs(number) < _LARGE)
    return f"{number:,.0f}" if whole else plain_number(number)
