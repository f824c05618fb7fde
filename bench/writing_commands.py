"""The commands that write a folder, each beside a rival that writes there too, and what a folder holds.

A new command that writes is one more line in `commands`; tests/test_faults.py names those that are missing. One whose
rival may also end well, as two phrases in one graph do, needs nothing more: what both leave is what they leave one
after the other. Commands run in forks of this process, which has imported everything.
"""

from __future__ import annotations

import dataclasses
import json
import os
import pkgutil
import random
import shutil
import sqlite3
import sys
import traceback
from collections.abc import Callable
from contextlib import closing, redirect_stderr, redirect_stdout
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from time import perf_counter
from typing import Any

os.environ.setdefault("OMP_NUM_THREADS", "1")  # threads do not survive a fork

import safetensors.torch  # noqa: F401  # what commands import when they need it
import torch
import torch._dynamo  # by every optimizer

import kgreckon as package
from kgreckon.benchmark.datasets import PAPER_DATASETS, Counts, PaperDataset
from kgreckon.benchmark.splits import Split
from kgreckon.cli import main as kgreckon
from kgreckon.graph.changes.change_log import LOG
from kgreckon.query import GENERAL_TYPES

# Commands that write no folder, or only by calling others that do.
READING = {"ask", "serve", "mcp", "predict", "show", "check", "stats", "info", "compare", "demo"}
# Of what a file tells, these depend on the clock; so do the reports that show them.
TIMES = {"seconds", "train_seconds", "trained_seconds", "queries_per_second", "facts_per_second", "checksum", "files"}
_UNTOLD = ("events", "logs", "report.")
Prepare = Callable[[], None]


@dataclass(frozen=True)
class Command:
    """A command that writes the folder OUT of a workspace, and what stands there before."""

    name: str
    arguments: tuple[str, ...]  # where OUT is the folder to write, or holds the file to write
    rival: tuple[str, ...]  # another that writes there
    before: str | None = None  # a folder of the sources
    grows: bool = False  # its folder is filled bit by bit, each part whole
    share: float = 1.0  # of the faults that another command meets; a command that takes long has less

    @property
    def verb(self) -> str:
        """What is called."""
        return self.arguments[0]

    def to(self, out: Path) -> list[str]:
        return [
            str(out / argument[4:]) if argument == "OUT" or argument.startswith("OUT/") else argument
            for argument in self.arguments
        ]

    def against(self) -> Command:
        """The rival, at the same place."""
        return dataclasses.replace(self, arguments=self.rival, rival=self.arguments)


_TOY_FACTS = 396


class ToyDataset(PaperDataset):
    """A dataset for reproductions that end in seconds."""

    @property
    def queries(self) -> Counts:
        return {split: dict.fromkeys(GENERAL_TYPES, 80) for split in Split}

    @property
    def graphs(self) -> dict[Split, dict[str, int]]:
        return {split: {"relation_edges": 2 * _TOY_FACTS} for split in Split}


def insert(thing: str) -> str:
    """A SPARQL update that states a fact of a thing about itself."""
    return f"INSERT DATA {{ :{thing} :r0 :{thing} }}"


def settings(*assignments: str) -> list[str]:
    return [text for assignment in assignments for text in ("--set", assignment)]


def commands(sources: Path) -> list[Command]:
    """The commands, which read what `make_sources` makes."""
    tables, other, values = (str(sources / f"{name}.tsv") for name in ("facts", "other", "values"))
    mmkg, published, graph, benchmark, exported, learned = (
        str(sources / name) for name in ("mmkg", "published", "graph", "benchmark", "exported", "learned")
    )
    write, moved = ("--out", "OUT"), ("--benchmark", benchmark)
    import_ = ("import", tables, values, *write)
    build = ("build", graph, *write, "--types", "1p,2i", "--queries", "30", "--workers", "2", "--seed")
    few = settings("device=cpu", "validation_queries=3")
    neural = [*few, *settings("dimension=8", "batch_size=16", "validate_every=2", "checkpoint_every=2")]
    train = ("train", benchmark, *write, "--model", "gqe", *neural, *settings("steps=5", "report_every=2"), "--set")
    quick = settings("rank=4", "epochs=2", "batch_size=64", "heads=8", "checkpoint_every=1", "calibrate=false")
    reckoner = ("train", benchmark, *write, "--model", "reckoner", *few, *quick, "--set", "rules=false", "--set")
    learn = ("learn", tables, values, *write, *settings("device=cpu", "rank=4", "epochs=2", "heads=8"), "--set")
    add = ("add", "OUT", "--new")
    complete = ("complete", learned, "--out", "OUT/likely.csv", "--above")
    reproduce = ("reproduce", "yago15k", "--data", mmkg, *write, "--models", "gqe-baseline", *neural, "--set")
    return [
        Command("import", import_, ("import", other, *write)),
        Command("overwrite", ("import", other, *write, "--overwrite"), (*import_, "--overwrite"), "graph"),
        Command("build", (*build, "0"), (*build, "1"), grows=True),
        Command("train", (*train, "seed=0"), (*train, "seed=1"), grows=True),
        Command("train reckoner", (*reckoner, "seed=0"), (*reckoner, "seed=1"), grows=True),
        Command("evaluate", ("evaluate", "OUT", "--queries", "5", *moved), ("train", "--resume", "OUT", *moved), "run"),
        Command("export", ("export", benchmark, *write), import_),
        Command("import-queries", ("import-queries", exported, "--graphs", benchmark, *write), (*build, "2")),
        Command("import-benchmark", ("import-benchmark", published, *write), (*build, "3")),
        Command("phrase", ("phrase", "OUT", "r0", "is in"), ("phrase", "OUT", "r1", "helps"), "graph"),
        Command("add", (*add, "e1", "r0", "someone"), (*add, "e2", "r1", "somebody"), "graph"),
        Command("remove", ("remove", "OUT", "e1", "r0", "one"), ("remove", "OUT", "e2", "r1", "two"), "changed"),
        Command("update", ("update", "OUT", insert("e1")), ("update", "OUT", insert("e2")), "graph"),
        Command("compact", ("compact", "OUT"), (*add, "e3", "r1", "anybody"), "changed"),
        Command("learn", (*learn, "seed=0"), (*learn, "seed=1"), grows=True, share=0.5),
        Command("learn --update", ("learn", "--update", "OUT"), (*add, "e3", "r1", "anybody"), "outdated", share=0.5),
        Command("complete", (*complete, "0.02"), (*complete, "0.05"), "filled"),
        Command("reproduce", (*reproduce, "steps=4"), (*reproduce, "steps=6"), grows=True, share=0.2),
    ]


def make_sources(folder: Path) -> None:
    """Make in `folder` what commands read, with the commands: tables, graphs, a benchmark, runs, others' folders."""
    PAPER_DATASETS["yago15k"] = ToyDataset("yago15k", "YAGO15k", 1)
    rng = random.Random(0)
    for name, facts in (("facts", 400), ("other", 300)):
        rows = [f"e{rng.randrange(60)}\tr{rng.randrange(4)}\te{rng.randrange(60)}\n" for _ in range(facts)]
        (folder / f"{name}.tsv").write_text("".join(rows))
    rows = [f"e{rng.randrange(60)}\theight\t{rng.randrange(80) / 2}\tmetres\n" for _ in range(150)]
    (folder / "values.tsv").write_text("".join(rows))
    write_mmkg(folder / "mmkg", folder)
    write_published(folder / "published", rng)
    by_name = {command.name: command for command in commands(folder)}
    with (folder / "told").open("w") as told, redirect_stdout(told), redirect_stderr(told):
        for name, out in (("import", "graph"), ("build", "benchmark")):
            call(by_name[name].to(folder / out))  # here, so that forks have the modules and the compiled code
    for name, out in (("train", "run"), ("export", "exported"), ("learn", "learned")):
        must_end(by_name[name].to(folder / out), folder / "told")
    must_end(by_name["train reckoner"].to(folder / "reckoned"), folder / "told")
    (folder / "things.csv").write_text(
        "thing,kind,height (m)\n" + "".join(f"t{n},k{n % 5},{n / 2}\n" for n in range(30))
    )
    must_end(["import", str(folder / "things.csv"), "--out", str(folder / "wide")], folder / "told")
    changes = ("e1", "r0", "one", "e2", "r1", "two", "e3", "height", "7.5")
    for source, name in (("graph", "changed"), ("learned", "outdated")):
        shutil.copytree(folder / source, folder / name)
        must_end(["add", str(folder / name), "--new", *changes], folder / "told")
    (folder / "filled").mkdir()
    (folder / "filled" / "likely.csv").write_text("what stood there before\n")
    must_end(["evaluate", str(folder / "run"), "--queries", "3"], folder / "told")


def write_mmkg(mmkg: Path, folder: Path) -> None:
    """The facts and a few values as an MMKG folder, with intersections that name no number."""
    mmkg.mkdir()
    (mmkg / "EntityTriples.tsv").write_text((folder / "facts.tsv").read_text())
    values = (line.rsplit("\t", 1)[0] + "\n" for line in (folder / "values.tsv").read_text().splitlines()[:8])
    (mmkg / "NumericalTriples.tsv").write_text("".join(values))


def write_published(folder: Path, rng: random.Random) -> None:
    """A benchmark of 1p queries as others publish theirs, in JSON."""
    folder.mkdir()
    chain = [(f"e{number}", "r0", f"e{(number + 1) % 60}") for number in range(60)]  # so that no number is missing
    facts = [(f"e{rng.randrange(60)}", f"r{rng.randrange(3)}", f"e{rng.randrange(60)}") for _ in range(200)]
    for split, own in (("train", chain + facts[:150]), ("valid", facts[150:175]), ("test", facts[175:])):
        (folder / f"{split}.tsv").write_text("".join("\t".join(fact) + "\n" for fact in own))
        ids = [[2 * int(relation[1:]), int(head[1:])] for head, relation, _ in own]
        asked = {"train": "training", "valid": "validation", "test": "testing"}[split]
        (folder / f"{asked}_queries.json").write_text(json.dumps({"1p": {"shape": "(rp,(e))", "ids": ids}}))


def import_everything() -> None:
    """Import what a command may need, so that its fork need not."""
    torch.set_num_threads(1)
    for module in pkgutil.walk_packages(package.__path__, "kgreckon."):
        if not module.name.startswith(("kgreckon.server", "kgreckon.__main__", "kgreckon.reproduce.job")):
            import_module(module.name)


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
    sys.stdout.flush()
    number = os.fork()
    if number:
        return number
    code = 99
    try:
        with told.open("wb") as file:
            os.dup2(file.fileno(), 1)
            os.dup2(file.fileno(), 2)
        prepare()
        # Streams of their own: those of before know where another file ended.
        with (
            open(1, "w", closefd=False) as out,
            open(2, "w", closefd=False) as notes,
            redirect_stdout(out),
            redirect_stderr(notes),
        ):
            code = call(arguments)
    except BaseException:  # the fork never goes back to where it came from
        os.write(2, traceback.format_exc().encode())
    finally:
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
        name = path.relative_to(folder)
        if path.is_dir() or any(part.startswith((*_UNTOLD, ".kgreckon-")) for part in name.parts):
            continue
        if path.name.startswith(LOG):
            if path.name == LOG and (changes := changes_in(path)):
                found[str(name)] = changes
            continue
        found[str(name)] = path.read_bytes()
        if path.suffix == ".jsonl":
            lines = [json.loads(line) for line in path.read_bytes().splitlines()]
            found[str(name)] = [timeless(line) for line in lines if "trained_seconds" not in line]
        elif path.name.endswith(("_metrics.json", "quality.json")) or path.parent.name == "results":
            found[str(name)] = timeless(json.loads(path.read_bytes()))
    return found


def changes_in(path: Path) -> list[Any]:
    """What a log of changes tells, without the times; one that a killed writer only began tells nothing."""
    with closing(sqlite3.connect(path)) as log:
        if not log.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]:
            return []
        changes = log.execute("SELECT number, content FROM change ORDER BY number").fetchall()
        (head,) = log.execute("SELECT graph, first, last FROM head").fetchall()
    return [head, *changes] if head[2] else []


def timeless(data: Any) -> Any:
    """Data without what depends on the clock."""
    if isinstance(data, dict):
        return {key: timeless(value) for key, value in data.items() if key not in TIMES}
    return [timeless(each) for each in data] if isinstance(data, list) else data
