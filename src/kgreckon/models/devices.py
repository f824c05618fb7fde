"""Devices by name, and the precision of matrix products on them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager

import torch

from kgreckon.errors import UserError


def device_for(name: str) -> torch.device:
    """The device of that name; `auto` is a GPU where there is one."""
    if name == "auto":
        name = "cuda" if torch.cuda.is_available() else "cpu"
    if not re.fullmatch(r"cpu|cuda(:\d+)?", name):
        raise UserError(f"unknown device {name!r}: choose auto, cpu or cuda")
    device = torch.device(name)
    if device.type == "cuda" and not torch.cuda.is_available():
        raise UserError("there is no GPU that torch can use here: leave device at auto")
    return device


def device_name(device: torch.device) -> str:
    """What the device is called, for a run's metrics."""
    return torch.cuda.get_device_name(device) if device.type == "cuda" else "CPU"


@contextmanager
def float32_products(precision: str) -> Iterator[None]:
    """Within, float32 matrix products have torch's precision of that name ("highest", or "high" for TF32)."""
    before = torch.get_float32_matmul_precision()
    torch.set_float32_matmul_precision(precision)
    try:
        yield
    finally:
        torch.set_float32_matmul_precision(before)
