"""Changes to a graph folder: a log beside the tables, and the graph as it is with them."""
