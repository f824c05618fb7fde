"""The report: all results in tables and figures, beside the paper's own numbers."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from itertools import chain
from statistics import mean
from typing import Any

from kgreckon.benchmark.datasets import PAPER_DATASETS
from kgreckon.query import GENERAL_TYPES
from kgreckon.reproduce.hardness_report import hardness_blocks
from kgreckon.reproduce.imported_report import imported_blocks
from kgreckon.reproduce.layout import Block, Figure, Heading, Table, Text
from kgreckon.reproduce.reckoner_report import calibrated_blocks
from kgreckon.reproduce.rows import (
    Result,
    as_the_paper_sampled,
    benchmark_seed,
    beside_the_paper,
    first_seeds,
    is_of_the_paper,
    name_of,
    place_of,
    settings_of,
)
from kgreckon.reproduce.training_report import sweep_blocks, sweep_overview, training_blocks
from kgreckon.reproduce.variants_report import seed_blocks, variant_blocks

HITS = ("mrr", "hits_at_1", "hits_at_3", "hits_at_10")
_MOST_STEPS = 12  # of a learning curve, in its table
_COLUMNS = ("", "MRR", "H@1", "H@3", "H@10", *GENERAL_TYPES, "mean")


def report(results: Sequence[Result], made_by: str, sweeps: Sequence[dict[str, Any]] = ()) -> list[Block]:
    """The whole report, graph by graph; `sweeps` holds settings compared on validation queries."""
    blocks: list[Block] = [
        Heading("Results", 1),
        Text(
            f"Made by `{made_by}` from the files in `results/`; each holds the settings, the learning\n"
            "curve and all metrics of one run. Percent, realistic ties, the testing queries of the benchmark as\n"
            "`kgreckon build` makes it. The paper split lines, repeats included, and so trained on a little more than\n"
            "80 % of the distinct facts; our splits are of distinct facts, which is slightly harder.\n"
            "[Other differences](benchmarks.md#other-differences-from-the-released-code) are in Query2Particles and\n"
            "in swapped branches. Rows are trained with a softmax over values, as the released code does, unless they\n"
            "say MAP. The same command writes this as a page in HTML, with figures."
        ),
    ]
    seeds = sorted({benchmark_seed(result) for result in results})
    graphs, *others = (_by_graph(results, seed) for seed in seeds or [0])
    again = dict(zip(seeds[1:], others, strict=True))
    if len(graphs) > 1:
        blocks += _overview(graphs)
    for seed, other in again.items():
        blocks += _on_another_benchmark(seed, other)
    if len(graphs) > 1:
        blocks += sweep_overview(sweeps)
    for name, of_graph in graphs.items():
        blocks += _graph(name, of_graph, {seed: other[name] for seed, other in again.items() if name in other})
        blocks += sweep_blocks([trial for trial in sweeps if trial["benchmark"] == name])
    for result in results:
        if result["benchmark"] not in PAPER_DATASETS:
            blocks += imported_blocks(result)
    return blocks


def _by_graph(results: Sequence[Result], seed: int) -> dict[str, list[Result]]:
    """The results on the benchmarks with that seed, by their graph."""
    graphs = {
        name: [result for result in results if result["benchmark"] == name and benchmark_seed(result) == seed]
        for name in PAPER_DATASETS
    }
    return {name: of_graph for name, of_graph in graphs.items() if of_graph}


def _overview(graphs: dict[str, list[Result]]) -> list[Block]:
    """One figure of each run on each graph, beside the paper's."""

    def told(graph: str, result: Result, _: dict[str, Result]) -> str:
        paper = _paper_row(graph, result) if is_of_the_paper(result) else _best_of_the_paper(graph)[1]
        return f"{beside_the_paper(result)['all']['mrr']:.2f} ({paper[0]:.2f})"

    text = "MRR of all queries for entities, and the paper's in brackets; for the reckoner that of the paper's best:"
    notes = [*_how_ranked(chain(*graphs.values())), *_sampled_earlier(graphs), *_reckoned_earlier(graphs)]
    return [Text(text), _at_a_glance(graphs, told), *_tally(graphs), *notes]


def _on_another_benchmark(seed: int, graphs: dict[str, list[Result]]) -> list[Block]:
    """One figure of each run on benchmarks with other splits and queries, and what number reasoning gains there."""

    def told(_: str, result: Result, others: dict[str, Result]) -> str:
        baseline = _baseline_of(result, others)
        return f"{_mrr(result):.2f}" + (f" ({_mrr(result) - _mrr(baseline):+.2f})" if baseline else "")

    text = (
        f"The same on benchmarks built with the seed {seed}, of other splits and other queries, and how far\n"
        "number reasoning is ahead of its baseline there:"
    )
    return [Text(text), _at_a_glance(graphs, told), *_tally(graphs), *_sampled_earlier(graphs)]


def _sampled_earlier(graphs: dict[str, list[Result]]) -> list[Block]:
    """Which graphs have results on a benchmark of the older sampler."""
    older = [PAPER_DATASETS[name].title for name, own in graphs.items() if not all(map(as_the_paper_sampled, own))]
    if not older:
        return []
    return [
        Text(
            f"The benchmarks of {' and '.join(older)} are of the sampler before the rule for intersections was\n"
            "corrected: their branches differ in their anchors only, their numerical edges are drawn at random, and\n"
            "their validation and test queries name only what the training graph holds\n"
            "([benchmarks](benchmarks.md#branches-of-an-intersection) says what that changes)."
        )
    ]


def _reckoned_earlier(graphs: dict[str, list[Result]]) -> list[Block]:
    """Which graphs have results of the first reckoner, whose facts had no calibrated probabilities."""
    calibrated = {name: [run["calibration"] for run in own if "calibration" in run] for name, own in graphs.items()}
    older = [
        PAPER_DATASETS[name].title for name, own in calibrated.items() if any("intercept" not in each for each in own)
    ]
    if not older:
        return []
    return [
        Text(
            f"The rows of the reckoner on {' and '.join(older)} are of its first version; the one of today\n"
            "([how it infers](reckoner.md)) has not been tested on them."
        )
    ]


def _tally(graphs: dict[str, list[Result]]) -> list[Block]:
    """How many rows of the paper's models are above the paper's, and above their baseline."""
    over_paper, over_baseline = [], []
    for graph, of_graph in graphs.items():
        rows = {name_of(result): result for result in first_seeds(of_graph) if is_of_the_paper(result)}
        for result in rows.values():
            over_paper.append(beside_the_paper(result)["all"]["mrr"] - _paper_row(graph, result)[0])
            if baseline := _baseline_of(result, rows):
                over_baseline.append(_mrr(result) - _mrr(baseline))
    told = [
        f"{sum(margin > 0 for margin in margins)} of {len(margins)} {rows} above {reference}"
        f" ({min(margins):+.2f} to {max(margins):+.2f})"
        for margins, rows, reference in (
            (over_paper, "rows", "the paper's"),
            (over_baseline, "with number reasoning", "their baseline"),
        )
        if margins
    ]
    return [Text(f"{'; '.join(told)}.")] if told else []


def _mrr(result: Result) -> float:
    return float(result["entity_targets"]["all"]["mrr"])


def _baseline_of(result: Result, others: dict[str, Result]) -> Result | None:
    """The run of the same backbone with numbers as entities, for one with number reasoning."""
    backbone, _, form = name_of(result).partition(", ")
    return others.get(f"{backbone}, baseline") if form not in ("", "baseline") else None


def _at_a_glance(graphs: dict[str, list[Result]], told: Callable[[str, Result, dict[str, Result]], str]) -> Table:
    """What is told of each run, and of a graph's others beside it: a line for each model, a column for each graph."""
    rows = {graph: {name_of(result): result for result in first_seeds(of_graph)} for graph, of_graph in graphs.items()}
    models = {name: place_of(result) for of_graph in rows.values() for name, result in of_graph.items()}
    return Table(
        ("", *(PAPER_DATASETS[graph].title for graph in graphs)),
        [
            [
                model,
                *(
                    told(graph, of_graph[model], of_graph) if model in of_graph else ""
                    for graph, of_graph in rows.items()
                ),
            ]
            for model in sorted(models, key=models.__getitem__)
        ],
    )


def _graph(name: str, results: list[Result], again: dict[int, list[Result]]) -> list[Block]:
    """All about one graph; `again` holds the results on its benchmarks of other seeds."""
    rows = sorted(first_seeds(results), key=place_of)
    blocks: list[Block] = [Heading(PAPER_DATASETS[name].title), *(_rows(name, rows) if rows else ())]
    for seed, others in again.items():
        if anew := sorted(first_seeds(others), key=place_of):
            blocks += [Text(f"Queries for entities on the benchmark with the seed {seed}:"), _entity_table(name, anew)]
    blocks += [*seed_blocks(results), *hardness_blocks(rows), *variant_blocks(results)]
    blocks += training_blocks(name, rows)
    for result in rows:
        if "calibration" in result:
            blocks += calibrated_blocks(result)
    return blocks


def _rows(name: str, rows: list[Result]) -> list[Block]:
    return [
        Text("Queries for entities, as in the paper's tables:"),
        _entity_table(name, rows),
        *_how_ranked(rows),
        Text(
            "The mean is that of the eight types, each counted once; MRR is that of all queries. With the released\n"
            f"code's optimistic ties no MRR of all queries is higher by more than {_most_by_ties(rows):.2f}."
        ),
        *_learning_curves(rows),
        Text("Queries for entities that touch a number, and those that do not:"),
        _touching_table(rows),
        Text("Queries for numbers:"),
        _number_table(rows),
        *_by_unit(rows),
        *_by_answers(rows),
        Text("MRR of queries for entities, by specific type:"),
        _by_specific_type(rows),
    ]


# ------------------------------------------------------------------------------------------------ beside the paper


def _entity_table(name: str, results: list[Result]) -> Table:
    rows: list[list[object]] = []
    strong = set()
    for result in results:
        if is_of_the_paper(result):
            title, paper = f"{name_of(result)}: paper", _paper_row(name, result)
        else:
            title, paper = _best_of_the_paper(name)
        ours = _row_of(beside_the_paper(result))
        strong.add(len(rows) + 1)
        rows += [
            [title, *(f"{cell:.2f}" for cell in paper)],
            [f"{name_of(result)}: ours", *(f"{cell:.2f}" for cell in ours)],
            ["difference", *(f"{ours - theirs:+.2f}" for ours, theirs in zip(ours, paper, strict=True))],
        ]
        if _ranks_among_values(result):
            rows.append(["among entities only", *(f"{cell:.2f}" for cell in _row_of(result["entity_targets"]))])
    return Table(_COLUMNS, rows, frozenset(strong))


def _ranks_among_values(result: Result) -> bool:
    return "entity_targets_among_values" in result


def _dataset_title(result: Result) -> str:
    return PAPER_DATASETS[result["benchmark"]].title


def _how_ranked(results: Iterable[Result]) -> list[Block]:
    released = list(dict.fromkeys(_dataset_title(result) for result in results if _ranks_among_values(result)))
    if not released:
        return []
    text = (
        f"Beside the paper, a baseline's answers on {' and '.join(released)} are ranked among all entities and\n"
        "values, as its released code ranks them; everywhere else among entities only, which is easier."
    )
    return [Text(text)]


def _row_of(table: dict[str, Any]) -> list[float]:
    return _metrics(table["all"], {kind: table["by_type"][kind]["mrr"] for kind in GENERAL_TYPES})


def _metrics(overall: dict[str, float], by_type: dict[str, float]) -> list[float]:
    types = [by_type[kind] for kind in GENERAL_TYPES]
    return [*(overall[metric] for metric in HITS), *types, mean(types)]


def _paper_row(name: str, result: Result) -> list[float]:
    settings = settings_of(result)
    paper = PAPER_DATASETS[name].results[settings["model"], settings["encoding"]]
    return _metrics(paper, paper["by_type"])


def _best_of_the_paper(name: str) -> tuple[str, list[float]]:
    """The paper's row with the best mean over the types."""
    rows = {model: _metrics(row, row["by_type"]) for model, row in PAPER_DATASETS[name].results.items()}
    best = max(rows, key=lambda model: rows[model][-1])
    return f"the paper's best: {', '.join(best)}", rows[best]


# ------------------------------------------------------------------------------------------------ a closer look


def _most_by_ties(results: list[Result]) -> float:
    """How much MRR the released code's rule gives at the most, in hundredths, rounded up."""
    overall = [result["entity_targets"]["all"] for result in results]
    return math.ceil(100 * max(metrics["optimistic_mrr"] - metrics["mrr"] for metrics in overall)) / 100


def _learning_curves(results: list[Result]) -> list[Block]:
    curves = {
        name_of(result): {
            line["step"]: line["validation_mrr"] for line in result["records"] if "validation_mrr" in line
        }
        for result in results
        if is_of_the_paper(result)
    }
    curves = {name: points for name, points in curves.items() if points}
    if not curves:
        return []
    steps = sorted({step for points in curves.values() for step in points})
    shown = steps[:: -len(steps) // _MOST_STEPS][::-1]  # the last is among them
    rows = [
        [name, *(f"{points[step]:.2f}" if step in points else "" for step in shown)] for name, points in curves.items()
    ]
    drawn = {name: list(points.items()) for name, points in curves.items()}
    return [
        Text("While they learned, MRR of some validation queries, by step:"),
        Table(("", *(f"{step:,}" for step in shown)), rows),
        Figure("Learning curves", "step", "MRR, some validation queries", drawn),
    ]


def _touching_table(results: list[Result]) -> Table:
    rows = []
    for result in results:
        parts = (result["entity_targets"][part] for part in ("touching_numbers", "without_numbers"))
        rows.append([name_of(result), *(f"{part['mrr']:.2f} ({part['queries']:,} queries)" for part in parts)])
    return Table(("MRR", "touching a number", "without"), rows)


def _number_table(results: list[Result]) -> Table:
    rows = []
    for result in results:
        metrics = result["number_targets"]["all"]
        rows.append([name_of(result), *(f"{metrics[metric]:.2f}" for metric in HITS), f"{metrics['queries']:,}"])
    return Table(("", "MRR", "H@1", "H@3", "H@10", "queries"), rows)


def _by_specific_type(results: list[Result]) -> Table:
    tables = [result["entity_targets"]["by_specific_type"] for result in results]
    queries = {kind: metrics["queries"] for table in tables for kind, metrics in table.items()}
    rows = [
        [f"`{kind}`", f"{count:,}", *(f"{table[kind]['mrr']:.2f}" if kind in table else "" for table in tables)]
        for kind, count in queries.items()
    ]
    return Table(("", "queries", *map(name_of, results)), rows)


def _by_unit(results: list[Result]) -> list[Block]:
    by_model = {name_of(result): result["number_targets"].get("by_unit") or {} for result in results}
    units = sorted({unit for table in by_model.values() for unit in table})
    if not units:
        return []
    rows = [
        [name, *(f"{table[unit]['mrr']:.2f}" if unit in table else "" for unit in units)]
        for name, table in by_model.items()
        if table
    ]
    curves = {name: [(unit, table[unit]["mrr"]) for unit in units if unit in table] for name, table in by_model.items()}
    errors = {name_of(result): result["number_targets"]["absolute_error_of_the_best_value"] for result in results}
    medians = [
        [name, *(f"{table[unit]['median']:,.1f}" if unit in table else "" for unit in units)]
        for name, table in errors.items()
    ]
    return [
        Text("MRR of queries for numbers, by what is measured:"),
        Table(("", *units), rows),
        Figure("Queries for numbers, by unit", "", "MRR", {name: points for name, points in curves.items() if points}),
        Text("How far the best value of that unit is from the nearest hard answer, the median over such queries:"),
        Table(("", *units), medians),
    ]


def _by_answers(results: list[Result]) -> list[Block]:
    by_model = {name_of(result): result.get("mrr_by_answers") or [] for result in results}
    by_model = {name: bins for name, bins in by_model.items() if bins}
    if not by_model:
        return []
    starts = sorted({(bin_["from"], bin_["to"]) for bins in by_model.values() for bin_ in bins})
    rows = []
    for name, bins in by_model.items():
        by_start = {(bin_["from"], bin_["to"]): bin_["mrr"] for bin_ in bins}
        rows.append([name, *(f"{by_start[bounds]:.2f}" if bounds in by_start else "" for bounds in starts)])
    titles = [f"{low:,}" if low == high else f"{low:,} to {high:,}" for low, high in starts]
    curves = {name: [(bin_["from"], bin_["mrr"]) for bin_ in bins] for name, bins in by_model.items()}
    return [
        Text("MRR of queries for entities, by how many answers they have:"),
        Table(("answers", *titles), rows),
        Figure("MRR by the number of answers", "answers", "MRR", curves, log_x=True),
    ]
