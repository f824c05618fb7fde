"""Progress bars on stderr."""

from __future__ import annotations

from typing import Any, Self

from rich import progress

from kgreckon.cli.console import notes


class Bars:
    """Progress bars on stderr, until the end of the block they are used in; they appear with the first task."""

    def __init__(self, *columns: progress.ProgressColumn) -> None:
        self._bars = progress.Progress(*columns, console=notes())

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        if self._bars.tasks:  # otherwise an error message would come after an empty line
            self._bars.stop()

    def _add(self, text: str, total: int | None, done: int = 0, /, **fields: Any) -> progress.TaskID:
        self._bars.start()
        return self._bars.add_task(text, total=total, completed=done, **fields)
