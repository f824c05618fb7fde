"""Number reasoning, composed into any backbone: the numerical phase of the paper's section 3.2.

A set of numbers is a vector θ. Gated transitions lead into the numerical phase (ap), within it (np) and out of it
(rap), each with parameters of its own; intersection and union are attention and an MLP. Where a set of entities is
particles, a set of numbers is particles too, each a θ, and the best of them counts: one vector has no room for what
several hold.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import partial, reduce

import torch
from torch import Tensor, nn

from kgreckon.models.neural.encodings import RANK_SPAN, dice, random_rotation, ranks, signed_log, sinusoidal
from kgreckon.models.neural.operators import (
    Embedding,
    FeedForward,
    GatedTransition,
    SetOperator,
    Tables,
    start_as_rotations,
)
from kgreckon.models.neural.particles import ParticleIntersection, ParticleTransition
from kgreckon.models.scoring import best_particle_scores, inner_products

_LOG_TWO_PI = math.log(2 * math.pi)
# The log spread of a Gaussian is kept within these bounds, where a coordinate of a value's point is about 1: a density
# without them grows without end around one point.
_NARROWEST, _WIDEST = -0.5, 4.0


@dataclass(frozen=True)
class ScaledValues:
    """The value table as a model sees it: numbers and units by row, the range of each unit in the training graph."""

    numbers: Tensor  # (rows,) float32, on the scale that is encoded
    units: Tensor  # (rows,) int64
    low: Tensor  # (units,) float32
    high: Tensor  # (units,) float32

    @staticmethod
    def from_table(
        numbers: Tensor, units: Tensor, num_units: int, in_training: Tensor, scale: str = "log"
    ) -> ScaledValues:
        """Scale a table's numbers; rows that the training graph holds give each unit its range.

        The paper's scale is a signed logarithm. On it years lie so close that their encodings are all but the same; by
        rank, those of a unit are spread evenly, in the order of the training graph's values.
        """
        if scale == "rank":
            scaled = numbers.double().clone()
            for unit in range(num_units):
                known = numbers[(units == unit) & in_training].double().sort().values
                scaled[units == unit] = ranks(scaled[units == unit], known) * RANK_SPAN
        else:
            scaled = signed_log(numbers.double())
        low = torch.full((num_units,), math.inf, dtype=torch.float64)
        high = torch.full((num_units,), -math.inf, dtype=torch.float64)
        low.scatter_reduce_(0, units[in_training], scaled[in_training], "amin")
        high.scatter_reduce_(0, units[in_training], scaled[in_training], "amax")
        unseen = low > high
        low, high = low.masked_fill(unseen, 0.0), high.masked_fill(unseen, 1.0)
        return ScaledValues(scaled.float(), units.long(), low.float(), high.float())


def gaussian_log_density(points: Tensor, mean: Tensor, log_spread: Tensor) -> Tensor:  # (..., d) each -> (...)
    """The log density of a Gaussian with independent coordinates."""
    standard = (points - mean) * torch.exp(-log_spread)
    return -0.5 * (standard.square() + _LOG_TWO_PI).sum(-1) - log_spread.sum(-1)


class NumberReasoning(nn.Module):
    """Everything that happens between an entity's set and numbers."""

    encoded: Tensor  # (values, d)
    units: Tensor  # (values,)

    def __init__(
        self,
        values: ScaledValues,
        encoding: str,
        flat_dimension: int,
        dimension: int,
        num_attributes: int,
        num_comparisons: int,
        dropout: float,
        step_dropout: float,  # of particles
        value_loss: str,
        learn_values: bool,
        type_prior: bool,
        particles: int,  # of a set, or 0 where a set is one vector
        generator: torch.Generator,
        tables: Tables,
    ) -> None:
        super().__init__()
        self.value_loss, self.type_prior, self.processes = value_loss, type_prior, tables.processes
        num_units = len(values.low)
        # A Gaussian has a mean and a spread; the softmax form of the released code needs one vector.
        self.dimension = 2 * dimension if value_loss == "map" else dimension
        if encoding == "dice":
            rotation = random_rotation(dimension, generator)
            low, high = values.low[values.units], values.high[values.units]
            encoded = dice(values.numbers.double(), low.double(), high.double(), rotation.double()).float()
        else:
            encoded = sinusoidal(values.numbers.double(), dimension).float() * (2 / dimension) ** 0.5  # unit length
        self.register_buffer("encoded", encoded)  # kept with the weights: they mean nothing beside another rotation
        self.register_buffer("units", values.units, persistent=False)
        self.unit_embeddings = Embedding(num_units, dimension, generator)
        # A density that learns its points too would draw them all to one place, where every value is likely: then what
        # is learned of a value counts only where a query names it.
        self.unit_embeddings.weight.requires_grad_(value_loss != "map")
        self.learned = tables.new(len(encoded), dimension, generator) if learn_values else None
        self.attributes_in = Embedding(num_attributes, self.dimension, generator)
        self.attributes_out = Embedding(num_attributes, self.dimension, generator)
        self.comparisons = Embedding(num_comparisons, self.dimension, generator)
        transition = partial(ParticleTransition, dropout=step_dropout) if particles else GatedTransition
        self.into = transition(flat_dimension, self.dimension, self.dimension)  # ap
        self.within = transition(self.dimension, self.dimension, self.dimension)  # np
        self.out = transition(self.dimension, self.dimension, flat_dimension)  # rap
        self.negation = FeedForward(self.dimension, dropout)
        self.offsets = Embedding(particles, self.dimension, generator) if particles else None
        if particles:
            self.intersection: nn.Module = ParticleIntersection(particles, self.dimension, dropout)
        else:
            self.intersection, self.union = (SetOperator(self.dimension, dropout) for _ in range(2))
            start_as_rotations(self, generator)  # particles have norms instead
        if value_loss == "map":
            # Points and vectors have about unit length; where a Gaussian is made of them, coordinates are about 1.
            self.point_scale = dimension**0.5
            self.theta_scale = 1.0 if particles else self.dimension**0.5  # particles have a norm that does it
            self.anchor_spread = nn.Parameter(torch.full((dimension,), -(self.dimension**-0.5)))
            if type_prior:
                self.prior_mean = Embedding(num_units, self.dimension, generator)
                self.prior_spread = nn.Parameter(torch.zeros(num_units, self.dimension))

    def value_points(self, rows: Tensor | slice = slice(None)) -> Tensor:  # (n,) -> (n, d)
        """ψ(v), with the vector of its type and, in the softmax form, what was learned of the value itself."""
        points = self.encoded[rows] + self.unit_embeddings(self.units[rows])
        return points if self.learned is None or self.value_loss == "map" else points + self.learned.at(rows)

    def number(self, rows: Tensor) -> Tensor:  # (b,) -> θ: (b, k), or (b, n, k) of particles
        """θ of a known number: a Gaussian around its point; particles, by learned offsets."""
        theta = self.value_points(rows)
        if self.value_loss == "map":
            theta = theta if self.learned is None else theta + self.learned(rows)
            theta = torch.cat([theta, self.anchor_spread.expand(len(theta), -1)], dim=1)
        return theta if self.offsets is None else theta[:, None] + self.offsets.weight

    def value_of(self, attributes: Tensor, flat: Tensor) -> Tensor:  # (b,), (b, f) or (b, n, f) -> θ
        """Attribute projection: into the numerical phase."""
        return self.into(flat, self.attributes_in(attributes))

    def having_value(self, attributes: Tensor, theta: Tensor) -> Tensor:  # (b,), θ -> (b, f) or (b, n, f)
        """Reverse attribute projection: back to entities."""
        return self.out(theta, self.attributes_out(attributes))

    def compare(self, comparisons: Tensor, theta: Tensor) -> Tensor:  # (b,), θ -> θ
        """Numerical projection."""
        return self.within(theta, self.comparisons(comparisons))

    def intersect(self, parts: list[Tensor]) -> Tensor:  # θ each -> θ
        """What all sets of numbers share."""
        return self.intersection(parts if self.offsets is not None else torch.stack(parts, dim=1))

    def unite(self, parts: list[Tensor]) -> Tensor:  # θ each -> θ
        """What any set of numbers holds: all particles together, or one vector for the set of vectors."""
        return torch.cat(parts, dim=1) if self.offsets is not None else self.union(torch.stack(parts, dim=1))

    def complement(self, of: Tensor) -> Tensor:  # θ -> θ
        """What a set of numbers does not hold."""
        return self.negation(of)

    # ------------------------------------------------------------------------------------------ densities and loss

    def log_density(self, theta: Tensor, rows: Tensor) -> Tensor:  # θ, (b, m) -> (b, m)
        """The log density log p_θ(ψ(v)) of some values each, plus the log prior of θ for the value's type."""
        points, units = self.value_points(rows.flatten()).view(*rows.shape, -1) * self.point_scale, self.units[rows]
        densities = []
        for one in self._particles(theta):
            mean, spread = self._gaussian(one)
            density = gaussian_log_density(points, mean[:, None], spread[:, None])
            densities.append(density + self._log_prior(one).gather(1, units))
        return torch.stack(densities).amax(dim=0)

    def scores(self, theta: Tensor, rows: Tensor | slice = slice(None)) -> Tensor:  # θ -> (b, rows)
        """How likely each of some values is: the log posterior but for a constant of the query, or inner products."""
        points = self.value_points(rows)
        if self.value_loss != "map":
            return inner_products(theta, points) if self.offsets is None else best_particle_scores(theta, points)
        points = points.double() * self.point_scale
        posteriors = (self._log_posterior(one, points, self.units[rows]) for one in self._particles(theta))
        best = reduce(torch.maximum, posteriors)
        nothing = best.new_full((len(best), 1), -torch.inf)  # where a process has no values
        highest = self.processes.max_(torch.cat([best, nothing], dim=1).amax(dim=1, keepdim=True))
        return (best - highest).float()

    def _log_posterior(self, theta: Tensor, points: Tensor, units: Tensor) -> Tensor:  # (b, k), (m, d), (m,) -> (b, m)
        mean, spread = (each.double() for each in self._gaussian(theta))
        precision = torch.exp(-2 * spread)
        # The square of a standardised difference, multiplied out so that it takes two matrix products; in double
        # precision, for neighbouring values differ by little beside the terms.
        square = precision @ points.square().T - 2 * (precision * mean) @ points.T
        rest = (precision * mean.square()).sum(1, keepdim=True) + 2 * spread.sum(1, keepdim=True)
        density = -0.5 * (square + rest + mean.shape[1] * _LOG_TWO_PI)
        return density + self._log_prior(theta)[:, units]

    def _particles(self, theta: Tensor) -> tuple[Tensor, ...]:  # θ -> (b, k) each
        return (theta,) if self.offsets is None else theta.unbind(dim=1)

    def map_loss(self, theta: Tensor, rows: Tensor) -> Tensor:  # θ, (b, m) -> (b, m)
        """-log p_θ(ψ(v)) - log φ_t(θ), a coordinate's share of it (equation 14)."""
        return -self.log_density(theta, rows) / self.encoded.shape[1]

    def _gaussian(self, theta: Tensor) -> tuple[Tensor, Tensor]:
        mean, spread = (theta * self.theta_scale).chunk(2, dim=1)
        return mean, spread.clamp(_NARROWEST, _WIDEST)

    def _log_prior(self, theta: Tensor) -> Tensor:  # (b, k) -> (b, units)
        """The log prior log φ_t(θ) for every type t."""
        if not self.type_prior:
            return theta.new_zeros(len(theta), len(self.unit_embeddings.weight))
        mean = self.prior_mean.weight * self.dimension**0.5
        spread = self.prior_spread.clamp(_NARROWEST, _WIDEST)
        return gaussian_log_density(theta[:, None] * self.theta_scale, mean[None], spread[None])
