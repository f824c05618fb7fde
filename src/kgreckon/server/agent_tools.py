"""The tools for agents, without a protocol: search names, describe, ask, explain, predict, complete, change."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from typing import Annotated, Literal, TypeVar

from pydantic import Field

from kgreckon.answers import COVERAGE, Answer, Column, Reason
from kgreckon.answers.completing import Gaps, MissingFact, MissingValue, complete
from kgreckon.answers.predicted_numbers import number_points
from kgreckon.answers.sparql_answers import Known
from kgreckon.defaults import LEAST_PROBABILITY
from kgreckon.errors import BeyondAlgebraError
from kgreckon.graph.literals import is_calendar, nearest_day, write_date
from kgreckon.models.interface import ScoreMeaning
from kgreckon.query import Entity, Follow, Number, NumberSort, Pause, Query, sort_of
from kgreckon.query.absence import rests_on_absence
from kgreckon.query.notations import answers_wanted
from kgreckon.query.sparql import gives_triples, may_rest_on_absence, own_limit
from kgreckon.query.words.phrases import fact_words, number_words
from kgreckon.server import schemas, thing_schemas
from kgreckon.server.agent_schemas import (
    Bounded,
    Changed,
    Completed,
    Description,
    Found,
    FoundAnswer,
    FoundNames,
    InferredFact,
    InferredValue,
    KnownValue,
    Name,
    RowStatus,
    StatedFact,
    Status,
    WantedStatement,
    Why,
)
from kgreckon.server.service import Service

MOST_CHARACTERS = 20_000  # of one reply, about 5,000 tokens
_LONGEST = 300  # characters of one line
_REASONS = 8  # lines of one answer
_ANSWERS = 50
_THINGS = 50  # that are completed in one call
_CHANGES = 50  # statements of a kind in one change
_EVEN = 0.5  # above it an answer is called likely
_LARGE = 1e15  # beyond it not every digit of a float is one
_Reply = TypeVar("_Reply", bound=Bounded)

Text = Annotated[str, Field(max_length=4_000)]
Statements = Annotated[Sequence[WantedStatement], Field(max_length=_CHANGES)]
Limit = Annotated[int, Field(ge=1, le=_ANSWERS, description="How many, at most.")]


class AgentTools:
    """What an agent can do with a service; every reply says how each thing is known, and has a bounded size."""

    def __init__(self, service: Service) -> None:
        self.service = service
        self.calibrated = service.model.calibration is ScoreMeaning.PROBABILITY
        self.certain = service.model.calibration is ScoreMeaning.CERTAIN

    def search(
        self,
        text: Annotated[Text, Field(description="The beginning of a name, or a part of it; may be empty.")],
        kind: Annotated[Literal["entity", "relation", "attribute"], Field(description="What it is the name of.")] = (
            "entity"
        ),
        limit: Limit = 10,
        *,
        pause: Pause,
    ) -> FoundNames:
        """Find the names of entities, relations or attributes, the most connected first."""
        request = schemas.NamesRequest.model_construct(kind=kind, text=text, limit=2 * limit)
        matching = self.service.search(request, pause).names
        once = {each.name: each for each in matching}  # a relation is found in both directions
        found = [
            Name(
                name=each.name,
                label=_cut(each.label),
                kind=kind,
                detail=_cut(each.detail),
            )
            for each in list(once.values())[:limit]
        ]
        return _bounded(FoundNames(names=found), "names")

    def describe(
        self,
        name: Annotated[Text, Field(description="An entity, by name or by label.")],
        *,
        pause: Pause,
    ) -> Description:
        """Show the facts and numbers of one entity, and the numbers that are likely where none is stated."""
        things = self.service.things
        details = things.entity(thing_schemas.NameRequest.model_construct(name=name), pause)
        facts = [self._fact(details, group, other) for group in details.facts for other in group.things]
        values = [
            KnownValue(attribute=each.attribute, value=each.text, unit=each.unit, status=Status.PROVED)
            for each in details.values
        ]
        values += [
            KnownValue(
                attribute=each.attribute,
                value=_figure(each.estimate, each.unit),
                unit=each.unit,
                status=_of_chance(each.chance),
                low=_figure(each.low, each.unit),
                high=_figure(each.high, each.unit),
                probability=_rounded(each.chance),
            )
            for each in things.predicted(self.service.names.entity_id(name), pause, reasons=False)
        ]
        more = any(group.count > len(group.things) for group in details.facts)
        reply = Description(name=details.name, label=_cut(details.label), facts=facts, values=values, more=more)
        return _bounded(reply, "facts", "values")

    def ask(
        self,
        query: Annotated[
            Text,
            Field(description="The question, in words ('cities in Japan') or in SPARQL."),
        ],
        limit: Limit = 10,
        explain: Annotated[bool, Field(description="Whether to give the reasons of each answer.")] = True,
        *,
        pause: Pause,
    ) -> Found:
        """Answer a question: what the graph proves first, then what is likely."""
        try:
            question = self.service.read(query)
        except BeyondAlgebraError:
            return self._rows(query, limit, pause)
        own = question.limit
        answerer, wanted = self.service.answerer, min(limit, answers_wanted(None, own) if own is not None else limit)
        ranking = answerer.rank(question.query, pause)
        found = answerer.best(ranking, wanted, None, explain, wanted, pause, question)
        stated = Status.FOUND if found.rests_on_absence else Status.PROVED
        answers = [self._answer(each, found.columns, stated) for each in found]
        estimate = found.estimate
        nothing = Status.UNKNOWN if found.total is None else stated
        reply = Found(
            question=_cut(found.words),
            status=answers[0].status if answers else nothing,
            inferred=not self.certain,
            proved=found.observed if stated is Status.PROVED else 0,
            found=found.observed if stated is Status.FOUND else None,
            columns=[_cut(column.header) for column in found.columns],
            answers=answers,
            estimate=None
            if estimate is None
            else f"about {_figure(estimate.value, estimate.unit)} {estimate.unit}, between "
            f"{_figure(estimate.low, estimate.unit)} and {_figure(estimate.high, estimate.unit)} "
            f"with a probability of {estimate.coverage:.0%}",
            more=found.observed > len(answers) and found.total is None,
            notes=[*([] if found.total is None else [str(found.total)]), *map(_cut, found.notes())],
        )
        return _bounded(reply, "answers")

    def _rows(self, query: str, limit: int, pause: Pause) -> Found:
        """Any query of SPARQL: with inference where its pattern is a tree, else from what is stated."""
        most = limit if gives_triples(query) else min(limit, own_limit(query) or limit)
        floor = LEAST_PROBABILITY if self.calibrated else 0.0
        found = None
        if not self.certain:
            with suppress(BeyondAlgebraError):
                found = self.service.answerer.solutions(
                    query, most, floor, pause, lambda text, rows: self.service.stated(text, pause, rows)
                )
        if found is None:
            found = self.service.stated(query, pause, most)
        stated = Status.FOUND if may_rest_on_absence(query) else Status.PROVED
        known = [self._known_row(each, stated) for each in found.known]
        rows = [[_cut(cell) for cell in row] for row in found.cells(with_names=True)]
        count = int(bool(found.truth)) if found.truth is not None else len(rows)
        said = f"{found.summary()}." if found.inferred else "Answered from what is stated; nothing is inferred."
        notes = [said, *map(_cut, found.unknown)]
        if known:
            count = sum(each.status is stated for each in known)
        best = [status for status in Status if status in {each.status for each in known}]
        if found.truth is False:
            notes.append("It is not stated, which does not mean that it is false.")
        reply = Found(
            question=_cut(query),
            status=stated if count else best[0] if best else Status.UNKNOWN,
            inferred=found.inferred,
            proved=count if stated is Status.PROVED else 0,
            found=count if stated is Status.FOUND else None,
            variables=list(found.variables),
            rows=rows,
            known=known,
            more=not found.complete,
            notes=notes,
        )
        _bounded(reply, "rows")
        del reply.known[len(reply.rows) :]
        return reply

    def _known_row(self, known: Known, stated: Status) -> RowStatus:
        if known.observed:
            return RowStatus(status=stated)
        status = self._likely(known.score)
        probability, score = self._chance(status, known.score)
        return RowStatus(status=status, probability=probability, score=score)

    def explain(
        self,
        query: Annotated[Text, Field(description="The question, as for `ask`; not SPARQL that is only stated.")],
        answer: Annotated[Text, Field(description="An entity by name or label, or a number, perhaps with its unit.")],
        *,
        pause: Pause,
    ) -> Why:
        """Give the reasons why something is an answer, or how little speaks for it."""
        question = self.service.read(query)
        asked, answerer = question.query, self.service.answerer
        place = answerer.id_of(asked, answer)
        ranking = answerer.rank(asked, pause)
        proved = place in set(ranking.proved.tolist())
        score = float(ranking.candidates.scores[ranking.candidates.ids == place].max(initial=0.0))
        reason = answerer.explain_id(question, place, pause)
        stated = Status.FOUND if rests_on_absence(asked) else Status.PROVED
        status = stated if proved else self._likely(score)
        probability, ranked = self._chance(status, score)
        return Why(
            answer=_cut(self._label(asked, place)),
            status=status,
            probability=probability,
            score=ranked,
            reasons=_lines(reason),
        )

    def predict(
        self,
        entity: Annotated[Text, Field(description="An entity, by name or by label.")],
        attribute: Annotated[Text, Field(description="A numerical attribute.")],
        *,
        pause: Pause,
    ) -> KnownValue:
        """Give the number that an attribute has on an entity: stated, or predicted with a 90 % interval."""
        names, graph = self.service.names, self.service.graph
        place, number = names.entity_id(entity), names.attribute_id(attribute)
        name, unit = names.attribute_name(number), names.attribute_unit(number)
        rows = graph.values_of.row(place, number).tolist()
        if rows:
            texts = [names.write_number(Number(*graph.values.number_at(row))) for row in rows]
            return KnownValue(attribute=name, value=" or ".join(texts), unit=unit, status=Status.PROVED)
        found = self.service.model.predict(place, number, COVERAGE)
        if found is None:
            return KnownValue(attribute=name, value=None, unit=unit, status=Status.UNKNOWN)
        return KnownValue(
            attribute=name,
            value=_figure(found.estimate, unit),
            unit=unit,
            status=_of_chance(found.has_it),
            low=_figure(found.low, unit),
            high=_figure(found.high, unit),
            probability=_rounded(found.has_it),
        )

    def complete(
        self,
        things: Annotated[
            list[Text], Field(min_length=1, max_length=_THINGS, description="Entities, by name or label.")
        ],
        relation: Annotated[Text | None, Field(description="Only facts of this relation.")] = None,
        attribute: Annotated[Text | None, Field(description="Only values of this attribute.")] = None,
        above: Annotated[float, Field(gt=0, le=1, description="The least probability.")] = 0.5,
        limit: Annotated[Limit, Field(description="How many facts, and how many numbers, at most.")] = 10,
        *,
        pause: Pause,
    ) -> Completed:
        """Find the facts and numbers of some entities that are likely and that the graph does not state."""
        gaps = Gaps(above, None if relation is None else [relation], None if attribute is None else [attribute], things)
        found = list(complete(self.service.answerer, gaps, lambda count, total: pause()))
        found.sort(key=lambda each: -each.probability)
        facts = [each for each in found if isinstance(each, MissingFact)]
        values = [each for each in found if isinstance(each, MissingValue)]
        reply = Completed(
            facts=[self._missing_fact(each, pause) for each in facts[:limit]],
            values=[self._missing_value(each, pause) for each in values[:limit]],
            more=max(len(facts), len(values)) > limit,
        )
        return _bounded(reply, "facts", "values")

    def change(
        self,
        add: Annotated[Statements, Field(description="What is to be stated.")] = (),
        remove: Annotated[Statements, Field(description="What is no longer to be stated.")] = (),
        replace: Annotated[
            Statements,
            Field(description="Takes the place of all that is stated of the same subject by the same predicate."),
        ] = (),
        new: Annotated[bool, Field(description="Whether names that the graph does not have are added.")] = False,
        *,
        pause: Pause,
    ) -> Changed:
        """Change the graph, durably: all of it or nothing. Remove nothing that nobody asked to be removed."""
        added, removed, replaced = (
            [schemas.StatementText.model_construct(**dict(each)) for each in statements]
            for statements in (add, remove, replace)
        )
        request = schemas.ChangeRequest.model_construct(add=added, remove=removed, replace=replaced, new=new)
        made = self.service.change(request, pause)
        return Changed(
            facts_added=made.facts_added,
            values_added=made.values_added,
            facts_removed=made.facts_removed,
            values_removed=made.values_removed,
            new_names=[_cut(name) for name in made.things],
        )

    def _missing_fact(self, missing: MissingFact, pause: Pause) -> InferredFact:
        names = self.service.names
        head, tail = names.entity_id(missing.head), names.entity_id(missing.tail)
        relation = names.relation_id(missing.relation)
        reason = self.service.answerer.explain_id(Follow(relation, Entity(head)), tail, pause)
        return InferredFact(
            text=_cut(fact_words(names.entity_label(head), relation, names.entity_label(tail), names)),
            subject=missing.head,
            relation=missing.relation,
            object=missing.tail,
            status=_of_chance(missing.probability),
            probability=_rounded(missing.probability),
            reasons=_lines(reason),
        )

    def _missing_value(self, missing: MissingValue, pause: Pause) -> InferredValue:
        names = self.service.names
        entity, attribute = names.entity_id(missing.entity), names.attribute_id(missing.attribute)
        pause()
        found = self.service.model.predict(entity, attribute, COVERAGE, reasons=True)
        return InferredValue(
            entity=missing.entity,
            attribute=missing.attribute,
            value=_figure(missing.value, missing.unit),
            unit=missing.unit,
            status=_of_chance(missing.probability),
            low=_figure(missing.low, missing.unit),
            high=_figure(missing.high, missing.unit),
            probability=_rounded(missing.probability),
            reasons=[_cut(point) for point in number_points(found, attribute, names)],
        )

    def _label(self, query: Query, place: int) -> str:
        """An answer in words."""
        names = self.service.names
        if isinstance(sort_of(query, names), NumberSort):
            return number_words(Number(*self.service.graph.values.number_at(place)), names)
        return names.entity_label(place)

    def _fact(
        self, details: thing_schemas.EntityDetails, group: thing_schemas.FactGroup, other: schemas.EntityName
    ) -> StatedFact:
        """A fact of an entity in words, and a query for all that it leads to."""
        source, target = (other, details) if group.inverse else (details, other)
        text = f"{source.label} — {group.label} → {target.label}"
        return StatedFact(text=_cut(text), relation=group.relation, inverse=group.inverse, entity=other.name)

    def _answer(self, answer: Answer, columns: Sequence[Column], stated: Status) -> FoundAnswer:
        status = stated if answer.observed else self._likely(answer.score)
        probability, score = self._chance(status, answer.score)
        return FoundAnswer(
            answer=_cut(answer.label),
            name=answer.name if answer.value is None else None,
            status=status,
            probability=probability,
            score=score,
            values=[
                None if cell is None else _cut(cell.shown(column.unit or ""))
                for column, cell in zip(columns, answer.values, strict=True)
            ],
            reasons=[] if answer.reason is None else _lines(answer.reason),
        )

    def _likely(self, score: float) -> Status:
        """What is not proved: likely if it is more likely than not, or has a score where scores only rank."""
        return _of_chance(score) if self.calibrated or score <= 0 else Status.LIKELY

    def _chance(self, status: Status, score: float) -> tuple[float | None, float | None]:
        """The probability of what is not proved, or else the score that only ranks."""
        if status is Status.PROVED or self.certain:
            return None, None
        return (_rounded(score), None) if self.calibrated else (None, _rounded(score))


def _of_chance(probability: float) -> Status:
    return Status.LIKELY if probability > _EVEN else Status.UNKNOWN


def _lines(reason: Reason) -> list[str]:
    """The first lines of a reason: its sentence, then the facts."""
    lines = [_cut(line) for line in str(reason).splitlines()]
    return lines if len(lines) <= _REASONS else [*lines[: _REASONS - 1], f"and {len(lines) - _REASONS + 1} more lines"]


def _cut(text: str | None) -> str:
    text = text or ""
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"


def _rounded(chance: float) -> float:
    return float(f"{chance:.3g}")


def _figure(value: float, unit: str) -> str:
    """A number that is not known exactly: the day of a date, else four digits."""
    if is_calendar(unit):
        return write_date(nearest_day(value))
    short = float(f"{value:.4g}")
    return f"{short:,.0f}" if short.is_integer() and abs(short) < _LARGE else f"{short:g}"


def _bounded(reply: _Reply, *lists: str) -> _Reply:
    """The reply with so much of its lists that it can be read: the longest one loses its end first."""
    while len(reply.model_dump_json(indent=2)) > MOST_CHARACTERS:
        longest = max((getattr(reply, name) for name in lists), key=len)
        if not longest:
            break
        del longest[-max(1, len(longest) // 8) :]
        reply.more = True
    return reply
