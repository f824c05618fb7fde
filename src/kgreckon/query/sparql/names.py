"""Names as IRIs: a name that is an IRI stands for itself, any other lives in `urn:kgreckon:`, percent-encoded."""

from __future__ import annotations

import re
from urllib.parse import unquote

NAMESPACE = "urn:kgreckon:"
# Prefixes that a query need not declare.
PREFIXES = {
    "": NAMESPACE,
    "rdf": "http://www.w3.org/1999/02/22-rdf-syntax-ns#",
    "rdfs": "http://www.w3.org/2000/01/rdf-schema#",
    "xsd": "http://www.w3.org/2001/XMLSchema#",
    "geo": "http://www.opengis.net/ont/geosparql#",
    "geof": "http://www.opengis.net/def/function/geosparql/",
    "uom": "http://www.opengis.net/def/uom/OGC/1.0/",
}
LABEL = f"{PREFIXES['rdfs']}label"  # what leads to the readable name of anything

_IRI = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:(?:[\w.~:/?@!$&'()*+,;=-]|%[0-9A-Fa-f]{2})*(?:#[\w.~:/?@!$&'()*+,;=-]*)?")
_PLAIN = re.compile(r"[A-Za-z0-9_.~-]")
_LOCAL = re.compile(r"[A-Za-z_](?:[A-Za-z0-9_-]|%[0-9A-F]{2})*")


def iri(name: str) -> str:
    """The IRI that a symbol's name is in RDF."""
    if _IRI.fullmatch(name) and not name.startswith(NAMESPACE):
        return name
    return NAMESPACE + "".join(map(_encoded, name))


def name_of(iri: str) -> str:
    """The name that an IRI stands for; the inverse of `iri`."""
    return unquote(iri.removeprefix(NAMESPACE)) if iri.startswith(NAMESPACE) else iri


def term(name: str) -> str:
    """The name as SPARQL writes it: `:Japan`, `rdfs:label`, or `<…>` where no prefix reaches."""
    full = iri(name)
    for prefix, namespace in PREFIXES.items():
        local = full.removeprefix(namespace)
        if local != full and _LOCAL.fullmatch(local):
            return f"{prefix}:{local}"
    return f"<{full}>"


def _encoded(character: str) -> str:
    if _PLAIN.match(character) or (character > "\x7f" and character.isalpha()):
        return character
    return "".join(f"%{byte:02X}" for byte in character.encode())
