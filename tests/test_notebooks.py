"""The notebooks of the documentation run as they are, and give what they show."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
NOTEBOOKS = sorted((ROOT / "docs" / "notebooks").glob("*.ipynb"))


def test_there_is_one_for_engineers_and_one_for_researchers():
    assert [path.stem for path in NOTEBOOKS] == ["engineer", "researcher"]


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_runs_and_gives_what_it_shows(path):
    notebook = json.loads(path.read_text(encoding="utf-8"))
    assert notebook["nbformat"] == 4
    cells = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
    assert sum(bool(cell["outputs"]) for cell in cells) >= len(cells) - 1
    command = [sys.executable, "scripts/run_notebooks.py", "--check", str(path)]
    environment = os.environ | {"OMP_NUM_THREADS": "1"}
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
