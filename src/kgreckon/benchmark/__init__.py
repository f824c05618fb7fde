"""The benchmark of numerical complex query answering: splits, sampling, building, and the format on disk."""

from kgreckon.benchmark.building import BuildProgress, BuildSettings, build
from kgreckon.benchmark.datasets import PAPER_DATASETS, PaperDataset, paper_dataset
from kgreckon.benchmark.format import Benchmark, QuerySet, is_benchmark_folder
from kgreckon.benchmark.splits import Split, SplitGraph

__all__ = [
    "PAPER_DATASETS",
    "Benchmark",
    "BuildProgress",
    "BuildSettings",
    "PaperDataset",
    "QuerySet",
    "Split",
    "SplitGraph",
    "build",
    "is_benchmark_folder",
    "paper_dataset",
]
