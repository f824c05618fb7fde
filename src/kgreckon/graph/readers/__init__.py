"""Readers: from files as people have them to a knowledge graph."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from kgreckon.errors import UserError
from kgreckon.graph.graph_builder import GraphBuilder
from kgreckon.graph.knowledge_graph import KnowledgeGraph
from kgreckon.graph.literals import local_name
from kgreckon.graph.readers.import_report import ImportReport, Labels
from kgreckon.graph.readers.mmkg import is_mmkg_folder, read_mmkg
from kgreckon.graph.readers.rdf_texts import RdfTexts
from kgreckon.graph.readers.streams import Source, as_files
from kgreckon.graph.readers.tables import SUFFIXES, TableKind, kind_of, read_table
from kgreckon.graph.readers.wide_sources import AS_GUESSED, Reading, WideSources, is_wide_source, reading_of
from kgreckon.graph.unpacking import suffix_of
from kgreckon.graph.wide.loading import READERS
from kgreckon.graph.wide.wide_table import WideTable

__all__ = [
    "ImportReport",
    "Reading",
    "Source",
    "TableKind",
    "built",
    "is_mmkg_folder",
    "read_into",
    "read_sources",
    "reading_of",
]


def read_sources(
    sources: Sequence[Source],
    top_attributes: int | None = None,
    skip_bad_lines: bool = False,
    reading: Reading = AS_GUESSED,
    progress: Callable[[Path, int], None] | None = None,
) -> tuple[KnowledgeGraph, ImportReport]:
    """One graph from files, frames and MMKG folders, and what was met on the way.

    `reading` says how wide tables are understood; without it that is guessed. `progress` is given a file and how many
    of its bytes have been read since it was last given one.
    """
    if not sources:
        raise UserError("nothing to import: give at least one file or folder")
    builder, report = GraphBuilder(), ImportReport(skip_bad_lines=skip_bad_lines, progress=progress)
    read_into(builder, report, sources, reading)
    return built(builder, report, top_attributes), report


@dataclass(frozen=True)
class Share:
    """What one source gave to a builder: which of all facts, and which of all values."""

    facts: slice
    values: slice


def read_into(
    builder: GraphBuilder, report: ImportReport, sources: Sequence[Source], reading: Reading = AS_GUESSED
) -> list[Share]:
    """Add the facts, values and names of files, frames and MMKG folders; returns what each of them gave."""
    with as_files(sources, report) as (files, names):
        return _read_files(builder, report, files, reading, names)


def _read_files(
    builder: GraphBuilder, report: ImportReport, sources: Sequence[Source], reading: Reading, names: dict[Path, str]
) -> list[Share]:
    told = [(place, *_told(source, reading, report)) for place, source in enumerate(sources)]
    wide = WideSources(
        {place: source for place, source, kind in told if kind is TableKind.WIDE}, reading, report, names
    )
    labels: Labels = {}
    texts = RdfTexts()
    shares: dict[int, Share] = {}
    # Names are read last: they label what the facts have named by then.
    for place, source, kind in sorted(told, key=lambda source: source[2] is TableKind.NAMES):
        facts, values = builder.num_facts_given, builder.num_values_given
        if kind is TableKind.WIDE or isinstance(source, WideTable):
            wide.state(place, builder, report)
        else:
            if kind is TableKind.NAMES:
                texts.state(builder, report, labels)
                _add_labels(labels, builder, report)
                report.names.append(names.get(source, source.name))
            _read_source(source, kind, builder, report, labels, texts)
        shares[place] = Share(slice(facts, builder.num_facts_given), slice(values, builder.num_values_given))
    texts.state(builder, report, labels)
    _add_labels(labels, builder, report)
    return [shares[place] for place in range(len(shares))]


def built(builder: GraphBuilder, report: ImportReport, top_attributes: int | None = None) -> KnowledgeGraph:
    """The graph of what was read; the report tells of it."""
    graph = builder.build(top_attributes)
    report.merged = builder.merged
    report.facts, report.values = len(graph.facts), len(graph.attribute_facts)
    report.repeated_facts = builder.num_facts_given - len(graph.facts)
    report.blank_twins = _blank_twins(graph)
    for (attribute, unit, kept), count in builder.left_out.items():
        report.other_literals[f"{local_name(attribute)} in {unit}, where most are in {kept}"] += count
    if top_attributes is None:
        left_out = builder.left_out.total()
        report.repeated_values = builder.num_values_given - left_out - len(graph.attribute_facts)
    if not len(graph.facts) and not len(graph.attribute_facts):
        named = ""
        if report.names:
            named = f"; taken for a table of names: {', '.join(report.names)} (where each row is a thing: --wide FILE)"
        raise UserError(f"the sources hold no facts{named}")
    return graph


def _blank_twins(graph: KnowledgeGraph) -> list[str]:
    """Names that are those of another thing of the same kind but for blanks around them, which nobody sees."""
    import pyarrow.compute as pc  # which takes its time, and asking does not need

    found = []
    for symbols in (graph.entities, graph.relations, graph.attributes):
        trimmed = pc.utf8_trim_whitespace(symbols.names)
        changed = symbols.names.filter(pc.not_equal(trimmed, symbols.names)).to_pylist()
        found += [name for name in changed if symbols.has(name.strip())] if changed else []
    return found


def _told(source: Source, reading: Reading, report: ImportReport) -> tuple[Path | WideTable, TableKind | None]:
    """A source and what kind of table it is; none where it is no table."""
    if isinstance(source, WideTable):
        return source, TableKind.WIDE
    path, kind = source if isinstance(source, tuple) else (source, None)
    path = Path(path)
    if kind is None and is_wide_source(path, reading, report):
        kind = TableKind.WIDE
    if kind is None and path.is_file() and suffix_of(path) in SUFFIXES:
        kind = kind_of(path)
    return path, kind


def _add_labels(labels: Labels, builder: GraphBuilder, report: ImportReport) -> None:
    """Give the labels that RDF files gave, once all of them are read."""
    for name, (_, label) in labels.items():
        if builder.label(name, label):
            report.labels += 1
        else:
            report.labels_of_nothing += 1
    labels.clear()


def _read_source(
    path: Path, kind: TableKind | None, builder: GraphBuilder, report: ImportReport, labels: Labels, texts: RdfTexts
) -> None:
    if path.is_dir():
        if not is_mmkg_folder(path):
            raise UserError(f"{path} is a folder, but not one of MMKG (EntityTriples and NumericalTriples)")
        read_mmkg(path, builder, report)
    elif not path.exists():
        raise UserError(f"{path}: no such file")
    elif kind is not None:
        read_table(path, kind, builder, report)
    else:
        from kgreckon.graph.readers.rdf import is_rdf_file, read_rdf  # RDF is read only where it is used

        if not is_rdf_file(path):
            raise UserError(f"{path}: cannot tell what this file is; known endings are {', '.join(READERS)}, "
                            ".nt, .ttl, .nq, .trig, .rdf, .xml, .n3, .jsonld, each also with .gz")  # fmt: skip
        read_rdf(path, builder, report, labels, texts)
