"""Settings of the reckoner."""

from __future__ import annotations

from typing import Any, ClassVar, Literal

from pydantic import Field

from kgreckon.models.settings import Settings

_MANY = {"cpu": 8_192, "cuda": 262_144}  # tails, from which on a softmax is sampled


class ReckonerSettings(Settings):
    """How a reckoner is trained and how it answers."""

    family: ClassVar[str] = "reckoner"

    model: Literal["reckoner"] = Field("reckoner", description="The model's name.")
    scorer: Literal["complex"] = Field("complex", description="The link predictor.")
    rank: int = Field(1000, ge=1, description="The rank of the link predictor.")
    epochs: int = Field(30, ge=1, description="Passes over all facts of the training graph.")
    batch_size: int = Field(1000, ge=1, description="Facts in a step.")
    learning_rate: float = Field(0.1, gt=0, lt=10, description="Adagrad's learning rate.")
    regularisation: float = Field(0.05, ge=0, description="The weight of the nuclear 3-norm.")
    label_weight: float = Field(0.05, ge=0, description="The weight of predicting the relation between two entities.")
    softmax: Literal["auto", "full", "sampled"] = Field(
        "auto", description="Over all tails or a sample of them; `auto` samples where a device has many to go through."
    )
    negatives: int = Field(1024, ge=1, description="Tails drawn for a batch where the softmax is sampled.")
    rules: bool = Field(True, description="Use rules of one and two steps beside the link predictor.")
    heads: int = Field(256, ge=1, description="How many of the most likely heads a predicted fact may start from.")
    calibrate: bool = Field(True, description="Fit what evidence weighs on held-back facts, or take the defaults.")
    validation_queries: int = Field(500, ge=1, description="Validation queries of each type to validate on.")
    checkpoint_every: int = Field(5, ge=1, description="Epochs between checkpoints.")

    def sampled_tails(self, tails: int, device: str) -> int:
        """How many tails a softmax over so many is sampled by; 0 where it runs over all."""
        many = self.softmax == "sampled" or (self.softmax == "auto" and tails > _MANY[device])
        return self.negatives if many else 0


# Small enough for a CPU and a graph of some ten thousand entities.
SMALL: dict[str, Any] = {"rank": 64, "epochs": 4, "heads": 64, "validation_queries": 20}
