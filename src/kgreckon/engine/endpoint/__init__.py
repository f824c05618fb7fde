"""A graph at a SPARQL endpoint: its names, the algebra as SPARQL over whatever RDF it holds, and what comes back."""
