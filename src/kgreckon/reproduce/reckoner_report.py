"""The reckoner's part of the report: what was fitted, and what each part of it is worth."""

from __future__ import annotations

from typing import Any

from kgreckon.evaluation import ReliabilityRow, expected_error, of_all_types
from kgreckon.reproduce.layout import Block, Figure, Heading, Table, Text
from kgreckon.reproduce.rows import made_on, settings_of

# Mean errors that others report for FB15k's numbers, on splits of their own: for orientation only.
_PUBLISHED = {
    "people.person.date_of_birth": "12.2 to 13.8",
    "film.film.initial_release_date": "5.0 to 5.5",
    "location.geocode.latitude": "2.1 to 2.3",
    "location.geocode.longitude": "4.0 to 4.9",
}
_ENOUGH = 100  # answers of a tenth of the probabilities, to be a point of the diagram


def calibrated_blocks(result: dict[str, Any]) -> list[Block]:
    """What is known of a model that was calibrated: what was fitted, and what its parts are worth."""
    settings, calibration = settings_of(result), result["calibration"]
    weights = {name: value for name, value in calibration.items() if name != "checksum"}
    fitted = ", ".join(f"{name.replace('_', ' ')} {value:.3g}" for name, value in weights.items())
    on = "facts that were held back" if "intercept" in weights else "validation queries, by an earlier version"
    blocks: list[Block] = [
        Heading("The reckoner", 3),
        Text(
            f"Rank {settings['rank']}, {settings['epochs']} epochs, regularisation {settings['regularisation']:g}, "
            f"seed {settings['seed']}, trained and calibrated in {result['train_seconds']:.0f} s on "
            f"{made_on(result)}. Fitted on {on}: {fitted}."
        ),
    ]
    if "reliability" in result:
        blocks += _reliability([ReliabilityRow(**row) for row in result["reliability"]])
    return blocks if "parts" not in result else [*blocks, *_parts(result["parts"])]


def _reliability(rows: list[ReliabilityRow]) -> list[Block]:
    """Of the answers with each probability, the share that is true; and how far that is off, by type."""
    pooled, types = of_all_types(rows), list(dict.fromkeys(row.type for row in rows))
    typed = {name: [row for row in rows if row.type == name] for name in types}
    errors = {"all": expected_error(rows), **{name: expected_error(own) for name, own in typed.items()}}
    # A share of few answers says little.
    curves = {name: [(row.stated, row.true) for row in own if row.candidates >= _ENOUGH]
              for name, own in {"all": pooled, **typed}.items()}  # fmt: skip
    return [
        Text(
            "Reliability: answers to testing queries that the training graph does not prove, by the probability that\n"
            "is shown for them, and the share of them that is true on the testing graph:"
        ),
        Table(
            ("probability", "answers", "mean probability", "true"),
            [[row.range, f"{row.candidates:,}", f"{row.stated:.1%}", f"{row.true:.1%}"] for row in pooled],
        ),
        Figure(
            "Reliability of probabilities",
            "mean probability",
            "share that is true",
            {name: points for name, points in curves.items() if points},
            diagonal=True,
        ),
        Text("The expected calibration error, in all and by type:"),
        Table(("", *errors), [["error", *(f"{error:.3f}" for error in errors.values() if error is not None)]]),
    ]


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
