"""Compiled code where the installation and the home folder can only be read."""

import os
import stat
import subprocess
import sys

import pytest

PROGRAM = """
from numba.core.caching import CacheImpl, InTreeCacheLocator, IPythonCacheLocator, UserWideCacheLocator
for locator in (InTreeCacheLocator, UserWideCacheLocator, IPythonCacheLocator):
    locator.from_function = classmethod(lambda cls, *arguments: None)  # finds no place, as where nothing can be written
import numpy as np
from kgreckon.exact.ragged import Ragged, grown
print(len(grown(np.zeros(2, np.int32), 2, 100)) >= 100)
"""


def run(folder, **variables):
    environment = {key: value for key, value in os.environ.items() if key != "NUMBA_CACHE_DIR"}
    environment |= {"TMPDIR": str(folder), **variables}
    done = subprocess.run([sys.executable, "-c", PROGRAM], env=environment, capture_output=True, text=True)
    assert done.returncode == 0 and done.stdout == "True\n", done.stderr
    return done.stderr


pytestmark = pytest.mark.skipif(not hasattr(os, "getuid"), reason="Windows has no such folder")


def test_it_is_kept_in_a_folder_that_nobody_else_can_write_and_this_is_said_once(tmp_path):
    said = run(tmp_path)
    (folder,) = tmp_path.iterdir()
    assert said.count("\n") == 1 and str(folder) in said and "NUMBA_CACHE_DIR" in said
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700 and list(folder.rglob("*.nbc"))


def test_a_folder_that_others_prepared_is_not_used(tmp_path):
    folder = tmp_path / f"kgreckon-{os.getuid()}"
    folder.mkdir(mode=0o777)
    folder.chmod(0o777)
    assert "compiled again by each process" in run(tmp_path)
    assert not list(folder.iterdir())
    folder.rmdir()
    (tmp_path / "elsewhere").mkdir(mode=0o700)
    folder.symlink_to(tmp_path / "elsewhere")
    assert "compiled again by each process" in run(tmp_path)
    assert not list((tmp_path / "elsewhere").iterdir())


def test_a_folder_that_is_named_is_used_and_nothing_is_said(tmp_path):
    assert run(tmp_path, NUMBA_CACHE_DIR=str(tmp_path / "own")) == ""
    assert list((tmp_path / "own").rglob("*.nbc"))


AT_A_TERMINAL = """
import os
import sys
import numpy as np
from kgreckon.cli import main
from kgreckon.exact import ragged
sys.argv = ["kgreckon", "--version"]
try:
    main()  # says what is compiled from here on
except SystemExit:
    pass
ragged.grown(np.zeros(2, np.int32), 2, 100)
ragged.grown(np.zeros(2, np.int64), 2, 100)
"""


def test_a_command_at_a_terminal_says_once_that_it_compiles_and_not_where_the_code_is_kept(tmp_path):
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path), "COLUMNS": "100", "TERM": "dumb"}
    said = []
    for _ in range(2):
        ours, theirs = os.openpty()
        command = [sys.executable, "-c", AT_A_TERMINAL]
        done = subprocess.run(command, env=environment, stdout=subprocess.PIPE, stderr=theirs, check=False)
        os.write(theirs, b"end")
        os.close(theirs)
        text = b""
        while not text.endswith(b"end"):
            text += os.read(ours, 4096)
        os.close(ours)
        assert done.returncode == 0, text
        said.append(text.decode().removesuffix("end"))
    assert said[0].count("compiling") == 1 and "the code is kept" in said[0] and len(said[0].splitlines()) == 1
    assert said[1] == ""
