"""What becomes of a folder of which one bit was changed: each file of a graph, a benchmark and runs, one at a time.

`kgreckon check` must notice every one. Whoever opens the folder gets what was written, or an error.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from kgreckon.benchmark import Benchmark, Split
from kgreckon.errors import UserError
from kgreckon.graph import KnowledgeGraph, open_graph_folder
from kgreckon.models.run_files import LAST
from kgreckon.query import Batch, Entity, Follow
from kgreckon.runs import Run
from kgreckon.runs.checking import check_folder
from kgreckon.runs.comparing import compare_runs

UNREAD = ("events.out.", "mapping.toml", "test_metrics.csv")  # which no command reads


def flips(folder: Path, use: Callable[[Path], Any], count: int, rng: random.Random) -> tuple[int, list[str]]:
    """Change `count` bits of each file in turn; returns how many there were, and what nobody should have to see."""
    whole, done, problems = use(folder), 0, []
    if check_folder(folder).is_damaged:
        return 0, [f"{folder.name} is damaged before anything is changed"]
    for path in sorted(path for path in folder.rglob("*") if path.is_file()):
        content = path.read_bytes()
        for _ in range(count):
            place, bit = rng.randrange(len(content)), rng.randrange(8)
            path.write_bytes(content[:place] + bytes([content[place] ^ 1 << bit]) + content[place + 1 :])
            where = f"{folder.name}/{path.relative_to(folder)}, bit {bit} of byte {place:,} of {len(content):,}"
            done += 1
            if not noticed(folder):
                problems.append(f"{where}: check does not notice it")
            try:
                if use(folder) != whole:
                    problems.append(f"{where}: it opens with another content")
            except UserError as error:
                if path.name.startswith(UNREAD):
                    problems.append(f"{where}: {error}")
        path.write_bytes(content)
    return done, problems


def noticed(folder: Path) -> bool:
    """Whether check says that something is not as it was written, or that it is none of our folders any more."""
    try:
        check = check_folder(folder)
    except UserError:
        return True
    # A training that was killed also leaves an event without an end, which is not called damage.
    unfinished = any("last record has no end" in (file.problem or "") for file in check.files)
    return check.is_damaged or unfinished


# ------------------------------------------------------------------------------------------ all that a folder tells


def of_graph(folder: Path) -> Any:
    """All names, facts and numbers of a graph, and what follows from its compressed rows."""
    return _told(open_graph_folder(folder))


def _told(graph: KnowledgeGraph) -> Any:
    arrays = [graph.values.numbers, graph.values.unit_starts, graph.attribute_units]
    for triples in (graph.facts, graph.attribute_facts, graph.comparisons):
        if triples is not None:
            arrays += [triples.sources, triples.labels, triples.targets]
    for rows in (graph.follows, graph.values_of, graph.having, graph.compared):
        if rows is not None:
            arrays += [rows.offsets, rows.labels, rows.starts, rows.targets]
    symbols = (graph.entities, graph.relations, graph.attributes)
    names = [(table.names.to_pylist(), table.labels.to_pylist()) for table in symbols]
    found = [graph.entities.find(name) for name in names[0][0]]
    return names, found, graph.relation_phrases, graph.values.units, [array.tolist() for array in arrays]


def of_benchmark(folder: Path) -> Any:
    """All graphs and queries of a benchmark."""
    benchmark = Benchmark.open(folder)
    graphs = benchmark.graphs
    splits = [None if own is None else own.tolist() for own in
              (graphs.fact_splits, graphs.attribute_fact_splits, graphs.comparison_splits)]  # fmt: skip
    queries = [
        (split.label, name, queries.shape.text, queries.batch.ids.tolist(), queries.easy.items.tolist(),
         queries.easy.offsets.tolist(), queries.hard.items.tolist(), queries.hard.offsets.tolist())
        for split in Split
        for name in benchmark.types
        for queries in benchmark.query_sets(split, name)
    ]  # fmt: skip
    return benchmark.header, _told(graphs.graph), splits, queries


def of_run(folder: Path) -> Any:
    """What a run knows, answers and reports, and from where its training would go on."""
    import torch

    run = Run.open(folder)
    model = run.load(device="cpu")
    ids = [[0, entity] for entity in range(0, 40, 4)]
    batch = Batch.of([Follow(0, Entity(0))], model.graph.values).with_ids(torch.tensor(ids, dtype=torch.int32))
    scores = model.scores(batch).cpu().numpy()
    quality = run.quality()
    last = run.files.tensors(LAST, torch.device("cpu")) if run.files.has(LAST) else {}
    compared = [row.as_json() for row in compare_runs([folder])] if (folder / "test_metrics.json").is_file() else None
    return (
        run.header,
        np.asarray(scores).tobytes(),
        run.files.records(),
        None if quality is None else quality.model_dump(),
        {key: tensor.numpy().tobytes() for key, tensor in last.items()},
        compared,
        _told(run.graph()) if run.is_learned else None,
    )
