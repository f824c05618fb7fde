"""What changes cost, what they are worth, and whether any is lost.

    python bench/changes.py kills --kills 500        writers and a folding process killed at random moments
    python bench/changes.py cost --facts 1000000     seconds for a change, until it is seen, on a graph of so many facts
    python bench/changes.py worth world --shares 1 5 10
        MRR on hidden facts of added things: by changes, learned in, and learned anew with them

`worth` also takes a graph folder or an MMKG folder. All models have the preset small.
"""

from __future__ import annotations

import argparse
import os
import random
import shutil
import signal
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from time import perf_counter, process_time, sleep

import numpy as np
import torch

from kgreckon.exact import ask
from kgreckon.graph import GraphBuilder, KnowledgeGraph, Triples, open_graph, open_graph_folder
from kgreckon.graph.changes.change import Change
from kgreckon.graph.changes.changed_graph import changed_graph
from kgreckon.graph.changes.drafting import Draft, Wish
from kgreckon.graph.changes.live_graph import LiveGraph, check_log
from kgreckon.graph.changes.overlay import Overlay
from kgreckon.graph.changes.rewriting import rewrite_graph
from kgreckon.models.held_back import HeldBack
from kgreckon.models.interface import TrainingProgress
from kgreckon.models.reckoner.calibration import Calibration
from kgreckon.models.reckoner.continuing import continue_reckoner
from kgreckon.models.reckoner.learning import LearnedParts, learn_reckoner, mrr_of_facts
from kgreckon.models.reckoner.predicted import PredictedFacts
from kgreckon.models.reckoner.reckoner_settings import ReckonerSettings
from kgreckon.models.registry import choose_settings
from kgreckon.models.run_files import HEADER, LAST, RunFiles
from kgreckon.query import Entity, Follow

CPU = torch.device("cpu")
STATED_SHARE = 0.9
HIDDEN = 0.2  # of the facts of an added thing


# ---------------------------------------------------------------------------------------------------------- kills


def kills(count: int, seed: int) -> None:
    """Kill writers at random moments; every change that was confirmed must be there afterwards, whole."""
    rng = random.Random(seed)
    killed = confirmed = folded = lost = torn = 0
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place) / "graph"
        while killed < count:
            shutil.rmtree(folder, ignore_errors=True)
            builder = GraphBuilder()
            builder.add_fact("Oslo", "in", "Norway")
            builder.add_value("Oslo", "size", 1.5, "kilometres")
            builder.build().save(folder)
            told: set[str] = set()
            for number in range(min(25, count - killed)):
                children = [_forked(_write, folder, f"{killed} {number} {name}") for name in "ab"]
                if number % 3 == 0:
                    children.append(_forked(_fold, folder, ""))
                sleep(rng.uniform(0, 0.8))
                for child, _ in rng.sample(children, len(children)):
                    os.kill(child, signal.SIGKILL)
                    sleep(rng.uniform(0, 0.01))
                for child, reader in children:
                    os.waitpid(child, 0)
                    with os.fdopen(reader, "rb") as lines:
                        *whole, _ = lines.read().decode().split("\n")
                    told |= {line for line in whole if line != "folded"}
                    folded += whole.count("folded")
                killed += 1
                graph = open_graph_folder(folder)
                check_log(folder)
                names = set(graph.entities.names.to_pylist())
                sizes = {graph.entities.name(place) for place in graph.attribute_facts.sources.tolist()}
                lost += len(told - names)
                torn += len((names - {"Norway"}) ^ sizes)
            confirmed += len(told)
            print(
                f"{killed} kills, {confirmed} changes confirmed, {lost} lost, {torn} torn, {folded} foldings",
                flush=True,
            )
    sys.exit(bool(lost or torn))


def _forked(work: Callable[[Path, str, int], None], folder: Path, name: str) -> tuple[int, int]:
    """A process that works until it is killed, and where it tells what is confirmed."""
    reader, writer = os.pipe()
    child = os.fork()
    if child:
        os.close(writer)
        return child, reader
    try:
        os.close(reader)
        work(folder, name, writer)
    finally:
        os._exit(0)


def _write(folder: Path, name: str, writer: int) -> None:
    live = LiveGraph(folder)
    for number in range(10_000):
        thing = f"{name} {number}"
        wishes = [Wish("add", thing, "in", "Norway"), Wish("add", thing, "size", float(number))]
        live.change(lambda graph, wishes=wishes: Draft.change_of(graph, wishes, new=True))  # type: ignore[misc]
        os.write(writer, f"{thing}\n".encode())


def _fold(folder: Path, name: str, writer: int) -> None:
    while True:
        rewrite_graph(folder, lambda graph: graph)
        os.write(writer, b"folded\n")


# ----------------------------------------------------------------------------------------------------------- cost


def cost(facts: int, changes: int, place: Path | None) -> None:
    """Seconds for a change, and until the next question sees it, beside the same question without a change."""
    with tempfile.TemporaryDirectory() as base:
        folder = place or Path(base) / "graph"
        if not folder.is_dir():
            _large(facts).save(folder)
        start = perf_counter()
        live = LiveGraph(folder)
        names = live.now().graph.vocabulary
        question = Follow(names.relation_id("r1"), Entity(names.entity_id("e7")))
        ask(live.now().graph, question)
        print(f"{len(live.now().graph.facts):,} facts: opened and asked in {perf_counter() - start:.3f} s")
        writing, seeing = [], []
        for number in range(changes):
            thing = f"thing {os.getpid()} {number}"
            wishes = [Wish("add", "e7", "r1", thing), Wish("add", thing, "size", 0.37 + number)]
            start = perf_counter()
            live.change(lambda graph, wishes=wishes: Draft.change_of(graph, wishes, new=True))  # type: ignore[misc]
            writing.append(perf_counter() - start)
            start = perf_counter()
            graph = live.now().graph
            answers = ask(graph, question)
            assert graph.entities.find(thing) in answers
            seeing.append(perf_counter() - start)
        for name, took in (("made durable in", writing), ("seen by a question in", seeing)):
            print(f"  {name} {np.median(took):.3f} s (median of {changes}; the slowest {max(took):.3f} s)")
        start = perf_counter()
        again = LiveGraph(folder)
        ask(again.now().graph, question)
        print(f"  opened anew with the log and asked in {perf_counter() - start:.3f} s")


def _large(facts: int) -> KnowledgeGraph:
    """A random graph: a tenth as many things as facts, 50 relations, a number for each thing."""
    rng, things = np.random.default_rng(0), max(10, facts // 10)
    builder = GraphBuilder()
    names = [f"e{number}" for number in range(things)]
    ids = np.array([builder._entities.add(name) for name in names], dtype=np.int32)
    for relation in range(50):
        some = rng.integers(things, size=(2, facts // 50))
        builder.add_facts(ids[some[0]], f"r{relation}", ids[some[1]])
    builder.add_values(ids, "size", rng.lognormal(size=things).round(3), "kilometres")
    return builder.build()


# ---------------------------------------------------------------------------------------------------------- worth


def worth(place: str, shares: list[float], seed: int, scratch: Path) -> None:
    """What vectors that are made of facts are worth, beside those that are learned."""
    graph = open_graph(place)
    for share in shares:
        rng = np.random.default_rng(seed)
        before, change, hidden, count = _parted(graph, share / 100, rng)
        overlay = Overlay(before)
        overlay.apply(change)
        after = changed_graph(overlay)
        tests = _triples(after, hidden)
        print(f"{place}, {share:g} % of the things added: {count} things, {len(change.added)} facts and values, "
              f"{len(tests)} hidden facts", flush=True)  # fmt: skip
        settings = choose_settings("reckoner", "small", seed=seed)
        assert isinstance(settings, ReckonerSettings)
        calibration = Calibration()
        folders = {name: _folder(scratch / f"{share:g} {name}") for name in ("before", "learned in", "anew")}
        start = process_time()
        learn_reckoner(folders["before"], before, HeldBack.nothing(before, STATED_SHARE), settings, CPU,
                       TrainingProgress(), calibration=calibration)  # fmt: skip
        print(f"  before: learned in {process_time() - start:.0f} CPU s", flush=True)
        learned = LearnedParts.read(folders["before"], before, STATED_SHARE, settings, CPU)
        start = process_time()
        _, facts = learned.over(after)
        _tell("by changes", facts, tests, rng, process_time() - start)
        start = process_time()
        continue_reckoner(folders["before"], before, folders["learned in"], after, STATED_SHARE, settings, CPU,
                          TrainingProgress())  # fmt: skip
        _tell("learned in", _opened(folders["learned in"], after, settings), tests, rng, process_time() - start)
        start = process_time()
        (folders["anew"].folder / LAST).unlink(missing_ok=True)
        learn_reckoner(folders["anew"], after, HeldBack.nothing(after, STATED_SHARE), settings, CPU,
                       TrainingProgress(), calibration=calibration)  # fmt: skip
        _tell("anew", _opened(folders["anew"], after, settings), tests, rng, process_time() - start)


def _tell(name: str, facts: PredictedFacts, tests: Triples, rng: np.random.Generator, seconds: float) -> None:
    mrr = mrr_of_facts(facts, tests, np.random.default_rng(0))
    print(f"  {name}: MRR {mrr:.2f} % on hidden facts of added things, {seconds:.1f} CPU s", flush=True)


def _opened(files: RunFiles, graph: KnowledgeGraph, settings: ReckonerSettings) -> PredictedFacts:
    return LearnedParts.read(files, graph, STATED_SHARE, settings, CPU).over(graph)[1]


def _folder(place: Path) -> RunFiles:
    shutil.rmtree(place, ignore_errors=True)
    place.mkdir(parents=True)
    (place / HEADER).write_text("{}")
    return RunFiles(place)


def _parted(
    graph: KnowledgeGraph, share: float, rng: np.random.Generator
) -> tuple[KnowledgeGraph, Change, list[tuple[str, str, str]], int]:
    """A graph without some things, the change that adds them, and a part of their facts that stays hidden."""
    names, facts, values = graph.vocabulary, graph.facts, graph.attribute_facts
    degrees = np.bincount(facts.sources, minlength=len(graph.entities)) + np.bincount(
        facts.targets, minlength=len(graph.entities)
    )
    able = np.flatnonzero(degrees >= 3)
    chosen = np.zeros(len(graph.entities), dtype=bool)
    chosen[rng.choice(able, min(len(able), max(1, round(share * len(graph.entities)))), replace=False)] = True
    builder = GraphBuilder()
    wishes, hidden = [], []
    for head, relation, tail in zip(facts.sources.tolist(), facts.labels.tolist(), facts.targets.tolist(), strict=True):
        fact = names.entity_name(head), names.relation_name(2 * relation), names.entity_name(tail)
        if not chosen[head] and not chosen[tail]:
            builder.add_fact(*fact)
        elif chosen[head] != chosen[tail] and rng.random() < HIDDEN:
            hidden.append(fact)
        else:
            wishes.append(Wish("add", *fact))
    for entity, attribute, row in zip(
        values.sources.tolist(), values.labels.tolist(), values.targets.tolist(), strict=True
    ):
        number, unit = graph.values.number_at(row)
        if chosen[entity]:
            wishes.append(Wish("add", names.entity_name(entity), names.attribute_name(attribute), number, unit))
        else:
            builder.add_value(names.entity_name(entity), names.attribute_name(attribute), number, unit)
    before = builder.build()
    change = Draft.change_of(before, wishes, new=True)
    return before, change, hidden, int(chosen.sum())


def _triples(graph: KnowledgeGraph, facts: list[tuple[str, str, str]]) -> Triples:
    """The facts whose names a graph has."""
    found = [
        (graph.entities.place_of(head), graph.relations.place_of(relation), graph.entities.place_of(tail))
        for head, relation, tail in facts
    ]
    columns = np.array([each for each in found if None not in each], dtype=np.int32).reshape(-1, 3)
    return Triples.from_arrays(columns[:, 0], columns[:, 1], columns[:, 2])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parts = parser.add_subparsers(dest="part", required=True)
    killing = parts.add_parser("kills")
    killing.add_argument("--kills", type=int, default=500)
    costing = parts.add_parser("cost")
    costing.add_argument("--facts", type=int, default=1_000_000)
    costing.add_argument("--changes", type=int, default=10)
    costing.add_argument("--folder", type=Path)
    valuing = parts.add_parser("worth")
    valuing.add_argument("place")
    valuing.add_argument("--shares", type=float, nargs="+", default=[1, 5, 10])
    valuing.add_argument("--scratch", type=Path, default=Path(tempfile.gettempdir()) / "changes")
    for each in (killing, costing, valuing):
        each.add_argument("--seed", type=int, default=0)
    asked = parser.parse_args()
    if asked.part == "kills":
        kills(asked.kills, asked.seed)
    elif asked.part == "cost":
        cost(asked.facts, asked.changes, asked.folder)
    else:
        worth(asked.place, asked.shares, asked.seed, asked.scratch)


if __name__ == "__main__":
    main()
