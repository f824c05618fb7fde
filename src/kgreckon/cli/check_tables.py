"""What is known of the files of a folder, as tables."""

from __future__ import annotations

from rich.console import Console

from kgreckon.cli.console import print_table
from kgreckon.runs.checking import Check, State


def print_check(check: Check, out: Console) -> None:
    """The parts of a folder and what holds of each, then the files that are not whole."""
    rows = []
    for part, state in check.parts().items():
        files = [file for file in check.files if file.part == part]
        rows.append((part, len(files), sum(file.bytes for file in files), str(state)))
    print_table(out, f"{check.folder}, a {check.kind}", ("part", "files", "bytes", "state"), rows)
    others = [(file.file, file.problem) for file in check.files if file.state in (State.DAMAGED, State.UNCHECKED)]
    if others:
        print_table(out, "Not known to be whole", ("file", "why"), others)
    damaged = sum(file.state is State.DAMAGED for file in check.files)
    out.print(f"{damaged:,} of {len(check.files):,} files are damaged" if damaged else "nothing is damaged")
