"""The reckoner's part of the report: what was fitted, and what each part of it is worth."""

from __future__ import annotations

from typing import Any

from kgreckon.reproduce.layout import Block, Heading, Table, Text
from kgreckon.reproduce.rows import made_on, settings_of

# Mean errors that others report for FB15k's numbers, on splits of their own: for orientation only.
_PUBLISHED = {
    "people.person.date_of_birth": "12.2 to 13.8",
    "film.film.initial_release_date": "5.0 to 5.5",
    "location.geocode.latitude": "2.1 to 2.3",
    "location.geocode.longitude": "4.0 to 4.9",
}


def calibrated_blocks(result: dict[str, Any]) -> list[Block]:
    """What is known of a model that was calibrated: what was fitted, and what its parts are worth."""
    settings, calibration = settings_of(result), result["calibration"]
    fitted = ", ".join(f"{name.replace('_', ' ')} {value:g}" for name, value in calibration.items())
    blocks: list[Block] = [
        Heading("The reckoner", 3),
        Text(
            f"Rank {settings['rank']}, {settings['epochs']} epochs, regularisation {settings['regularisation']:g}, "
            f"seed {settings['seed']}, trained and calibrated in {result['train_seconds']:.0f} s on "
            f"{made_on(result)}. Fitted on validation queries: {fitted}."
        ),
    ]
    return blocks if "parts" not in result else [*blocks, *_parts(result["parts"])]


def _parts(parts: dict[str, Any]) -> list[Block]:
    """What each part is worth; from bench/reckoner.py."""
    ablation = [
        [row["variant"], *(f"{row[key]:.2f}" for key in ("mrr", "without_numbers", "touching_numbers"))]
        for row in parts["ablation"]
    ]
    missing = [
        [row["missing"] if row["missing"] < 9 else "more", f"{row['answers']:,}", f"{row['mrr']:.2f}"]
        for row in parts["by_missing_facts"]
    ]
    values = []
    for row in parts["values"]:
        errors = (row["mean_error"], row["median_error"], row["mean_error_of_the_training_median"])
        name = row["attribute"].rsplit("/", 1)[-1]
        values.append([name, row["facts"], *(f"{error:,.4g}" for error in errors), f"{row['coverage']:.0%}"])
    columns = [
        "attribute",
        "facts",
        "mean error",
        "median error",
        "mean error of the training median",
        "in the interval",
    ]
    about = "Predicted values of testing facts, and the share that the stated 90 % interval holds"
    if any(row[0] in _PUBLISHED for row in values):
        columns.append("mean errors published")
        values = [[*row, _PUBLISHED.get(row[0], "")] for row in values]
        about += "; for orientation, mean errors that others published, on other splits of FB15k"
    return [
        Text("One part changed at a time, on some testing queries of each type, so the first row differs a little:"),
        Table(("", "mean MRR over types", "without numbers", "touching numbers"), ablation),
        Text("Hard answers by how many facts of their shortest proof the training graph lacks:"),
        Table(("missing facts", "hard answers", "mean reciprocal rank"), missing),
        Text(f"{about}:"),
        Table(tuple(columns), values),
    ]
