"""The reckoner: exact logic over facts with probabilities, observed and predicted."""

from kgreckon.models.reckoner.calibration import Calibration
from kgreckon.models.reckoner.family import ReckonerFamily
from kgreckon.models.reckoner.fuzzy import CertainFacts, FactModel, FuzzySemantics, Inference, MissingValues, Reckoner
from kgreckon.models.reckoner.observed import ObservedFacts
from kgreckon.models.reckoner.predicted import PredictedFacts
from kgreckon.models.reckoner.reckoner_settings import ReckonerSettings

FAMILY = ReckonerFamily()

__all__ = [
    "FAMILY",
    "Calibration",
    "CertainFacts",
    "FactModel",
    "FuzzySemantics",
    "Inference",
    "MissingValues",
    "ObservedFacts",
    "PredictedFacts",
    "Reckoner",
    "ReckonerFamily",
    "ReckonerSettings",
]
