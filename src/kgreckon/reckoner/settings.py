"""Settings of the reckoner: every one has a default and a sentence."""

from __future__ import annotations

from dataclasses import dataclass, field

from kgreckon.errors import UserError, unknown_name
from kgreckon.reckoner.links import SCORERS


@dataclass(frozen=True)
class ReckonerSettings:
    """How a reckoner is trained and how it answers."""

    model: str = field(default="reckoner", metadata={"help": "reckoner."})
    scorer: str = field(default="complex", metadata={"help": "The link predictor: complex."})
    rank: int = field(default=1000, metadata={"help": "The rank of the link predictor."})
    epochs: int = field(default=30, metadata={"help": "Times that every fact of the training graph is learned."})
    batch_size: int = field(default=1000, metadata={"help": "Facts in a step."})
    learning_rate: float = field(default=0.1, metadata={"help": "Adagrad's learning rate."})
    regularisation: float = field(default=0.05, metadata={"help": "The weight of the nuclear 3-norm."})
    label_weight: float = field(default=0.05, metadata={"help": "The weight of predicting the relation of two ends."})
    rules: bool = field(default=True, metadata={"help": "Ask rules of one and two steps beside the link predictor."})
    heads: int = field(default=256, metadata={"help": "The most likely heads that predicted facts may start from."})
    calibrate: bool = field(default=True, metadata={"help": "Fit the calibration, or take that of the defaults."})
    validation_queries: int = field(default=500, metadata={"help": "Validation queries of each type to calibrate on."})
    checkpoint_every: int = field(default=5, metadata={"help": "Epochs between checkpoints."})
    device: str = field(default="auto", metadata={"help": "cpu, cuda, or auto."})
    seed: int = field(default=0, metadata={"help": "The same seed gives the same run on a CPU."})

    def check(self) -> None:
        """Raise a UserError where a setting cannot be meant."""
        if self.scorer not in SCORERS:
            raise unknown_name("scorer", self.scorer, SCORERS)
        for name in ("rank", "epochs", "batch_size", "heads", "validation_queries", "checkpoint_every"):
            if getattr(self, name) < 1:
                raise UserError(f"{name} must be at least 1")
        for name in ("regularisation", "label_weight", "seed"):
            if getattr(self, name) < 0:
                raise UserError(f"{name} must not be negative")
        if self.seed >= 2**32:
            raise UserError("seed must be below 2^32")
        if not 0 < self.learning_rate < 10:
            raise UserError("learning_rate must be above 0 and below 10")
        if self.device not in ("auto", "cpu", "cuda"):
            raise UserError(f"device cannot be {self.device!r}: choose auto, cpu, cuda")
