"""What happens to the commands that write: killed, on a full disk, or two at once.

    python bench/faults.py kills --kills 1000    at random moments, some of them twice or three times
    python bench/faults.py steps --count 10      before file operations spread evenly over each command
    python bench/faults.py sizes --count 7       no file may grow beyond a few sizes
    python bench/faults.py full --on MOUNT       a disk of its own, such as a small tmpfs, of which a few bytes are left
    python bench/faults.py pairs --count 10      two processes at the same folder
    python bench/faults.py flips --count 20      bits changed in each file of a graph, a benchmark and runs

After each fault what stood there before is whole, or the new is; then the same command ends as if nothing had happened,
byte for byte, but for the times that files tell. `writing_commands.py` lists the commands.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import resource
import shutil
import signal
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import pairwise, permutations
from math import ceil
from pathlib import Path
from time import perf_counter, sleep
from typing import Any

from bit_flips import flips, of_benchmark, of_graph, of_run
from kgreckon.benchmark import is_benchmark_folder
from kgreckon.files import is_occupied
from kgreckon.graph.storage import is_graph_folder
from kgreckon.runs import is_run_folder
from kgreckon.runs.checking import check_folder
from writing_commands import Command, Prepare, commands, content, end, import_everything, make_sources, must_end, start

SIZES = (0, 100, 400, 900, 2_000, 5_000, 15_000)  # bytes of the largest file
LEFT = (0, 4, 8, 16, 32, 64, 128, 256)  # KiB that are left on a full disk
_DONE = ("already exists", "there is nothing to remove")
_CLEAR = ("is being written by another process", "already exists", "holds a benchmark of", "has other settings")


@dataclass
class Report:
    """What came of the faults in a command."""

    command: str
    faults: int = 0  # that hit: a kill may come after the end
    problems: list[str] = field(default_factory=list)


class Workspace:
    """A folder in which one command meets faults, and what it leaves when it meets none."""

    def __init__(self, command: Command, base: Path, place: Path | None = None) -> None:
        self.command, self.base, self.folder = command, base, (place or base) / "work"
        self.out, self.told = self.folder / "out", base / "told"
        self._left: dict[frozenset[tuple[str, ...]], list[dict[str, Any]]] = {}
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

    def left_by(self, winners: Sequence[Command]) -> list[dict[str, Any]]:
        """What commands that end well may leave: what they leave one after the other."""
        if [each.arguments for each in winners] == [self.command.arguments]:
            return [self.after]
        key = frozenset(each.arguments for each in winners)
        if key not in self._left:
            self._left[key] = []
            for order in permutations(winners):
                aside = self.folder.with_name("aside") / "out"  # as far from the benchmark, which runs name by the way
                aside.parent.mkdir()
                if self.command.before is not None:
                    shutil.copytree(self.base / self.command.before, aside)
                # Where the first leaves what the second does not take, that is no order in which both end well.
                codes = [end(start(each.to(aside), self.told)) for each in order]
                if not any(codes):
                    self._left[key].append(content(aside))
                shutil.rmtree(aside.parent)
        return self._left[key]

    def start(self, prepare: Prepare = lambda: None) -> int:
        return start(self.command.to(self.out), self.told, prepare)

    def problems_now(self) -> Iterator[str]:
        """What a fault must not do: the old is whole or the new is, and nothing is damaged."""
        grows = self.command.grows
        if not grows and not is_occupied(self.out) and self.before:
            yield "the old state is gone"
        if not is_occupied(self.out):
            return
        if not grows and self.command.name != "evaluate" and content(self.out) not in (self.before, self.after):
            yield "neither the old nor the new state is there"
        yield from self.damages()

    def damages(self) -> Iterator[str]:
        """What `kgreckon check` finds damaged."""
        for folder in [self.out, *(path for path in self.out.rglob("*") if path.is_dir())]:
            if is_graph_folder(folder) or is_benchmark_folder(folder) or is_run_folder(folder):
                damaged = [each.file for each in check_folder(folder).files if each.state == "damaged"]
                # A table is renamed just before the metrics that it belongs to, which name it; check says so.
                if damaged and damaged != ["test_metrics.csv"]:
                    yield f"damaged: {', '.join(damaged)}"

    def problems_at_the_end(self) -> Iterator[str]:
        """What the same command must come to."""
        done = content(self.out) == self.after
        code = end(self.start())
        if code and not (done and any(text in self.told.read_text() for text in _DONE)):  # killed when all was done
            yield f"the same command ends with {code}: {self.told.read_text()}"
        after = content(self.out)
        names = [name for name in {**self.after, **after} if after.get(name) != self.after.get(name)]
        if names:
            yield f"others than without a fault: {', '.join(sorted(names))}"
        left = [str(path.relative_to(self.folder)) for path in self.folder.rglob(".kgreckon-*")]
        if left:
            yield f"left behind: {', '.join(left)}"


# --------------------------------------------------------------------------------------------------------- faults


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


def sizes(work: Workspace, count: int, rng: random.Random) -> Report:
    """Let no file grow beyond some sizes."""
    report = Report(work.command.name)
    for size in sorted(rng.sample(SIZES, min(count, len(SIZES)))):
        work.fresh()
        limit = partial(resource.setrlimit, resource.RLIMIT_FSIZE, (size, size))
        _short_of_space(work, report, f"files of {size} bytes", limit)
    return report


def full(work: Workspace, count: int, rng: random.Random) -> Report:
    """Leave so many KiB on the disk, with a file that takes the others."""
    report = Report(work.command.name)
    for left in sorted(rng.sample(LEFT, min(count, len(LEFT)))):
        work.fresh()
        ballast = work.folder.parent / "ballast"
        free = shutil.disk_usage(work.folder).free
        with ballast.open("wb") as file:
            os.posix_fallocate(file.fileno(), 0, max(1, free - 1024 * left))
        _short_of_space(work, report, f"{left} KiB left", lambda: None, ballast)
    return report


def _short_of_space(work: Workspace, report: Report, where: str, limit: Prepare, ballast: Path | None = None) -> None:
    """Run the command where it cannot write all that it would, then where it can, the ballast removed."""
    reading, writing = os.pipe()  # what is told may be as long as it likes

    def prepare() -> None:
        os.dup2(writing, 1)
        os.dup2(writing, 2)
        limit()

    number = work.start(prepare)
    os.close(writing)
    with os.fdopen(reading, encoding="utf-8") as told:
        text = told.read()
    code = end(number)
    errors = [line for line in text.splitlines() if line.startswith("error: ")]
    report.faults += code != 0
    if code and (code != 2 or len(errors) != 1 or "Traceback" in text):
        report.problems.append(f"{where}: exit code {code}: {text}")
    report.problems += [f"{where}: {problem}" for problem in work.problems_now()]
    if ballast is not None:
        ballast.unlink()
    report.problems += [f"{where}: {problem}" for problem in work.problems_at_the_end()]


def pairs(work: Workspace, rivals: Sequence[Workspace], count: int, rng: random.Random) -> Report:
    """Begin the command and a rival at the same folder: one wins, the other says so, and nothing is mixed."""
    report = Report(work.command.name)
    for place in range(count):
        rival = rivals[place % len(rivals)]
        work.fresh()
        told = [work.base / "one", work.base / "other"]
        delay = rng.uniform(-0.5 * rival.seconds, 0.5 * work.seconds)
        first, second = (work.command, rival.command) if delay > 0 else (rival.command, work.command)
        numbers = [start(first.to(work.out), told[0])]
        sleep(abs(delay))
        numbers.append(start(second.to(work.out), told[1]))
        codes = [end(number) for number in numbers]
        refused = [path.read_text() for path, code in zip(told, codes, strict=True) if code]
        report.faults += len(refused)
        where = f"{first.name} and after {abs(delay):.3f} s {second.name}"
        if len(refused) == 2 or not all(any(text in line for text in _CLEAR) for line in refused) or {*codes} - {0, 2}:
            report.problems.append(f"{where}: {codes}: {refused}")
        winners = [each for each, code in zip((first, second), codes, strict=True) if not code]
        if content(work.out) not in work.left_by(winners):
            report.problems.append(f"{where}: what is there is not of {' and '.join(each.name for each in winners)}")
        report.problems += [f"{where}: {problem}" for problem in work.damages()]
    return report


class House:
    """The commands and their workspaces, each made when it is needed."""

    def __init__(self, base: Path, on: Path | None = None) -> None:
        self.base, self.on, self.commands = base, on, commands(base)
        make_sources(base)
        self._workspaces: dict[tuple[str, ...], Workspace] = {}

    def workspace(self, command: Command) -> Workspace:
        """The workspace of a command."""
        if command.arguments not in self._workspaces:
            self._workspaces[command.arguments] = Workspace(command, self.base, self.on)
        return self._workspaces[command.arguments]

    def rivals(self, command: Command) -> list[Workspace]:
        """Those who may write the same folder: its own rival first, then the quick ones that find it as it does."""
        others = [
            each for each in self.commands if each.before == command.before and each.share == 1 and each != command
        ]
        return [self.workspace(each) for each in (command.against(), *others)]


FAULTS: dict[str, Callable[[Workspace, int, random.Random], Report]] = {
    "kills": kills, "steps": steps, "sizes": sizes, "full": full,
}  # fmt: skip


def _flipped(base: Path, count: int, rng: random.Random) -> Iterator[int]:
    """Change bits in folders of each kind; tells what came of them, and gives the numbers of problems."""
    kinds = {of_graph: ("graph", "wide"), of_benchmark: ("benchmark",), of_run: ("run", "reckoned", "learned")}
    for use, names in kinds.items():
        for name in names:
            since = perf_counter()
            faults, problems = flips(base / name, use, count, rng)
            report = vars(Report(name, faults, problems))
            print(json.dumps({"fault": "flips", **report, "seconds": round(perf_counter() - since, 1)}), flush=True)
            yield len(problems)


def main() -> None:
    """Take the faults that are asked for, and tell what came of them as lines of JSON."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("faults", nargs="+", choices=[*FAULTS, "pairs", "flips"])
    parser.add_argument("--count", type=int, default=10, help="faults for each command")
    parser.add_argument("--kills", type=int, default=100, help="kills of all commands together")
    parser.add_argument("--commands", default="", help="only these, by commas")
    parser.add_argument("--on", type=Path, help="where the folders are written that meet the faults")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    if "full" in options.faults and (options.on is None or not options.on.is_mount()):
        parser.error("full fills a disk: give one of its own with --on, such as a tmpfs of 16 MiB")
    import_everything()
    problems = 0
    with tempfile.TemporaryDirectory() as name:
        house = House(Path(name), options.on)
        chosen = [each for each in house.commands if not options.commands or each.name in options.commands.split(",")]
        shares = sum(command.share for command in chosen)
        if "flips" in options.faults:
            problems += sum(_flipped(Path(name), options.count, random.Random(f"{options.seed}/flips")))
        for command in chosen:
            for fault in options.faults:
                if fault == "flips":
                    continue
                since, rng = perf_counter(), random.Random(f"{options.seed}/{fault}/{command.name}")
                work = house.workspace(command)
                count = ceil(command.share * (options.kills / shares if fault == "kills" else options.count))
                if fault == "pairs":
                    report = pairs(work, house.rivals(command), count, rng)
                else:
                    report = FAULTS[fault](work, count, rng)
                problems += len(report.problems)
                told = {"fault": fault, **vars(report), "seconds": round(perf_counter() - since, 1)}
                print(json.dumps(told), flush=True)
    sys.exit(problems > 0)


if __name__ == "__main__":
    main()
