"""One run of a reproduction, in a process of its own: python -m kgreckon.reproduce.job JSON."""

from __future__ import annotations

import json
import os
import signal
import sys
from pathlib import Path
from threading import Thread
from time import sleep

from kgreckon.errors import UserError
from kgreckon.runs import is_run_folder, resume, train

_LOOK_EVERY = 0.5  # seconds


def _end_with(parent: int) -> None:
    """Stop where the process that began the run is gone, even killed: the same command may begin it again."""
    while os.getppid() == parent:
        sleep(_LOOK_EVERY)
    os.kill(os.getpid(), signal.SIGTERM)


def main() -> None:
    """Train the run or go on with it, then evaluate it, also on a balanced benchmark if there is one.

    A SIGTERM stops it, to go on later.
    """
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    job = json.loads(sys.argv[1])
    Thread(target=_end_with, args=(job["parent"],), daemon=True).start()
    folder = Path(job["run"])
    try:
        if is_run_folder(folder):
            run = resume(folder, Path(job["benchmark"]))
        else:
            run = train(job["benchmark"], out=folder, **job["settings"])
        run.evaluate(benchmark=Path(job["benchmark"]))
        if job["balanced"]:
            run.evaluate(benchmark=Path(job["balanced"]))
    except KeyboardInterrupt:
        sys.exit("stopped")
    except UserError as error:
        sys.exit(f"error: {error}")


if __name__ == "__main__":
    main()
