"""An answerer whose graph is at a SPARQL endpoint: what is stated there answers each question, by the server itself."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

import numpy as np
import pyarrow as pa

from kgreckon.answers.answer_columns import attributes_asked
from kgreckon.answers.answer_table import Answers
from kgreckon.answers.answerer import Answerer
from kgreckon.answers.arranging import TablePart
from kgreckon.answers.following import FollowingAnswerer
from kgreckon.answers.reason import Reason
from kgreckon.answers.selecting import Only, Ranking
from kgreckon.answers.sparql_answers import SparqlAnswers
from kgreckon.engine.endpoint.endpoint_names import EndpointNames
from kgreckon.engine.endpoint.fetching import Fetcher
from kgreckon.engine.endpoint.lookups import Lookups
from kgreckon.engine.oxigraph import QueryLimits, TripleStore
from kgreckon.engine.rdf_terms import SparqlResult
from kgreckon.errors import BeyondAlgebraError, UserError
from kgreckon.graph import KnowledgeGraph
from kgreckon.graph.places import Places
from kgreckon.graph.symbols import Symbols
from kgreckon.models.exact_model import ExactModel
from kgreckon.models.interface import Candidates
from kgreckon.query import Entity, Pause, Query, sort_of
from kgreckon.query.notations import is_paper, is_sparql
from kgreckon.query.question import Aggregate, Question
from kgreckon.query.sparql import PREFIXES, check_question, gives_triples, is_ask, own_limit
from kgreckon.query.sparql.text import OPAQUE
from kgreckon.query.terms import Elsewhere, Term, terms_in

_NO_REASONS = "the facts are at the endpoint, which gives answers and no reasons: import them to have reasons"
_PROLOGUE = " ".join(f"PREFIX {name}: <{namespace}>" for name, namespace in PREFIXES.items())
_ENDS_WITH_VALUES = re.compile(r"\bVALUES\b[^{]*\{[^{}]*\}\s*$", re.IGNORECASE)
_LABELLED = 2_000  # things in a result of SPARQL whose labels are asked for


class EndpointModel(ExactModel):
    """What an endpoint has said to the queries of one question."""

    def __init__(self, graph: KnowledgeGraph, known: dict[Query, np.ndarray]) -> None:
        super().__init__(graph)
        self._known = known

    def proved(self, query: Query, pause: Pause | None = None) -> np.ndarray:
        """The ids of the answers that the endpoint gave."""
        return self._known[query]


class EndpointAnswerer(FollowingAnswerer):
    """An answerer over a graph at a SPARQL endpoint, from what is stated; nothing is inferred."""

    def __init__(self, lookups: Lookups) -> None:
        self._lookups = lookups

    def __repr__(self) -> str:
        return f"Answerer: exact answers from {self._lookups.client!r}"

    def now(self) -> Answerer:
        """What answers one question."""
        return EndpointQuestion(self._lookups)

    def limited(self, heads: int) -> EndpointAnswerer:
        """The same: nothing is inferred."""
        return self


class EndpointQuestion(Answerer):
    """Reads one question in the names of an endpoint, and has it answered there."""

    def __init__(self, lookups: Lookups) -> None:
        self.names = EndpointNames(lookups)
        super().__init__(ExactModel(Fetcher(self.names).part()[0]))

    @property
    def exact(self) -> Answerer:
        """The same."""
        return self

    @property
    def triples(self) -> TripleStore:
        """The triples are at the endpoint."""
        raise UserError("the triples are at the endpoint: ask it with Answerer.sparql")

    def rank(self, query: Query, pause: Pause | None = None, only: Only | None = None) -> Ranking:
        """The query: its answers are fetched with all else that is asked about them."""
        nothing = np.zeros(0, dtype=np.int64)
        return Ranking(query, sort_of(query, self.names), Candidates(nothing, nothing.astype(np.float32)), nothing)

    def best(
        self,
        ranking: Ranking,
        limit: int,
        only: Only | None = None,
        explain: bool = False,
        reasons: int | None = None,
        pause: Pause | None = None,
        question: Question | None = None,
        above: float = 0.0,
        further: Sequence[int] = (),
        part: TablePart | None = None,
    ) -> Answers:
        """The answers, from what the endpoint states of them."""
        if explain:
            raise UserError(_NO_REASONS)
        question = question or Question(ranking.query)
        self.names.pause = pause
        fetcher = Fetcher(self.names)
        if question.of is None and question.aggregate is not None and replace(question, aggregate=None).is_plain:
            return self._counted(question, fetcher.count(question.query))
        for query, attributes in self._needed(question, further):
            fetcher.fetch(query, attributes)
        answerer = Answerer(EndpointModel(*fetcher.part()))
        fetched = answerer.rank(ranking.query, pause, only)
        return answerer.best(fetched, limit, only, False, None, pause, question, above, further, part)

    def _counted(self, question: Question, count: int) -> Answers:
        """How many answers there are, or whether there is one, as the endpoint counts them."""
        nothing = self.rank(question.query)
        answers = Answerer(self.model).best(nothing, 0, question=question)
        assert answers.total is not None, "a count is asked for"
        value = float(count if question.aggregate is Aggregate.COUNT else count > 0)
        return replace(answers, observed=count, total=replace(answers.total, value=value, counted=count))

    def _needed(self, question: Question, further: Sequence[int]) -> Iterator[tuple[Query, list[int]]]:
        """What has to be known for a question: sets, and attributes of their members."""
        places = Places(self.graph).attributes or () if question.near is not None else ()
        yield question.query, [*attributes_asked(question), *further, *places]
        if question.near is not None:
            yield question.near.of, [*places]
        if question.sorting is not None and question.sorting.nearest is not None:
            yield question.sorting.nearest, []
        terms: list[Term | int | None] = [question.of, None if question.sorting is None else question.sorting.attribute]
        terms += [term for each in question.where for term in (each.left, each.right)]
        for term in terms:
            for one in terms_in(term) if term is not None and not isinstance(term, int) else ():
                if isinstance(one, Elsewhere):
                    yield Entity(one.entity), [one.attribute]

    def _question(self, query: Question | Query | str) -> Question:
        if isinstance(query, str) and not is_sparql(query) and not is_paper(query):
            self.names.expect_words(query)
        return super()._question(query)

    # ------------------------------------------------------------------------------------------------ all of SPARQL

    def sparql(
        self,
        text: str,
        limit: int | None = None,
        limits: QueryLimits | None = None,
        pause: Pause | None = None,
        progress: Callable[[int, int], None] | None = None,
        patience: float | None = None,
    ) -> SparqlAnswers:
        """What the endpoint answers to a SELECT or an ASK; at most `limit` rows of it."""
        check_question(text)
        if gives_triples(text):
            raise UserError("an endpoint is asked with SELECT and ASK: CONSTRUCT and DESCRIBE are not sent")
        bare = OPAQUE.sub(" _ ", text)
        bounded = is_ask(text) or limit is None or own_limit(text) is not None or _ENDS_WITH_VALUES.search(bare)
        ending = "" if bounded else f"\nLIMIT {limit + 1}" if limit is not None else ""
        result = self.names.lookups.client.query(f"{_PROLOGUE} {text}{ending}", pause)
        if limit is not None and len(result.rows) > limit:
            result = replace(result, rows=result.rows[:limit], complete=False)
        return SparqlAnswers(text, result, self._named_in(result))

    def _named_in(self, result: SparqlResult) -> KnowledgeGraph:
        """The names of a result, with their labels."""
        iris = {term.text: None for row in result.rows for term in row if term is not None and term.is_iri}
        known = self.names.lookups.labels(list(iris)[:_LABELLED])
        things = list(dict.fromkeys(map(self.names.thing, known)))
        names = pa.array(list(map(self.names.entity_name, things)), pa.string())
        labels = pa.array([known[self.names.entity_iri(one)] for one in things], pa.string())
        return replace(self.names.graph, entities=Symbols("entity", names, labels))

    def solutions(
        self,
        text: str,
        limit: int | None = None,
        floor: float = 0.1,
        pause: Pause | None = None,
        stated: Callable[[str, int | None], SparqlAnswers] | None = None,
    ) -> SparqlAnswers:
        """Nothing is inferred at an endpoint: `sparql` answers."""
        raise BeyondAlgebraError("an endpoint says what is stated, and infers nothing")

    def explain(self, *_: object) -> Reason:
        """There are no reasons without the facts."""
        raise UserError(_NO_REASONS)
