"""Mistakes a user can make and mend; everything else is a mistake of ours and keeps its traceback."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pydantic import ValidationError

_LONGEST = 200  # characters of a name that are compared
FEW = 24  # names that are all listed where none is close
# Libraries that are not always installed, and the extra that brings each.
EXTRAS = {
    "torch": "learn",
    "safetensors": "learn",
    "tensorboard": "learn",
    "sklearn": "learn",
    "threadpoolctl": "learn",
    "starlette": "server",
    "uvicorn": "server",
    "h11": "server",
    "mcp": "agents",
    "mcp_types": "agents",
    "matplotlib": "report",
    "fastexcel": "tables",
    "duckdb": "tables",
    "networkx": "tables",
    "pandas": "tables",
}
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")  # all but tabs and line ends


class UserError(Exception):
    """Something the user gave that cannot be used; the message names the bad thing and the remedy."""


class ToldElsewhereError(UserError):
    """A mistake that another of several processes found, which says it: this one ends with it."""


class BeyondAlgebraError(UserError):
    """A SPARQL query that the algebra cannot say: an engine may answer it from what is stated; nothing is inferred."""


class MissingExtraError(UserError, ModuleNotFoundError):
    """A library that is not installed, with the extra that brings it."""


@contextmanager
def naming_extras(extra: str | None = None) -> Iterator[None]:
    """Say which extra to install where a library is missing: the one that brings it, or a given one that does too."""
    try:
        yield
    except MissingExtraError:
        raise
    except ModuleNotFoundError as error:
        bringing = EXTRAS.get((error.name or "").partition(".")[0])
        if bringing is None:
            raise
        message = f"this needs {error.name}: pip install 'kgreckon[{extra or bringing}]'"
        raise MissingExtraError(message, name=error.name) from None


def visible(text: str) -> str:
    """Text whose control characters, which might command a terminal, are shown by their codes."""
    return _CONTROL.sub(lambda found: f"\\x{ord(found[0]):02x}", text)


def shortened(text: str, most: int = 80) -> str:
    """The beginning of a text that is too long to be shown whole."""
    return text if len(text) <= most else f"{text[:most]}…"


def nearest(name: str, candidates: Iterable[str], count: int = 3) -> list[str]:
    """The candidates that look most like `name`, the best first, then some that contain it."""
    from rapidfuzz import fuzz, process

    folded = {_folded(candidate): candidate for candidate in reversed(list(candidates))}
    wanted = _folded(name)
    if not wanted:
        return []
    close = [
        text for text, _, _ in process.extract(wanted, folded.keys(), scorer=fuzz.ratio, score_cutoff=60, limit=count)
    ]
    if len(close) < count and len(wanted) >= 3:
        close += [text for text in folded if wanted in text and text not in close][: count - len(close)]
    return [folded[text] for text in close]


def _folded(name: str) -> str:
    return name[:_LONGEST].casefold().replace("_", " ")  # a name and its readable form are one proposal


class UnknownNameError(UserError):
    """A name that nothing goes by.

    The nearest names are looked for only when the message is read: who tries a name and has another reading of it if it
    is none should not pay for proposals.
    """

    def __init__(
        self, kind: str, name: str, candidates: Callable[[], Iterable[str]], all_of: Sequence[str] = ()
    ) -> None:
        super().__init__(kind, name)
        self._kind, self._name, self._candidates, self._all = kind, name, candidates, all_of

    def __str__(self) -> str:
        close = nearest(self._name, self._candidates())
        remedy = f": choose {', '.join(self._all)}" if 0 < len(self._all) <= FEW else ""
        if close:
            remedy = f"; did you mean {' or '.join(repr(text) for text in close)}?"
        return f"unknown {self._kind} {self._name!r}{remedy}"


def unknown_name(kind: str, name: str, candidates: Iterable[str]) -> UserError:
    """The error for an unknown `name`, which suggests the closest names, or lists all where they are few."""
    known = list(candidates)
    return UnknownNameError(kind, name, lambda: known, known)


def first_problem(error: ValidationError) -> str:
    """What is wrong with the first bad field of some data, in one sentence that names it and what it may be."""
    problem = error.errors(include_url=False)[0]
    name = ".".join(map(str, problem["loc"][:3]))  # of a field in a list: add.0.object
    bounds, given = problem.get("ctx", {}), problem.get("input")
    match problem["type"]:
        case "missing":
            return f"{name!r} is missing"
        case "literal_error" | "enum":
            choices = str(bounds["expected"]).replace(" or ", ", ").replace("'", "")
            return f"{name} cannot be {given!r:.80}: choose {choices}"
        case "greater_than_equal":
            return f"{name} must be at least {bounds['ge']}"
        case "greater_than":
            return f"{name} must be above {bounds['gt']}"
        case "less_than_equal":
            return f"{name} must be at most {bounds['le']}"
        case "less_than":
            return f"{name} must be below {bounds['lt']}"
        case "value_error":
            return str(bounds["error"])
        case "at_most":  # a bound of the server, see schemas.AtMost
            return f"{name} must be at most {bounds['most']}"
    expected = {
        "int": "a whole number",
        "bool": "true or false",
        "float": "a finite number",
        "finite": "a finite number",
    }
    wanted = [text for start, text in expected.items() if problem["type"].startswith(start)]
    return f"{name} must be {wanted[0]}, not {given!r:.80}" if wanted else f"{name}: {problem['msg']}"
