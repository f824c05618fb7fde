"""Learning from all facts after a trial that learned from a part of them: its vectors are a start."""

from __future__ import annotations

import torch

from kgreckon.files import read_json
from kgreckon.models.reckoner.calibration import Calibration
from kgreckon.models.reckoner.learning import CALIBRATION
from kgreckon.models.reckoner.reckoner_settings import ReckonerSettings
from kgreckon.models.run_files import LAST, RunFiles


def go_on_from(trial: RunFiles, files: RunFiles, settings: ReckonerSettings) -> Calibration:
    """Begin with a trial's vectors, unless it is begun already; half of the epochs are left.

    Returns the trial's calibration.
    """
    if not files.has(LAST):
        tensors = trial.tensors(LAST, torch.device("cpu"))
        files.save(LAST, tensors | {"epochs": torch.tensor(settings.epochs - (settings.epochs + 1) // 2)})
    return Calibration.from_json(read_json(trial.folder / CALIBRATION))
