"""An answerer over a graph that others change: each question is answered from the graph as it is when it is asked."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from kgreckon.answers.answerer import Answerer
from kgreckon.answers.endpoint_answerer import EndpointAnswerer
from kgreckon.answers.following import FollowingAnswerer
from kgreckon.answers.sparql_updates import change_of_update
from kgreckon.engine.endpoint.client import SparqlClient
from kgreckon.engine.endpoint.lookups import Lookups
from kgreckon.engine.oxigraph import QueryLimits
from kgreckon.graph import KnowledgeGraph, open_graph
from kgreckon.graph.changes.change import Change
from kgreckon.graph.changes.drafting import Draft, Wish
from kgreckon.graph.changes.live_graph import LiveGraph, Moment
from kgreckon.graph.changes.wishes import Wishes
from kgreckon.graph.opening import is_address
from kgreckon.graph.storage import is_graph_folder
from kgreckon.models.exact_model import ExactModel
from kgreckon.models.interface import Model
from kgreckon.models.run_files import is_run_folder
from kgreckon.query import Pause

if TYPE_CHECKING:
    from kgreckon.runs import Run


class LiveAnswerer(FollowingAnswerer):
    """An answerer over a graph folder, or what learned from one, that others may change."""

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


def open_answerer(
    place: str | Path | KnowledgeGraph | Run, benchmark: Path | None, device: str, known: str
) -> Answerer:
    """The answerer of a run, or of a graph, which has exact answers only; each opened, or where it is kept."""
    if isinstance(place, KnowledgeGraph):
        return Answerer(ExactModel(place))
    if is_address(place):
        return EndpointAnswerer(Lookups(SparqlClient(str(place))))
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
