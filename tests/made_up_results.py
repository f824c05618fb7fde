"""Results of runs that nobody trained: plausible numbers in the form that `kgreckon reproduce` writes."""

from typing import Any

from kgreckon.models.registry import settings_as_json
from kgreckon.query import GENERAL_TYPES
from kgreckon.reproduce import plans_for
from kgreckon.runs import choose_settings


def made_up_result(graph: str, plan: str, mrr: float, variant: str | None = None) -> dict[str, Any]:
    """A run of a planned model, such as `gqe-dice`, that reached an MRR on the queries for entities."""
    settings = settings_as_json(choose_settings(**plans_for(graph, [plan])[0].settings))
    result = {
        "name": plan,
        "variant": variant,
        "comparisons": "released",
        "benchmark": graph,
        "benchmark_seed": 0,
        "settings": settings,
        "train_seconds": 61.5,
        "device_name": "CPU",
        "torch": "2.11.0",
        "records": [{"step": step, "validation_mrr": mrr * step / 8_000} for step in (4_000, 8_000)],
        "queries": 1_200,
        "seconds": 0.75,
        "mrr_by_answers": [
            {"from": 1, "to": 1, "queries": 600, "mrr": mrr - 2},
            {"from": 2, "to": 3, "queries": 400, "mrr": mrr + 3},
        ],
        "entity_targets": {
            "all": _metrics(1_000, mrr),
            "by_type": {name: {"queries": 125, "mrr": mrr + place - 4} for place, name in enumerate(GENERAL_TYPES)},
            "touching_numbers": _metrics(550, mrr - 5),
            "without_numbers": _metrics(450, mrr + 6),
            "by_specific_type": {
                "(rp,(e))": {"queries": 450, "mrr": mrr + 6},
                "(rap,(nv))": {"queries": 550, "mrr": mrr - 5},
            },
            "by_hardness": _hardness(mrr),
        },
        "number_targets": {
            "all": _metrics(200, mrr / 3),
            "by_hardness": _hardness(mrr / 3),
            "by_unit": {"date": {"queries": 120, "mrr": mrr / 2}, "km²": {"queries": 80, "mrr": mrr / 12}},
            "absolute_error_of_the_best_value": {
                "date": {"queries": 120, "median": 9.43},
                "km²": {"queries": 80, "median": 11_400.0},
            },
        },
    }
    if plan == "reckoner":
        result["calibration"] = {"forward": 0.6, "backward": 0.4, "hidden": 4.0}
        result["records"] = []
        result["parts"] = {
            "ablation": [_part("as trained", mrr), _part("without rules", mrr - 1)],
            "by_missing_facts": [{"missing": 1, "answers": 900, "mrr": mrr}, {"missing": 9, "answers": 40, "mrr": 2.5}],
            "values": [
                {
                    "attribute": "http://example.org/population",
                    "facts": 300,
                    "mean_error": 41_000.0,
                    "median_error": 9_500.0,
                    "mean_error_of_the_training_median": 88_000.0,
                    "coverage": 0.91,
                }
            ],
        }
    return result


def _metrics(queries: int, mrr: float) -> dict[str, float]:
    hits = {"hits_at_1": 0.6 * mrr, "hits_at_3": 1.1 * mrr, "hits_at_10": 1.7 * mrr}
    return {"queries": queries, "mrr": mrr, **hits, "optimistic_mrr": mrr + 0.01}


def _hardness(mrr: float) -> dict[str, Any]:
    counts = {"queries": 300, "answers": 700}
    rows = [{"missing": 1, "mrr": mrr + 1, **counts}, {"missing": 2, "mrr": mrr / 4, **counts}]
    pairs = [{**row, "facts": row["missing"], "values": 0} for row in rows]
    return {"by_missing": rows, "by_facts_and_values": pairs, "by_type": {"2i": rows}}


def _part(variant: str, mrr: float) -> dict[str, Any]:
    return {"variant": variant, "mrr": mrr, "without_numbers": mrr + 6, "touching_numbers": mrr - 5}
