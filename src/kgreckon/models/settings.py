"""Settings of a model: declared once, with type, default, bounds or choices, and a sentence; kept in the run folder."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Annotated, Any, ClassVar, Literal, Self, get_args, get_origin

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from kgreckon.errors import UserError, first_problem, unknown_name

Device = Annotated[
    Literal["auto", "cpu", "cuda"], Field(description="Where to compute; `auto` takes a GPU where there is one.")
]
Seed = Annotated[int, Field(ge=0, lt=2**32, description="The same seed gives the same run on a CPU.")]


class Settings(BaseModel):
    """What a model is made of and how it is trained; every field has a default and a description."""

    model_config = ConfigDict(frozen=True, extra="forbid", protected_namespaces=(), allow_inf_nan=False)

    family: ClassVar[str]  # the name of the family of models that has these settings
    # Settings of older run folders by their name there, and what held before a setting existed.
    renamed: ClassVar[Mapping[str, str]] = {}
    before: ClassVar[Mapping[str, Any]] = {}

    model: str
    device: Device = "auto"
    seed: Seed = 0

    @classmethod
    def choose(cls, values: Mapping[str, Any]) -> Self:
        """The defaults with some settings changed, by name; text is read as the setting's type."""
        for name in values:
            if name not in cls.model_fields:
                raise unknown_name("setting", name, cls.model_fields)
        whole = {name for name, field in cls.model_fields.items() if field.annotation is int}
        try:
            return cls(**{name: _whole(value) if name in whole else value for name, value in values.items()})
        except ValidationError as error:
            raise UserError(first_problem(error)) from None

    @classmethod
    def from_run(cls, values: Mapping[str, Any]) -> Self:
        """The settings that a run folder holds, of this version or an older one."""
        named = {cls.renamed.get(name, name): value for name, value in values.items()}
        return cls.choose({**cls.before, **named})

    @property
    def title(self) -> str:
        """The model as a heading or a server names it."""
        return self.model

    @property
    def paper_row(self) -> tuple[str, str] | None:
        """The row of the paper's tables that such a model reproduces: backbone and number encoding."""
        return None

    def without_effect(self) -> dict[str, str]:
        """The settings that such a model ignores, each with the reason."""
        return {}


def remarks_on(settings: Settings, named: Iterable[str]) -> list[str]:
    """A sentence for each of the named settings that has no effect."""
    ignored = settings.without_effect()
    return [f"{name} has no effect: {ignored[name]}" for name in named if name in ignored]


def parse_assignments(texts: Iterable[str]) -> dict[str, str]:
    """The settings that some `key=value` texts name."""
    values = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not equals:
            raise UserError(f"expected key=value, not {text!r}")
        values[name.strip()] = value.strip()
    return values


def described(settings: type[BaseModel]) -> list[tuple[str, str, str, str]]:
    """Name, default, type or choices, and sentence of each setting, for `--help-settings` and the documentation."""
    rows = []
    for name, field in settings.model_fields.items():
        if field.annotation is None or field.description is None:
            raise TypeError(f"the setting {name} of {settings.__name__} needs a type and a description")
        rows.append((name, _written(field.default), _kind(field.annotation), field.description))
    return rows


def _written(default: object) -> str:
    return str(default).lower() if isinstance(default, bool) else str(default)


def _kind(annotation: Any) -> str:
    if get_origin(annotation) is Literal:
        return ", ".join(map(str, get_args(annotation)))
    return str(annotation.__name__)


def _whole(value: Any) -> Any:
    """A whole number that text writes as `2e3` or `2000.0`; anything else as it is."""
    if not isinstance(value, str):
        return value
    try:
        number = float(value)
    except ValueError:
        return value
    return int(number) if number.is_integer() else value
