"""What it costs to have files on the disk before they count, and to check them: import, opening and check without.

    python bench/durability.py [--facts 10000000] [--folder FOLDER] [--rounds 3]

The graph is that of bench/scale.py. Each measurement is a process of its own, the ways one after the other in each
round; the least CPU seconds of a way count, since others at work on the machine only add to them.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

from rich.console import Console

from kgreckon.cli.console import print_table
from scale import Measured, generate, measured

# What is left out, before anything of the package is imported.
WAYS = {
    "as it is": "",
    "without fsync": "import os\nos.fsync = lambda descriptor: None\n",
    "without checksums": """
import zlib
zlib.crc32 = lambda content, start=0: 0
import kgreckon.files, kgreckon.graph.storage as storage
from kgreckon.graph.stored_file import BLOCK, StoredFile
import base64
storage.block_checksums = lambda path: base64.b64encode(bytes(4 * -(-path.stat().st_size // BLOCK))).decode()
StoredFile._check_block = lambda self, block: None
""",
}
COMMAND = "import sys\nfrom kgreckon.cli import main\nsys.argv[:1] = ['kgreckon']\nmain()\n"
ASK = """
import sys
from kgreckon.exact import ask
from kgreckon.graph import open_graph
from kgreckon.query.paper import parse
graph = open_graph(sys.argv[1])
for entity in range(1000):
    ask(graph, parse(f"(rp,(relation_1),(e,(entity_{entity})))", graph.vocabulary))
"""
READ = """
import sys
import numpy as np
from kgreckon.graph import open_graph
graph = open_graph(sys.argv[1])
for rows in (graph.follows, graph.values_of, graph.having):
    for array in (rows.offsets, rows.labels, rows.starts, rows.targets):
        np.asarray(array).max()
"""


def main() -> None:
    """Measure every way, and print them beside each other."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--facts", type=int, default=10_000_000)
    parser.add_argument("--folder", type=Path, help="where the graph is made and kept; else a temporary folder")
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    best: dict[tuple[str, str], Measured] = {}
    with tempfile.TemporaryDirectory() as temporary:
        folder = (options.folder or Path(temporary)) / str(options.facts)
        folder.mkdir(parents=True, exist_ok=True)
        if not (folder / "values.tsv").is_file():
            generate(options.facts, folder)
        for _ in range(options.rounds):
            for way, before in WAYS.items():
                graph = str(folder / f"graph {way}")
                tables = [str(folder / "facts.tsv"), "--values", str(folder / "values.tsv")]
                for name, program, arguments in (
                    ("import", COMMAND, ["import", *tables, "--out", graph, "--overwrite"]),
                    ("open, and ask 1,000 questions", ASK, [graph]),
                    ("open, and read all", READ, [graph]),
                    ("check", COMMAND, ["check", graph]),
                ):
                    if "fsync" in way and name != "import":
                        continue  # nothing is written
                    result = measured([sys.executable, "-c", before + program, *arguments])
                    key = name, way
                    best[key] = min(best.get(key, result), result, key=lambda each: each.cpu)
                    print(f"{name}, {way}: {result.cpu:.2f} CPU s, {result.wall:.2f} s", file=sys.stderr, flush=True)
    names = dict.fromkeys(name for name, _ in best)
    cells = [
        (name, *(f"{each.cpu:.2f} CPU s, {each.wall:.2f} s" if (each := best.get((name, way))) else "" for way in WAYS))
        for name in names
    ]
    print_table(Console(width=140, highlight=False), f"{options.facts:,} facts", ["", *WAYS], cells)


if __name__ == "__main__":
    main()
