"""Result files: what the report needs of each run, and nothing else."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from kgreckon.errors import UserError
from kgreckon.files import read_json, replacing
from kgreckon.runs import Run, is_run_folder
from kgreckon.runs.evaluate import BALANCED

TESTED = "test_metrics.json"
TESTED_BALANCED = f"test_metrics{BALANCED}.json"
_DECIMALS = 8  # metrics are percentages; fewer would change a last digit of the report


def result_of(folder: Path) -> dict[str, Any]:
    """An evaluated run as plain data: settings, training time, device, versions, validation curve and metrics."""
    if not is_run_folder(folder) or not (folder / TESTED).is_file():
        raise UserError(f"{folder} is not the folder of a run that was evaluated on the test queries")
    run = Run.open(folder)
    records = run.files.records()
    trained = [line for line in records if "trained_seconds" in line]
    last = trained[-1] if trained else {"device": "unknown", "torch": "unknown"}
    calibration, balanced = folder / "calibration.json", folder / TESTED_BALANCED
    return {
        "benchmark": run.header["preset"],
        "benchmark_seed": run.header.get("benchmark_seed", 0),
        "settings": run.header["settings"],
        "train_seconds": round(sum(float(line["trained_seconds"]) for line in trained), 1),
        "device_name": last["device"],
        **{name: last[name].split("+")[0] for name in ("torch", "python", "kgreckon") if name in last},
        "records": validation_curve(records),
        **({"calibration": read_json(calibration)} if calibration.is_file() else {}),
        **reported_metrics(read_json(folder / TESTED)),
        **({"balanced": reported_metrics(read_json(folder / TESTED_BALANCED))} if balanced.is_file() else {}),
    }


def validation_curve(records: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """The step and the MRR of each validation."""
    return [
        {"step": line["step"], "validation_mrr": round(line["validation_mrr"], _DECIMALS)}
        for line in records
        if "validation_mrr" in line
    ]


def reported_metrics(tested: dict[str, Any]) -> dict[str, Any]:
    """The metrics of `kgreckon evaluate` that the report shows."""
    numbers, among_values = tested["number_targets"], tested.get("entity_targets_among_values")
    return {
        "queries": tested["queries"],
        "seconds": round(tested["seconds"], _DECIMALS),
        "mrr_by_answers": [_rounded(row) for row in tested["mrr_by_answers"]],
        **_reliability(tested),
        "entity_targets": _of_entities(tested["entity_targets"]),
        **({"entity_targets_among_values": _of_entities(among_values)} if among_values else {}),
        "number_targets": {
            "all": _rounded(numbers["all"]),
            **_hardness(numbers),
            "by_unit": _mrr_and_queries(numbers["by_unit"]),
            "absolute_error_of_the_best_value": {
                unit: {"queries": row["queries"], "median": row["median"]}
                for unit, row in numbers["absolute_error_of_the_best_value"].items()
            },
        },
    }


def _of_entities(table: dict[str, Any]) -> dict[str, Any]:
    return {
        **{part: _rounded(table[part]) for part in ("all", "touching_numbers", "without_numbers")},
        **{part: _mrr_and_queries(table[part]) for part in ("by_type", "by_specific_type")},
        **_hardness(table),
    }


def _hardness(table: dict[str, Any]) -> dict[str, Any]:
    """The MRR by what the cheapest proofs lack; older evaluations do not have it."""
    hardness = table.get("by_hardness")
    if not hardness:
        return {}
    by_type = {name: [_rounded(row) for row in rows] for name, rows in hardness["by_type"].items()}
    rows = {part: [_rounded(row) for row in hardness[part]] for part in ("by_missing", "by_facts_and_values")}
    return {"by_hardness": {**rows, "by_type": by_type}}


def _reliability(tested: dict[str, Any]) -> dict[str, Any]:
    """Which share of candidates is true, by their probability; scores of other models are no probabilities."""
    if not tested.get("reliability"):
        return {}
    rows = [{**row, "stated": round(row["stated"], 4), "true": round(row["true"], 4)} for row in tested["reliability"]]
    return {"reliability": rows}


def _rounded(row: dict[str, Any] | None) -> dict[str, Any] | None:
    if row is None:
        return None
    return {key: round(value, _DECIMALS) for key, value in row.items() if value is not None}


def _mrr_and_queries(table: dict[str, Any]) -> dict[str, Any]:
    return {
        name: None if row is None else {"queries": row["queries"], "mrr": round(row["mrr"], _DECIMALS)}
        for name, row in table.items()
    }


def read_results(folder: Path) -> list[dict[str, Any]]:
    """All results in a folder. A file holds one result, as `kgreckon reproduce` writes it, or a list of them."""
    contents = [json.loads(path.read_text(encoding="utf-8")) for path in sorted(folder.glob("*.json"))]
    rows = [row for content in contents for row in (content if isinstance(content, list) else [content])]
    return [{key: value for key, value in row.items() if key != "checksum"} for row in rows]


def write_results(path: Path, results: Sequence[dict[str, Any]]) -> None:
    """Write a list of results, one line each, so that a changed run is one changed line."""
    lines = ",\n".join(json.dumps(result, separators=(",", ":"), ensure_ascii=False) for result in results)
    with replacing(path) as temporary:
        temporary.write_text(f"[\n{lines}\n]\n", encoding="utf-8")
