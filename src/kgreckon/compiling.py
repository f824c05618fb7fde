"""Compiled functions: machine code that is kept beside the source, or where numba finds a folder to keep it."""

from __future__ import annotations

import logging
import os
import stat
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar, cast

import numba
from numba.core import event

_Function = TypeVar("_Function", bound=Callable[..., Any])


def _nothing() -> None:
    """What is compiled to see whether numba finds a folder for it."""


def _keeps() -> bool:
    """Whether compiled code can be kept: it cannot where neither the installation nor the home can be written."""
    try:
        numba.njit(cache=True)(_nothing)
    except RuntimeError:  # "no locator available"
        folder = _own_temporary_folder()
        if folder is None:
            where = "it is compiled again by each process"
        else:
            os.environ["NUMBA_CACHE_DIR"] = str(folder)  # for processes that we begin, too
            numba.config.CACHE_DIR = str(folder)  # type: ignore[attr-defined]
            where = f"it is kept in {folder}"
        logging.getLogger("kgreckon").warning(
            "compiled code cannot be kept beside the program or in the home folder, so %s; "
            "name a folder for it with NUMBA_CACHE_DIR",
            where,
        )
        return folder is not None
    return True


def _own_temporary_folder() -> Path | None:
    """A folder for temporary files that nobody else can write, because what is kept there is run; None without one."""
    if not hasattr(os, "getuid"):
        return None
    folder = Path(tempfile.gettempdir()) / f"kgreckon-{os.getuid()}"
    try:
        folder.mkdir(mode=0o700, exist_ok=True)
        found = folder.lstat()
    except OSError:
        return None
    private = stat.S_ISDIR(found.st_mode) and found.st_uid == os.getuid() and not found.st_mode & 0o077
    return folder if private and os.access(folder, os.W_OK) else None


_CACHE = _keeps()


class _FirstCompilation(event.Listener):
    """Logs that code is compiled, once: a process is silent for seconds then. Code that was kept is not compiled."""

    said = False

    def on_start(self, event: Any) -> None:
        if not self.said and event.data["dispatcher"].py_func.__module__.startswith("kgreckon."):
            self.said = True
            kept = "; the code is kept" if _CACHE else ""
            logging.getLogger(__name__).info("compiling for the first use, which takes seconds%s", kept)

    def on_end(self, event: Any) -> None:
        """Nothing is said of it."""


cast(Any, event).register("numba:compile", _FirstCompilation())  # numba has no types


def compiled(function: _Function) -> _Function:
    """The function as machine code, compiled when it is first called; it runs without the interpreter's lock."""
    return cast(_Function, numba.njit(cache=_CACHE, nogil=True, boundscheck=False)(function))
