"""What a question that is being read says beside its set, and what is said of the noun that is being read."""

from __future__ import annotations

from dataclasses import dataclass

from kgreckon.query.question import Near, Sorting
from kgreckon.query.terms import TermComparison


@dataclass
class Asked:
    """The order, the distance and the calculations of a question so far."""

    begin: int = 0  # the token where the question begins
    depth: int = 0  # how deep it stands
    ranked: bool = False  # whether an order may be given where we are
    totalled: str = ""  # the Aggregate, where one number is asked for
    total_of: int | None = None  # the attribute whose values are totalled
    sorting: Sorting | None = None
    near: Near | None = None
    where: tuple[TermComparison, ...] = ()
    descending: bool = True
    only_best: bool = False
    within: bool = False  # whether it is a question within another
    skip: int = 0  # of the first, where the second or third is asked for
    near_what: bool = False  # `the nearest airports to Oslo`: what they are near to is still to come
    measure: int | None = None  # the attribute that a superlative is about, if it says
    measure_word: str = ""  # the superlative itself


@dataclass
class Spoken:
    """What makes a noun within a question one of its own: `the country with the smallest area`."""

    singular: bool = False
    best: Sorting | None = None
    skip: int = 0
    near: Near | None = None
