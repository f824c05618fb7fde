"""What the documentation shows runs as written and prints what it shows."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


def blocks(path: str, language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", (ROOT / path).read_text(encoding="utf-8"), re.DOTALL)


@pytest.fixture(scope="module")
def shell(tmp_path_factory):
    """Runs a command in a folder of its own, with kgreckon on the path."""
    folder = tmp_path_factory.mktemp("readme")
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"

    def run(command: str) -> str:
        environment = os.environ | {"PATH": path, "TERM": "dumb", "COLUMNS": "120"}
        done = subprocess.run(
            command, shell=True, cwd=folder, env=environment, capture_output=True, text=True, check=False
        )
        return done.stdout + "\n".join(line for line in done.stderr.splitlines() if line.startswith("error"))

    return run


def test_the_readme_shows_what_its_commands_print(shell):
    transcripts = [
        part for block in blocks("README.md", "console") for part in re.split(r"^\$ ", block, flags=re.M)[1:]
    ]
    assert len(transcripts) >= 5
    for transcript in transcripts:
        command, _, shown = transcript.partition("\n")
        assert shell(command).strip() == shown.strip(), command


def test_the_committed_results_are_what_the_files_give():
    subprocess.run([sys.executable, str(ROOT / "scripts" / "make_results.py"), "--check"], check=True)


@pytest.mark.parametrize("path", ["README.md", "docs/queries.md", "docs/training.md"])
def test_the_python_examples_run(path):
    examples = blocks(path, "python")
    assert examples
    for example in examples:
        subprocess.run([sys.executable, "-c", example], check=True, capture_output=True)
