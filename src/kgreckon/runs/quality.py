"""The quality report of a learned model: what a person may expect of its answers, in figures and in words."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from typing import Any

from pydantic import BaseModel, ConfigDict, ValidationError

from kgreckon.errors import UserError, first_problem

LEAST = 0.01  # candidates below are not counted
_ENOUGH = 10  # held-back facts from which on a relation's figures mean something
_HARDLY = 15.0  # percent of answers among the ten best, below which a relation is hardly found
_ABOVE = 0.8  # what `complete` writes by default


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", protected_namespaces=())


class Tenth(_Part):
    """Facts, or values, that are not stated and whose probability is between two bounds.

    How many there are, about, the mean of what was stated of them, and the share that was held back and so is true.
    """

    low: float
    high: float
    candidates: int
    stated: float
    true: float


class RelationQuality(_Part):
    """How well a relation's hidden facts are found, asked from both ends."""

    name: str
    label: str
    facts: int  # that the graph states
    tested: int  # that were held back and ranked, each from both ends
    mrr: float  # percent
    hits_at_10: float  # percent
    candidates: int  # facts that are not stated, with a probability of at least `LEAST`; about, as those below
    stated: float  # how many of them should be true by their probabilities
    true: int  # how many are: they were held back

    @property
    def judged(self) -> bool:
        """Whether so many facts were held back that the figures mean something."""
        return self.tested >= _ENOUGH


class AttributeQuality(_Part):
    """How near an attribute's hidden values are predicted, and how often the interval holds them."""

    name: str
    label: str
    unit: str
    values: int  # that the graph states
    tested: int
    mean_error: float
    median_error: float
    mean_error_of_the_median: float  # of guessing the median of the known values
    covered: float  # share of the tested values inside their interval


class Suggestion(_Part):
    """Something to ask, as a command without the run's name, and what the model says to it."""

    command: str  # `ask` or `predict`
    words: tuple[str, ...]  # a question, or a thing and an attribute
    answer: str
    probability: float

    def shell(self, run: str) -> str:
        """What to type."""
        options = ["--explain"] if self.command == "ask" else []
        return shlex.join(["kgreckon", self.command, run, *self.words, *options])

    @property
    def outcome(self) -> str:
        """The answer, and how likely it is: of a number, that there is one."""
        return f"{self.answer} ({self.probability:.0%}{' likely' if self.command == 'ask' else ' that there is one'})"


class Quality(_Part):
    """The quality report of a model that was learned from facts."""

    entities: int
    facts: int
    values: int
    held_back: float  # share of all facts and values
    seconds: float  # that learning took, in all; 0 until it is done
    mrr: float  # percent, of all ranked facts
    hits_at_1: float
    hits_at_10: float
    tested: int
    coverage: float  # that the intervals state
    tenths: tuple[Tenth, ...]  # of facts
    relations: tuple[RelationQuality, ...]  # the most frequent first
    attributes: tuple[AttributeQuality, ...]
    entities_without_facts: int  # of which only values are known, or nothing
    entities_with_one_fact: int = 0
    value_tenths: tuple[Tenth, ...] = ()  # whether a thing has a number that is not stated
    suggestions: tuple[Suggestion, ...] = ()

    @property
    def untested(self) -> tuple[str, ...]:
        """The labels of relations of which too few facts were held back to say anything."""
        return tuple(row.label for row in self.relations if not row.judged)

    @property
    def calibration_error(self) -> float:
        """The mean distance of stated and true share over the tenths, by how many candidates they have."""
        total = sum(tenth.candidates for tenth in self.tenths)
        return sum(tenth.candidates * abs(tenth.stated - tenth.true) for tenth in self.tenths) / max(total, 1)

    @staticmethod
    def from_json(data: dict[str, Any]) -> Quality:
        """The way back from what a run folder holds."""
        try:
            return Quality.model_validate(data)
        except ValidationError as error:
            raise UserError(f"not a quality report: {first_problem(error)}") from None

    def sentences(self) -> list[str]:
        """The report in words, the most important first."""
        if not self.tested and not self.attributes:
            return ["The graph is too small to hold anything back: nothing was measured."]
        return [*self._measured(), *self._little_known()]

    def _measured(self) -> list[str]:
        told = []
        if self.tested:
            told.append(
                f"{self.tested:,} facts were hidden and looked for from both ends: the right answer came first in "
                f"{self.hits_at_1:.0f} % of cases and among the ten best in {self.hits_at_10:.0f} %."
            )
            told.append(
                f"Probabilities are off by {100 * self.calibration_error:.1f} points on average "
                f"(over all facts that are not stated and have at least {LEAST:.0%})."
            )
        for what, tenths in (("facts", self.tenths), ("numbers", self.value_tenths)):
            likely = [tenth for tenth in tenths if tenth.low >= _ABOVE]
            if count := sum(tenth.candidates for tenth in likely):
                true = sum(tenth.candidates * tenth.true for tenth in likely) / count
                told.append(f"About {count:,} {what} were found at least {_ABOVE:.0%} likely: {true:.0%} are true.")
        better = [row for row in self.attributes if row.mean_error < row.mean_error_of_the_median]
        if self.attributes:
            tested = sum(row.tested for row in self.attributes)
            covered = sum(row.tested * row.covered for row in self.attributes) / max(tested, 1)
            told.append(
                f"{tested:,} numbers were hidden: {len(better)} of {len(self.attributes)} attributes are predicted "
                f"better than by their median, and {covered:.0%} of the numbers lie in their interval of "
                f"{self.coverage:.0%}."
            )
        return told

    def _little_known(self) -> list[str]:
        """What there is to say about the parts of the graph of which the model knows little."""
        told = []
        judged = [row for row in self.relations if row.judged]
        if hardly := [row.label for row in judged if row.hits_at_10 < _HARDLY]:
            told.append(f"Hardly ever found, whatever is asked: {_some(hardly)}.")
        if guessed := [row.label for row in self.attributes if row.mean_error >= row.mean_error_of_the_median]:
            told.append(f"No better than the median: {_some(guessed)}.")
        if self.untested:
            told.append(f"Too few facts to judge: {_some(self.untested)}.")
        if self.entities_without_facts:
            without = f"{self.entities_without_facts:,} of {self.entities:,} things"
            told.append(f"{without} have no fact that links them to others: little can be inferred about them.")
        if self.entities_with_one_fact * 10 > self.entities:
            share = self.entities_with_one_fact / self.entities
            told.append(f"Of {share:.0%} of the things a single fact is known: there is little to infer from.")
        return told


def _some(names: Sequence[str], most: int = 5) -> str:
    most += len(names) == most + 1  # nothing is won by saying that there is one other
    return ", ".join(names[:most]) + (f" and {len(names) - most} others" if len(names) > most else "")
