"""How far a reproduction is, on stderr."""

from __future__ import annotations

from kgreckon.cli.benchmark_tables import BuildBar
from kgreckon.cli.console import notes
from kgreckon.reproduce import Plan, ReproductionProgress


class ReproductionNotes(ReproductionProgress):
    """A bar on stderr for a benchmark, then a line for each run that begins, ends or stops."""

    def building(self) -> BuildBar:
        """The bar of a benchmark."""
        return BuildBar()

    def started(self, plan: Plan) -> None:
        """A run begins or goes on."""
        notes().print(f"{plan.name} ...")

    def finished(self, plan: Plan, mrr: float) -> None:
        """A run is trained and evaluated."""
        notes().print(f"{plan.name}: MRR {mrr:.2f} on testing queries for entities")

    def stopped(self, plan: Plan) -> None:
        """A run waits for the same command again."""
        notes().print(f"{plan.name}: stopped; the same command goes on with it")
