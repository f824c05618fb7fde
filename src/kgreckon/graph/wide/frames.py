"""Frames as wide tables: pandas, polars, Arrow, and whatever else speaks the Arrow interface."""

from __future__ import annotations

from typing import Any

import pyarrow as pa

from kgreckon.errors import UserError
from kgreckon.graph.wide.loading import plain_name
from kgreckon.graph.wide.networks import is_network, network_tables
from kgreckon.graph.wide.wide_table import WideTable, check_names, from_values, wide_table


def frame_tables(given: Any, name: str) -> list[WideTable]:
    """The wide table of a frame, those of a dictionary of frames by name, or those of a NetworkX graph."""
    if is_network(given):
        return network_tables(given, plain_name(name), f"the network {name!r}")
    frames = given if isinstance(given, dict) else {name: given}
    return [wide_table(plain_name(str(one)), f"the frame {one!r}", arrow_of(frame)) for one, frame in frames.items()]


def arrow_of(frame: Any) -> pa.Table:
    """A frame as an Arrow table."""
    if isinstance(frame, pa.Table):
        return frame
    if isinstance(frame, pa.RecordBatch):
        return pa.Table.from_batches([frame])
    if hasattr(frame, "iloc") and hasattr(frame, "columns"):  # pandas, whose columns may mix types
        index = frame.index
        named = index.name is not None or str(index.dtype) in ("object", "str", "string")
        frame = frame.reset_index() if named else frame
        names = [str(column) for column in frame.columns]
        check_names(names, "the frame")
        return pa.table({name: _series(frame.iloc[:, place]) for place, name in enumerate(names)})
    if hasattr(frame, "collect") and not hasattr(frame, "to_arrow"):
        frame = frame.collect()  # a lazy frame of polars
    if hasattr(frame, "to_arrow"):
        return frame.to_arrow()
    if hasattr(frame, "__arrow_c_stream__"):
        return pa.table(frame)
    raise UserError(f"a {type(frame).__name__} is not a table: give a pandas or polars frame or an Arrow table")


def _series(series: Any) -> pa.Array:
    if str(series.dtype) == "object":
        return from_values(series.tolist())
    found = pa.Array.from_pandas(series)
    return found.combine_chunks() if isinstance(found, pa.ChunkedArray) else found
