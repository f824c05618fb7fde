"""What is asked of an endpoint beside the question itself: who is called so, and what little words need to know.

All of it is kept for as long as the process lasts, within bounds; the graph may change meanwhile.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable, Sequence
from functools import cached_property, partial
from urllib.parse import quote

from kgreckon.engine.endpoint.client import RefusedError, SparqlClient, TooLargeError
from kgreckon.engine.endpoint.endpoint_schema import EndpointSchema, names_written, read_labels
from kgreckon.engine.endpoint.set_writing import can_be_written, reference, says_something, text_literal
from kgreckon.graph.symbols import readable
from kgreckon.query import Pause
from kgreckon.query.sparql import iri

_MOST_CALLED = 50  # things of one name that are taken
_KEPT = 100_000  # answers of each kind
_MOST_ENDS = 10_000


class Lookups:
    """One endpoint: its schema, and what was looked up. It may be asked from several threads at once."""

    def __init__(self, client: SparqlClient) -> None:
        self.client = client
        self._called: dict[str, tuple[str, ...]] = {}
        self._labels: dict[str, str | None] = {}
        self._ends: dict[tuple[int, str, int], tuple[str, ...]] = {}
        self._leading: dict[str, frozenset[int]] = {}
        self._stated: dict[str, frozenset[int]] = {}
        self._lock = threading.RLock()

    @cached_property
    def _schema(self) -> EndpointSchema:
        return EndpointSchema.read(self.client)

    @property
    def schema(self) -> EndpointSchema:
        """The schema, which is read when it is first needed."""
        with self._lock:
            return self._schema

    # -------------------------------------------------------------------------------------------------------- names

    def called(self, text: str, others: Iterable[str] = (), pause: Pause | None = None) -> tuple[str, ...]:
        """The IRIs of all things called `text`; where that is not known, it is looked up together with `others`."""
        with self._lock:
            if text not in self._called:
                _bounded(self._called)
                self._look_up([one for one in dict.fromkeys((text, *others)) if one not in self._called], pause)
            return self._called[text]

    def _look_up(self, texts: Sequence[str], pause: Pause | None) -> None:
        """Who is called so: the thing of that name, else those with that label, else those whose IRI ends so."""
        found: dict[str, dict[str, None]] = {text: {} for text in texts}
        exact = {text: name for text in texts if (name := _own_iri(text)) is not None}
        there = self._things_among(exact.values(), pause)
        for text, name in exact.items():
            if name in there:
                found[text][name] = None
        self._by_label([text for text in texts if not found[text]], found, pause)
        self._by_ending([text for text in texts if not found[text]], found, pause)
        self._called.update({text: tuple(sorted(iris)) for text, iris in found.items()})

    def _by_label(self, texts: Sequence[str], found: dict[str, dict[str, None]], pause: Pause | None) -> None:
        schema = self.schema
        if not schema.label_predicates:
            return
        meant: dict[str, list[str]] = {}
        for text in texts:
            meant.setdefault(text.casefold(), []).append(text)
        literals = [
            text_literal(written, language)
            for written in dict.fromkeys(written for text in texts for written in names_written(text))
            for language in schema.languages
        ]
        path = "|".join(map(reference, schema.label_predicates))

        def query(some: str) -> str:
            called = f"VALUES ?l {{ {some} }} ?x {path} ?l FILTER(isIRI(?x))"
            return f"SELECT DISTINCT ?x ?l WHERE {{ {called} }} LIMIT {_MOST_ENDS}"

        rows = self.client.each(literals, query, pause)
        iris = [row[0].text for row in rows if row[0] is not None]
        there = self._things_among(iris, pause)
        self.labels(sorted(there), pause)
        for iri_, label in rows:
            if iri_ is not None and label is not None and iri_.text in there:
                for text in meant.get(label.text.casefold(), ()):
                    if len(found[text]) < _MOST_CALLED and (self.label(iri_.text).casefold() == text.casefold()):
                        found[text][iri_.text] = None

    def _by_ending(self, texts: Sequence[str], found: dict[str, dict[str, None]], pause: Pause | None) -> None:
        """Things without a label are called by the last part of their IRIs."""
        candidates: dict[str, list[str]] = {}
        for text in texts:
            for namespace in self.schema.namespaces:
                for written in names_written(text):
                    for local in dict.fromkeys((written.replace(" ", "_"), quote(written), quote(written, safe=""))):
                        name = namespace + local
                        if can_be_written(name) and readable(name).casefold() == text.casefold():
                            candidates.setdefault(name, []).append(text)
        there = self._things_among(candidates, pause)
        labels = self.labels(sorted(there), pause)
        for name in there:
            for text in candidates[name] if labels[name] is None else ():
                found[text][name] = None

    def _things_among(self, iris: Iterable[str], pause: Pause | None) -> set[str]:
        """Those that facts or numbers are stated of."""
        stated = f"EXISTS {{ ?x ?p ?o FILTER({says_something('?o', self.schema.own_datatypes)}) }}"

        def query(some: str) -> str:
            return f"SELECT ?x WHERE {{ VALUES ?x {{ {some} }} FILTER({stated} || EXISTS {{ ?s ?q ?x }}) }}"

        wanted = dict.fromkeys(iris)
        rows = self.client.each(list(map(reference, wanted)), query, pause)
        return {row[0].text for row in rows if row[0] is not None} & set(wanted)

    def labels(self, iris: Sequence[str], pause: Pause | None = None) -> dict[str, str | None]:
        """The labels that are given to some things, None where there is none."""
        schema = self.schema
        with self._lock:
            _bounded(self._labels)
            unknown = [one for one in iris if one not in self._labels]
            writable = [one for one in unknown if can_be_written(one)]
            known = read_labels(self.client, writable, schema.label_predicates, schema.languages, pause)
            self._labels.update({one: known.get(one) for one in unknown})
            return {one: self._labels[one] for one in iris}

    def label(self, iri_: str) -> str:
        """What a thing is called; a blank node by itself."""
        if iri_.startswith("_:"):
            return iri_
        given = self.labels([iri_])[iri_]
        return readable(iri_) if given is None else given

    # -------------------------------------------------------------------------------------------------------- facts

    def leading(self, iri_: str, pause: Pause | None = None) -> frozenset[int]:
        """The relations, and inverses, that lead somewhere from a thing."""
        with self._lock:
            if iri_ not in self._leading:
                _bounded(self._leading)
                self._leading[iri_] = self._find_leading(reference(iri_), pause)
            return self._leading[iri_]

    def _find_leading(self, x: str, pause: Pause | None) -> frozenset[int]:
        found: set[int] = set()
        places = {one: place for place, one in enumerate(self.schema.relations)}
        for turned, triple in enumerate((f"{x} ?p ?o FILTER(!isLiteral(?o))", f"?o ?p {x}")):
            query = partial("SELECT ?p WHERE {{ VALUES ?p {{ {1} }} FILTER EXISTS {{ {0} }} }}".format, triple)
            rows = self.client.each(list(map(reference, places)), query, pause)
            found |= {2 * places[row[0].text] + turned for row in rows if row[0] is not None}
        return frozenset(found)

    def ends(
        self, relation: int, iri_: str, count: int, beside: Sequence[str] = (), pause: Pause | None = None
    ) -> tuple[str, ...]:
        """So many things that a relation or an inverse leads to; `beside` may be asked for soon, too."""
        key = relation, iri_, count
        with self._lock:
            if key not in self._ends:
                _bounded(self._ends)
                others = [one for one in dict.fromkeys((iri_, *beside)) if (relation, one, count) not in self._ends]
                self._find_ends(relation, others if not relation & 1 else [iri_], iri_, count, pause)
            return self._ends[key]

    def _find_ends(self, relation: int, iris: Sequence[str], first: str, count: int, pause: Pause | None) -> None:
        predicate = reference(self.schema.relations[relation >> 1])
        triple = f"?y {predicate} ?x" if relation & 1 else f"?x {predicate} ?y"
        limit = count if len(iris) == 1 else _MOST_ENDS
        values = " ".join(map(reference, iris))
        query = f"SELECT DISTINCT ?x ?y WHERE {{ VALUES ?x {{ {values} }} {triple} FILTER(isIRI(?y)) }} LIMIT {limit}"
        try:
            rows = self.client.some(query, pause)
            are_all = len(iris) == 1 or len(rows) < limit
        except (RefusedError, TooLargeError):
            if len(iris) == 1:
                raise
            rows, are_all = [], False
        if not are_all:
            return self._find_ends(relation, [first], first, count, pause)
        ends: dict[str, list[str]] = {one: [] for one in iris}
        for one, end in rows:
            if one is not None and end is not None and one.text in ends:
                ends[one.text].append(end.text)
        self._ends.update({(relation, one, count): tuple(found[:count]) for one, found in ends.items()})

    def stated(self, iris: Sequence[str], pause: Pause | None = None) -> frozenset[int]:
        """The attributes of which numbers are stated of any of some things."""
        with self._lock:
            _bounded(self._stated)
            self._find_stated([one for one in dict.fromkeys(iris) if one not in self._stated], pause)
            return frozenset().union(*(self._stated[one] for one in iris))

    def _find_stated(self, iris: Sequence[str], pause: Pause | None) -> None:
        places = {one.iri: place for place, one in enumerate(self.schema.attributes)}
        found: dict[str, set[int]] = {one: set() for one in iris}
        query = "SELECT DISTINCT ?x ?p WHERE {{ VALUES ?x {{ {} }} ?x ?p ?o FILTER(isLiteral(?o)) }}".format
        for one, predicate in self.client.each(list(map(reference, iris)) if places else [], query, pause):
            if one is not None and predicate is not None and one.text in found and predicate.text in places:
                found[one.text].add(places[predicate.text])
        self._stated.update({one: frozenset(own) for one, own in found.items()})

    def count_values(self, attribute: int, iri_: str, pause: Pause | None = None) -> int:
        """How many literals an attribute takes on a thing."""
        predicate = reference(self.schema.attributes[attribute].iri)
        query = f"SELECT DISTINCT ?o WHERE {{ {reference(iri_)} {predicate} ?o FILTER(isLiteral(?o)) }} LIMIT 100"
        return len(self.client.some(query, pause))


def _own_iri(text: str) -> str | None:
    """The IRI that a name is by itself, if it can be written."""
    name = iri(text) if text else ""
    return name if can_be_written(name) else None


def _bounded(kept: dict) -> None:
    """Forget everything where too much is kept."""
    if len(kept) > _KEPT:
        kept.clear()
