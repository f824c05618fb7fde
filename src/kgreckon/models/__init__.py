"""Query models: one file per backbone, number reasoning once, composed into each. No files, no benchmarks."""

from kgreckon.models import gqe, query2box, query2particles  # noqa: F401  # they register themselves
from kgreckon.models.backbone import BACKBONES, Backbone, Geometry, register
from kgreckon.models.numbers import NumberReasoning, Values
from kgreckon.models.query_model import NUMBER_FORMS, ModelSettings, QueryModel, Sizes

__all__ = [
    "BACKBONES",
    "NUMBER_FORMS",
    "Backbone",
    "Geometry",
    "ModelSettings",
    "NumberReasoning",
    "QueryModel",
    "Sizes",
    "Values",
    "register",
]
