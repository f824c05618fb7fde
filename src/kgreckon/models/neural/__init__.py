"""Neural models: one file per backbone, number reasoning written once and composed into each, and their training."""

from kgreckon.models.neural import gqe, query2box, query2particles  # noqa: F401  # they register themselves
from kgreckon.models.neural.backbone import BACKBONES, Backbone, Geometry, register
from kgreckon.models.neural.family import NeuralFamily
from kgreckon.models.neural.neural_settings import ENCODINGS, NeuralSettings
from kgreckon.models.neural.number_reasoning import NumberReasoning, ScaledValues
from kgreckon.models.neural.query_model import QueryModel, Sizes

FAMILY = NeuralFamily()

__all__ = [
    "BACKBONES",
    "ENCODINGS",
    "FAMILY",
    "Backbone",
    "Geometry",
    "NeuralFamily",
    "NeuralSettings",
    "NumberReasoning",
    "QueryModel",
    "ScaledValues",
    "Sizes",
    "register",
]
