"""A client of the SPARQL protocol: SELECT and ASK are sent, within bounds of time and size, and nothing is changed."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from email.message import Message
from http import HTTPStatus
from http.client import HTTPException, IncompleteRead
from math import isfinite
from typing import IO, Any
from urllib.error import HTTPError, URLError
from urllib.parse import urlencode, urlsplit
from urllib.request import HTTPRedirectHandler, Request, build_opener

from kgreckon.engine.rdf_terms import LANG_STRING, STRING, Row, SparqlResult, Term
from kgreckon.errors import UserError, shortened
from kgreckon.query import Pause
from kgreckon.query.sparql import own_limit
from kgreckon.version import __version__

SECONDS = 60.0  # that one query may take
MOST_ROWS = 500_000
AT_ONCE = 500  # items that one query is about
_MOST_CHARACTERS = 50_000  # of such a query
_MOST_BYTES = 256 << 20
_ERROR_BYTES = 1 << 16
_PART = 1 << 16
_JSON = "application/sparql-results+json"
_READS = re.compile(
    r"(?:PREFIX\s+[^\s:]*:\s*<[^>]*>\s*|BASE\s*<[^>]*>\s*|#[^\n]*\n\s*)*(?:SELECT|ASK)\b", re.IGNORECASE
)
_ARGUMENTS = re.compile(r"\((?![^()]*\bAS\b)[^()]*\)")  # of a function
_TAGS = re.compile(r"<style.*?</style>|<[^>]*>", re.DOTALL | re.IGNORECASE)


class TooLargeError(UserError):
    """A result with more rows or bytes than are taken, or than the server gives."""


class TooLongError(UserError):
    """A query that takes too long."""


class RefusedError(UserError):
    """A query that the server does not answer."""


class SparqlClient:
    """Asks one endpoint; it may be used from several threads at once."""

    def __init__(self, address: str, seconds: float = SECONDS) -> None:
        try:
            parts = urlsplit(address)
            whole = parts.scheme.lower() in ("http", "https") and bool(parts.hostname) and (parts.port or 1) > 0
        except ValueError:
            whole = False
        if not whole or re.search(r"[\x00-\x20\x7f]", address) or not address.isascii():
            raise UserError(f"{address!r} is not an address of a SPARQL endpoint, such as http://localhost:7878/query")
        if "@" in parts.netloc:
            raise UserError("the address of an endpoint may hold no user name and password")
        self.address, self.seconds = address.partition("#")[0], seconds
        self._most_characters = _MOST_CHARACTERS
        self._opener = build_opener(_StayHere())

    def __repr__(self) -> str:
        return f"the SPARQL endpoint {self.address}"

    def rows(self, query: str, pause: Pause | None = None) -> list[Row]:
        """The rows of a SELECT without a limit, all of them: more than are taken are an error."""
        found = self.some(f"{query}\nLIMIT {MOST_ROWS + 1}", pause)
        if len(found) > MOST_ROWS:
            raise TooLargeError(f"{self.address} has more than {MOST_ROWS:,} answers to a part of this: ask for less")
        return found

    def some(self, query: str, pause: Pause | None = None) -> list[Row]:
        """The rows of a SELECT that bounds them itself."""
        found = self.query(query, pause)
        if found.form != "table":
            raise UserError(f"{self.address} answers a SELECT with a truth value")
        if not found.complete:
            raise TooLargeError(
                f"{self.address} gives only the first {len(found.rows):,} answers to a part of this: ask for less"
            )
        wanted = _selected(query)
        if found.rows and found.variables != wanted:
            raise UserError(
                f"{self.address} answers with {' '.join(found.variables)!r} where {' '.join(wanted)!r} is asked for"
            )
        return found.rows

    def number(self, term: Term) -> float:
        """The number that a calculation gave."""
        try:
            value = float(term.text)
        except ValueError:
            value = float("nan")
        if not isfinite(value):
            raise UserError(f"{self.address} answers with {shortened(term.text, 80)!r} where a number is asked for")
        return value

    def each(
        self, items: Sequence[str], write: Callable[[str], str], pause: Pause | None = None, at_once: int = AT_ONCE
    ) -> list[Row]:
        """The rows of queries about some items, as many in one query as the server takes."""
        rows: list[Row] = []
        todo = [items[start : start + at_once] for start in range(0, len(items), at_once)]
        while todo:
            some = todo.pop()
            query = write(" ".join(some))
            if len(query) <= self._most_characters or len(some) == 1:
                try:
                    rows += self.some(query, pause)
                    continue
                except (RefusedError, TooLargeError) as error:
                    if len(some) == 1:
                        raise
                    if isinstance(error, RefusedError):
                        self._most_characters = len(query) - 1
            middle = len(some) // 2
            todo += [some[:middle], some[middle:]]
        return rows

    def query(self, query: str, pause: Pause | None = None) -> SparqlResult:
        """The result of a SELECT or an ASK."""
        if _READS.match(query.lstrip()) is None:
            raise UserError("an endpoint is only read: SELECT and ASK are sent, nothing else")
        try:
            body, headers = self._send(query, pause)
        except HTTPError as error:
            with error:
                raise RefusedError(f"{self.address} answers with HTTP {error.code}: {_said(error)}") from None
        except TimeoutError:
            raise self._too_long() from None
        except URLError as error:
            if isinstance(error.reason, TimeoutError):
                raise self._too_long() from None
            said = getattr(error.reason, "strerror", None) or str(error.reason)
            raise UserError(f"{self.address} cannot be reached: {said}") from None
        except (HTTPException, OSError) as error:
            raise UserError(f"the connection to {self.address} broke: {error or type(error).__name__}") from None
        result = self._result(body, headers.get_content_type())
        return replace(result, complete=not _is_cut(result, query, headers))

    def _send(self, query: str, pause: Pause | None) -> tuple[bytes, Message]:
        """The body of the answer and its headers."""
        end = time.monotonic() + self.seconds
        request = Request(  # noqa: S310  # of http or https, see above
            self.address,
            urlencode({"query": query}).encode(),
            {
                "Accept": f"{_JSON}, application/json;q=0.5",
                "Content-Type": "application/x-www-form-urlencoded",
                "User-Agent": f"kgreckon/{__version__}",
            },
            method="POST",
        )
        with self._opener.open(request, timeout=self.seconds) as answer:
            if answer.status == HTTPStatus.PARTIAL_CONTENT:  # what Virtuoso found in the time that it takes
                raise self._too_long()
            parts: list[bytes] = []
            size = 0
            while part := answer.read1(_PART):
                size += len(part)
                if size > _MOST_BYTES:
                    raise TooLargeError(
                        f"{self.address} answers with more than {_MOST_BYTES >> 20} MiB: ask for less at once"
                    )
                if time.monotonic() > end:
                    raise self._too_long()
                if pause is not None:
                    pause()
                parts.append(part)
            if answer.length:
                raise IncompleteRead(b"", answer.length)
            return b"".join(parts), answer.headers

    def _too_long(self) -> TooLongError:
        return TooLongError(f"{self.address} did not answer within {self.seconds:g} seconds: ask for less at once")

    def _result(self, body: bytes, kind: str) -> SparqlResult:
        try:
            return _read(json.loads(body))
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
            raise UserError(
                f"{self.address} answers with {kind}, but not with the JSON of SPARQL results: "
                "is this the address of its SPARQL endpoint, which often ends in /query or /sparql?"
            ) from None


class _StayHere(HTTPRedirectHandler):
    """Follows no redirection, upon which a query would be lost."""

    def redirect_request(
        self, req: Request, fp: IO[bytes], code: int, msg: str, headers: Message, newurl: str
    ) -> Request | None:
        """Say where to ask instead."""
        fp.close()
        raise UserError(f"{req.full_url} sends on to another address: ask {shortened(newurl, 200)}")


def _selected(query: str) -> tuple[str, ...]:
    """The variables that a SELECT of ours asks for."""
    head = query.partition(" WHERE")[0]
    while (bare := _ARGUMENTS.sub("", head)) != head:
        head = bare
    return tuple(re.findall(r"\?(\w+)", head))


def _is_cut(result: SparqlResult, query: str, headers: Message) -> bool:
    """Whether a server says that it left rows out: Virtuoso does where its bounds are reached, and our own server."""
    if "X-SQL-State" in headers or headers.get("Kgreckon-Complete") == "no":
        return True
    most, limit = headers.get("X-SPARQL-MaxRows", ""), own_limit(query)
    is_full = most.isdecimal() and len(most) < 10 and len(result.rows) >= int(most)
    return is_full and (limit is None or len(result.rows) < limit)


def _read(said: Mapping[str, Any]) -> SparqlResult:
    """The result that JSON says."""
    if "boolean" in said:
        if not isinstance(said["boolean"], bool):
            raise TypeError
        return SparqlResult("truth", truth=said["boolean"])
    names = tuple(map(str, said["head"]["vars"]))
    rows = [tuple(_term(row[name]) if name in row else None for name in names) for row in said["results"]["bindings"]]
    return SparqlResult("table", names, rows)


def _term(said: Mapping[str, Any]) -> Term:
    text = said["value"]
    if not isinstance(text, str):
        raise TypeError
    text.encode()  # which half of a surrogate pair cannot be
    match said["type"]:
        case "uri":
            return Term(text)
        case "bnode":
            return Term(text, blank=True)
        case "literal" | "typed-literal":
            language = said.get("xml:lang")
            kind = said.get("datatype", STRING if language is None else LANG_STRING)
            return Term(text, str(kind), None if language is None else str(language).lower())
    raise ValueError


def _said(error: HTTPError) -> str:
    """What a server says about a mistake, in one line."""
    try:
        text = error.read(_ERROR_BYTES).decode(errors="replace")
    except (OSError, HTTPException):
        text = ""
    try:
        told = json.loads(text)
        text = next(str(told[key]) for key in ("exception", "message", "error", "detail", "title") if told.get(key))
    except (ValueError, AttributeError, TypeError, RecursionError, StopIteration):
        text = _TAGS.sub(" ", text) if text.lstrip().startswith("<") else text
    return shortened(" ".join(text.split()), 300) or str(error.reason or "no reason is given")
