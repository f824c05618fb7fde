"""One run of a reproduction, in a process of its own: python -m kgreckon.reproducing.job JSON."""

from __future__ import annotations

import json
import signal
import sys
from pathlib import Path

from kgreckon.errors import UserError
from kgreckon.training import choose_settings, evaluate, is_run_folder, resume, train


def _stop(number: int, frame: object) -> None:
    raise KeyboardInterrupt


def main() -> None:
    """Train the run or go on with it, then evaluate it; a SIGTERM stops it at its last checkpoint."""
    signal.signal(signal.SIGTERM, _stop)
    job = json.loads(sys.argv[1])
    folder = Path(job["run"])
    try:
        if is_run_folder(folder):
            run = resume(folder, Path(job["benchmark"]))
        else:
            run = train(job["benchmark"], folder, choose_settings(job["settings"]))
        evaluate(run, benchmark=Path(job["benchmark"]))
    except KeyboardInterrupt:
        sys.exit("stopped; the last checkpoint is kept")
    except UserError as error:
        sys.exit(f"error: {error}")


if __name__ == "__main__":
    main()
