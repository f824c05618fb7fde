"""Reproducing: plans, runs in processes of their own, results that are not computed twice."""

import json
import re
import subprocess
import sys
from copy import deepcopy
from time import sleep

import pytest

from kgreckon import __version__
from kgreckon.benchmark import Benchmark, BuildSettings, build
from kgreckon.cli.app import app
from kgreckon.errors import UserError
from kgreckon.exact import ComparisonMode
from kgreckon.files import read_json, write_json
from kgreckon.reproduce import (
    FailedRunsError,
    Plan,
    ReproductionProgress,
    html,
    markdown,
    plans_for,
    read_results,
    report,
    result_of,
    runs_at_a_time,
    take_runs,
    write_results,
)
from kgreckon.reproduce.layout import Figure, Heading, Table, Text
from kgreckon.reproduce.plots import svg
from kgreckon.reproduce.rows import made_on
from kgreckon.reproduce.training_report import sweep_blocks, sweep_overview
from kgreckon.runs import Run, resume
from made_up_results import made_up_result
from random_graph import random_graph

FEW = {"device": "cpu", "validation_queries": 3}
GQE = Plan(
    "gqe-baseline", {"model": "gqe", "encoding": "baseline", "dimension": 8, "batch_size": 32, "steps": 4, **FEW}
)
RECKONER = Plan("reckoner", {"model": "reckoner", "rank": 4, "epochs": 2, "batch_size": 64, "heads": 8, **FEW})


@pytest.fixture(scope="module")
def small(tmp_path_factory) -> Benchmark:
    graph = random_graph()
    return build(graph, tmp_path_factory.mktemp("small") / "b", BuildSettings.choose(graph, queries=60))


class Told(ReproductionProgress):
    def __init__(self):
        self.lines = []

    def started(self, plan):
        self.lines.append(f"started {plan.name}")

    def finished(self, plan, mrr):
        self.lines.append(f"finished {plan.name}")

    def stopped(self, plan):
        self.lines.append(f"stopped {plan.name}")


def wait_for(condition, seconds=90.0):
    for _ in range(int(seconds / 0.1)):
        if condition():
            return
        sleep(0.1)
    pytest.fail(f"not so after {seconds:g} s")


def made(benchmark):
    return {ComparisonMode.RELEASED: benchmark}


def test_all_models_of_the_paper_and_the_reckoner_are_planned():
    names = [plan.name for plan in plans_for("db15k")]
    assert len(names) == len(set(names)) == 10 and names[0] == "reckoner"
    assert [plan.name for plan in plans_for("db15k", ["gqe-dice", "reckoner"])] == ["reckoner", "gqe-dice"]
    assert len(plans_for("db15k", ["query2box"])) == 3
    with pytest.raises(UserError, match="gqe-dice"):
        plans_for("db15k", ["gqe-dise"])
    with pytest.raises(UserError, match="did you mean 'steps'"):
        plans_for("db15k", changes={"stepz": "3"})


def test_runs_are_taken_side_by_side_and_only_once(small, tmp_path):
    told = Told()
    found = take_runs(made(small), tmp_path, [GQE, RECKONER], parallel=2, progress=told)
    assert told.lines[:2] == ["started gqe-baseline", "started reckoner"]
    assert sorted(told.lines[2:]) == ["finished gqe-baseline", "finished reckoner"]
    assert [path.stem for path in found] == ["gqe-baseline", "reckoner"]
    written = [read_json(path) for path in found]
    own = {"name": "gqe-baseline", "variant": None, "comparisons": "released"}
    whole = {**own, **result_of(tmp_path / "runs" / "gqe-baseline")}
    assert whole["kgreckon"] == __version__ and made_on(whole).startswith("CPU, torch ")
    assert written[0] == whole
    assert all(each["train_seconds"] > 0 and each["device_name"] == "CPU" and each["records"] for each in written)
    assert "calibration" in written[1]
    assert all(line.keys() == {"step", "validation_mrr"} for each in written for line in each["records"])
    made_up = made_up_result("db15k", "gqe-baseline", 13.5)
    assert made_up.keys() <= written[0].keys()
    for part in ("entity_targets", "number_targets"):
        assert made_up[part].keys() == written[0][part].keys()
    again = Told()
    assert take_runs(made(small), tmp_path, [GQE, RECKONER], progress=again) == found
    assert again.lines == []


def test_a_spent_budget_stops_what_is_going_and_it_goes_on_later(small, tmp_path):
    long = Plan("gqe-baseline", {**GQE.settings, "steps": 10**7, "checkpoint_every": 50, "validate_every": 0})
    told = Told()
    assert take_runs(made(small), tmp_path, [long, RECKONER], budget=0.0, progress=told) == []
    assert told.lines == []
    run, told = tmp_path / "runs" / "gqe-baseline", Told()
    for seconds in (8.0, 16.0, 32.0, 64.0):  # until a first checkpoint is there
        take_runs(made(small), tmp_path, [long], budget=seconds, progress=told)
        if (run / "last.safetensors").is_file():
            break
    assert told.lines[:2] == ["started gqe-baseline", "stopped gqe-baseline"]
    steps = [line["step"] for line in Run.open(run).files.records()]
    assert 0 < max(steps) < 10**7
    # Nearly there: the run goes on from its checkpoint, which is shown by how few steps are left to take.
    header = read_json(run / "run.json")
    header["settings"]["neural"]["steps"] = max(steps) + 100
    write_json(run / "run.json", header)
    with pytest.raises(UserError, match=f"other settings: steps is {max(steps) + 100} there and 10000000 here"):
        take_runs(made(small), tmp_path, [long])
    shorter = Plan(long.name, {**long.settings, "steps": max(steps) + 100})
    found = take_runs(made(small), tmp_path, [shorter])
    ended = json.loads(found[0].read_text())
    assert ended["entity_targets"]["all"]["queries"] > 0
    assert ended["settings"]["neural"]["steps"] == max(steps) + 100


def test_a_run_ends_with_the_reproduction_that_was_killed_and_is_nobody_elses_while_it_goes(small, tmp_path):
    settings = {**GQE.settings, "steps": 10**7, "checkpoint_every": 50, "validate_every": 0}
    script = """
import json, sys
from pathlib import Path
from time import sleep
from kgreckon.benchmark import Benchmark
from kgreckon.exact import ComparisonMode
from kgreckon.reproduce import Plan, take_runs
plan = Plan("gqe-baseline", json.loads(sys.argv[3]))
take_runs({ComparisonMode.RELEASED: Benchmark.open(sys.argv[1])}, Path(sys.argv[2]), [plan])
"""
    command = [sys.executable, "-c", script, str(small.folder), str(tmp_path), json.dumps(settings)]
    run, log = tmp_path / "runs" / "gqe-baseline", tmp_path / "logs" / "gqe-baseline.txt"
    with subprocess.Popen(command) as process:
        try:
            wait_for(lambda: (run / "last.safetensors").is_file())
            with pytest.raises(UserError, match="being written by another process"):
                resume(run)
        finally:
            process.kill()
    wait_for(lambda: "stopped" in log.read_text())
    steps = len(Run.open(run).files.records())
    sleep(1)
    assert len(Run.open(run).files.records()) == steps


def test_a_run_that_fails_is_named_and_leaves_the_others_alone(small, tmp_path):
    broken = Plan("broken", {"model": "gqe", "steps": 0})
    with pytest.raises(FailedRunsError, match="broken") as failure:
        take_runs(made(small), tmp_path, [broken, RECKONER], parallel=2)
    assert failure.value.results == [tmp_path / "results" / "reckoner.json"]
    assert "steps must be at least 1" in (tmp_path / "logs" / "broken.txt").read_text()
    assert (tmp_path / "results" / "reckoner.json").is_file()


def test_a_folder_of_results_is_read_whether_a_file_holds_one_or_several(tmp_path):
    first, second, third = (made_up_result("db15k", name, 13.5) for name in ("gqe-dice", "gqe-baseline", "reckoner"))
    write_results(tmp_path / "b.json", [first, second])
    (tmp_path / "c.json").write_text(json.dumps(third))
    assert read_results(tmp_path) == [first, second, third]
    assert len((tmp_path / "b.json").read_text().splitlines()) == 4  # brackets, and a line for each


def test_runs_share_a_gpu_only_under_the_service_that_shares_it(monkeypatch, tmp_path):
    monkeypatch.setenv("CUDA_MPS_PIPE_DIRECTORY", str(tmp_path))
    monkeypatch.setattr("torch.cuda.is_available", lambda: True)
    assert runs_at_a_time() == 1
    (tmp_path / "control").touch()
    assert runs_at_a_time() > 1
    monkeypatch.setattr("torch.cuda.is_available", lambda: False)
    assert runs_at_a_time() == 1


def test_repeated_trials_of_a_setting_stand_side_by_side():
    trial = {"benchmark": "db15k", "model": "gqe", "change": {"dropout": "0.1"}, "steps": 10}
    tried = (("dice", 2), ("baseline", 1), ("dice", 3))
    trials = [{**trial, "numbers": form, "validation_mrr": mrr} for form, mrr in tried]
    around = [{**each, "around": "reproduce", "start": {}, "change": {}} for each in trials]
    first, second = (block for block in sweep_blocks([*trials, *around]) if isinstance(block, Table))
    assert first.columns == second.columns == ("", "baseline", "dice")
    assert first.rows == [["gqe: no change; 10 steps", "1.00", "2.00, 3.00"]]
    assert second.rows == [["gqe: dropout 0.1; 10 steps", "1.00", "2.00, 3.00"]]
    assert sweep_blocks([]) == []


def test_a_change_of_settings_is_compared_with_none_on_the_same_graph_over_all_graphs():
    trial = {"model": "gqe", "numbers": "dice", "seed": 0, "around": "reproduce", "start": {"learning_rate": 0.008}}
    trial |= {"beside_steps": 40, "length": "short"}

    def tried(benchmark: str, mrr: float, change: dict[str, str], steps: int = 40) -> dict[str, object]:
        more = {"benchmark": benchmark, "validation_mrr": mrr, "change": change, "steps": steps}
        return {**trial, "validation_queries": 500, **more}

    trials = [
        tried("db15k", 10.0, {}),
        tried("fb15k", 20.0, {}),
        tried("db15k", 11.0, {"dropout": "0"}),
        tried("fb15k", 19.5, {"dropout": "0"}),
        tried("fb15k", 22.0, {"batch_size": "512"}, steps=80),
        tried("yago15k", 30.0, {"dropout": "0"}),  # compared with nothing
        {**tried("fb15k", 18.0, {}), "numbers": "baseline"},
        {**tried("fb15k", 18.5, {"dropout": "0"}), "numbers": "baseline"},  # on one graph only
        tried("db15k", 9.0, {"dropout": "0.2"}),
        {**tried("db15k", 8.0, {"dropout": "0.2"}), "start": {"learning_rate": 0.016}},  # a change of something else
        {"benchmark": "db15k", "model": "gqe", "numbers": "dice", "change": {}, "steps": 9, "validation_mrr": 1.0},
    ]
    text, table = sweep_overview(trials)
    assert isinstance(text, Text) and "gqe: learning rate 0.008, or learning rate 0.016" in text.text
    assert isinstance(table, Table)
    assert table.columns == ("", "baseline", "dice", "mean", "better")
    assert table.rows == [
        ["gqe: dropout 0 (40 steps)", "+0.50", "-0.50", "+0.00", "1 of 2"],
        ["gqe: batch size 512, 2 times the steps (40 steps)", "", "+2.00", "+2.00", "1 of 1"],
        ["gqe: dropout 0.2 (40 steps)", "", "-1.00", "-1.00", "0 of 1"],
    ]
    assert sweep_overview(trials[-1:]) == []


def test_results_on_another_benchmark_stand_apart_with_what_number_reasoning_gains_there():
    rows = (("db15k", "gqe-baseline", 13.2), ("db15k", "gqe-dice", 13.5), ("fb15k", "gqe-dice", 22.4))
    first = [made_up_result(*row) for row in rows]
    other = deepcopy(first[:2])
    for result, mrr in zip(other, (10.0, 10.5), strict=True):
        result["benchmark_seed"] = 1
        result["entity_targets"]["all"]["mrr"] = mrr
    with_it, without = report([*first, *other], "a test"), report(first, "a test")
    added = [block for block in with_it if block not in without]
    assert [block for block in with_it if block in without] == without
    glance, beside_the_paper = (block for block in added if isinstance(block, Table))
    assert glance.rows == [["gqe, baseline", "10.00"], ["gqe, dice", "10.50 (+0.50)"]]
    assert [row[:2] for row in beside_the_paper.rows] == [
        ["gqe, baseline: paper", "11.73"],
        ["gqe, baseline: ours", "10.00"],
        ["difference", "-1.73"],
        ["gqe, dice: paper", "12.15"],
        ["gqe, dice: ours", "10.50"],
        ["difference", "-1.65"],
    ]
    texts = [block.text for block in added if isinstance(block, Text)]
    assert sum("seed 1" in text for text in texts) == 2
    assert (
        "0 of 2 rows above the paper's (-1.73 to -1.65); 1 of 1 with number reasoning above their baseline" in texts[1]
    )


def test_a_long_learning_curve_is_told_in_few_steps_and_to_its_end():
    result = made_up_result("db15k", "gqe-dice", 13.5)
    result["records"] = [{"step": step, "validation_mrr": step / 100} for step in range(100, 2001, 100)]
    blocks = report([result], "a test")
    (table,) = (block for block in blocks if isinstance(block, Table) and "2,000" in block.columns)
    assert table.columns == ("", *(f"{step:,}" for step in range(200, 2001, 200)))
    assert table.rows[0][-1] == "20.00"


@pytest.mark.parametrize("name", ["model", "encoding", "seed"])
def test_what_tells_runs_apart_is_no_setting_of_all(name):
    with pytest.raises(UserError, match=f"{name} distinguishes runs"):
        plans_for("db15k", changes={name: "1"})


def test_seeds_and_the_ablation_are_runs_of_their_own():
    plans = plans_for("db15k", ["query2particles-sinusoidal"], {"steps": 7}, seeds=3, ablation=True)
    assert len({plan.name for plan in plans}) == len(plans)
    assert [plan.settings["seed"] for plan in plans[1:3]] == [1, 2]
    changed = [plan for plan in plans if plan.variant]
    assert {plan.settings.get("value_loss") for plan in changed} == {None, "map"}
    assert [plan.mode for plan in changed if plan.variant == "computed comparisons"] == [ComparisonMode.COMPUTED]
    assert all(plan.settings["steps"] == 7 for plan in plans)


def test_the_papers_own_loss_is_a_run_for_each_backbone_and_encoding():
    plans = [plan for plan in plans_for("db15k", paper_loss=True) if plan.variant]
    assert [plan.name for plan in plans] == [
        f"{backbone}-{encoding}-paper-loss"
        for backbone in ("gqe", "query2box", "query2particles")
        for encoding in ("dice", "sinusoidal")
    ]
    for plan in plans:
        (main,) = plans_for("db15k", [plan.name.removesuffix("-paper-loss")])
        assert plan.settings == {**main.settings, "value_loss": "map", "learn_values": False}


def test_the_papers_own_loss_stands_beside_the_main_row_and_not_in_the_ablation():
    name = "query2particles-dice"
    results = [made_up_result("db15k", name, 16.25), made_up_result("db15k", name, 12.75, "the paper's MAP loss")]
    text = markdown(report(results, "a test"))
    (own,) = [line for line in text.splitlines() if line.startswith("| query2particles, dice, the paper's loss")]
    assert "12.75" in own and "## The paper's own loss" in text and "Ablation" not in text
    (main,) = [line for line in text.splitlines() if line.startswith("| **query2particles, dice: ours**")]
    assert "16.25" in main and "12.75" not in main


def test_answers_by_hardness_are_reported_and_balanced_queries_beside_them():
    result = made_up_result("db15k", "gqe-dice", 20.0)
    balanced = made_up_result("db15k", "gqe-dice", 8.0)
    result["balanced"] = {part: balanced[part] for part in ("entity_targets", "number_targets")}
    without = made_up_result("db15k", "gqe-baseline", 19.0)
    for part in ("entity_targets", "number_targets"):
        del without[part]["by_hardness"]
    text = markdown(report([result, without], "a test"))
    after = text[text.index("### How hard the answers are") :].splitlines()
    rows = [line for line in after if line.startswith("| gqe, dice |")]
    assert rows[:2] == ["| gqe, dice | 21.00 | 5.00 |", "| gqe, dice | 9.00 | 2.00 |"]
    assert not [line for line in after if line.startswith("| gqe, baseline | 20")]


def test_the_reliability_of_a_run_is_a_table_and_a_diagram():
    result = made_up_result("db15k", "reckoner", 30.0)
    assert "Reliability" not in markdown(report([result], "a test"))
    counts = [("1p", 0, 900, 0.04, 0.05), ("1p", 7, 300, 0.75, 0.5), ("2i", 7, 100, 0.71, 0.9)]
    names = ("type", "tenth", "candidates", "stated", "true")
    tested = [dict(zip(names, row, strict=True)) for row in counts]
    blocks = report([result | {"reliability": tested}], "a test")
    text = markdown(blocks)
    assert "| 0.01 to 0.1 | 900 | 4.0% | 5.0% |" in text
    assert "| 0.7 to 0.8 | 400 | 74.0% | 60.0% |" in text
    assert f"| error | {(900 * 0.01 + 300 * 0.25 + 100 * 0.19) / 1300:.3f} | {(9 + 75) / 1200:.3f} | 0.190 |" in text
    (figure,) = [block for block in blocks if isinstance(block, Figure) and block.diagonal]
    assert figure.curves == {
        "all": [(0.04, 0.05), (pytest.approx(0.74), pytest.approx(0.6))],
        "1p": [(0.04, 0.05), (0.75, 0.5)],
        "2i": [(0.71, 0.9)],
    }
    assert svg(figure).startswith("<svg")


def test_a_run_is_tested_on_a_balanced_benchmark_too_also_when_it_was_done_without(small, tmp_path):
    ordinary = take_runs(made(small), tmp_path / "out", [GQE])
    assert "balanced" not in read_json(ordinary[0])
    graph = random_graph()
    other = build(graph, tmp_path / "balanced", BuildSettings.choose(graph, queries=60, balance="missing"))
    found = take_runs(made(small), tmp_path / "out", [GQE], balanced=made(other))
    result = read_json(found[0])
    assert result["balanced"]["entity_targets"]["by_hardness"]["by_missing"]
    assert take_runs(made(small), tmp_path / "out", [GQE], progress=Told(), balanced=made(other)) == found


def test_results_on_a_benchmark_of_the_older_sampler_are_named():
    one, other = made_up_result("db15k", "gqe-dice", 20.0), made_up_result("fb15k", "gqe-dice", 30.0)
    assert "of the sampler before" not in markdown(report([one, other], "a test"))
    del other["comparisons"]
    assert "The benchmarks of FB15k are of the sampler before" in markdown(report([one, other], "a test"))


def in_two_parts(result):
    """The same result with its settings as older versions wrote them."""
    flat = dict(result["settings"]["neural"])
    flat["numbers"] = flat.pop("encoding")
    of_model = (
        "model", "numbers", "number_scale", "dimension", "particles", "dropout", "number_dropout", "box_score",
        "value_loss", "learn_values", "type_prior", "entity_smoothing", "value_smoothing",
    )  # fmt: skip
    model = {name: flat.pop(name) for name in of_model}
    return {**deepcopy(result), "settings": {"model": model, "training": flat}}


def test_results_of_older_versions_are_reported_as_those_of_today():
    names = ("query2particles-sinusoidal", "gqe-baseline")
    results = [made_up_result("db15k", name, 13.5) for name in names]
    assert report([in_two_parts(result) for result in results], "a test") == report(results, "a test")


def test_a_run_of_before_a_setting_is_not_taken_for_one_of_today(small, tmp_path):
    result = made_up_result("db15k", "query2particles-sinusoidal", 16.6)
    plan = plans_for("db15k", ["query2particles-sinusoidal"])[0]
    kept = tmp_path / "results" / f"{plan.name}.json"
    kept.parent.mkdir()
    for key, before in (("value_weight", "1.0"), ("number_dropout", "0.0")):
        for form in (deepcopy(result), in_two_parts(result)):
            for part in form["settings"].values():
                part.pop(key, None)
            kept.write_text(json.dumps(form))
            with pytest.raises(UserError, match=f"{key} is {before} there"):
                take_runs(made(small), tmp_path, [plan])
    for form in (result, in_two_parts(result)):
        kept.write_text(json.dumps(form))
        assert take_runs(made(small), tmp_path, [plan]) == [kept]


def test_the_command_writes_a_report_of_what_did_not_fail(small, tmp_path, monkeypatch):
    place, results = "kgreckon.reproduce.reproduction", tmp_path / "results"
    results.mkdir()
    ablated = made_up_result("db15k", "query2particles-sinusoidal", 12.5, "values fixed, not learned")

    def failing(*arguments):
        (results / "ablated.json").write_text(json.dumps(ablated))
        raise FailedRunsError("these runs failed: some", [results / "ablated.json"])

    monkeypatch.setattr(f"{place}.take_runs", failing)
    monkeypatch.setattr(f"{place}.open_graph", lambda *arguments: None)
    monkeypatch.setattr(f"{place}.BuildSettings.choose", lambda *arguments, **options: None)
    monkeypatch.setattr(f"{place}.build", lambda *arguments, **options: small)
    command = ["reproduce", "db15k", "--data", "nowhere", "--out", str(tmp_path)]
    with pytest.raises(UserError, match="nowhere is not the MMKG folder of db15k"):
        app(command, standalone_mode=False)
    with pytest.raises(UserError, match="unknown model 'gqe-dise'; did you mean 'gqe-dice'"):
        app([*command, "--models", "gqe-dice, query2box,gqe-dise"], standalone_mode=False)
    monkeypatch.setattr(f"{place}.is_mmkg_folder", lambda folder: True)
    for more in ([], [made_up_result("db15k", "gqe-dice", 13.5)]):  # of an earlier call
        for result in more:
            (results / f"{result['name']}.json").write_text(json.dumps(result))
        with pytest.raises(FailedRunsError, match="some"):
            app(command, standalone_mode=False)
        text = (tmp_path / "report.md").read_text(encoding="utf-8")
        assert "values fixed, not learned" in text and ("gqe, dice: ours" in text) == bool(more)
        assert "<html" in (tmp_path / "report.html").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def several() -> list[dict]:
    """A row of the paper, two more seeds of it with other figures, an ablation, and the reckoner."""
    first = made_up_result("db15k", "query2particles-sinusoidal", 16.6)
    found = [first]
    for seed, mrr in ((1, 10.0), (2, 30.0)):
        other = deepcopy(first)
        other["settings"]["neural"]["seed"] = seed
        other["entity_targets"]["all"]["mrr"] = mrr
        found.append(other)
    changed = {**deepcopy(first), "variant": "values <fixed>"}
    return [*found, changed, made_up_result("db15k", "reckoner", 27.1)]


def test_the_report_shows_ours_beside_the_paper_with_the_difference(several):
    blocks = report(several, "a test")
    table = next(block for block in blocks if isinstance(block, Table))
    paper, ours, difference = table.rows[:3]
    assert paper[1] == "14.25" and ours[1] == f"{several[0]['entity_targets']['all']['mrr']:.2f}"
    shown = [float(str(row[1])) for row in (difference, ours, paper)]
    assert shown[0] == pytest.approx(shown[1] - shown[2], abs=0.011)
    assert len(table.rows) == 6 and table.rows[4][0] == "reckoner: ours"
    assert {figure.title for figure in blocks if isinstance(figure, Figure)} >= {"Learning curves"}


def test_a_baseline_stands_beside_the_paper_as_released_and_everywhere_else_among_entities_only():
    plain = made_up_result("db15k", "gqe-baseline", 13.2)
    other = made_up_result("yago15k", "gqe-dice", 21.4)
    ranked = {**plain, "entity_targets_among_values": made_up_result("db15k", "gqe-baseline", 12.5)["entity_targets"]}
    blocks = report([ranked, other], "a test")
    overview, table, *_ = (block for block in blocks if isinstance(block, Table))
    assert overview.rows[0] == ["gqe, baseline", "12.50 (11.73)", ""]
    assert [row[:2] for row in table.rows] == [
        ["gqe, baseline: paper", "11.73"],
        ["gqe, baseline: ours", "12.50"],
        ["difference", "+0.77"],
        ["among entities only", "13.20"],
    ]
    without = report([plain, other], "a test")
    texts = [block.text for block in blocks if isinstance(block, Text) and block not in without]
    assert len(texts) == 3 and "2 of 2 rows above the paper's (+0.77 to +3.81)" in texts[0]
    assert texts[1] == texts[2] and "ranked among all entities and\nvalues" in texts[1]


def test_several_graphs_are_seen_at_a_glance(several):
    other = made_up_result("yago15k", "gqe-dice", 21.4)
    overview = next(block for block in report([*several, other], "a test") if isinstance(block, Table))
    assert overview.columns == ("", "DB15k", "YAGO15k")
    ours, reckoner = (several[place]["entity_targets"]["all"]["mrr"] for place in (0, -1))
    assert overview.rows == [
        ["gqe, dice", "", f"{other['entity_targets']['all']['mrr']:.2f} (17.59)"],
        ["query2particles, sinusoidal", f"{ours:.2f} (14.25)", ""],
        ["reckoner", f"{reckoner:.2f} (14.25)", ""],
    ]


def test_seeds_are_summed_up_and_stand_in_no_other_table(several):
    blocks = report(several, "a test")
    tables = [block for block in blocks if isinstance(block, Table)]
    seeds = next(table for table in tables if "seeds" in table.columns)
    middle = several[0]["entity_targets"]["all"]["mrr"]
    assert seeds.rows[0][1] == 3
    assert seeds.rows[0][2] == f"{(40 + middle) / 3:.2f} (10.00 to 30.00)"
    assert sum("query2particles, sinusoidal: ours" in str(row[0]) for row in tables[0].rows) == 1
    ablation = tables[next(i for i, table in enumerate(tables) if table.rows and table.rows[-1][0] == "values <fixed>")]
    assert [row[0] for row in ablation.rows] == ["query2particles, sinusoidal", "values <fixed>"]


def test_runs_of_another_seed_are_rows_too(several):
    others = [result for result in several if result is not several[0]]
    table = next(block for block in report(others, "a test") if isinstance(block, Table))
    assert [row[1] for row in table.rows if row[0] == "query2particles, sinusoidal: ours"] == ["10.00"]


def test_the_page_needs_no_other_file_and_shows_names_as_they_are(several):
    blocks = report(several, "a test")
    page, text = html(blocks, "a <test>"), markdown(blocks)
    assert page.count("<svg") == sum(isinstance(block, Figure) for block in blocks) > 0
    assert "values &lt;fixed&gt;" in page and "<fixed>" not in page and "<title>a &lt;test&gt;</title>" in page
    assert not re.search(r"(src|href)=\"(?!#)", page.replace("xlink:href", "href").replace('href="#', "#"))
    assert "<script" not in page and "@import" not in page
    assert page == html(report(several, "a test"), "a <test>")
    assert all(f"{'#' * block.level} {block.text}" in text for block in blocks if isinstance(block, Heading))


def test_a_benchmark_of_others_has_a_table_by_its_own_types():
    result = made_up_result("db15k", "reckoner", 30.0) | {"benchmark": "NELL995"}
    result["entity_targets"] = {"by_type": {"1p": {"mrr": 60.0}, "3p": {"mrr": 20.0}, "2in": {"mrr": 12.5}}}
    result["parts"] = {"ablation": [{"variant": "links alone", "by_type": {"1p": 50.0, "3p": 10.0, "2in": 7.5}}]}
    text = markdown(report([result, made_up_result("db15k", "gqe-dice", 13.5)], "make report"))
    own = text[text.index("## NELL995") :]
    assert "| reckoner | 60.00 | 20.00 | 40.00 |" in own
    assert "| links alone | 50.00 | 10.00 | 30.00 |" in own
    assert "| reckoner | 12.50 | 12.50 |" in own
    assert "60.00" not in text[: text.index("## NELL995")]
