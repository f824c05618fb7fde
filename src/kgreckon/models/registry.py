"""The registry of model families: a new model is one folder with a family, and one registration."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Any, ClassVar, Generic, TypeVar

from kgreckon.benchmark import Benchmark, Split
from kgreckon.errors import UserError, unknown_name
from kgreckon.exact import ComparisonMode
from kgreckon.graph import KnowledgeGraph
from kgreckon.models.held_back import HeldBack
from kgreckon.models.interface import TrainedModel, TrainingProgress
from kgreckon.models.run_files import RunFiles
from kgreckon.models.settings import Settings

if TYPE_CHECKING:
    import torch

S = TypeVar("S", bound=Settings)


class ModelFamily(ABC, Generic[S]):
    """How the models of one family are configured, trained, kept and opened."""

    name: str
    settings: type[S]
    presets: ClassVar[Mapping[str, Mapping[str, Any]]] = {}
    together: ClassVar[bool] = False  # whether several processes train such a model as one would

    @property
    def models(self) -> Sequence[str]:
        """The names that `model` may take."""
        return (self.name,)

    @abstractmethod
    def check(self, benchmark: Benchmark, settings: S, device: torch.device) -> None:
        """Raise a UserError where the settings do not fit the benchmark or the device, before anything is written."""

    @abstractmethod
    def train(
        self, files: RunFiles, benchmark: Benchmark, settings: S, device: torch.device, progress: TrainingProgress
    ) -> None:
        """Train to the end, from the beginning or from the last checkpoint in the run folder."""

    @abstractmethod
    def open(
        self,
        files: RunFiles,
        benchmark: Benchmark,
        settings: S,
        device: torch.device,
        known: Split,
        mode: ComparisonMode,
    ) -> TrainedModel:
        """The trained model, for which the facts of the graph of `known` are observed."""

    def learn(
        self,
        files: RunFiles,
        graph: KnowledgeGraph,
        held_back: HeldBack,
        settings: S,
        device: torch.device,
        progress: TrainingProgress,
        trial: RunFiles | None = None,
    ) -> None:
        """Learn from the facts of a graph alone, without queries; what is held back only calibrates.

        A `trial` that learned from a part of the graph gives its calibration, and a start.
        """
        raise self._needs_queries(settings)

    def go_on(
        self,
        before: RunFiles,
        learned_from: KnowledgeGraph,
        files: RunFiles,
        graph: KnowledgeGraph,
        stated_share: float,
        settings: S,
        device: torch.device,
        progress: TrainingProgress,
    ) -> None:
        """Learn from a graph with later changes, beginning with what was learned before them."""
        raise self._needs_queries(settings)

    def open_learned(
        self,
        files: RunFiles,
        learned_from: KnowledgeGraph,
        known: KnowledgeGraph,
        stated_share: float,
        settings: S,
        device: torch.device,
    ) -> TrainedModel:
        """The model that was learned from a graph, for which the facts of another one are observed."""
        raise self._needs_queries(settings)

    def _needs_queries(self, settings: S) -> UserError:
        return UserError(
            f"{settings.model} learns from queries: make a benchmark with kgreckon build, and train on it with "
            "kgreckon train"
        )


# The modules of the families that come with kgreckon; each has a constant FAMILY. They are imported when needed.
_MODULES = {"neural": "kgreckon.models.neural", "reckoner": "kgreckon.models.reckoner"}
_FAMILIES: dict[str, ModelFamily[Any]] = {}
DEFAULT_MODEL = "reckoner"


def register_family(family: ModelFamily[Any]) -> None:
    """Make the models of a family known by name; registering the same class again replaces it, as a notebook does."""
    known = _FAMILIES.get(family.name)
    if family.name in _MODULES or (known is not None and type(known).__qualname__ != type(family).__qualname__):
        raise UserError(f"there is a family of models called {family.name!r} already: choose another name")
    _FAMILIES[family.name] = family


def families() -> dict[str, ModelFamily[Any]]:
    """All families of models by name."""
    return {name: import_module(module).FAMILY for name, module in _MODULES.items()} | _FAMILIES


def family_named(name: str) -> ModelFamily[Any]:
    """The family of that name."""
    known = families()
    if name not in known:
        raise unknown_name("family of models", name, known)
    return known[name]


def family_of(model: str) -> ModelFamily[Any]:
    """The family that a model belongs to."""
    by_model = {name: family for family in families().values() for name in family.models}
    if model not in by_model:
        raise unknown_name("model", model, by_model)
    return by_model[model]


def choose_settings(model: str, preset: str | None = None, **values: Any) -> Settings:
    """The settings of a model: those of a preset, with some changed."""
    family = family_of(model)
    if preset is not None and preset not in family.presets:
        raise unknown_name("preset", preset, family.presets)
    start = {} if preset is None else family.presets[preset]
    return family.settings.choose({**start, **values, "model": model})


def settings_as_json(settings: Settings) -> dict[str, Any]:
    """The settings as a run folder holds them: under the name of the model's family."""
    return {settings.family: settings.model_dump()}


def settings_from_json(data: dict[str, Any]) -> Settings:
    """The settings that a run folder holds; older ones of neural models have two parts, model and training."""
    ((name, values),) = [("neural", data)] if "training" in data else data.items()
    return family_named(name).settings.from_run(values)
