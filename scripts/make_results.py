"""Write docs/results.md from results/*.json: every number measured, none typed by hand.

python scripts/make_results.py [--check]
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any

from kgreckon.benchmark.presets import PRESETS, paper_tables
from kgreckon.query import GENERAL_TYPES

ROOT = Path(__file__).parents[1]
PAPER_NAMES = {"gqe": "GQE", "query2box": "Q2B", "query2particles": "Q2P"}
HITS = ("mrr", "hits_at_1", "hits_at_3", "hits_at_10")


def report() -> str:
    """The whole page."""
    results = [json.loads(path.read_text(encoding="utf-8")) for path in sorted((ROOT / "results").glob("*.json"))]
    lines = [
        "# Results",
        "",
        "Made by `python scripts/make_results.py` from the files in `results/`; each holds the settings, the learning",
        "curve and all metrics of one run. Percent, realistic ties, the testing queries of the benchmark as `kgreckon",
        "build` makes it. The paper split lines, repeats included, and so trained on a little more than 80 % of the",
        "distinct facts; our splits are of distinct facts, which is slightly harder.",
        "",
    ]
    for name in dict.fromkeys(result["benchmark"] for result in results):
        chosen = [result for result in results if result["benchmark"] == name]
        lines += [f"## {PRESETS[name].dataset}", "", "Queries for entities, as in the paper's tables:", ""]
        lines += _entity_table(name, chosen)
        lines += ["", "Queries for entities that touch a number, and those that do not; queries for numbers:", ""]
        lines += _number_table(chosen)
        lines += ["", "How they were trained:", ""]
        lines += _settings_table(chosen)
        lines.append("")
    return "\n".join(lines)


def _name(result: dict[str, Any]) -> str:
    settings = result["settings"]["model"]
    return f"{settings['model']}, {settings['numbers']}"


def _row(cells: list[object]) -> str:
    return "| " + " | ".join(str(cell) for cell in cells) + " |"


def _entity_table(name: str, results: list[dict[str, Any]]) -> list[str]:
    lines = [_row(["", "MRR", "H@1", "H@3", "H@10", *GENERAL_TYPES]), "|---|" + "---|" * 12]
    for result in results:
        settings = result["settings"]["model"]
        wanted = (PRESETS[name].dataset, PAPER_NAMES[settings["model"]], settings["numbers"])
        overall, by_type = (
            next(row for row in paper_tables()[table] if (row["dataset"], row["backbone"], row["values"]) == wanted)
            for table in ("overall", "by_type")
        )
        lines.append(_row([f"{_name(result)}: paper", *(f"{overall[metric]:.2f}" for metric in HITS),
                           *(f"{by_type['mrr'][kind]:.2f}" for kind in GENERAL_TYPES)]))  # fmt: skip
        table = result["entity_targets"]
        lines.append(_row([f"{_name(result)}: **ours**", *(f"{table['all'][metric]:.2f}" for metric in HITS),
                           *(f"{table['by_type'][kind]['mrr']:.2f}" for kind in GENERAL_TYPES)]))  # fmt: skip
    return lines


def _number_table(results: list[dict[str, Any]]) -> list[str]:
    lines = [_row(["MRR", "touching a number", "without", "for a number"]), "|---|---|---|---|"]
    for result in results:
        entities, numbers = result["entity_targets"], result["number_targets"]["all"]
        parts = (entities["touching_numbers"], entities["without_numbers"], numbers)
        lines.append(_row([_name(result), *(f"{part['mrr']:.2f} ({part['queries']:,} queries)" for part in parts)]))
    return lines


def _settings_table(results: list[dict[str, Any]]) -> list[str]:
    head = ["", "steps", "batch", "dimension", "learning rate", "value loss", "seed", "training, s", "device"]
    lines = [_row(head), "|---|" + "---|" * (len(head) - 1)]
    for result in results:
        model, training = result["settings"]["model"], result["settings"]["training"]
        lines.append(_row([_name(result), f"{training['steps']:,}", training["batch_size"], model["dimension"],
                           f"{training['learning_rate']}, falling over the last {training['decay']:.0%} of the steps",
                           model["value_loss"], training["seed"], round(result["train_seconds"]),
                           f"{result['device_name']}, torch {result['torch']}"]))  # fmt: skip
    return lines


def main() -> None:
    """Write the page, or check that the committed one is what the files give."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--check", action="store_true")
    path = ROOT / "docs" / "results.md"
    if parser.parse_args().check:
        if path.read_text(encoding="utf-8") != report():
            sys.exit(f"{path.name} is not what results/ gives: run python scripts/make_results.py")
    else:
        path.write_text(report(), encoding="utf-8")


if __name__ == "__main__":
    main()
