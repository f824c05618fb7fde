"""Counts, durations and states of a server in the text format of Prometheus."""

from __future__ import annotations

import os
import time
from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import accumulate
from pathlib import Path

from kgreckon.version import __version__

MEDIA_TYPE = "text/plain; version=0.0.4; charset=utf-8"
_BUCKETS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)  # seconds
_STARTED = time.time()
_Samples = Mapping[str, float]  # by labels as they are written, in braces


@dataclass
class Counters:
    """What has happened so far, counted on the event loop alone; no label is taken from a request."""

    requests: Counter[tuple[str, int]] = field(default_factory=Counter)  # by route and status
    rejected: Counter[str] = field(default_factory=Counter)  # by reason
    durations: dict[str, list[int]] = field(default_factory=dict)  # by route: requests in each bucket, and beyond
    seconds: dict[str, float] = field(default_factory=lambda: defaultdict(float))

    def count(self, route: str, status: int, seconds: float) -> None:
        """Count a request that has been answered."""
        self.requests[route, status] += 1
        self.durations.setdefault(route, [0] * (len(_BUCKETS) + 1))[bisect_left(_BUCKETS, seconds)] += 1
        self.seconds[route] += seconds

    def text(self, gauges: Mapping[str, tuple[str, float]]) -> str:
        """All metrics, with these states of the server, which have a help text and a value."""
        lines = [
            *_metric("kgreckon_info", "gauge", "The version.", {f'{{version="{__version__}"}}': 1}),
            *_metric("kgreckon_requests_total", "counter", "Requests answered.", self._requests()),
            *_metric("kgreckon_rejected_total", "counter", "Requests and connections refused.", self._rejected()),
            *_metric("kgreckon_request_duration_seconds", "histogram", "Time to the end of an answer.", self._spread()),
        ]
        for name, (told, value) in gauges.items():
            lines += _metric(f"kgreckon_{name}", "gauge", told, {"": value})
        for name, (kind, told, measure) in _PROCESS.items():
            with suppress(OSError):  # a system without /proc
                lines += _metric(f"process_{name}", kind, told, {"": measure()})
        return "\n".join([*lines, ""])

    def _requests(self) -> _Samples:
        counted = sorted(self.requests.items())
        return {f'{{route="{route}",status="{status}"}}': count for (route, status), count in counted}

    def _rejected(self) -> _Samples:
        return {f'{{reason="{reason}"}}': count for reason, count in sorted(self.rejected.items())}

    def _spread(self) -> _Samples:
        samples: dict[str, float] = {}
        for route, counts in sorted(self.durations.items()):
            for most, count in zip((*_BUCKETS, "+Inf"), accumulate(counts), strict=True):
                samples[f'_bucket{{route="{route}",le="{most}"}}'] = count
            samples[f'_sum{{route="{route}"}}'] = self.seconds[route]
            samples[f'_count{{route="{route}"}}'] = sum(counts)
        return samples


def _metric(name: str, kind: str, told: str, samples: _Samples) -> Iterator[str]:
    yield f"# HELP {name} {told}"
    yield f"# TYPE {name} {kind}"
    for labels, value in samples.items():
        yield f"{name}{labels} {float(value)!r}"


def _resident() -> float:
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


_PROCESS: dict[str, tuple[str, str, Callable[[], float]]] = {
    "cpu_seconds_total": ("counter", "Processor time spent.", time.process_time),
    "start_time_seconds": ("gauge", "When the process started, in seconds since 1970.", lambda: _STARTED),
    "resident_memory_bytes": ("gauge", "Resident memory.", _resident),
    "open_fds": ("gauge", "Open file descriptors.", lambda: len(list(Path("/proc/self/fd").iterdir()))),
}
