"""Settings of a run: every one has a default and a sentence, and lives in the run folder; unknown ones are errors."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass, field, fields
from typing import Any

from kgreckon.errors import UserError, unknown_name
from kgreckon.models import BACKBONES, ModelSettings
from kgreckon.reckoner.settings import ReckonerSettings


@dataclass(frozen=True)
class TrainingSettings:
    """How a model is trained."""

    batch_size: int = field(default=1024, metadata={"help": "Queries in a step, all of one specific type."})
    answers: int = field(default=16, metadata={"help": "Answers of each query in a step, drawn at random."})
    negatives: int = field(
        default=0,
        metadata={"help": "Random candidates beside the batch's answers, labels not smoothed; 0 for all there are."},
    )
    value_weight: float = field(
        default=1.0, metadata={"help": "The weight of the loss on queries for values; on queries for entities: 1."}
    )
    steps: int = field(default=12_000, metadata={"help": "Training steps."})
    learning_rate: float = field(default=0.004, metadata={"help": "Adam's learning rate."})
    operator_rate: float = field(
        default=0.25, metadata={"help": "The learning rate of operators, as a share of that of embeddings."}
    )
    decay: float = field(
        default=1.0, metadata={"help": "Share of the steps at the end over which the rate falls to 0."}
    )
    validate_every: int = field(default=4_000, metadata={"help": "Steps between validations; 0 for only at the end."})
    validation_queries: int = field(default=500, metadata={"help": "Validation queries of each type; 0 for all."})
    checkpoint_every: int = field(default=1_000, metadata={"help": "Steps between checkpoints."})
    report_every: int = field(default=50, metadata={"help": "Steps between lines of metrics."})
    precision: str = field(default="auto", metadata={"help": "float32, tf32, bf16, or auto: tf32 on a GPU."})
    device: str = field(default="auto", metadata={"help": "cpu, cuda, or auto."})
    seed: int = field(default=0, metadata={"help": "The same seed gives the same run on a CPU."})

    def rate_at(self, step: int) -> float:
        """The learning rate of a step: constant, then falling to nothing over the last share of the steps."""
        left = (self.steps - step) / (self.decay * self.steps) if self.decay else 1.0
        return self.learning_rate * min(1.0, left)

    def check(self) -> None:
        """Raise a UserError where a setting cannot be meant."""
        for name in ("batch_size", "answers", "steps", "checkpoint_every", "report_every"):
            if getattr(self, name) < 1:
                raise UserError(f"{name} must be at least 1")
        for name in ("negatives", "validate_every", "validation_queries", "seed"):
            if getattr(self, name) < 0:
                raise UserError(f"{name} must not be negative")
        if self.seed >= 2**32:
            raise UserError("seed must be below 2^32")
        if not 0 < self.learning_rate < 10:
            raise UserError("learning_rate must be above 0 and below 10")
        for name in ("operator_rate", "value_weight"):
            if not 0 < getattr(self, name) <= 10:
                raise UserError(f"{name} must be above 0 and at most 10")
        if not 0 <= self.decay <= 1:
            raise UserError("decay must be between 0 and 1")
        for name, choices in (("precision", ("auto", "float32", "tf32", "bf16")), ("device", ("auto", "cpu", "cuda"))):
            if getattr(self, name) not in choices:
                raise UserError(f"{name} cannot be {getattr(self, name)!r}: choose {', '.join(choices)}")


# What was so before it was a setting, where that is not the default.
_BEFORE = {"answers": 1, "number_dropout": 0.0}


@dataclass(frozen=True)
class RunSettings:
    """All settings of a run."""

    model: ModelSettings = field(default_factory=ModelSettings)
    training: TrainingSettings = field(default_factory=TrainingSettings)

    def check(self) -> None:
        """Raise a UserError where a setting cannot be meant."""
        self.model.check()
        self.training.check()

    def as_json(self) -> dict[str, dict[str, Any]]:
        """The settings as the run folder holds them."""
        return {"model": asdict(self.model), "training": asdict(self.training)}

    @staticmethod
    def from_json(data: dict[str, Any]) -> RunSettings:
        """The settings that a run folder holds."""
        settings = RunSettings._of({**_BEFORE, **data.get("model", {}), **data.get("training", {})})
        settings.model.check_values()  # its backbone may be known to another program only
        settings.training.check()
        return settings

    @staticmethod
    def choose(values: dict[str, Any]) -> RunSettings:
        """The defaults with some settings changed, by name; text is read as the setting's type."""
        settings = RunSettings._of(values)
        settings.check()
        return settings

    @staticmethod
    def _of(values: dict[str, Any]) -> RunSettings:
        typed = _all_typed(values, ModelSettings, TrainingSettings)
        of_model = {each.name for each in fields(ModelSettings)}
        return RunSettings(
            ModelSettings(**{name: value for name, value in typed.items() if name in of_model}),
            TrainingSettings(**{name: value for name, value in typed.items() if name not in of_model}),
        )


Settings = RunSettings | ReckonerSettings


def choose_settings(values: dict[str, Any]) -> Settings:
    """The settings of the model that is named, or of the default one, with some changed."""
    if values.get("model", ModelSettings.model) not in (*BACKBONES, "reckoner"):
        raise unknown_name("model", str(values["model"]), (*BACKBONES, "reckoner"))
    if values.get("model") != "reckoner":
        return RunSettings.choose(values)
    settings = ReckonerSettings(**_all_typed(values, ReckonerSettings))
    settings.check()
    return settings


def without_effect(settings: Settings, named: Iterable[str]) -> list[str]:
    """A sentence for each of the named settings that the model or its training does not look at."""
    idle: dict[str, str] = {}
    if isinstance(settings, RunSettings):
        idle |= settings.model.without_effect()
        if settings.training.negatives:
            idle |= dict.fromkeys(("entity_smoothing", "value_smoothing"), "with negatives no labels are smoothed")
    return [f"{name} has no effect: {idle[name]}" for name in named if name in idle]


def settings_as_json(settings: Settings) -> dict[str, Any]:
    """The settings as the run folder holds them."""
    return settings.as_json() if isinstance(settings, RunSettings) else {"reckoner": asdict(settings)}


def settings_from_json(data: dict[str, Any]) -> Settings:
    """The settings that a run folder holds."""
    return choose_settings(data["reckoner"]) if "reckoner" in data else RunSettings.from_json(data)


def _all_typed(values: dict[str, Any], *kinds: Any) -> dict[str, Any]:
    known = {each.name: each for kind in kinds for each in fields(kind)}
    for name in values:
        if name not in known:
            raise unknown_name("setting", name, known)
    return {name: _typed(name, value, known[name].type) for name, value in values.items()}


# The settings of the released implementation, with its number of steps.
PAPER: dict[str, Any] = {
    "number_scale": "log",
    "dimension": 300,
    "dropout": 0.3,
    "number_dropout": 0.0,
    "batch_size": 1024,
    "answers": 1,
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
PRESETS = {"paper": PAPER, "small": SMALL}
RECKONER_PRESETS: dict[str, dict[str, Any]] = {
    "small": {"rank": 64, "epochs": 4, "heads": 64, "calibrate": False, "validation_queries": 20},
}


def preset_settings(name: str | None, model: str | None) -> dict[str, Any]:
    """The settings that a preset starts from."""
    presets = RECKONER_PRESETS if model == "reckoner" else PRESETS
    if name is not None and name not in presets:
        raise UserError(f"unknown preset {name!r}: choose {', '.join(presets)}")
    return {} if name is None else presets[name]


def parse_assignments(texts: Iterable[str]) -> dict[str, str]:
    """The settings that some `key=value` texts name."""
    values = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not equals:
            raise UserError(f"expected key=value, not {text!r}")
        values[name.strip()] = value.strip()
    return values


def _typed(name: str, value: Any, kind: Any) -> Any:
    """A value as the type that the setting is declared with."""
    try:
        if kind == "bool":
            if isinstance(value, bool):
                return value
            return {"true": True, "false": False, "1": True, "0": False}[str(value).lower()]
        if kind == "int":
            number = float(value)
            if not number.is_integer() or isinstance(value, bool):
                raise ValueError
            return int(number)
        if kind == "float":
            return float(value)
    except (ValueError, KeyError, TypeError, OverflowError):
        raise UserError(f"{name} must be a {kind}, not {value!r}") from None
    return str(value)
