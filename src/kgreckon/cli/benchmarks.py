"""Commands on benchmarks: build, show, export, import-queries, import-benchmark."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from kgreckon.cli.app import AsJson, BalanceOption, BenchmarkPlace, ComparisonsOption, GraphPlace, app, print_json
from kgreckon.errors import UserError

if TYPE_CHECKING:
    from kgreckon.benchmark import SplitGraph


@app.command()
def build(
    out: Annotated[Path, typer.Option(help="The benchmark folder to write, or to go on with.")],
    graph: GraphPlace = None,
    train: Annotated[
        list[Path] | None, typer.Option(help="A split of your own: a file of the training graph; may be repeated.")
    ] = None,
    valid: Annotated[
        list[Path] | None, typer.Option(help="And a file of what the validation graph adds; may be repeated.")
    ] = None,
    test: Annotated[
        list[Path] | None, typer.Option(help="And a file of what the testing graph adds; may be repeated.")
    ] = None,
    skip_bad_lines: Annotated[
        bool, typer.Option(help="Count and report bad lines, and facts of an earlier split, instead of stopping.")
    ] = False,
    dataset: Annotated[
        str | None, typer.Option(help="As the paper's numbers were made: fb15k, db15k or yago15k.")
    ] = None,
    comparisons: Annotated[
        ComparisonsOption | None,
        typer.Option(
            help="Numerical relations: edges sampled at random, edges as the paper's released code takes them, or "
            "computed by arithmetic.",
            show_default="sampled; with --dataset, released",
        ),
    ] = None,
    known_anchors: Annotated[
        bool | None,
        typer.Option(
            "--known-anchors/--any-anchors",
            help="Whether validation and test queries name only what the training graph holds.",
            show_default="known-anchors; with --dataset, any-anchors",
        ),
    ] = None,
    queries: Annotated[
        int | None, typer.Option(min=1, help="Training queries per type; a tenth of it to validate and to test.")
    ] = None,
    types: Annotated[
        list[str] | None,
        typer.Option(help="Names of types (1p,2i,pi), or one of your own: 3p='(p,(p,(p,(e))))'. May be repeated."),
    ] = None,
    balance: Annotated[
        BalanceOption | None,
        typer.Option(
            help="Validation and test queries in equal shares by how many facts the cheapest proofs of their answers "
            "lack in the training graph. Graphs and training queries stay the same.",
        ),
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="The same seed gives the same bytes.")] = 0,
    workers: Annotated[
        int | None, typer.Option(min=1, help="Threads; as many as there are cores unless given.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Make a benchmark: nested splits and queries of all types with easy and hard answers."""
    from kgreckon.api import build as build_benchmark
    from kgreckon.benchmark import Split
    from kgreckon.benchmark.split_files import read_split
    from kgreckon.cli.benchmark_tables import BuildBar
    from kgreckon.cli.console import notes

    given = {"train": train, "valid": valid, "test": test}
    files = {split: paths for split, paths in given.items() if paths}
    if (graph is None) != bool(files):
        raise UserError("give either a graph, or files with --train, --valid and --test")
    if skip_bad_lines and not files:
        raise UserError("--skip-bad-lines is for --train, --valid and --test")
    source: str | SplitGraph = graph or ""
    if files:
        with notes().status("reading ..."):
            source, report = read_split(files, skip_bad_lines)
        for remark in report.remarks():
            notes().print(remark, soft_wrap=True)
    with BuildBar() as progress:
        try:
            made = build_benchmark(
                source,
                out,
                dataset=dataset,
                types=types,
                queries=queries,
                comparisons=None if comparisons is None else comparisons.value,
                known_anchors=known_anchors,
                balance=None if balance is None else balance.value,
                seed=seed,
                workers=workers,
                progress=progress,
            )
        except KeyboardInterrupt:
            raise UserError(f"stopped; what was complete is kept in {out}, and the same command goes on") from None
    counts = {f"{split.label} {name}": made.summary(split, name)["found"] for split in Split for name in made.types}
    if as_json:
        print_json({"folder": str(out), "queries": counts})
    else:
        typer.echo(f"{out}: {sum(counts.values()):,} queries; look at them with: kgreckon stats {out}")


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
    from kgreckon.cli.benchmark_tables import print_example
    from kgreckon.cli.console import console

    if split not in [known.label for known in Split]:
        raise UserError(f"unknown split {split!r}: choose train, valid or test")
    opened = Benchmark.open(benchmark)
    examples = example_queries(opened, Split.of(split), type_, count, seed)
    if as_json:
        print_json([example.as_json(answers) for example in examples])
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
        print_json({"folder": str(out), "queries": count})
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
        print_json({"folder": str(out), "queries": count})
    else:
        typer.echo(f"{out}: {count:,} queries")


@app.command("import-benchmark")
def import_benchmark_(
    source: Annotated[Path, typer.Argument(help="A folder as BetaE and its successors publish it.")],
    out: Annotated[Path, typer.Option(help="The benchmark folder to write.")],
    validation_queries: Annotated[
        int, typer.Option(min=0, help="Where the folder has no validation queries, draw so many of each type.")
    ] = 0,
    strict: Annotated[
        bool, typer.Option(help="Stop where the files contradict the facts, instead of counting that.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Make a benchmark from the facts and queries of a published one; answers are computed, and compared with it."""
    from kgreckon.benchmark.importing import import_benchmark
    from kgreckon.cli.benchmark_tables import ImportBar
    from kgreckon.cli.console import notes

    with ImportBar() as progress:
        made, report = import_benchmark(source, out, strict, validation_queries, progress)
    for remark in report.remarks:
        notes().print(remark, soft_wrap=True)
    if as_json:
        print_json({"folder": str(out), **report.as_json()})
    else:
        count = sum(counts.kept for counts in report.types)
        typer.echo(f"{out}: {count:,} queries of {len(made.types)} types; look at them with: kgreckon stats {out}")
