"""kgreckon reasons over incomplete knowledge graphs with numbers: it computes what they prove and infers the rest.

import kgreckon as kg

kg.load("world").ask("(rp,(^capital_of),(e,(Japan)))")
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from kgreckon.version import __version__

if TYPE_CHECKING:
    from kgreckon.answers import Answer, Answerer, Answers, SparqlAnswers
    from kgreckon.api import build, change, learn, load
    from kgreckon.benchmark import Benchmark
    from kgreckon.errors import UserError
    from kgreckon.evaluation import EvaluationResult
    from kgreckon.graph import KnowledgeGraph, open_graph, read_sources
    from kgreckon.query import Builder
    from kgreckon.runs import Run, resume, train
    from kgreckon.runs.evaluate import evaluate

# Where each name lives; a module is imported when one of its names is first used.
_PLACES = {
    "Answer": "kgreckon.answers",
    "Answerer": "kgreckon.answers",
    "Answers": "kgreckon.answers",
    "Benchmark": "kgreckon.benchmark",
    "Builder": "kgreckon.query",
    "EvaluationResult": "kgreckon.evaluation",
    "KnowledgeGraph": "kgreckon.graph",
    "Run": "kgreckon.runs",
    "SparqlAnswers": "kgreckon.answers",
    "UserError": "kgreckon.errors",
    "build": "kgreckon.api",
    "change": "kgreckon.api",
    "evaluate": "kgreckon.runs.evaluate",
    "learn": "kgreckon.api",
    "load": "kgreckon.api",
    "open_graph": "kgreckon.graph",
    "read_sources": "kgreckon.graph",
    "resume": "kgreckon.runs",
    "train": "kgreckon.runs",
}

__all__ = [
    "Answer",
    "Answerer",
    "Answers",
    "Benchmark",
    "Builder",
    "EvaluationResult",
    "KnowledgeGraph",
    "Run",
    "SparqlAnswers",
    "UserError",
    "__version__",
    "build",
    "change",
    "evaluate",
    "learn",
    "load",
    "open_graph",
    "read_sources",
    "resume",
    "train",
]


def __getattr__(name: str) -> object:
    if name not in _PLACES:
        raise AttributeError(f"module 'kgreckon' has no attribute {name!r}")
    from kgreckon.errors import naming_extras

    with naming_extras():
        return getattr(import_module(_PLACES[name]), name)


def __dir__() -> list[str]:
    return __all__
