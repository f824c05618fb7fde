"""The weights that turn evidence into probabilities: few, named, and fitted on facts that were held back."""

from __future__ import annotations

from dataclasses import asdict, dataclass, fields
from typing import Any

from kgreckon.models.reckoner.existence import EXISTENCE_DEFAULTS, EXISTENCE_FEATURES

FACT_WEIGHTS = ("intercept", "links", "as_stated", "by_arity", "rules", "more_rules", "expected", "stated")


@dataclass(frozen=True)
class Calibration:
    """What a fact's evidence weighs; the defaults hold until facts are held back to fit them on."""

    # The log odds of a fact: what links say from both ends, less or more from the end that decides.
    intercept: float = -0.5
    links: float = 0.45
    as_stated: float = 0.0
    by_arity: float = 0.0
    rules: float = 0.8  # the best rule's word, beside the link predictor's
    more_rules: float = 0.2  # and that of others, which speak for other facts
    expected: float = 0.1  # the expected facts of both ends, beyond what they weigh with the links
    stated: float = 0.0  # for each end that states some facts of the label
    # A value's density: the link predictor from entity to value, from value to entity, and the regression.
    value_link: float = 0.2
    value_back: float = 0.2
    value_regression: float = 0.7
    # The log odds of an entity to have a label that it does not state, by existence.EXISTENCE_FEATURES.
    existence_one: float = EXISTENCE_DEFAULTS[0]
    existence_rate: float = EXISTENCE_DEFAULTS[1]
    existence_most: float = EXISTENCE_DEFAULTS[2]
    existence_least: float = EXISTENCE_DEFAULTS[3]
    existence_mean: float = EXISTENCE_DEFAULTS[4]
    existence_sum: float = EXISTENCE_DEFAULTS[5]
    existence_labels: float = EXISTENCE_DEFAULTS[6]

    @property
    def existence(self) -> tuple[float, ...]:
        """The weights of existence.Expectations."""
        return tuple(getattr(self, f"existence_{name}") for name in EXISTENCE_FEATURES)

    @property
    def facts(self) -> tuple[float, ...]:
        """The weights of a fact's evidence, in the order of FACT_WEIGHTS."""
        return tuple(getattr(self, name) for name in FACT_WEIGHTS)

    def as_json(self) -> dict[str, float]:
        """The same as plain data."""
        return asdict(self)

    @staticmethod
    def from_json(data: dict[str, Any]) -> Calibration:
        """The way back; a TypeError where the data is none."""
        if not all(isinstance(number, int | float) for number in data.values()):
            raise TypeError("a calibration holds numbers")
        missing = {field.name for field in fields(Calibration)} - data.keys()
        if missing:
            raise TypeError(f"a calibration has {min(missing)}")
        return Calibration(**data)
