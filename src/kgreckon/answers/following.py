"""An answerer that follows its graph: each question is asked of the answerer over the graph as it is by then."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

from kgreckon.answers.answer_table import Answer, Answers
from kgreckon.answers.answerer import COVERAGE, Answerer
from kgreckon.answers.number_prediction import PredictedNumber
from kgreckon.answers.reason import Reason
from kgreckon.answers.selecting import Only, Ranking
from kgreckon.answers.sparql_answers import SparqlAnswers
from kgreckon.engine.oxigraph import TripleStore
from kgreckon.graph.places import Places
from kgreckon.models.interface import Model
from kgreckon.query import Pause, Query


class FollowingAnswerer(Answerer):
    """An answerer whose graph may change between two questions, never within one.

    What takes several steps is asked of `now()`, which stays as it is.
    """

    @abstractmethod
    def now(self) -> Answerer:
        """The answerer over the graph as it is."""

    @property
    def model(self) -> Model:
        """The model over the graph as it is."""
        return self.now().model

    @property
    def exact(self) -> Answerer:
        """The graph as it is, asked for what it proves, and nothing else."""
        return self.now().exact

    @property
    def triples(self) -> TripleStore:
        """The graph as it is in an engine for SPARQL."""
        return self.now().triples

    @property
    def places(self) -> Places:
        """Where the things of the graph are, if it says."""
        return self.now().places

    def ask(self, *arguments: Any, **named: Any) -> Answers:
        """The best answers to a question, as `Answerer.ask` gives them."""
        return self.now().ask(*arguments, **named)

    def sparql(self, *arguments: Any, **named: Any) -> SparqlAnswers:
        """What the graph states, as `Answerer.sparql` gives it."""
        return self.now().sparql(*arguments, **named)

    def solutions(self, *arguments: Any, **named: Any) -> SparqlAnswers:
        """Rows that are stated and inferred, as `Answerer.solutions` gives them."""
        return self.now().solutions(*arguments, **named)

    def rank(self, query: Query, pause: Pause | None = None, only: Only | None = None) -> Ranking:
        """The candidates for a query."""
        return self.now().rank(query, pause, only)

    def best(self, ranking: Ranking, *arguments: Any, **named: Any) -> Answers:
        """The best of all candidates, which must have been ranked at the same moment: ask `now()` for both."""
        return self.now().best(ranking, *arguments, **named)

    def in_words(self, *arguments: Any) -> str:
        """What a question means, in words."""
        return self.now().in_words(*arguments)

    def explain(self, query: Query | str, answer: Answer | str | float, unit: str | None = None) -> Reason:
        """Why something is an answer."""
        return self.now().explain(query, answer, unit)

    def predict(self, entity: str, attribute: str, coverage: float = COVERAGE) -> PredictedNumber:
        """The value of an attribute on an entity."""
        return self.now().predict(entity, attribute, coverage)
