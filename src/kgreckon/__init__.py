"""kgreckon reckons over incomplete knowledge graphs: it computes, and it infers."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

    from kgreckon.answering import Answerer

__version__ = "0.1.0"


def load(run: str | Path, benchmark: Path | None = None, device: str = "auto") -> Answerer:
    """The answerer of a run folder: `kgreckon.load(RUN).ask(query)`."""
    from kgreckon.answering import Answerer

    return Answerer.open(run, benchmark, device)
