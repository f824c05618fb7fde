"""Numbers: identities, trees, intervals, what is known, what moved an estimate, and how it is written."""

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch

from kgreckon.answers.estimates import formula_text, influence_text, interval_texts, number_text
from kgreckon.answers.number_prediction import PredictedNumber
from kgreckon.graph import GraphBuilder
from kgreckon.models.interface import Influence, Prediction
from kgreckon.models.reckoner.attributes import AttributeModels, Numbers, fit_attributes
from kgreckon.models.reckoner.existence import FOLDS
from kgreckon.models.reckoner.numbers.cases import Cases
from kgreckon.models.reckoner.numbers.estimating import PARTS, Estimates, Estimator
from kgreckon.models.reckoner.numbers.forests import Forest
from kgreckon.models.reckoner.numbers.influences import formula_of, influences
from kgreckon.models.reckoner.numbers.intervals import ErrorShape
from kgreckon.models.reckoner.numbers.scales import KINDS, Scale, limits
from kgreckon.models.reckoner.predicting import predict

CPU = torch.device("cpu")


def folds_of(graph, seed=0):
    return np.random.default_rng(seed).integers(FOLDS, size=len(graph.entities))


def ids_of(graph, *names):
    return np.array([graph.vocabulary.entity_id(name) for name in names])


def places(missing=range(0)):
    """Places with population, area and density; regions with a climate that their places share."""
    rng = np.random.default_rng(3)
    builder = GraphBuilder()
    for index in range(150):
        name, region = f"p{index}", f"region{index % 12}"
        population, area = float(rng.integers(1_000, 900_000)), float(rng.integers(1, 4_000))
        builder.add_value(name, "population", population, "persons")
        builder.add_value(name, "area", area, "km2")
        builder.add_fact(name, "in", region)
        builder.add_fact(name, "likes", f"thing{rng.integers(30)}")
        if index not in missing:
            builder.add_value(name, "density", population / area, "persons per km2")
            builder.add_value(name, "rain", max(0.0, 40.0 * (index % 12) + rng.normal() * 6), "mm")
            builder.add_value(name, "luck", float(rng.normal()), "points")
    return builder.build()


@pytest.fixture(scope="module")
def graph():
    return places(missing=range(120, 150))


@pytest.fixture(scope="module")
def models(graph):
    return fit_attributes(graph, folds_of(graph))


def isotopes(left_out):
    """Nuclides: the mass follows the nucleons but for a little, and the decay ends when the start and duration say."""
    rng = np.random.default_rng(5)
    builder = GraphBuilder()
    truth = {}
    for index in range(80):
        name, nucleons = f"n{index}", float(rng.integers(1, 240))
        builder.add_value(name, "nucleons", nucleons, "nucleons")
        builder.add_value(name, "start", (start := float(rng.integers(0, 5000))), "s")
        builder.add_value(name, "duration", (duration := float(rng.integers(1, 900))), "s")
        builder.add_fact(name, "kind", f"kind{index % 3}")
        truth[name] = 0.999 * nucleons + 0.3, start + duration
        if index not in left_out:
            builder.add_value(name, "mass", truth[name][0], "daltons")
            builder.add_value(name, "end", truth[name][1], "s")
    return builder.build(), truth


class TestIdentities:
    def test_planted_identities_are_recovered_and_used_exactly(self):
        left_out = range(60, 80)
        graph, truth = isotopes(left_out)
        models = fit_attributes(graph, folds_of(graph))
        names = graph.vocabulary
        lacking = [f"n{index}" for index in left_out]
        for place, (attribute, formula) in enumerate(
            (("mass", "mass = 0.999 × nucleons + 0.3"), ("end", "end = start + duration"))
        ):
            own = names.attribute_id(attribute)
            numbers = models[own].numbers(ids_of(graph, *lacking))
            wanted = np.array([truth[name][place] for name in lacking])
            assert numbers.quantile(0.5) == pytest.approx(wanted, rel=1e-9)
            assert (numbers.quantile(0.95) - numbers.quantile(0.05)).max() < 1e-3
            found = formula_of(models[own], int(ids_of(graph, "n70")[0]))
            assert (
                found is not None
                and formula_text(found, own, names).replace("duration + start", "start + duration") == formula
            )

    def test_a_ratio_of_two_numbers_is_recovered(self, graph, models):
        density = graph.vocabulary.attribute_id("density")
        lacking = ids_of(graph, *(f"p{index}" for index in range(120, 150)))
        population, area = (
            graph.values.numbers[graph.values_of.row(entity, graph.vocabulary.attribute_id(name))[0]]
            for name in ("population", "area")
            for entity in lacking[:1]
        )
        assert models[density].quantile(lacking[:1], 0.5)[0] == pytest.approx(population / area, rel=1e-9)
        formula = formula_of(models[density], int(lacking[0]))
        assert formula is not None
        assert formula_text(formula, density, graph.vocabulary) == "density = population ÷ area"

    def test_without_identities_the_same_number_is_missed(self, graph):
        plain = fit_attributes(graph, folds_of(graph), without=frozenset(["identities"]))
        density = graph.vocabulary.attribute_id("density")
        assert not plain[density].learned.experts
        assert formula_of(plain[density], int(ids_of(graph, "p130")[0])) is None

    def test_the_value_of_a_neighbour_is_an_identity_too(self):
        rng = np.random.default_rng(0)
        builder = GraphBuilder()
        for index in range(60):
            builder.add_fact(f"town{index}", "in", f"county{index}")
            builder.add_value(f"county{index}", "code", (code := float(rng.integers(10_000))), "number")
            if index < 50:
                builder.add_value(f"town{index}", "dialling", code, "number")
        graph = builder.build()
        dialling = graph.vocabulary.attribute_id("dialling")
        model = fit_attributes(graph, folds_of(graph))[dialling]
        county = graph.vocabulary.entity_id("county55")
        wanted = graph.values.numbers[graph.values_of.row(county, graph.vocabulary.attribute_id("code"))[0]]
        town = int(ids_of(graph, "town55")[0])
        assert model.quantile(np.array([town]), 0.5)[0] == pytest.approx(wanted)
        formula = formula_of(model, town)
        assert formula is not None
        assert formula_text(formula, dialling, graph.vocabulary) == "dialling = code of (this → in → x)"


class TestEstimates:
    def test_what_nothing_speaks_for_has_the_training_median(self, graph, models):
        luck = graph.vocabulary.attribute_id("luck")
        assert models[luck].learned.estimator is Estimator.MEDIAN
        own = graph.attribute_facts.labels == luck
        median = np.median(graph.values.numbers[graph.attribute_facts.targets[own]])
        everybody = np.arange(len(graph.entities))
        assert models[luck].quantile(everybody, 0.5) == pytest.approx(np.full(len(everybody), median))

    def test_neighbours_speak_and_intervals_hold_what_they_say(self, graph, models):
        rain = graph.vocabulary.attribute_id("rain")
        lacking = ids_of(graph, *(f"p{index}" for index in range(120, 150)))
        wanted = np.array([40.0 * (index % 12) for index in range(120, 150)])
        numbers = models[rain].numbers(lacking)
        assert np.abs(numbers.quantile(0.5) - wanted).mean() < 8
        held = graph.attribute_facts.sources[graph.attribute_facts.labels == rain]
        stated = graph.values.numbers[graph.attribute_facts.targets[graph.attribute_facts.labels == rain]]
        out_of_fold = models[rain].numbers(held)
        inside = (out_of_fold.quantile(0.05) <= stated) & (stated <= out_of_fold.quantile(0.95))
        assert 0.85 <= inside.mean() <= 0.95

    def test_no_estimate_and_no_interval_leaves_what_is_possible(self, graph, models):
        everybody = np.arange(len(graph.entities))
        for attribute, model in enumerate(models):
            numbers = model.numbers(everybody)
            stated = model.scale.numbers
            for share in (0.001, 0.05, 0.5, 0.95, 0.999):
                found = numbers.quantile(share)
                assert np.isfinite(found).all()
                assert stated.min() < 0 or (found >= 0).all(), graph.vocabulary.attribute_label(attribute)
        assert limits(np.array([3.0, 80.0]), "degrees") == (-90.0, 90.0)
        assert limits(np.array([-120.0, 80.0]), "degrees") == (-180.0, 180.0)
        assert limits(np.array([5.0, 300.0]), "kelvin")[0] == 0 and limits(np.array([-5.0, 300.0]), "m")[0] < -1e300

    def test_an_own_number_does_not_help_to_estimate_it(self, graph, models):
        """Whatever an entity states, its own estimate is the same."""
        facts, values = graph.attribute_facts, graph.values
        rain = graph.vocabulary.attribute_id("rain")
        entity = int(ids_of(graph, "p17")[0])
        row = np.flatnonzero((facts.sources == entity) & (facts.labels == rain))
        targets = facts.targets.copy()
        others = facts.targets[facts.labels == rain]
        targets[row] = others[np.argmax(np.abs(values.numbers[others] - values.numbers[targets[row]]))]
        other = replace(graph, attribute_facts=replace(facts, targets=targets))
        again = AttributeModels.from_tensors(models.as_tensors(), other, graph)
        for share in (0.05, 0.5, 0.95):
            first, second = (each[rain].quantile(np.array([entity]), share)[0] for each in (models, again))
            assert second == pytest.approx(first, abs=1e-9)

    def test_what_is_known_later_counts(self, graph, models):
        """A place of which the training graph knows nothing: with its region known, the estimate is the region's."""
        rain = graph.vocabulary.attribute_id("rain")
        entity = int(ids_of(graph, "p131")[0])  # region11, where it rains most
        unlinked = graph.restricted(graph.facts.sources != entity, np.ones(len(graph.attribute_facts), dtype=bool))
        learned = fit_attributes(unlinked, folds_of(graph))
        before, after = (
            AttributeModels.from_tensors(learned.as_tensors(), known, unlinked)[rain] for known in (unlinked, graph)
        )
        low, high = (model.quantile(np.array([entity]), 0.5)[0] for model in (before, after))
        assert abs(high - 440) < 30 < abs(low - 440)
        # And the numbers of its neighbours' neighbours, stated later, count as well.
        facts = graph.attribute_facts
        region = graph.facts.sources[graph.facts.targets == graph.vocabulary.entity_id("region11")]
        kept = ~(np.isin(facts.sources, region) & (facts.labels == rain))
        silent = AttributeModels.from_tensors(
            models.as_tensors(), graph.restricted(graph.facts.labels >= 0, kept), graph
        )
        assert abs(silent[rain].quantile(np.array([entity]), 0.5)[0] - 440) > 30

    def test_what_is_saved_is_what_is_learned(self, graph, models):
        again = AttributeModels.from_tensors(models.as_tensors(), graph, graph)
        everybody = np.arange(len(graph.entities))
        first, second = models.as_tensors(), again.as_tensors()
        assert first.keys() == second.keys() and all(torch.equal(first[name], second[name]) for name in first)
        for one, other in zip(models, again, strict=True):
            assert np.array_equal(one.quantile(everybody, 0.3), other.quantile(everybody, 0.3))

    def test_the_same_seed_gives_the_same_weights(self, graph, models):
        first, second = models.as_tensors(), fit_attributes(graph, folds_of(graph)).as_tensors()
        assert all(torch.equal(first[name], second[name]) for name in first)

    def test_the_density_is_highest_where_the_estimate_is(self, graph, models):
        entities = torch.from_numpy(ids_of(graph, "p125", "p132"))
        for name in ("rain", "density"):
            model = models[graph.vocabulary.attribute_id(name)]
            unit = graph.values.rows_of(graph.values.units[int(graph.attribute_units[model.attribute])])
            numbers = graph.values.numbers[unit]
            density = model.log_density(entities, numbers)
            assert density.shape == (2, len(numbers)) and torch.isfinite(density).all()
            for row, estimate in zip(density, model.quantile(entities.numpy(), 0.5), strict=True):
                best = float(numbers[int(row.argmax())])
                assert abs(best - estimate) <= 0.15 * np.ptp(numbers)

    @pytest.mark.parametrize("part", PARTS)
    def test_each_part_can_be_left_out(self, graph, part):
        models = fit_attributes(graph, folds_of(graph), without=frozenset([part]))
        again = AttributeModels.from_tensors(models.as_tensors(), graph, graph)
        assert len(again) == len(graph.attributes)

    def test_of_very_many_some_are_learned_from(self, graph, models, monkeypatch):
        monkeypatch.setattr("kgreckon.models.reckoner.numbers.choosing._ENOUGH", 70)
        fewer = fit_attributes(graph, folds_of(graph))
        rain = graph.vocabulary.attribute_id("rain")
        lacking = ids_of(graph, *(f"p{index}" for index in range(120, 150)))
        wanted = np.array([40.0 * (index % 12) for index in range(120, 150)])
        assert np.abs(fewer[rain].quantile(lacking, 0.5) - wanted).mean() < 20
        assert len(fewer[rain].learned.lines.counts) and fewer[rain].learned.lines.counts.max() <= 70
        assert models[rain].learned.lines.counts.max() > 70

    @pytest.mark.parametrize("other", [-3.0, 0.0, 1e307, -1e307])
    def test_a_thing_may_have_several_values_of_which_one_is_unlike_their_mean(self, other):
        """Means of several values may all be positive where a value is not: a scale is one of the values."""
        rng = np.random.default_rng(0)
        builder = GraphBuilder()
        for index in range(120):
            builder.add_fact(f"c{index}", "in", f"k{index % 7}")
            builder.add_value(f"c{index}", "profit", 10 + 5 * (index % 7) + rng.random(), "euro")
            builder.add_value(f"c{index}", "turnover", 100 + 50 * (index % 7) + rng.random(), "euro")
        builder.add_value("c0", "profit", other, "euro")
        graph = builder.build()
        models = fit_attributes(graph, folds_of(graph))
        for attribute in range(2):
            assert np.isfinite(models[attribute].quantile(np.arange(len(graph.entities)), 0.5)).all()
            assert models[attribute].numbers(np.arange(9)).log_density(np.array([20.0, 30.0]), CPU).isfinite().all()

    def test_a_number_far_from_everything_has_a_density(self):
        """Else the weights of all values would be lost, for a number of another attribute without a unit."""
        estimates = Estimates(np.array([0]), np.array([0.5]), np.array([0.05]))
        scale = Scale.of(np.arange(9.0))
        shape = replace(ErrorShape.of(np.linspace(-1, 1, 50)), spread=1e-9)
        density = Numbers(estimates, [scale], [shape], (0.0, np.inf)).log_density(np.array([1.0, 1e13, 1e30]), CPU)
        assert density.isfinite().all() and density[0, 0] > density[0, 1]

    @pytest.mark.parametrize(("day", "whole"), [(0.0, True), (0.25, False)])
    def test_where_only_years_are_known_years_are_estimated(self, day, whole):
        builder, rng = GraphBuilder(), np.random.default_rng(0)
        for index in range(80):
            builder.add_fact(f"c{index}", "in", f"k{index % 9}")
            builder.add_value(f"c{index}", "founded", 1900.0 + 7 * (index % 9) + rng.integers(6) + day, "date")
        graph = builder.build()
        facts: Any = SimpleNamespace(
            observed=SimpleNamespace(graph=graph),
            attributes=fit_attributes(graph, folds_of(graph)),
            existence=lambda _: np.ones(len(graph.entities)),
        )
        found = [predict(facts, entity, 0) for entity in range(9)]
        ends = np.array([(one.low, one.estimate, one.high) for one in found])
        assert (ends % 1 == 0).all() == whole
        assert (np.diff(ends, axis=1) >= 0).all()

    def test_a_graph_without_numbers_or_without_links_will_do(self):
        alone = GraphBuilder()
        alone.add_fact("a", "knows", "b")
        assert len(fit_attributes(alone.build(), folds_of(alone.build()))) == 0
        numbers = GraphBuilder()
        for index in range(30):
            numbers.add_value(f"e{index}", "height", float(index % 7), "metres")
        graph = numbers.build()
        assert fit_attributes(graph, folds_of(graph))[0].quantile(np.arange(30), 0.5) == pytest.approx(np.full(30, 3.0))


class TestParts:
    def test_a_forest_says_what_scikit_learn_says(self):
        from sklearn.ensemble import HistGradientBoostingRegressor

        rng = np.random.default_rng(0)
        features = rng.normal(size=(300, 4))
        features[rng.random(features.shape) < 0.2] = np.nan
        target = np.nan_to_num(features[:, 0]) + np.isnan(features[:, 1])
        folds = np.arange(300) % FOLDS
        forest = Forest.fit(features, target, folds, 7, 20)
        for fold in range(FOLDS):
            rows = folds != fold
            learner = HistGradientBoostingRegressor(
                loss="absolute_error",
                learning_rate=8.0 / 20,
                max_iter=20,
                max_leaf_nodes=15,
                min_samples_leaf=6,
                l2_regularization=3.0,
                max_features=0.5,
                max_bins=63,
                early_stopping=False,
                random_state=7 + fold,
            ).fit(features[rows], target[rows])
            assert forest.predict(features, np.full(300, fold)) == pytest.approx(learner.predict(features), abs=1e-5)
        every = np.mean([forest.predict(features, np.full(300, fold)) for fold in range(FOLDS)], axis=0)
        assert forest.predict(features, np.full(300, FOLDS)) == pytest.approx(every)

    def test_a_split_by_what_is_missing_has_a_finite_threshold(self):
        """scikit-learn writes it as infinity, which a run folder does not take for a weight."""
        rng = np.random.default_rng(0)
        features = np.where(rng.random((300, 1)) < 0.5, 1.0, np.nan)
        target = np.isnan(features[:, 0]) * 1.0
        forest = Forest.fit(features, target, rng.integers(FOLDS, size=300), 7, 20)
        assert np.isfinite(forest.thresholds).all() and forest.thresholds.max() == np.finfo(np.float64).max
        assert forest.predict(features, np.full(300, FOLDS)) == pytest.approx(target, abs=0.1)

    @pytest.mark.parametrize("kind", KINDS)
    def test_scales_are_monotone_and_can_be_undone(self, kind):
        numbers = np.array([3.0, 0.0, 7.0, 7.0, 1e6, 12.0])
        scale = Scale.of(numbers, kind)
        inside = np.linspace(0.5, 2e6, 57)
        assert (np.diff(scale.score(inside)) > 0).all()
        assert scale.number(scale.score(inside)) == pytest.approx(inside)
        assert np.array_equal(np.sort(numbers), scale.sample)

    @pytest.mark.parametrize("size", [25, 60, 400])
    def test_intervals_hold_the_next_error_as_often_as_they_say(self, size):
        rng = np.random.default_rng(1)
        held = []
        for _ in range(400):
            errors = rng.standard_t(3, size=size + 1) * 5
            shape = ErrorShape.of(errors[:-1])
            held.append(shape.multiple(0.05) <= errors[-1] <= shape.multiple(0.95))
        assert 0.87 <= np.mean(held) <= 0.95

    def test_an_error_that_is_mostly_nothing_has_an_interval_that_is_mostly_nothing(self):
        errors = np.zeros(200)
        errors[:4] = (5, -5, 3, -3)
        shape = ErrorShape.of(errors)
        assert shape.multiple(0.05) == shape.multiple(0.95) == 0 and shape.multiple(0.999) > 0


class TestInfluences:
    def test_an_influence_is_what_the_estimate_lacks_without_the_fact(self, graph, models):
        rain = graph.vocabulary.attribute_id("rain")
        entity = int(ids_of(graph, "p131")[0])
        model = models[rain]
        found = influences(model, entity, width=20.0)
        by_relation = {each.relation: each for each in found if each.relation is not None}
        strongest = by_relation[graph.vocabulary.relation_id("in")]
        assert strongest is found[0]
        assert [graph.vocabulary.entity_name(other) for other in strongest.entities] == ["region11"]
        facts = graph.facts
        kept = ~((facts.sources == entity) & (facts.labels == graph.vocabulary.relation_id("in") // 2))
        less = graph.restricted(kept, np.ones(len(graph.attribute_facts), dtype=bool))
        without = AttributeModels.from_tensors(models.as_tensors(), less, graph)[rain]
        estimate, other = (each.quantile(np.array([entity]), 0.5)[0] for each in (model, without))
        assert strongest.effect == pytest.approx(estimate - other)
        assert abs(strongest.effect) > 30

    def test_a_case_left_whole_is_the_case(self, graph, models):
        model = models[graph.vocabulary.attribute_id("rain")]
        entity = ids_of(graph, "p131")
        cases = Cases.of(model.known, entity)
        nothing = np.zeros(0, dtype=np.int64)
        again = model.of_cases(cases.without_each([nothing], [nothing])).quantile(0.5)
        assert again == pytest.approx(np.repeat(model.quantile(entity, 0.5), 2))


class TestWords:
    @pytest.mark.parametrize(
        ("number", "step", "unit", "text"),
        [
            (1_253_112.0, 20_000.0, "persons", "1.25 million"),
            (53_214.7, 900.0, "persons", "53,200"),
            (0.0421, 0.001, "metres", "0.042"),
            (1600001270.4, 80.0, "[s]", "1,600,001,270"),
            (-0.3, 5.0, "metres", "0"),
            (1953.4167, 2.0, "years", "1953"),
            (1953.4167, 3.0, "date", "1953"),
            (1953.4167, 0.001, "date", "1953-06-02"),
            (2.5e12, 1e11, "dollars", "2.5 trillion"),
            (12.0, 0.0, "", "12"),
        ],
    )
    def test_numbers_have_the_digits_that_the_step_justifies(self, number, step, unit, text):
        assert number_text(number, step, unit) == text

    def test_an_interval_narrower_than_a_number_keeps_it_apart(self):
        estimate, low, high = interval_texts(22.27803, 22.2779, 22.2782, "daltons")
        assert float(low) < float(estimate) < float(high)

    def test_influences_are_sentences(self, graph, models):
        names = graph.vocabulary
        rain = names.attribute_id("rain")
        found = Prediction((), "mm", 0.5, 430.0, 400.0, 460.0, 0.9)
        region = names.entity_id("region11")
        along = Influence(212.4, relation=names.relation_id("in"), entities=(region,))
        assert influence_text(along, found, names) == "in → region11: 210 mm more"
        back = replace(along, relation=names.relation_id("^in"), facts=3, effect=-0.5)
        assert influence_text(back, found, names) == "region11 and 2 more → in → this: 0.5 mm less"
        own = Influence(1.0, attribute=names.attribute_id("area"), number=12.0)
        assert influence_text(own, found, names) == "area 12 km2: 1 mm more"
        date = replace(found, unit="date")
        assert influence_text(replace(own, effect=-2.25), date, names) == "area 12 km2: 2.2 years earlier"
        data = PredictedNumber.of(replace(found, reasons=(along,)), region, rain, names).as_json()
        assert data["text"]["estimate"] == "430" and data["reasons"][0]["relation"] == "in"
        assert data["reasons"][0]["text"] == "in → region11: 210 mm more"
