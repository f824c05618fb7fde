"""Settings of the neural models: the backbone, how numbers are encoded, and the training."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, ClassVar, Literal, Self

from pydantic import Field

from kgreckon.models.neural.backbone import BACKBONES, backbone
from kgreckon.models.settings import Settings

_MANY = {"cpu": 32_768, "cuda": 262_144}  # candidates, from which on a softmax is sampled
ENCODINGS = ("baseline", "dice", "sinusoidal")
Share = Annotated[float, Field(ge=0, lt=1)]


class NeuralSettings(Settings):
    """What a neural model is made of and how it is trained."""

    family: ClassVar[str] = "neural"
    renamed: ClassVar[Mapping[str, str]] = {"numbers": "encoding"}
    before: ClassVar[Mapping[str, Any]] = {"answers": 1, "number_dropout": 0.0}

    model: str = Field("query2particles", description="The backbone: gqe, query2box, query2particles, or your own.")
    encoding: Literal["baseline", "dice", "sinusoidal"] = Field(
        "sinusoidal", description="Numbers as entities (baseline), or number reasoning over an encoding."
    )
    number_scale: Literal["log", "rank"] = Field(
        "log",
        description="What is encoded of a number: its signed logarithm, as in the paper, or its rank in its unit.",
    )
    dimension: int = Field(300, ge=1, description="The length of every embedding.")
    particles: int = Field(5, ge=1, le=100, description="Particles of Query2Particles.")
    dropout: Share = Field(0.1, description="Dropout inside the operators.")
    number_dropout: Share = Field(
        0.1, description="Dropout after each step of a set of numbers, where sets are particles."
    )
    box_score: Literal["inner", "l1"] = Field(
        "inner", description="Query2Box's score: the largest inner product inside the box, or the L1 distance to it."
    )
    value_loss: Literal["softmax", "map"] = Field(
        "softmax", description="The loss on numbers: the released code's softmax, or the paper's MAP loss."
    )
    learn_values: bool = Field(
        True,
        description="Learn a vector of each value beside its encoding; with the MAP loss, where a query names it.",
    )
    type_prior: bool = Field(True, description="The prior of θ given the unit, in the MAP loss.")
    entity_smoothing: Share = Field(0.1, description="Label smoothing over entities.")
    value_smoothing: Share = Field(0.3, description="Label smoothing over values.")
    batch_size: int = Field(1024, ge=1, description="Queries in a step, all of one specific type.")
    answers: int = Field(16, ge=1, description="Answers of each query in a step, drawn at random.")
    softmax: Literal["auto", "full", "sampled", "batch"] = Field(
        "auto",
        description="Over all candidates, or a sample that stands for all; `auto` samples where a device has many to "
        "go through. `batch` takes the batch's other answers and some at random as they are.",
    )
    negatives: int = Field(
        1024, ge=1, description="Candidates drawn for a batch where the softmax is not full; labels are not smoothed."
    )
    value_weight: float = Field(
        1.0, gt=0, le=10, description="The weight of the loss on queries for values; on queries for entities it is 1."
    )
    steps: int = Field(12_000, ge=1, description="Training steps.")
    learning_rate: float = Field(0.004, gt=0, lt=10, description="Adam's learning rate.")
    operator_rate: float = Field(
        0.25, gt=0, le=10, description="The learning rate of operators, as a share of that of embeddings."
    )
    decay: float = Field(1.0, ge=0, le=1, description="Share of the steps, at the end, over which the rate falls to 0.")
    validate_every: int = Field(4_000, ge=0, description="Steps between validations; 0 validates only at the end.")
    validation_queries: int = Field(500, ge=0, description="Validation queries of each type; 0 takes all.")
    checkpoint_every: int = Field(1_000, ge=1, description="Steps between checkpoints.")
    report_every: int = Field(50, ge=1, description="Steps between lines of metrics.")
    precision: Literal["auto", "float32", "tf32", "bf16"] = Field(
        "auto", description="Precision of matrix products; `auto` is tf32 on a GPU and float32 on a CPU."
    )

    @classmethod
    def choose(cls, values: Mapping[str, Any]) -> Self:
        """The defaults with some settings changed, for a backbone that is registered."""
        settings = super().choose(values)
        backbone(settings.model)
        return settings

    @classmethod
    def from_run(cls, values: Mapping[str, Any]) -> Self:
        """The settings of a run; its backbone may be registered by another program only."""
        flat = {**values.get("model", {}), **values.get("training", {})} if "training" in values else dict(values)
        named = {cls.renamed.get(name, name): value for name, value in flat.items()}
        if "softmax" not in named:  # it was chosen by the number of negatives
            named["softmax"] = "batch" if named.get("negatives") else "full"
            named["negatives"] = named.get("negatives") or cls.model_fields["negatives"].default
        return super().choose({**cls.before, **named})

    def samples(self, candidates: int, device: str) -> bool:
        """Whether so many candidates are stood for by a sample; optimizer steps then change only rows in it."""
        return self.softmax == "sampled" or (self.softmax == "auto" and candidates > _MANY[device])

    def negatives_among(self, candidates: int, device: str) -> int:
        """How many of so many candidates are drawn for a batch; 0 where all take part."""
        return self.negatives if self.softmax == "batch" or self.samples(candidates, device) else 0

    @property
    def title(self) -> str:
        """Backbone and encoding."""
        return f"{self.model}-{self.encoding}"

    @property
    def paper_row(self) -> tuple[str, str]:
        """The paper has a row for each backbone and encoding."""
        return self.model, self.encoding

    def rate_at(self, step: int) -> float:
        """The learning rate of a step: constant, then falling to 0 over the last share of the steps."""
        left = (self.steps - step) / (self.decay * self.steps) if self.decay else 1.0
        return self.learning_rate * min(1.0, left)

    def without_effect(self) -> dict[str, str]:
        """The settings that such a model ignores, each with the reason."""
        ignored: dict[str, str] = {}
        known = BACKBONES.get(self.model)
        if known is not None and not known.is_set:
            reason = f"the sets of {self.model} are not particles"
            ignored |= dict.fromkeys(("particles", "number_dropout"), reason)
        if self.model != "query2box":
            ignored["box_score"] = f"{self.model} has no boxes"
        if self.encoding == "baseline":
            of_numbers = ("number_scale", "number_dropout", "value_loss", "learn_values", "type_prior")
            ignored |= dict.fromkeys(of_numbers, "numbers are entities in the baseline")
        elif self.value_loss == "map":
            ignored["value_smoothing"] = "the MAP loss has no labels to smooth"
        else:
            ignored["type_prior"] = "only value_loss=map has a prior"
        if self.softmax in ("sampled", "batch"):
            smoothing = ("entity_smoothing", "value_smoothing")
            ignored |= dict.fromkeys(smoothing, "labels are not smoothed with negatives")
        if self.softmax == "full":
            ignored["negatives"] = "the softmax is over all candidates"
        return ignored


# The settings of the released implementation, with its number of steps.
PAPER: dict[str, Any] = {
    "number_scale": "log",
    "dimension": 300,
    "dropout": 0.3,
    "number_dropout": 0.0,
    "batch_size": 1024,
    "answers": 1,
    "softmax": "full",
    "steps": 370_000,
    "learning_rate": 1e-3,
    "operator_rate": 1.0,
    "decay": 0.0,
}
# Small enough for a CPU and a graph of some ten thousand entities.
SMALL: dict[str, Any] = {
    "dimension": 64,
    "batch_size": 512,
    "answers": 1,
    "softmax": "batch",
    "negatives": 512,
    "steps": 2_500,
    "dropout": 0.0,
    "number_dropout": 0.0,
    "learning_rate": 1e-2,
    "operator_rate": 0.25,
    "decay": 0.5,
    "validate_every": 1_000,
    "validation_queries": 100,
    "checkpoint_every": 500,
}
