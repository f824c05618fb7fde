"""Exact answers as plain data."""

from __future__ import annotations

from typing import Any

import numpy as np

from kgreckon.graph import KnowledgeGraph
from kgreckon.query import NumberSort, Query, general_type, sentence, sort_of, specific_type
from kgreckon.query.paper import write


def as_json(graph: KnowledgeGraph, query: Query, answers: np.ndarray, limit: int | None = None) -> dict[str, Any]:
    """A query and the first of its answers, by name."""
    vocabulary = graph.vocabulary
    shown = answers[:limit].tolist()
    rows: list[dict[str, Any]]
    if isinstance(sort_of(query, vocabulary), NumberSort):
        rows = [dict(zip(("value", "unit"), graph.values.number_at(row), strict=True)) for row in shown]
    else:
        rows = [{"id": entity, "name": vocabulary.entity_name(entity), "label": vocabulary.entity_label(entity)}
                for entity in shown]  # fmt: skip
    return {
        "query": write(query, vocabulary),
        "words": sentence(query, vocabulary),
        "general_type": general_type(query),
        "specific_type": specific_type(query),
        "count": len(answers),
        "answers": rows,
    }
