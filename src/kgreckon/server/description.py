"""The description of the interface, in OpenAPI 3.1."""

from __future__ import annotations

from typing import Any

from kgreckon import __version__
from kgreckon.server.limits import Limits


def description(limits: Limits) -> dict[str, Any]:
    """What can be asked at which address, and what comes back."""
    return {"openapi": "3.1.0", "info": {"title": "kgreckon", "version": __version__}, "paths": {}}
