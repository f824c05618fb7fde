"""Runs: training a model into a folder, evaluating it, and runs side by side. Imported without torch."""

from kgreckon.models.interface import TrainingProgress
from kgreckon.models.registry import choose_settings
from kgreckon.models.run_files import is_run_folder
from kgreckon.models.settings import parse_assignments, remarks_on
from kgreckon.runs.run_folder import Run
from kgreckon.runs.train import resume, train, train_with

__all__ = [
    "Run",
    "TrainingProgress",
    "choose_settings",
    "is_run_folder",
    "parse_assignments",
    "remarks_on",
    "resume",
    "train",
    "train_with",
]
