"""Reproducing: plans, runs in processes of their own, results that are not computed twice."""

import json

import pytest

from kgreckon.benchmark import Benchmark, BuildSettings, build
from kgreckon.errors import UserError
from kgreckon.reproducing import Plan, Progress, plans_for, reproduce, result_of
from random_graph import random_graph

FEW = {"device": "cpu", "validation_queries": 3}
GQE = Plan("gqe-baseline", {"model": "gqe", "numbers": "baseline", "dimension": 8, "batch_size": 32, "steps": 4, **FEW})
RECKONER = Plan("reckoner", {"model": "reckoner", "rank": 4, "epochs": 2, "batch_size": 64, "heads": 8, **FEW})


@pytest.fixture(scope="module")
def small(tmp_path_factory) -> Benchmark:
    graph = random_graph()
    return build(graph, tmp_path_factory.mktemp("small") / "b", BuildSettings.choose(graph, queries=60))


class Told(Progress):
    def __init__(self):
        self.lines = []

    def started(self, plan):
        self.lines.append(f"started {plan.name}")

    def finished(self, plan, mrr):
        self.lines.append(f"finished {plan.name}")

    def stopped(self, plan):
        self.lines.append(f"stopped {plan.name}")


def test_all_models_of_the_paper_and_the_reckoner_are_planned():
    names = [plan.name for plan in plans_for("db15k")]
    assert len(names) == len(set(names)) == 10 and names[0] == "reckoner"
    assert [plan.name for plan in plans_for("db15k", ["gqe-dice", "reckoner"])] == ["reckoner", "gqe-dice"]
    assert len(plans_for("db15k", ["query2box"])) == 3
    with pytest.raises(UserError, match="gqe-dice"):
        plans_for("db15k", ["gqe-dise"])


def test_runs_are_taken_side_by_side_and_only_once(small, tmp_path):
    told = Told()
    found = reproduce(small, tmp_path, [GQE, RECKONER], parallel=2, progress=told)
    assert told.lines[:2] == ["started gqe-baseline", "started reckoner"]
    assert sorted(told.lines[2:]) == ["finished gqe-baseline", "finished reckoner"]
    assert [path.stem for path in found] == ["gqe-baseline", "reckoner"]
    written = [json.loads(path.read_text()) for path in found]
    assert written[0] == result_of(tmp_path / "runs" / "gqe-baseline")
    assert all(each["train_seconds"] > 0 and each["device_name"] == "CPU" and each["records"] for each in written)
    assert "calibration" in written[1]
    again = Told()
    assert reproduce(small, tmp_path, [GQE, RECKONER], progress=again) == found
    assert again.lines == []


def test_a_spent_budget_stops_what_is_going_and_it_goes_on_later(small, tmp_path):
    long = Plan("gqe-baseline", {**GQE.settings, "steps": 400, "checkpoint_every": 50, "validate_every": 0})
    told = Told()
    assert reproduce(small, tmp_path, [long, RECKONER], budget=0.0, progress=told) == []
    assert told.lines == []
    told = Told()
    reproduce(small, tmp_path, [long], budget=0.5, progress=told)
    assert told.lines[0] == "started gqe-baseline"
    found = reproduce(small, tmp_path, [long])
    assert json.loads(found[0].read_text())["entity_targets"]["all"]["queries"] > 0


def test_a_run_that_fails_is_named_and_leaves_the_others_alone(small, tmp_path):
    broken = Plan("broken", {"model": "gqe", "steps": 0})
    with pytest.raises(UserError, match="broken"):
        reproduce(small, tmp_path, [broken, RECKONER], parallel=2)
    assert "steps must be at least 1" in (tmp_path / "logs" / "broken.txt").read_text()
    assert (tmp_path / "results" / "reckoner.json").is_file()
