"""What is learned of all attributes as a few tensors: of each name one flat array, beside the shapes of its parts."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import torch
from torch import Tensor

from kgreckon.models.reckoner.numbers.columns import Columns
from kgreckon.models.reckoner.numbers.estimating import Estimator, Expert, LearnedAttribute
from kgreckon.models.reckoner.numbers.forests import Forest
from kgreckon.models.reckoner.numbers.identities import Form, Identity
from kgreckon.models.reckoner.numbers.intervals import ErrorShape, WidthModel
from kgreckon.models.reckoner.numbers.scales import KINDS
from kgreckon.models.reckoner.numbers.sources import SourceLines

_LINES = ("sources", "slopes", "offsets", "errors", "counts")
_COLUMNS = ("sources", "own", "spread", "relations", "neighbours")
_FOREST = (
    "starts", "roots", "features", "thresholds", "lefts", "rights", "missing_left", "values", "bases",
)  # fmt: skip


def packed(learned: list[LearnedAttribute]) -> dict[str, Tensor]:
    """All attributes as tensors."""
    tables = [_arrays(each) for each in learned]
    names = sorted({name for table in tables for name in table})
    found = {}
    for name in names:
        parts = [table.get(name) for table in tables]
        present = [part for part in parts if part is not None]
        most = max(part.ndim for part in present)
        shapes = np.full((len(parts), most + 1), -1, dtype=np.int64)  # dimensions, then how many there are
        for row, part in zip(shapes, parts, strict=True):
            if part is not None:
                row[: part.ndim], row[-1] = part.shape, part.ndim
        found[f"numbers.{name}"] = torch.from_numpy(np.concatenate([part.ravel() for part in present]))
        found[f"numbers.{name}.shapes"] = torch.from_numpy(shapes)
    return found


def unpacked(tensors: Mapping[str, Tensor], attributes: int, size: int) -> list[LearnedAttribute]:
    """The same attributes again."""
    tables: list[dict[str, np.ndarray]] = [{} for _ in range(attributes)]
    for name, flat in tensors.items():
        if not name.startswith("numbers.") or name.endswith(".shapes"):
            continue
        values, start = flat.cpu().numpy(), 0
        for table, row in zip(tables, tensors[f"{name}.shapes"].cpu().numpy().tolist(), strict=True):
            if row[-1] < 0:
                continue
            shape = row[: row[-1]]
            end = start + int(np.prod(shape, dtype=np.int64))
            table[name.removeprefix("numbers.")] = values[start:end].reshape(shape)
            start = end
    return [_learned(table, size) for table in tables]


def _arrays(learned: LearnedAttribute) -> dict[str, np.ndarray]:
    width = learned.width
    found = {
        "scalars": np.array(
            [
                float(learned.estimator),
                learned.share,
                float(KINDS.index(learned.kind)),
                learned.middle,
                learned.low,
                learned.high,
                learned.shape.degrees,
                learned.shape.spread,
                width.low if width else 0.0,
                width.high if width else 0.0,
            ]
        ),
        "ridge": learned.ridge,
        "multiples": learned.shape.multiples,
    }
    found |= {f"lines.{name}": getattr(learned.lines, name) for name in _LINES}
    found |= {f"columns.{name}": getattr(learned.columns, name) for name in _COLUMNS}
    if learned.forest is not None:
        found |= {f"forest.{name}": getattr(learned.forest, name) for name in _FOREST}
    if width is not None:
        found["width"] = width.weights
    if learned.experts:
        identities = [expert.identity for expert in learned.experts]
        found["experts.sources"] = np.array([[each.form, each.first, each.second] for each in identities])
        found["experts.lines"] = np.array([[each.slopes, each.offsets] for each in identities])
        found["experts.kinds"] = np.array(
            [
                [float(expert.identity.logarithmic), expert.shape.degrees, expert.shape.spread]
                for expert in learned.experts
            ]
        )
        found["experts.multiples"] = np.array([expert.shape.multiples for expert in learned.experts])
    return found


def _learned(table: dict[str, np.ndarray], size: int) -> LearnedAttribute:
    estimator, share, kind, middle, low, high, degrees, spread, narrow, wide = table["scalars"].tolist()
    experts = []
    for place in range(len(table.get("experts.sources", ()))):
        form, first, second = table["experts.sources"][place].tolist()
        slopes, offsets = table["experts.lines"][place]
        logarithmic, own_degrees, own_spread = table["experts.kinds"][place].tolist()
        identity = Identity(Form(form), first, second, bool(logarithmic), slopes, offsets)
        shape = ErrorShape(own_degrees, own_spread, table["experts.multiples"][place])
        experts.append(Expert(identity, "log" if logarithmic else "identity", shape))
    return LearnedAttribute(
        Estimator(int(estimator)),
        share,
        KINDS[int(kind)],
        middle,
        low,
        high,
        SourceLines(*(table[f"lines.{name}"] for name in _LINES)),
        Columns(size, *(table[f"columns.{name}"] for name in _COLUMNS)),
        table["ridge"],
        Forest(*(table[f"forest.{name}"] for name in _FOREST)) if "forest.starts" in table else None,
        WidthModel(table["width"], narrow, wide) if "width" in table else None,
        ErrorShape(degrees, spread, table["multiples"]),
        tuple(experts),
    )
