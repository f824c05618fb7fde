"""The command line: parse, call one library function, print. Libraries are imported by the command that needs them."""

from __future__ import annotations

import codecs
import json
import sys
from enum import StrEnum
from io import TextIOWrapper
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from kgreckon import __version__
from kgreckon.errors import UserError

if TYPE_CHECKING:
    from kgreckon.graph import KnowledgeGraph

app = typer.Typer(
    help="Reckon over incomplete knowledge graphs: compute what they prove, infer what they do not state yet.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)

BenchmarkPlace = Annotated[Path, typer.Argument(help="A benchmark folder.")]
GraphPlace = Annotated[str, typer.Argument(help="A graph folder, an MMKG folder, or 'world' for the embedded graph.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON instead of tables.")]


class NumbersOption(StrEnum):
    """Where numerical relations come from."""

    COMPUTED = "computed"
    SAMPLED = "sampled"


def _print_json(data: Any) -> None:
    json.dump(data, sys.stdout, ensure_ascii=not _writes_utf8(), indent=2)
    sys.stdout.write("\n")


def _writes_utf8() -> bool:
    return codecs.lookup(sys.stdout.encoding or "ascii").name == "utf-8"


def _version(value: bool) -> None:
    if value:
        typer.echo(f"kgreckon {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version.")
    ] = False,
) -> None:
    pass


@app.command("import")
def import_(
    out: Annotated[Path, typer.Option(help="The graph folder to write.")],
    sources: Annotated[
        list[Path] | None, typer.Argument(help="Tables (.tsv, .csv), RDF files, or MMKG folders; .gz too.")
    ] = None,
    facts: Annotated[list[Path] | None, typer.Option(help="A further table, of facts: head, relation, tail.")] = None,
    values: Annotated[
        list[Path] | None, typer.Option(help="A further table, of values: entity, attribute, value[, unit].")
    ] = None,
    names: Annotated[list[Path] | None, typer.Option(help="A further table, of readable names: name, label.")] = None,
    top_attributes: Annotated[int | None, typer.Option(min=1, help="Keep only the N most frequent attributes.")] = None,
    skip_bad_lines: Annotated[bool, typer.Option(help="Count and report bad lines instead of stopping.")] = False,
    overwrite: Annotated[bool, typer.Option(help="Replace an existing graph folder.")] = False,
    as_json: AsJson = False,
) -> None:
    """Make a graph folder from files."""
    from kgreckon.graph import Kind, read_sources
    from kgreckon.graph.storage import HEADER, check_free
    from kgreckon.terminal.tables import notes

    check_free(out, HEADER if overwrite else None)  # before the work, not after it
    tables = [(path, kind) for paths, kind in ((facts, Kind.FACTS), (values, Kind.VALUES), (names, Kind.NAMES))
              for path in paths or ()]  # fmt: skip
    with notes().status("reading ..."):
        graph, report = read_sources([*(sources or ()), *tables], top_attributes, skip_bad_lines)
        graph.save(out, overwrite=overwrite)
    for remark in report.remarks():
        notes().print(remark, markup=False, soft_wrap=True)
    summary = {
        "folder": str(out),
        "entities": len(graph.entities),
        "relations": len(graph.relations),
        "facts": len(graph.facts),
        "attributes": len(graph.attributes),
        "attribute_facts": len(graph.attribute_facts),
        "values": len(graph.values),
        "labels": report.labels,
    }
    if as_json:
        _print_json(summary | {"remarks": report.remarks()})
        return
    typer.echo(
        f"{out}: {len(graph.entities):,} entities, {len(graph.facts):,} facts of {len(graph.relations):,} relations, "
        f"{len(graph.attribute_facts):,} values of {len(graph.attributes):,} attributes"
    )


@app.command()
def stats(
    graph: Annotated[str, typer.Argument(help="A graph folder, a benchmark folder, an MMKG folder, or 'world'.")],
    rows: Annotated[int, typer.Option(min=1, help="How many relations and attributes to show.")] = 15,
    top_attributes: Annotated[int | None, typer.Option(min=1, help="Read only the N most frequent attributes.")] = None,
    as_json: AsJson = False,
) -> None:
    """Show what is in a graph (counts, units, ranges) or in a benchmark (beside the paper's own numbers)."""
    from kgreckon.benchmark import Benchmark, is_benchmark_folder
    from kgreckon.benchmark.statistics import benchmark_statistics
    from kgreckon.graph import open_graph
    from kgreckon.graph.statistics import graph_statistics
    from kgreckon.terminal.benchmarks import print_benchmark_statistics
    from kgreckon.terminal.graphs import print_statistics
    from kgreckon.terminal.tables import console

    if is_benchmark_folder(Path(graph)):
        counts = benchmark_statistics(Benchmark.open(graph))
        if as_json:
            _print_json(counts.as_json())
        else:
            print_benchmark_statistics(counts, graph, console())
        return
    statistics = graph_statistics(open_graph(graph, top_attributes))
    if as_json:
        _print_json(statistics.as_json())
    else:
        print_statistics(statistics, graph, rows, console())


@app.command()
def ask(
    graph: Annotated[
        str, typer.Argument(help="A graph folder, an MMKG folder, 'world', or a run folder for inferred answers too.")
    ],
    query: Annotated[
        str, typer.Argument(help="A query: (rp,(^in_country),(e,(Japan))) in the paper's notation, or SPARQL.")
    ],
    exact: Annotated[
        bool | None,
        typer.Option("--exact/--no-exact", help="Only answers that the graph proves; a graph has no others."),
    ] = None,
    why: Annotated[bool, typer.Option("--explain", help="Give the reason of each answer.")] = False,
    numbers: Annotated[
        NumbersOption, typer.Option(help="Compare numbers by arithmetic, or along the graph's numerical edges.")
    ] = NumbersOption.COMPUTED,
    limit: Annotated[int, typer.Option(min=1, help="How many answers to show.")] = 20,
    as_json: AsJson = False,
) -> None:
    """Answer a query: what a graph proves, or what a trained run infers beside it."""
    from kgreckon.exact import Numbers
    from kgreckon.exact import ask as ask_exactly
    from kgreckon.exact.answers import as_json as answers_as_json
    from kgreckon.graph import open_graph
    from kgreckon.query.reading import read_query
    from kgreckon.terminal.graphs import print_answers, print_question
    from kgreckon.terminal.tables import console

    is_run = (Path(graph) / "run.json").is_file()  # known without loading torch, which a graph does not need
    if is_run and not exact:
        _ask_run(graph, query, limit, why, as_json)
        return
    if exact is False:
        raise UserError(f"{graph} is a graph, not a trained model: it has exact answers only")
    opened = _graph_of_run(graph) if is_run else open_graph(graph)
    parsed, own_limit = read_query(query, opened.vocabulary)
    limit = limit if own_limit is None else min(limit, own_limit)
    answers = ask_exactly(opened, parsed, Numbers(numbers.value))
    if as_json:
        _print_json(answers_as_json(opened, parsed, answers, limit))
        return
    out = console()
    print_question(parsed, opened, out)
    print_answers(parsed, answers, opened, limit, out)
    if why:
        from kgreckon.answering import name_of, witnesses
        from kgreckon.terminal.answers import print_reason

        shown = answers[:limit].tolist()
        for answer, reason in zip(shown, witnesses(opened, parsed, shown), strict=True):
            print_reason(name_of(opened, parsed, answer), reason, out)


def _graph_of_run(run: str) -> KnowledgeGraph:
    from kgreckon.training import Run

    return Run.open(run).benchmark().graph


def _ask_run(run: str, query: str, limit: int, why: bool, as_json: bool) -> None:
    from kgreckon.answering import Answerer
    from kgreckon.terminal.answers import print_ranked
    from kgreckon.terminal.tables import console

    answerer = Answerer.open(run, device="cpu")
    found = answerer.ask(query, limit)
    reasons = [answerer.explain(query, answer.id) for answer in found.answers] if why else []
    if as_json:
        _print_json(found.as_json() | ({"reasons": reasons} if why else {}))
    else:
        print_ranked(found, reasons, console())


@app.command()
def build(
    graph: GraphPlace,
    out: Annotated[Path, typer.Option(help="The benchmark folder to write, or to go on with.")],
    preset: Annotated[str | None, typer.Option(help="The paper's counts: fb15k, db15k or yago15k.")] = None,
    numbers: Annotated[
        NumbersOption, typer.Option(help="Numerical relations: the paper's sampled edges, or computed by arithmetic.")
    ] = NumbersOption.SAMPLED,
    queries: Annotated[
        int | None, typer.Option(min=1, help="Training queries per type; a tenth of it to validate and to test.")
    ] = None,
    types: Annotated[
        list[str] | None,
        typer.Option(help="Names of types (1p,2i,pi), or one of your own: 3p='(p,(p,(p,(e))))'. May be repeated."),
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="The same seed gives the same bytes.")] = 0,
    workers: Annotated[
        int | None, typer.Option(min=1, help="Threads; as many as there are cores unless given.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Make a benchmark: nested splits and queries of all types with easy and hard answers."""
    from kgreckon.benchmark import PRESETS, BuildSettings
    from kgreckon.benchmark import build as build_benchmark
    from kgreckon.benchmark.types import parse_types
    from kgreckon.exact import Numbers
    from kgreckon.graph import open_graph
    from kgreckon.graph.readers import is_mmkg_folder
    from kgreckon.terminal.benchmarks import BuildProgress

    top_attributes = PRESETS[preset].top_attributes if preset and is_mmkg_folder(Path(graph)) else None
    opened = open_graph(graph, top_attributes)
    settings = BuildSettings.choose(opened, parse_types(types), queries, Numbers(numbers.value), seed, preset)
    with BuildProgress() as progress:
        try:
            build_benchmark(opened, out, settings, workers, progress)
        except KeyboardInterrupt:
            raise UserError(f"stopped; what was complete is kept in {out}, and the same command goes on") from None
    if as_json:
        _print_json({"folder": str(out), "queries": progress.found})
    else:
        typer.echo(f"{out}: {sum(progress.found.values()):,} queries; look at them with: kgreckon stats {out}")


@app.command()
def show(
    benchmark: BenchmarkPlace,
    split: Annotated[str, typer.Option(help="train, valid or test.")] = "test",
    type_: Annotated[str, typer.Option("--type", help="A general type, such as pi.")] = "1p",
    count: Annotated[int, typer.Option("-n", min=1, help="How many queries to show.")] = 5,
    answers: Annotated[int, typer.Option(min=1, help="How many answers of each kind to show.")] = 5,
    seed: Annotated[int, typer.Option(min=0, help="Which queries are picked.")] = 0,
    as_json: AsJson = False,
) -> None:
    """Show some queries of a benchmark in words, with their answers."""
    from kgreckon.benchmark import Benchmark, Split
    from kgreckon.benchmark.examples import example_queries
    from kgreckon.terminal.benchmarks import print_example
    from kgreckon.terminal.tables import console

    if split not in [each.label for each in Split]:
        raise UserError(f"unknown split {split!r}: choose train, valid or test")
    opened = Benchmark.open(benchmark)
    examples = example_queries(opened, Split.of(split), type_, count, seed)
    if as_json:
        _print_json([example.as_json(answers) for example in examples])
        return
    out = console()
    for example in examples:
        print_example(example, opened.graph, answers, out)


@app.command("export")
def export_(
    benchmark: BenchmarkPlace, out: Annotated[Path, typer.Option(help="The folder to write.")], as_json: AsJson = False
) -> None:
    """Write a benchmark's queries in the JSON form of the paper's released code."""
    from kgreckon.benchmark import Benchmark
    from kgreckon.benchmark.exchange import export_queries

    count = export_queries(Benchmark.open(benchmark), out)
    if as_json:
        _print_json({"folder": str(out), "queries": count})
    else:
        typer.echo(f"{out}: {count:,} queries")


@app.command("import-queries")
def import_queries_(
    source: Annotated[Path, typer.Argument(help="A folder in the JSON form of the paper's released code.")],
    graphs: Annotated[Path, typer.Option(help="The benchmark folder whose graphs the queries are about.")],
    out: Annotated[Path, typer.Option(help="The benchmark folder to write.")],
    as_json: AsJson = False,
) -> None:
    """Make a benchmark from queries in the JSON form of the paper's released code."""
    from kgreckon.benchmark import Benchmark, Split
    from kgreckon.benchmark.exchange import import_queries

    made = import_queries(source, Benchmark.open(graphs), out)
    count = sum(made.summary(split, name)["found"] for split in Split for name in made.types)
    if as_json:
        _print_json({"folder": str(out), "queries": count})
    else:
        typer.echo(f"{out}: {count:,} queries")


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
    as_json: AsJson = False,
) -> None:
    """Train a model on a benchmark, or go on with a training that was stopped."""
    from kgreckon.terminal.runs import TrainingBar
    from kgreckon.training import choose_settings, parse_assignments, preset_settings
    from kgreckon.training import resume as resume_run
    from kgreckon.training import train as train_model

    if resume is not None and (out or model or numbers or preset or set_):
        raise UserError("--resume goes on with the run's own settings: give no others")
    if resume is None and (benchmark is None or out is None):
        raise UserError("give a benchmark folder and --out RUN, or --resume RUN")
    with TrainingBar() as bar:
        try:
            if resume is not None:
                run = resume_run(resume, benchmark, bar)
            else:
                assert benchmark is not None and out is not None
                named = {name: value for name, value in (("model", model), ("numbers", numbers)) if value is not None}
                given = {**parse_assignments(set_ or ()), **named}
                chosen = {**preset_settings(preset, given.get("model")), **given}
                run = train_model(benchmark, out, choose_settings(chosen), bar)
        except KeyboardInterrupt:
            folder = resume or out
            raise UserError(f"stopped; go on from the last checkpoint with: kgreckon train --resume {folder}") from None
    best = run.best()
    if as_json:
        _print_json({"folder": str(run.folder), **best})
    else:
        typer.echo(f"{run.folder}: best validation MRR {best['validation_mrr']:.2f} at step {best['step']:,}")


@app.command()
def predict(
    run: Annotated[Path, typer.Argument(help="The run folder of a reckoner.")],
    entity: Annotated[str, typer.Argument(help="An entity, by name or by label.")],
    attribute: Annotated[str, typer.Argument(help="An attribute.")],
    coverage: Annotated[float, typer.Option(help="The probability that the interval holds the value.")] = 0.9,
    benchmark: Annotated[Path | None, typer.Option(help="Where the benchmark is now, if it moved.")] = None,
    as_json: AsJson = False,
) -> None:
    """Predict an entity's number, with an interval."""
    from kgreckon.reckoner import PredictedFacts, Reckoner
    from kgreckon.reckoner.predicting import predict as predict_value
    from kgreckon.terminal.runs import print_prediction
    from kgreckon.terminal.tables import console
    from kgreckon.training import load

    reckoner = load(run, benchmark, "cpu")
    if not isinstance(reckoner, Reckoner) or not isinstance(reckoner.facts, PredictedFacts):
        raise UserError(f"{run} is not a reckoner: only kgreckon train --model reckoner learns to predict numbers")
    names = reckoner.facts.observed.graph.vocabulary
    place, label = names.entity_id(entity), names.attribute_id(attribute)
    found = predict_value(reckoner.facts, place, label, coverage)
    if as_json:
        _print_json(found.as_json())
    else:
        print_prediction(found, place, label, names, console())


@app.command()
def evaluate(
    run: Annotated[Path, typer.Argument(help="A run folder.")],
    split: Annotated[str, typer.Option(help="valid or test.")] = "test",
    benchmark: Annotated[Path | None, typer.Option(help="Where the benchmark is now, if it moved.")] = None,
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
    if device not in ("auto", "cpu", "cuda"):
        raise UserError(f"unknown device {device!r}: choose auto, cpu or cuda")
    with RankingBar() as bar:
        result = evaluate_run(run, Split.of(split), benchmark, device, queries, bar.advance)
    if as_json:
        _print_json(result)
    else:
        print_evaluation(result, optimistic, console())


@app.command()
def reproduce(
    preset: Annotated[str, typer.Argument(help="The paper's graph: fb15k, db15k or yago15k.")],
    data: Annotated[Path, typer.Option(help="The MMKG folder of the graph.")],
    out: Annotated[Path, typer.Option(help="The folder for the benchmark, the runs, their results and the report.")],
    models: Annotated[
        list[str] | None,
        typer.Option(help="Only some: reckoner, a backbone, or one of its forms (gqe-dice); may be repeated."),
    ] = None,
    parallel: Annotated[int, typer.Option(min=1, help="Runs at a time; several share a GPU.")] = 1,
    budget: Annotated[
        float | None, typer.Option(min=0, help="Minutes, after which runs stop; call again to go on.")
    ] = None,
    set_: Annotated[
        list[str] | None, typer.Option("--set", help="A setting of the neural models, key=value; may be repeated.")
    ] = None,
) -> None:
    """Reproduce the paper's tables on one of its graphs: benchmark, nine models, the reckoner, report."""
    from kgreckon.benchmark import PRESETS, BuildSettings
    from kgreckon.benchmark import build as build_benchmark
    from kgreckon.benchmark.format import read_json
    from kgreckon.errors import unknown_name
    from kgreckon.graph import open_graph
    from kgreckon.reproducing import plans_for
    from kgreckon.reproducing import reproduce as reproduce_runs
    from kgreckon.reproducing.report import markdown
    from kgreckon.terminal.benchmarks import BuildProgress
    from kgreckon.terminal.runs import ReproductionNotes
    from kgreckon.training import parse_assignments

    if preset not in PRESETS:
        raise unknown_name("preset", preset, PRESETS)
    plans = plans_for(preset, models or (), parse_assignments(set_ or ()))
    graph = open_graph(data, PRESETS[preset].top_attributes)
    try:
        with BuildProgress() as progress:
            made = build_benchmark(graph, out / "benchmark", BuildSettings.choose(graph, preset=preset), None, progress)
        seconds = None if budget is None else 60 * budget
        found = reproduce_runs(made, out, plans, parallel, seconds, ReproductionNotes())
    except KeyboardInterrupt:
        raise UserError(f"stopped; what is complete is kept in {out}, and the same command goes on") from None
    report = out / "report.md"
    report.write_text(markdown([read_json(path) for path in found], "kgreckon reproduce"), encoding="utf-8")
    typer.echo(f"{report}: {len(found)} of {len(plans)} runs")


@app.command()
def compare(
    runs: Annotated[list[Path], typer.Argument(help="Run folders that were evaluated.")],
    split: Annotated[str, typer.Option(help="valid or test.")] = "test",
    as_json: AsJson = False,
) -> None:
    """Put runs side by side, with the paper's numbers where the benchmark is one of its three."""
    from kgreckon.terminal.runs import print_comparison
    from kgreckon.terminal.tables import console
    from kgreckon.training.comparing import compare_runs

    rows = compare_runs(runs, split)
    if as_json:
        _print_json([row.as_json() for row in rows])
    else:
        print_comparison(rows, console())


@app.command()
def demo(
    out: Annotated[Path, typer.Option(help="Where the demonstration keeps what it makes.")] = Path("runs/demo"),
) -> None:
    """Show what kgreckon does on the embedded World graph."""
    from kgreckon.demo import run

    run(out)


def main() -> None:
    """The program: a user's mistake is one line on stderr and exit code 2."""
    if isinstance(sys.stdout, TextIOWrapper):  # a name that the terminal cannot show is shown by its code
        sys.stdout.reconfigure(errors="backslashreplace")
    try:
        app()
    except UserError as error:
        print(f"error: {error}", file=sys.stderr)
        sys.exit(2)
    except BrokenPipeError:  # the reader of our output has gone, as `head` does
        sys.stderr.close()
        sys.exit(1)
    except OSError as error:  # a full disk, a closed folder, a name too long
        if error.filename is None:
            raise
        print(f"error: {error.filename}: {error.strerror}", file=sys.stderr)
        sys.exit(2)


if __name__ == "__main__":
    main()
