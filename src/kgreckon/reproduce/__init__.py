"""Reproducing the paper's tables: one benchmark, all models, one report; stopped at any time and gone on with."""

from kgreckon.reproduce.pages import html, markdown
from kgreckon.reproduce.plan import Plan, plans_for
from kgreckon.reproduce.report import report
from kgreckon.reproduce.reproduction import (
    FailedRunsError,
    Reproduction,
    ReproductionProgress,
    reproduce,
    runs_at_a_time,
    take_runs,
)
from kgreckon.reproduce.result_files import read_results, result_of, write_results

__all__ = [
    "FailedRunsError",
    "Plan",
    "Reproduction",
    "ReproductionProgress",
    "html",
    "markdown",
    "plans_for",
    "read_results",
    "report",
    "reproduce",
    "result_of",
    "runs_at_a_time",
    "take_runs",
    "write_results",
]
