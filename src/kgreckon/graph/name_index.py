"""The index of names: where each name and label stands, in the order of the hashes of their folded texts.

A hash only says where to look, and the text itself decides. Folding is what `str.casefold` does.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from kgreckon.compiling import compiled
from kgreckon.graph.symbols import Symbols, readable, text_hash

_START, _FACTOR = np.uint64(0xCBF29CE484222325), np.uint64(0x100000001B3)  # as in text_hash
_HASH, _SLASH, _COLON, _PERCENT, _UNDERSCORE, _BLANK = (np.uint8(ord(sign)) for sign in "#/:%_ ")
_A, _Z, _LOWER, _BEYOND_ASCII = np.uint8(65), np.uint8(90), np.uint8(32), np.uint8(128)
_U, _R, _N = (np.uint8(ord(sign)) for sign in "urn")


def name_index(symbols: Symbols) -> tuple[np.ndarray, np.ndarray]:  # (keys,) uint64 and int32
    """The hashes of all folded names and labels, rising, and the place that each belongs to."""
    of_names, of_labels = _hashes(symbols.names, as_names=True)
    given = np.flatnonzero(symbols.labels.is_valid().to_numpy(zero_copy_only=False))
    if len(given):
        of_labels[given] = _hashes(symbols.labels.drop_null(), as_names=False)[0]
    other = np.flatnonzero(of_labels != of_names)
    hashes = np.concatenate([of_names, of_labels[other]])
    places = np.concatenate([np.arange(len(of_names), dtype=np.int32), other.astype(np.int32)])
    order = np.argsort(hashes, kind="stable")
    return hashes[order], places[order]


def _hashes(texts: pa.Array, as_names: bool) -> tuple[np.ndarray, np.ndarray]:  # (texts,) uint64 each
    """The hashes of folded texts and, of names, of their folded readable forms."""
    texts = texts.cast(pa.large_string())
    _, offsets, data = texts.buffers()
    starts = np.frombuffer(offsets, dtype=np.int64)[texts.offset : texts.offset + len(texts) + 1]
    content = np.zeros(0, dtype=np.uint8) if data is None else np.frombuffer(data, dtype=np.uint8)
    found, shown, special = _hash_all(content, starts, as_names)
    for place in np.flatnonzero(special).tolist():  # those that are no plain ASCII
        text = str(texts[place].as_py())
        found[place] = text_hash(text.casefold())
        shown[place] = text_hash(readable(text).casefold()) if as_names else found[place]
    return found, shown


@compiled
def _hash_all(data: np.ndarray, starts: np.ndarray, as_names: bool) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    count = len(starts) - 1
    found, shown = np.empty(count, dtype=np.uint64), np.empty(count, dtype=np.uint64)
    special = np.zeros(count, dtype=np.bool_)
    for place in range(count):
        low, high = starts[place], starts[place + 1]
        hashed, is_path = _START, False
        for at in range(low, high):
            byte = data[at]
            if byte >= _BEYOND_ASCII:
                special[place] = True
            if byte == _COLON and at + 2 < high and data[at + 1] == _SLASH and data[at + 2] == _SLASH:
                is_path = True
            if _A <= byte <= _Z:
                byte += _LOWER
            hashed = (hashed ^ np.uint64(byte)) * _FACTOR
        found[place] = hashed
        if not as_names:
            shown[place] = hashed
            continue
        if low < high and data[low] == _SLASH:
            is_path = True
        if high - low >= 4 and data[low] == _U and data[low + 1] == _R and data[low + 2] == _N:
            is_path = is_path or data[low + 3] == _COLON
        if is_path:  # as local_name has it
            while high > low and (data[high - 1] == _SLASH or data[high - 1] == _HASH):
                high -= 1
            low = _after_last(data, low, high)
        hashed = _START
        for at in range(low, high):
            byte = data[at]
            if byte == _PERCENT and is_path:
                special[place] = True
            if _A <= byte <= _Z:
                byte += _LOWER
            if byte == _UNDERSCORE:
                byte = _BLANK
            hashed = (hashed ^ np.uint64(byte)) * _FACTOR
        shown[place] = hashed
    return found, shown, special


@compiled
def _after_last(data: np.ndarray, low: int, high: int) -> int:
    """The place after the last `#` or, where there is none, after the last `/`."""
    for at in range(high - 1, low - 1, -1):
        if data[at] == _HASH:
            return at + 1
    for at in range(high - 1, low - 1, -1):
        if data[at] == _SLASH:
            return at + 1
    return low
