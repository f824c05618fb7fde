"""Probabilities that are shown: their reliability is counted as it is, and maps of answers keep the order."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from kgreckon.benchmark import BuildSettings, Split, build
from kgreckon.evaluation import EvaluationQueries, ReliabilityMeter, ReliabilityRow, evaluate_scores, expected_error
from kgreckon.exact import answer
from kgreckon.models.reckoner.answer_maps import AnswerMaps, AnswerSample, is_one_fact
from kgreckon.query import Batch, Shape
from random_graph import random_graph

CPU = torch.device("cpu")
TWO_STEPS = Shape.parse("(rp,(rp,(e)))")


@pytest.fixture(scope="module")
def small(tmp_path_factory):
    graph = random_graph()
    return build(graph, tmp_path_factory.mktemp("small") / "b", BuildSettings.choose(graph, queries=100))


def test_the_table_counts_what_is_true_among_what_the_known_graph_does_not_prove(small):
    """Against a plain count, candidate by candidate, over all types of a benchmark."""
    queries = EvaluationQueries.load(small, Split.TEST, CPU, 10)
    known, whole = small.graphs.at(Split.TRAIN), small.graphs.at(Split.TEST)

    def score(batch):
        ids = batch.ids.long()
        candidates = len(whole.values) if batch.shape.denotes_numbers else len(whole.entities)
        return ((ids.sum(dim=1)[:, None] * 37 + torch.arange(candidates) * 91) % 1000) / 1000

    meter = ReliabilityMeter(known, small.mode)
    evaluate_scores(score, queries, see=meter.see)
    plain: dict[tuple[str, int], list[tuple[float, bool]]] = {}
    for own in queries.sets:
        if own.shape.denotes_numbers:
            continue
        batch = Batch(own.shape, np.ascontiguousarray(own.ids.numpy()))
        proved, true = (answer(graph, batch, small.mode) for graph in (known, whole))
        for query, scores in enumerate(score(Batch(own.shape, own.ids)).tolist()):
            for place, probability in enumerate(scores):
                if probability >= 0.01 and place not in set(proved[query].tolist()):
                    pairs = plain.setdefault((own.type, min(int(probability * 10), 9)), [])
                    pairs.append((probability, place in set(true[query].tolist())))
    rows = meter.rows()
    assert rows and {(row.type, row.tenth) for row in rows} == plain.keys()
    for row in rows:
        pairs = plain[row.type, row.tenth]
        assert row.candidates == len(pairs)
        assert row.stated == pytest.approx(np.mean([probability for probability, _ in pairs]), abs=1e-5)
        assert row.true == pytest.approx(np.mean([right for _, right in pairs]), abs=1e-9)


def test_the_expected_error_weighs_tenths_by_their_candidates():
    rows = [ReliabilityRow("1p", 0, 30, 0.05, 0.05), ReliabilityRow("1p", 7, 10, 0.75, 0.35)]
    assert expected_error(rows) == pytest.approx(0.1)
    assert expected_error([]) is None


@given(st.lists(st.floats(0, 1, width=32), min_size=2, max_size=20), st.floats(-3, 3), st.floats(0.05, 4))
def test_a_map_keeps_the_order_and_what_is_certain(numbers, offset, slope):
    maps = AnswerMaps({"2p": (offset, slope)})
    scores = torch.tensor([sorted(numbers)])
    shown = maps.shown(TWO_STEPS, scores)[0]
    assert (shown.diff() >= 0).all() and ((shown >= 0) & (shown <= 1)).all()
    assert (shown[scores[0] == 0] == 0).all() and (shown[scores[0] == 1] == 1).all()
    again = AnswerMaps.from_json({**maps.as_json(), "checksum": "0"}).shown(TWO_STEPS, scores)[0]
    assert torch.equal(shown, again)


def test_one_fact_is_not_mapped_in_any_type():
    fact = Shape.parse("(rp,(e))")
    assert is_one_fact(fact) and not is_one_fact(TWO_STEPS)
    scores = torch.tensor([[0.3, 0.6]])
    assert torch.equal(AnswerMaps({"1p": (1.0, 2.0)}).shown(fact, scores), scores)


def test_a_map_that_falls_is_refused():
    with pytest.raises(ValueError, match="rise"):
        AnswerMaps.from_json({"2p": [0.0, -1.0]})


def test_maps_fit_scores_that_are_too_high_though_only_some_true_answers_are_known(small):
    """A query is there because of one hidden answer; of the others every second one is known."""
    queries = EvaluationQueries.load(small, Split.VALID, CPU)
    own = replace(queries.sets[0], type="2p", shape=TWO_STEPS)
    rng, candidates, count = np.random.default_rng(0), 60, 400
    sample, probabilities, right = AnswerSample(0.5, rng), [], []
    for _ in range(count):
        true_probability = rng.random(candidates) * 0.3
        true = rng.random(candidates) < true_probability
        if not true.any():
            continue
        because = rng.choice(np.flatnonzero(true))  # the hidden answer that the query was made from
        known = true & (rng.random(candidates) < 0.5)
        known[because] = True
        log_odds = np.log(true_probability / (1 - true_probability))
        scores = torch.from_numpy(1 / (1 + np.exp(-(log_odds + 2) / 1.5))).float()[None]
        hard = np.flatnonzero(known).astype(np.int32)
        nothing = np.zeros(2, dtype=np.int64), torch.zeros(0, dtype=torch.int32)
        answers = np.array([0, len(hard)]), torch.from_numpy(hard)
        one = replace(own, ids=own.ids[:1], offsets=(nothing[0], answers[0]), items=(nothing[1], answers[1]))
        sample.see(one, 0, 1, scores)
        probabilities.append(scores[0])
        right.append(true)
    shown = sample.fit().shown(TWO_STEPS, torch.stack(probabilities)).numpy()
    truth = np.stack(right)
    for low, high in ((0.05, 0.12), (0.12, 0.2), (0.2, 0.3)):
        inside = (shown >= low) & (shown < high)
        assert inside.sum() > 100
        assert truth[inside].mean() == pytest.approx(shown[inside].mean(), abs=0.06)
