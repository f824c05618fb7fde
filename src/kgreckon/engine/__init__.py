"""All of SPARQL 1.1 over what a graph states: an engine that holds its triples, and what comes back from it."""
