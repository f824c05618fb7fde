"""Commands on runs: train, evaluate, compare, reproduce."""

from __future__ import annotations

import signal
from pathlib import Path
from typing import Annotated

import typer

from kgreckon.cli.app import AsJson, MovedBenchmark, app, print_json
from kgreckon.errors import UserError


@app.command()
def train(
    benchmark: Annotated[Path | None, typer.Argument(help="The benchmark folder to learn from.")] = None,
    model: Annotated[str | None, typer.Option(help="gqe, query2box, query2particles or reckoner.")] = None,
    numbers: Annotated[str | None, typer.Option(help="baseline, dice or sinusoidal.")] = None,
    out: Annotated[Path | None, typer.Option(help="The run folder to write.")] = None,
    preset: Annotated[str | None, typer.Option(help="Settings to start from: paper, or small for a CPU.")] = None,
    set_: Annotated[
        list[str] | None, typer.Option("--set", help="A setting, key=value; may be repeated. See docs/training.md.")
    ] = None,
    resume: Annotated[Path | None, typer.Option(help="Go on with a run where its last checkpoint stood.")] = None,
    moved: MovedBenchmark = None,
    as_json: AsJson = False,
) -> None:
    """Train a model on a benchmark, or go on with a training that was stopped."""
    from kgreckon.terminal.runs import TrainingBar
    from kgreckon.terminal.tables import notes
    from kgreckon.training import choose_settings, is_run_folder, parse_assignments, preset_settings, without_effect
    from kgreckon.training import resume as resume_run
    from kgreckon.training import train as train_model

    if resume is not None and (out or model or numbers or preset or set_):
        raise UserError("--resume goes on with the run's own settings: give no others")
    if moved is not None and (resume is None or benchmark is not None):
        raise UserError("--benchmark is for --resume, where the run's benchmark moved")
    if resume is None and (benchmark is None or out is None):
        raise UserError("give a benchmark folder and --out RUN, or --resume RUN")
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # what schedulers send
    with TrainingBar() as bar:
        try:
            if resume is not None:
                run = resume_run(resume, moved or benchmark, bar)
            else:
                assert benchmark is not None and out is not None
                named = {name: value for name, value in (("model", model), ("numbers", numbers)) if value is not None}
                given = {**parse_assignments(set_ or ()), **named}
                chosen = {**preset_settings(preset, given.get("model")), **given}
                settings = choose_settings(chosen)
                for remark in without_effect(settings, given):
                    notes().print(remark, soft_wrap=True)
                run = train_model(benchmark, out, settings, bar)
        except KeyboardInterrupt:
            folder = resume or out
            assert folder is not None
            if not is_run_folder(folder):
                raise UserError("stopped; nothing was begun") from None
            raise UserError(f"stopped; go on with: kgreckon train --resume {folder}") from None
    best = run.best()
    if as_json:
        print_json({"folder": str(run.folder), **best})
    else:
        reached = f"best validation MRR {best['validation_mrr']:.2f} at step {best['step']:,}"
        typer.echo(f"{run.folder}: {reached if best['validation_mrr'] else 'trained, without validation queries'}")


@app.command()
def evaluate(
    run: Annotated[Path, typer.Argument(help="A run folder.")],
    split: Annotated[str, typer.Option(help="valid or test.")] = "test",
    benchmark: MovedBenchmark = None,
    queries: Annotated[int, typer.Option(min=0, help="Queries of each type; 0 for all.")] = 0,
    device: Annotated[str, typer.Option(help="cpu, cuda or auto.")] = "auto",
    optimistic: Annotated[bool, typer.Option(help="Show optimistic ranks beside the realistic ones.")] = False,
    as_json: AsJson = False,
) -> None:
    """Rank all hard answers of a benchmark's queries; the tables are also written to the run folder."""
    from kgreckon.benchmark import Split
    from kgreckon.terminal.runs import RankingBar, print_evaluation
    from kgreckon.terminal.tables import console
    from kgreckon.training import evaluate as evaluate_run

    if split not in ("valid", "test"):
        raise UserError(f"unknown split {split!r}: choose valid or test")
    with RankingBar() as bar:
        result = evaluate_run(run, Split.of(split), benchmark, device, queries, bar.advance)
    if as_json:
        print_json(result)
    else:
        print_evaluation(result, optimistic, console())


@app.command()
def compare(
    runs: Annotated[list[Path], typer.Argument(help="Run folders that were evaluated.")],
    split: Annotated[str, typer.Option(help="valid or test.")] = "test",
    as_json: AsJson = False,
) -> None:
    """Put runs side by side, with the paper's numbers where the benchmark is one of its three."""
    from kgreckon.terminal.runs import print_comparison
    from kgreckon.terminal.tables import console, notes
    from kgreckon.training.comparing import compare_runs, why_not_comparable

    rows = compare_runs(runs, split)
    reason = why_not_comparable(runs, split)
    if reason is not None:
        notes().print(f"{reason}: their figures are not comparable", soft_wrap=True)
    if as_json:
        print_json([row.as_json() for row in rows])
    else:
        print_comparison(rows, console())


@app.command()
def reproduce(
    preset: Annotated[str, typer.Argument(help="The paper's graph: fb15k, db15k or yago15k.")],
    data: Annotated[Path, typer.Option(help="The MMKG folder of the graph.")],
    out: Annotated[Path, typer.Option(help="The folder for the benchmark, the runs, their results and the report.")],
    models: Annotated[
        list[str] | None,
        typer.Option(help="Only some: reckoner, a backbone, or one of its forms (gqe-dice), by commas."),
    ] = None,
    seeds: Annotated[int, typer.Option(min=1, help="How many seeds of each.")] = 1,
    ablation: Annotated[bool, typer.Option(help="Query2Particles with one thing changed at a time, too.")] = False,
    parallel: Annotated[
        int | None,
        typer.Option(min=1, help="Runs at a time; 4 where NVIDIA's Multi-Process Service shares a GPU, else 1."),
    ] = None,
    budget: Annotated[
        float | None, typer.Option(min=0, help="Minutes, after which runs stop; call again to go on.")
    ] = None,
    benchmark_seed: Annotated[
        int, typer.Option(min=0, help="Another gives other splits and queries: a benchmark that nobody has seen.")
    ] = 0,
    set_: Annotated[
        list[str] | None, typer.Option("--set", help="A setting of the neural models, key=value; may be repeated.")
    ] = None,
) -> None:
    """Reproduce the paper's tables on one of its graphs: benchmark, nine models, the reckoner, report."""
    from kgreckon.benchmark import BuildSettings, preset_of
    from kgreckon.benchmark import build as build_benchmark
    from kgreckon.benchmark.format import read_json
    from kgreckon.graph import open_graph
    from kgreckon.graph.readers import is_mmkg_folder
    from kgreckon.reproducing import FailedRunsError, html, markdown, plans_for, report, runs_at_a_time
    from kgreckon.reproducing import reproduce as reproduce_runs
    from kgreckon.terminal.benchmarks import BuildProgress
    from kgreckon.terminal.runs import ReproductionNotes
    from kgreckon.training import parse_assignments

    top_attributes = preset_of(preset).top_attributes
    wanted = [name.strip() for names in models or () for name in names.split(",")]
    plans = plans_for(preset, wanted, parse_assignments(set_ or ()), seeds, ablation)
    if not is_mmkg_folder(data):
        raise UserError(f"{data} is not the MMKG folder of {preset}, with EntityTriples and NumericalTriples")
    graph = open_graph(data, top_attributes)
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # its runs stop with it
    made, failure = {}, None
    try:
        for numbers in dict.fromkeys(plan.numbers for plan in plans):
            settings = BuildSettings.choose(graph, numbers=numbers, seed=benchmark_seed, preset=preset)
            with BuildProgress() as progress:
                made[numbers] = build_benchmark(graph, out / f"benchmark-{numbers.value}", settings, None, progress)
        seconds = None if budget is None else 60 * budget
        found = reproduce_runs(made, out, plans, parallel or runs_at_a_time(), seconds, ReproductionNotes())
    except FailedRunsError as error:
        failure, found = error, error.results
    except KeyboardInterrupt:
        raise UserError(f"stopped; what is complete is kept in {out}, and the same command goes on") from None
    results = [read_json(path) for path in sorted((out / "results").glob("*.json"))]  # of other calls too
    blocks = report(results, f"kgreckon reproduce {preset}")
    (out / "report.md").write_text(markdown(blocks), encoding="utf-8")
    (out / "report.html").write_text(html(blocks, f"kgreckon: {preset} reproduced"), encoding="utf-8")
    typer.echo(f"{out / 'report.html'}: {len(found)} of {len(plans)} runs")
    if failure is not None:
        raise failure
