"""Growth: import, opening, asking, statistics and building on synthetic graphs of growing size, beside yardsticks.

    python bench/scale.py [--sizes 10000 100000 1000000 10000000] [--folder FOLDER] [--queries 1000]
        [--slow-up-to 1000000] [--rdf-up-to 10000000] [--json FILE]

A graph of N statements has N / 4 entities: nine of ten are facts of 50 relations, the others numbers of 10 attributes.
Each measurement is a process of its own: CPU seconds, seconds and the most memory it took. Yardsticks do the same work
with other libraries and are left out where these are not installed (pip install duckdb polars). The last table gives
the exponent between the two largest sizes: 1 is time in proportion to facts.

    python bench/scale.py --wide 1000000

A wide table of so many rows and eight columns instead: names, numbers with units, years, money, texts that repeat and
lists. Yardsticks only read it.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv
from rich.console import Console

from kgreckon.cli.console import print_table

_CHUNK = 1 << 20
ONE_HOP = "(rp,(relation_1),(e,(entity_55)))"
COMPARISON = "(i,(rp,(^relation_1),(e,(entity_1))),(rap,(attribute_1),(np,(GreaterThan),(nv,(5)))))"

# What runs in a process of its own; `folder` holds the files of one size and is the first argument.
SCRIPTS = {
    "open": """
from kgreckon.graph import open_graph
graph = open_graph(folder + "/graph")
""",
    "warm questions": """
from time import perf_counter
from kgreckon.exact import ask
from kgreckon.graph import open_graph
from kgreckon.query.paper import parse
graph = open_graph(folder + "/graph")
questions = {
    "one hop": "(rp,(^relation_2),(e,(entity_7)))",
    "intersection": "(i,(rp,(^relation_1),(e,(entity_1))),(rp,(^relation_2),(e,(entity_2))))",
    "negation": "(i,(rp,(^relation_1),(e,(entity_1))),(n,(rp,(^relation_2),(e,(entity_2)))))",
    "comparison": "(i,(rp,(^relation_1),(e,(entity_1))),(rap,(attribute_1),(np,(GreaterThan),(nv,(5)))))",
}
for name, text in questions.items():
    query, times = parse(text, graph.vocabulary), []
    for _ in range(200):
        start = perf_counter()
        ask(graph, query)
        times.append(perf_counter() - start)
    print(f"{name}\\t{sorted(times)[100] * 1000}")
""",
    "DuckDB, TSV with ids": """
import duckdb
run = duckdb.connect().execute
run("set preserve_insertion_order = false")

def table(name, columns):
    options = "delim='\\t', header=false, quote='', escape='', columns=" + str(columns)
    run(f"create table t_{name} as select * from read_csv('{folder}/{name}.tsv', {options})")

def ids(name, texts):
    run(f"create table {name} as select n, row_number() over () - 1 as id from (select distinct n from ({texts}))")

table("facts", {"h": "VARCHAR", "r": "VARCHAR", "t": "VARCHAR"})
table("values", {"e": "VARCHAR", "a": "VARCHAR", "v": "DOUBLE"})
ids("entities", "select h as n from t_facts union all select t from t_facts union all select e from t_values")
ids("relations", "select r as n from t_facts")
ids("attributes", "select a as n from t_values")
run(f"copy (select distinct x.id::int as h, r.id::int as r, y.id::int as t from t_facts f join entities x on f.h = x.n "
    f"join relations r on f.r = r.n join entities y on f.t = y.n order by 1, 2, 3) to '{folder}/duck_facts.parquet'")
run(f"copy (select distinct x.id::int as e, a.id::int as a, v from t_values v join entities x on v.e = x.n "
    f"join attributes a on v.a = a.n order by 1, 2, 3) to '{folder}/duck_values.parquet'")
run(f"copy (select * from entities order by id) to '{folder}/duck_entities.parquet'")
""",
    "polars, TSV with ids": """
import polars as pl

def table(name, columns):
    path = f"{folder}/{name}.tsv"
    return pl.read_csv(path, separator="\\t", has_header=False, quote_char=None, new_columns=columns)

facts, values = table("facts", ["h", "r", "t"]), table("values", ["e", "a", "v"])
entities = pl.concat([facts["h"], facts["t"], values["e"]]).unique().to_frame("n").with_row_index("id")
relations, attributes = (column.unique().to_frame("n").with_row_index("id") for column in (facts["r"], values["a"]))
facts = facts.join(entities, left_on="h", right_on="n").join(relations, left_on="r", right_on="n", suffix="_r")
facts = facts.join(entities, left_on="t", right_on="n", suffix="_t").select("id", "id_r", "id_t").unique()
values = values.join(entities, left_on="e", right_on="n").join(attributes, left_on="a", right_on="n", suffix="_a")
values = values.select("id", "id_a", "v").unique().sort("id", "id_a", "v")
for name, frame in (("facts", facts.sort("id", "id_r", "id_t")), ("values", values), ("entities", entities)):
    frame.write_parquet(f"{folder}/polars_{name}.parquet")
""",
    "pyoxigraph, N-Triples parsed": """
from collections import deque
import pyoxigraph as ox
with open(folder + "/graph.nt", "rb") as file:
    deque(ox.parse(file, format=ox.RdfFormat.N_TRIPLES), maxlen=0)
""",
    "Oxigraph, N-Triples loaded": """
import pyoxigraph as ox
store = ox.Store(folder + "/oxigraph")
store.bulk_load(path=folder + "/graph.nt", format=ox.RdfFormat.N_TRIPLES)
""",
}  # fmt: skip
WIDE_SCRIPTS = {
    "pyarrow, only read": """
import pyarrow.csv
pyarrow.csv.read_csv(folder + "/wide.csv")
""",
    "polars, only read": """
import polars as pl
pl.read_csv(folder + "/wide.csv")
""",
    "DuckDB, only read": """
import duckdb
duckdb.connect().execute(f"create table wide as select * from read_csv('{folder}/wide.csv')")
""",
}
SLOW = "Oxigraph, N-Triples loaded"
NEEDS = {
    "DuckDB, TSV with ids": "duckdb", "polars, TSV with ids": "polars",
    "DuckDB, only read": "duckdb", "polars, only read": "polars",
}  # fmt: skip


@dataclass(frozen=True)
class Measured:
    """What a process took."""

    cpu: float  # seconds
    wall: float  # seconds
    memory: int  # MB, at most
    output: str


# The memory of a process counts from that of the one that began it, so a small one begins it.
_LAUNCHER = """
import json, os, subprocess, sys, time
start = time.perf_counter()
process = subprocess.Popen(sys.argv[2:])
_, status, usage = os.wait4(process.pid, 0)
used = [usage.ru_utime + usage.ru_stime, time.perf_counter() - start, usage.ru_maxrss // 1024, status]
with open(sys.argv[1], "w") as file:
    json.dump(used, file)
"""


def measured(command: list[str]) -> Measured:
    """Run a command and see what it takes."""
    with tempfile.TemporaryDirectory() as folder:
        usage = Path(folder) / "usage.json"
        done = subprocess.run([sys.executable, "-c", _LAUNCHER, str(usage), *command], capture_output=True, text=True)
        cpu, wall, memory, status = json.loads(usage.read_text(encoding="utf-8"))
    if status:
        raise RuntimeError(f"{command[:4]} failed: {done.stderr[-2000:]}")
    return Measured(cpu, wall, memory, done.stdout)


def generate(facts: int, folder: Path, with_rdf: bool = True) -> None:
    """Write a graph as TSV and, if wanted, as N-Triples; the same size gives the same bytes."""
    rng, entities, values = np.random.default_rng(7), facts // 4, facts // 10

    def texts(prefix: str, ids: np.ndarray) -> pa.Array:
        return pc.binary_join_element_wise(prefix, pc.cast(pa.array(ids), pa.string()), "")

    def pieces(count: int) -> Iterator[int]:
        for start in range(0, count, _CHUNK):
            yield min(_CHUNK, count - start)

    def write(name: str, count: int, columns: Callable[[int], list[pa.Array]], as_rdf: list[str]) -> None:
        with (folder / name).open("wb") as table, (folder / "graph.nt").open("ab") as rdf:
            for size in pieces(count):
                made = columns(size)
                parts_of_rdf = [as_rdf[0], made[0], as_rdf[1], made[1], as_rdf[2], made[2], as_rdf[3]]
                parts_of_table = [made[0], "\t", made[1], "\t", made[2], "\n"]
                for file, parts in ((table, parts_of_table), (rdf, parts_of_rdf))[: 1 + with_rdf]:
                    _, _, lines = pc.binary_join_element_wise(*parts, "").buffers()
                    file.write(lines)

    (folder / "graph.nt").unlink(missing_ok=True)
    thing, predicate = "<http://example.org/resource/", "> <http://example.org/ontology/"
    write(
        "facts.tsv",
        facts - values,
        lambda size: [
            texts("entity_", rng.integers(0, entities, size)),
            texts("relation_", (50 * rng.random(size) ** 2).astype(np.int64)),
            texts("entity_", (entities * rng.random(size) ** 3).astype(np.int64)),
        ],
        [thing, predicate, f"> {thing}", "> .\n"],
    )
    write(
        "values.tsv",
        values,
        lambda size: [
            texts("entity_", rng.integers(0, entities, size)),
            texts("attribute_", rng.integers(0, 10, size)),
            pc.cast(pa.array(np.round(rng.lognormal(3, 2, size), 2)), pa.string()),
        ],
        [thing, predicate, '> "', '"^^<http://www.w3.org/2001/XMLSchema#decimal> .\n'],
    )


def generate_wide(rows: int, path: Path) -> None:
    """Write a wide table; the same size gives the same bytes."""
    rng = np.random.default_rng(7)

    def texts(prefix: str, ids: np.ndarray, behind: str = "") -> pa.Array:
        return pc.binary_join_element_wise(prefix, pc.cast(pa.array(ids), pa.string()), behind, "")

    tags = [texts("tag ", rng.integers(0, 40, rows)) for _ in range(2)]
    table = {
        "name": texts("thing ", np.arange(rows)),
        "height (m)": pa.array(rng.normal(170, 10, rows).round(1)),
        "weight": texts("", rng.lognormal(3, 1, rows).round(2), " kg"),
        "price": pc.binary_join_element_wise("$", texts("", rng.integers(1, 999, rows)),
                                             texts(",", rng.integers(100, 999, rows)), ""),
        "year": pa.array(rng.integers(1900, 2020, rows)),
        "kind": texts("kind ", rng.integers(0, 50, rows)),
        "maker": texts("maker ", rng.zipf(1.5, rows) % 10_000),
        "tags": pc.if_else(pa.array(rng.random(rows) < 0.5), pc.binary_join_element_wise(*tags, ", "), tags[0]),
    }  # fmt: skip
    pyarrow.csv.write_csv(pa.table(table), path)


def wide_steps(folder: Path) -> Iterator[tuple[str, list[str]]]:
    """What is measured of a wide table."""
    table, out = str(folder / "wide.csv"), str(folder / "wide")
    yield "import", [sys.executable, "-m", "kgreckon", "import", table, "--out", out, "--overwrite"]
    for name, script in WIDE_SCRIPTS.items():
        if find_spec(NEEDS.get(name, "kgreckon")) is not None:
            yield name, [sys.executable, "-c", f"import sys\nfolder = sys.argv[1]\n{script}", str(folder)]


def measure_wide(rows: int, folder: Path, out: Console) -> None:
    """Import a wide table of so many rows, and only read it with others."""
    generate_wide(rows, folder / "wide.csv")
    results = {name: measured(command) for name, command in wide_steps(folder)}
    cells = [(name, f"{each.cpu:.1f}", f"{each.wall:.1f}", f"{each.memory:,}") for name, each in results.items()]
    size = (folder / "wide.csv").stat().st_size / 1e6
    columns = ("", "CPU seconds", "seconds", "memory at most, MB")
    print_table(out, f"A wide table of {rows:,} rows and 8 columns, {size:.0f} MB", columns, cells)


def steps(folder: Path, queries: int, with_rdf: bool) -> Iterator[tuple[str, list[str]]]:
    """What is measured of one size, each with its command."""
    program = [sys.executable, "-m", "kgreckon"]
    graph = str(folder / "graph")
    tables = [str(folder / "facts.tsv"), "--values", str(folder / "values.tsv")]
    yield "import, TSV", [*program, "import", *tables, "--out", graph, "--overwrite"]
    if with_rdf:
        yield "import, N-Triples", [*program, "import", str(folder / "graph.nt"), "--out", f"{graph}_nt", "--overwrite"]
    yield "stats", [*program, "stats", graph]
    yield "ask, cold: one hop", [*program, "ask", graph, ONE_HOP]
    yield "ask, cold: comparison", [*program, "ask", graph, COMPARISON]
    if queries:
        built = str(folder / f"benchmark_{os.getpid()}")
        yield "build", [*program, "build", graph, "--queries", str(queries), "--out", built]
    for name, script in SCRIPTS.items():
        if find_spec(NEEDS.get(name, "kgreckon")) is not None and (with_rdf or "N-Triples" not in name):
            yield name, [sys.executable, "-c", f"import sys\nfolder = sys.argv[1]\n{script}", str(folder)]


def report(results: dict[str, dict[int, Measured]], sizes: list[int], out: Console) -> None:
    """Tables of CPU seconds, memory, and questions, with exponents."""
    columns = ["", *(f"{size:,}" for size in sizes)]
    largest = sizes[-2:]

    def exponent(row: dict[int, Measured]) -> str:
        if len(largest) < 2 or any(size not in row for size in largest):
            return "-"
        few, many = (row[size].cpu for size in largest)
        return f"{math.log(many / few) / math.log(largest[1] / largest[0]):.2f}"

    cells = [
        (name, *(f"{row[size].cpu:.1f}" if size in row else "-" for size in sizes), exponent(row))
        for name, row in results.items()
    ]
    print_table(out, "CPU seconds, of whole processes", [*columns, "exponent"], cells)
    cells = [
        (name, *(f"{row[size].wall:.1f}" if size in row else "-" for size in sizes)) for name, row in results.items()
    ]
    print_table(out, "Seconds", columns, cells)
    cells = [
        (name, *(f"{row[size].memory:,}" if size in row else "-" for size in sizes)) for name, row in results.items()
    ]
    print_table(out, "Memory at most, MB", columns, cells)
    warm: dict[str, dict[int, str]] = {}
    for size, result in results["warm questions"].items():
        for line in result.output.splitlines():
            name, milliseconds = line.split("\t")
            warm.setdefault(name, {})[size] = f"{float(milliseconds):.2f}"
    cells = [(name, *(row.get(size, "-") for size in sizes)) for name, row in warm.items()]
    print_table(out, "Warm questions in one process, milliseconds (median of 200)", columns, cells)


def main() -> None:
    """Measure every size."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--sizes", type=int, nargs="+", default=[10_000, 100_000, 1_000_000, 10_000_000])
    parser.add_argument("--folder", type=Path, help="where the graphs are made and kept; else a temporary folder")
    parser.add_argument("--queries", type=int, default=1000, help="of each type in a build; 0 for none")
    parser.add_argument("--slow-up-to", type=int, default=1_000_000, help="largest graph to build on and to load")
    parser.add_argument("--rdf-up-to", type=int, default=10_000_000, help="largest graph to write and read as RDF")
    parser.add_argument("--json", type=Path, help="also write what was measured here")
    parser.add_argument("--wide", type=int, metavar="ROWS", help="measure a wide table of so many rows instead")
    arguments = parser.parse_args()
    if arguments.wide:
        with tempfile.TemporaryDirectory() as temporary:
            measure_wide(arguments.wide, Path(temporary), Console(width=140, highlight=False))
        return
    out, notes = Console(width=140, highlight=False), Console(stderr=True)
    results: dict[str, dict[int, Measured]] = {}
    with tempfile.TemporaryDirectory() as temporary:
        for size in sorted(arguments.sizes):
            folder = (arguments.folder or Path(temporary)) / str(size)
            folder.mkdir(parents=True, exist_ok=True)
            if not (folder / "values.tsv").is_file():
                generate(size, folder, size <= arguments.rdf_up_to)
            is_slow = size > arguments.slow_up_to
            for name, command in steps(folder, 0 if is_slow else arguments.queries, size <= arguments.rdf_up_to):
                if is_slow and name == SLOW:
                    continue
                result = results.setdefault(name, {})[size] = measured(command)
                notes.print(f"{size:,} {name}: {result.cpu:.1f} CPU s, {result.wall:.1f} s, {result.memory} MB")
    report(results, sorted(arguments.sizes), out)
    if arguments.json is not None:
        plain = {
            name: {size: [each.cpu, each.wall, each.memory, each.output] for size, each in row.items()}
            for name, row in results.items()
        }
        arguments.json.write_text(json.dumps(plain, indent=2), encoding="utf-8")


if __name__ == "__main__":
    main()
