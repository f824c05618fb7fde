"""Whether the package works with the oldest libraries that pyproject.toml allows: make bounds.

    python scripts/lower_bounds.py [FOLDER] [--newer torch ...]

Installs each runtime dependency in its stated lower bound in a fresh environment, and runs a core set of tests there.
`--newer` takes some in the version of constraints.txt, such as a torch whose old wheels are for CUDA alone.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tomllib
import venv
from pathlib import Path

from packaging.requirements import Requirement

ROOT = Path(__file__).parents[1]
EXTRAS = ("learn", "server", "tables", "agents", "report")
TOOLS = ("pytest", "hypothesis", "openpyxl", "polars", "jsonschema", "httpx", "httpx2", "sparqlwrapper", "pyyaml")
# Every library is used by one of these.
TESTS = (
    "test_readers.py", "test_wide_tables.py", "test_storage.py", "test_exact.py", "test_words.py", "test_sparql.py",
    "test_sparql_engine.py", "test_learning.py", "test_models.py", "test_reproducing.py", "test_server.py",
    "test_server_attack.py", "test_agents.py", "test_cli.py",
)  # fmt: skip


def lower_bounds(newer: list[str]) -> list[str]:
    """A line `name==version` for each runtime dependency."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    stated = [*project["dependencies"], *(text for extra in EXTRAS for text in project["optional-dependencies"][extra])]
    pins = dict(line.split("==") for line in (ROOT / "constraints.txt").read_text().splitlines() if "==" in line)
    lines = []
    for requirement in map(Requirement, stated):
        if requirement.name == project["name"]:
            continue
        (bound,) = (each.version for each in requirement.specifier if each.operator == ">=")
        lines.append(f"{requirement.name}=={pins[requirement.name] if requirement.name in newer else bound}")
    return lines


def main() -> None:
    """Install, and test."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", nargs="?", type=Path, default=ROOT / "build" / "bounds", help="of the environment")
    parser.add_argument("--newer", nargs="*", default=[], help="libraries not to take in their lower bound")
    parser.add_argument("--tests", nargs="*", default=TESTS)
    options = parser.parse_args()
    bounds = lower_bounds(options.newer)
    print("\n".join(bounds), flush=True)
    venv.create(options.folder, with_pip=True, clear=True)
    python = str(options.folder / "bin" / "python")
    pip = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    subprocess.run([*pip, *bounds, *TOOLS], check=True)  # names of our own files
    subprocess.run([*pip, "--no-deps", str(ROOT)], check=True)
    # Old libraries warn of what newer ones of others deprecate: that is no mistake of ours.
    own = ["-o", "filterwarnings=default", *(str(ROOT / "tests" / name) for name in options.tests)]
    sys.exit(subprocess.run([python, "-m", "pytest", "-q", *own], cwd=ROOT).returncode)


if __name__ == "__main__":
    main()
