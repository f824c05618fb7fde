"""A fourth model is one file and one registration: from training to the page nothing else is written for it."""

import json
import shutil

import numpy as np
import pytest
from starlette.testclient import TestClient

import kgreckon as kg
from kgreckon.models.registry import families
from kgreckon.server import Gate, Limits, application, open_service
from popular_model import PopularModel, register
from random_graph import random_graph
from test_cli import kgreckon as program  # noqa: F401  # a fixture

QUESTION = "(rp,(r0),(e,(e1)))"


@pytest.fixture(scope="module", autouse=True)
def registered():
    register()


@pytest.fixture(scope="module")
def run(tmp_path_factory, registered):
    folder = tmp_path_factory.mktemp("fourth")
    benchmark = kg.build(random_graph(), folder / "b", types=["1p", "2i"], queries=40)
    return kg.train(benchmark, "popular", out=folder / "r", preset="flat")


def test_it_is_trained_with_settings_of_its_own(run):
    assert "popular" in families() and run.settings.model_dump()["power"] == 0.5
    assert kg.Run.open(run.folder).settings == run.settings
    with pytest.raises(kg.UserError, match="did you mean 'power'"):
        kg.train(run.benchmark_place, "popular", out=run.folder / "x", powr=2)
    with pytest.raises(kg.UserError, match="power must be above 0"):
        kg.train(run.benchmark_place, "popular", out=run.folder / "x", power=-1)


def test_it_moves_with_its_benchmark(run, tmp_path):
    moved = shutil.copytree(run.folder.parent, tmp_path / "elsewhere")
    assert str(run.folder.parent) not in (moved / "r" / "run.json").read_text(encoding="utf-8")
    assert kg.Run.open(moved / "r").benchmark().folder == (moved / "b").resolve()
    assert kg.load(moved / "r", device="cpu").ask(QUESTION, limit=3)
    shutil.move(moved / "b", tmp_path / "b")
    with pytest.raises(kg.UserError, match="if the benchmark has moved, give --benchmark FOLDER"):
        kg.load(moved / "r", device="cpu")
    assert kg.load(moved / "r", tmp_path / "b", device="cpu").ask(QUESTION, limit=3)


def test_it_is_evaluated(run):
    result = run.evaluate()
    assert result.entity_targets.all is not None and 0 < result.entity_targets.all.mrr < 100
    assert set(result.entity_targets.by_type) == {"1p", "2i"}


def test_it_is_asked_and_what_is_proved_comes_first(run):
    answerer = kg.load(run.folder, device="cpu")
    assert isinstance(answerer.model, PopularModel)
    answers = answerer.ask(QUESTION, limit=1000, explain=True)
    observed = [answer.observed for answer in answers]
    assert observed == sorted(observed, reverse=True) and 0 < sum(observed) < len(observed)
    inferred = [answer.score for answer in answers if not answer.observed]
    assert inferred == sorted(inferred, reverse=True) and np.isclose(sum(answer.score for answer in answers), 1)
    assert all(answer.reason is not None and answer.reason.statements for answer in answers)
    with pytest.raises(kg.UserError, match="predicts no numbers"):
        answerer.predict("e1", "height")


def test_it_is_used_from_the_command_line(run, program, tmp_path):  # noqa: F811
    benchmark = run.benchmark_place
    assert "power" in program("train", "--help-settings", "popular").out
    assert program("train", benchmark, "--model", "popular", "--set", "power=2", "--out", "r").code == 0
    assert program("evaluate", "r").code == 0
    shown = json.loads(program("ask", "r", QUESTION, "--json").out)
    assert shown["calibration"] == "share" and len(shown["answers"]) == 20
    assert program("compare", "r", run.folder).code == 0


def test_it_is_served_with_the_page(run):
    service = open_service(run.folder, Limits())
    client = TestClient(application(service, Gate(Limits())))
    assert client.get("/").status_code == 200
    about = client.get("/api/info").json()
    assert about["model"] == {"name": "popular", "calibration": "share", "any_comparison": True}
    found = client.post("/api/ask", json={"query": QUESTION, "explain": True}).json()
    assert found["answers"] and all(answer["reason"]["statements"] for answer in found["answers"])
    rows = client.get("/sparql", params={"query": "SELECT ?x ?score { :e1 :r0 ?x }"}, headers={"Accept": "text/csv"})
    assert len(rows.text.splitlines()) > 2
