"""The figures of a training for TensorBoard, in a file of its own for each call."""

from __future__ import annotations

import os
from pathlib import Path
from time import time, time_ns
from types import TracebackType
from typing import Any

from kgreckon.files import make_folders


class EventFile:
    """Events, written as they come: TensorBoard's own writer has a thread, which cannot tell us of a full disk."""

    def __init__(self, folder: Path, step: int) -> None:
        """A new file in `folder`; what others there tell of later steps, which are taken again, is forgotten."""
        from tensorboard.compat.proto.event_pb2 import SessionLog
        from tensorboard.summary.writer.record_writer import RecordWriter

        make_folders(folder)
        path = folder / f"events.out.tfevents.{time_ns() // 10**9:010d}.{time_ns() % 10**9:09d}.{os.getpid()}"
        self._file = path.open("xb")
        self._records = RecordWriter(self._file)
        self._write(file_version="brain.Event:2")
        self._write(step=step + 1, session_log=SessionLog(status=SessionLog.START))

    def add(self, name: str, number: float, step: int) -> None:
        """A figure at a step."""
        from tensorboard.compat.proto.summary_pb2 import Summary

        self._write(step=step, summary=Summary(value=[Summary.Value(tag=name, simple_value=number)]))

    def _write(self, **event: Any) -> None:
        from tensorboard.compat.proto.event_pb2 import Event

        self._records.write(Event(wall_time=time(), **event).SerializeToString())
        self._records.flush()

    def __enter__(self) -> EventFile:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._file.close()
