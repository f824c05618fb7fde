"""Commands around what is learned: learn, info, complete."""

from __future__ import annotations

import signal
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from kgreckon.cli.app import AsJson, KeyColumn, MappingFile, MovedBenchmark, SkipBadLines, app, print_json
from kgreckon.errors import UserError

if TYPE_CHECKING:
    from kgreckon.answers.doubting import DoubtSettings
    from kgreckon.graph import KnowledgeGraph


@app.command()
def learn(
    sources: Annotated[
        list[Path] | None, typer.Argument(help="Files to read, a graph folder, or 'world' for the embedded graph.")
    ] = None,
    out: Annotated[Path | None, typer.Option(help="The run folder to write; it carries the graph.")] = None,
    update: Annotated[
        Path | None, typer.Option(metavar="RUN", help="Instead: learn the changes to a run's graph in for good.")
    ] = None,
    held_back: Annotated[
        float, typer.Option(help="The share of facts that is held back at first, to calibrate and to measure.")
    ] = 0.1,
    mapping: MappingFile = None,
    key: KeyColumn = None,
    skip_bad_lines: SkipBadLines = False,
    preset: Annotated[str | None, typer.Option(help="Settings to start from; small on a CPU.")] = None,
    set_: Annotated[
        list[str] | None, typer.Option("--set", help="A setting of the reckoner, key=value; may be repeated.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Learn from all facts of a graph, and report how well hidden facts are found. The same command goes on."""
    import kgreckon as kg
    from kgreckon.cli.console import console
    from kgreckon.cli.learning_tables import print_quality
    from kgreckon.cli.run_tables import TrainingBar
    from kgreckon.models.settings import parse_assignments

    signal.signal(signal.SIGTERM, signal.default_int_handler)  # what schedulers send
    if update is not None:
        if sources or out is not None:
            raise UserError("--update takes a run as it is: neither sources nor --out")
        _update(update, as_json)
        return
    if not sources or out is None:
        raise UserError("give what to learn from, and --out FOLDER; or --update RUN")
    graph = _graph_of(sources, mapping, key, skip_bad_lines)
    with TrainingBar() as bar:
        try:
            run = kg.learn(
                graph, out, held_back=held_back, preset=preset, progress=bar, **parse_assignments(set_ or ())
            )
        except KeyboardInterrupt:
            raise UserError(f"stopped; what is learned is kept in {out}, and the same command goes on") from None
    quality = run.quality()
    assert quality is not None
    if as_json:
        print_json({"folder": str(run.folder), "quality": quality.model_dump()})
        return
    print_quality(quality, run.folder, console(), rows=10)


def _graph_of(
    sources: list[Path], mapping: Path | None, key: str | None, skip_bad_lines: bool, remarks: bool = True
) -> KnowledgeGraph:
    """A graph that there is, or one from files, with what was guessed and met on the way on stderr."""
    import kgreckon as kg
    from kgreckon.cli.console import notes
    from kgreckon.cli.mapping_tables import print_guesses
    from kgreckon.graph.readers import reading_of

    if len(sources) == 1 and (str(sources[0]) == "world" or sources[0].is_dir()):
        if mapping is not None or key is not None:
            raise UserError(f"--mapping and --key say how tables are read, and {sources[0]} is a graph already")
        return kg.open_graph(sources[0])
    shown = (lambda guesses: print_guesses(guesses, notes(tables=True))) if remarks else None
    with notes().status("reading ..."):
        graph, report = kg.read_sources(sources, skip_bad_lines=skip_bad_lines, reading=reading_of(mapping, key, shown))
    for remark in report.remarks() if remarks else ():
        notes().print(remark, soft_wrap=True)
    return graph


def learned_beside(place: str) -> str:
    """The run that was learned from a file or a graph, beside it; learned now where there is none."""
    import kgreckon as kg
    from kgreckon.cli.console import notes
    from kgreckon.cli.run_tables import TrainingBar
    from kgreckon.models.run_files import is_run_folder

    source = Path(place)
    run = source.with_name(f"{source.name.partition('.')[0] or source.name}.learned")
    if is_run_folder(place):
        raise UserError(f"{place} has learned already: leave --learn out")
    if place != "world" and not source.is_file() and not source.is_dir():
        raise UserError(f"{place}: no such file or folder to learn from")
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    begun, graph = run.exists(), _graph_of([source], None, None, skip_bad_lines=True, remarks=not run.exists())
    with TrainingBar() as bar:
        try:
            opened = kg.learn(graph, run, progress=bar)
        except KeyboardInterrupt:
            raise UserError(f"stopped; what is learned is kept in {run}, and the same command goes on") from None
        except UserError as error:
            if not begun:
                raise
            raise UserError(
                f"{error}: {run} was learned from {place} as it was, or is of something else; delete it to learn anew, "
                f"ask {run} as it is, or learn elsewhere: kgreckon learn {place} --out FOLDER"
            ) from None
    quality = opened.quality()
    if not begun and quality is not None:
        took = f"learned from {place} into {run} in {quality.seconds:.0f} seconds"
        notes().print(f"{took}; how well: kgreckon info {run}", style="dim", soft_wrap=True)
    return str(run)


def _update(run: Path, as_json: bool) -> None:
    from kgreckon.cli.run_tables import TrainingBar
    from kgreckon.runs import Run

    with TrainingBar() as bar:
        try:
            count = Run.open(run).update(bar)
        except KeyboardInterrupt:
            raise UserError(f"stopped; {run} is as it was, and its changes stand in its log") from None
    if as_json:
        print_json({"folder": str(run), "changes": count})
    else:
        typer.echo(f"{run}: {count:,} change{'s' * (count != 1)} learned in")


@app.command()
def info(
    run: Annotated[Path, typer.Argument(help="A run folder.")],
    rows: Annotated[int, typer.Option(min=1, help="How many relations and attributes to show.")] = 30,
    as_json: AsJson = False,
) -> None:
    """Show what a run is: its settings, and how well it finds what was hidden from it."""
    from kgreckon.cli.console import console, print_table
    from kgreckon.cli.learning_tables import print_quality
    from kgreckon.runs import Run
    from kgreckon.runs.changing import standing_changes

    opened = Run.open(run)
    quality = opened.quality()
    settings, changes = opened.settings.model_dump(), standing_changes(run)
    if as_json:
        report = None if quality is None else quality.model_dump()
        told = {"folder": str(run), "model": opened.settings.title, "settings": settings, "quality": report}
        print_json(told | {"changes_in_the_log": changes})
        return
    out = console()
    out.print(repr(opened), soft_wrap=True)
    if changes:
        noun = "change stands" if changes == 1 else "changes stand"
        out.print(f"{changes:,} {noun} in its log; learn them in with: kgreckon learn --update {run}", soft_wrap=True)
    if quality is not None:
        print_quality(quality, run, out, rows)
    elif opened.is_learned:
        out.print("it is not measured yet; go on with: kgreckon learn")
    else:
        best = opened.best()
        out.print(f"best validation MRR {best['validation_mrr']:.2f} at step {best['step']:,}")
        out.print(f"its test results: kgreckon compare {run}", soft_wrap=True)
    print_table(out, "Settings", ("setting", "value"), [(name, str(value)) for name, value in settings.items()])


@app.command()
def complete(
    run: Annotated[Path, typer.Argument(help="A run folder of a reckoner.")],
    out: Annotated[
        Path | None, typer.Option(help="The file to write: .parquet, .csv, .tsv, or RDF as .nt or .ttl.")
    ] = None,
    above: Annotated[float, typer.Option(help="The least probability of what is written.")] = 0.8,
    relations: Annotated[str | None, typer.Option(help="Only facts of these relations, by commas.")] = None,
    attributes: Annotated[str | None, typer.Option(help="Only values of these attributes, by commas.")] = None,
    things: Annotated[
        Path | None, typer.Option(help="Only about the things in this file, a name on each line.")
    ] = None,
    explain: Annotated[bool, typer.Option(help="Write the reason of each fact and number too.")] = False,
    check: Annotated[
        float | None,
        typer.Option(help="Instead, list what is stated and doubtful: with a chance of at most this, such as 0.02."),
    ] = None,
    folds: Annotated[
        int, typer.Option(help="To check all facts: learn so many times, each time without a part of them.")
    ] = 0,
    benchmark: MovedBenchmark = None,
    device: Annotated[str, typer.Option(help="cpu, cuda or auto.")] = "auto",
    as_json: AsJson = False,
) -> None:
    """Write the facts and values that the graph lacks and that are likely; or --check those that it states."""
    from kgreckon.answers import Answerer
    from kgreckon.answers.completed_files import Filled, check_suffix, write_completed
    from kgreckon.answers.completing import Gaps
    from kgreckon.answers.completing import complete as complete_graph
    from kgreckon.answers.doubting import DoubtSettings
    from kgreckon.cli.learning_tables import CompletingBar
    from kgreckon.processes import started_together

    if check is not None:
        _check(run, out, DoubtSettings(check, _names(relations), _names(attributes), folds), as_json)
        return
    if out is None:
        raise UserError("give the file to write: --out filled.csv")
    check_suffix(out)
    gaps = Gaps(above, _names(relations), _names(attributes), _lines(things), explain)
    processes = started_together(device)
    answerer = Answerer.open(run, benchmark, device)
    bar = CompletingBar()
    missing = complete_graph(answerer, gaps, bar.advance, processes)
    with bar:
        filled = write_completed(out, missing) if processes.is_first else Filled(facts=len(list(missing)))
    processes.wait()
    if as_json:
        print_json({"file": str(out), "facts": filled.facts, "values": filled.values, "expected": filled.expected})
        return
    facts, values = (
        f"{count:,} {noun}{'s' * (count != 1)}" for count, noun in ((filled.facts, "fact"), (filled.values, "value"))
    )
    typer.echo(
        f"{out}: {facts} and {values} of at least {above:.0%}; about {filled.expected:,.0f} of them should be true"
    )


def _check(run: Path, out: Path | None, settings: DoubtSettings, as_json: bool) -> None:
    from dataclasses import asdict

    from kgreckon.answers.completed_files import TABLES, check_suffix, write_doubts
    from kgreckon.answers.doubting import find_doubts
    from kgreckon.cli.console import console
    from kgreckon.cli.doubt_tables import print_doubts
    from kgreckon.cli.learning_tables import CompletingBar
    from kgreckon.cli.run_tables import TrainingBar
    from kgreckon.runs import Run

    if out is not None:
        check_suffix(out, TABLES)
    opened = Run.open(run)
    with TrainingBar() if settings.folds else CompletingBar() as bar:
        if isinstance(bar, TrainingBar):
            doubts = find_doubts(opened, settings, bar)
        else:
            doubts = find_doubts(opened, settings, advance=bar.advance)
    if out is not None:
        write_doubts(out, doubts)
    if as_json:
        print_json(asdict(doubts))
    else:
        print_doubts(doubts, settings, opened.graph().vocabulary, console())


def _names(text: str | None) -> list[str] | None:
    return None if text is None else [name.strip() for name in text.split(",")]


def _lines(path: Path | None) -> list[str] | None:
    from kgreckon.files import read_text

    return None if path is None else [line.strip() for line in read_text(path).splitlines() if line.strip()]
