"""Fitting the calibration on facts that were held back: what evidence weighs, so that probabilities are those of facts.

Facts that neither the graph nor the held-back facts state may be true all the same. Of all hidden facts a known share
is held back; a candidate of probability p is therefore a held-back fact with the probability p times that share, and
so the likelihood is written.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import torch
from scipy import optimize, special

from kgreckon.graph import Triples
from kgreckon.models.held_back import HeldBack
from kgreckon.models.reckoner.calibration import FACT_WEIGHTS
from kgreckon.models.reckoner.existence import EXISTENCE_FEATURES, Expectations
from kgreckon.models.reckoner.observed import ragged_ranges
from kgreckon.models.reckoner.predicted import PredictedFacts
from kgreckon.models.scoring import inner_products

_RELATIONS = 60  # whose facts are fitted on
_ROWS = 1200  # heads and relations whose candidates are fitted on
_SCORES = 3 * 10**8  # of the tails of these rows
_LIKELIEST, _OTHERS = 40, 20  # candidates of a row
_LABELS, _ENTITIES = 150, 200  # to fit expectations on
_ATTRIBUTES, _VALUES = 20, 40  # to fit the density of values on
_MOST_OF_MORE = 1.0  # what more rules than the best may weigh: no more than a noisy-or
_PRIOR = 2.0  # the weight of the defaults, beside that of facts
_LEAST_EXPECTED = 1e-3


def fit_calibration(facts: PredictedFacts, held_back: HeldBack, rng: np.random.Generator) -> PredictedFacts:
    """The fact model with weights fitted on held-back facts, which nothing else that is learned sees."""
    weights = fit_existence(facts.expectations, held_back, rng)
    names = (f"existence_{name}" for name in EXISTENCE_FEATURES)
    calibration = replace(facts.calibration, **dict(zip(names, weights, strict=True)))
    facts = facts.recalibrated(calibration)
    if len(held_back.facts):
        found = fit_facts(facts, held_back, rng)
        calibration = replace(calibration, **dict(zip(FACT_WEIGHTS, found, strict=True)))
    if facts.attributes and len(held_back.attribute_facts):
        link, back, regression = fit_values(facts, held_back.attribute_facts, rng)
        calibration = replace(calibration, value_link=link, value_back=back, value_regression=regression)
    return facts.recalibrated(calibration)


def fit_share(
    features: np.ndarray,  # (n, weights)
    held: np.ndarray,  # (n,) whether the candidate is a held-back fact
    counts: np.ndarray,  # (n,) how many candidates each stands for
    of_hidden: float | np.ndarray,  # of the true candidates, the share that is held back
    start: Sequence[float],
    bounds: Sequence[tuple[float | None, float | None]],
) -> tuple[float, ...]:
    """Weights of the log odds of being true, where of the true ones only a share is held back."""
    first, scale = np.array(start), np.maximum(features.std(axis=0), 0.1)
    share = np.broadcast_to(of_hidden, held.shape)

    def loss(weights: np.ndarray) -> tuple[float, np.ndarray]:
        log_odds = features @ weights
        likely = special.expit(log_odds)
        seen = share * likely
        value = -(counts[held] * (np.log(share[held]) + special.log_expit(log_odds[held]))).sum()
        value -= (counts[~held] * np.log1p(-seen[~held].clip(max=1 - 1e-9))).sum()
        slope = counts * np.where(held, -(1 - likely), seen * (1 - likely) / (1 - seen).clip(min=1e-9))
        away = (weights - first) * scale
        return value + _PRIOR * (away**2).sum(), features.T @ slope + 2 * _PRIOR * away * scale

    found = optimize.minimize(loss, first, jac=True, method="L-BFGS-B", bounds=bounds, options={"maxiter": 300})
    return tuple(float(weight) for weight in found.x)


def fit_existence(expectations: Expectations, held_back: HeldBack, rng: np.random.Generator) -> tuple[float, ...]:
    """What the labels of entities weigh, on held-back facts of entities that state none of their label."""
    heads, labels, _ = held_back.facts.both_ways()
    first_attribute = 2 * len(expectations.graph.relations)
    heads = np.concatenate([heads, held_back.attribute_facts.sources])
    labels = np.concatenate([labels, first_attribute + held_back.attribute_facts.labels])
    features, held, counts = [], [], []
    known = np.unique(labels)
    for label in np.sort(rng.permutation(known)[:_LABELS]).tolist():
        having, _ = expectations.owners(label)
        lacking = np.ones(len(expectations.graph.entities), dtype=bool)
        lacking[having] = False
        own = np.zeros(len(lacking), dtype=bool)
        own[heads[labels == label]] = True
        told = expectations.signatures.features(label, having)
        said = told @ np.array(expectations.weights)
        true, false = np.flatnonzero(lacking & own), np.flatnonzero(lacking & ~own)
        order = false[np.argsort(-said[false], kind="stable")]
        likely, rest = order[:_ENTITIES], order[_ENTITIES:]
        some = rng.permutation(rest)[:_ENTITIES]
        chosen = np.concatenate([true, likely, some])
        features.append(told[chosen])
        held.append(np.arange(len(chosen)) < len(true))
        counts.append(np.repeat([1.0, 1.0, len(rest) / max(1, len(some))], [len(true), len(likely), len(some)]))
    if not features:
        return tuple(expectations.weights.tolist())
    free, up = (None, None), (0.0, None)
    bounds = [free, up, up, up, up, up, free]
    told, true, often = np.concatenate(features), np.concatenate(held), np.concatenate(counts)
    return fit_share(told, true, often, held_back.of_hidden, expectations.weights.tolist(), bounds)


def fit_facts(facts: PredictedFacts, held_back: HeldBack, rng: np.random.Generator) -> tuple[float, ...]:
    """What the evidence for a fact weighs."""
    heads, relations, tails, counts = sample_candidates(facts, held_back.facts, rng)
    features, size = [], 1 << 14
    for first in range(0, len(heads), size):
        part = (column[first : first + size] for column in (heads, relations, tails))
        columns = (torch.from_numpy(column).to(facts.observed.device) for column in part)
        features.append(facts.evidence_of(*columns).double().cpu().numpy())
    even = relations % 2 == 0
    ends = np.where(even, heads, tails), relations // 2, np.where(even, tails, heads)
    held = held_back.facts.rows_of(*ends) >= 0
    free, up = (None, None), (0.0, None)
    bounds = [free, (0.05, None), free, free, up, (0.0, _MOST_OF_MORE), (-0.3, None), free]
    return fit_share(np.concatenate(features), held, counts, held_back.of_hidden, facts.calibration.facts, bounds)


def sample_candidates(
    facts: PredictedFacts, held_back: Triples, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Facts that are not observed: heads, relations, tails, and how many facts each stands for.

    Rows of relations that hold facts back, seen from both ends: those that hold some back, others that state some, and
    others that may have some. Of each row the held-back facts, the likeliest others, and some of the rest.
    """
    all_heads, all_relations, all_tails = held_back.both_ways()
    number, of_relation = np.unique(held_back.labels, return_counts=True)
    share = np.minimum(1.0, _RELATIONS * of_relation / of_relation.sum())
    picked = rng.random(len(number)) < share
    picked[of_relation.argmax()] = True
    share[of_relation.argmax()] = 1.0
    rows_in_all = min(_ROWS, max(100, _SCORES // facts.labels.entities))
    parts: list[tuple[np.ndarray, ...]] = []
    for relation, count, likely in zip(number[picked], of_relation[picked], share[picked], strict=True):
        most = max(4, int(rows_in_all / 2 * count / of_relation[picked].sum()))
        for label in (2 * int(relation), 2 * int(relation) + 1):
            own = all_relations == label
            rows, stands_for = _rows(facts, label, all_heads[own], most, rng)
            heads, tails, counts = _candidates(facts, label, rows, all_heads[own], all_tails[own], rng)
            counts = counts * (stands_for / likely / 2)[np.searchsorted(rows, heads)]
            parts.append((heads, np.full(len(heads), label), tails, counts))
    heads, labels, tails, counts = (np.concatenate(column) for column in zip(*parts, strict=True))
    return heads, labels, tails, counts


def _rows(
    facts: PredictedFacts, label: int, held: np.ndarray, most: int, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """Some heads of a label, rising, and how many heads each stands for."""
    expected, stated = facts.expectations.of(label)
    holding = np.unique(held)
    others = np.ones(len(expected), dtype=bool)
    others[holding] = False
    kinds = [holding, np.flatnonzero(others & stated), np.flatnonzero(others & ~stated & (expected > _LEAST_EXPECTED))]
    found, counts = [], []
    for kind, size in zip(kinds, (most, most // 2, most // 2), strict=True):
        if not len(kind):
            continue
        weight = np.maximum(expected[kind], 1e-2) if kind is kinds[2] else np.ones(len(kind))
        share = np.minimum(1.0, max(2, size) * weight / weight.sum())
        chosen = rng.random(len(kind)) < share
        found.append(kind[chosen])
        counts.append(1 / share[chosen])
    rows = np.concatenate(found)
    order = np.argsort(rows)
    return rows[order].astype(np.int64), np.concatenate(counts)[order]


@torch.no_grad()
def _candidates(
    facts: PredictedFacts,
    label: int,
    rows: np.ndarray,
    heads: np.ndarray,
    tails: np.ndarray,
    rng: np.random.Generator,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Some tails of some heads of a label, given its held-back facts: heads, tails, and what each stands for."""
    found: list[tuple[np.ndarray, np.ndarray, np.ndarray]] = []
    scorer, device, size = facts.scorer, facts.observed.device, facts.labels.entities
    for part in np.array_split(rows, max(1, -(-len(rows) * size // (1 << 24)))):
        head = torch.from_numpy(part).to(device)
        relation = torch.full_like(head, label)
        asked = scorer.of_tail(scorer.nodes[head], scorer.labels[relation])
        scores = inner_products(asked, scorer.nodes[:size]).clone()
        row, tail, best, _ = facts.evidence.rows(relation, head)
        scores[row, tail] += best
        row, edge = ragged_ranges(*facts.observed.relations.groups(relation, head))
        scores[row, facts.observed.relations.targets[edge]] = -torch.inf
        scores[torch.arange(len(part)), head] = -torch.inf
        likeliest = scores.topk(min(_LIKELIEST, size), dim=1).indices.cpu().numpy()
        possible = (scores > -torch.inf).cpu().numpy()
        for place, own_head in enumerate(part.tolist()):
            own = np.union1d(likeliest[place], tails[heads == own_head])
            own = own[possible[place, own]]
            rest = int(possible[place].sum()) - len(own)
            others = np.unique(rng.integers(size, size=_OTHERS)) if rest > 0 else own[:0]
            others = np.setdiff1d(others[possible[place, others]], own)
            counts = np.repeat([1.0, rest / max(1, len(others))], [len(own), len(others)])
            found.append((np.full(len(counts), own_head), np.concatenate([own, others]), counts))
    if not found:
        nothing = np.zeros(0, dtype=np.int64)
        return nothing, nothing, np.zeros(0)
    head_, tail_, counts_ = (np.concatenate(column) for column in zip(*found, strict=True))
    return head_, tail_.astype(np.int64), counts_


def fit_values(facts: PredictedFacts, held_back: Triples, rng: np.random.Generator) -> tuple[float, float, float]:
    """What the link predictor in both directions and the regression weigh in the density of held-back values."""
    sums: list[tuple[np.ndarray, np.ndarray]] = []  # log densities of values, and the place of the true one
    attributes = np.sort(rng.permutation(np.unique(held_back.labels))[:_ATTRIBUTES])
    for attribute in attributes.tolist():
        own = np.flatnonzero(held_back.labels == attribute)
        own = np.sort(rng.permutation(own)[:_VALUES])
        entities = torch.from_numpy(held_back.sources[own].astype(np.int64)).to(facts.observed.device)
        parts = [log_density(attribute, entities) for log_density in facts.values.log_densities()]
        densities = torch.stack(parts, dim=2).double().cpu().numpy()
        true = held_back.targets[own] - facts.values.rows(attribute).start
        sums += list(zip(densities, true, strict=True))
    start = np.array([facts.calibration.value_link, facts.calibration.value_back, facts.calibration.value_regression])

    def loss(weights: np.ndarray) -> tuple[float, np.ndarray]:
        value, slope = _PRIOR * ((weights - start) ** 2).sum(), 2 * _PRIOR * (weights - start)
        for densities, true in sums:
            log_odds = densities @ weights
            value -= log_odds[true] - special.logsumexp(log_odds)
            slope = slope - densities[true] + special.softmax(log_odds) @ densities
        return value, slope

    found = optimize.minimize(loss, start, jac=True, method="L-BFGS-B", bounds=[(0.0, 2.0)] * 3)
    link, back, regression = map(float, found.x)
    return link, back, regression
