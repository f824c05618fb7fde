"""What to ask a learned model next: questions about what it finds best, whose likely answers nothing states."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

import numpy as np

from kgreckon.answers.answerer import COVERAGE, Answerer
from kgreckon.answers.predicted_numbers import expected_number
from kgreckon.errors import UserError
from kgreckon.query import Entity, Follow
from kgreckon.query.notations import read_question
from kgreckon.query.question import Question
from kgreckon.query.words import sentence
from kgreckon.query.words.lexicon import lexicon_of
from kgreckon.runs.quality import Quality, RelationQuality, Suggestion
from kgreckon.runs.run_folder import Run

_RELATIONS, _ATTRIBUTES = 3, 2
_TRIED = 10  # of each, the best found first
_THINGS = 512  # that are asked for each, at random
_AT_ONCE = 64
_LIKELY = 0.3


def suggest(run: Run, report: Quality) -> tuple[Suggestion, ...]:
    """Commands about the relations and attributes that the report says are found best, an answer to each."""
    answerer = Answerer.open(run, None, run.settings.device, "test")
    things = np.random.default_rng(run.settings.seed).permutation(len(answerer.graph.entities))[:_THINGS]
    relations = sorted((row for row in report.relations if row.tested), key=_how_well, reverse=True)[:_TRIED]
    attributes = sorted(
        (row for row in report.attributes if row.mean_error < row.mean_error_of_the_median),
        key=lambda row: row.mean_error / row.mean_error_of_the_median,
    )
    questions = (_question(answerer, row.name, things) for row in relations)
    numbers: dict[str, Suggestion] = {}  # by the thing, each another
    for row in attributes[:_TRIED]:
        found = _number(answerer, row.name, things)
        if found is not None and len(numbers) < _ATTRIBUTES:
            numbers.setdefault(found.words[0], found)
    return (*islice(filter(None, questions), _RELATIONS), *numbers.values())


def _how_well(row: RelationQuality) -> tuple[bool, float, int]:
    return row.judged, row.hits_at_10, row.facts


def _question(answerer: Answerer, relation: str, things: np.ndarray) -> Suggestion | None:
    """The likeliest fact of a relation that is not stated, as a question from its head."""
    names = answerer.graph.vocabulary
    label, best = names.relation_id(relation), (_LIKELY, -1, -1)
    if label == lexicon_of(names).classes:  # of what kind a thing is nobody asks who has its table
        return None
    for first in range(0, len(things), _AT_ONCE):
        heads = things[first : first + _AT_ONCE]
        rows, tails, probabilities = answerer.model.likely_facts(label, heads, best[0])
        if len(rows) and (most := int(probabilities.argmax())) >= 0:
            best = max(best, (float(probabilities[most]), int(heads[rows[most]]), int(tails[most])))
    probability, head, tail = best
    if head < 0:
        return None
    question = Question(Follow(label, Entity(head)))
    words = sentence(question, names)
    try:
        if '"' in words or read_question(words, names) != question:  # in quotes nobody would type it
            return None
    except UserError:  # a name that words cannot hold
        return None
    return Suggestion(command="ask", words=(words,), answer=names.entity_label(tail), probability=probability)


def _number(answerer: Answerer, attribute: str, things: np.ndarray) -> Suggestion | None:
    """The thing that most likely has an attribute of which nothing is stated, and its number."""
    graph, names = answerer.graph, answerer.graph.vocabulary
    label = names.attribute_id(attribute)
    stated = graph.attribute_facts.sources[graph.attribute_facts.labels == label]
    lacking = things[~np.isin(things, stated)]
    thing = max(_chances(answerer, lacking, label), default=(0.0, -1))[1]
    found = answerer.model.predict(thing, label, COVERAGE) if thing >= 0 else None
    if found is None or found.has_it < _LIKELY:
        return None
    about = names.entity_name(thing), names.attribute_name(label)
    return Suggestion(command="predict", words=about, answer=expected_number(found), probability=found.has_it)


def _chances(answerer: Answerer, things: np.ndarray, attribute: int) -> Iterator[tuple[float, int]]:
    for thing in things.tolist():
        chances = answerer.model.attribute_chances(thing)
        if chances is not None:
            yield float(chances[attribute]), thing
