"""How runs were made: their settings, the time they took, and how settings were chosen."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import mean
from typing import Any

from kgreckon.benchmark.datasets import PAPER_DATASETS, paper_tables
from kgreckon.models.neural import ENCODINGS, NeuralSettings
from kgreckon.reproduce.layout import Block, Heading, Table, Text
from kgreckon.reproduce.rows import Result, is_of_the_paper, made_on, name_of, settings_of


def training_blocks(graph: str, results: Sequence[Result]) -> list[Block]:
    """The settings and times of a graph's runs."""
    if not results:
        return []
    note = paper_tables()["time_ms_per_query"]["note"]
    return [
        Heading("How they were trained", 3),
        *_settings([result for result in results if is_of_the_paper(result)]),
        Text(
            "Time. Training is with validation and checkpoints; evaluation is inference, filtering and ranking; both\n"
            f"with what other runs took where several shared the device. The paper's are of its {note}:"
        ),
        _times(graph, results),
    ]


def _settings(results: Sequence[Result]) -> list[Block]:
    if not results:
        return []
    columns = (
        "", "steps", "batch", "answers", "dimension", "particles", "learning rate", "of operators", "dropout",
        "of numbers", "smoothing", "of values", "value loss", "its weight", "precision", "seed", "made on",
    )  # fmt: skip
    rows = []
    for result in results:
        settings = NeuralSettings.from_run(settings_of(result))
        idle = settings.without_effect()
        over = "all steps" if settings.decay == 1 else f"the last {settings.decay:.0%} of the steps"
        falling = f", falling over {over}" if settings.decay else ""
        rows.append([
            name_of(result), f"{settings.steps:,}", settings.batch_size, settings.answers, settings.dimension,
            "" if "particles" in idle else settings.particles, f"{settings.learning_rate}{falling}",
            f"{settings.learning_rate * settings.operator_rate:.4g}", settings.dropout,
            "" if "number_dropout" in idle else settings.number_dropout, settings.entity_smoothing,
            settings.value_smoothing, settings.value_loss, settings.value_weight, settings.precision, settings.seed,
            made_on(result),
        ])  # fmt: skip
    return [Table(columns, rows)]


def _times(graph: str, results: Sequence[Result]) -> Table:
    rows = []
    for result in results:
        settings, seconds = settings_of(result), result["train_seconds"]
        taken = settings.get("steps", 0) * settings["batch_size"]
        training, inference = _paper_times(graph, result)
        rows.append([
            name_of(result), f"{seconds:,.0f}", f"{1000 * seconds / taken:.4f}" if taken else "", training,
            f"{1000 * result['seconds'] / result['queries']:.4f}", inference,
            f"{result['queries'] / result['seconds']:,.0f}",
        ])  # fmt: skip
    columns = (
        "", "training, s", "training, ms a query", "the paper's", "evaluation, ms a query", "the paper's inference",
        "evaluated queries a second",
    )  # fmt: skip
    return Table(columns, rows)


def _paper_times(graph: str, result: Result) -> tuple[str, str]:
    """Milliseconds a query to train and to infer, of the one backbone that the paper timed."""
    settings, times = settings_of(result), paper_tables()["time_ms_per_query"]
    if settings["model"] != times["model"]:
        return "", ""
    form = "baseline" if settings["encoding"] == "baseline" else "nrn"
    training, inference = times[form][PAPER_DATASETS[graph].title]
    return f"{training:.3f}", f"{inference:.3f}"


def sweep_overview(trials: Sequence[dict[str, Any]]) -> list[Block]:
    """What a change of settings does to short trainings, over all graphs."""
    around = [trial for trial in trials if _is_around(trial)]
    plain = {_place(trial): trial["validation_mrr"] for trial in around if _is_plain(trial)}
    gains_of: dict[tuple[str, str], list[tuple[dict[str, Any], float]]] = {}
    for trial in around:
        if not _is_plain(trial) and _place(trial) in plain:
            gain = trial["validation_mrr"] - plain[_place(trial)]
            gains_of.setdefault((trial["model"], _told(trial)), []).append((trial, gain))
    forms = _forms(around)
    rows = []
    for (model, change), tried in sorted(gains_of.items(), key=lambda item: item[0][0]):
        graphs = {form: {trial["benchmark"] for trial, _ in tried if trial["numbers"] == form} for form in forms}
        common = set.intersection(*filter(None, graphs.values()))
        by_form = {
            form: [gain for trial, gain in tried if trial["numbers"] == form and trial["benchmark"] in common]
            for form in forms
        }
        gains = [gain for values in by_form.values() for gain in values]
        if gains:
            means = [f"{mean(values):+.2f}" if values else "" for values in by_form.values()]
            better = sum(gain > 0 for gain in gains)
            rows.append([f"{model}: {change}", *means, f"{mean(gains):+.2f}", f"{better} of {len(gains)}"])
    if not rows:
        return []
    return [
        Text(
            "What one change of the settings did to a training, in points of the MRR of some validation queries:\n"
            "the mean over the graphs where all forms that have a figure tried it. Trials:\n"
            f"{_counts(around)}. They change\n{_starts(around)}.\n"
            "Those of all steps are compared with rows that had these settings."
        ),
        Table(("", *forms, "mean", "better"), rows),
    ]


def sweep_blocks(trials: Sequence[dict[str, Any]]) -> list[Block]:
    """Settings compared on validation queries: around those that were taken, and how they were come by."""
    around = [trial for trial in trials if _is_around(trial)]
    before = [trial for trial in trials if not _is_around(trial)]
    blocks: list[Block] = [Heading("How the settings were chosen", 3)] if trials else []
    if around:
        blocks += [
            Text(
                "Mean MRR of trainings on some validation queries. What is named is changed from\n"
                f"{_starts(around)};\nseveral figures with several seeds. Trials: {_counts(around)}."
            ),
            _sweep_table(around),
        ]
    if before:
        blocks += [
            Text(
                "Mean MRR of short trainings on some validation queries, in the order they were made, each with the\n"
                "settings that it names beside the defaults of its day. A line may name a part of the model that was\n"
                f"tried with it; where answers are not named, a query had one in a step. Trials: {_counts(before)}."
            ),
            _sweep_table(before),
        ]
    return blocks


def _is_around(trial: dict[str, Any]) -> bool:
    """Whether a trial changes what `reproduce` takes, and not what a day of its own had."""
    return trial.get("around") == "reproduce"


def _is_plain(trial: dict[str, Any]) -> bool:
    """Whether others are compared with it."""
    return not trial["change"] and trial["steps"] == trial["beside_steps"]


def _place(trial: dict[str, Any]) -> tuple[object, ...]:
    """What a trial has in common with the one it is compared with."""
    common = ("benchmark", "model", "numbers", "seed", "beside_steps", "length", "validation_queries")
    return *(trial[key] for key in common), *trial["start"].items()


def _changes(trial: dict[str, Any]) -> list[str]:
    return [f"{key.replace('_', ' ')} {value}" for key, value in trial["change"].items()]


def _told(trial: dict[str, Any]) -> str:
    """A change in words, and the steps that it was tried with."""
    changes = _changes(trial)
    if trial["steps"] != trial["beside_steps"]:
        changes.append(f"{trial['steps'] / trial['beside_steps']:g} times the steps")
    steps = "all steps" if trial["length"] == "full" else f"{trial['beside_steps']:,} steps"
    return f"{', '.join(changes)} ({steps})"


def _starts(trials: Sequence[dict[str, Any]]) -> str:
    """The settings that trials change, where a backbone has its own, in words."""
    starts: dict[str, list[str]] = {}
    for trial in trials:
        told = ", ".join(f"{key.replace('_', ' ')} {value}" for key, value in trial["start"].items())
        if told not in starts.setdefault(trial["model"], []):
            starts[trial["model"]].append(told)
    return ";\n".join(f"{model}: {', or '.join(told)}" for model, told in sorted(starts.items()))


def _forms(trials: Sequence[dict[str, Any]]) -> list[str]:
    return [form for form in ENCODINGS if any(trial["numbers"] == form for trial in trials)]


def _counts(trials: Sequence[dict[str, Any]]) -> str:
    """How many trials there are of each form; rows that others are compared with do not count."""
    made = [trial["numbers"] for trial in trials if not trial.get("from_row")]
    return ", ".join(f"{made.count(form)} with {form}" for form in _forms(trials))


def _sweep_table(trials: Sequence[dict[str, Any]]) -> Table:
    """A line for each model and change, a repeated trial beside the first."""
    mrrs_of: dict[tuple[str, str], dict[str, list[str]]] = {}
    for trial in trials:
        change = ", ".join(_changes(trial))
        form = f"; {trial['form']}" if trial.get("form") else ""  # a part of the model that was tried
        asked = "; all validation queries" if trial.get("validation_queries") == 0 else ""
        key = trial["model"], f"{change or 'no change'}{form}{asked}; {trial['steps']:,} steps"
        mrrs_of.setdefault(key, {}).setdefault(trial["numbers"], []).append(f"{trial['validation_mrr']:.2f}")
    forms = _forms(trials)
    rows = [
        [f"{model}: {change}", *(", ".join(mrrs.get(form, ())) for form in forms)]
        for (model, change), mrrs in mrrs_of.items()
    ]
    return Table(("", *forms), rows)
