"""Names that look alike: which of very many may be what a misspelt one means."""

from __future__ import annotations

import numpy as np

_BUCKETS = 64  # characters are told apart by their code's remainder
_LONGEST = 200  # a name longer than this is like no other
_CHOSEN = 500


class SimilarNames:
    """Names by the characters they hold, so that comparing them one by one is left to the few that may be near."""

    def __init__(self, names: list[str]) -> None:
        self.names = names
        folded = [name.casefold()[:_LONGEST] for name in names]
        self._folded = folded
        self._lengths = np.array([len(name) for name in folded], dtype=np.int64)
        codes = _codes("".join(folded))
        places = np.repeat(np.arange(len(names)), self._lengths)
        counts = np.bincount(places * _BUCKETS + codes, minlength=len(names) * _BUCKETS)
        self._counts = counts.reshape(len(names), _BUCKETS).astype(np.uint8)  # at most _LONGEST

    def candidates(self, name: str) -> list[str]:
        """The names that share most characters with this one, and some that contain it."""
        wanted = name.casefold()
        if not self.names or not wanted or len(wanted) > _LONGEST:
            return []
        own = np.bincount(_codes(wanted), minlength=_BUCKETS).astype(np.uint8)
        shared = np.minimum(self._counts, own).sum(axis=1, dtype=np.int64)
        alike = 2 * shared / (self._lengths + len(wanted))  # what difflib's ratio cannot exceed
        chosen = np.argsort(-alike, kind="stable")[:_CHOSEN].tolist()
        containing = [place for place, text in enumerate(self._folded) if wanted in text][:_CHOSEN]
        return [self.names[place] for place in dict.fromkeys([*chosen, *containing])]


def _codes(text: str) -> np.ndarray:
    return np.frombuffer(text.encode("utf-32-le", errors="surrogatepass"), dtype=np.uint32).astype(np.int64) % _BUCKETS
