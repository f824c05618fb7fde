"""The service: what each request of the JSON interface answers, without a word of HTTP."""

from __future__ import annotations

import csv
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import fields
from functools import cached_property

import numpy as np

from kgreckon.answers import Answerer, Answers, Only, Ranking, SparqlAnswers
from kgreckon.answers.answer_files import FILES
from kgreckon.answers.arranging import TablePart
from kgreckon.engine.oxigraph import QueryLimits
from kgreckon.errors import UserError
from kgreckon.exact import ask as ask_exactly
from kgreckon.graph import KnowledgeGraph
from kgreckon.graph.changes.change import Change
from kgreckon.graph.changes.drafting import Deed, Wish
from kgreckon.query import SEVEN, NumberSort, Pause, Query, blocks, sentence, sort_of
from kgreckon.query.notations import answers_wanted, is_sparql, read_question
from kgreckon.query.paper import write as write_paper
from kgreckon.query.question import Aggregate, Question
from kgreckon.query.shapes import check_size
from kgreckon.query.sparql import SparqlQuery, parse_ask, parse_count
from kgreckon.query.sparql import parse as parse_sparql
from kgreckon.query.sparql import write as write_sparql
from kgreckon.query.words import WordsError
from kgreckon.query.words.phrases import comparison_label
from kgreckon.runs.quality import Quality
from kgreckon.server import schemas, thing_schemas
from kgreckon.server.catalogue import Catalogue, label_counts, most_frequent
from kgreckon.server.distributions import distributions
from kgreckon.server.grouping import SHOWN, best_grouping
from kgreckon.server.kinds import Kinds
from kgreckon.server.limits import Limits
from kgreckon.server.misread import MisreadError
from kgreckon.server.overviews import Overviews
from kgreckon.server.proposals import Proposals
from kgreckon.server.sample_questions import examples
from kgreckon.server.thing_details import ThingPages
from kgreckon.version import __version__

_PROPOSED = 30  # relations and attributes in one completion
_COMPARISONS = tuple(
    schemas.ComparisonName(name=name, label=comparison_label(comparison)) for name, comparison in SEVEN.items()
)


class Service:
    """An answerer with what the interface needs beside it; all methods may run in several threads at once."""

    def __init__(
        self,
        answerer: Answerer,
        limits: Limits,
        clock: Callable[[], float] = time.perf_counter,
        quality: Quality | None = None,
        followed: Answerer | None = None,
    ) -> None:
        """An answerer whose graph may change is `followed`: this service is of the moment, and `now` of the next."""
        self.followed, self.answerer = followed or answerer, answerer.now()
        self.model, self.limits, self.clock, self.quality = self.answerer.model, limits, clock, quality
        self.graph = self.answerer.graph
        self.names = self.graph.vocabulary
        self.catalogue, self.places = Catalogue(self.graph), self.answerer.places
        self.things = ThingPages(self.catalogue, Kinds(self.graph), self.places, self.model)
        self.overviews = Overviews(self.things, quality)
        self.proposals = Proposals(self.catalogue, self.things.kinds)
        self.ready = False
        self._latest = self
        self._following = threading.Lock()

    def now(self) -> Service:
        """The service over the graph as it is: this one, or one that takes its place."""
        answerer = self.followed.now()
        if answerer is not self._latest.answerer:
            with self._following:
                if answerer is not self._latest.answerer:
                    parts = answerer, self.limits, self.clock, self.quality
                    self._latest = Service(*parts, followed=self.followed)
        return self._latest

    # ---------------------------------------------------------------------------------------------------- changes

    def change(self, request: schemas.ChangeRequest, pause: Pause) -> schemas.ChangeMade:
        """Make a change, durably; the next question sees it."""
        deeds: tuple[tuple[Deed, list[schemas.StatementText]], ...] = (
            ("remove", request.remove),
            ("replace", request.replace),
            ("add", request.add),
        )
        wishes = [
            Wish(deed, each.subject, each.predicate, each.object, each.unit)
            for deed, statements in deeds
            for each in statements
        ]
        wishes += [Wish("label", each.name, "", each.label) for each in request.labels]
        if not wishes:
            raise UserError("the request changes nothing: give add, remove, replace or labels")
        return self._made(self.followed.make(wishes, request.new))

    def update(self, text: str, pause: Pause) -> schemas.ChangeMade:
        """Make the change that a SPARQL update says, durably."""
        self._check_text(text)
        limits = self.limits
        if self.answerer.triples.count > limits.sparql_triples:
            raise UserError(f"here updates are taken for graphs of at most {limits.sparql_triples:,} triples")
        bounds = QueryLimits(limits.sparql_answers, limits.sparql_characters, limits.sparql_bytes)
        return self._made(self.followed.update(text, bounds, pause))

    def _made(self, change: Change) -> schemas.ChangeMade:
        return schemas.ChangeMade(
            **change.counts(), things=list(change.things), changes_in_the_log=self.followed.standing or 0
        )

    def warm_up(self) -> None:
        """Do once what the first requests would wait for: indices, compiled kernels, the parser."""
        for kind in ("entity", "relation", "attribute"):
            self.catalogue.search(kind, "a", 1)
        self._completed(None, _never)
        self.overviews.overview(schemas.NoParameters(), _never)
        for text in self._examples:
            translated = self._translated(self.read(text))
            self._completed(self.read(translated.sparql or translated.tree).query, _never)

    def predict_values(self, pause: Pause) -> None:
        """Ask the examples, and let the model compute ahead what many questions need."""
        for text in self._examples:
            asked = schemas.AskRequest.model_construct(query=text, limit=3, explain=True)
            self.ask(asked, pause)
        if len(self.graph.entities):
            self.things.predicted(0, pause, reasons=True)
        self.model.prepare(pause)
        self.ready = True

    def health(self, request: schemas.NoParameters, pause: Pause) -> schemas.Health:
        """That the server answers, and whether it has computed ahead what it can."""
        return schemas.Health(ready=self.ready)

    # ------------------------------------------------------------------------------------------------- questions

    def read(self, query: object) -> Question:
        """The question that a request asks, as a text or as blocks."""
        if not isinstance(query, str):
            return Question(blocks.read(query, self.names, self.limits.query_depth, self.limits.query_nodes))
        if is_sparql(query):
            counted = parse_count(query, self.names, self.limits.sparql_tokens)
            if counted is not None:
                self._check_size(counted)
                return Question(counted, aggregate=Aggregate.COUNT)
            select = self.read_sparql(query)
            return Question(select.query, limit=select.limit)
        self._check_text(query)
        try:
            question = read_question(query, self.names)
        except WordsError as error:
            raise MisreadError(error) from None
        question = self.answerer.settled(question)
        self._check_size(question.query)
        return question

    def read_sparql(self, text: str) -> SparqlQuery:
        """The SELECT that a text writes."""
        self._check_text(text)
        select = parse_sparql(text, self.names, self.limits.sparql_tokens)
        self._check_size(select.query)
        return select

    def read_ask(self, text: str) -> tuple[Query, ...]:
        """The queries that all have an answer if the ASK that a text writes is true."""
        self._check_text(text)
        queries = parse_ask(text, self.names, self.limits.sparql_tokens)
        for query in queries:
            self._check_size(query)
        return queries

    def stated(self, text: str, pause: Pause, rows: int | None = None) -> SparqlAnswers:
        """What the graph states, for any SPARQL query, in at most so many rows; nothing is inferred."""
        self._check_text(text)
        limits, triples = self.limits, self.answerer.triples
        if triples.count > limits.sparql_triples:
            raise UserError(
                f"this query is outside of the subset of SPARQL with inference; here such queries are answered on "
                f"graphs of at most {limits.sparql_triples:,} triples, and this one has {triples.count:,}"
            )
        most = limits.sparql_answers if rows is None else min(rows, limits.sparql_answers)
        bounds = QueryLimits(most, limits.sparql_characters, limits.sparql_bytes)
        return self.answerer.sparql(text, limits=bounds, pause=pause, patience=limits.seconds / 2)

    def _check_text(self, text: str) -> None:
        most = self.limits.query_characters
        if len(text) > most:
            raise UserError(f"a query may have at most {most:,} characters, not {len(text):,}")
        if not text.strip():
            raise UserError("the query is empty")

    def _check_size(self, query: Query) -> None:
        check_size(query, self.limits.query_depth, self.limits.query_nodes)

    def translate(self, request: schemas.TranslateRequest, pause: Pause) -> schemas.Translation:
        """The query in every notation."""
        return self._translated(self.read(request.query))

    def _translated(self, question: Question) -> schemas.Translation:
        query = question.query
        sort = sort_of(query, self.names)
        try:
            sparql: str | None = write_sparql(query, self.names)
        except UserError:  # a set of numbers in a unit that no attribute has cannot be written
            sparql = None
        return schemas.Translation(
            tree=blocks.write(query, self.names),
            paper=write_paper(query, self.names),
            sparql=sparql,
            words=sentence(question, self.names),
            only_in_words=_only_in_words(question),
            sort="numbers" if isinstance(sort, NumberSort) else "entities",
            units=sorted(sort.units) if isinstance(sort, NumberSort) else [],
        )

    def ask(self, request: schemas.AskRequest, pause: Pause) -> schemas.RankedAnswers:
        """The best answers to a query, or a part of them in some order, with what a page shows beside them."""
        start = self.clock()
        question = self.read(request.query)
        limit = min(answers_wanted(request.limit, question.limit), self.limits.answers)
        ranking, answers = self._answers(
            question, request, request.columns, limit, pause, request.explain, request.offset
        )
        entities = [answer.name for answer in answers if answer.value is None]
        places = {name: self.places.of(self.names.entity_id(name)) for name in entities}
        everywhere = {field.name: getattr(answers, field.name) for field in fields(answers)}
        return schemas.RankedAnswers(
            **(dict(self._translated(question)) | everywhere),
            notes=answers.notes(),
            limit=limit,
            offset=request.offset,
            places={name: place for name, place in places.items() if place is not None},
            distributions=distributions(self.catalogue, ranking, pause),
            seconds=self.clock() - start,
        )

    def _answers(
        self,
        question: Question,
        request: schemas.AskRequest | schemas.TableRequest,
        columns: Sequence[str],
        limit: int,
        pause: Pause,
        explain: bool = False,
        offset: int = 0,
    ) -> tuple[Ranking, Answers]:
        only = None if request.only is None else Only(request.only)
        further = [self.names.attribute_id(name) for name in columns]
        ranking = self.answerer.rank(question.query, pause, only)
        pause()
        part = TablePart(offset, request.order, request.descending)
        found = self.answerer.best(
            ranking, limit, only, explain, self.limits.reasons, pause, question, request.above, further, part
        )
        return ranking, found

    def table(self, request: schemas.TableRequest, pause: Pause) -> Iterator[bytes]:
        """The answers to a question as a file, in pieces."""
        columns = [name.strip() for row in csv.reader([request.columns], skipinitialspace=True) for name in row]
        question = self.read(request.query)
        _, answers = self._answers(question, request, list(filter(None, columns)), self.limits.table_rows, pause)
        _, pieces = FILES[request.format]
        for piece in pieces(answers):
            pause()
            yield piece

    def explain(self, request: schemas.ExplainRequest, pause: Pause) -> schemas.Explanation:
        """Why an answer is one: an entity by name, or a number with its unit."""
        asked = self.read(request.query)
        id_ = self.answerer.id_of(asked.query, request.answer, request.unit)
        return schemas.Explanation(reason=self.answerer.explain_id(asked, id_, pause))

    # ------------------------------------------------------------------------------------------- what can be asked

    def complete(self, request: schemas.CompleteRequest, pause: Pause) -> schemas.Completion:
        """What can be said of the exact answers to a query, or of everything where there is none."""
        return self._completed(None if request.query is None else self.read(request.query).query, pause)

    @cached_property
    def _said_of_everything(self) -> schemas.Completion:
        return self._said_of_entities(None)

    def _completed(self, query: Query | None, pause: Pause) -> schemas.Completion:
        if query is None:
            return self._said_of_everything
        sort, members = sort_of(query, self.names), ask_exactly(self.graph, query, pause=pause)
        if isinstance(sort, NumberSort):
            counts = _attribute_counts(self.graph, members)
            order = np.argsort(-counts, kind="stable").tolist()
            measured = [label for label in order if self.names.attribute_unit(label) in sort.units][:_PROPOSED]
            return schemas.Completion(
                sort="numbers",
                units=sorted(sort.units),
                count=len(members),
                attributes=[self.catalogue.attribute(label, int(counts[label])) for label in measured],
                comparisons=_COMPARISONS,
            )
        return self._said_of_entities(members)

    def _said_of_entities(self, members: np.ndarray | None) -> schemas.Completion:
        """The relations and attributes that some entities, or all, have."""
        graph, catalogue = self.graph, self.catalogue
        sizes = (graph.follows, 2 * len(graph.relations)), (graph.values_of, len(graph.attributes))
        relations, attributes = (label_counts(links, members, size) for links, size in sizes)
        return schemas.Completion(
            sort="entities",
            count=len(graph.entities) if members is None else len(members),
            relations=[catalogue.relation(each, int(relations[each])) for each in most_frequent(relations, _PROPOSED)],
            attributes=[
                catalogue.attribute(each, int(attributes[each])) for each in most_frequent(attributes, _PROPOSED)
            ],
        )

    def propose(self, request: schemas.ProposeRequest, pause: Pause) -> schemas.WordsProposals:
        """What can come next in a question in words."""
        return self.proposals.after(request.text, request.limit)

    def search(self, request: schemas.NamesRequest, pause: Pause) -> schemas.Names:
        """Names of a kind that match a text."""
        return self.catalogue.search(request.kind, request.text, request.limit)

    def all_places(self, request: schemas.NoParameters, pause: Pause) -> schemas.PlaceList:
        """Points for a map."""
        return schemas.PlaceList(places=self.places.background())

    def groups(self, request: thing_schemas.GroupsRequest, pause: Pause) -> thing_schemas.Groups:
        """The proved answers to a question that asks for a set of things, by what most of them are linked to."""
        question = self.read(request.query)
        found, members = None, np.zeros(0, dtype=np.int64)
        if question.is_plain and not isinstance(sort_of(question.query, self.names), NumberSort):
            self.answerer.check(question.query)
            members = ask_exactly(self.graph, question.query, pause=pause)
            found = best_grouping(self.graph, members)
        if found is None:
            return thing_schemas.Groups(relation=None, label=None, things=len(members), num_groups=0, groups=[])
        pairs = zip(found.ends[:SHOWN].tolist(), found.counts[:SHOWN].tolist(), strict=True)
        return thing_schemas.Groups(
            relation=self.names.relation_name(found.relation),
            label=self.names.relation_label(found.relation),
            things=len(members),
            num_groups=len(found.ends),
            groups=[thing_schemas.CountedEntity(entity=self.things.named(end), count=count) for end, count in pairs],
        )

    @cached_property
    def _examples(self) -> tuple[str, ...]:
        suggestions = () if self.quality is None else self.quality.suggestions
        suggested = [one.words[0] for one in suggestions if one.command == "ask" and self._reads(one.words[0])]
        made = examples(self.catalogue, self.things.kinds, self.places, self.answerer.check)
        return (*suggested, *made[: len(made) - len(suggested)])

    def _reads(self, text: str) -> bool:
        """Whether the graph, which may have changed, still has what a question names."""
        try:
            self.answerer.in_words(text)
        except UserError:
            return False
        return True

    @cached_property
    def about(self) -> schemas.Info:
        """What this server answers, and within which limits."""
        graph, model = self.graph, self.model
        return schemas.Info(
            version=__version__,
            model=schemas.ModelInfo(
                name=model.name, calibration=model.calibration, any_comparison=model.any_comparison
            ),
            graph=schemas.GraphSizes(
                entities=len(graph.entities),
                relations=len(graph.relations),
                attributes=len(graph.attributes),
                facts=len(graph.facts),
                values=len(graph.attribute_facts),
            ),
            comparisons=_COMPARISONS,
            units=tuple(graph.values.units),
            examples=list(self._examples),
            has_map=bool(self.places),
            limits=self.limits,
            takes_changes=False,
            changes_in_the_log=None,
        )

    def info(self, request: schemas.NoParameters, pause: Pause, takes_changes: bool = False) -> schemas.Info:
        """What this server answers, computed once."""
        standing = self.followed.standing
        now = {"changes_in_the_log": standing, "takes_changes": takes_changes and standing is not None}
        return self.about.model_copy(update=now)


def _only_in_words(question: Question) -> list[str]:
    """What the query of a question leaves out."""
    parts = {
        "the distance": question.near is not None,
        "the calculation": bool(question.where),
        "the total": question.aggregate is not None,
        "the order": question.sorting is not None,
        "the columns": bool(question.columns),
        "the question within": question.said is not None,
        "the limit": question.limit is not None and not question.is_plain,
    }
    return [name for name, is_left_out in parts.items() if is_left_out]


def _never() -> None:
    """No pause."""


def _attribute_counts(graph: KnowledgeGraph, rows: np.ndarray) -> np.ndarray:  # (attributes,)
    """How many facts of each attribute state one of some values."""
    counts = np.zeros(len(graph.attributes), dtype=np.int64)
    offsets, labels, starts, _ = graph.having.touched(np.arange(len(graph.attributes)))
    for attribute in range(len(graph.attributes)):
        own = labels[offsets[attribute] : offsets[attribute + 1]]
        groups = np.searchsorted(own, rows)
        held = np.append(own, -1)[groups] == rows
        groups = offsets[attribute] + groups[held]
        counts[attribute] = (starts[groups + 1] - starts[groups]).sum()
    return counts
