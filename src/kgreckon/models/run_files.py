"""What a training writes into its run folder: weights and checkpoints as safetensors, metrics line by line."""

from __future__ import annotations

import json
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kgreckon.errors import UserError
from kgreckon.files import UNSEALED, as_json, check_seal, fits_seal_of, replacing, room_beside, seal_file, sync

if TYPE_CHECKING:
    import torch
    from torch import Tensor

    from kgreckon.processes import Processes

HEADER = "run.json"
BEST = "best.safetensors"
LAST = "last.safetensors"
LAST_OF_SEVERAL = "last.checkpoint"  # the folder that several processes write in its place
LISTING = "files.json"  # in it
METRICS = "metrics.jsonl"


def is_run_folder(folder: str | Path) -> bool:
    """Whether `folder` says that it is a run folder."""
    return (Path(folder) / HEADER).is_file()


@dataclass(frozen=True)
class RunFiles:
    """The files of a run folder that belong to its model."""

    folder: Path

    def has(self, name: str) -> bool:
        """Whether there is a file of that name."""
        return (self.folder / name).is_file()

    def tensors(self, name: str, device: torch.device) -> dict[str, Tensor]:
        """The tensors in a file, which are those that were saved, all of them finite."""
        from safetensors import SafetensorError
        from safetensors.torch import load_file

        path = self.folder / name
        if not path.is_file():
            raise UserError(f"{path} is missing: the run has no {'validated' if name == BEST else 'saved'} weights yet")
        check_seal(path)
        try:
            tensors = load_file(path, device=str(device))
        except (SafetensorError, OSError) as error:
            raise UserError(f"{path} cannot be read: {error}") from None
        for key, tensor in tensors.items():
            if tensor.is_floating_point() and not tensor.isfinite().all():
                raise UserError(f"{path} cannot be used: {key} holds a number that is not finite; train the run again")
        return tensors

    def save(self, name: str, tensors: dict[str, Tensor]) -> None:
        """Write tensors durably, sealed."""
        from safetensors import SafetensorError
        from safetensors.torch import save_file

        path = self.folder / name
        with replacing(path) as temporary, room_beside(temporary) as room:
            try:
                whole = {key: tensor.detach().contiguous() for key, tensor in tensors.items()}
                save_file(whole, room / name, metadata=UNSEALED)  # which begins a file of its own beside that one
                (room / name).replace(temporary)
            except SafetensorError as error:  # a full disk
                raise UserError(f"{path} cannot be written: {error}") from None
            seal_file(temporary)
            temporary.chmod(self.folder.stat().st_mode & 0o666)  # whoever may open the run may load its weights

    def record(self, line: dict[str, Any]) -> None:
        """Append a sealed line of metrics, durably."""
        path = self.folder / METRICS
        is_new = not path.exists()
        with path.open("ab") as file:
            file.write(as_json(line, indent=None))
        sync(path)
        if is_new:
            sync(self.folder)

    def records(self) -> list[dict[str, Any]]:
        """All lines of metrics; an unfinished one at the end does not count."""
        path = self.folder / METRICS
        if not path.is_file():
            return []
        *whole, _ = path.read_bytes().split(b"\n")
        records = []
        for number, line in enumerate(whole, 1):
            if not line:
                continue
            try:
                data = json.loads(line)
                if fits_seal_of(data, line + b"\n") is False:
                    raise ValueError
                records.append({key: value for key, value in data.items() if key != "checksum"})
            except (ValueError, TypeError, AttributeError):
                raise UserError(f"{path}:{number}: not a line of metrics") from None
        return records

    def of_first(self, processes: Processes) -> RunFiles:
        """The same files, which only the first of several processes writes."""
        return self if processes.is_first else _FilesOfAnother(self.folder)

    def forget_after(self, step: int, again: Collection[str] = ()) -> None:
        """Drop the metrics of steps that will be taken again, and those of names that are found again after the steps.

        The time that they took is kept.
        """
        if not self.has(METRICS):
            return
        kept = [
            {**line, "step": min(line["step"], step)}
            for line in self.records()
            if (line["step"] <= step and line.keys().isdisjoint(again)) or "trained_seconds" in line
        ]
        with replacing(self.folder / METRICS) as temporary:
            temporary.write_bytes(b"".join(as_json(line, indent=None) for line in kept))


class _FilesOfAnother(RunFiles):
    """The files of a run that another process writes: this one only reads."""

    def save(self, name: str, tensors: dict[str, Tensor]) -> None:
        """The first process does."""

    def record(self, line: dict[str, Any]) -> None:
        """The first process does."""

    def forget_after(self, step: int, again: Collection[str] = ()) -> None:
        """The first process does."""
