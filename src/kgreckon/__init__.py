"""kgreckon reckons over incomplete knowledge graphs: it computes, and it infers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kgreckon.version import __version__ as __version__

if TYPE_CHECKING:
    from pathlib import Path

    from kgreckon.answering import Answerer


def load(run: str | Path, benchmark: Path | None = None, device: str = "auto") -> Answerer:
    """The answerer of a run folder: `kgreckon.load(RUN).ask(query)`."""
    from kgreckon.answering import Answerer

    return Answerer.open(run, benchmark, device)
