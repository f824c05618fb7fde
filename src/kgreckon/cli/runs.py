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
    model: Annotated[
        str | None, typer.Option(help="reckoner (the default), gqe, query2box or query2particles.")
    ] = None,
    encoding: Annotated[
        str | None, typer.Option(help="Numbers of a neural model: baseline, dice or sinusoidal.")
    ] = None,
    out: Annotated[Path | None, typer.Option(help="The run folder to write.")] = None,
    preset: Annotated[str | None, typer.Option(help="Settings to start from: paper, or small for a CPU.")] = None,
    set_: Annotated[
        list[str] | None, typer.Option("--set", help="A setting, key=value; may be repeated. See docs/training.md.")
    ] = None,
    resume: Annotated[Path | None, typer.Option(help="Continue a run from its last checkpoint.")] = None,
    help_settings: Annotated[
        str | None, typer.Option(metavar="MODEL", help="List the settings of a model and exit.")
    ] = None,
    moved: MovedBenchmark = None,
    as_json: AsJson = False,
) -> None:
    """Train a model on a benchmark, or go on with a training that was stopped."""
    from kgreckon.cli.console import console, notes
    from kgreckon.cli.run_tables import TrainingBar, print_settings
    from kgreckon.models.registry import DEFAULT_MODEL, choose_settings, family_of
    from kgreckon.models.settings import parse_assignments, remarks_on
    from kgreckon.runs import is_run_folder, train_with
    from kgreckon.runs import resume as resume_run

    if help_settings is not None:
        print_settings(family_of(help_settings).settings, help_settings, console())
        return
    if resume is not None and (out or model or encoding or preset or set_):
        raise UserError("--resume continues with the run's own settings: give no others")
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
                named = {"model": model, "encoding": encoding}
                given = {
                    **parse_assignments(set_ or ()),
                    **{key: text for key, text in named.items() if text is not None},
                }
                chosen = {"model": DEFAULT_MODEL, **given}
                settings = choose_settings(chosen.pop("model"), preset, **chosen)
                for remark in remarks_on(settings, given):
                    notes().print(remark, soft_wrap=True)
                run = train_with(benchmark, out, settings, bar)
        except KeyboardInterrupt:
            folder = resume or out
            assert folder is not None
            if not is_run_folder(folder):
                raise UserError("stopped; nothing was begun") from None
            raise UserError(f"stopped; continue with: kgreckon train --resume {folder}") from None
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
    benchmark: Annotated[
        Path | None,
        typer.Option(help="Where the run's benchmark is, if it moved, or the balanced one (build --balance)."),
    ] = None,
    queries: Annotated[int, typer.Option(min=0, help="Queries of each type; 0 for all.")] = 0,
    device: Annotated[str, typer.Option(help="cpu, cuda or auto.")] = "auto",
    optimistic: Annotated[bool, typer.Option(help="Show optimistic ranks beside the realistic ones.")] = False,
    reliability: Annotated[bool, typer.Option(help="Show the reliability of probabilities by type too.")] = False,
    as_json: AsJson = False,
) -> None:
    """Rank all hard answers of a benchmark's queries; the tables are also written to the run folder."""
    from kgreckon.benchmark import Split
    from kgreckon.cli.console import console
    from kgreckon.cli.run_tables import RankingBar, print_evaluation
    from kgreckon.runs.evaluate import evaluate as evaluate_run

    if split not in ("valid", "test"):
        raise UserError(f"unknown split {split!r}: choose valid or test")
    with RankingBar() as bar:
        result = evaluate_run(run, Split.of(split), benchmark, device, queries, bar.advance)
    if as_json:
        print_json(result.as_json())
    else:
        print_evaluation(result, optimistic, reliability, console())


@app.command()
def compare(
    runs: Annotated[list[Path], typer.Argument(help="Run folders that were evaluated.")],
    split: Annotated[str, typer.Option(help="valid or test.")] = "test",
    as_json: AsJson = False,
) -> None:
    """Put runs side by side, with the paper's numbers where the benchmark is one of its three."""
    from kgreckon.cli.console import console, notes
    from kgreckon.cli.run_tables import print_comparison
    from kgreckon.runs.comparing import compare_runs, why_not_comparable

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
    dataset: Annotated[str, typer.Argument(help="The paper's graph: fb15k, db15k or yago15k.")],
    data: Annotated[Path, typer.Option(help="The MMKG folder of the graph.")],
    out: Annotated[Path, typer.Option(help="The folder for the benchmark, the runs, their results and the report.")],
    models: Annotated[
        list[str] | None,
        typer.Option(help="Only some: reckoner, a backbone, or one of its forms (gqe-dice), by commas."),
    ] = None,
    seeds: Annotated[int, typer.Option(min=1, help="How many seeds of each.")] = 1,
    ablation: Annotated[bool, typer.Option(help="Query2Particles with one thing changed at a time, too.")] = False,
    paper_loss: Annotated[bool, typer.Option(help="Number reasoning with the paper's own MAP loss, too.")] = False,
    balanced: Annotated[
        bool, typer.Option(help="Test also on queries in equal shares by the facts that their answers lack.")
    ] = False,
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
    from kgreckon.cli.reproduction_notes import ReproductionNotes
    from kgreckon.models.settings import parse_assignments
    from kgreckon.reproduce import reproduce as reproduce_dataset

    signal.signal(signal.SIGTERM, signal.default_int_handler)  # its runs stop with it
    try:
        made = reproduce_dataset(
            dataset,
            data,
            out,
            [name.strip() for names in models or () for name in names.split(",")],
            seeds=seeds,
            ablation=ablation,
            paper_loss=paper_loss,
            balanced=balanced,
            parallel=parallel,
            budget=None if budget is None else 60 * budget,
            benchmark_seed=benchmark_seed,
            progress=ReproductionNotes(),
            **parse_assignments(set_ or ()),
        )
    except KeyboardInterrupt:
        raise UserError(f"stopped; what is complete is kept in {out}, and the same command goes on") from None
    typer.echo(f"{made.report}: {len(made.results)} of {made.planned} runs")
