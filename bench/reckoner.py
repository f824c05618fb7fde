"""What each part of a trained reckoner is worth, where its errors are, and how fast it is.

    python bench/reckoner.py RUN [--queries 500] [--json FILE]
    python bench/reckoner.py RUN --one-by-one [--queries 50] [--device cpu]

On testing queries, so many of each type: the run as it is, with one part changed, and with all relations or all values
of the testing graph given; the reciprocal rank of hard answers by how many facts of their shortest proof the training
graph lacks; and the error of predicted values by attribute, on the testing facts, with the coverage of their 90 %
intervals. The peak memory is that of loading the run and answering with it as it is: the GPU's, or the process's on a
CPU. With --one-by-one, nothing but the time that a question takes on its own, by type, after two of each shape to warm
up; the time of the first question about each of some relations; and the peak memory.
"""

from __future__ import annotations

import argparse
import json
import resource
from dataclasses import replace
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
import torch
from rich.console import Console
from torch import Tensor

from kgreckon.benchmark import Benchmark, Split
from kgreckon.cli.console import print_table
from kgreckon.evaluation import EvaluationQueries, evaluate_scores, filtered_ranks
from kgreckon.models.devices import device_for
from kgreckon.models.reckoner import (
    Calibration,
    CertainFacts,
    FuzzySemantics,
    Inference,
    ObservedFacts,
    PredictedFacts,
    Reckoner,
)
from kgreckon.models.reckoner.evidence import Evidence
from kgreckon.models.reckoner.existence import Expectations
from kgreckon.models.reckoner.fuzzy import ALL, FuzzyNumbers, FuzzySet
from kgreckon.models.reckoner.observed import ragged_ranges
from kgreckon.models.reckoner.reckoner_model import ReckonerModel
from kgreckon.models.scoring import inner_products
from kgreckon.query import Batch, interpret
from kgreckon.runs import Run

SHARE = 0.01  # what a missing fact counts, when facts are counted


class MissingFacts(FuzzySemantics):
    """Facts of the training graph are certain, those that only the testing graph has count SHARE each.

    Numerical edges are not counted.
    """

    def __init__(self, observed: ObservedFacts, complete: ObservedFacts, inference: Inference) -> None:
        super().__init__(CertainFacts(replace(observed, compared=complete.compared)), inference)
        self.complete = complete

    def follow(self, relations: Tensor, of: FuzzySet) -> Tensor:
        """Stated facts, or missing ones."""
        assert isinstance(of, Tensor)
        return torch.maximum(super().follow(relations, of), SHARE * self.complete.relations.best(relations.long(), of))

    def value_of(self, attributes: Tensor, of: FuzzySet) -> FuzzyNumbers:
        """Stated values, or missing ones."""
        assert isinstance(of, Tensor)
        stated = super().value_of(attributes, of)
        missing = SHARE * self.complete.values.best(attributes.long(), of)
        return FuzzyNumbers(torch.maximum(stated.likely, missing), stated.units)

    def having_value(self, attributes: Tensor, of: FuzzySet) -> Tensor:
        """Stated values, or missing ones."""
        assert isinstance(of, FuzzyNumbers)
        missing = SHARE * self.complete.having.best(attributes.long(), of.likely)
        return torch.maximum(super().having_value(attributes, of), missing)


class LinksAlone:
    """The link predictor and nothing else (FactModel): a softmax over tails, times how many tails are stated.

    With the maximum over heads and the product of parts this is what answers queries by a link predictor alone
    (QTO, Bai et al., 2023).
    """

    edge_probability = 0.0

    def __init__(self, facts: PredictedFacts) -> None:
        self.facts, self.observed = facts, facts.observed

    @torch.no_grad()
    def tails(self, heads: Tensor, relations: Tensor, to: slice = ALL) -> Tensor:  # (q, k), (q,) -> (q, k, n)
        """The share of the softmax that each tail has, for as many tails as are stated, at most 1."""
        scorer, count = self.facts.scorer, heads.shape[1]
        labels = relations.repeat_interleave(count)
        asked = scorer.of_tail(scorer.nodes[heads.flatten()], scorer.labels[labels])
        shares = inner_products(asked, scorer.nodes[: self.facts.labels.entities]).softmax(dim=1)
        stated, _ = ragged_ranges(*self.observed.relations.groups(labels, heads.flatten()))
        shares *= torch.bincount(stated, minlength=len(labels)).clamp(min=1)[:, None]
        return shares.clamp_(max=1.0).view(*heads.shape, -1)[:, :, to]

    def support(self, head: int, relation: int, tail: int) -> None:
        """Nothing is said for it."""

    def missing(self, attribute: int) -> None:
        """No values are predicted."""


def variants(reckoner: Reckoner) -> dict[str, Reckoner]:
    """The run as it is, and with one part changed."""
    facts, inference = reckoner.facts, reckoner.inference
    assert isinstance(facts, PredictedFacts)
    fitted = facts.calibration

    def calibrated(**changes: Any) -> Reckoner:
        return Reckoner(facts.recalibrated(replace(fitted, **changes)), inference)

    observed, scorer, expectations = facts.observed, facts.scorer, facts.expectations
    no_values = PredictedFacts(observed, scorer, expectations, (), fitted, facts.evidence)
    no_links: Any = facts.recalibrated(fitted)  # with its method replaced
    no_links.tails = lambda *_: None
    several = PredictedFacts(observed, scorer, expectations, facts.attributes, fitted, facts.evidence, False)
    rules = {
        "without rules": calibrated(rules=0.0, more_rules=0.0),
        "only the best rule": calibrated(more_rules=0.0),
    }
    return {
        "as trained": reckoner,
        **(rules if len(facts.evidence) else {}),
        "links alone, by a softmax": Reckoner(LinksAlone(facts), inference),
        "no predicted values": Reckoner(no_values, inference),
        "no predicted relations": Reckoner(no_links, inference),
        "weights of the defaults": Reckoner(facts.recalibrated(Calibration()), inference),
        "both ends alike": calibrated(as_stated=0.0, by_arity=0.0),
        "maximum instead of expectation": Reckoner(facts, replace(inference, expectation=False)),
        "without the one-valued rule": Reckoner(several, inference),
        "without the regression": calibrated(value_regression=0.0, value_link=max(fitted.value_link, 0.7)),
        "only the regression": calibrated(value_link=0.0, value_back=0.0, value_regression=1.0),
        "64 heads": Reckoner(facts, replace(inference, heads=64)),
        "16 heads": Reckoner(facts, replace(inference, heads=16)),
    }


def with_knowledge(reckoner: Reckoner, benchmark: Benchmark) -> dict[str, Reckoner]:
    """The run that need not predict relations, or values, since the testing graph's are given: where the loss sits."""
    facts, training, testing = reckoner.facts, benchmark.graphs.at(Split.TRAIN), benchmark.graphs.at(Split.TEST)
    assert isinstance(facts, PredictedFacts)

    def knowing(**given: Any) -> Reckoner:
        graph = replace(training, **given)
        expectations = Expectations(graph, facts.expectations.stated_share, facts.calibration.existence)
        parts = facts.scorer, expectations, facts.attributes, facts.calibration
        observed = ObservedFacts.of(graph, facts.observed.device)
        return Reckoner(PredictedFacts(observed, *parts, Evidence(graph, facts.evidence.rules)), reckoner.inference)

    return {
        "all relations known": knowing(facts=testing.facts),
        "all values known": knowing(attribute_facts=testing.attribute_facts),
    }


def by_missing_facts(reckoner: Reckoner, benchmark: Benchmark, queries: EvaluationQueries) -> dict[int, list[float]]:
    """Reciprocal ranks of hard answers, by the missing facts of their shortest proof."""
    observed = reckoner.facts.observed
    complete = ObservedFacts.of(benchmark.graphs.at(Split.TEST), observed.device)
    counting = MissingFacts(observed, complete, reckoner.inference)
    found: dict[int, list[float]] = {}
    for own in queries.sets:
        if own.shape.denotes_numbers:
            continue
        for first in range(0, len(own), 64):
            last = min(first + 64, len(own))
            batch = Batch(own.shape, own.ids[first:last])
            easy, hard = own.answers(first, last)
            ranks = 1 / filtered_ranks(reckoner.answer(batch), easy, hard).realistic
            proofs: FuzzySet = interpret(batch, counting, stacking=counting)
            assert isinstance(proofs, Tensor)
            counts = (proofs[hard.query, hard.item].log() / np.log(SHARE)).round()
            for count, rank in zip(counts.tolist(), ranks.tolist(), strict=True):
                found.setdefault(int(min(count, 9)), []).append(rank)
    return dict(sorted(found.items()))


def value_errors(reckoner: Reckoner, benchmark: Benchmark) -> list[dict[str, Any]]:
    """For each attribute, the error of the median on testing facts, and how often the 90 % interval holds the value."""
    assert isinstance(reckoner.facts, PredictedFacts)
    graph, facts = benchmark.graph, benchmark.graph.attribute_facts
    splits = benchmark.graphs.attribute_fact_splits
    rows = []
    for attribute, model in enumerate(reckoner.facts.attributes):
        own = (facts.labels == attribute) & (splits == Split.TEST)
        known = graph.values.numbers[facts.targets[(facts.labels == attribute) & (splits == Split.TRAIN)]]
        if not own.any() or not len(known):
            continue
        entities, values = facts.sources[own], graph.values.numbers[facts.targets[own]]
        error = np.abs(model.quantile(entities, 0.5) - values)
        low, high = model.quantile(entities, 0.05), model.quantile(entities, 0.95)
        rows.append(
            {
                "attribute": str(graph.attributes.names[attribute]),
                "facts": int(own.sum()),
                "mean_error": float(error.mean()),
                "median_error": float(np.median(error)),
                "mean_error_of_the_training_median": float(np.abs(np.median(known) - values).mean()),
                "coverage": float(((values >= low) & (values <= high)).mean()),
            }
        )
    return rows


def one_by_one(reckoner: Reckoner, queries: EvaluationQueries) -> list[tuple[Any, ...]]:
    """For each type, how many questions were asked one at a time, and the median, 95 % and longest time in seconds."""
    times: dict[str, list[float]] = {}
    for own in queries.sets:
        batches = [Batch(own.shape, own.ids[row : row + 1]) for row in range(len(own))]
        for batch in batches[:2]:
            reckoner.answer(batch)
        for batch in batches:
            start = perf_counter()
            reckoner.answer(batch).max().item()
            times.setdefault(own.type, []).append(perf_counter() - start)
    return [
        (name, len(own), *(round(float(np.quantile(own, share)), 4) for share in (0.5, 0.95, 1.0)))
        for name, own in [*times.items(), ("all", [time for own in times.values() for time in own])]
    ]


def first_questions(facts: PredictedFacts, count: int) -> tuple[Any, ...]:
    """The same for the tails of one fact, where nothing was asked about its relation before."""
    facts.expectations = facts.expectations.reweighed(facts.calibration.existence)
    facts, times = facts.recalibrated(facts.calibration), []
    stated = facts.observed.graph.facts
    relations, rows = np.unique(stated.labels, return_index=True)
    for place in np.random.default_rng(0).permutation(len(relations))[:count].tolist():
        head, relation = (torch.tensor([each], device=facts.observed.device)
                          for each in (int(stated.sources[rows[place]]), 2 * int(relations[place])))  # fmt: skip
        start = perf_counter()
        facts.tails(head[None], relation).max().item()
        times.append(perf_counter() - start)
    return (
        "first of a relation",
        len(times),
        *(round(float(np.quantile(times, share)), 4) for share in (0.5, 0.95, 1.0)),
    )


def peak_memory(device: torch.device) -> float:
    """The most memory that was in use so far, in GiB."""
    if device.type == "cuda":
        return torch.cuda.max_memory_allocated(device) / 2**30
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20


def main() -> None:
    """Measure the run named on the command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("run")
    parser.add_argument("--queries", type=int, default=500)
    parser.add_argument("--device", default="auto")
    parser.add_argument("--json", default=None)
    parser.add_argument("--one-by-one", action="store_true")
    arguments = parser.parse_args()
    out = Console(width=150, highlight=False)
    device = device_for(arguments.device)
    torch.set_float32_matmul_precision("high" if device.type == "cuda" else "highest")
    run = Run.open(arguments.run)
    benchmark = run.benchmark()
    model = run.load(device=arguments.device)
    if not isinstance(model, ReckonerModel):
        parser.error(f"{arguments.run} is a run of {model.name}, not of a reckoner")
    reckoner = model.reckoner
    queries = EvaluationQueries.load(benchmark, Split.TEST, device, arguments.queries)
    if arguments.one_by_one:
        columns: tuple[str, ...] = ("type", "questions", "median, s", "95 %, s", "longest, s")
        title = f"Testing questions one by one, {device}, {torch.get_num_threads()} threads"
        assert isinstance(reckoner.facts, PredictedFacts)
        first = first_questions(reckoner.facts, arguments.queries)
        print_table(out, title, columns, [*one_by_one(reckoner, queries), first])
        out.print(f"peak memory: {peak_memory(device):.2f} GiB")
        return
    rows, by_type, peak = [], [], 0.0
    for name, variant in (variants(reckoner) | with_knowledge(reckoner, benchmark)).items():
        found = evaluate_scores(variant.answer, queries, at_once=model.queries_at_once)
        peak = peak or peak_memory(device)
        table = found.result().entity_targets
        by_type.append({kind: row.mrr for kind, row in table.by_type.items() if row is not None})
        apart = [0.0 if part is None else part.mrr for part in (table.without_numbers, table.touching_numbers)]
        rows.append(
            (
                name,
                round(found.mean_over_types(), 2),
                *(round(each, 2) for each in apart),
                round(len(queries) / found.seconds),
            )
        )
    columns = ("variant", "mean MRR over types", "without numbers", "touching numbers", "queries/s")
    print_table(out, f"{len(queries):,} testing queries, {device}", columns, rows)
    out.print(f"peak memory, as trained: {peak:.2f} GiB")
    few = EvaluationQueries.load(benchmark, Split.TEST, device, max(1, arguments.queries // 4))
    missing = by_missing_facts(reckoner, benchmark, few)
    counts = [(count, len(ranks), round(100 * float(np.mean(ranks)), 2)) for count, ranks in missing.items()]
    print_table(
        out, "Hard answers by missing facts", ("missing facts", "hard answers", "mean reciprocal rank, %"), counts
    )
    errors = value_errors(reckoner, benchmark)
    if errors:
        print_table(out, "Predicted values", tuple(errors[0]), [tuple(row.values()) for row in errors])
    if arguments.json:
        names = ("variant", "mrr", "without_numbers", "touching_numbers", "queries_per_second")
        result = {
            "ablation": [
                {**dict(zip(names, row, strict=True)), "by_type": kinds}
                for row, kinds in zip(rows, by_type, strict=True)
            ],
            "by_missing_facts": [dict(zip(("missing", "answers", "mrr"), row, strict=True)) for row in counts],
            "values": errors,
            "peak_gib": round(peak, 2),
        }
        Path(arguments.json).write_text(json.dumps(result, indent=1), encoding="utf-8")


if __name__ == "__main__":
    main()
