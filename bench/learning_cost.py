"""What it costs to learn a reckoner, by the number of facts and relations.

    python bench/learning_cost.py 100000 --relations 50 [--values 10000] [--set rank=32]

A made-up graph: entities of some kinds, each relation from one kind to another, tails that follow a head's group, a few
tails far more frequent than others. A tenth of it is held back, the rest is learned with the preset small on the CPU.
Prints wall and CPU seconds of each stage, the peak memory, and the mean reciprocal rank of held-back facts.
"""

from __future__ import annotations

import argparse
import resource
import tempfile
from pathlib import Path
from time import perf_counter, process_time

import numpy as np
import torch

from kgreckon.graph import GraphBuilder, KnowledgeGraph
from kgreckon.models.held_back import hold_back
from kgreckon.models.interface import TrainingProgress
from kgreckon.models.reckoner.learning import learn_reckoner
from kgreckon.models.reckoner.reckoner_settings import ReckonerSettings
from kgreckon.models.registry import choose_settings
from kgreckon.models.run_files import HEADER, RunFiles
from kgreckon.models.settings import parse_assignments

KINDS, GROUPS = 12, 40


def made_up(facts: int, relations: int, values: int, rng: np.random.Generator) -> KnowledgeGraph:
    """A graph of so many facts; a quarter as many entities."""
    entities = max(KINDS, facts // 4)
    kind, group = rng.integers(KINDS, size=entities), rng.integers(GROUPS, size=entities)
    members = [[np.flatnonzero((kind == k) & (group == g)) for g in range(GROUPS)] for k in range(KINDS)]
    heads_of, tails_of = rng.integers(KINDS, size=(2, relations))
    leads = rng.integers(GROUPS, size=(relations, GROUPS))
    share = 1 / np.arange(1, relations + 1) ** 0.7
    builder = GraphBuilder()
    for relation, count in enumerate(rng.multinomial(facts, share / share.sum())):
        heads = rng.choice(np.flatnonzero(kind == heads_of[relation]), count)
        for head in heads.tolist():
            pool = members[int(tails_of[relation])][int(leads[relation, group[head]])]
            if len(pool):
                builder.add_fact(f"e{head}", f"r{relation}", f"e{pool[int(len(pool) * rng.random() ** 3)]}")
    for entity in rng.integers(entities, size=values).tolist():
        builder.add_value(
            f"e{entity}", f"a{kind[entity]}", round(float(group[entity] * 10 + rng.normal()), 1), "metres"
        )
    return builder.build()


class Stages(TrainingProgress):
    """Prints the time that each stage took when the next one begins."""

    def __init__(self) -> None:
        self.name, self.start = "reading", (perf_counter(), process_time())

    def begin(self, step: int, steps: int) -> None:
        """The links are learned."""
        self.stage("links")

    def stage(self, text: str) -> None:
        """Another stage begins."""
        wall, cpu = perf_counter() - self.start[0], process_time() - self.start[1]
        print(f"{self.name:<40}{wall:8.1f} s {cpu:8.1f} s CPU", flush=True)
        self.name, self.start = text, (perf_counter(), process_time())


def main() -> None:
    """Learn from the graph that the command line asks for."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("facts", type=int)
    parser.add_argument("--relations", type=int, default=50)
    parser.add_argument("--values", type=int, default=0)
    parser.add_argument("--set", action="append", default=[])
    arguments = parser.parse_args()
    rng = np.random.default_rng(0)
    whole = made_up(arguments.facts, arguments.relations, arguments.values, rng)
    graph, held_back = hold_back(whole, 0.1, rng)
    print(f"{len(graph.facts):,} facts, {len(graph.entities):,} entities, {len(graph.relations):,} relations")
    changed = parse_assignments(arguments.set)
    settings = choose_settings("reckoner", "small", **{"device": "cpu", **changed})
    assert isinstance(settings, ReckonerSettings)
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / HEADER).write_text("{}", encoding="utf-8")
        files, stages, start = RunFiles(Path(folder)), Stages(), (perf_counter(), process_time())
        learn_reckoner(files, graph, held_back, settings, torch.device("cpu"), stages)
        stages.stage("end")
        mrr = next(line["validation_mrr"] for line in files.records() if "validation_mrr" in line)
    wall, cpu = perf_counter() - start[0], process_time() - start[1]
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    print(f"in all {wall:.1f} s, {cpu:.1f} s CPU, {torch.get_num_threads()} threads; peak memory {peak:.2f} GiB")
    print(f"mean reciprocal rank of held-back facts: {mrr:.1f} %")


if __name__ == "__main__":
    main()
