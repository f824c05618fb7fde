"""Folders as the versions before checksums kept them."""

import json
from pathlib import Path

_INDICES = ("follows", "values_of", "having", "compared", "entity_index")


def without_checksums(folder: Path) -> Path:
    """Make a graph, benchmark or run folder one of version 1, in which only what does not fit together is noticed."""
    (folder / "graphs.json").unlink(missing_ok=True)
    for name in _INDICES:
        for path in folder.rglob(f"{name}.arrow"):
            path.unlink()
    for path in folder.rglob("*.json"):
        data = json.loads(path.read_text(encoding="utf-8"))
        kept = {key: value for key, value in data.items() if key not in ("checksum", "files", "blocks", "unit_starts")}
        path.write_text(json.dumps(kept | {"version": 1} if "version" in kept else kept), encoding="utf-8")
    return folder
