"""What a training writes into its run folder: weights and checkpoints as safetensors, metrics line by line."""

from __future__ import annotations

import json
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kgreckon.errors import UserError
from kgreckon.files import replacing

if TYPE_CHECKING:
    import torch
    from torch import Tensor

HEADER = "run.json"
BEST = "best.safetensors"
LAST = "last.safetensors"
METRICS = "metrics.jsonl"


@dataclass(frozen=True)
class RunFiles:
    """The files of a run folder that belong to its model."""

    folder: Path

    def has(self, name: str) -> bool:
        """Whether there is a file of that name."""
        return (self.folder / name).is_file()

    def tensors(self, name: str, device: torch.device) -> dict[str, Tensor]:
        """The tensors in a file."""
        from safetensors import SafetensorError
        from safetensors.torch import load_file

        path = self.folder / name
        if not path.is_file():
            raise UserError(f"{path} is missing: the run has no {'validated' if name == BEST else 'saved'} weights yet")
        try:
            return load_file(path, device=str(device))
        except (SafetensorError, OSError) as error:
            raise UserError(f"{path} cannot be read: {error}") from None

    def save(self, name: str, tensors: dict[str, Tensor]) -> None:
        """Write tensors beside their name, then rename."""
        from safetensors import SafetensorError
        from safetensors.torch import save_file

        path = self.folder / name
        with replacing(path) as temporary:
            try:
                save_file({key: tensor.detach().contiguous() for key, tensor in tensors.items()}, temporary)
            except SafetensorError as error:  # a full disk
                raise UserError(f"{path} cannot be written: {error}") from None
            shutil.copymode(self.folder / HEADER, temporary)  # whoever may read the run may load its weights

    def record(self, line: dict[str, Any]) -> None:
        """Append a line of metrics."""
        with (self.folder / METRICS).open("a", encoding="utf-8") as file:
            file.write(json.dumps(line) + "\n")

    def records(self) -> list[dict[str, Any]]:
        """All lines of metrics; an unfinished one at the end does not count."""
        path = self.folder / METRICS
        if not path.is_file():
            return []
        *whole, _ = path.read_text(encoding="utf-8", errors="replace").split("\n")
        records = []
        for number, line in enumerate(whole, 1):
            if not line:
                continue
            try:
                records.append(dict(json.loads(line)))
            except (ValueError, TypeError):
                raise UserError(f"{path}:{number}: not a line of metrics") from None
        return records

    def forget_after(self, step: int) -> None:
        """Drop the metrics of steps that will be taken again, but not the time that they took."""
        if not self.has(METRICS):
            return
        kept = [
            json.dumps({**line, "step": min(line["step"], step)})
            for line in self.records()
            if line["step"] <= step or "trained_seconds" in line
        ]
        with replacing(self.folder / METRICS) as temporary:
            temporary.write_text("".join(line + "\n" for line in kept), encoding="utf-8")
