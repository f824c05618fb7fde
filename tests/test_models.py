"""Models: shapes and laws of every operator, encodings against their formulas, densities against torch's."""

import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import nn
from torch.distributions import Independent, Normal

from kgreckon.errors import UserError
from kgreckon.models.neural import BACKBONES, ENCODINGS, NeuralSettings, QueryModel, ScaledValues, Sizes
from kgreckon.models.neural.encodings import dice, random_rotation, ranks, signed_log, sinusoidal
from kgreckon.models.neural.number_reasoning import NumberReasoning, gaussian_log_density
from kgreckon.models.neural.operators import Embedding, FeedForward, start_as_rotations
from kgreckon.models.scoring import best_particle_scores
from kgreckon.query import GENERAL_TYPES, Batch, Operator, Shape, specific_shapes

SIZES = Sizes(entities=11, relations=6, attributes=3, values=9)
CUSTOM = [
    Shape.parse(text)
    for text in (
        "(rp,(rp,(rp,(e))))",
        "(i,(rp,(e)),(n,(rap,(nv))))",
        "(n,(ap,(n,(rp,(e)))))",
        "(rp,(i,(u,(rp,(e)),(rap,(nv))),(rp,(e))))",
        "(i,(ap,(e)),(n,(np,(nv))))",
    )
]
SHAPES = [shape for general in GENERAL_TYPES.values() for shape in specific_shapes(general)] + CUSTOM
LIMITS = {
    Operator.ENTITY: SIZES.entities,
    Operator.NUMBER: SIZES.values,
    Operator.FOLLOW: SIZES.relations,
    Operator.VALUE_OF: SIZES.attributes,
    Operator.HAVING_VALUE: SIZES.attributes,
    Operator.COMPARE: 7,
}

# The settings that are not the model's own: what a step draws, how weights change, and what surrounds a training.
OF_TRAINING = {
    "batch_size", "answers", "softmax", "negatives", "value_weight", "steps", "learning_rate", "operator_rate", "decay",
    "validate_every", "validation_queries", "checkpoint_every", "report_every", "precision", "device", "seed",
}  # fmt: skip


def values(scale: str = "log") -> ScaledValues:
    numbers = torch.tensor([-5.0, 0.0, 0.5, 2.0, 100.0, 1.0, 10.0, 1e6, 2e6], dtype=torch.float64)
    units = torch.tensor([0, 0, 0, 0, 0, 1, 1, 1, 1])
    return ScaledValues.from_table(numbers, units, 2, torch.ones(9, dtype=torch.bool), scale)


def model(backbone="gqe", encoding="sinusoidal", **settings) -> QueryModel:
    few = {"model": backbone, "encoding": encoding, "dimension": 12, "particles": 3}
    chosen = NeuralSettings.choose({**few, **settings})
    return QueryModel(chosen, SIZES, values(chosen.number_scale), torch.Generator().manual_seed(0))


def number_reasoning(of: QueryModel) -> NumberReasoning:
    assert of.number_reasoning is not None
    return of.number_reasoning


def nodes_of(asked: QueryModel) -> torch.Tensor:
    nodes = asked.backbone.nodes
    assert isinstance(nodes, Embedding)
    return nodes.weight


def batch(shape: Shape, count: int = 5, seed: int = 0) -> Batch[torch.Tensor]:
    generator = torch.Generator().manual_seed(seed)
    columns = [torch.randint(LIMITS[operator], (count,), generator=generator) for operator in shape.columns]
    return Batch(shape, torch.stack(columns, dim=1))


every_model = pytest.mark.parametrize("backbone", sorted(BACKBONES))
every_encoding = pytest.mark.parametrize("encoding", ENCODINGS)


def test_the_three_backbones_are_registered():
    assert set(BACKBONES) == {"gqe", "query2box", "query2particles"}


@every_model
@every_encoding
def test_every_shape_runs_and_a_batch_of_one_equals_its_row(backbone, encoding):
    asked = model(backbone, encoding).eval()
    for shape in SHAPES:
        together = batch(shape)
        scores = asked.scores(asked.encode(together), shape.denotes_numbers)
        assert scores.shape == (5, SIZES.values if shape.denotes_numbers else SIZES.entities)
        assert scores.isfinite().all()
        alone = asked.scores(asked.encode(together[2:3]), shape.denotes_numbers)
        assert torch.allclose(alone[0], scores[2], atol=1e-4), shape


@every_model
@every_encoding
def test_intersection_and_union_do_not_depend_on_order(backbone, encoding):
    asked = model(backbone, encoding).eval()
    for denotes_numbers in (False, True):
        anchor = asked.number if denotes_numbers else asked.entity
        parts = [anchor(torch.tensor([one, 1, 2])) for one in (3, 4, 5)]
        for join in (asked.intersect, asked.unite):
            forwards = asked.scores(join(parts, denotes_numbers), denotes_numbers)
            backwards = asked.scores(join(parts[::-1], denotes_numbers), denotes_numbers)
            assert torch.allclose(forwards, backwards, atol=1e-4)


@every_model
@every_encoding
@pytest.mark.parametrize("value_loss", ["map", "softmax"])
def test_gradients_reach_every_parameter(backbone, encoding, value_loss):
    trained = model(backbone, encoding, value_loss=value_loss)
    losses = [
        trained.loss(batch(shape, 32, seed), torch.randint(9, (32, 2), generator=torch.Generator().manual_seed(seed)))
        for seed, shape in enumerate(SHAPES)
    ]
    torch.stack(losses).sum().backward()
    learned = {name: weight for name, weight in trained.named_parameters() if weight.requires_grad}
    assert not [name for name, weight in learned.items() if weight.grad is None or not weight.grad.any()]


@every_model
@every_encoding
@pytest.mark.parametrize("value_loss", ["map", "softmax"])
def test_the_settings_without_effect_are_just_those_that_change_no_loss(backbone, encoding, value_loss):
    other = {
        "number_scale": "rank", "dimension": 8, "particles": 2, "dropout": 0.5, "number_dropout": 0.5,
        "box_score": "l1", "value_loss": "softmax" if value_loss == "map" else "map", "learn_values": False,
        "type_prior": False, "entity_smoothing": 0.5, "value_smoothing": 0.5,
    }  # fmt: skip
    shapes = [Shape.parse(text) for text in ("(i,(rp,(e)),(rap,(np,(nv))))", "(i,(ap,(e)),(np,(nv)))")]

    def losses(**changes):
        torch.manual_seed(0)
        asked = model(backbone, encoding, **{"value_loss": value_loss, **changes})
        return [asked.loss(batch(shape, 32), torch.arange(32)[:, None] % 9).item() for shape in shapes]

    usual = losses()
    without = {name for name, value in other.items() if losses(**{name: value}) == usual}
    told = model(backbone, encoding, value_loss=value_loss).settings.without_effect()
    assert without == set(told)
    assert {*other, "model", "encoding", *OF_TRAINING} == set(NeuralSettings.model_fields)


@every_model
def test_the_loss_is_that_of_a_smoothed_softmax(backbone):
    trained = model(backbone, entity_smoothing=0.2).eval()
    queries, positives = batch(Shape.parse("(rp,(e))")), torch.tensor([[1, 1], [2, 3], [3, 4], [4, 5], [5, 0]])
    scores = trained.scores(trained.encode(queries), False)
    target = torch.full_like(scores, 0.2 / SIZES.entities)
    target.scatter_add_(1, positives, torch.full((5, 2), 0.4))
    expected = -(target * scores.log_softmax(dim=1)).sum(dim=1).mean()
    loss = trained.loss(queries, positives)
    assert torch.allclose(loss, expected, atol=1e-5)
    weights = list(trained.backbone.parameters())
    for ours, theirs in zip(
        *(torch.autograd.grad(each, weights, allow_unused=True) for each in (loss, expected)), strict=True
    ):
        assert (ours is None and theirs is None) or torch.allclose(ours, theirs, atol=1e-5)


@every_model
def test_with_random_negatives_an_answer_stands_against_all_but_the_querys_own(backbone):
    trained = model(backbone, softmax="batch").eval()
    queries, positives = batch(Shape.parse("(rp,(e))"), 2), torch.tensor([[1, 2], [2, 3]])
    scores = trained.scores(trained.encode(queries), False)
    torch.manual_seed(0)
    random = torch.randint(SIZES.entities, (3,))
    torch.manual_seed(0)
    loss = trained.loss(queries, positives, negatives=3)
    expected = []
    for row, own in zip(scores, positives.tolist(), strict=True):
        others = [each for each in [1, 2, 2, 3, *random.tolist()] if each not in own]
        expected += [-row[[answer, *others]].log_softmax(dim=0)[0] for answer in own]
    assert torch.allclose(loss, torch.stack(expected).mean(), atol=1e-5)


def alike(backbone, **settings) -> QueryModel:
    """A model whose layers too draw the same first weights each time."""
    torch.manual_seed(0)
    return model(backbone, **settings).eval()


@every_model
def test_with_every_candidate_drawn_once_a_sampled_softmax_is_the_full_one(backbone, monkeypatch):
    queries, positives = batch(Shape.parse("(rp,(e))"), 2), torch.tensor([[1, 2], [3, 3]])
    full, sampled = (alike(backbone, softmax=kind, entity_smoothing=0.0) for kind in ("full", "sampled"))
    monkeypatch.setattr(torch, "randint", lambda count, size, **_: torch.arange(count))
    expected, loss = full.loss(queries, positives), sampled.loss(queries, positives, SIZES.entities)
    assert torch.allclose(loss, expected, atol=1e-5)


@every_model
def test_a_sampled_softmax_stands_for_the_full_one(backbone):
    """The sum over candidates that it estimates is right in the mean over draws."""
    queries, positives = batch(Shape.parse("(rp,(e))"), 2), torch.tensor([[1, 2], [3, 3]])
    full, sampled = (alike(backbone, softmax=kind, entity_smoothing=0.0) for kind in ("full", "sampled"))
    torch.manual_seed(0)
    with torch.no_grad():
        losses = torch.stack([sampled.loss(queries, positives, 6) for _ in range(400)])
        assert losses.mean().item() == pytest.approx(full.loss(queries, positives).item(), abs=0.1)
        assert losses.std() > 0.01


class TestQuery2Box:
    def test_the_score_is_the_largest_inner_product_inside_the_box(self):
        asked = model("query2box").eval()
        box = asked.backbone.follow(torch.tensor([1]), asked.backbone.node(torch.tensor([2])))
        center, offset = box[0, 0], box[0, 1]
        assert (offset >= 0).all()
        generator = torch.Generator().manual_seed(0)
        points = nodes_of(asked)
        inside = center + (2 * torch.rand(20_000, 12, generator=generator) - 1) * offset
        best = (inside @ points.T).amax(dim=0)
        corner = points @ center + points.abs() @ offset
        assert (best <= corner + 1e-5).all()
        assert torch.allclose(asked.scores(box, False)[0], corner + 0.02 * points @ center, atol=1e-5)

    def test_the_l1_distance_is_zero_outside_only_within_the_box(self):
        asked = model("query2box", box_score="l1").eval()
        points = nodes_of(asked).detach()
        wide = torch.stack([points[3], torch.full((12,), 100.0)])[None]
        scores = asked.scores(wide, False)[0]
        assert torch.allclose(scores, -0.02 * (points - points[3]).abs().sum(dim=1), atol=1e-4)
        assert scores.argmax() == 3


class TestQuery2Particles:
    @given(st.integers(1, 4) | st.sampled_from([256, 300]), st.integers(0, 50))
    def test_the_best_particle_and_its_gradient(self, particles, seed):
        generator = torch.Generator().manual_seed(seed)
        state = torch.randn(3, particles, 5, generator=generator, requires_grad=True)
        points = torch.randn(7, 5, generator=generator, requires_grad=True)
        weights = torch.randn(3, 7, generator=generator)
        expected = torch.einsum("bkd,nd->bkn", state, points).amax(dim=1)
        found = best_particle_scores(state, points)
        assert torch.allclose(found, expected, atol=1e-5)
        wanted = torch.autograd.grad((expected * weights).sum(), (state, points))
        given_ = torch.autograd.grad((found * weights).sum(), (state, points))
        assert all(torch.allclose(one, other, atol=1e-5) for one, other in zip(given_, wanted, strict=True))
        with torch.no_grad():
            assert torch.allclose(best_particle_scores(state, points), expected, atol=1e-5)


class TestNumbersAsParticles:
    """Where a set of entities is particles, a set of numbers is too."""

    def test_a_union_of_numbers_is_as_good_as_the_better_part(self):
        asked = model("query2particles", encoding="sinusoidal").eval()
        parts = [asked.number(torch.tensor([row])) for row in (0, 3)]
        one, other, both = (asked.scores(state, True) for state in (*parts, asked.unite(parts, True)))
        assert torch.equal(both, torch.maximum(one, other))

    def test_the_posterior_is_that_of_the_best_particle(self):
        numbers = number_reasoning(model("query2particles", value_loss="map"))
        theta = torch.randn(4, 3, 24, generator=torch.Generator().manual_seed(1))
        rows = torch.arange(SIZES.values).expand(4, -1)
        alone = torch.stack([numbers.log_density(theta[:, place : place + 1], rows) for place in range(3)])
        best = alone.amax(dim=0)
        assert torch.equal(numbers.log_density(theta, rows), best)
        expected = best - best.amax(dim=1, keepdim=True)
        assert torch.allclose(numbers.scores(theta), expected, rtol=1e-3, atol=1e-3)

    def test_their_steps_drop_while_learning_and_only_then(self):
        asked = model("query2particles", dropout=0.0, number_dropout=0.5)
        theta, attribute = asked.number(torch.tensor([1])), torch.tensor([0])
        steps = (asked.compare, asked.having_value)
        assert all(not torch.equal(step(attribute, theta), step(attribute, theta)) for step in steps)
        asked.eval()
        assert all(torch.equal(step(attribute, theta), step(attribute, theta)) for step in steps)
        still = model("query2particles", dropout=0.0, number_dropout=0.0)
        assert torch.equal(still.compare(attribute, theta), still.compare(attribute, theta))

    def test_they_come_back_as_particles_of_entities(self):
        asked = model("query2particles").eval()
        united = asked.unite([asked.number(torch.tensor([row])) for row in (0, 3)], True)
        back = asked.having_value(torch.tensor([0]), united)
        count = asked.settings.particles
        assert back.shape == (1, 2 * count, 12)
        assert asked.value_of(torch.tensor([0]), back).shape == united.shape


class TestDensities:
    def test_the_gaussian_is_torchs(self):
        generator = torch.Generator().manual_seed(0)
        points, mean, spread = (torch.randn(4, 6, generator=generator) for _ in range(3))
        expected = Independent(Normal(mean, spread.exp()), 1).log_prob(points)
        assert torch.allclose(gaussian_log_density(points, mean, spread), expected, atol=1e-5)

    def test_scores_are_the_log_posterior_of_every_value(self):
        numbers = number_reasoning(model(value_loss="map"))
        theta = torch.randn(4, 24, generator=torch.Generator().manual_seed(1))
        posterior = numbers.log_density(theta, torch.arange(SIZES.values).expand(4, -1))
        expected = posterior - posterior.amax(dim=1, keepdim=True)
        assert torch.allclose(numbers.scores(theta), expected, rtol=1e-3, atol=1e-3)
        assert torch.allclose(
            numbers.map_loss(theta, torch.arange(4)[:, None]), -posterior.diag()[:, None] / 12, atol=1e-3
        )

    def test_a_density_learns_none_of_its_points(self):
        asked = model(value_loss="map")
        points = number_reasoning(asked).value_points().clone()
        asked.loss(batch(Shape.parse("(ap,(e))")), torch.tensor([[0], [1], [2], [3], [4]])).backward()
        torch.optim.SGD(asked.parameters(), lr=1.0).step()
        assert torch.equal(number_reasoning(asked).value_points(), points)

    def test_the_prior_is_a_gaussian_of_theta_for_each_type(self):
        numbers = number_reasoning(model(value_loss="map"))
        theta = torch.randn(4, 24, generator=torch.Generator().manual_seed(1))
        scale = 24**0.5
        prior = Independent(Normal(scale * numbers.prior_mean.weight, numbers.prior_spread.exp()), 1)
        expected = prior.log_prob(scale * theta[:, None])
        assert torch.allclose(numbers._log_prior(theta), expected, atol=1e-3)
        assert not number_reasoning(model(value_loss="map", type_prior=False))._log_prior(theta).any()


class TestEncodings:
    def test_the_signed_logarithm(self):
        points = torch.tensor([-math.e, -1.0, -0.5, 0.0, 0.5, 1.0, math.e, 1e6], dtype=torch.float64)
        expected = [-2.0, -1.0, -0.5, 0.0, 0.5, 1.0, 2.0, math.log(1e6) + 1]
        assert torch.allclose(signed_log(points), torch.tensor(expected, dtype=torch.float64))

    def test_sinusoidal_is_the_formula(self):
        encoded = sinusoidal(torch.tensor([3.5, -2.0], dtype=torch.float64), 6)
        for row, value in enumerate((3.5, -2.0)):
            for place in range(6):
                rate = 10000 ** ((place if place % 2 == 0 else place - 1) / 6)
                expected = math.sin(value / rate) if place % 2 == 0 else math.cos(value / rate)
                assert encoded[row, place].item() == pytest.approx(expected)

    def test_dice_is_the_formula_before_the_rotation(self):
        low, high = torch.zeros(3, dtype=torch.float64), torch.full((3,), 8.0, dtype=torch.float64)
        points = torch.tensor([0.0, 2.0, 8.0], dtype=torch.float64)
        encoded = dice(points, low, high, torch.eye(5, dtype=torch.float64))
        for row, angle in enumerate((0.0, math.pi / 4, math.pi)):
            expected = [math.sin(angle) ** power * math.cos(angle) for power in range(4)] + [math.sin(angle) ** 5]
            assert encoded[row].tolist() == pytest.approx(expected, abs=1e-12)

    @pytest.mark.parametrize("encoding", ["dice", "sinusoidal"])
    def test_nearer_numbers_have_nearer_points_and_order_survives(self, encoding):
        points = torch.linspace(0, 3, 40, dtype=torch.float64)
        if encoding == "dice":
            rotation = random_rotation(32, torch.Generator().manual_seed(0)).double()
            encoded = dice(points, torch.zeros(40).double(), torch.full((40,), 3.0).double(), rotation)
        else:
            encoded = sinusoidal(points, 32)
        distances = (encoded - encoded[0]).norm(dim=1)
        assert (distances.diff() > 0).all()

    def test_a_rotation_keeps_lengths(self):
        rotation = random_rotation(16, torch.Generator().manual_seed(3))
        assert torch.allclose(rotation @ rotation.T, torch.eye(16), atol=1e-5)

    def test_values_outside_the_training_range_stay_on_the_half_circle(self):
        encoded = dice(torch.tensor([-5.0, 50.0]), torch.zeros(2), torch.ones(2), torch.eye(4))
        assert encoded.isfinite().all()

    def test_a_unit_that_training_never_met_has_a_range_all_the_same(self):
        seen = torch.tensor([True, False])
        table = ScaledValues.from_table(torch.tensor([1.0, 5.0]).double(), torch.tensor([0, 1]), 2, seen)
        assert table.low.isfinite().all() and table.high.isfinite().all()

    def test_by_rank_a_units_values_are_spread_evenly_in_order(self):
        numbers = torch.tensor([1990.0, 1991.0, 1995.0, 2050.0, 1992.0, 1800.0, 7.0]).double()
        units, seen = torch.tensor([0, 0, 0, 0, 0, 0, 1]), torch.tensor([True] * 4 + [False, False, True])
        table = ScaledValues.from_table(numbers, units, 2, seen, "rank")
        # Between two known values in proportion, before the first at its place.
        expected = torch.tensor([0, 1 / 3, 2 / 3, 1, (1 + 1 / 4) / 3, 0, 0]) * 100
        assert torch.allclose(table.numbers, expected, atol=1e-4)

    @pytest.mark.parametrize("scale", ["log", "rank"])
    def test_values_that_only_hidden_facts_use_move_no_other(self, scale):
        """Neither the range of a unit nor the place of a value that the training graph holds."""
        numbers = torch.tensor([-4e5, 1990.0, 1991.0, 1991.5, 1995.0, 3e6, -2.0, 7.0, 9e9]).double()
        units, seen = (
            torch.tensor([0] * 6 + [1] * 3),
            torch.tensor([False, True, True, False, True, False, True, True, False]),
        )
        whole = ScaledValues.from_table(numbers, units, 2, seen, scale)
        pruned = ScaledValues.from_table(numbers[seen], units[seen], 2, seen[seen], scale)
        assert torch.equal(whole.numbers[seen], pruned.numbers)
        assert torch.equal(whole.low, pruned.low) and torch.equal(whole.high, pruned.high)

    @given(st.lists(st.floats(-1e6, 1e6), min_size=2, max_size=30, unique=True), st.lists(st.floats(-2e6, 2e6)))
    def test_ranks_keep_the_order(self, known, values):
        asked = torch.tensor(sorted([*known, *values]), dtype=torch.float64)
        found = ranks(asked, torch.tensor(sorted(known), dtype=torch.float64))
        assert (found.diff() >= 0).all() and found[0] == 0 and found[-1] == 1


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"model": "gqu"}, "unknown model 'gqu'; did you mean 'gqe'"),
        ({"encoding": "dise"}, "encoding cannot be 'dise'"),
        ({"number_scale": "cube"}, "number_scale cannot be 'cube'"),
        ({"dimension": 0}, "dimension must be at least 1"),
        ({"dropout": 1.0}, "dropout must be"),
        ({"value_loss": "x"}, "value_loss cannot be"),
        ({"box_score": "l2"}, "box_score cannot be"),
    ],
)
def test_settings_that_cannot_be_meant(settings, message):
    with pytest.raises(UserError, match=message):
        NeuralSettings.choose(settings)


class TestRotations:
    def test_a_layer_keeps_the_length_of_what_goes_in(self):
        torch.manual_seed(0)
        rows = torch.randn(200, 32)
        layers = nn.ModuleList([nn.Linear(32, 32), nn.Linear(32, 96), FeedForward(32, 0.0)])
        start_as_rotations(layers, torch.Generator().manual_seed(0))
        square, gates, feed_forward = layers
        assert torch.allclose(square(rows).norm(dim=1), rows.norm(dim=1), rtol=1e-4)
        for gate in gates(rows).chunk(3, dim=1):
            assert torch.allclose(gate.norm(dim=1), rows.norm(dim=1), rtol=1e-4)
        assert (feed_forward(rows).norm(dim=1) / rows.norm(dim=1)).mean().item() == pytest.approx(1.0, abs=0.1)

    def test_a_models_first_answers_come_from_its_generator_alone(self):
        queries = batch(Shape.parse("(i,(rp,(e)),(rap,(nv)))"))
        torch.manual_seed(0)
        once = model("gqe").answer(queries)
        torch.manual_seed(1)
        assert torch.equal(once, model("gqe").answer(queries))


def test_sets_that_come_from_numbers_are_as_long_as_those_that_come_from_relations():
    """Otherwise an intersection would hear one of its parts alone."""
    asked = model("query2particles", dimension=32).eval()
    lengths = [asked.encode(batch(Shape.parse(text))).norm(dim=2).mean() for text in ("(rp,(e))", "(rap,(nv))")]
    assert 0.5 < lengths[0] / lengths[1] < 2
