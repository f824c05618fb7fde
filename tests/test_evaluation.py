"""Ranks and metrics: against a naive loop, with ties and filters."""

import math
from dataclasses import replace
from unittest import mock

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from kgreckon.benchmark import BuildSettings, Split, build
from kgreckon.errors import UserError
from kgreckon.evaluation import (
    AnswerPairs,
    EvaluationQueries,
    EvaluationResult,
    QueryScores,
    evaluate_scores,
    filtered_ranks,
    ranking,
    summarise,
)
from kgreckon.query import NAMED_TYPES
from random_graph import random_graph


def naive_ranks(scores, easy, hard):
    """For each query and hard answer: how many candidates that are not answers score higher, and how many equal."""
    found = []
    for query, (row, known, wanted) in enumerate(zip(scores, easy, hard, strict=True)):
        others = [score for place, score in enumerate(row) if place not in known and place not in wanted]
        for answer in wanted:
            above = sum(score > row[answer] for score in others)
            equal = sum(score == row[answer] for score in others)
            found.append((query, 1 + above, 1 + above + equal))
    return found


@st.composite
def problems(draw):
    candidates, queries = draw(st.integers(2, 8)), draw(st.integers(1, 5))
    score = st.sampled_from([-1.0, 0.0, 0.5, 2.0])  # few values, so that there are ties
    scores = draw(
        st.lists(st.lists(score, min_size=candidates, max_size=candidates), min_size=queries, max_size=queries)
    )
    easy, hard = [], []
    for _ in range(queries):
        places = draw(st.permutations(range(candidates)))
        split = draw(st.integers(1, candidates))
        count = draw(st.integers(1, split))
        hard.append(sorted(places[:count]))
        easy.append(sorted(places[count:split]))
    return scores, easy, hard


def pairs(answers):
    items = torch.tensor([item for items in answers for item in items], dtype=torch.int32)
    return AnswerPairs.of(items, np.array([len(items) for items in answers], dtype=np.int64))


def ranked(scores, easy, hard):
    return filtered_ranks(torch.tensor(scores), pairs(easy), pairs(hard))


@given(problems(), st.sampled_from([0, 1, 3, 16]))
def test_ranks_equal_a_naive_loop(problem, few):
    """Whether scores are sorted, or gone through for each answer of a query with few of them."""
    with mock.patch.object(ranking, "_FEW", few):
        ranks = ranked(*problem)
    found = list(zip(ranks.answers.query.tolist(), ranks.best.tolist(), ranks.worst.tolist(), strict=True))
    assert found == naive_ranks(*problem)


@given(problems())
def test_metrics_are_means_over_answers_then_over_queries(problem):
    ranks = ranked(*problem)
    queries = len(problem[0])
    metrics = summarise(QueryScores.from_ranks(ranks))
    by_query: list[list[float]] = [[] for _ in range(queries)]
    for query, best, worst in naive_ranks(*problem):
        by_query[query].append((best + worst) / 2)
    mrr = sum(sum(1 / rank for rank in own) / len(own) for own in by_query) / queries
    hits = sum(sum(rank <= 3 for rank in own) / len(own) for own in by_query) / queries
    assert metrics.mrr == pytest.approx(100 * mrr, rel=1e-5)
    assert metrics.hits_at_3 == pytest.approx(100 * hits, rel=1e-5)
    assert metrics.optimistic_mrr >= metrics.mrr - 1e-6


def test_equal_scores_are_worth_the_middle_and_not_the_top():
    ranks = ranked([[0.0] * 100], [[]], [[3]])
    assert ranks.best.item() == 1 and ranks.worst.item() == 100 and ranks.realistic.item() == 50.5


def test_random_scores_give_the_expected_mrr():
    """With n other candidates, the mean reciprocal rank of a random score is H(n + 1) / (n + 1)."""
    generator = torch.Generator().manual_seed(0)
    queries, candidates = 20_000, 50
    scores = torch.rand(queries, candidates, generator=generator)
    one, none = np.ones(queries, dtype=np.int64), np.zeros(queries, dtype=np.int64)
    answer = torch.randint(candidates, (queries,), generator=generator)
    ranks = filtered_ranks(scores, AnswerPairs.of(answer[:0], none), AnswerPairs.of(answer, one))
    metrics = summarise(QueryScores.from_ranks(ranks))
    expected = sum(1 / rank for rank in range(1, candidates + 1)) / candidates
    assert metrics.mrr == pytest.approx(100 * expected, rel=0.03)
    assert metrics.hits_at_10 == pytest.approx(100 * 10 / candidates, rel=0.03)
    assert math.isclose(metrics.mrr, metrics.optimistic_mrr, rel_tol=1e-6)


@pytest.fixture(scope="module")
def small(tmp_path_factory):
    graph = random_graph()
    return build(graph, tmp_path_factory.mktemp("small") / "b", BuildSettings.choose(graph, queries=60))


def table_of_random_scores(benchmark, rivals=None):
    """What random scores reach; `rivals` makes scores for the values, which are ranked among the entities."""
    queries = EvaluationQueries.load(benchmark, Split.TEST, torch.device("cpu"))
    entities, values = len(benchmark.graph.entities), len(benchmark.graph.values)
    generator = torch.Generator().manual_seed(0)

    def score(batch):
        of_numbers = batch.shape.denotes_numbers
        own = torch.rand(len(batch), values if of_numbers else entities, generator=generator)
        return own if of_numbers or rivals is None else torch.cat([own, rivals(len(batch), values)], dim=1)

    return evaluate_scores(score, queries).result().as_json()


@pytest.fixture(scope="module")
def table(small):
    return table_of_random_scores(small)


def test_answers_are_ranked_among_values_too_where_these_have_scores(small, table):
    """Beside the ranks among entities, which are the same as without: values below, above, and among them."""
    generator = torch.Generator().manual_seed(1)
    entities, values = len(small.graph.entities), len(small.graph.values)
    rivals = {"below": -torch.ones(1), "above": 2 * torch.ones(1)}
    found = {
        name: table_of_random_scores(small, lambda b, v, own=own: own.expand(b, v)) for name, own in rivals.items()
    }
    found["among"] = table_of_random_scores(small, lambda b, v: torch.rand(b, v, generator=generator))
    for each in found.values():
        for part in ("entity_targets", "number_targets"):
            assert each[part] == table[part]
    among = {name: each["entity_targets_among_values"] for name, each in found.items()}
    assert among["below"] == table["entity_targets"]
    assert among["above"]["all"]["hits_at_10"] == 0 < among["above"]["all"]["mrr"] < 100 / values
    expected = sum(1 / rank for rank in range(1, entities + values + 1)) / (entities + values)
    assert among["among"]["all"]["mrr"] == pytest.approx(100 * expected, rel=0.25)
    assert table["entity_targets_among_values"] is None


def test_tables_by_answers_and_by_unit_hold_every_query(table):
    entities, numbers = table["entity_targets"]["all"], table["number_targets"]["all"]
    rows = table["mrr_by_answers"]
    assert sum(row["queries"] for row in rows) == entities["queries"]
    assert sum(row["queries"] * row["mrr"] for row in rows) / entities["queries"] == pytest.approx(entities["mrr"])
    units = table["number_targets"]["by_unit"]
    assert set(units) == {"metres", "years"}
    assert sum(each["queries"] for each in units.values()) == numbers["queries"]


def test_the_mean_over_types_counts_each_type_once_and_negation_apart(tmp_path):
    graph = random_graph()
    types = {name: NAMED_TYPES[name] for name in ("1p", "3p", "2in", "pni")}
    counts = {split: {"1p": 400, "3p": 20, "2in": 300, "pni": 40} for split in Split}
    made = build(graph, tmp_path / "b", replace(BuildSettings.choose(graph, types), counts=counts))
    queries = EvaluationQueries.load(made, Split.TEST, torch.device("cpu"))
    generator = torch.Generator().manual_seed(0)
    sizes = {False: len(graph.entities), True: len(graph.values)}
    evaluation = evaluate_scores(
        lambda batch: torch.rand(len(batch), sizes[batch.shape.denotes_numbers], generator=generator), queries
    )
    table = evaluation.result().entity_targets
    assert table.types_without_negation is not None and table.types_with_negation is not None
    for mean, names in ((table.types_without_negation, ("1p", "3p")), (table.types_with_negation, ("2in", "pni"))):
        one, other = (table.by_type[name] for name in names)
        assert one is not None and other is not None and one.queries != other.queries
        assert mean.mrr == pytest.approx((one.mrr + other.mrr) / 2)
        assert mean.hits_at_10 == pytest.approx((one.hits_at_10 + other.hits_at_10) / 2)
        assert mean.queries == one.queries + other.queries


def test_a_result_is_what_was_kept_of_it_and_has_a_row_for_each_line_of_its_tables(table):
    result = EvaluationResult.from_json(table)
    assert result.as_json() == table
    rows = {(row["target"], row["queries of"]): row["queries"] for row in result.records()}
    assert result.entity_targets_among_values is None
    for target in ("entity_targets", "number_targets"):
        assert rows[target, "all"] == table[target]["all"]["queries"]
        assert rows[target, "all"] == sum(rows[target, name] for name in table[target]["by_specific_type"])
    with pytest.raises(UserError, match="not the metrics of an evaluation"):
        EvaluationResult.from_json({"split": "test"})
