"""The knowledge graph: entities, relations, numerical attributes, and the sorted table of their values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from kgreckon.graph.adjacency import Adjacency
from kgreckon.graph.symbols import Symbols
from kgreckon.graph.triples import Triples
from kgreckon.graph.values import ValueTable

if TYPE_CHECKING:
    from kgreckon.graph.naming import GraphVocabulary


@dataclass(frozen=True)
class KnowledgeGraph:
    """Facts between entities, and numbers that attributes take on entities.

    A relation has two numbers, 2r as the data states it and 2r + 1 for its inverse, so `relation ^ 1` turns one into
    the other. Attributes have one unit each. `comparisons`, where a graph carries them, are the numerical edges of the
    paper's benchmark: from value y, by the number of a comparison, to value x.
    """

    entities: Symbols
    relations: Symbols
    relation_phrases: tuple[str | None, ...]  # verb phrases that read between head and tail, where there are any
    attributes: Symbols
    attribute_units: np.ndarray  # (attributes,) int32: places in values.units
    values: ValueTable
    facts: Triples  # head, relation as stated (not doubled), tail
    attribute_facts: Triples  # entity, attribute, value row
    comparisons: Triples | None = None  # value row y, comparison, value row x

    def __repr__(self) -> str:
        return (
            f"KnowledgeGraph: {len(self.entities):,} entities, {len(self.facts):,} facts of {len(self.relations):,} "
            f"relations, {len(self.attribute_facts):,} values of {len(self.attributes):,} attributes"
        )

    @cached_property
    def follows(self) -> Adjacency:
        """From an entity, by a relation or its inverse, to entities."""
        both = Triples.from_parts(*self.facts.each_way())
        return Adjacency.from_triples(both, len(self.entities), len(self.entities))

    @cached_property
    def values_of(self) -> Adjacency:
        """From an entity, by an attribute, to value rows."""
        return Adjacency.from_triples(self.attribute_facts, len(self.entities), len(self.values))

    @cached_property
    def having(self) -> Adjacency:
        """From an attribute, by a value row, to entities: an attribute's rows stand sorted, so a range is a run."""
        facts = self.attribute_facts
        turned = Triples.from_arrays(facts.labels, facts.targets, facts.sources)
        return Adjacency.from_triples(turned, len(self.attributes), len(self.entities))

    @cached_property
    def compared(self) -> Adjacency | None:
        """From a value row, by a comparison, to value rows; None where the graph carries no numerical edges."""
        if self.comparisons is None:
            return None
        return Adjacency.from_triples(self.comparisons, len(self.values), len(self.values))

    @cached_property
    def vocabulary(self) -> GraphVocabulary:
        """The names of this graph, for notations."""
        from kgreckon.graph.naming import GraphVocabulary

        return GraphVocabulary(self)

    @staticmethod
    def from_tables(
        sources: str | Path | Sequence[str | Path],
        *,
        mapping: Mapping[str, Any] | str | Path | None = None,
        key: str | None = None,
        skip_bad_lines: bool = False,
    ) -> KnowledgeGraph:
        """The graph of files: tables with one row per thing, tables of facts, RDF, databases (docs/tables.md).

        `mapping` says what the columns of wide tables become, as a file or a dictionary; the rest is guessed. `key`
        names the rows of the only wide table.
        """
        from kgreckon.graph.readers import read_sources, reading_of

        paths = [Path(sources)] if isinstance(sources, str | Path) else [Path(path) for path in sources]
        return read_sources(paths, skip_bad_lines=skip_bad_lines, reading=reading_of(mapping, key))[0]

    @staticmethod
    def from_frame(
        frame: Any,
        name: str = "table",
        *,
        mapping: Mapping[str, Any] | str | Path | None = None,
        key: str | None = None,
        skip_bad_lines: bool = False,
    ) -> KnowledgeGraph:
        """The graph of a pandas or polars frame or an Arrow table with one row per thing, or of several by name.

        `mapping` and `key` are those of `from_tables`.
        """
        from kgreckon.graph.readers import read_sources, reading_of
        from kgreckon.graph.wide.frames import frame_tables

        tables = frame_tables(frame, name)
        return read_sources(tables, skip_bad_lines=skip_bad_lines, reading=reading_of(mapping, key))[0]

    def restricted(self, facts: np.ndarray, attribute_facts: np.ndarray) -> KnowledgeGraph:
        """The graph of some of the facts, given as masks; names and the value table stay."""
        return replace(self, facts=self.facts[facts], attribute_facts=self.attribute_facts[attribute_facts])

    def save(self, folder: str | Path, compress: bool = False, overwrite: bool = False) -> None:
        """Write the graph folder; see docs/formats.md."""
        from kgreckon.graph.storage import save_graph

        save_graph(self, Path(folder), compress=compress, overwrite=overwrite)
