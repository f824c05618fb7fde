"""The command line: parse, call one library function, print. Libraries are imported by the command that needs them."""

from __future__ import annotations

import sys
from io import TextIOWrapper

from kgreckon.cli import answers, benchmarks, graphs, runs  # noqa: F401  # their commands, in the order of the help
from kgreckon.cli.app import app
from kgreckon.errors import UserError

__all__ = ["app", "main"]


def main() -> None:
    """The program: a user's mistake is one line on stderr and exit code 2."""
    if isinstance(sys.stdout, TextIOWrapper):  # a name that the terminal cannot show is shown by its code
        sys.stdout.reconfigure(errors="backslashreplace")
    try:
        app()
    except UserError as error:
        print(f"error: {error}", file=sys.stderr)
        sys.exit(2)
    except BrokenPipeError:  # the reader of our output has gone, as `head` does
        sys.stderr.close()
        sys.exit(1)
    except OSError as error:  # a full disk, a closed folder, a name too long
        if error.filename is None:
            raise
        print(f"error: {error.filename}: {error.strerror}", file=sys.stderr)
        sys.exit(2)
