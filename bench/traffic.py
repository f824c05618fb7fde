"""What several processes send each other in a training step: counted in the collectives, on this machine.

    python bench/traffic.py [--nodes 10000] [--rank 64] [--batch 1000] [--negatives 1024]

Links of a random graph, with a sampled and with the full softmax; a few steps with 2, 4 and 8 processes. Sums count as
if they went round in a ring. What is sent does not depend on how fast anything is.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import socket
from typing import Any

import torch
from rich.console import Console

from kgreckon.cli.console import print_table
from kgreckon.models.reckoner.links import ComplEx, Examples, LinkTraining
from kgreckon.processes import started_together

LABELS, STEPS = 100, 2


def sent(number: int, size: int, port: int, options: argparse.Namespace, results: Any) -> None:
    """The bytes that a process sends in a step, with a sampled and with the full softmax."""
    torch.set_num_threads(1)
    own = {"RANK": number, "LOCAL_RANK": number, "WORLD_SIZE": size, "MASTER_PORT": port, "MASTER_ADDR": "127.0.0.1"}
    os.environ.update({name: str(value) for name, value in own.items()})
    processes = started_together("cpu")
    draw = torch.Generator().manual_seed(0)
    count = STEPS * options.batch
    heads, tails = (torch.randint(options.nodes, (count,), generator=draw) for _ in range(2))
    facts = Examples(heads, torch.randint(LABELS, (count,), generator=draw), tails, 0, options.nodes)
    by_softmax = []
    for negatives in (options.negatives, 0):
        scorer = ComplEx(options.nodes, LABELS, options.rank, torch.Generator().manual_seed(0), processes)
        training = LinkTraining(scorer, [facts], options.batch, 0.1, 0.05, 0.05, 0, negatives, processes)
        before = processes.sent
        training.epoch(0)
        by_softmax.append((processes.sent - before) / STEPS)
    results.put(by_softmax)


def main() -> None:
    """Count with 2, 4 and 8 processes."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name, default in (("nodes", 10_000), ("rank", 64), ("batch", 1000), ("negatives", 1024)):
        parser.add_argument(f"--{name}", type=int, default=default)
    options = parser.parse_args()
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["kgreckon.models.reckoner.links", "kgreckon.cli.console"])
    rows = []
    for size in (2, 4, 8):
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        results = context.SimpleQueue()
        started = [context.Process(target=sent, args=(number, size, port, options, results)) for number in range(size)]
        for process in started:
            process.start()
        counted = [results.get() for _ in started]
        for process in started:
            process.join()
        means = [sum(column) / size / 1e6 for column in zip(*counted, strict=True)]
        rows.append((size, *(f"{mean:.2f}" for mean in means), *(f"{mean * size:.1f}" for mean in means)))
    columns = ("processes", "sampled, MB", "full, MB", "all: sampled, MB", "all: full, MB")
    print_table(Console(), "Sent in a step, by each process and by all", columns, rows)


if __name__ == "__main__":
    main()
