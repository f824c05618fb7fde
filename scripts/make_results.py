"""Write docs/results.md and docs/results.html from results/*.json: every number is measured, none is typed by hand.

python scripts/make_results.py                       write both pages
python scripts/make_results.py --check               only check that docs/results.md is up to date
python scripts/make_results.py --add OUT [OUT ...]   first add the runs of `kgreckon reproduce ... --out OUT`
python scripts/make_results.py --parts db15k=FILE    first add what `bench/reckoner.py --json FILE` measured
python scripts/make_results.py --imported NAME=RUN   first add an evaluated run on a benchmark of others
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

from kgreckon.reproduce import html, markdown, read_results, report, result_of, write_results
from kgreckon.reproduce.layout import Block

ROOT = Path(__file__).parents[1]
RESULTS = ROOT / "results"


def blocks() -> list[Block]:
    """The report of the committed results."""
    return report(read_results(RESULTS), "make report", read_results(RESULTS / "sweeps"))


def add_runs(out: Path) -> None:
    """Add the results of a reproduction; a run with the same name replaces the older one."""
    for result in read_results(out / "results"):
        path = RESULTS / f"{result['benchmark']}.json"
        runs = {(row["benchmark_seed"], row["name"]): row for row in json.loads(path.read_text(encoding="utf-8"))}
        runs[result["benchmark_seed"], result["name"]] = result
        write_results(path, list(runs.values()))


def add_imported(name: str, run: Path) -> None:
    """Add the result of a run on a benchmark of others, in the place of an earlier one."""
    result = {"name": "reckoner", "variant": None, **result_of(run), "benchmark": name}
    write_results(RESULTS / f"{name.lower()}.json", [result])


def add_parts(graph: str, file: Path) -> None:
    """Add what each part of the reckoner is worth to the reckoner's result on a graph."""
    path = RESULTS / f"{graph}.json"
    rows = json.loads(path.read_text(encoding="utf-8"))
    reckoner = next(row for row in rows if (row["benchmark_seed"], row["name"]) == (0, "reckoner"))
    parts = json.loads(file.read_text(encoding="utf-8"))
    reckoner["parts"] = {name: parts[name] for name in ("ablation", "by_missing_facts", "values")}
    write_results(path, rows)


def main() -> None:
    """Write the pages, or check that the committed one is up to date."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--add", nargs="+", type=Path, default=[], metavar="OUT")
    parser.add_argument("--imported", nargs="+", default=[], metavar="NAME=RUN")
    parser.add_argument("--parts", nargs="+", default=[], metavar="GRAPH=FILE")
    arguments = parser.parse_args()
    for out in arguments.add:
        add_runs(out)
    for name, _, run in (each.partition("=") for each in arguments.imported):
        add_imported(name, Path(run))
    for graph, _, file in (each.partition("=") for each in arguments.parts):
        add_parts(graph, Path(file))
    page, whole = ROOT / "docs" / "results.md", blocks()
    if arguments.check:
        if page.read_text(encoding="utf-8") != markdown(whole):
            sys.exit(f"{page.name} does not match results/: run make report")
        return
    page.write_text(markdown(whole), encoding="utf-8")
    page.with_suffix(".html").write_text(html(whole, "kgreckon: results"), encoding="utf-8")


if __name__ == "__main__":
    main()
