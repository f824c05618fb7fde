"""What a graph at an endpoint consists of: its relations and attributes, what they are called, and how it labels."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from kgreckon.engine.endpoint.client import RefusedError, SparqlClient, TooLongError
from kgreckon.engine.endpoint.set_writing import can_be_written, reference
from kgreckon.engine.rdf_terms import XSD
from kgreckon.errors import UserError
from kgreckon.graph.literals import is_calendar, is_numeric_type, is_plain_number_type, local_name, same_family
from kgreckon.query import Pause
from kgreckon.query.sparql import LABEL

_MOST_PREDICATES = 5_000
_LOOKED_AT = 1_000  # objects of a predicate, for what it leads to
_SUBJECTS = 10_000  # that are looked at for where names live
_FACTS = 1_000_000  # that are looked at where a server cannot count all
_AT_ONCE = 50  # predicates
_NAMESPACES = 6
_LABELS = (
    LABEL,
    "http://www.w3.org/2004/02/skos/core#prefLabel",
    "http://schema.org/name",
    "https://schema.org/name",
    "http://xmlns.com/foaf/0.1/name",
)
LANGUAGES = ("en", "", "en-us", "en-gb")  # the best first; others where none of these is there
_OTHER_LANGUAGES = 5


@dataclass(frozen=True)
class Attribute:
    """A predicate that leads to numbers."""

    iri: str
    unit: str  # the last part of its commonest datatype, as an import has it
    datatype: str | None  # whose name the unit is, where it is none of XML Schema


@dataclass(frozen=True)
class EndpointSchema:
    """The predicates of a graph, and how its things are named."""

    relations: tuple[str, ...]  # IRIs
    attributes: tuple[Attribute, ...]
    label_predicates: tuple[str, ...]
    languages: tuple[str, ...]  # of labels, the best first; the empty one is none
    namespaces: tuple[str, ...]  # of things, the commonest first
    anything: str | None  # the IRI of some thing
    labels: dict[str, str]  # of predicates

    @property
    def own_datatypes(self) -> list[str]:
        """The datatypes of numbers that are none of XML Schema."""
        return sorted({one.datatype for one in self.attributes if one.datatype is not None})

    @staticmethod
    def read(client: SparqlClient, pause: Pause | None = None) -> EndpointSchema:
        """The schema of the graph at an endpoint, from bounded looks at it."""
        predicates = _predicates(client, pause)
        kinds = _kinds(client, predicates, pause)
        relations = tuple(one for one in predicates if "" in kinds[one])
        attributes = tuple(found for one in predicates if (found := _attribute(one, kinds[one])) is not None)
        labelling = tuple(one for one in _LABELS if one in predicates)
        languages = _languages(client, labelling, pause)
        named = dict.fromkeys([*relations, *(one.iri for one in attributes)])
        labels = read_labels(client, list(named), labelling, languages, pause)
        namespaces, anything = _things(client, relations, attributes, pause)
        return EndpointSchema(relations, attributes, labelling, languages, namespaces, anything, labels)


def _predicates(client: SparqlClient, pause: Pause | None) -> list[str]:
    """All predicates, the commonest first."""
    ending = f"GROUP BY ?p ORDER BY DESC(?n) ?p LIMIT {_MOST_PREDICATES}"
    try:
        found = client.some(f"SELECT ?p (COUNT(*) AS ?n) WHERE {{ ?s ?p ?o }} {ending}", pause)
    except (RefusedError, TooLongError):
        some = f"{{ SELECT ?p WHERE {{ ?s ?p ?o }} LIMIT {_FACTS} }}"
        found = client.some(f"SELECT ?p (COUNT(*) AS ?n) WHERE {{ {some} }} {ending}", pause)
    predicates = [one.text for one, *_ in found if one is not None and can_be_written(one.text)]
    if not predicates:
        raise UserError(f"{client.address} holds no facts in its default graph")
    return predicates


def _kinds(client: SparqlClient, predicates: Sequence[str], pause: Pause | None) -> dict[str, Counter[str]]:
    """What the first objects of each predicate are: how many of each datatype, and of none, which are things."""
    kinds: dict[str, Counter[str]] = {one: Counter() for one in predicates}
    samples = [
        f"UNION {{ SELECT ({reference(one)} AS ?p) ?o WHERE {{ ?s {reference(one)} ?o }} LIMIT {_LOOKED_AT} }}"
        for one in predicates
    ]
    kind = "BIND(IF(isLiteral(?o), STR(DATATYPE(?o)), '') AS ?k)"

    def query(some: str) -> str:
        return f"SELECT ?p ?k (COUNT(*) AS ?c) WHERE {{ {some.removeprefix('UNION')} {kind} }} GROUP BY ?p ?k"

    for predicate, found, times in client.each(samples, query, pause, _AT_ONCE):
        if predicate is not None and predicate.text in kinds and found is not None and times is not None:
            kinds[predicate.text][found.text] += int(client.number(times))
    return kinds


def _attribute(iri: str, kinds: Counter[str]) -> Attribute | None:
    """A predicate as an attribute, if it leads to numbers: its unit is chosen as an import does."""
    numeric = {kind: times for kind, times in kinds.items() if kind and _is_of_numbers(kind)}
    if not numeric:
        return None
    units = {kind: local_name(kind) for kind in numeric}
    families = {
        kind: sum(times for other, times in numeric.items() if same_family(units[kind], units[other]))
        for kind in numeric
    }
    best = max(numeric, key=lambda kind: (families[kind], numeric[kind], kind))
    return Attribute(iri, units[best], None if best.startswith(XSD) else best)


def _is_of_numbers(datatype: str) -> bool:
    own = local_name(datatype)
    return is_numeric_type(datatype) or (
        not datatype.startswith(XSD) and is_plain_number_type(datatype) and not is_calendar(own)
    )


def _languages(client: SparqlClient, labelling: Sequence[str], pause: Pause | None) -> tuple[str, ...]:
    """The languages that names are looked for in: English and none, or the commonest others."""
    if not labelling:
        return ()
    path = "|".join(map(reference, labelling))
    some = f"{{ SELECT ?l WHERE {{ ?x {path} ?l }} LIMIT {_LOOKED_AT} }} BIND(LCASE(LANG(?l)) AS ?t)"
    found = client.some(f"SELECT ?t (COUNT(*) AS ?n) WHERE {{ {some} }} GROUP BY ?t ORDER BY DESC(?n)", pause)
    tags = [one.text for one, *_ in found if one is not None and (not one.text or one.text.replace("-", "").isalnum())]
    return tuple(one for one in LANGUAGES if one in tags) or tuple(tags[:_OTHER_LANGUAGES])


def _things(
    client: SparqlClient, relations: Sequence[str], attributes: Sequence[Attribute], pause: Pause | None
) -> tuple[tuple[str, ...], str | None]:
    """The commonest namespaces of things, and one of the things."""
    predicates = [*relations[:_AT_ONCE], *(one.iri for one in attributes[:_AT_ONCE])]
    if not predicates:
        return (), None
    share = _SUBJECTS // len(predicates)
    samples = " UNION ".join(f"{{ SELECT ?s WHERE {{ ?s {reference(one)} ?o }} LIMIT {share} }}" for one in predicates)
    parts = 'FILTER(isIRI(?s)) BIND(REPLACE(STR(?s), "[^/#:]*$", "") AS ?n)'
    ending = f"GROUP BY ?n ORDER BY DESC(?c) LIMIT {_NAMESPACES}"
    found = client.some(
        f"SELECT ?n (COUNT(*) AS ?c) (MIN(STR(?s)) AS ?one) WHERE {{ {samples} {parts} }} {ending}", pause
    )
    ones = [row[2].text for row in found if row[2] is not None and can_be_written(row[2].text)]
    namespaces = (row[0].text for row in found if row[0] is not None)
    return tuple(one for one in namespaces if one and can_be_written(one)), next(iter(ones), None)


def read_labels(
    client: SparqlClient,
    iris: Sequence[str],
    labelling: Sequence[str],
    languages: Sequence[str],
    pause: Pause | None = None,
) -> dict[str, str]:
    """The label of each of some things that have one: of the first predicate that gives one, in the best language."""
    best: dict[str, tuple[int, int, str]] = {}
    predicates = " ".join(map(reference, labelling))

    def query(things: str) -> str:
        labels = f"VALUES ?p {{ {predicates} }} ?x ?p ?l FILTER(isLiteral(?l))"
        return f"SELECT ?x ?p ?l WHERE {{ VALUES ?x {{ {things} }} {labels} }}"

    for iri, predicate, label in client.each(list(map(reference, iris)) if labelling else [], query, pause):
        if iri is None or predicate is None or label is None or not label.text or predicate.text not in labelling:
            continue
        language = label.language or ""
        rank = languages.index(language) if language in languages else len(languages)
        found = labelling.index(predicate.text), rank, label.text
        best[iri.text] = min(best.get(iri.text, found), found)
    return {iri: label for iri, (_, _, label) in best.items()}


def names_written(text: str) -> Iterator[str]:
    """How a name may be written that somebody typed: as it stands, in lower case, with capitals."""
    title = " ".join(word[:1].upper() + word[1:] for word in text.split(" "))
    small = ("of", "the", "and", "in", "de", "la", "on", "for", "to", "a")
    words = title.split(" ")
    yield from dict.fromkeys(
        (
            text,
            text[:1].upper() + text[1:],
            title,
            " ".join([*words[:1], *(word.lower() if word.lower() in small else word for word in words[1:])]),
            text.lower(),
            text.upper(),
        )
    )
