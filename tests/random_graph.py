"""A random graph that is large enough to sample from and small enough to look at."""

import random

from kgreckon.graph import GraphBuilder, KnowledgeGraph


def random_graph(seed: int = 0, entities: int = 60, facts: int = 500, values: int = 150) -> KnowledgeGraph:
    """Entities of uneven degree, five relations, three attributes in two units with values that compare richly."""
    rng = random.Random(seed)
    builder = GraphBuilder()

    def entity() -> str:
        return f"e{int(entities * rng.random() ** 2)}"  # some are met far more often than others

    for _ in range(facts):
        builder.add_fact(entity(), f"r{int(5 * rng.random() ** 2)}", entity())
    for _ in range(values):
        attribute, unit = rng.choice([("height", "metres"), ("width", "metres"), ("age", "years")])
        builder.add_value(entity(), attribute, rng.randint(-20, 60) / 2, unit)
    return builder.build()
