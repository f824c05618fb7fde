"""The result of an evaluation as typed tables: what a run folder keeps, Python returns and a frame holds."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from html import escape
from typing import TYPE_CHECKING, Any

from kgreckon.errors import UserError, naming_extras
from kgreckon.evaluation.by_hardness import HardnessRow
from kgreckon.evaluation.metrics import Metrics
from kgreckon.evaluation.reliability import ReliabilityRow

if TYPE_CHECKING:
    import pandas


@dataclass(frozen=True)
class HardnessTable:
    """The MRR of hard answers by how many facts and values their cheapest proofs lack in the training graph."""

    by_missing: list[HardnessRow]
    by_facts_and_values: list[HardnessRow]
    by_type: dict[str, list[HardnessRow]]  # by both together

    @staticmethod
    def from_json(data: Mapping[str, Any]) -> HardnessTable:
        """The table that `dataclasses.asdict` wrote."""

        def rows(table: list[Mapping[str, Any]]) -> list[HardnessRow]:
            return [HardnessRow(**row) for row in table]

        by_type = {name: rows(table) for name, table in data["by_type"].items()}
        return HardnessTable(rows(data["by_missing"]), rows(data["by_facts_and_values"]), by_type)


@dataclass(frozen=True)
class TargetTable:
    """Metrics of the queries whose answers are of one sort: entities, or numbers. None where there are no queries."""

    all: Metrics | None
    by_type: dict[str, Metrics | None]
    touching_numbers: Metrics | None
    without_numbers: Metrics | None
    by_specific_type: dict[str, Metrics]
    types_without_negation: Metrics | None = None  # the mean over types, as the literature has it
    types_with_negation: Metrics | None = None
    by_hardness: HardnessTable | None = None  # None where there are no queries, or the evaluation is an older one

    def rows(self) -> Iterator[tuple[str, Metrics]]:
        """Every line of the table that has queries: overall, by type, by specific type."""
        named = {
            "all": self.all,
            "touching numbers": self.touching_numbers,
            "without": self.without_numbers,
            "mean of types without negation": self.types_without_negation,
            "mean of types with negation": self.types_with_negation,
        }
        for name, metrics in {**named, **self.by_type, **self.by_specific_type}.items():
            if metrics is not None:
                yield name, metrics

    @staticmethod
    def from_json(data: Mapping[str, Any]) -> TargetTable:
        """The table that `as_json` wrote."""

        def metrics(table: Mapping[str, Any] | None) -> Metrics | None:
            return None if table is None else Metrics(**table)

        return TargetTable(
            metrics(data["all"]),
            {name: metrics(table) for name, table in data["by_type"].items()},
            metrics(data["touching_numbers"]),
            metrics(data["without_numbers"]),
            {name: Metrics(**table) for name, table in data["by_specific_type"].items()},
            metrics(data.get("types_without_negation")),
            metrics(data.get("types_with_negation")),
            HardnessTable.from_json(data["by_hardness"]) if data.get("by_hardness") else None,
        )


@dataclass(frozen=True)
class AbsoluteError:
    """How far the best value is from the nearest hard answer, over the queries for numbers of one unit."""

    queries: int
    mean: float
    median: float


@dataclass(frozen=True)
class EvaluationResult:
    """What a model reached on a split's queries, in percent."""

    split: str
    queries: int
    seconds: float
    entity_targets: TargetTable
    entity_targets_among_values: TargetTable | None  # ranked among entities and values: where values are entities
    number_targets: TargetTable
    mrr_by_answers: list[dict[str, float]]  # of queries for entities, by how many answers they have
    absolute_errors: dict[str, AbsoluteError]  # by unit
    by_unit: dict[str, Metrics]  # of queries for numbers
    queries_per_type: int | None  # None where all queries were ranked
    device: str
    reliability: list[ReliabilityRow] | None = None  # of probabilities; None of scores that are not probabilities

    def as_json(self) -> dict[str, Any]:
        """The result as a run folder keeps it."""
        numbers = asdict(self.number_targets) | {
            "absolute_error_of_the_best_value": {unit: asdict(error) for unit, error in self.absolute_errors.items()},
            "by_unit": {unit: asdict(metrics) for unit, metrics in self.by_unit.items()},
        }
        return {
            "split": self.split,
            "mrr_by_answers": self.mrr_by_answers,
            "queries": self.queries,
            "seconds": self.seconds,
            "entity_targets": asdict(self.entity_targets),
            "entity_targets_among_values": self.entity_targets_among_values
            and asdict(self.entity_targets_among_values),
            "number_targets": numbers,
            "queries_per_type": self.queries_per_type,
            "device": self.device,
            "reliability": None if self.reliability is None else [asdict(row) for row in self.reliability],
        }

    @staticmethod
    def from_json(data: Mapping[str, Any]) -> EvaluationResult:
        """The result that a run folder keeps; a UserError where the data is not one."""
        try:
            numbers, among_values = data["number_targets"], data.get("entity_targets_among_values")
            return EvaluationResult(
                data["split"],
                data["queries"],
                data["seconds"],
                TargetTable.from_json(data["entity_targets"]),
                None if among_values is None else TargetTable.from_json(among_values),
                TargetTable.from_json(numbers),
                data["mrr_by_answers"],
                {unit: AbsoluteError(**row) for unit, row in numbers["absolute_error_of_the_best_value"].items()},
                {unit: Metrics(**metrics) for unit, metrics in numbers["by_unit"].items()},
                data.get("queries_per_type"),
                data.get("device", "unknown"),
                None if data.get("reliability") is None else [ReliabilityRow(**row) for row in data["reliability"]],
            )
        except (KeyError, TypeError, AttributeError) as error:
            raise UserError(f"these are not the metrics of an evaluation: {error!r}") from None

    def records(self) -> list[dict[str, Any]]:
        """All lines of all tables as plain rows."""
        tables = {
            "entity_targets": self.entity_targets,
            "entity_targets_among_values": self.entity_targets_among_values,
            "number_targets": self.number_targets,
        }
        return [
            {"target": target, "queries of": name, **asdict(metrics)}
            for target, table in tables.items()
            if table is not None
            for name, metrics in table.rows()
        ]

    @naming_extras()
    def to_pandas(self) -> pandas.DataFrame:
        """A frame with a row for each line of the tables (needs pandas)."""
        import pandas

        return pandas.DataFrame(self.records())

    def _repr_html_(self) -> str:
        names = ("queries", "MRR", "H@1", "H@3", "H@10")
        head = "".join(f"<th>{name}</th>" for name in ("", *names))
        body = ""
        for title, table in (("entities", self.entity_targets), ("numbers", self.number_targets)):
            shown = {} if table.all is None else {f"queries for {title}": table.all, **table.by_type}
            for name, row in shown.items():
                if row is not None:
                    shares = (row.mrr, row.hits_at_1, row.hits_at_3, row.hits_at_10)
                    cells = (f"{row.queries:,}", *(f"{share:.2f}" for share in shares))
                    body += f"<tr><th>{escape(name)}</th>{''.join(f'<td>{cell}</td>' for cell in cells)}</tr>"
        caption = f"{self.split} split, {self.queries:,} queries, percent"
        return f"<table><caption>{caption}</caption><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"

    def __repr__(self) -> str:
        lines = [f"{self.split} split, {self.queries:,} queries, percent"]
        for title, table in (("entities", self.entity_targets), ("numbers", self.number_targets)):
            if table.all is not None:
                lines.append(f"{f'queries for {title}':<22}{'queries':>9}{'MRR':>8}{'H@1':>8}{'H@10':>8}")
                shown = {**table.by_type, "all": table.all}
                for name, row in ((name, row) for name, row in shown.items() if row is not None):
                    cells = f"{row.mrr:>8.2f}{row.hits_at_1:>8.2f}{row.hits_at_10:>8.2f}"
                    lines.append(f"  {name:<20}{row.queries:>9,}{cells}")
        return "\n".join(lines)
