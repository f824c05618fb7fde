"""Run folders: settings, weights, checkpoints, metrics.

Never pickle. Every file is written and then renamed, but for the metrics, which grow by a line at a time.
"""

from __future__ import annotations

import hashlib
import json
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from safetensors import SafetensorError
from safetensors.torch import load_file, save_file
from torch import Tensor

from kgreckon.benchmark import Benchmark
from kgreckon.benchmark.format import HEADER as BENCHMARK_HEADER
from kgreckon.benchmark.format import read_json, write_json
from kgreckon.errors import UserError
from kgreckon.models import BACKBONES, QueryModel
from kgreckon.training.data import model_for
from kgreckon.training.settings import RunSettings, Settings, settings_as_json, settings_from_json

HEADER = "run.json"
FORMAT = "kgreckon-run"
VERSION = 1
BEST = "best.safetensors"
LAST = "last.safetensors"
METRICS = "metrics.jsonl"


def is_run_folder(folder: Path) -> bool:
    """Whether `folder` says that it is a run folder."""
    return (folder / HEADER).is_file()


def benchmark_hash(benchmark: Benchmark) -> str:
    """What tells a benchmark: its header, which holds the hash of the graph, the seed and the counts."""
    return hashlib.blake2b((benchmark.folder / BENCHMARK_HEADER).read_bytes(), digest_size=16).hexdigest()


@dataclass(frozen=True)
class Run:
    """A run folder, opened."""

    folder: Path
    header: dict[str, Any]
    settings: Settings

    @staticmethod
    def create(folder: Path, benchmark: Benchmark, settings: Settings) -> Run:
        """A new run folder; an existing one is left alone."""
        if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
            remedy = f"; go on with it: kgreckon train --resume {folder}" if is_run_folder(folder) else ""
            raise UserError(f"{folder} already exists{remedy}")
        folder.mkdir(parents=True, exist_ok=True)
        header = {
            "format": FORMAT,
            "version": VERSION,
            "benchmark": str(benchmark.folder.resolve()),
            "benchmark_hash": benchmark_hash(benchmark),
            "benchmark_seed": benchmark.header.get("seed", 0),
            "preset": benchmark.header.get("preset"),
            "settings": settings_as_json(settings),
        }
        write_json(folder / HEADER, header)
        return Run.open(folder)

    @staticmethod
    def open(folder: str | Path) -> Run:
        """The run in `folder`."""
        folder = Path(folder)
        if not folder.is_dir():
            raise UserError(f"{folder}: no such folder")
        if not is_run_folder(folder):
            raise UserError(f"{folder} is not a run folder: it has no {HEADER}")
        header = read_json(folder / HEADER)
        if header.get("format") != FORMAT or header.get("version") != VERSION:
            raise UserError(f"{folder / HEADER} is not the header of a run of version {VERSION}")
        settings = header.get("settings")
        whole = all(isinstance(header.get(key), str) for key in ("benchmark", "benchmark_hash"))
        if not isinstance(settings, dict) or not whole:
            raise UserError(f"{folder / HEADER} does not hold the settings of a run")
        try:
            return Run(folder, header, settings_from_json(settings))
        except (KeyError, TypeError, AttributeError, ValueError) as error:
            raise UserError(f"{folder / HEADER} does not hold the settings of a run: {error}") from None

    def benchmark(self, place: Path | None = None) -> Benchmark:
        """The benchmark that the run was trained on, at its old place or where it is now."""
        if place is None and not Path(self.header["benchmark"]).exists():
            raise UserError(
                f"{self.header['benchmark']}: no such folder; where it is now, tell with --benchmark FOLDER"
            )
        benchmark = Benchmark.open(place or self.header["benchmark"])
        if benchmark_hash(benchmark) != self.header["benchmark_hash"]:
            raise UserError(f"{benchmark.folder} is not the benchmark that {self.folder} was trained on")
        return benchmark

    def model(self, benchmark: Benchmark, device: torch.device, weights: str = BEST) -> QueryModel:
        """The trained model, ready to answer."""
        assert isinstance(self.settings, RunSettings)
        name = self.settings.model.model
        if name not in BACKBONES:
            raise UserError(
                f"{self.folder} is a run of the model {name!r}, which is not known here: a program that registers it "
                "can load the run"
            )
        model = model_for(benchmark, self.settings.model, torch.Generator())
        tensors = {
            name.removeprefix("model."): tensor
            for name, tensor in self.tensors(weights, device).items()
            if name.startswith("model.")
        }
        try:
            model.load_state_dict(tensors)
        except RuntimeError as error:
            raise UserError(
                f"{self.folder / weights} does not fit the run's settings, or is of an older version and is to be "
                f"trained again: {error}"
            ) from None
        return model.to(device).eval()

    def tensors(self, name: str, device: torch.device) -> dict[str, Tensor]:
        """The tensors in a file of the run."""
        path = self.folder / name
        if not path.is_file():
            raise UserError(f"{path} is missing: the run has no {'validated' if name == BEST else 'saved'} weights yet")
        try:
            return load_file(path, device=str(device))
        except (SafetensorError, OSError) as error:
            raise UserError(f"{path} cannot be read: {error}") from None

    def save(self, name: str, tensors: dict[str, Tensor]) -> None:
        """Write tensors beside their name, then rename."""
        path = self.folder / name
        temporary = path.with_name(f".{path.name}.new")
        try:
            save_file({key: tensor.detach().contiguous() for key, tensor in tensors.items()}, temporary)
        except SafetensorError as error:  # a full disk
            temporary.unlink(missing_ok=True)
            raise UserError(f"{path} cannot be written: {error}") from None
        shutil.copymode(self.folder / HEADER, temporary)  # whoever reads the run may ask it
        temporary.replace(path)

    def record(self, line: dict[str, Any]) -> None:
        """Append a line of metrics."""
        with (self.folder / METRICS).open("a", encoding="utf-8") as file:
            file.write(json.dumps(line) + "\n")

    def records(self) -> list[dict[str, Any]]:
        """All lines of metrics; one at the end that was never finished does not count."""
        path = self.folder / METRICS
        if not path.is_file():
            return []
        *whole, _ = path.read_text(encoding="utf-8", errors="replace").split("\n")
        found = []
        for number, line in enumerate(whole, 1):
            if not line:
                continue
            try:
                found.append(dict(json.loads(line)))
            except (ValueError, TypeError):
                raise UserError(f"{path}:{number}: not a line of metrics") from None
        return found

    def best(self) -> dict[str, Any]:
        """The step and the MRR of the best validation."""
        validations = [line for line in self.records() if "validation_mrr" in line]
        if not validations:
            raise UserError(f"{self.folder} has not been validated yet")
        best = max(validations, key=lambda line: float(line["validation_mrr"]))
        return {"step": int(best["step"]), "validation_mrr": float(best["validation_mrr"])}

    def forget_after(self, step: int) -> None:
        """Drop the metrics of steps that are going to be taken again, but not the time that they took."""
        kept = [
            json.dumps({**line, "step": min(line["step"], step)})
            for line in self.records()
            if line["step"] <= step or "trained_seconds" in line
        ]
        temporary = self.folder / f".{METRICS}.new"
        temporary.write_text("".join(line + "\n" for line in kept), encoding="utf-8")
        temporary.replace(self.folder / METRICS)


def state_tensors(model: QueryModel, optimizer: torch.optim.Optimizer, progress: dict[str, Any]) -> dict[str, Tensor]:
    """Everything that the next step depends on, as tensors: weights, moments, random states and counters."""
    tensors = {f"model.{name}": tensor for name, tensor in model.state_dict().items()}
    names: dict[Tensor, str] = {weight: name for name, weight in model.named_parameters()}
    for weight, state in optimizer.state.items():
        tensors |= {f"optimizer.{names[weight]}.{key}": value for key, value in state.items()}
    tensors["random.cpu"] = torch.get_rng_state()
    if torch.cuda.is_available():
        tensors["random.cuda"] = torch.cuda.get_rng_state()
    text = json.dumps(progress).encode()
    tensors["progress"] = torch.from_numpy(np.frombuffer(text, dtype=np.uint8).copy())
    return tensors


def restore_state(model: QueryModel, optimizer: torch.optim.Optimizer, tensors: dict[str, Tensor]) -> dict[str, Any]:
    """Put everything back; returns the counters."""
    weights = dict(model.named_parameters())
    prefix = "model."
    model.load_state_dict({k.removeprefix(prefix): v for k, v in tensors.items() if k.startswith(prefix)})
    for key, tensor in tensors.items():
        if key.startswith("optimizer."):
            name, _, part = key.removeprefix("optimizer.").rpartition(".")
            state = optimizer.state[weights[name]]
            if part in state:
                state[part].copy_(tensor)
            else:
                state[part] = tensor.to(weights[name].device if part != "step" else tensor.device)
    torch.set_rng_state(tensors["random.cpu"].cpu())
    if torch.cuda.is_available() and "random.cuda" in tensors:
        torch.cuda.set_rng_state(tensors["random.cuda"].cpu())
    return dict(json.loads(tensors["progress"].cpu().numpy().tobytes()))
