"""Run folders: settings, weights, checkpoints, metrics. Never pickle."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kgreckon.benchmark import Benchmark, Split
from kgreckon.benchmark.format import HEADER as BENCHMARK_HEADER
from kgreckon.benchmark.format import fingerprint
from kgreckon.errors import UserError
from kgreckon.exact import ComparisonMode
from kgreckon.files import as_json, is_occupied, make_folders, new_part, read_header, read_json, write_json
from kgreckon.graph import KnowledgeGraph, open_graph_folder
from kgreckon.graph.changes.live_graph import LiveGraph, Moment
from kgreckon.graph.storage import is_graph_folder, open_tables, write_graph
from kgreckon.models.registry import ModelFamily, family_named, settings_as_json, settings_from_json
from kgreckon.models.run_files import HEADER, RunFiles, is_run_folder
from kgreckon.models.settings import Settings

if TYPE_CHECKING:
    from kgreckon.evaluation import EvaluationResult
    from kgreckon.models.interface import TrainedModel, TrainingProgress
    from kgreckon.runs.quality import Quality

FORMAT = "kgreckon-run"
GRAPH, TRIAL, QUALITY = "graph", "trial", "quality.json"  # in the folder of a learned run
VERSION = 2  # 1 has no checksums


def benchmark_hash(benchmark: Benchmark) -> str:
    """The identity of what is trained on: the header, which holds the hash of the graph, the seed and the counts.

    A balanced benchmark has that of the ordinary one, whose graphs and training queries it shares.
    """
    if "balance" in benchmark.header:
        ordinary = as_json({key: value for key, value in benchmark.header.items() if key != "balance"})
        return hashlib.blake2b(ordinary, digest_size=16).hexdigest()
    return hashlib.blake2b((benchmark.folder / BENCHMARK_HEADER).read_bytes(), digest_size=16).hexdigest()


@dataclass(frozen=True)
class Run:
    """A run folder, opened: a model that was trained, or is being trained, on a benchmark."""

    folder: Path
    header: dict[str, Any]
    settings: Settings

    def __repr__(self) -> str:
        source = "all facts of its graph" if self.is_learned else f"the benchmark {self.benchmark_place}"
        return f"Run {self.folder}: {self.settings.title}, learned from {source}"

    @staticmethod
    def begin(folder: Path, benchmark: Benchmark, settings: Settings) -> Run:
        """A new run folder, or one that was begun with the same benchmark and settings; others are left alone."""
        if is_run_folder(folder):
            run = Run.open(folder)
            if (run.header["benchmark_hash"], run.settings) == (benchmark_hash(benchmark), settings):
                return run
            other = "other settings" if run.settings != settings else "another benchmark"
            raise UserError(
                f"{folder} already exists, with {other}; continue it with: kgreckon train --resume {folder}"
            )
        if is_occupied(folder):
            raise UserError(f"{folder} already exists")
        make_folders(folder)
        header = {
            "format": FORMAT,
            "version": VERSION,
            "benchmark": _path_from(folder, benchmark.folder),
            "benchmark_hash": benchmark_hash(benchmark),
            "benchmark_seed": benchmark.header.get("seed", 0),
            "preset": benchmark.header.get("preset"),
            "settings": settings_as_json(settings),
        }
        write_json(folder / HEADER, header)
        return Run.open(folder)

    @staticmethod
    def begin_learning(folder: Path, graph: KnowledgeGraph, settings: Settings, held_back: float) -> Run:
        """A new run folder with its graph in it, or one that was begun with the same graph and settings."""
        identity = {"graph_hash": fingerprint(graph), "held_back": held_back}
        if is_run_folder(folder):
            run = Run.open(folder)
            if (run.header.get("learned_from"), run.settings) != (identity, settings):
                other = "other settings" if run.header.get("learned_from") == identity else "another graph or benchmark"
                raise UserError(f"{folder} already exists, with {other}: choose another folder")
        elif is_occupied(folder):
            raise UserError(f"{folder} already exists")
        else:
            make_folders(folder)
            header = {"format": FORMAT, "version": VERSION, "learned_from": identity}
            write_json(folder / HEADER, {**header, "settings": settings_as_json(settings)})
        if not (folder / GRAPH).is_dir():  # it was stopped before
            with new_part(folder / GRAPH) as target:
                write_graph(graph, target)
        return Run.open(folder)

    @staticmethod
    def open(folder: str | Path) -> Run:
        """The run in `folder`."""
        folder = Path(folder)
        if not folder.is_dir():
            raise UserError(f"{folder}: no such folder")
        if not is_run_folder(folder):
            learn = f"; learn from it with: kgreckon learn {folder} --out FOLDER" if is_graph_folder(folder) else ""
            raise UserError(f"{folder} is not a run folder: it has no {HEADER}{learn}")
        header = read_header(folder / HEADER, "run", VERSION)
        settings = header.get("settings")
        learned = header.get("learned_from")
        whole = (
            isinstance(learned, dict) and isinstance(learned.get("held_back"), int | float)
            if learned is not None
            else all(isinstance(header.get(key), str) for key in ("benchmark", "benchmark_hash"))
        )
        if not isinstance(settings, dict) or not whole:
            raise UserError(f"{folder / HEADER} does not hold the settings of a run")
        try:
            return Run(folder, header, settings_from_json(settings))
        except (UserError, KeyError, TypeError, AttributeError, ValueError) as error:
            raise UserError(f"{folder / HEADER} does not hold the settings of a run: {error}") from None

    @property
    def is_learned(self) -> bool:
        """Whether it was learned from all facts of a graph, which is in its folder, and not from a benchmark."""
        return "learned_from" in self.header

    @property
    def held_back(self) -> float:
        """The share of the facts that a learned run held back while it was calibrated and measured."""
        return float(self.header["learned_from"]["held_back"])

    @property
    def trial(self) -> RunFiles:
        """The model of a learned run that has not seen the facts that were held back."""
        return RunFiles(self.folder / TRIAL)

    def graph(self) -> KnowledgeGraph:
        """The graph that a learned run knows, with later changes."""
        return open_graph_folder(self.folder / GRAPH)

    def live_graph(self) -> LiveGraph:
        """The same, to be followed and changed."""
        return LiveGraph(self.folder / GRAPH)

    def model_over(self, moment: Moment, device: str = "auto") -> TrainedModel:
        """The model of a learned run over its graph at some moment."""
        from kgreckon.models.devices import device_for

        share, where = 1 - self.held_back, device_for(device)
        return self.family.open_learned(self.files, moment.tables, moment.graph, share, self.settings, where)

    def quality(self) -> Quality | None:
        """How well it finds what was held back from it; only a learned run is measured so."""
        from kgreckon.runs.quality import Quality

        path = self.folder / QUALITY
        return Quality.from_json(read_json(path)) if path.is_file() else None

    @property
    def files(self) -> RunFiles:
        """Weights, checkpoints and metrics."""
        return RunFiles(self.folder)

    @property
    def family(self) -> ModelFamily[Any]:
        """The family of the run's model."""
        return family_named(self.settings.family)

    @property
    def benchmark_place(self) -> Path:
        """Where the run's benchmark was when it was trained, seen from the run: both can move together."""
        return Path(os.path.normpath(self.folder.resolve() / self.header["benchmark"]))

    def benchmark(self, place: Path | None = None) -> Benchmark:
        """The benchmark that the run was trained on, at its old place or where it is now."""
        if self.is_learned:
            raise UserError(
                f"{self.folder} was learned from all facts of a graph, without a benchmark; its quality report: "
                f"kgreckon info {self.folder}"
            )
        place = place or self.benchmark_place
        if place == self.benchmark_place and not place.exists():
            raise UserError(f"{place}: no such folder; if the benchmark has moved, give --benchmark FOLDER")
        benchmark = Benchmark.open(place)
        if benchmark_hash(benchmark) != self.header["benchmark_hash"]:
            raise UserError(f"{benchmark.folder} is not the benchmark that {self.folder} was trained on")
        return benchmark

    def load(
        self,
        benchmark: Path | None = None,
        device: str = "auto",
        known: Split = Split.TRAIN,
        mode: ComparisonMode | None = None,
    ) -> TrainedModel:
        """The trained model with its best weights.

        The facts of the graph of `known` are observed, all of them in a learned run. Comparisons are those of the
        benchmark unless a mode is given.
        """
        from kgreckon.models.devices import device_for

        if self.is_learned and benchmark is None:
            return self.model_over(self.live_graph().now(), device)
        opened = self.benchmark(benchmark)
        return self.family.open(
            self.files, opened, self.settings, device_for(device), known, opened.mode if mode is None else mode
        )

    def update(self, progress: TrainingProgress | None = None) -> int:
        """Learn the changes to a learned run's graph in for good; returns how many there were."""
        from kgreckon.runs.updating import update_run

        return update_run(self.folder, progress)

    def trial_graph(self) -> KnowledgeGraph:
        """The graph that a learned run's trial learned a part of: without the changes since."""
        own = self.folder / TRIAL / GRAPH
        return open_tables(own if own.is_dir() else self.folder / GRAPH)

    def evaluate(
        self,
        split: Split | str = Split.TEST,
        benchmark: Path | None = None,
        device: str = "auto",
        queries_per_type: int = 0,
        advance: Callable[[int, int], None] = lambda count, total: None,
    ) -> EvaluationResult:
        """Rank all hard answers of a split's queries; the tables are also kept in the run folder."""
        from kgreckon.runs.evaluate import evaluate

        return evaluate(self, split, benchmark, device, queries_per_type, advance)

    def best(self) -> dict[str, Any]:
        """The step and the MRR of the best validation."""
        validations = [line for line in self.files.records() if "validation_mrr" in line]
        if not validations:
            raise UserError(f"{self.folder} has not been validated yet")
        best = max(validations, key=lambda line: float(line["validation_mrr"]))
        return {"step": int(best["step"]), "validation_mrr": float(best["validation_mrr"])}


def _path_from(folder: Path, target: Path) -> str:
    """The path that leads from a folder to a target; on another drive of Windows, the whole path."""
    try:
        return Path(os.path.relpath(target.resolve(), folder.resolve())).as_posix()
    except ValueError:
        return str(target.resolve())
