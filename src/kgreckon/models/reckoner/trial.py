"""Learning from all facts after a trial that learned from a part of them: its vectors are a start."""

from __future__ import annotations

import torch

from kgreckon.errors import UserError
from kgreckon.files import read_json
from kgreckon.models.checkpoints import has_checkpoint, last_checkpoint, save_checkpoint
from kgreckon.models.reckoner.calibration import Calibration
from kgreckon.models.reckoner.learning import CALIBRATION, spread_tensors
from kgreckon.models.reckoner.reckoner_settings import ReckonerSettings
from kgreckon.models.run_files import RunFiles
from kgreckon.processes import ALONE, Processes


def go_on_from(
    trial: RunFiles, files: RunFiles, settings: ReckonerSettings, nodes: int, processes: Processes = ALONE
) -> Calibration:
    """Begin with a trial's vectors, unless it is begun already; half of the epochs are left.

    Returns the trial's calibration.
    """
    if not has_checkpoint(files):
        tensors = last_checkpoint(trial, spread_tensors(nodes), torch.device("cpu"), processes)
        if tensors is None:
            raise UserError(f"{trial.folder} has no checkpoint to go on from: learn into a new folder")
        done = torch.tensor(settings.epochs - (settings.epochs + 1) // 2)
        save_checkpoint(files, tensors | {"epochs": done}, spread_tensors(nodes), processes)
    return Calibration.from_json(read_json(trial.folder / CALIBRATION))
