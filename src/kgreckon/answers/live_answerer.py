"""An answerer over a graph that others change: each question is answered from the graph as it is when it is asked."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kgreckon.answers.answer_table import Answer, Answers
from kgreckon.answers.answerer import COVERAGE, Answerer
from kgreckon.answers.number_prediction import PredictedNumber
from kgreckon.answers.reason import Reason
from kgreckon.answers.selecting import Only, Ranking
from kgreckon.answers.sparql_answers import SparqlAnswers
from kgreckon.answers.sparql_updates import change_of_update
from kgreckon.engine.oxigraph import QueryLimits, TripleStore
from kgreckon.graph import KnowledgeGraph, open_graph
from kgreckon.graph.changes.change import Change
from kgreckon.graph.changes.drafting import Draft, Wish
from kgreckon.graph.changes.live_graph import LiveGraph, Moment
from kgreckon.graph.changes.wishes import Wishes
from kgreckon.graph.places import Places
from kgreckon.graph.storage import is_graph_folder
from kgreckon.models.exact_model import ExactModel
from kgreckon.models.interface import Model
from kgreckon.models.run_files import is_run_folder
from kgreckon.query import Pause, Query

if TYPE_CHECKING:
    from kgreckon.runs import Run


class LiveAnswerer(Answerer):
    """An answerer whose graph may change between two questions, never within one.

    What takes several steps is asked of `now()`, which stays as it is.
    """

    def __init__(self, live: LiveGraph, open_model: Callable[[Moment], Model]) -> None:
        """`open_model` opens the model over the graph at a moment, again where the tables of the graph are others."""
        self._live, self._open = live, open_model
        self._lock = threading.Lock()
        self._moment = live.now()
        self._now = Answerer(open_model(self._moment))

    def now(self) -> Answerer:
        """The answerer over the graph as it is."""
        moment = self._live.now()
        if moment is not self._moment:
            with self._lock:
                if moment is not self._moment:
                    self._now, self._moment = self._after(moment), moment
        return self._now

    def _after(self, moment: Moment) -> Answerer:
        changes = moment.since(self._moment)
        if changes is None:
            return Answerer(self._open(moment))
        answerer = Answerer(self._now.model.over(moment.graph))
        answerer.take_triples(self._now, changes)
        return answerer

    @property
    def standing(self) -> int:
        """How many changes stand in the log."""
        return len(self._live.now().changes)

    def make(self, wishes: Sequence[Wish], new: bool = False) -> Change:
        """Make a change of some wishes, durably."""
        return self._live.change(lambda graph: Draft.change_of(graph, wishes, new))

    def update(self, text: str, limits: QueryLimits | None = None, pause: Pause | None = None) -> Change:
        """Make the change that a SPARQL update says, durably: INSERT DATA, DELETE DATA, DELETE and INSERT with WHERE.

        Patterns are matched against the graph as it is then, while nobody else can change it.
        """
        return self._live.change(lambda graph: change_of_update(text, self.now(), limits, pause))

    def change(self, new: bool = False) -> Wishes:
        """A block of `with` that changes the graph when it ends (docs/changes.md)."""
        return Wishes(self.make, new)

    def limited(self, heads: int) -> LiveAnswerer:
        """The same with a model that does at most that much work in a step."""
        opened = self._open
        return LiveAnswerer(self._live, lambda moment: opened(moment).limited(heads))

    # --------------------------------------------------------------------------------- what is asked, at one moment

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


def open_answerer(
    place: str | Path | KnowledgeGraph | Run, benchmark: Path | None, device: str, known: str
) -> Answerer:
    """The answerer of a run, or of a graph, which has exact answers only; each opened, or where it is kept."""
    if isinstance(place, KnowledgeGraph):
        return Answerer(ExactModel(place))
    if isinstance(place, str | Path) and not is_run_folder(place):
        if is_graph_folder(Path(place)):
            return LiveAnswerer(LiveGraph(Path(place)), lambda moment: ExactModel(moment.graph))
        return Answerer(ExactModel(open_graph(place)))
    from kgreckon.benchmark import Split  # what a graph alone is not asked with takes its time to import
    from kgreckon.exact import ComparisonMode
    from kgreckon.runs import Run

    run = Run.open(place) if isinstance(place, str | Path) else place
    if run.is_learned and benchmark is None:
        return LiveAnswerer(run.live_graph(), lambda moment: Run.open(run.folder).model_over(moment, device))
    return Answerer(run.load(benchmark, device, Split.of(known), ComparisonMode.COMPUTED))
