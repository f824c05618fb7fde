"""Commands on graphs: import, stats."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from kgreckon.cli.app import AsJson, KeyColumn, MappingFile, SkipBadLines, app, print_json

if TYPE_CHECKING:
    from rich.status import Status

    from kgreckon.graph import ImportReport, KnowledgeGraph


@app.command("import")
def import_(
    sources: Annotated[
        list[Path] | None,
        typer.Argument(
            help="Tables (CSV, Parquet, Excel, JSON lines, databases ...), RDF files, or MMKG folders; .gz too."
        ),
    ] = None,
    out: Annotated[Path | None, typer.Option(help="The graph folder to write.")] = None,
    wide: Annotated[
        list[Path] | None, typer.Option(help="A further table with one row per thing, whatever it looks like.")
    ] = None,
    mapping: MappingFile = None,
    key: KeyColumn = None,
    write_mapping: Annotated[
        Path | None, typer.Option(help="Also write here what was guessed, to edit and give back with --mapping.")
    ] = None,
    dry_run: Annotated[bool, typer.Option(help="Show what is guessed and the first facts, and make no graph.")] = False,
    triples: Annotated[
        list[Path] | None, typer.Option(help="A further table, of facts and values: subject, predicate, object.")
    ] = None,
    facts: Annotated[list[Path] | None, typer.Option(help="A further table, of facts: head, relation, tail.")] = None,
    values: Annotated[
        list[Path] | None, typer.Option(help="A further table, of values: entity, attribute, value[, unit].")
    ] = None,
    names: Annotated[list[Path] | None, typer.Option(help="A further table, of readable names: name, label.")] = None,
    top_attributes: Annotated[int | None, typer.Option(min=1, help="Keep only the N most frequent attributes.")] = None,
    skip_bad_lines: SkipBadLines = False,
    overwrite: Annotated[bool, typer.Option(help="Replace an existing graph folder.")] = False,
    as_json: AsJson = False,
) -> None:
    """Make a graph folder from files."""
    from kgreckon.cli.console import console, notes
    from kgreckon.cli.mapping_tables import print_first_facts, print_guesses
    from kgreckon.files import new_file
    from kgreckon.graph import TableKind, read_sources
    from kgreckon.graph.readers import reading_of
    from kgreckon.graph.storage import new_graph_folder, write_graph
    from kgreckon.graph.wide.mapping import write_mapping as as_toml

    if out is None and not dry_run:
        raise typer.BadParameter("give the folder to write, or look first with --dry-run", param_hint="--out")
    given = (
        (triples, TableKind.TRIPLES),
        (facts, TableKind.FACTS),
        (values, TableKind.VALUES),
        (names, TableKind.NAMES),
        (wide, TableKind.WIDE),
    )
    tables = [(path, kind) for paths, kind in given for path in paths or ()]
    place = console() if dry_run and not as_json else notes(tables=True)
    reading = reading_of(mapping, key, lambda guesses: print_guesses(guesses, place))

    def read(status: Status) -> tuple[KnowledgeGraph, ImportReport]:
        graph, report = read_sources(
            [*(sources or ()), *tables], top_attributes, skip_bad_lines, reading, _Reading(status.update)
        )
        if write_mapping is not None:
            with new_file(write_mapping) as temporary:
                temporary.write_text(as_toml(report.tables), encoding="utf-8")
        return graph, report

    if dry_run or out is None:
        with notes().status("reading ...") as status:
            graph, report = read(status)
        if not as_json:
            print_first_facts(graph, console())
    else:
        with new_graph_folder(out, overwrite) as target, notes().status("reading ...") as status:  # refused before
            graph, report = read(status)
            status.update("writing ...")
            write_graph(graph, target, mapping=as_toml(report.tables).encode() if report.tables else None)
    for remark in report.remarks():
        notes().print(remark, soft_wrap=True)
    summary = {
        "folder": None if dry_run else str(out),
        "entities": len(graph.entities),
        "relations": len(graph.relations),
        "facts": len(graph.facts),
        "attributes": len(graph.attributes),
        "attribute_facts": len(graph.attribute_facts),
        "values": len(graph.values),
        "labels": report.labels,
    }
    if as_json:
        print_json(summary | {"remarks": report.remarks()})
        return
    typer.echo(
        f"{'not written' if dry_run else out}: {len(graph.entities):,} entities, "
        f"{len(graph.facts):,} facts of {len(graph.relations):,} relations, "
        f"{len(graph.attribute_facts):,} values of {len(graph.attributes):,} attributes"
    )


class _Reading:
    """Says how much of a file has been read."""

    def __init__(self, say: Callable[[str], None]) -> None:
        self._say, self._read = say, Counter[Path]()

    def __call__(self, path: Path, size: int) -> None:
        self._read[path] += size
        of = "" if path.suffix == ".gz" else f" of {path.stat().st_size / 1e6:,.0f}"
        self._say(f"reading {path.name}: {self._read[path] / 1e6:,.0f}{of} MB ...")


@app.command()
def phrase(
    graph: Annotated[Path, typer.Argument(help="A graph folder.")],
    relation: Annotated[str, typer.Argument(help="A relation.")],
    words: Annotated[str, typer.Argument(help="How it reads between head and tail: 'is in', 'helps against'.")],
) -> None:
    """Say how a relation reads in questions and answers; an empty phrase takes a given one away."""
    from kgreckon.errors import UserError
    from kgreckon.graph.changes.rewriting import rewrite_graph

    said = " ".join(words.split())

    def phrased(opened: KnowledgeGraph) -> KnowledgeGraph:
        place = opened.vocabulary.relation_id(relation)
        if place & 1:
            raise UserError(f"{relation!r} is an inverse: say how {relation[1:]!r} reads, from head to tail")
        phrases = list(opened.relation_phrases)
        phrases[place >> 1] = said or None
        return replace(opened, relation_phrases=tuple(phrases))

    changed = rewrite_graph(graph, phrased)
    name = changed.relations.name(changed.vocabulary.relation_id(relation) >> 1)
    typer.echo(f"{graph}: {name} reads: … {said} …" if said else f"{graph}: {name} has no phrase of its own any more")


@app.command()
def stats(
    graph: Annotated[str, typer.Argument(help="A graph folder, a benchmark folder, an MMKG folder, or 'world'.")],
    rows: Annotated[int, typer.Option(min=1, help="How many relations and attributes to show.")] = 15,
    top_attributes: Annotated[int | None, typer.Option(min=1, help="Read only the N most frequent attributes.")] = None,
    as_json: AsJson = False,
) -> None:
    """Show what is in a graph (counts, units, ranges) or in a benchmark (beside the paper's own numbers)."""
    from kgreckon.benchmark import Benchmark, is_benchmark_folder
    from kgreckon.benchmark.overview import benchmark_statistics
    from kgreckon.cli.benchmark_tables import print_benchmark_statistics
    from kgreckon.cli.console import console
    from kgreckon.cli.graph_tables import print_statistics
    from kgreckon.graph import open_graph
    from kgreckon.graph.statistics import graph_statistics
    from kgreckon.runs.changing import standing_changes

    if is_benchmark_folder(Path(graph)):
        counts = benchmark_statistics(Benchmark.open(graph))
        if as_json:
            print_json(counts.as_json())
        else:
            print_benchmark_statistics(counts, graph, console())
        return
    statistics, changes = graph_statistics(open_graph(graph, top_attributes)), standing_changes(graph)
    if as_json:
        print_json(statistics.as_json() | {"changes_in_the_log": changes})
    else:
        print_statistics(statistics, graph, rows, console(), changes)
