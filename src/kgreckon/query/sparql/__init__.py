"""SPARQL: a documented subset of SPARQL 1.1 read into the algebra, and the algebra written as SPARQL 1.1."""

from kgreckon.query.sparql.names import NAMESPACE, iri, name_of
from kgreckon.query.sparql.reading import SparqlQuery, parse, parse_ask
from kgreckon.query.sparql.syntax import is_ask
from kgreckon.query.sparql.writing import number_literal, write

__all__ = ["NAMESPACE", "SparqlQuery", "iri", "is_ask", "name_of", "number_literal", "parse", "parse_ask", "write"]
