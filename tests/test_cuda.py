"""What only a GPU does: captured steps, and results that are those of a CPU."""

from typing import Any

import pytest
import torch

import kgreckon as kg
from kgreckon.benchmark import Benchmark, BuildSettings, build
from kgreckon.models.neural.captured_steps import CapturedSteps
from kgreckon.models.neural.device_queries import model_for, training_queries
from kgreckon.models.neural.neural_settings import NeuralSettings
from random_graph import random_graph

pytestmark = pytest.mark.skipif(not torch.cuda.is_available(), reason="there is no GPU here")
FEW: dict[str, Any] = {"dimension": 16, "batch_size": 64, "particles": 2, "validation_queries": 20}
FORMS = [(model, encoding) for model in ("gqe", "query2box", "query2particles") for encoding in ("baseline", "dice")]


@pytest.fixture(scope="module")
def small(tmp_path_factory) -> Benchmark:
    graph = random_graph()
    return build(graph, tmp_path_factory.mktemp("small") / "b", BuildSettings.choose(graph, queries=100))


def captured_steps(benchmark: Benchmark, **changes) -> CapturedSteps:
    cuda = torch.device("cuda")
    settings = NeuralSettings.choose({**FEW, **changes})
    torch.manual_seed(0)  # some layers draw their first weights from torch's own generator, as in a training
    model = model_for(benchmark, settings, torch.Generator().manual_seed(0)).to(cuda).train()
    steps = CapturedSteps(model, training_queries(benchmark, cuda), settings)
    steps.set_learning_rate(0.01)
    return steps


def state_of(steps: CapturedSteps) -> list[torch.Tensor]:
    return [tensor.detach().clone() for tensor in steps.model.parameters()]


@pytest.mark.parametrize(("model", "encoding"), FORMS)
def test_capturing_leaves_weights_and_random_numbers_as_they_were(small, model, encoding):
    steps = captured_steps(small, model=model, encoding=encoding)
    before, random = state_of(steps), torch.cuda.get_rng_state()
    steps.prepare()
    assert all(torch.equal(one, other) for one, other in zip(before, state_of(steps), strict=True))
    assert torch.equal(random, torch.cuda.get_rng_state())


@pytest.mark.parametrize(("model", "encoding"), FORMS)
def test_a_replayed_step_is_the_step_that_was_captured(small, model, encoding):
    """Without dropout and with every query in the batch, a step hardly depends on which queries are drawn."""
    losses = []
    for capture in (True, False):
        steps = captured_steps(small, model=model, encoding=encoding, dropout=0.0, number_dropout=0.0, batch_size=4096)
        if capture:
            steps.prepare()
        rounds = [[float(steps.run(place)) for place in range(len(steps.queries))] for _ in range(3)]
        losses.append(torch.tensor(rounds))
    replayed, launched = losses
    assert torch.allclose(replayed[0], launched[0], rtol=0.05)
    assert torch.allclose(replayed.mean(dim=1), launched.mean(dim=1), rtol=0.01)
    assert replayed[-1].mean() < replayed[0].mean()  # and it learns


def test_a_run_of_the_gpu_is_continued_and_ranks_the_same_on_a_cpu(small, tmp_path):
    few = {**FEW, "encoding": "dice", "steps": 60, "checkpoint_every": 20}
    run = kg.train(small, "gqe", out=tmp_path / "r", device="cuda", **few)
    kg.resume(run.folder)  # nothing is left to do
    on_gpu, on_cpu = run.evaluate(device="cuda"), run.evaluate(device="cpu")
    assert on_gpu.entity_targets.all is not None and on_cpu.entity_targets.all is not None
    assert on_gpu.entity_targets.all.mrr == pytest.approx(on_cpu.entity_targets.all.mrr, abs=0.5)


def test_mixed_precision_learns(small, tmp_path):
    run = kg.train(small, "gqe", out=tmp_path / "r", device="cuda", precision="bf16", steps=40, **FEW)
    assert run.best()["validation_mrr"] > 0


def test_a_reckoner_of_the_gpu_answers_the_same_on_a_cpu(small, tmp_path):
    few: dict[str, Any] = {"rank": 16, "epochs": 4, "batch_size": 64, "heads": 16, "validation_queries": 2}
    run = kg.train(small, "reckoner", out=tmp_path / "r", device="cuda", **few)
    scores = [
        {answer.name: answer.score for answer in kg.load(run.folder, device=device).ask("(rp,(r0),(e,(e1)))", limit=50)}
        for device in ("cuda", "cpu")
    ]
    assert scores[0] == pytest.approx(scores[1], abs=1e-3)
