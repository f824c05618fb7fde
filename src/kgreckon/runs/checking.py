"""Whether a folder is as it was written: each file of a graph, a benchmark or a run, and what still holds of it."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Any

from kgreckon.benchmark import Benchmark, Split
from kgreckon.benchmark.format import GRAPHS, SUMMARY, file_name, fingerprint, is_benchmark_folder
from kgreckon.benchmark.format import HEADER as BENCHMARK_HEADER
from kgreckon.errors import UserError
from kgreckon.files import check_listed, fits_seal, mapped
from kgreckon.graph.changes.change_log import LOG
from kgreckon.graph.changes.live_graph import check_log
from kgreckon.graph.folder_format import HEADER as GRAPH_HEADER
from kgreckon.graph.folder_format import MAPPING
from kgreckon.graph.storage import check_graph_folder, is_graph_folder
from kgreckon.graph.world import WORLD_FOLDER
from kgreckon.models.run_files import BEST, LAST, LAST_OF_SEVERAL, LISTING, METRICS, RunFiles, is_run_folder
from kgreckon.models.run_files import HEADER as RUN_HEADER
from kgreckon.query import Shape
from kgreckon.runs.run_folder import GRAPH, Run

_OTHER = "its checksum is another"
_EDITED = "it was edited, or is damaged; the graph does not depend on it"
_OLDER = "written by an older version, without checksums"


class State(StrEnum):
    """What is known of a file, or of a part of a folder; the worst comes last."""

    WHOLE = "whole"
    ABSENT = "not there yet"
    UNCHECKED = "not checked"
    DAMAGED = "damaged"


@dataclass(frozen=True)
class CheckedFile:
    """One file and what is known of it."""

    part: str  # of the folder that it belongs to, such as the graph or the queries of a type
    file: str  # relative to the folder
    bytes: int
    state: State
    problem: str | None  # None where it is whole


@dataclass
class Check:
    """What is known of all files of a folder."""

    folder: Path
    kind: str  # graph, benchmark or run
    files: list[CheckedFile] = field(default_factory=list)

    @property
    def is_damaged(self) -> bool:
        """Whether something is not as it was written."""
        return any(file.state is State.DAMAGED for file in self.files)

    def parts(self) -> dict[str, State]:
        """The worst that is known of each part: what is whole still holds."""
        worst, order = {file.part: State.WHOLE for file in self.files}, list(State)
        for file in self.files:
            worst[file.part] = max(worst[file.part], file.state, key=order.index)
        return worst

    def as_json(self) -> dict[str, Any]:
        """The same as plain data."""
        return {
            "folder": str(self.folder),
            "kind": self.kind,
            "damaged": self.is_damaged,
            "parts": self.parts(),
            "files": [asdict(file) for file in self.files],
        }

    # --------------------------------------------------------------------------------------------- taking it down

    def add(self, part: str, path: Path, state: State = State.WHOLE, problem: str | None = None) -> None:
        """Note what is known of a file."""
        size = path.stat().st_size if path.is_file() else 0
        self.files.append(CheckedFile(part, path.relative_to(self.folder).as_posix(), size, state, problem))

    def sealed(self, part: str, path: Path, older: bool = False) -> dict[str, Any]:
        """Check a sealed JSON file; returns what can be read of it, if it is damaged too."""
        try:
            content = path.read_bytes()
        except OSError as error:
            self.add(part, path, State.DAMAGED, str(error.strerror))
            return {}
        try:
            data = json.loads(content)
        except (ValueError, RecursionError):
            data = None
        data = data if isinstance(data, dict) else {}
        self._seal(part, path, fits_seal(content), older or data.get("version") == 1)
        return data

    def _seal(self, part: str, path: Path, fits: bool | None, older: bool) -> None:
        if fits:
            self.add(part, path)
        elif fits is None and older:
            self.add(part, path, State.UNCHECKED, _OLDER)
        else:
            self.add(part, path, State.DAMAGED, _OTHER if fits is False else "it has no checksum")

    def listed(self, part: str, path: Path, files: Any, problem: str = _OTHER) -> None:
        """Check a file that another one lists; `files` is None where that cannot be read, or is of an older version."""
        if not path.is_file():
            self.add(part, path, State.DAMAGED, "it is missing")
        elif files is None:
            self.add(part, path, State.UNCHECKED, "there is no list of checksums with it")
        else:
            try:
                check_listed(path, mapped(path), files)
            except UserError:
                self.add(part, path, State.DAMAGED, problem)
            else:
                self.add(part, path)

    def found(self, part: str, path: Path, error: UserError) -> None:
        """Note what opening says, unless a file of the part is known to be damaged."""
        if self.parts().get(part) is not State.DAMAGED:
            self.add(part, path, State.DAMAGED, str(error))


def check_folder(place: str | Path) -> Check:
    """Check a graph, benchmark or run folder; "world" is the embedded graph."""
    folder = WORLD_FOLDER if str(place) == "world" and not Path(place).exists() else Path(place)
    if is_run_folder(folder):
        check = Check(folder, "run")
        _check_run(check)
    elif is_benchmark_folder(folder):
        check = Check(folder, "benchmark")
        _check_benchmark(check)
    elif is_graph_folder(folder):
        check = Check(folder, "graph")
        _check_graph(check, "graph", folder)
    else:
        names = ", ".join((GRAPH_HEADER, BENCHMARK_HEADER, RUN_HEADER))
        raise UserError(f"{folder} is not a graph, benchmark or run folder: it has none of {names}")
    return check


def _check_graph(check: Check, part: str, folder: Path) -> str | None:
    """Check a graph folder; returns the graph's fingerprint where it can be opened."""
    header = check.sealed(part, folder / GRAPH_HEADER)
    files = header.get("files")
    names = sorted(files) if isinstance(files, dict) else [path.name for path in sorted(folder.glob("*.arrow"))]
    for name in names:
        if name != MAPPING:
            check.listed(part, folder / name, files)
    if (folder / MAPPING).is_file():
        check.listed("mapping", folder / MAPPING, files, _EDITED)
    try:
        found = fingerprint(check_graph_folder(folder))
    except UserError as error:
        check.found(part, folder / GRAPH_HEADER, error)
        return None
    try:
        if check_log(folder):
            check.add("changes", folder / LOG)
    except UserError as error:
        check.add("changes", folder / LOG, State.DAMAGED, str(error))
    return found


def _check_benchmark(check: Check) -> None:
    folder = check.folder
    header = check.sealed("settings", folder / BENCHMARK_HEADER)
    older = header.get("version") == 1
    files = None
    if (folder / GRAPHS).is_file():
        files = check.sealed("graphs", folder / GRAPHS).get("files")
    elif not older:
        check.add("graphs", folder / GRAPHS, State.ABSENT, "not built yet")
        return
    graph = _check_graph(check, "graphs", folder / "graph")
    for path in sorted(folder.glob("*_splits.arrow")):
        check.listed("graphs", path, files)
    try:
        benchmark = Benchmark.open(folder)
        benchmark.graphs  # noqa: B018  # which checks that all belong together
    except UserError as error:
        check.found("graphs", folder / GRAPHS, error)
        benchmark = None
    if graph is not None and graph != header.get("graph"):
        check.found("graphs", folder / BENCHMARK_HEADER, UserError("the graph is not the one that the header is of"))
    types = header.get("types")
    for split in Split:
        for name in types if isinstance(types, dict) else ():
            _check_queries(check, split, name, benchmark, older)


def _check_queries(check: Check, split: Split, name: str, benchmark: Benchmark | None, older: bool) -> None:
    part, folder = f"{split.label} {name}", check.folder / split.label / name
    if not folder.is_dir():
        check.add(part, folder, State.ABSENT, "not built yet")
        return
    summary = check.sealed(part, folder / SUMMARY, older)
    files = summary.get("files")
    for path in _query_files(folder, summary):
        check.listed(part, path, files)
    if benchmark is not None:
        try:
            for _ in benchmark.query_sets(split, name):
                pass
        except UserError as error:
            check.found(part, folder / SUMMARY, error)


def _query_files(folder: Path, summary: dict[str, Any]) -> Iterable[Path]:
    """The files that there should be: those that are listed, else those of the shapes."""
    if isinstance(summary.get("files"), dict):
        return [folder / name for name in summary["files"]]
    shapes = summary.get("shapes")
    return [folder / file_name(Shape.parse(text)) for text in shapes] if isinstance(shapes, dict) else []


def _check_run(check: Check) -> None:
    folder = check.folder
    header = check.sealed("settings", folder / RUN_HEADER)
    older = header.get("version") == 1
    _check_model(check, folder, older)
    for path in sorted((folder / "events").glob("*")):
        check.add("events", path, *_state_of_events(path))
    try:
        run = Run.open(folder)
    except UserError as error:
        check.found("settings", folder / RUN_HEADER, error)
        return
    if run.is_learned:
        if (folder / GRAPH).is_dir():
            found = _check_graph(check, "graph", folder / GRAPH)
            if found not in (None, header["learned_from"].get("graph_hash")):
                check.found("graph", folder / RUN_HEADER, UserError("the graph is not the one that was learned from"))
        else:
            check.add("graph", folder / GRAPH, State.ABSENT, "not written yet")
        if run.trial.folder.is_dir():
            _check_model(check, run.trial.folder, older, "trial: ")
    elif run.benchmark_place.is_dir():
        try:
            run.benchmark()
        except UserError as error:
            check.found("settings", folder / RUN_HEADER, error)


def _check_model(check: Check, folder: Path, older: bool, whose: str = "") -> None:
    """Check the weights, metrics, calibrations and results in a folder."""
    for part, name in (("best weights", BEST), ("last checkpoint", LAST)):
        if not whose or (folder / name).is_file():
            _check_weights(check, whose + part, folder / name, older)
    several = folder / LAST_OF_SEVERAL
    if several.is_dir():
        files = check.sealed(f"{whose}last checkpoint of several processes", several / LISTING, older).get("files")
        for name in files if isinstance(files, dict) else ():
            check.listed(f"{whose}last checkpoint of several processes", several / name, files)
    for path in sorted(folder.glob("[!.]*.safetensors")):  # of a training that is not done
        if path.name not in (BEST, LAST):
            _check_weights(check, whose + path.stem, path, older)
    _check_metrics(check, whose + "metrics", folder / METRICS, older)
    for path in sorted(folder.glob("[!.]*.json")):
        if path.name != RUN_HEADER:
            part = whose + path.stem.replace("_", " ")
            files = check.sealed(part, path, older).get("files")
            for name in files if isinstance(files, dict) else ():
                check.listed(part, folder / name, files)


def _check_weights(check: Check, part: str, path: Path, older: bool) -> None:
    import torch

    if not path.is_file():
        check.add(part, path, State.ABSENT, "not saved yet")
        return
    check._seal(part, path, fits_seal(memoryview(mapped(path))), older)
    try:
        RunFiles(path.parent).tensors(path.name, torch.device("cpu"))
    except UserError as error:
        check.found(part, path, error)


def _check_metrics(check: Check, part: str, path: Path, older: bool) -> None:
    if not path.is_file():
        check.add(part, path, State.ABSENT, "nothing is recorded yet")
        return
    *lines, rest = path.read_bytes().split(b"\n")
    fits = [fits_seal(line + b"\n") for line in lines]
    damaged = [
        str(number)
        for number, line_fits in enumerate(fits, 1)
        if line_fits is False or (line_fits is None and not older)
    ]
    if damaged:
        check.add(part, path, State.DAMAGED, f"{_OTHER} in lines {', '.join(damaged)}")
    elif rest:
        check.add(part, path, State.DAMAGED, "its last line has no end: training goes on without it")
    else:
        check.add(part, path, State.UNCHECKED if None in fits else State.WHOLE, _OLDER if None in fits else None)


def _state_of_events(path: Path) -> tuple[State, str | None]:
    """What is known of a file of TensorBoard's, whose records have checksums of their own."""
    from tensorboard.compat.tensorflow_stub import errors
    from tensorboard.compat.tensorflow_stub.pywrap_tensorflow import PyRecordReader_New

    reader = PyRecordReader_New(str(path))
    try:
        while True:
            reader.GetNext()
    except errors.OutOfRangeError:
        return State.WHOLE, None
    except errors.DataLossError as error:
        if "truncated" in str(error):  # what a killed training leaves
            return State.UNCHECKED, "its last record has no end"
        return State.DAMAGED, "a record's checksum is another"
