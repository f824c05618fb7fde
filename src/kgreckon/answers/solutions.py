"""Rows of SPARQL with inference: what is stated, exactly, and below it what a model infers, with how each row is known.

The stated rows are Oxigraph's. An inferred row is an inferred answer of the first thing that is selected, and the most
likely values of the other variables, given that answer and each other.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace

import numpy as np

from kgreckon.answers.answerer import COVERAGE, Answerer
from kgreckon.answers.sparql_answers import Known, SparqlAnswers
from kgreckon.defaults import LEAST_PROBABILITY
from kgreckon.engine.rdf_terms import XSD, Row, SparqlResult, Term
from kgreckon.exact import ask as ask_exactly
from kgreckon.graph.literals import is_calendar, nearest_day, write_date
from kgreckon.models.interface import ScoreMeaning
from kgreckon.query import And, Compare, Entity, Not, Number, NumberSort, Pause, Query, ValueOf, sort_of
from kgreckon.query.sparql import iri
from kgreckon.query.sparql.elements import Iri, Literal
from kgreckon.query.sparql.several_variables import SolutionQuery, parse_solutions
from kgreckon.query.sparql.syntax import SortKey

_MOST = 200  # inferred answers that become rows


def solutions(
    answerer: Answerer,
    text: str,
    limit: int | None = None,
    floor: float = LEAST_PROBABILITY,
    pause: Pause | None = None,
    stated: Callable[[str, int | None], SparqlAnswers] | None = None,
) -> SparqlAnswers:
    """The rows of a SELECT whose pattern is a tree: stated and inferred, in its order, with how each is known.

    `stated` answers the query from what is stated, in so many rows. Inferred answers below the `floor` are left out.
    """
    asked = parse_solutions(text, answerer.graph.vocabulary)
    wanted = min((each for each in (limit, asked.limit) if each is not None), default=None)
    found = (stated or answerer.sparql)(text, wanted)
    rows: list[tuple[Row, Known]] = [(row, Known(1.0, True)) for row in found]
    if answerer.model.calibration is not ScoreMeaning.CERTAIN:
        rows += _inferred(answerer, asked, _MOST if asked.keys else min(_MOST, wanted or _MOST), floor, pause)
    about = {
        "score": lambda known: Term.of_number(known.score),
        "observed": lambda known: Term.of_truth(known.observed),
    }
    for place, (row, known) in enumerate(rows):
        said = {name: about[name](known) for name in asked.marks}
        rows[place] = tuple(said.get(name, term) for name, term in zip(asked.columns, row, strict=True)), known
    for key in reversed(asked.keys):
        rows.sort(key=lambda each: _order(each, asked, key), reverse=key.descending)
    shown = rows[:wanted]
    complete = found.complete and (len(rows) <= len(shown) or wanted == asked.limit)
    result = SparqlResult("table", asked.columns, [row for row, _ in shown], complete=complete)
    inferred = answerer.model.calibration is not ScoreMeaning.CERTAIN
    known_rows = tuple(known for _, known in shown)
    return replace(found, result=result, inferred=inferred, known=known_rows if inferred or asked.marks else ())


def _inferred(
    answerer: Answerer, asked: SolutionQuery, most: int, floor: float, pause: Pause | None
) -> list[tuple[Row, Known]]:
    """A row for each inferred answer, the most likely first."""
    ranking = answerer.rank(asked.query, pause)
    ids, scores = ranking.candidates.ids, ranking.candidates.scores
    likely = np.flatnonzero((scores >= floor) & ~np.isin(ids, ranking.proved))
    rows = []
    for place in likely[np.argsort(-scores[likely], kind="stable")][:most].tolist():
        if pause is not None:
            pause()
        name = iri(answerer.graph.vocabulary.entity_name(int(ids[place])))
        terms: dict[str, Term] = {asked.root: Term(name)}
        known: dict[str, Iri | Literal] = {asked.root: Iri(name)}
        for variable in asked.others:
            value = _likeliest(answerer, asked.of(variable, known), pause)
            if value is not None:
                terms[variable] = value
                if value.is_iri:
                    known[variable] = Iri(value.text)
        rows.append((tuple(terms.get(name) for name in asked.columns), Known(float(scores[place]), False)))
    return rows


def _likeliest(answerer: Answerer, query: Query, pause: Pause | None) -> Term | None:
    """The most likely member of a set: what is stated, else what is inferred, or expected of a number."""
    graph, names = answerer.graph, answerer.graph.vocabulary
    of_numbers = isinstance(sort_of(query, names), NumberSort)
    value = next((part for part in _parts(query) if isinstance(part, ValueOf)), None)
    proved = ask_exactly(graph, query, pause=pause)
    best: int | None
    if len(proved):
        best = int(proved[0])
    elif value is not None and (holder := _one_entity(value.of)) is not None:
        predicted = answerer.model.predict(holder, value.attribute, COVERAGE)
        expected = () if predicted is None else predicted.stated or (predicted.estimate,)
        for number in expected:
            if predicted is not None and all(_allows(part, number) for part in _parts(query)):
                return _number(number, predicted.unit)
        best = next((id_ for id_, _ in answerer.rank(query, pause).best(1)), None)
    else:
        best = next((id_ for id_, _ in answerer.rank(query, pause).best(1)), None)
    if best is None:
        return None
    return _number(*graph.values.number_at(best)) if of_numbers else Term(iri(names.entity_name(best)))


def _one_entity(query: Query) -> int | None:
    """The entity that a set holds at most, if it is written."""
    return next((part.entity for part in _parts(query) if isinstance(part, Entity)), None)


def _allows(part: Query, value: float) -> bool:
    """Whether a condition holds of an expected number; what is compared with other than numbers is not looked at."""
    match part:
        case Compare(comparison, Number(other)):
            return comparison.holds(value, other)
        case Not(of):
            return not isinstance(of, Compare) or not _allows(of, value)
    return not isinstance(part, Number) or part.value == value


def _parts(query: Query) -> tuple[Query, ...]:
    return query.parts if isinstance(query, And) else (query,)


def _number(value: float, unit: str) -> Term:
    if is_calendar(unit):
        return Term(write_date(nearest_day(value)), f"{XSD}date")
    return Term.of_number(value)


def _order(row: tuple[Row, Known], asked: SolutionQuery, key: SortKey) -> tuple[int, float, str]:
    """Where a row stands: nothing, then numbers, then texts."""
    if key.variable == "score" and "score" not in (asked.root, *asked.others):
        return 1, row[1].score, ""
    if key.variable == "observed" and "observed" not in (asked.root, *asked.others):
        return 1, float(row[1].observed), ""
    term = row[0][asked.columns.index(key.variable)]
    if term is None:
        return 0, -math.inf, ""
    try:
        return 1, float(term.text), ""
    except ValueError:
        return 2, 0.0, term.text
