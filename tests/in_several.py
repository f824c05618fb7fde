"""What each of several processes does in a test, and what a process that is alone does to compare."""

import torch

from kgreckon.answers import Answerer
from kgreckon.answers.completed_files import write_completed
from kgreckon.answers.completing import Gaps, complete
from kgreckon.errors import ToldElsewhereError, UserError
from kgreckon.models.checkpoints import last_checkpoint, save_checkpoint
from kgreckon.models.reckoner.links import ComplEx, Examples, LinkTraining
from kgreckon.models.run_files import RunFiles
from kgreckon.models.spreading import first_rows
from kgreckon.processes import ALONE, started_together
from kgreckon.runs import train
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
