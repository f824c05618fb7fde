"""Several processes learn, rank and fill as one does: gloo on this machine, a few processes at a time."""

import filecmp
import os
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
import torch

import kgreckon as kg
from in_several import (
    CPU,
    ENTITIES,
    NODES,
    evaluated,
    examples,
    filled,
    learned_links,
    link_training,
    neural_steps,
    neural_training,
    opened,
    rows_drawn,
    saved,
    trained,
    trained_neural,
    waited,
)
from kgreckon.benchmark import BuildSettings, build
from kgreckon.errors import UserError
from kgreckon.models.neural import BACKBONES
from kgreckon.models.neural.operators import SparseEmbedding
from kgreckon.models.run_files import BEST, LAST, LAST_OF_SEVERAL, LISTING, RunFiles
from kgreckon.runs import Run, train
from kgreckon.runs.checking import check_folder
from kgreckon.runs.evaluate import evaluate
from random_graph import random_graph
from several import together


@pytest.mark.parametrize("size", [2, 3])
@pytest.mark.parametrize("negatives", [0, 20])
def test_links_learned_by_several_are_those_of_one(size, negatives):
    losses, weights = learned_links(negatives)
    for own_losses, own_weights in together(size, learned_links, negatives):
        assert own_losses == pytest.approx(losses, abs=1e-6)
        for own, expected in zip(own_weights, weights, strict=True):
            assert abs(own - expected).max() < 1e-9


def test_the_first_weights_are_the_same_for_any_number_of_processes():
    whole = torch.randn(10_001, 3, generator=torch.Generator().manual_seed(1))
    for size in (2, 3):
        assert torch.equal(torch.cat([torch.from_numpy(own) for own in together(size, rows_drawn)]), whole)


class TestSampledLinks:
    def test_the_same_draws_give_the_same_weights(self):
        (_, first), (_, second) = (learned_links(20, 2) for _ in range(2))
        assert all((one == other).all() for one, other in zip(first, second, strict=True))

    def test_only_the_rows_of_a_step_change(self):
        training, kind = link_training(negatives=6), examples()[0]
        training._rows.copy_(torch.arange(51))
        drawn = torch.tensor([1, 2, 3, 3, 5, 80])
        before = training.scorer.nodes.detach().clone()
        training._sampled_step(0, drawn)
        touched = set(torch.cat([kind.heads[:51], kind.tails[:51], drawn]).tolist())
        changed = (training.scorer.nodes.detach() != before).any(dim=1).nonzero()[:, 0].tolist()
        assert set(changed) == touched and len(touched) < NODES
        assert set(training.squares[0].any(dim=1).nonzero()[:, 0].tolist()) == touched

    def test_with_every_tail_drawn_once_it_is_the_softmax_over_all(self):
        sampled, full = link_training(negatives=ENTITIES), link_training()
        for first in range(0, 200, 40):
            for training in (sampled, full):
                training._rows.copy_(torch.arange(first, first + 51))
            sampled._sampled_step(0, torch.randperm(ENTITIES))
            full._step(0)
        for one, other in zip(sampled.scorer.parameters(), full.scorer.parameters(), strict=True):
            assert torch.allclose(one, other, rtol=0, atol=1e-9)
        assert sampled._loss.item() == pytest.approx(full._loss.item(), rel=1e-6)

    def test_training_goes_on_from_its_weights_and_sums(self):
        _, whole = learned_links(20, 3)
        before, after = link_training(negatives=20), link_training(negatives=20)
        for epoch in range(2):
            before.epoch(epoch)
        after.scorer.load_state_dict(before.scorer.state_dict())
        for own, kept in zip(after.squares, before.squares, strict=True):
            own.copy_(kept)
        after.epoch(2)
        assert (after.scorer.nodes.detach().numpy() == whole[0]).all()


class TestCheckpoints:
    @pytest.mark.parametrize("written_by", [1, 2, 4])
    def test_any_number_of_processes_opens_what_any_number_wrote(self, tmp_path, written_by):
        (tmp_path / LAST).write_bytes(b"of before")
        together(written_by, saved, tmp_path) if written_by > 1 else saved(tmp_path)
        assert (tmp_path / LAST).is_file() == (written_by == 1)
        assert opened(tmp_path)
        assert all(together(3, opened, tmp_path))

    def test_a_changed_byte_is_noticed(self, tmp_path):
        together(2, saved, tmp_path)
        path = sorted((tmp_path / LAST_OF_SEVERAL).glob("*.safetensors"))[1]
        content = bytearray(path.read_bytes())
        content[-1] ^= 1
        path.write_bytes(content)
        with pytest.raises(UserError, match="is damaged"):
            opened(tmp_path)

    def test_one_process_puts_its_own_in_place_of_that_of_several(self, tmp_path):
        together(2, saved, tmp_path)
        saved(tmp_path)
        assert [path.name for path in tmp_path.iterdir()] == [LAST]


def test_a_mistake_that_the_first_finds_ends_all():
    assert together(2, waited) == ["the disk is full", "told: the disk is full"]


@pytest.fixture(scope="module")
def small(tmp_path_factory):
    graph = random_graph()
    return build(graph, tmp_path_factory.mktemp("small") / "b", BuildSettings.choose(graph, queries=15))


FEW: dict[str, Any] = {"rank": 8, "epochs": 4, "batch_size": 64, "heads": 16, "validation_queries": 5, "device": "cpu"}


SAMPLED: dict[str, Any] = {"softmax": "sampled", "negatives": 7}
KINDS: list[dict[str, Any]] = [
    {"encoding": "baseline", "softmax": "full"},
    {"encoding": "baseline", **SAMPLED},
    {"encoding": "baseline", "softmax": "batch", "negatives": 5},
    {"encoding": "sinusoidal", "softmax": "full"},
    {"encoding": "dice", **SAMPLED},
    {"encoding": "dice", "softmax": "full", "value_loss": "map"},
]
FORMS: list[dict[str, Any]] = [{"model": model, **kind} for model in sorted(BACKBONES) for kind in KINDS]


def test_neural_models_trained_by_several_are_those_of_one(small):
    """Every backbone and encoding, with full and sampled softmaxes, dense and sparse steps."""
    expected = neural_training(small.folder, FORMS)
    for found in together(2, neural_training, small.folder, FORMS):
        for form, one, other in zip(FORMS, expected, found, strict=True):
            assert other[0] == pytest.approx(one[0], abs=1e-7), form
            assert one[1].keys() == other[1].keys() and other[3] >= 3
            assert all(abs(one[1][name] - other[1][name]).max() < 1e-7 for name in one[1]), form
            assert all(abs(own - theirs).max() < 1e-6 for own, theirs in zip(one[2], other[2], strict=True)), form


@pytest.mark.parametrize("model", sorted(BACKBONES))
def test_a_sparse_step_changes_only_the_rows_of_its_batch(small, model):
    steps = neural_steps(small.folder, {"model": model, "softmax": "sampled", "negatives": 3, "batch_size": 4})
    nodes = steps.model.backbone.nodes
    assert isinstance(nodes, SparseEmbedding) and len(steps.optimizers) == 2
    before = nodes.weight.detach().clone()
    steps.run(0)
    assert nodes.weight.grad is not None and nodes.weight.grad.is_sparse
    changed = (nodes.weight != before).any(dim=1).nonzero()[:, 0].tolist()
    assert set(changed) == set(nodes.weight.grad.coalesce().indices()[0].tolist())
    assert 0 < len(changed) <= 4 + 2 * 4 + 3 < len(before)


@pytest.mark.parametrize("softmax", ["full", "sampled"])
def test_a_neural_training_goes_on_with_any_number_of_processes(small, tmp_path, softmax):
    """Stopped with two processes, continued by one; and the other way round."""
    changes = {"model": "gqe", "softmax": softmax, "negatives": 9}
    whole = trained_neural(small.folder, tmp_path / "whole", changes)
    assert together(2, trained_neural, small.folder, tmp_path / "r", changes, 5)[0].keys() == set(range(1, 6))
    assert (tmp_path / "r" / LAST_OF_SEVERAL / LISTING).is_file() and not (tmp_path / "r" / LAST).exists()
    assert trained_neural(small.folder, tmp_path / "r", changes) == pytest.approx(whole, rel=1e-3)
    assert not (tmp_path / "r" / LAST_OF_SEVERAL).exists()
    trained_neural(small.folder, tmp_path / "s", changes, 5)
    for found in together(2, trained_neural, small.folder, tmp_path / "s", changes):
        assert found == pytest.approx(whole, rel=1e-3)
    runs = [Run.open(tmp_path / name) for name in ("whole", "r", "s")]
    mrr = [run.best()["validation_mrr"] for run in runs]
    assert mrr[1:] == pytest.approx([mrr[0]] * 2, abs=0.5)
    shapes = [{name: tensor.shape for name, tensor in run.files.tensors(BEST, CPU).items()} for run in runs]
    assert shapes[0] == shapes[1] == shapes[2]


@pytest.fixture(scope="module")
def run(small, tmp_path_factory) -> Run:
    return train(small, "reckoner", out=tmp_path_factory.mktemp("run") / "r", **FEW)


def test_several_rank_as_one_does(run):
    expected = evaluated(run.folder)
    for found in together(2, evaluated, run.folder):
        assert {**found, "seconds": 0} == {**expected, "seconds": 0}


def test_several_fill_a_graph_as_one_does(run, tmp_path):
    facts = filled(run.folder, tmp_path / "one.csv")
    assert facts > 20 and together(2, filled, run.folder, tmp_path / "two.csv") == [facts, 0]
    assert filecmp.cmp(tmp_path / "one.csv", tmp_path / "two.csv", shallow=False)


def test_a_run_of_several_is_an_ordinary_run(small, run, tmp_path):
    one, other = together(2, trained, small.folder, tmp_path / "r", "reckoner", FEW)
    assert one == other == pytest.approx(run.best()["validation_mrr"], abs=5)
    made = Run.open(tmp_path / "r")
    assert {path.name for path in made.folder.iterdir()} - {path.name for path in run.folder.iterdir()} == {
        LAST_OF_SEVERAL
    }
    assert not check_folder(made.folder).is_damaged
    losses = [[line["loss"] for line in each.files.records() if "loss" in line] for each in (made, run)]
    assert losses[0] == pytest.approx(losses[1], rel=1e-3)
    mrr = [evaluate(each, device="cpu").entity_targets.all for each in (made, run)]
    assert mrr[0] is not None and mrr[1] is not None and mrr[0].mrr == pytest.approx(mrr[1].mrr, abs=3)


def torchrun(*words: object, **options: Any) -> subprocess.Popen[str]:
    """The program in two processes, as a user starts them."""
    command = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2", "-m", "kgreckon"]
    own = {"OMP_NUM_THREADS": "1", **os.environ}
    return subprocess.Popen(
        [*command, *map(str, words)], env=own, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE, **options
    )


def learn_command(place, out) -> list[object]:
    few = {"rank": 8, "epochs": 12, "batch_size": 64, "heads": 16, "checkpoint_every": 1, "device": "cpu"}
    return ["learn", place, "--out", out, *(w for name, value in few.items() for w in ("--set", f"{name}={value}"))]


def test_a_killed_process_loses_what_came_after_the_last_checkpoint_and_no_more(tmp_path):
    """From the command line: one of two processes is killed, the other ends, and the same command goes on."""
    random_graph().save(tmp_path / "graph")
    command = learn_command(tmp_path / "graph", tmp_path / "run")
    with torchrun(*command) as killed:
        checkpoint = tmp_path / "run" / "trial" / LAST_OF_SEVERAL
        wait_for(lambda: (checkpoint / LISTING).is_file() and epochs_in(tmp_path / "run" / "trial") >= 3)
        worker = next(each for each in children_of(killed.pid) if environment_of(each).get("RANK") == "1")
        os.kill(worker, signal.SIGKILL)
        _, told = killed.communicate(timeout=100)
    assert killed.returncode != 0 and "SIGKILL" in told
    before = epochs_in(tmp_path / "run" / "trial")
    assert 3 <= before <= 12
    with torchrun(*command) as again:
        said, told = again.communicate(timeout=200)
    assert again.returncode == 0, told
    assert said.count("learned from") == 1  # the second process says nothing
    made = Run.open(tmp_path / "run")
    assert not check_folder(made.folder).is_damaged
    steps = [line["step"] for line in made.trial.records() if "loss" in line]
    assert steps == sorted(set(steps)) and len(steps) == 12
    whole = kg.learn(
        random_graph(), tmp_path / "one", rank=8, epochs=12, batch_size=64, heads=16, checkpoint_every=1, device="cpu"
    )
    quality, expected = made.quality(), whole.quality()
    assert quality is not None and expected is not None and quality.mrr == pytest.approx(expected.mrr, abs=3)


def epochs_in(folder) -> int:
    return sum("loss" in line for line in RunFiles(folder).records())


def wait_for(condition, seconds: float = 100) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.02)


def children_of(process: int) -> list[int]:
    """The processes that a process started, and those that they started."""
    parents = {int(path.name): path / "stat" for path in Path("/proc").iterdir() if path.name.isdigit()}
    found: list[int] = []
    for number, stat in parents.items():
        with suppress(OSError):
            if int(stat.read_text().rpartition(")")[2].split()[1]) == process:
                found += [number, *children_of(number)]
    return found


def environment_of(process: int) -> dict[str, str]:
    text = Path(f"/proc/{process}/environ").read_text()
    return dict(entry.split("=", 1) for entry in text.split("\0") if "=" in entry)
