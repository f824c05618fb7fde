"""A SPARQL update as a change: patterns are matched against what the graph states."""

from __future__ import annotations

from kgreckon.answers.answerer import Answerer
from kgreckon.engine.oxigraph import QueryLimits, SparqlMistakeError, TripleStore
from kgreckon.engine.rdf_terms import Term
from kgreckon.errors import UserError
from kgreckon.graph.changes.change import Change, ChangedStatement
from kgreckon.graph.changes.drafting import Draft, Wish
from kgreckon.graph.literals import NotANumberError, UnknownDateError, is_calendar, read_literal
from kgreckon.query import Pause
from kgreckon.query.sparql import LABEL, check_question, name_of
from kgreckon.query.sparql.updates import UpdatePart, operations

_SAME_MOMENT = 1e-7  # of a year: dates are written to the second


def change_of_update(
    text: str, answerer: Answerer, limits: QueryLimits | None = None, pause: Pause | None = None
) -> Change:
    """The change that an update comes to on the graph of an answerer; new names are added, as SPARQL has it."""
    draft, nothing = Draft(answerer.graph, new=True), TripleStore(lambda: iter(()), 0)
    try:
        for operation in operations(text):
            store = answerer.triples if operation.by_pattern else nothing
            both = [_triples(part, store, limits, pause) for part in (operation.removed, operation.added)]
            for triple in both[0]:
                _remove(draft, *triple)
            for triple in both[1]:
                _add(draft, *triple)
    finally:
        nothing.close()
    return draft.change()


def _triples(
    part: UpdatePart | None, store: TripleStore, limits: QueryLimits | None, pause: Pause | None
) -> list[tuple[Term, Term, Term]]:
    """The triples that a part of an update is about."""
    if part is None:
        return []
    try:
        found = store.query(check_question(part.query), limits, pause)
    except SparqlMistakeError as error:
        raise part.mistake(error.place, error.problem) from None
    if not found.complete:
        raise UserError(f"the update is of more than {len(found.rows):,} triples: make it in parts")
    triples = []
    for subject, predicate, object_ in found.rows:
        assert subject is not None and predicate is not None and object_ is not None, "a triple has three terms"
        triples.append((subject, predicate, object_))
    return triples


def _add(draft: Draft, subject: Term, predicate: Term, object_: Term) -> None:
    name = _name(subject)
    if predicate.text == LABEL:
        draft.take(Wish("label", name, "", object_.text))
    elif object_.datatype is None:
        draft.take(Wish("add", name, name_of(predicate.text), _name(object_)))
    else:
        number, unit = _number(object_)
        own = draft.unit_of(name_of(predicate.text))  # RDF has no units: a number is in the attribute's own
        draft.take(Wish("add", name, name_of(predicate.text), number, unit if own is None else None))


def _remove(draft: Draft, subject: Term, predicate: Term, object_: Term) -> None:
    if predicate.text == LABEL or subject.blank or object_.blank:
        return  # every thing has a label: its own name, if no other
    name, relation = name_of(subject.text), name_of(predicate.text)
    if object_.datatype is None:
        draft.take_out(ChangedStatement(name, relation, name_of(object_.text)))
        return
    try:
        number, unit = _number(object_)
    except UserError:
        return  # which nothing states
    stated = draft.numbers_of(name, relation)
    near = [one for one in stated if is_calendar(unit) and abs(one - number) < _SAME_MOMENT]
    draft.take_out(ChangedStatement(name, relation, number if number in stated or not near else near[0]))


def _name(term: Term) -> str:
    if not term.is_iri:
        what = "a blank node" if term.blank else f"the literal {term.text!r:.60}"
        raise UserError(f"{what} is not a thing: things have names, which are IRIs")
    return name_of(term.text)


def _number(term: Term) -> tuple[float, str]:
    try:
        return read_literal(term.text, term.datatype or "")
    except (NotANumberError, UnknownDateError) as error:
        raise UserError(f"a graph states things, numbers and dates, not texts: {error}") from None
