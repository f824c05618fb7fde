"""The reckoner: exact logic over facts with probabilities, observed and predicted."""

from kgreckon.reckoner.fuzzy import CertainFacts, FactModel, FuzzySemantics, Inference, MissingValues, Reckoner
from kgreckon.reckoner.observed import ObservedFacts
from kgreckon.reckoner.predicted import Calibration, PredictedFacts

__all__ = [
    "Calibration",
    "CertainFacts",
    "FactModel",
    "FuzzySemantics",
    "Inference",
    "MissingValues",
    "ObservedFacts",
    "PredictedFacts",
    "Reckoner",
]
