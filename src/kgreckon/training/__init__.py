"""Training: queries on the device, captured steps, the loop, run folders, and the evaluation of a run."""

from kgreckon.training.evaluating import evaluate, load
from kgreckon.training.loop import TrainingProgress, resume, train
from kgreckon.training.run_folder import Run, is_run_folder
from kgreckon.training.settings import (
    PRESETS,
    RunSettings,
    choose_settings,
    parse_assignments,
    preset_settings,
    without_effect,
)

__all__ = [
    "PRESETS",
    "Run",
    "RunSettings",
    "TrainingProgress",
    "choose_settings",
    "evaluate",
    "is_run_folder",
    "load",
    "parse_assignments",
    "preset_settings",
    "resume",
    "train",
    "without_effect",
]
