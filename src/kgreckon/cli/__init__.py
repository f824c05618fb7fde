"""The command line: parse, call one library function, print. Libraries are imported by the command that needs them."""

from __future__ import annotations

import logging
import os
import sys
from contextlib import suppress
from io import TextIOWrapper

# Their commands, in the order of the help.
from kgreckon.cli import agent_commands, answers, benchmarks, changes, checks, graphs, learned, runs  # noqa: F401
from kgreckon.cli.app import app
from kgreckon.errors import ToldElsewhereError, UserError, naming_extras, visible
from kgreckon.processes import number_of_this

__all__ = ["app", "main"]


def main() -> None:
    """The program: a user's mistake is one line on stderr and exit code 2."""
    _keep_standard_streams()
    os.environ.setdefault("OMP_WAIT_POLICY", "passive")  # torch's threads spin, which busy machines have no time for
    if number_of_this():  # the first of several processes says what all of them have done
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    if isinstance(sys.stdout, TextIOWrapper):  # a name that the terminal cannot show is shown by its code
        sys.stdout.reconfigure(errors="backslashreplace")
    if sys.stderr.isatty():
        _say_when_compiling()
    try:
        try:
            with naming_extras():
                app()
        finally:
            sys.stdout.flush()  # write errors are reported here, not after the program has ended
    except ToldElsewhereError:
        sys.exit(2)
    except UserError as error:
        number = number_of_this()
        print(f"{f'process {number}: ' * bool(number)}error: {visible(str(error))}", file=sys.stderr)
        sys.exit(2)
    except BrokenPipeError:  # the reader of our output has gone, as `head` does
        sys.stderr.close()
        sys.exit(1)
    except OSError as error:  # a full disk, a closed folder, a name too long
        named = "" if error.filename is None else f"{error.filename}: "
        print(f"error: {named}{error.strerror or error}", file=sys.stderr)
        _forget_output()
        sys.exit(2)


class _Notes(logging.Handler):
    """Remarks of the library, as those of a command."""

    def emit(self, record: logging.LogRecord) -> None:
        from kgreckon.cli.console import notes

        notes().print(record.getMessage(), style="dim")


def _say_when_compiling() -> None:
    """Have whoever waits at a terminal see that code is compiled, which happens once after an installation."""
    log = logging.getLogger("kgreckon.compiling")  # by its name: numba is imported where it is used
    log.setLevel(logging.INFO)
    log.handlers = [_Notes()]


def _keep_standard_streams() -> None:
    """Have nothing else, such as a file that is written, take the place of a standard stream that is closed."""
    closed = [stream for stream in range(3) if not _is_open(stream)]
    for _ in closed:
        os.open(os.devnull, os.O_RDWR)  # takes the lowest number that is free
    if sys.stderr is None:
        sys.stderr = os.fdopen(2, "w", closefd=False)
    if sys.stdout is None:
        print("error: standard output is closed; for no output, send it to /dev/null", file=sys.stderr)
        sys.exit(2)


def _is_open(descriptor: int) -> bool:
    try:
        os.fstat(descriptor)
    except OSError:
        return False
    return True


def _forget_output() -> None:
    """Let go of what could not be written, which would be tried again at the end."""
    with suppress(OSError, ValueError):  # a standard output that is not a file
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
