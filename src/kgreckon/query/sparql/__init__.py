"""SPARQL: a documented subset of SPARQL 1.1 read into the algebra, and the algebra written as SPARQL 1.1."""

from kgreckon.query.sparql.names import LABEL, NAMESPACE, PREFIXES, iri, name_of, term
from kgreckon.query.sparql.reading import SparqlQuery, parse, parse_ask, parse_count
from kgreckon.query.sparql.text import check_question, gives_triples, iris_in, is_ask, may_rest_on_absence, own_limit
from kgreckon.query.sparql.writing import number_literal, write

__all__ = [
    "LABEL",
    "NAMESPACE",
    "PREFIXES",
    "SparqlQuery",
    "check_question",
    "gives_triples",
    "iri",
    "iris_in",
    "is_ask",
    "may_rest_on_absence",
    "name_of",
    "number_literal",
    "own_limit",
    "parse",
    "parse_ask",
    "parse_count",
    "term",
    "write",
]
