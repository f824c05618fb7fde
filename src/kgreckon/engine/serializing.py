"""Triples of a result in the syntaxes of RDF."""

from __future__ import annotations

from collections.abc import Iterator

import pyoxigraph as ox

from kgreckon.engine.rdf_terms import SparqlResult, Term
from kgreckon.query.sparql import PREFIXES

_SHORT = ("", "rdf", "rdfs", "xsd")  # prefixes of what a graph holds


def serialized(result: SparqlResult, media_type: str) -> str:
    """The triples of a CONSTRUCT or a DESCRIBE; plain text is N-Triples."""
    syntax = ox.RdfFormat.N_TRIPLES if media_type == "text/plain" else ox.RdfFormat.from_media_type(media_type)
    assert syntax is not None, media_type

    def triples() -> Iterator[ox.Triple]:
        for subject, predicate, object_ in result.rows:
            assert subject is not None and predicate is not None and object_ is not None, "a triple has three terms"
            yield ox.Triple(_named(subject), ox.NamedNode(predicate.text), _term(object_))

    prefixes = {name: PREFIXES[name] for name in _SHORT} if syntax != ox.RdfFormat.N_TRIPLES else {}
    written = ox.serialize(triples(), format=syntax, prefixes=prefixes)
    assert written is not None, "without an output the text comes back"
    return written.decode()


def _named(term: Term) -> ox.NamedNode | ox.BlankNode:
    return ox.BlankNode(term.text) if term.blank else ox.NamedNode(term.text)


def _term(term: Term) -> ox.NamedNode | ox.BlankNode | ox.Literal:
    if term.datatype is None:
        return _named(term)
    if term.language is not None:
        return ox.Literal(term.text, language=term.language)
    return ox.Literal(term.text, datatype=ox.NamedNode(term.datatype))
