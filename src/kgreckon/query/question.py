"""A question: a query, and what is wanted of its answers: the largest, the nearest, how many, or their mean.

Superlatives and totals are asked of a whole set, once, at the outside. So they stand around a query and not in it: the
algebra keeps its nine nodes, and no meaning of it needs to change.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum

from kgreckon.errors import UserError
from kgreckon.query.algebra import EntitySort, NumberSort, Query, Units, sort_of
from kgreckon.query.terms import Calculated, Own, TermComparison, check_terms, term_text, unit_of


class Aggregate(StrEnum):
    """One number about a set: how many things it holds, or about the values that an attribute takes on them."""

    COUNT = "count"
    SUM = "sum"
    MEAN = "mean"
    MEDIAN = "median"
    MINIMUM = "minimum"
    MAXIMUM = "maximum"
    VALUE = "value"  # of the one thing: `the population of France - the population of Germany`
    WHETHER = "whether"  # there is an answer


@dataclass(frozen=True, slots=True)
class Sorting:
    """The order of answers: by an attribute, or by how near its value is to the nearest of some numbers."""

    attribute: int | Calculated
    descending: bool = True
    nearest: Query | None = None


@dataclass(frozen=True, slots=True)
class Near:
    """That answers are no more than so many metres from the nearest of some things; without a bound, an order alone."""

    of: Query
    within: float | None = None


@dataclass(frozen=True, slots=True)
class Question:
    """A query with an order, a limit, or one number about all answers."""

    query: Query
    sorting: Sorting | None = None
    limit: int | None = None
    skip: int = 0  # of the first: the second largest is one after one
    aggregate: Aggregate | None = None
    of: int | Calculated | None = None  # whose values are added up or averaged: a count has none
    near: Near | None = None  # where the answers are
    where: tuple[TermComparison, ...] = ()  # what is calculated from the numbers of each answer and compared
    columns: tuple[int, ...] = ()  # attributes that are asked for beside the answers
    inner: tuple[Question, ...] = ()  # whose answers fill the holes of the query (kgreckon.query.within)
    said: Said | None = field(default=None, compare=False)  # how it was asked, where inner questions are answered

    @property
    def is_plain(self) -> bool:
        """Whether nothing is wanted beyond the answers."""
        beside = self.sorting, self.aggregate, self.near
        return all(one is None for one in beside) and not (self.where or self.columns or self.inner)


@dataclass(frozen=True, slots=True)
class Said:
    """A question as it was asked, with what answers each of its inner questions."""

    question: Question
    found: tuple[tuple[int, ...], ...]


def check_sorts(question: Question, units: Units) -> None:
    """Raise a UserError where a question cannot be meant."""
    sort = sort_of(question.query, units)
    if question.skip and (question.limit != 1 or (question.sorting is None and question.near is None)):
        raise UserError("a place in an order is that of one answer, and needs an order")
    if question.sorting is not None:
        if not isinstance(sort, EntitySort):
            raise UserError("numbers are not sorted by an attribute")
        by = question.sorting.attribute
        unit = unit_of(Own(by) if isinstance(by, int) else by, units)
        if question.sorting.nearest is not None:
            near = sort_of(question.sorting.nearest, units)
            if not isinstance(near, NumberSort) or unit not in near.units:
                name = units.attribute_name(by) if isinstance(by, int) else term_text(by, units)
                raise UserError(f"{name} is measured in {unit}, not in {near}: nearness cannot be meant")
    if question.near is not None and not all(
        isinstance(each, EntitySort) for each in (sort, sort_of(question.near.of, units))
    ):
        raise UserError("distances are between things, not numbers")
    if question.columns and not isinstance(sort, EntitySort):
        raise UserError("columns are beside things, not beside numbers")
    if question.where and not isinstance(sort, EntitySort):
        raise UserError("what is calculated from attributes is asked of things, not of numbers")
    for comparison in question.where:
        check_terms(comparison, units)
    if isinstance(question.of, Calculated):
        unit_of(question.of, units)
    if question.of is not None and not isinstance(sort, EntitySort):
        raise UserError("an attribute is totalled over things, not over numbers")
