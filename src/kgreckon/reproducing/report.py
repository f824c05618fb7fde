"""The report: tables of all results, beside the paper's own."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from kgreckon.benchmark.presets import PRESETS, paper_tables
from kgreckon.query import GENERAL_TYPES

PAPER_NAMES = {"gqe": "GQE", "query2box": "Q2B", "query2particles": "Q2P"}
HITS = ("mrr", "hits_at_1", "hits_at_3", "hits_at_10")


def markdown(results: list[dict[str, Any]], made_by: str) -> str:
    """The whole page, from results as `reproducing.result_of` gives them."""
    lines = [
        "# Results",
        "",
        f"Made by `{made_by}` from the files in `results/`; each holds the settings, the learning",
        "curve and all metrics of one run. Percent, realistic ties, the testing queries of the benchmark as `kgreckon",
        "build` makes it. The paper split lines, repeats included, and so trained on a little more than 80 % of the",
        "distinct facts; our splits are of distinct facts, which is slightly harder.",
        "",
    ]
    for name in dict.fromkeys(result["benchmark"] for result in results):
        chosen = [result for result in results if result["benchmark"] == name]
        lines += [f"## {PRESETS[name].dataset}", "", "Queries for entities, as in the paper's tables:", ""]
        lines += _entity_table(name, chosen)
        lines += ["", "The mean is that of the eight types, each counted once; MRR is that of all queries."]
        lines += ["", "Queries for entities that touch a number, and those that do not; queries for numbers:", ""]
        lines += _number_table(chosen)
        lines += ["", "How they were trained:", ""]
        lines += _settings_table([result for result in chosen if not _is_reckoner(result)])
        for result in filter(_is_reckoner, chosen):
            lines += ["", *_reckoner_settings(result)]
            lines += ["", *_reckoner_parts(result)] if "parts" in result else []
        lines.append("")
    return "\n".join(lines)


def _is_reckoner(result: dict[str, Any]) -> bool:
    return "reckoner" in result["settings"]


def _name(result: dict[str, Any]) -> str:
    if _is_reckoner(result):
        return "reckoner"
    settings = result["settings"]["model"]
    return f"{settings['model']}, {settings['numbers']}"


def _row(cells: Sequence[object]) -> str:
    return "| " + " | ".join(str(cell) for cell in cells) + " |"


def _entity_table(name: str, results: list[dict[str, Any]]) -> list[str]:
    lines = [_row(["", "MRR", "H@1", "H@3", "H@10", *GENERAL_TYPES, "mean"]), "|---|" + "---|" * 13]
    for result in results:
        if _is_reckoner(result):
            lines.append(_best_of_the_paper(name))
        else:
            settings = result["settings"]["model"]
            wanted = (PRESETS[name].dataset, PAPER_NAMES[settings["model"]], settings["numbers"])
            lines.append(_paper_row(f"{_name(result)}: paper", wanted))
        table = result["entity_targets"]
        by_type = {kind: table["by_type"][kind]["mrr"] for kind in GENERAL_TYPES}
        lines.append(_metrics_row(f"{_name(result)}: **ours**", table["all"], by_type))
    return lines


def _metrics_row(name: str, overall: dict[str, float], by_type: dict[str, float]) -> str:
    mean = sum(by_type.values()) / len(by_type)
    return _row([name, *(f"{overall[metric]:.2f}" for metric in HITS),
                 *(f"{by_type[kind]:.2f}" for kind in GENERAL_TYPES), f"{mean:.2f}"])  # fmt: skip


def _paper_row(name: str, wanted: tuple[str, str, str]) -> str:
    overall, by_type = (
        next(row for row in paper_tables()[table] if (row["dataset"], row["backbone"], row["values"]) == wanted)
        for table in ("overall", "by_type")
    )
    return _metrics_row(name, overall, by_type["mrr"])


def _best_of_the_paper(name: str) -> str:
    """The paper's row with the best mean over the types."""
    rows = [row for row in paper_tables()["by_type"] if row["dataset"] == PRESETS[name].dataset]
    best = max(rows, key=lambda row: sum(row["mrr"][kind] for kind in GENERAL_TYPES))
    wanted = (best["dataset"], best["backbone"], best["values"])
    return _paper_row(f"the paper's best: {best['backbone']}, {best['values']}", wanted)


def _number_table(results: list[dict[str, Any]]) -> list[str]:
    lines = [_row(["MRR", "touching a number", "without", "for a number"]), "|---|---|---|---|"]
    for result in results:
        entities, numbers = result["entity_targets"], result["number_targets"]["all"]
        parts = (entities["touching_numbers"], entities["without_numbers"], numbers)
        lines.append(_row([_name(result), *(f"{part['mrr']:.2f} ({part['queries']:,} queries)" for part in parts)]))
    return lines


def _settings_table(results: list[dict[str, Any]]) -> list[str]:
    if not results:
        return []
    head = ["", "steps", "batch", "dimension", "learning rate", "value loss", "seed", "training, s", "device"]
    lines = [_row(head), "|---|" + "---|" * (len(head) - 1)]
    for result in results:
        model, training = result["settings"]["model"], result["settings"]["training"]
        lines.append(_row([_name(result), f"{training['steps']:,}", training["batch_size"], model["dimension"],
                           f"{training['learning_rate']}, falling over the last {training['decay']:.0%} of the steps",
                           model["value_loss"], training["seed"], round(result["train_seconds"]),
                           f"{result['device_name']}, torch {result['torch']}"]))  # fmt: skip
    return lines


def _reckoner_settings(result: dict[str, Any]) -> list[str]:
    settings, calibration = result["settings"]["reckoner"], result["calibration"]
    speed = result["queries"] / result["seconds"]
    fitted = ", ".join(f"{name.replace('_', ' ')} {value:g}" for name, value in calibration.items())
    return [
        f"The reckoner: rank {settings['rank']}, {settings['epochs']} epochs, regularisation "
        f"{settings['regularisation']:g}, seed {settings['seed']}, trained and calibrated in "
        f"{result['train_seconds']} s on {result['device_name']}, torch {result['torch']}; {result['queries']:,} "
        f"testing queries answered and ranked in {result['seconds']:.1f} s, {speed:,.0f} a second. Fitted on "
        f"validation queries: {fitted}.",
    ]


def _reckoner_parts(result: dict[str, Any]) -> list[str]:
    """What each part of the reckoner is worth; from benchmarks/reckoner.py."""
    parts = result["parts"]
    lines = ["One part changed at a time, on some testing queries of each type, so the first row differs a little:", ""]
    lines += [_row(["", "mean MRR over types", "without numbers", "touching numbers"]), "|---|---|---|---|"]
    for row in parts["ablation"]:
        cells = (row["mrr"], row["without_numbers"], row["touching_numbers"])
        lines.append(_row([row["variant"], *(f"{cell:.2f}" for cell in cells)]))
    lines += ["", "Hard answers by how many facts of their shortest proof the training graph lacks:", ""]
    lines += [_row(["missing facts", "hard answers", "mean reciprocal rank"]), "|---|---|---|"]
    lines += [
        _row([row["missing"] if row["missing"] < 9 else "more", f"{row['answers']:,}", f"{row['mrr']:.2f}"])
        for row in parts["by_missing_facts"]
    ]
    lines += ["", "Predicted values of testing facts, and the share that the stated 90 % interval holds:", ""]
    head = ["attribute", "facts", "mean error", "median error", "mean error of the training median", "in the interval"]
    lines += [_row(head), "|---|" + "---|" * (len(head) - 1)]
    for row in parts["values"]:
        name = row["attribute"].rsplit("/", 1)[-1]
        errors = (row["mean_error"], row["median_error"], row["mean_error_of_the_training_median"])
        lines.append(_row([name, row["facts"], *(f"{error:,.4g}" for error in errors), f"{row['coverage']:.0%}"]))
    return lines
