"""Checkpoints: one file of a process that is alone, a folder of several, and any number of processes goes on from each.

The folder is torch.distributed.checkpoint's, in its form of safetensors files: each process writes its own rows.
"""

from __future__ import annotations

import os
import shutil
import warnings
from collections.abc import Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from kgreckon.errors import UserError
from kgreckon.files import check_listed, listing, mapped, new_part, read_json, write_json
from kgreckon.models.run_files import LAST, LAST_OF_SEVERAL, LISTING, RunFiles
from kgreckon.processes import ALONE, Processes


def save_checkpoint(
    files: RunFiles, tensors: Mapping[str, Tensor], spread: Mapping[str, int], processes: Processes = ALONE
) -> None:
    """Write what the next step depends on, in place of the checkpoint before.

    Of the tensors that are named in `spread`, with their rows in all, each process has its part.
    """
    if processes.size == 1:
        files.save(LAST, dict(tensors))
        shutil.rmtree(files.folder / LAST_OF_SEVERAL, ignore_errors=True)
        return
    from torch.distributed.checkpoint.hf_storage import HuggingFaceStorageWriter
    from torch.distributed.checkpoint.state_dict_saver import save

    with ExitStack() as until_whole:
        target = b""
        if processes.is_first:
            target = bytes(until_whole.enter_context(new_part(files.folder / LAST_OF_SEVERAL)))
        place = Path(os.fsdecode(processes.told(target)[0]))
        state = {name: _with_its_place(tensor, spread.get(name), processes) for name, tensor in tensors.items()}
        save(state, storage_writer=HuggingFaceStorageWriter(str(place), save_distributed=True))
        processes.wait()
        if processes.is_first:
            write_json(place / LISTING, {"files": listing(sorted(place.glob("*.safetensors")))})
    if processes.is_first:
        (files.folder / LAST).unlink(missing_ok=True)
    processes.wait()


def last_checkpoint(
    files: RunFiles, spread: Mapping[str, int], device: torch.device, processes: Processes = ALONE
) -> dict[str, Tensor] | None:
    """What the last checkpoint holds, of the tensors named in `spread` this process's part; None where there is none.

    A program that is killed while it writes one form of checkpoint may leave the other, older one too: any of them is
    a place to go on from.
    """
    folder = files.folder / LAST_OF_SEVERAL
    if not folder.is_dir():
        if not files.has(LAST):
            return None
        tensors = files.tensors(LAST, device)
        return {name: t[processes.part(len(t))].clone() if name in spread else t for name, t in tensors.items()}
    from torch.distributed.checkpoint.hf_storage import HuggingFaceStorageReader
    from torch.distributed.checkpoint.state_dict_loader import load

    listed = read_json(folder / LISTING).get("files")
    for path in sorted(folder.glob("*.safetensors")):
        check_listed(path, mapped(path), listed)
    reader = HuggingFaceStorageReader(str(folder))
    known: dict[str, Any] = reader.read_metadata().state_dict_metadata
    own: dict[str, Tensor] = {}
    for name, described in known.items():
        rows, *others = [*described.size] or [1]
        part = processes.part(rows) if name in spread else slice(0, rows)
        size = (part.stop - part.start, *others) if described.size else ()
        own[name] = torch.zeros(size, dtype=described.properties.dtype)
    rows_of = {name: known[name].size[0] for name in own if name in spread}
    state = {name: _with_its_place(tensor, rows_of.get(name), processes) for name, tensor in own.items()}
    with warnings.catch_warnings():  # that one process opens it alone is meant
        warnings.simplefilter("ignore", UserWarning)
        load(state, storage_reader=reader, no_dist=processes.size == 1)
    for name, tensor in state.items():
        own[name] = _own_part(tensor).to(device)
        if own[name].is_floating_point() and not own[name].isfinite().all():
            raise UserError(f"{folder} cannot be used: {name} holds a number that is not finite; train the run again")
    return own


def has_checkpoint(files: RunFiles) -> bool:
    """Whether there is something to go on from."""
    return files.has(LAST) or (files.folder / LAST_OF_SEVERAL).is_dir()


def forget_checkpoint(files: RunFiles) -> None:
    """Nothing is left to go on with."""
    (files.folder / LAST).unlink(missing_ok=True)
    shutil.rmtree(files.folder / LAST_OF_SEVERAL, ignore_errors=True)


def _with_its_place(tensor: Tensor, rows: int | None, processes: Processes) -> Tensor:
    """A tensor that knows which rows of how many it is."""
    from torch.distributed.device_mesh import init_device_mesh
    from torch.distributed.tensor import DTensor, Shard

    tensor = tensor.detach().cpu().contiguous()
    if rows is None or processes.size == 1:
        return tensor
    mesh = init_device_mesh("cpu", (processes.size,))
    shape = torch.Size((rows, *tensor.shape[1:]))
    stride = torch.empty(shape, device="meta").stride()
    return DTensor.from_local(tensor, mesh, [Shard(0)], run_check=False, shape=shape, stride=stride)


def _own_part(tensor: Tensor) -> Tensor:
    to_local = getattr(tensor, "to_local", None)
    return tensor if to_local is None else to_local()
