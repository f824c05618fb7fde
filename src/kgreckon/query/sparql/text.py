"""What can be said of a SPARQL text before it is parsed: how large it is, how it begins, and what it names."""

from __future__ import annotations

import re

from kgreckon.errors import UserError
from kgreckon.query.sparql.names import PREFIXES

MAX_LENGTH = 20_000
MAX_NESTING = 32
MAX_TOKENS = 3_000  # rdflib reads about two thousand in a second

# What may hold brackets that are none: strings, IRIs and comments. An escaped quote in a name begins no string, and one
# that is never closed hides nothing.
OPAQUE = re.compile(
    r"""\\.|\"{3}(?:[^"\\]|\\.|"(?!""))*\"{3}|'{3}(?:[^'\\]|\\.|'(?!''))*'{3}"""
    r"""|"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'|<[^<>"{}|^`\\\s]*>|#[^\n]*""",
    re.DOTALL,
)
_TEXTS = re.compile(r"""\"{3}.*?\"{3}|'{3}.*?'{3}|"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'|(?<!\S)#[^\n]*""", re.DOTALL)
_ESCAPED = re.compile(r"\\u[0-9a-fA-F]{4}|\\U[0-9a-fA-F]{8}")
_TOKEN = re.compile(r"[?$:%\w-]+|\S")
_HUGE = re.compile(r"\d{309}")
_PROLOGUE = r"\s*(?:(?:#[^\n]*\n|PREFIX\s+[^\s:]*:\s*<[^>]*>|BASE\s*<[^>]*>)\s*)*"
_UPDATE = re.compile(_PROLOGUE + r"(INSERT|DELETE|LOAD|CLEAR|CREATE|DROP|COPY|MOVE|ADD|WITH)\b", re.IGNORECASE)
_ASK = re.compile(_PROLOGUE + r"ASK\b", re.IGNORECASE)
_TRIPLES = re.compile(_PROLOGUE + r"(CONSTRUCT|DESCRIBE)\b", re.IGNORECASE)
_NAME_OR_WORD = re.compile(r"[?$]\w+|[\w%:-]+(?:\.+[\w%:-]+)*")
_IRI_OR_NAME = re.compile(r"<([^<>\"{}|^`\\\s]+)>|(?<![\w?$:-])((?:[A-Za-z][\w.-]*)?):((?:[\w%:-]|\.(?=[\w%:-]))+)")
_DECLARED = re.compile(r"\bPREFIX\s+([^\s:]*):\s*<([^>]*)>", re.IGNORECASE)
_BASE, _LOCAL = re.compile(r"\bBASE\b", re.IGNORECASE), re.compile(r"\w+")
_RELATIVE = re.compile(r"<(?![A-Za-z][\w+.-]*:)[\w/.#][^()?$&|]*>")  # and no comparison, as in ?x<?y&&?y>?z
_LIMIT = re.compile(r"\bLIMIT\s+(\d{1,18})[^{}]*$", re.IGNORECASE)
# Words of SPARQL that ask what is not stated, and so may count it as false.
_OF_ABSENCE = {"MINUS", "EXISTS", "BOUND", "COALESCE"}
# Words of SPARQL that lead to other graphs and other servers.
_ELSEWHERE = {
    "SERVICE": "no other endpoint is asked",
    "FROM": "there is one graph, the default one",
}


def is_ask(text: str) -> bool:
    """Whether a text begins as an ASK does."""
    return _ASK.match(text) is not None


def gives_triples(text: str) -> bool:
    """Whether a text begins as a CONSTRUCT or a DESCRIBE does."""
    return _TRIPLES.match(text) is not None


def may_rest_on_absence(text: str) -> bool:
    """Whether rows of a query may be there because something is not stated, as its words tell."""
    return any(word.upper() in _OF_ABSENCE for word in _NAME_OR_WORD.findall(OPAQUE.sub(" _ ", text)))


def check_question(text: str, tokens: int = MAX_TOKENS) -> str:
    """The text without escapes, if it is a question of bounded size to this graph; else a UserError."""
    if len(text) > MAX_LENGTH:
        raise UserError(f"a SPARQL query may have at most {MAX_LENGTH:,} characters, not {len(text):,}")
    text = unescaped(text)
    check_size(text, tokens)
    if update := _UPDATE.match(text):
        raise UserError(f"{update[1].upper()} is not supported: a question changes nothing, write a SELECT")
    for word in _NAME_OR_WORD.findall(OPAQUE.sub(" _ ", text)):
        if reason := _ELSEWHERE.get(word.upper()):
            raise UserError(f"{word.upper()} is not supported: {reason}")
    declared = _declared(text)
    for whole, prefix, _ in _names(text):
        if not whole and prefix not in declared:
            raise UserError(f"unknown prefix {prefix!r}: declare it with PREFIX {prefix}: <…>")
    return text


def check_iris(text: str) -> None:
    """Refuse an IRI without a scheme, such as `<Oslo>`, unless a BASE is declared."""
    if _BASE.search(OPAQUE.sub(" _ ", text)):
        return
    for found in OPAQUE.finditer(text):
        iri = found[0]
        if _RELATIVE.fullmatch(iri):
            meant = f":{iri[1:-1]}" if _LOCAL.fullmatch(iri[1:-1]) else f"<{PREFIXES['']}NAME>"
            raise UserError(f"{iri} is a relative IRI, which names nothing here: the graph's names are written {meant}")


def own_limit(text: str) -> int | None:
    """The LIMIT at the end of a query, if it has one."""
    found = _LIMIT.search(OPAQUE.sub(" _ ", text))
    return None if found is None else int(found[1])


def iris_in(text: str) -> list[str]:
    """The IRIs that a query names after its declarations, by prefixes or in full."""
    declared = _declared(text)
    return [whole or declared.get(prefix, f"{prefix}:") + local for whole, prefix, local in _names(text)]


def _declared(text: str) -> dict[str, str]:
    """The prefixes that a query may use."""
    return PREFIXES | dict(_DECLARED.findall(text))


def _names(text: str) -> list[tuple[str, str, str]]:
    """The names in a query's body: of each the IRI if it stands in full, else its prefix and the rest."""
    return _IRI_OR_NAME.findall(_TEXTS.sub(" ", _DECLARED.sub(" ", text)))


def unescaped(text: str) -> str:
    """The text without escapes of characters, which may stand for quotes and brackets."""

    def character(escaped: re.Match[str]) -> str:
        number = int(escaped[0][2:], 16)
        if number > 0x10FFFF or 0xD800 <= number < 0xE000:
            raise UserError(f"{escaped[0]} is not a character")
        return chr(number)

    found = _ESCAPED.sub(character, text)
    if _ESCAPED.search(found):
        raise UserError("an escape of a character may not be made of escapes")
    return found


def check_size(text: str, tokens: int) -> None:
    """Refuse what the parser would take long to read, or could not read at all."""
    depth, bare = 0, OPAQUE.sub(" _ ", text)
    if sum(1 for _ in _TOKEN.finditer(bare)) > tokens:
        raise UserError(f"a SPARQL query may have at most {tokens:,} words and signs")
    if _HUGE.search(bare):
        raise UserError("a number has too many digits")
    for character in bare:
        if character in "([{":
            depth += 1
            if depth > MAX_NESTING:
                raise UserError(f"brackets may be nested at most {MAX_NESTING} deep")
        elif character in ")]}":
            depth = max(0, depth - 1)
