"""Commands that write, killed, short of space and two at a time: `make faults` meets them with a thousand faults."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from typer.core import TyperGroup
from typer.main import get_command

from kgreckon.cli.app import app
from writing_commands import READING, commands

BENCH = Path(__file__).parents[1] / "bench"
QUICK = (
    "import,overwrite,build,train,train reckoner,evaluate,export,import-queries,import-benchmark,phrase,learn,complete,"
    "add,remove,update,compact,learn --update"
)


def test_every_command_is_known_as_one_that_writes_or_as_one_that_does_not():
    """A new command belongs into `commands` of bench/writing_commands.py, with one line, or into READING there."""
    known = {command.verb for command in commands(Path("sources"))}
    group = get_command(app)
    assert isinstance(group, TyperGroup)
    assert known | READING == set(group.commands) and not known & READING


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no forks")
def test_no_fault_loses_or_mixes_anything():
    """Under one seed; what came of each fault is in a line of its own."""
    faults = ("kills", "sizes", "pairs", "flips")
    options = ("--count", "1", "--kills", "30", "--seed", "1", "--commands", QUICK)
    command = [sys.executable, "faults.py", *faults, *options]
    done = subprocess.run(command, cwd=BENCH, capture_output=True, text=True)
    reports = [json.loads(line) for line in done.stdout.splitlines()]
    assert not [problem for report in reports for problem in report["problems"]], done.stdout
    assert done.returncode == 0, done.stderr
    assert {report["command"] for report in reports if report["fault"] != "flips"} == set(QUICK.split(","))
    hit = {fault: sum(each["faults"] for each in reports if each["fault"] == fault) for fault in faults}
    assert hit["kills"] >= 30 and hit["sizes"] >= 5 and hit["pairs"] >= 4 and hit["flips"] >= 90
