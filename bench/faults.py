"""What happens to the commands that write: killed, on a full disk, or two at once.

    python bench/faults.py kills --count 1000    at random moments, some of them twice or three times
    python bench/faults.py steps --count 10      before file operations spread evenly over each command
    python bench/faults.py disks --count 7       no file may grow beyond a few sizes
    python bench/faults.py pairs --count 10      two processes at the same folder

After each fault what stood there before is whole, or the new is; then the same command ends as if nothing had happened,
byte for byte, but for the times that files tell. Commands run in forks of this process, which has imported everything.
"""

from __future__ import annotations

import argparse
import json
import os
import pkgutil
import random
import resource
import shutil
import signal
import sys
import tempfile
import traceback
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from importlib import import_module
from itertools import pairwise
from pathlib import Path
from time import perf_counter, sleep
from typing import Any

os.environ.setdefault("OMP_NUM_THREADS", "1")  # threads do not survive a fork

import safetensors.torch  # noqa: F401  # what commands import when they need it
import torch
import torch._dynamo  # by every optimizer
import torch.utils.tensorboard

import kgreckon as package
from kgreckon.cli import main as kgreckon
from kgreckon.errors import UserError
from kgreckon.files import is_occupied
from kgreckon.runs.checking import check_folder

TIMES = ("seconds", "queries_per_second", "facts_per_second", "checksum", "files")
LIMIT = 120  # seconds for a command
SIZES = (0, 100, 400, 900, 2_000, 5_000, 15_000)  # bytes of the largest file on a full disk
Prepare = Callable[[], None]


@dataclass(frozen=True)
class Command:
    """A command that writes the folder `out` of a workspace, and what stands there before."""

    name: str
    arguments: tuple[str, ...]  # where OUT is the folder to write
    rival: tuple[str, ...]  # another that writes there
    before: str | None = None  # a folder of the sources

    def to(self, out: Path) -> list[str]:
        return [str(out) if argument == "OUT" else argument for argument in self.arguments]

    def against(self) -> Command:
        """The rival, at the same place."""
        return replace(self, arguments=self.rival, rival=self.arguments)


@dataclass
class Report:
    """What came of the faults in a command."""

    command: str
    faults: int = 0  # that hit: a kill may come after the end
    problems: list[str] = field(default_factory=list)


# ------------------------------------------------------------------------------------------------------- commands


def sources(folder: Path) -> list[Command]:
    """The commands, and in `folder` what they read: tables, a graph, a benchmark, a run."""
    rng = random.Random(0)
    for name, facts in (("facts", 400), ("other", 300)):
        rows = [f"e{rng.randrange(60)}\tr{rng.randrange(4)}\te{rng.randrange(60)}\n" for _ in range(facts)]
        (folder / f"{name}.tsv").write_text("".join(rows))
    rows = [f"e{rng.randrange(60)}\theight\t{rng.randrange(80) / 2}\tmetres\n" for _ in range(150)]
    (folder / "values.tsv").write_text("".join(rows))
    tables, graph, benchmark = (str(folder / name) for name in ("facts.tsv", "graph", "benchmark"))
    types = ("--types", "1p,2i", "--queries", "30", "--workers", "2")
    few = [text for each in ("device=cpu", "validation_queries=3") for text in ("--set", each)]
    neural = [text for each in ("dimension=8", "batch_size=16", "steps=5", "report_every=2", "validate_every=2",
              "checkpoint_every=2") for text in ("--set", each)]  # fmt: skip
    reckoner = [text for each in ("rank=4", "epochs=2", "batch_size=64", "heads=8", "checkpoint_every=1",
                "calibrate=false", "rules=false") for text in ("--set", each)]  # fmt: skip
    other, write = str(folder / "other.tsv"), ("--out", "OUT")
    overwriting = ("import", other, *write, "--overwrite"), ("import", tables, *write, "--overwrite")
    training, seeds = ("train", benchmark, *write, *few), [("--set", f"seed={seed}") for seed in (0, 1)]
    importing = Command("import", ("import", tables, str(folder / "values.tsv"), *write), ("import", other, *write))
    building, learning, reckoning = (
        Command(name, (*arguments, *seed), (*arguments, *other_seed))
        for name, (seed, other_seed), arguments in (
            ("build", [("--seed", "0"), ("--seed", "1")], ("build", graph, *write, *types)),
            ("train", seeds, (*training, "--model", "gqe", *neural)),
            ("train reckoner", seeds, (*training, "--model", "reckoner", *reckoner)),
        )
    )
    call(importing.to(folder / "graph"))  # here, so that forks have the modules and the compiled code
    call(building.to(folder / "benchmark"))
    must_end(learning.to(folder / "run"), folder / "told")
    must_end(["evaluate", str(folder / "run"), "--queries", "3"], folder / "told")
    return [
        importing,
        Command("overwrite", *overwriting, "graph"),
        building,
        learning,
        reckoning,
        Command("evaluate", ("evaluate", "OUT", "--queries", "5"), ("train", "--resume", "OUT"), "run"),
        Command("export", ("export", benchmark, *write), ("export", benchmark, *write)),
    ]


def call(arguments: list[str]) -> int:
    """Run a command in this process; returns its exit code."""
    sys.argv = ["kgreckon", *arguments]
    try:
        kgreckon()
    except SystemExit as ended:
        return ended.code if isinstance(ended.code, int) else int(ended.code is not None)
    return 0


def start(arguments: list[str], told: Path, prepare: Prepare = lambda: None) -> int:
    """Begin a command in a fork of this process, after `prepare`; returns its number."""
    number = os.fork()
    if number:
        return number
    code = 99
    try:
        with told.open("wb") as file:
            os.dup2(file.fileno(), 1)
            os.dup2(file.fileno(), 2)
        prepare()
        code = call(arguments)
    except BaseException:  # the fork never goes back to where it came from
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


def end(number: int) -> int:
    """Wait for a command; its exit code, or less than 0 where a signal ended it."""
    return os.waitstatus_to_exitcode(os.waitpid(number, 0)[1])


def must_end(arguments: list[str], told: Path) -> float:
    """Run a command to its end; returns its seconds."""
    since = perf_counter()
    if end(start(arguments, told)):
        raise RuntimeError(f"{' '.join(arguments)}: {told.read_text()}")
    return perf_counter() - since


def content(folder: Path) -> dict[str, Any]:
    """All that a folder holds, without times and what depends on them."""
    found: dict[str, Any] = {}
    for path in folder.rglob("*"):
        name = str(path.relative_to(folder))
        if path.is_dir() or name.startswith(("events", ".kgreckon-")):
            continue
        found[name] = path.read_bytes()
        if path.suffix == ".jsonl":
            lines = [json.loads(line) for line in found[name].splitlines()]
            found[name] = [_timeless(line) for line in lines if "trained_seconds" not in line]
        elif name.endswith("_metrics.json"):
            found[name] = _timeless(json.loads(found[name]))
    return found


def _timeless(data: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in data.items() if key not in TIMES}


# --------------------------------------------------------------------------------------------------------- faults


class Workspace:
    """A folder in which one command meets faults, and what it leaves when it meets none."""

    def __init__(self, command: Command, base: Path) -> None:
        self.command, self.base, self.folder = command, base, base / "work"
        self.out, self.told = self.folder / "out", base / "told"
        self.fresh()
        self.before = content(self.out)
        self.seconds = must_end(command.to(self.out), self.told)
        self.after = content(self.out)

    def fresh(self) -> None:
        """Begin again with what stands there before."""
        shutil.rmtree(self.folder, ignore_errors=True)
        self.folder.mkdir()
        if self.command.before is not None:
            shutil.copytree(self.base / self.command.before, self.out)

    def start(self, prepare: Prepare = lambda: None) -> int:
        return start(self.command.to(self.out), self.told, prepare)

    def problems_now(self) -> Iterator[str]:
        """What a fault must not do: the old is whole or the new is, and nothing is damaged."""
        grows = self.command.name in ("build", "train", "train reckoner")
        if not grows and not is_occupied(self.out) and self.before:
            yield "the old state is gone"
        if not is_occupied(self.out):
            return
        if not grows and self.command.name != "evaluate" and content(self.out) not in (self.before, self.after):
            yield "neither the old nor the new state is there"
        try:
            damaged = [each.file for each in check_folder(self.out).files if each.state == "damaged"]
        except UserError:
            damaged = []  # an export
        # A table is renamed just before the metrics that it belongs to, which name it; check says so.
        if damaged and damaged != ["test_metrics.csv"]:
            yield f"damaged: {', '.join(damaged)}"

    def problems_at_the_end(self) -> Iterator[str]:
        """What the same command must come to."""
        done = content(self.out) == self.after
        code = end(self.start())
        if code and not (done and "already exists" in self.told.read_text()):  # killed when all was done
            yield f"the same command ends with {code}: {self.told.read_text()}"
        after = content(self.out)
        names = [name for name in {**self.after, **after} if after.get(name) != self.after.get(name)]
        if names:
            yield f"others than without a fault: {', '.join(sorted(names))}"
        left = [str(path) for path in self.folder.rglob(".kgreckon-*")]
        if left:
            yield f"left behind: {', '.join(left)}"


def kills(work: Workspace, count: int, rng: random.Random) -> Report:
    """Kill the command at random moments."""
    report = Report(work.command.name)
    while report.faults < count:
        work.fresh()
        moments = []
        for _ in range(rng.choice((1, 1, 2, 3))):
            moments.append(rng.uniform(0, 1.05 * work.seconds))
            number = work.start()
            sleep(moments[-1])
            os.kill(number, signal.SIGKILL)
            report.faults += end(number) < 0
            report.problems += [f"killed after {moments}: {problem}" for problem in work.problems_now()]
        report.problems += [f"killed after {moments}: {problem}" for problem in work.problems_at_the_end()]
    return report


def steps(work: Workspace, count: int, rng: random.Random) -> Report:
    """Kill the command before some of its file operations, spread evenly; before each where count is 0."""
    report = Report(work.command.name)
    work.fresh()
    end(work.start(lambda: _at_each_operation(lambda number, what: print(f"operation {number}: {what}", flush=True))))
    operations = [line for line in work.told.read_text().splitlines() if line.startswith("operation ")]
    total = len(operations)
    ends = [total * place // count for place in range(count + 1)] if 0 < count < total else range(total + 1)
    chosen = [rng.randint(low + 1, high) for low, high in pairwise(ends)]
    for place in chosen:
        work.fresh()

        def kill(number: int, what: str, place: int = place) -> None:
            if number == place:
                os.kill(os.getpid(), signal.SIGKILL)

        report.faults += end(work.start(lambda: _at_each_operation(kill))) < 0
        where = f"killed before {operations[place - 1]} of {total}"
        report.problems += [f"{where}: {problem}" for problem in work.problems_now()]
        report.problems += [f"{where}: {problem}" for problem in work.problems_at_the_end()]
    return report


_OPERATIONS = ("os.rename", "os.remove", "os.rmdir", "os.mkdir", "os.chmod", "fcntl.flock", "ctypes.dlsym")


def _at_each_operation(call: Callable[[int, str], None]) -> None:
    """Have `call` called before each operation on files that Python is about to do, with its number from 1 on."""
    number = 0
    sync = os.fsync

    def look(event: str, arguments: tuple[Any, ...]) -> None:
        nonlocal number
        writes = event == "open" and isinstance(arguments[2], int) and arguments[2] & (os.O_WRONLY | os.O_RDWR)
        if writes or event in _OPERATIONS:
            number += 1
            call(number, f"{event} {Path(str(arguments[0])).name}")

    def synced(fd: Any) -> None:
        look("os.chmod", (f"(sync {fd})",))
        sync(fd)

    sys.addaudithook(look)
    os.fsync = synced


def disks(work: Workspace, count: int, rng: random.Random) -> Report:
    """Let no file grow beyond some sizes, as on a full disk."""
    report = Report(work.command.name)
    for size in sorted(rng.sample(SIZES, min(count, len(SIZES)))):
        work.fresh()
        reading, writing = os.pipe()  # what is told may be as long as it likes

        def limit(size: int = size, writing: int = writing) -> None:
            os.dup2(writing, 1)
            os.dup2(writing, 2)
            resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))

        number = work.start(limit)
        os.close(writing)
        with os.fdopen(reading, encoding="utf-8") as told:
            text, where = told.read(), f"files of {size} bytes"
        code = end(number)
        errors = [line for line in text.splitlines() if line.startswith("error: ")]
        report.faults += code != 0
        if code and (code != 2 or len(errors) != 1 or "Traceback" in text):
            report.problems.append(f"{where}: exit code {code}: {text}")
        report.problems += [f"{where}: {problem}" for problem in work.problems_now()]
        report.problems += [f"{where}: {problem}" for problem in work.problems_at_the_end()]
    return report


def pairs(work: Workspace, count: int, rng: random.Random) -> Report:
    """Begin the command and a rival at the same folder: one wins, the other says so, and nothing is mixed."""
    report = Report(work.command.name)
    rival = Workspace(work.command.against(), work.base)
    for _ in range(count):
        work.fresh()
        told = [work.base / "one", work.base / "other"]
        delay = rng.uniform(-1, 1) * work.seconds / 2
        first, second = (work.command, rival.command) if delay > 0 else (rival.command, work.command)
        numbers = [start(first.to(work.out), told[0])]
        sleep(abs(delay))
        numbers.append(start(second.to(work.out), told[1]))
        codes = [end(number) for number in numbers]
        refused = [path.read_text() for path, code in zip(told, codes, strict=True) if code]
        report.faults += len(refused)
        if len(refused) == 2 or not all(any(text in line for text in _CLEAR) for line in refused) or {*codes} - {0, 2}:
            report.problems.append(f"{delay:.3f} s apart: {codes}: {refused}")
        if content(work.out) not in (work.after, rival.after):
            report.problems.append(f"{delay:.3f} s apart: what is there is of neither")
    return report


_CLEAR = ("is being written by another process", "already exists", "holds a benchmark of other settings")
FAULTS = {"kills": kills, "steps": steps, "disks": disks, "pairs": pairs}


def main() -> None:
    """Take the faults that are asked for, and tell what came of them as lines of JSON."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("faults", nargs="+", choices=FAULTS)
    parser.add_argument("--count", type=int, default=10, help="kills in all, or faults for each command")
    parser.add_argument("--commands", default="", help="only these, by commas")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    torch.set_num_threads(1)
    for module in pkgutil.walk_packages(package.__path__, "kgreckon."):
        if not module.name.startswith(("kgreckon.server", "kgreckon.reproduce", "kgreckon.__main__")):
            import_module(module.name)
    problems = 0
    with tempfile.TemporaryDirectory() as name:
        base = Path(name)
        chosen = [each for each in sources(base) if not options.commands or each.name in options.commands.split(",")]
        for command in chosen:
            work = Workspace(command, base)
            for fault in options.faults:
                since, rng = perf_counter(), random.Random(f"{options.seed}/{fault}/{command.name}")
                report = FAULTS[fault](
                    work, -(-options.count // len(chosen)) if fault == "kills" else options.count, rng
                )
                problems += len(report.problems)
                told = {"fault": fault, **vars(report), "seconds": round(perf_counter() - since, 1)}
                print(json.dumps(told), flush=True)
    sys.exit(problems > 0)


if __name__ == "__main__":
    main()
