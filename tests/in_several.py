"""What each of several processes does in a test, and what a process that is alone does to compare."""

from contextlib import suppress
from typing import Any

import torch

from kgreckon.answers import Answerer
from kgreckon.answers.completed_files import write_completed
from kgreckon.answers.completing import Gaps, complete
from kgreckon.benchmark import Benchmark
from kgreckon.errors import ToldElsewhereError, UserError
from kgreckon.models.checkpoints import last_checkpoint, save_checkpoint
from kgreckon.models.neural.captured_steps import CapturedSteps
from kgreckon.models.neural.device_queries import model_for, training_queries
from kgreckon.models.neural.neural_settings import NeuralSettings
from kgreckon.models.neural.operators import Tables
from kgreckon.models.neural.training import spread_tensors
from kgreckon.models.reckoner.links import ComplEx, Examples, LinkTraining
from kgreckon.models.run_files import RunFiles
from kgreckon.models.spreading import first_rows
from kgreckon.processes import ALONE, started_together
from kgreckon.runs import TrainingProgress, train, train_with
from kgreckon.runs.evaluate import evaluate

CPU = torch.device("cpu")
NODES, ENTITIES, LABELS, RANK = 101, 83, 5, 4


def examples() -> list[Examples]:
    draw = torch.Generator().manual_seed(5)

    def some(count: int, first: int, last: int) -> Examples:
        heads, labels = (torch.randint(high, (count,), generator=draw) for high in (ENTITIES, LABELS))
        return Examples(heads, labels, torch.randint(first, last, (count,), generator=draw), first, last)

    return [some(300, 0, ENTITIES), some(70, ENTITIES, NODES)]


def link_training(negatives: int = 0, processes=ALONE) -> LinkTraining:
    """In double precision: Adagrad's first steps make the last bits of single precision large."""
    scorer = ComplEx(NODES, LABELS, RANK, torch.Generator().manual_seed(0), processes).double()
    return LinkTraining(scorer, examples(), 51, 0.1, 0.05, 0.05, 3, negatives, processes)


def learned_links(negatives: int, epochs: int = 3):
    processes = started_together("cpu")
    training = link_training(negatives, processes)
    losses = [training.epoch(epoch) for epoch in range(epochs)]
    tensors = (training.scorer.nodes, training.squares[0])
    whole = [processes.joined(tensor.detach(), NODES) for tensor in tensors]
    return losses, [tensor.numpy() for tensor in (*whole, training.scorer.labels.detach())]


def rows_drawn():
    return first_rows(10_001, 3, torch.Generator().manual_seed(1), started_together("cpu")).numpy()


TABLE = torch.arange(7 * 3.0).view(7, 3)
SPREAD = {"table": 7}


def saved(folder) -> None:
    processes = started_together("cpu")
    tensors = {"table": TABLE[processes.part(7)].clone(), "step": torch.tensor(5), "state": torch.arange(3)}
    save_checkpoint(RunFiles(folder), tensors, SPREAD, processes)


def opened(folder):
    processes = started_together("cpu")
    tensors = last_checkpoint(RunFiles(folder), SPREAD, CPU, processes)
    assert tensors is not None
    expected = {"table": TABLE[processes.part(7)], "step": torch.tensor(5), "state": torch.arange(3)}
    return tensors.keys() == expected.keys() and all(torch.equal(tensors[name], expected[name]) for name in expected)


def waited() -> str:
    processes = started_together("cpu")

    def work() -> None:
        raise UserError("the disk is full")

    try:
        processes.first(work)
    except ToldElsewhereError as error:
        return f"told: {error}"
    except UserError as error:
        return str(error)
    return "nothing"


def evaluated(folder):
    return evaluate(folder, device="cpu").as_json()


def filled(folder, out):
    processes = started_together("cpu")
    missing = complete(Answerer.open(folder, device="cpu"), Gaps(above=0.01, explain=True), processes=processes)
    return write_completed(out, missing).facts if processes.is_first else len(list(missing))


def trained(benchmark, folder, model, settings):
    run = train(benchmark, model, out=folder, **settings)
    return run.best()["validation_mrr"]


NEURAL: dict[str, Any] = {"dimension": 8, "batch_size": 24, "particles": 2, "dropout": 0.0, "number_dropout": 0.0}


def neural_steps(folder, changes) -> CapturedSteps:
    """In double precision: Adam's first steps make the last bits of single precision large."""
    processes = started_together("cpu")
    settings = NeuralSettings.choose({**NEURAL, "answers": 2, **changes})
    benchmark = Benchmark.open(folder)
    torch.manual_seed(0)
    tables = Tables(processes, settings.samples(len(benchmark.graph.entities), "cpu"))
    model = model_for(benchmark, settings, torch.Generator().manual_seed(0), tables).double().train()
    return CapturedSteps(model, training_queries(benchmark, CPU), settings)


def neural_training(folder, some_changes):
    """The losses of steps on some types of queries, and the weights after them, for each of some settings."""
    processes = started_together("cpu")
    results = []
    for changes in some_changes:
        steps = neural_steps(folder, changes)
        places = [*range(0, len(steps.queries), 6), 0]
        losses = [float(steps.run(place)) for place in places]
        whole = dict(steps.model.named_parameters())
        spread = spread_tensors(steps.model)
        weights = {
            name: processes.joined(weight.detach(), spread[f"model.{name}"]).numpy()
            if f"model.{name}" in spread
            else weight.detach().numpy()
            for name, weight in whole.items()
        }
        scores = [steps.model.answer(one.draw(5)[0]).numpy() for one in steps.queries[:4]]
        results.append((losses, weights, scores, len(spread)))
    return results


class StopsAt(TrainingProgress):
    """A training that someone stops after a step."""

    def __init__(self, step: int) -> None:
        self.step = step

    def report(self, step: int, loss: float, queries_per_second: float) -> None:
        if step == self.step:
            raise KeyboardInterrupt


def trained_neural(folder, out, changes, stop=0) -> dict[int, float]:
    """The losses of a training that may be stopped, and goes on where there is one in the folder."""
    few = {"steps": 8, "validation_queries": 5, "report_every": 1, "checkpoint_every": 2, "validate_every": 0}
    settings = NeuralSettings.choose({**NEURAL, **few, "device": "cpu", **changes})
    with suppress(KeyboardInterrupt):
        train_with(folder, out, settings, StopsAt(stop))
    return {line["step"]: line["loss"] for line in RunFiles(out).records() if "loss" in line}
