"""Content negotiation: which of the forms we can give a client likes best."""

from __future__ import annotations

import re
from collections.abc import Sequence

_MOST = 100  # ranges of an Accept header that are looked at
_QUALITY = re.compile(r"0(?:\.\d{0,3})?|1(?:\.0{0,3})?")
_UNWELCOME = re.compile(r"q=0(?:\.0{0,3})?")
_TOKEN = r"[!#$%&'*+.^_`|~0-9A-Za-z-]+"  # noqa: S105  # a token of HTTP, no secret
_RANGE = re.compile(rf"({_TOKEN})/({_TOKEN})")


def preferred(accept: str | None, offers: Sequence[str]) -> str | None:
    """The offer that an Accept header gives the highest quality, the first of equals; None where it takes none.

    Without a header anything is welcome. The most specific range that matches an offer decides, as in RFC 9110.
    """
    if accept is None or not accept.strip():
        return offers[0]
    ranges = [media_range for media_range in map(_range, accept.split(",")[:_MOST]) if media_range is not None]
    best, quality = None, 0.0
    for offer in offers:
        kind, _, form = offer.partition("/")
        matching = [
            (specific, q)
            for own_kind, own_form, specific, q in ranges
            if own_kind in (kind, "*") and own_form in (form, "*")
        ]
        if matching:
            most_specific = max(specific for specific, _ in matching)
            found = max(q for specific, q in matching if specific == most_specific)
            if found > quality:
                best, quality = offer, found
    return best


def takes_gzip(accept_encoding: str | None) -> bool:
    """Whether an Accept-Encoding header names gzip, and not as unwelcome."""
    for coding in (accept_encoding or "").split(",")[:_MOST]:
        name, _, parameter = coding.partition(";")
        if name.strip().lower() in ("gzip", "*"):
            return not _UNWELCOME.fullmatch(parameter.strip().lower())
    return False


def _range(text: str) -> tuple[str, str, int, float] | None:
    """A media range: its two parts, how specific it is, and its quality; None if it cannot be read."""
    name, *parameters = text.split(";")
    match = _RANGE.fullmatch(name.strip().lower())
    if match is None or (match[1] == "*" and match[2] != "*"):
        return None
    quality = 1.0
    for parameter in parameters:
        key, _, value = parameter.partition("=")
        if key.strip().lower() == "q":
            if not _QUALITY.fullmatch(value.strip()):
                return None
            quality = float(value)
            break
    return match[1], match[2], (match[1] != "*") + (match[2] != "*"), quality
