"""The benchmark of numerical complex query answering: splits, sampling, building, and the format on disk."""

from kgreckon.benchmark.building import BuildSettings, Progress, build
from kgreckon.benchmark.format import Benchmark, QuerySet, is_benchmark_folder
from kgreckon.benchmark.presets import PRESETS, Preset, preset_of
from kgreckon.benchmark.splits import Split, SplitGraph

__all__ = [
    "PRESETS",
    "Benchmark",
    "BuildSettings",
    "Preset",
    "Progress",
    "QuerySet",
    "Split",
    "SplitGraph",
    "build",
    "is_benchmark_folder",
    "preset_of",
]
