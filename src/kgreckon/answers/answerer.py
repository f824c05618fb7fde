"""The answerer: what the graph proves and what a model infers, ranked together."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from kgreckon.answers.answer_columns import Cell
from kgreckon.answers.answer_table import Answer, Answers
from kgreckon.answers.arranging import TablePart, arranged
from kgreckon.answers.beside import values_beside, with_places
from kgreckon.answers.calculated import calculated_ones
from kgreckon.answers.drawn import total_with_inferred
from kgreckon.answers.expected_numbers import expected_number
from kgreckon.answers.nearness import near_ones
from kgreckon.answers.number_prediction import PredictedNumber
from kgreckon.answers.reason import Reason, reason_of
from kgreckon.answers.selecting import Only, Ranking, select
from kgreckon.answers.sparql_answers import SparqlAnswers, unknown_names
from kgreckon.answers.totals import Total
from kgreckon.defaults import LEAST_PROBABILITY
from kgreckon.engine.oxigraph import QueryLimits, TripleStore
from kgreckon.errors import BeyondAlgebraError, UserError
from kgreckon.graph import KnowledgeGraph
from kgreckon.graph.changes.change import Change
from kgreckon.graph.changes.drafting import Wish
from kgreckon.graph.changes.wishes import Wishes
from kgreckon.graph.places import Places
from kgreckon.models.exact_model import ExactModel
from kgreckon.models.interface import Candidates, Model, Prediction, ScoreMeaning
from kgreckon.query import (
    Entity,
    Number,
    NumberSort,
    Or,
    Pause,
    Query,
    general_type,
    is_contradiction,
    sentence,
    sort_of,
    specific_type,
)
from kgreckon.query.absence import is_stated_otherwise, rests_on_absence
from kgreckon.query.notations import answers_wanted, read_question
from kgreckon.query.paper import write
from kgreckon.query.question import Question, Said, Sorting, check_sorts
from kgreckon.query.sparql import check_question
from kgreckon.query.within import filled
from kgreckon.query.words.phrases import number_words
from kgreckon.query.words.sentences import inner_words

if TYPE_CHECKING:
    from kgreckon.runs import Run

_FIXED = "the graph is in no folder that can be changed: open a graph folder, or a run that learned one"
COVERAGE = 0.9  # of an estimate's interval


class Answerer:
    """A model asked like a person; one may be asked from several threads at once.

    A trained model learned from the training graph; what its graph states beyond that counts as observed here.
    """

    def __init__(self, model: Model) -> None:
        self._model = model
        self._exact: Answerer | None = None
        self._triples: TripleStore | None = None
        self._places: Places | None = None

    def __repr__(self) -> str:
        return f"Answerer: {self.model.name} answers from a {self.graph!r}"

    @staticmethod
    def open(
        place: str | Path | KnowledgeGraph | Run,
        benchmark: Path | None = None,
        device: str = "auto",
        known: str = "test",
    ) -> Answerer:
        """The answerer of a run, or of a graph, which has exact answers only; each opened, or where it is kept.

        The facts of the benchmark's graph of that split ("train", "valid" or "test") are observed. What learned from a
        graph, and a graph folder, are followed: changes that others make are seen by the next question.
        """
        from kgreckon.answers.live_answerer import open_answerer  # which knows what follows a graph

        return open_answerer(place, benchmark, device, known)

    def now(self) -> Answerer:
        """The answerer over the graph as it is: this one, unless others may change the graph."""
        return self

    @property
    def model(self) -> Model:
        """The model that is asked."""
        return self._model

    @property
    def graph(self) -> KnowledgeGraph:
        """The graph whose facts count as observed."""
        return self.model.graph

    @property
    def exact(self) -> Answerer:
        """The same graph asked for what it proves, and nothing else."""
        if self._exact is None:
            self._exact = Answerer(ExactModel(self.graph))
        return self._exact

    def limited(self, heads: int) -> Answerer:
        """The same with a model that does at most that much work in a step."""
        return Answerer(self.model.limited(heads))

    def make(self, wishes: Sequence[Wish], new: bool = False) -> Change:
        """Make a change of some wishes, durably."""
        raise UserError(_FIXED)

    def update(self, text: str, limits: QueryLimits | None = None, pause: Pause | None = None) -> Change:
        """Make the change that a SPARQL update says, durably."""
        raise UserError(_FIXED)

    @property
    def standing(self) -> int | None:
        """How many changes stand in the graph's log; None where it cannot be changed."""
        return None

    def change(self, new: bool = False) -> Wishes:
        """A block of `with` that changes the graph when it ends (docs/changes.md); `new` lets it add names."""
        raise UserError(_FIXED)

    def ask(
        self,
        query: Question | Query | str,
        limit: int | None = None,
        only: Only | str | None = None,
        explain: bool = False,
        above: float = LEAST_PROBABILITY,
        columns: Sequence[str] = (),
        order: str | None = None,
    ) -> Answers:
        """The best answers to a question: a query, or a text in words, in SPARQL or in the paper's notation.

        `only` may be "observed" or "inferred". Without a limit and a LIMIT there are 20. With `explain` every answer
        carries its reason. Inferred answers whose probability is not `above` are left out; 0 keeps all. `columns` names
        further attributes to show beside the answers; `order` one to sort by, with a `-` before it from the largest on.
        """
        if only is not None and only not in set(Only):
            raise UserError(f"only cannot be {only!r}: choose {' or '.join(Only)}")
        only = None if only is None else Only(only)
        try:
            question = self._question(query)
        except BeyondAlgebraError as error:
            error.add_note("Answerer.sparql answers all of SPARQL 1.1 from what is stated")
            raise
        if order is not None:
            question = replace(question, sorting=self._sorting(order))
        check_sorts(question, self.graph.vocabulary)
        further = [self.graph.vocabulary.attribute_id(name) for name in columns]
        ranking = self.rank(question.query, only=only)
        shown = answers_wanted(limit, question.limit)
        return self.best(ranking, shown, only, explain, question=question, above=above, further=further)

    def _sorting(self, order: str) -> Sorting:
        names = self.graph.vocabulary
        try:
            return Sorting(names.attribute_id(order), descending=False)
        except UserError:
            if not order.startswith("-"):
                raise
        return Sorting(names.attribute_id(order[1:]), descending=True)

    def _model_for(self, only: Only | None) -> Model:
        """What is observed alone needs no model but exact answering."""
        return self.exact.model if only is Only.OBSERVED else self.model

    def rank(self, query: Query, pause: Pause | None = None, only: Only | None = None) -> Ranking:
        """The candidates for a query, with their scores."""
        model = self._model_for(only)
        sort = sort_of(query, self.graph.vocabulary)
        self.check(query, model)
        proved = model.proved(query, pause)
        if is_contradiction(query):
            return Ranking(query, sort, Candidates(proved, np.zeros(len(proved), np.float32)), proved)
        candidates = _with_proved(model.candidates(query, proved, pause), proved)
        if isinstance(sort, NumberSort):  # only numbers in a unit that the query can mean
            table = self.graph.values
            meant = np.array([unit in sort.units for unit in table.units], dtype=bool)[table.unit_ids[candidates.ids]]
            candidates = Candidates(candidates.ids[meant], candidates.scores[meant])
        return Ranking(query, sort, candidates, proved)

    def check(self, query: Query, model: Model | None = None) -> None:
        """Raise a UserError where the model cannot answer a query."""
        problem = (model or self.model).why_not(query)
        if problem is not None:
            raise UserError(problem)

    def best(
        self,
        ranking: Ranking,
        limit: int,
        only: Only | None = None,
        explain: bool = False,
        reasons: int | None = None,
        pause: Pause | None = None,
        question: Question | None = None,
        above: float = LEAST_PROBABILITY,
        further: Sequence[int] = (),
        part: TablePart | None = None,
    ) -> Answers:
        """The best of all candidates; with `explain` the first so many `reasons`, or all.

        The question says in which order they stand, and what is wanted of all of them. A `part` of them stands in an
        order of its own: that of the question then only says which they are.
        """
        question, nearness = question or Question(ranking.query), None
        if question.near is not None:
            candidates, of_them, nearness = near_ones(
                self.places, self._model_for(only), question.near, ranking.candidates, ranking.proved
            )
            ranking = replace(ranking, candidates=candidates, proved=of_them)
        if question.where:
            model = self._model_for(only)
            met = calculated_ones(self.graph, model, question, ranking.candidates, ranking.proved, pause)
            ranking = replace(ranking, candidates=met[0], proved=met[1])
        names, proved = self.graph.vocabulary, set(ranking.proved.tolist())
        of_numbers = isinstance(ranking.sort, NumberSort)
        part = part or TablePart()
        wanted = question.limit  # of which a part is shown
        if wanted is None:
            wanted = part.offset + limit if part.order is None else len(ranking.candidates.ids)
        selected = select(self.graph, self.model, ranking, wanted, only, question, above, nearness, pause)
        best = selected.best
        if part.order is not None:
            best = arranged(self.model, question, best, part, nearness)
        best = best[part.offset : part.offset + limit]
        ids = [id_ for id_, _ in best]
        if not of_numbers:
            names.expect_labels(ids)
        explained: list[Reason | None] = [None] * len(best)
        if explain:
            chosen = ids[:reasons]
            explained[: len(chosen)] = self._reasons(ranking.query, chosen, only, pause)
        columns, cells = values_beside(self.model, question, ranking, ids, COVERAGE, further, nearness, pause)
        if explain:
            explained = with_places(self.graph, question, explained, ids, (columns, cells))
        answers = tuple(
            self._answer(of_numbers, id_, score, id_ in proved, reason, row_cells)
            for (id_, score), reason, row_cells in zip(best, explained, cells, strict=True)
        )
        return Answers(
            query=write(ranking.query, names),
            words=sentence(question, names),
            type=general_type(ranking.query),
            specific_type=specific_type(ranking.query),
            calibration=self.model.calibration,
            observed=len(proved),
            answers=answers,
            estimate=expected_number(self.model, ranking.query, ranking.candidates, ranking.proved, COVERAGE)
            if of_numbers and only is not Only.OBSERVED
            else None,
            columns=columns,
            total=None if question.aggregate is None else self._total(question, ranking.proved, only, pause),
            unlikely=selected.unlikely,
            above=above if self.model.calibration is ScoreMeaning.PROBABILITY else 0.0,
            unordered=selected.unordered,
            among=selected.among,
            skipped=selected.skipped,
            count=selected.count,
            unplaced=0 if nearness is None else nearness.unplaced,
            rests_on_absence=rests_on_absence(ranking.query),
            within=self._within(question),
            stated_otherwise=is_stated_otherwise(ranking.query),
        )

    def _total(self, question: Question, proved: np.ndarray, only: Only | None, pause: Pause | None) -> Total:
        model = self._model_for(only)
        return total_with_inferred(self.graph, model, question, proved, pause, COVERAGE)

    @property
    def places(self) -> Places:
        """Where the things of the graph are, if it says."""
        if self._places is None:
            self._places = Places(self.graph)
        return self._places

    # ------------------------------------------------------------------------------------------------ all of SPARQL

    @property
    def triples(self) -> TripleStore:
        """The graph in an engine for SPARQL, which loads it when it is first asked."""
        if self._triples is None:
            self._triples = TripleStore.of(self.graph)
        return self._triples

    def take_triples(self, before: Answerer, changes: Sequence[Change]) -> None:
        """Take over the engine of an answerer over the graph before some changes, if it has one, with these made."""
        if before._triples is not None:
            self._triples = before._triples.changed(before.graph, self.graph, changes)

    def sparql(
        self,
        text: str,
        limit: int | None = None,
        limits: QueryLimits | None = None,
        pause: Pause | None = None,
        progress: Callable[[int, int], None] | None = None,
        patience: float | None = None,
    ) -> SparqlAnswers:
        """What the graph states, for any query of SPARQL 1.1: nothing is inferred.

        At most `limit` rows come back. The other arguments are those of `TripleStore.query`.
        """
        check_question(text)
        limits = limits or QueryLimits()
        limits = replace(limits, rows=min((most for most in (limit, limits.rows) if most is not None), default=None))
        results = self.triples.query(text, limits, pause, progress, patience)
        nothing = not results.rows and not results.truth
        return SparqlAnswers(text, results, self.graph, unknown_names(text, self.graph) if nothing else ())

    def solutions(
        self,
        text: str,
        limit: int | None = None,
        floor: float = LEAST_PROBABILITY,
        pause: Pause | None = None,
        stated: Callable[[str, int | None], SparqlAnswers] | None = None,
    ) -> SparqlAnswers:
        """The rows of a SELECT of several variables, or with an order: stated, and those that the model infers.

        Its pattern must be a tree (docs/sparql.md), else a BeyondAlgebraError is raised. Inferred rows with a
        probability below the `floor` are left out. `stated` answers instead of `sparql` from what is stated.
        """
        from kgreckon.answers.solutions import solutions  # which asks an answerer

        return solutions(self, text, limit, floor, pause, stated)

    # ------------------------------------------------------------------------------------------------------ reasons

    def explain(self, query: Query | str, answer: Answer | str | float, unit: str | None = None) -> Reason:
        """Why something is an answer: an answer of `ask`, an entity by name, or a number."""
        asked = self._question(query)
        return self.explain_id(asked, self.id_of(asked.query, answer, unit))

    def explain_id(self, query: Question | Query, place: int, pause: Pause | None = None) -> Reason:
        """Why an entity, or a row of the value table, is an answer, with the value that gives it its place."""
        question = query if isinstance(query, Question) else Question(query)
        [reason] = self._reasons(question.query, [place], None, pause)
        if question.sorting is None and question.near is None:
            return reason
        one, nearness = np.array([place]), None
        candidates = Candidates(one, np.ones(1, np.float32))
        if question.near is not None:
            candidates, _, nearness = near_ones(self.places, self.model, question.near, candidates, one)
            if not len(candidates.ids):
                return reason
        ranking = Ranking(question.query, sort_of(question.query, self.graph.vocabulary), candidates, one)
        beside = values_beside(self.model, question, ranking, [place], COVERAGE, nearness=nearness, pause=pause)
        [placed] = with_places(self.graph, question, [reason], [place], beside)
        return placed or reason

    def id_of(self, query: Query, answer: Answer | str | float, unit: str | None = None) -> int:
        """The entity, or the row of the value table, that an answer to a query stands for."""
        sort, names = sort_of(query, self.graph.vocabulary), self.graph.vocabulary
        if isinstance(answer, Answer):
            answer, unit = (answer.name, None) if answer.value is None else (answer.value, answer.unit)
        if not isinstance(sort, NumberSort):
            if not isinstance(answer, str):
                raise UserError(f"the answers are entities: give a name, not {answer!r}")
            return names.entity_id(answer)
        only_unit = unit or (next(iter(sort.units)) if len(sort.units) == 1 else None)
        number = names.read_number(str(answer), only_unit)
        row = self.graph.values.row_of(number.value, number.unit)
        if row is None:
            raise UserError(f"the graph has no value {answer} {number.unit}")
        return row

    def _reasons(
        self, query: Query, places: Sequence[int], only: Only | None = None, pause: Pause | None = None
    ) -> list[Reason]:
        model = self._model_for(only)

        @cache
        def expected(entity: int, attribute: int) -> Prediction | None:
            return model.predict(entity, attribute, COVERAGE, reasons=True)

        return [reason_of(proof, self.graph.vocabulary, expected) for proof in model.prove(query, places, pause)]

    # -------------------------------------------------------------------------------------------------- predictions

    def predict(self, entity: str, attribute: str, coverage: float = COVERAGE) -> PredictedNumber:
        """The value of an attribute on an entity, with an interval and what moved the estimate."""
        names = self.graph.vocabulary
        of, label = names.entity_id(entity), names.attribute_id(attribute)
        prediction = self.model.predict(of, label, coverage, reasons=True)
        if prediction is None:
            raise UserError(f"the model {self.model.name} predicts no numbers: learn a reckoner, kgreckon learn")
        return PredictedNumber.of(prediction, of, label, names)

    def in_words(self, query: Question | Query | str) -> str:
        """What a question means, in words."""
        return sentence(self._question(query), self.graph.vocabulary)

    def _question(self, query: Question | Query | str) -> Question:
        if isinstance(query, str):
            query = read_question(query, self.graph.vocabulary)
        return self.settled(query) if isinstance(query, Question) else Question(query)

    def settled(self, question: Question, pause: Pause | None = None) -> Question:
        """The question with its inner questions answered, from what is stated: their answers stand in its query."""
        found: list[tuple[int, ...]] = []
        names = self.graph.vocabulary
        for place, inner in enumerate(question.inner):
            asked = filled(inner, [_any_of(ids) for ids in found])
            answers = self.exact.best(
                self.exact.rank(asked.query, pause), asked.limit or 1, question=asked, pause=pause
            )
            if not len(answers):
                raise UserError(f"nothing is stated that is {inner_words(question, names)[place]}")
            found.append(tuple(names.entity_id(answer.name) for answer in answers))
        if not found:
            return question
        return replace(filled(question, [_any_of(ids) for ids in found]), said=Said(question, tuple(found)))

    def _within(self, question: Question) -> tuple[str, ...]:
        """What the inner questions of a question were answered with: `the country with the smallest area: Monaco`."""
        if question.said is None:
            return ()
        names = self.graph.vocabulary
        asked = inner_words(question.said.question, names)
        labels = (", ".join(names.entity_label(one) for one in ids) for ids in question.said.found)
        return tuple(f"{words}: {them}" for words, them in zip(asked, labels, strict=True))

    def _answer(
        self,
        of_numbers: bool,
        place: int,
        score: float,
        observed: bool,
        reason: Reason | None,
        cells: tuple[Cell | None, ...],
    ) -> Answer:
        names = self.graph.vocabulary
        if not of_numbers:
            name, label = names.entity_name(place), names.entity_label(place)
            return Answer(name, label, score, observed, reason=reason, values=cells)
        number = Number(*self.graph.values.number_at(place))
        label, text = number_words(number, names), names.write_number(number)
        return Answer(label, label, score, observed, number.value, number.unit, text, reason, cells)


def _with_proved(candidates: Candidates, proved: np.ndarray) -> Candidates:
    """The candidates with all that is proved among them; a score that is not a number counts as 0."""
    ids, scores = candidates.ids, candidates.scores
    if not np.isfinite(scores).all():
        scores = np.nan_to_num(scores, nan=0.0, posinf=0.0, neginf=0.0)
    places = np.searchsorted(ids, proved)
    missing = np.append(ids, -1)[places] != proved
    places = places[missing]
    return Candidates(np.insert(ids, places, proved[missing]), np.insert(scores, places, 0))


def _any_of(entities: Sequence[int]) -> Query:
    """The set of some things."""
    return Entity(entities[0]) if len(entities) == 1 else Or(tuple(map(Entity, entities)))


def name_of(graph: KnowledgeGraph, query: Query, answer: int) -> str:
    """The readable name of an answer, or its number and unit."""
    if not isinstance(sort_of(query, graph.vocabulary), NumberSort):
        return graph.vocabulary.entity_label(answer)
    return number_words(Number(*graph.values.number_at(answer)), graph.vocabulary)
