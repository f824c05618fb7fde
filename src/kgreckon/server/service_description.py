"""What the SPARQL endpoint says of itself: the W3C's service description, in three forms of RDF."""

from __future__ import annotations

from kgreckon.graph import KnowledgeGraph

# By media type, in our own order of preference, with rdflib's names.
FORMS = {"text/turtle": "turtle", "application/rdf+xml": "xml", "application/ld+json": "json-ld"}
_TOLD = (
    "SPARQL 1.1 queries over what the graph states. A SELECT of one variable over a pattern that is a tree is answered "
    "with what a model infers, too, and may name ?score and ?observed: how likely an answer is, and whether the graph "
    "proves it. The header Kgreckon-Inferred says whether anything may be inferred."
)
_RESULTS = ("SPARQL_Results_JSON", "SPARQL_Results_XML", "SPARQL_Results_CSV", "SPARQL_Results_TSV")


def service_description(graph: KnowledgeGraph, form: str) -> str:
    """The description in one of the forms; the endpoint is the address that it is read from."""
    from rdflib import RDF, RDFS, VOID, BNode, Graph, Literal, Namespace, URIRef

    sd, formats = Namespace("http://www.w3.org/ns/sparql-service-description#"), "http://www.w3.org/ns/formats/"
    service, dataset, default, description = BNode("service"), BNode("dataset"), BNode("graph"), Graph()
    description.bind("sd", sd)
    description.bind("void", VOID)
    statements = [
        (service, RDF.type, sd.Service),
        (service, RDFS.comment, Literal(_TOLD)),
        (service, sd.endpoint, URIRef("")),
        (service, sd.supportedLanguage, sd.SPARQL11Query),
        *((service, sd.resultFormat, URIRef(formats + name)) for name in _RESULTS),
        (service, sd.defaultEntailmentRegime, URIRef("http://www.w3.org/ns/entailment/Simple")),
        (service, sd.defaultDataset, dataset),
        (dataset, RDF.type, sd.Dataset),
        (dataset, sd.defaultGraph, default),
        (default, RDF.type, sd.Graph),
        (default, VOID.triples, Literal(len(graph.facts) + len(graph.attribute_facts))),
        (default, VOID.entities, Literal(len(graph.entities))),
    ]
    for statement in statements:
        description.add(statement)
    return description.serialize(format=FORMS[form])
