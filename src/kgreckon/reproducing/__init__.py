"""Reproducing the paper's tables: one benchmark, all models, one report; stopped at any time and gone on with."""

from kgreckon.reproducing.pages import html, markdown
from kgreckon.reproducing.plan import Plan, plans_for
from kgreckon.reproducing.report import report
from kgreckon.reproducing.running import FailedRunsError, Progress, reproduce, result_of, runs_at_a_time

__all__ = [
    "FailedRunsError",
    "Plan",
    "Progress",
    "html",
    "markdown",
    "plans_for",
    "report",
    "reproduce",
    "result_of",
    "runs_at_a_time",
]
