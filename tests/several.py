"""Several processes on this machine, as torchrun would start them, and what each of them gives back."""

import multiprocessing
import os
import socket
import traceback
from collections.abc import Callable
from typing import Any

import torch

# Started once, with what they need already imported: a process of it takes no time to start.
_CONTEXT = multiprocessing.get_context("forkserver")
_PRELOADED = """kgreckon.answers.completed_files kgreckon.runs.evaluate kgreckon.models.reckoner kgreckon.models.neural
torch.distributed.tensor torch.distributed.checkpoint torch.distributed.checkpoint.hf_storage"""
_CONTEXT.set_forkserver_preload(_PRELOADED.split())


def together(size: int, work: Callable[..., Any], *arguments: Any, fails: bool = False) -> list[Any]:
    """What each of so many processes gives back for `work`, a function of a module."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    results = _CONTEXT.SimpleQueue()
    running = [
        _CONTEXT.Process(target=_run, args=(number, size, port, results, work, arguments)) for number in range(size)
    ]
    for process in running:
        process.start()
    by_number = dict(results.get() for _ in running) if not fails else {}
    for process in running:
        process.join()
    problems = [text for text in by_number.values() if isinstance(text, _Problem)]
    assert not problems, problems[0]
    return [by_number.get(number) for number in range(size)]


class _Problem(str):
    pass


def _run(number: int, size: int, port: int, results: Any, work: Callable[..., Any], arguments: Any) -> None:
    torch.set_num_threads(1)
    own = {"RANK": number, "LOCAL_RANK": number, "WORLD_SIZE": size, "MASTER_PORT": port, "MASTER_ADDR": "127.0.0.1"}
    os.environ.update({name: str(value) for name, value in own.items()})
    try:
        results.put((number, work(*arguments)))
    except BaseException:
        results.put((number, _Problem(traceback.format_exc())))
