"""Functions of the public interface that put parts together; the others are re-exported by `kgreckon` as they are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kgreckon.answers import Answerer
from kgreckon.benchmark import Benchmark, BuildProgress, BuildSettings, paper_dataset
from kgreckon.benchmark import build as build_benchmark
from kgreckon.benchmark.split_files import Files, read_split
from kgreckon.benchmark.splits import SplitGraph
from kgreckon.benchmark.types import parse_types
from kgreckon.errors import UserError, naming_extras
from kgreckon.graph import KnowledgeGraph, open_graph, read_sources
from kgreckon.graph.changes.drafting import Draft
from kgreckon.graph.changes.wishes import Wishes
from kgreckon.graph.readers import Source, is_mmkg_folder, reading_of
from kgreckon.runs.changing import changeable_graph

if TYPE_CHECKING:
    from kgreckon.models.interface import TrainingProgress
    from kgreckon.runs import Run


@naming_extras()
def load(
    place: str | Path | KnowledgeGraph | Run, benchmark: Path | None = None, device: str = "auto", known: str = "test"
) -> Answerer:
    """What answers questions from a run or a graph: one that is opened, its folder, "world", or a SPARQL endpoint.

    Of a run, the facts of its benchmark's graph of the split `known` ("train", "valid" or "test") are observed.
    """
    return Answerer.open(place, benchmark, device, known)


def change(place: str | Path, new: bool = False) -> Wishes:
    """A block of `with` that changes the graph folder, or the graph of a learned run, at a place; see docs/changes.md.

    With `new`, names that the graph does not have are added; without, they are errors.
    """
    live = changeable_graph(place)
    return Wishes(lambda wishes, new: live.change(lambda graph: Draft.change_of(graph, wishes, new)), new)


def build(
    graph: KnowledgeGraph | SplitGraph | Mapping[str, Files] | str | Path,
    out: str | Path,
    *,
    dataset: str | None = None,
    types: Sequence[str] | None = None,
    queries: int | None = None,
    comparisons: str | None = None,
    known_anchors: bool | None = None,
    balance: str | None = None,
    seed: int = 0,
    workers: int | None = None,
    progress: BuildProgress | None = None,
) -> Benchmark:
    """Make the benchmark of a graph in the folder `out`, or continue one that was begun with the same settings.

    Its facts are split at random; files for `train`, `valid` and `test`, by these names, are a split of your own.
    `dataset` makes it as the paper's numbers were made (fb15k, db15k or yago15k); `types` are names of query types
    (`1p`, `2i`) or `name=shape`; `queries` is the number of training queries of each type; `comparisons` are sampled
    (released for a dataset) or computed; with `known_anchors` (but for a dataset) validation and testing queries name
    only what the training graph holds. With `balance="missing"` these are in equal shares by how many facts the
    cheapest proofs of their answers lack; graphs and training queries stay the same.
    """
    if isinstance(graph, Mapping):
        graph, _ = read_split(graph)
    elif isinstance(graph, str | Path):
        paper = None if dataset is None else paper_dataset(dataset)
        graph = open_graph(graph, paper.top_attributes if paper and is_mmkg_folder(Path(graph)) else None)
    whole = graph.graph if isinstance(graph, SplitGraph) else graph
    settings = BuildSettings.choose(
        whole, parse_types(types), queries, comparisons, seed, dataset, known_anchors, balance
    )
    return build_benchmark(graph, Path(out), settings, workers, progress)


@naming_extras()
def learn(
    sources: KnowledgeGraph | str | Path | Sequence[Source],
    out: str | Path,
    *,
    mapping: Mapping[str, Any] | str | Path | None = None,
    key: str | None = None,
    held_back: float | None = None,
    preset: str | None = None,
    progress: TrainingProgress | None = None,
    **settings: Any,
) -> Run:
    """Learn from all facts of a graph, a graph folder, "world" or files, into the run folder `out`.

    `mapping`, a file or a dictionary, and `key` say how wide tables are read (docs/tables.md).

    A share of the facts (0.1) is held back at first, to calibrate and to measure: `run.quality()` says how well they
    are found. Then the model learns from these too. `settings` are those of the reckoner; a CPU takes the preset
    "small".
    """
    from kgreckon.answers.suggesting import suggest
    from kgreckon.runs.learn import HELD_BACK, learn_graph

    if isinstance(sources, str | Path):
        place = Path(sources)
        sources = open_graph(sources) if str(sources) == "world" or place.is_dir() else [place]
    if not isinstance(sources, KnowledgeGraph):
        sources, _ = read_sources(sources, reading=reading_of(mapping, key))
    elif mapping is not None or key is not None:
        raise UserError("mapping and key say how tables are read, and these sources are a graph already")
    share = HELD_BACK if held_back is None else held_back
    return learn_graph(sources, out, held_back=share, preset=preset, progress=progress, suggest=suggest, **settings)
