"""Several processes on this machine, as torchrun would start them, and what each of them gives back."""

import multiprocessing
import os
import queue
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
    results = _CONTEXT.Queue()
    running = [
        _CONTEXT.Process(target=_run, args=(number, size, port, results, work, arguments)) for number in range(size)
    ]
    for process in running:
        process.start()
    by_number = {} if fails else _collected(results, running)
    for process in running:
        process.join()
    problems = [text for text in by_number.values() if isinstance(text, _Problem)]
    assert not problems, problems[0]
    return [by_number.get(number) for number in range(size)]


def _collected(results: Any, running: list[Any]) -> dict[int, Any]:
    """What all processes give back; where one ends without, the others would wait for it and so would we."""
    found: dict[int, Any] = {}
    while len(found) < len(running):
        ended = [number for number, process in enumerate(running) if not process.is_alive()]
        try:
            number, result = results.get(timeout=1)
            found[number] = result
        except queue.Empty:
            lost = [number for number in ended if number not in found]
            if lost:
                for process in running:
                    process.kill()
                raise AssertionError(f"process {lost[0]} ended and gave nothing back") from None
    return found


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
