"""Influences: which known facts moved an estimate, and by how much: what it would be without each of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from kgreckon.models.interface import Formula, FormulaSource, Influence
from kgreckon.models.reckoner.attributes import AttributeModel
from kgreckon.models.reckoner.numbers.cases import Cases
from kgreckon.models.reckoner.numbers.identities import Form, Identity

_FORMS: dict[Form, Literal["alone", "sum", "difference", "product", "ratio"]] = {
    Form.ALONE: "alone",
    Form.SUM: "sum",
    Form.DIFFERENCE: "difference",
    Form.PRODUCT: "product",
    Form.RATIO: "ratio",
}
_MOST = 6  # influences that are reported
_SPLIT = 3  # relations whose facts are also left out one by one
_ONE_BY_ONE = 24  # facts of a relation, beyond which they are not
_NAMED = 3  # facts of a relation that are named
_LEAST = 0.02  # of the interval's width that an influence must move the estimate by


@dataclass(frozen=True)
class _Group:
    """Facts that are left out together."""

    own: bool  # numbers of the entity, or its links
    label: int  # attribute, or relation in either direction
    places: np.ndarray


def influences(model: AttributeModel, entity: int, width: float) -> tuple[Influence, ...]:
    """What moved the estimate most, the strongest first; what hardly moves it is left out."""
    cases = Cases.of(model.known, np.array([entity]))
    groups = _groups(model, cases)
    effects = _effects(model, cases, groups)
    order = np.argsort(-np.abs(effects), kind="stable")
    found, split = [], 0
    for place in order[:_MOST].tolist():
        group, effect = groups[place], float(effects[place])
        if not abs(effect) > _LEAST * width:
            break
        if group.own:
            rows = cases.own_rows[group.places]
            found.append(Influence(effect, attribute=group.label, number=float(model.known.numbers[rows[0]])))
            continue
        links = group.places
        if split < _SPLIT and 1 < len(links) <= _ONE_BY_ONE:
            split += 1
            alone = _effects(model, cases, [_Group(False, group.label, links[k : k + 1]) for k in range(len(links))])
            links = links[np.argsort(-np.abs(alone), kind="stable")]
        others = tuple(cases.link_others[links[:_NAMED]].tolist())
        found.append(Influence(effect, relation=group.label, entities=others, facts=len(links)))
    return tuple(found)


def formula_of(model: AttributeModel, entity: int) -> Formula | None:
    """The line that made the estimate, where one did."""
    maker = int(model.numbers(np.array([entity])).estimates.makers[0])
    if maker == 0:
        return None
    identity = model.learned.experts[maker - 1].identity
    return _formula(identity, model)


def _formula(identity: Identity, model: AttributeModel) -> Formula:
    keys = model.setting.keys
    sources = []
    for key in (identity.first, identity.second)[: 1 if identity.first == identity.second else 2]:
        relation, attribute = divmod(key, keys.attributes)
        sources.append(FormulaSource(attribute, None if relation == keys.labels else relation))
    slope, offset = float(identity.slopes[-1]), float(identity.offsets[-1])
    return Formula(_FORMS[identity.form], tuple(sources), slope, offset, identity.logarithmic)


def _groups(model: AttributeModel, cases: Cases) -> list[_Group]:
    groups = []
    attributes = model.known.attributes[cases.own_rows]
    for attribute in np.unique(attributes):
        if attribute != model.attribute:
            groups.append(_Group(True, int(attribute), np.flatnonzero(attributes == attribute)))
    for label in np.unique(cases.link_labels):
        groups.append(_Group(False, int(label), np.flatnonzero(cases.link_labels == label)))
    return groups


def _effects(model: AttributeModel, cases: Cases, groups: list[_Group]) -> np.ndarray:  # (groups,)
    """The estimate less what it would be without each group."""
    links = [group.places for group in groups if not group.own]
    own = [group.places for group in groups if group.own]
    nothing = np.zeros(0, dtype=np.int64)
    estimates = model.of_cases(cases.without_each([nothing, *links], own)).quantile(0.5)
    found, next_link, next_own = np.zeros(len(groups)), 1, 1 + len(links)
    for place, group in enumerate(groups):
        row = next_own if group.own else next_link
        found[place] = estimates[0] - estimates[row]
        next_own, next_link = next_own + group.own, next_link + (not group.own)
    return found
