"""The benchmark builder: laws of splits, edges and queries; determinism; dead ends."""

import filecmp
import hashlib
import json
import os
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kgreckon.benchmark import Benchmark, BuildProgress, BuildSettings, Split, SplitGraph, build
from kgreckon.benchmark.building import begin, build_split
from kgreckon.benchmark.numerical_edges import with_numerical_edges
from kgreckon.benchmark.sampling import COMPUTED_ONE_HOP_COMPARISONS
from kgreckon.benchmark.splits import entities_in, random_split, random_splits, values_in
from kgreckon.errors import UserError
from kgreckon.exact import ComparisonMode, answer
from kgreckon.graph import GraphBuilder, open_graph
from kgreckon.query import GENERAL_TYPES, SEVEN, Entity, Number, Operator, Shape, general_type, shape_of
from random_graph import random_graph
from reference import Reference
from strategies import graphs

TYPES = {**GENERAL_TYPES, "3p": Shape.parse("(p,(p,(p,(e))))"), "2in": Shape.parse("(i,(p,(e)),(n,(p,(e))))")}

EDGES = [ComparisonMode.SAMPLED, ComparisonMode.RELEASED]


def make(graph, folder, **choices) -> Benchmark:
    workers = choices.pop("workers", 2)
    progress = choices.pop("progress", None)
    return build(graph, folder, BuildSettings.choose(graph, **choices), workers, progress)


@pytest.fixture(scope="module", params=list(ComparisonMode))
def benchmark(request, tmp_path_factory) -> Benchmark:
    folder = tmp_path_factory.mktemp("benchmark") / request.param.value
    return make(random_graph(), folder, types=TYPES, queries=400, mode=request.param)


def same_files(one: Path, other: Path) -> bool:
    names = sorted(path.relative_to(one) for path in one.rglob("*") if path.is_file())
    others = sorted(path.relative_to(other) for path in other.rglob("*") if path.is_file())
    return names == others and all(filecmp.cmp(one / name, other / name, shallow=False) for name in names)


class TestSplits:
    @given(st.integers(0, 300), st.integers(0, 5))
    def test_eight_one_one(self, count, seed):
        splits = random_splits(count, np.random.default_rng(seed))
        assert len(splits) == count
        assert (splits <= Split.TRAIN).sum() == int(0.8 * count)
        assert (splits <= Split.VALID).sum() == int(0.9 * count)

    def test_graphs_are_nested(self, benchmark):
        train, valid, test = (benchmark.graphs.at(split) for split in Split)
        for smaller, larger in ((train, valid), (valid, test)):
            for name in ("facts", "attribute_facts", "comparisons"):
                inner, outer = getattr(smaller, name), getattr(larger, name)
                if inner is not None:
                    assert rows(inner) < rows(outer) or (name == "comparisons" and rows(inner) <= rows(outer))
        assert rows(test.facts) == rows(random_graph().facts)
        assert rows(test.attribute_facts) == rows(random_graph().attribute_facts)


def rows(triples) -> set:
    return set(zip(triples.sources.tolist(), triples.labels.tolist(), triples.targets.tolist(), strict=True))


class TestNumericalEdges:
    @settings(max_examples=40)
    @given(graphs(), st.integers(0, 3), st.sampled_from([4, 20, 4000]), st.sampled_from(EDGES))
    def test_edges_hold_are_distinct_within_their_share_and_between_values_of_their_graph(
        self, graph, seed, limit, mode
    ):
        rng = np.random.default_rng(seed)
        count = len(graph.attribute_facts)
        split = SplitGraph(graph, np.zeros(len(graph.facts), dtype=np.int8), random_splits(count, rng))
        split = with_numerical_edges(split, rng, mode, limit)
        seven = list(SEVEN.values())
        for each in Split:
            here = split.at(each)
            present = values_in(here)
            edges = here.comparisons
            assert edges is not None
            assert len(rows(edges)) == len(edges)
            for y, comparison, x in rows(edges):
                (number_y, unit_y), (number_x, unit_x) = graph.values.number_at(y), graph.values.number_at(x)
                assert unit_x == unit_y and seven[comparison].holds(number_x, number_y)
                assert present[y] and present[x]
            for comparison in range(7):
                for unit in graph.values.units:
                    table = graph.values.rows_of(unit)
                    numbers = [float(graph.values.numbers[r]) for r in range(table.start, table.stop) if present[r]]
                    satisfying = sum(seven[comparison].holds(x, y) for x in numbers for y in numbers)
                    drawn = (
                        (edges.labels == comparison) & (edges.sources >= table.start) & (edges.sources < table.stop)
                    ).sum()
                    share = min(limit // len(graph.values.units), satisfying)
                    # The released edges are chosen on the testing graph; the others hold some of them.
                    chosen = mode is ComparisonMode.SAMPLED or each is Split.TEST
                    assert drawn == share if chosen else drawn <= share


class TestQueries:
    @pytest.mark.parametrize("split", list(Split))
    @pytest.mark.parametrize("name", TYPES)
    def test_answers_and_rejection_rules(self, benchmark, split, name):
        graphs_, mode = benchmark.graphs, benchmark.mode
        train = graphs_.at(Split.TRAIN)
        entities, values = entities_in(train), values_in(train)
        seen = 0
        for queries in benchmark.query_sets(split, name):
            assert queries.shape == queries.shape.canonical
            assert general_type(queries.shape) == general_type(TYPES[name])
            on = [answer(graphs_.at(each), queries.batch, mode) for each in Split]
            seen += len(queries)
            ids = [tuple(row) for row in queries.batch.ids.tolist()]
            assert len(set(ids)) == len(ids), "a query is repeated"
            for index, row in enumerate(ids):
                easy, hard = set(queries.easy[index].tolist()), set(queries.hard[index].tolist())
                own, before = set(on[split][index].tolist()), set(on[max(0, split - 1)][index].tolist())
                assert hard and not easy & hard and easy | hard == own
                assert len(on[Split.TRAIN][index]), "a query has an answer on the training graph"
                assert easy == (own & before if split is not Split.TRAIN else set())
                for operator, number in zip(queries.shape.columns, row, strict=True):
                    assert operator is not Operator.ENTITY or entities[number]
                    assert operator is not Operator.NUMBER or values[number]
        assert seen == benchmark.summary(split, name)["found"] > 0

    def test_branches_of_an_intersection_step_into_the_answer_from_different_nodes(self, benchmark):
        """For branches of one hop these are the anchors."""
        for name in ("2i", "3i", "2in"):
            for queries in benchmark.query_sets(Split.TRAIN, name):
                anchors = [c for c, op in enumerate(queries.shape.columns) if op in (Operator.ENTITY, Operator.NUMBER)]
                kinds = [queries.shape.columns[c] for c in anchors]
                for row in queries.batch.ids:
                    pairs = list(zip(kinds, row[anchors].tolist(), strict=True))
                    assert len(set(pairs)) == len(pairs)

    def test_the_middle_node_of_a_branch_is_not_the_anchor_of_the_other(self, benchmark):
        """Else the longer branch of pi says nothing: whatever the anchor leads to fulfils it by way of the anchor."""
        graph = benchmark.graphs.at(Split.TRAIN)
        reference = Reference(graph, benchmark.mode)
        same_anchor = 0
        for queries in benchmark.query_sets(Split.TRAIN, "pi"):
            for row in range(0, len(queries), 5):
                query = queries.batch.query(row, graph.values)
                short, long = query.parts
                answers, of_entities = reference.answers(query), not shape_of(long.of).denotes_numbers
                middles = [
                    Entity(middle) if of_entities else Number(*graph.values.number_at(middle))
                    for middle in reference.answers(long.of)
                ]
                assert any(reference.answers(replace(long, of=m)) & answers for m in middles if m != short.of)
                same_anchor += short.of == long.of.of
        assert same_anchor > 0, "anchors need not differ"

    def test_swapped_branches_are_the_same_query(self, benchmark):
        for name in ("2i", "2u", "3i"):
            for queries in benchmark.query_sets(Split.TRAIN, name):
                branches = len(queries.shape.parts)
                rows_ = queries.batch.ids.reshape(len(queries), branches, 2).tolist()
                texts = [part.text for part in queries.shape.parts]
                canonical = [tuple(sorted(zip(texts, map(tuple, row), strict=True))) for row in rows_]
                assert len(set(canonical)) == len(canonical)

    def test_as_many_as_asked_for_or_a_clear_count(self, benchmark):
        for split in Split:
            for name in TYPES:
                summary = benchmark.summary(split, name)
                if summary["wanted"] is not None:
                    assert 0 < summary["found"] <= summary["wanted"]
        assert benchmark.summary(Split.TRAIN, "2p")["found"] == benchmark.summary(Split.TRAIN, "1p")["found"] == 400


class TestOneHopTrainingQueries:
    """They are all there are, or with a number of queries as many random ones of these."""

    @pytest.fixture(scope="class", params=list(ComparisonMode))
    @staticmethod
    def every(request, tmp_path_factory) -> Benchmark:
        folder = tmp_path_factory.mktemp("one-hop") / request.param.value
        return make(random_graph(), folder, types={"1p": TYPES["1p"]}, mode=request.param)

    @staticmethod
    def by_type(made) -> dict[str, set]:
        return {queries.shape.text: set(map(tuple, queries.batch.ids.tolist()))
                for queries in made.query_sets(Split.TRAIN, "1p")}  # fmt: skip

    def test_all_there_are(self, every):
        train = every.graphs.at(Split.TRAIN)
        found = {text: len(ids) for text, ids in self.by_type(every).items()}
        assert every.summary(Split.TRAIN, "1p")["wanted"] is None
        both = rows(train.facts)
        assert found["(rp,(e))"] == len({(h, r) for h, r, _ in both}) + len({(t, r) for _, r, t in both})
        stated = rows(train.attribute_facts)
        assert found["(ap,(e))"] == len({(e, a) for e, a, _ in stated})
        assert found["(rap,(nv))"] == len({(v, a) for _, a, v in stated})
        if every.mode.is_computed:
            assert 0 < found["(np,(nv))"] <= 7 * COMPUTED_ONE_HOP_COMPARISONS
        else:
            assert found["(np,(nv))"] == len({(y, c) for y, c, _ in rows(train.comparisons)})

    def test_a_number_of_them_is_a_uniform_sample_of_all(self, every, tmp_path):
        pool = self.by_type(every)
        total, drawn = sum(map(len, pool.values())), 600
        made = make(random_graph(), tmp_path / "b", types={"1p": TYPES["1p"]}, queries=drawn, mode=every.mode)
        found = self.by_type(made)
        assert made.summary(Split.TRAIN, "1p")["found"] == drawn == sum(map(len, found.values())) < total
        assert all(ids <= pool[text] for text, ids in found.items())
        expected = {text: drawn * len(ids) / total for text, ids in pool.items()}
        assert all(abs(len(found[text]) - mean) < 5 * mean**0.5 for text, mean in expected.items())
        other = make(random_graph(), tmp_path / "c", types={"1p": TYPES["1p"]}, queries=drawn, mode=every.mode, seed=1)
        assert self.by_type(other) != found

    def test_more_than_there_are_is_all(self, every, tmp_path):
        made = make(random_graph(), tmp_path / "b", types={"1p": TYPES["1p"]}, queries=10**6, mode=every.mode)
        assert self.by_type(made) == self.by_type(every)


def test_computed_training_queries_depend_on_training_facts_and_the_value_table_alone(tmp_path):
    """A comparison holds between any two values of the table: whether a hidden fact uses one changes nothing."""
    chosen = BuildSettings.choose(random_graph(), types=TYPES, queries=200, mode="computed")
    whole = random_split(random_graph(), np.random.default_rng(0))
    kept, own = (splits == Split.TRAIN for splits in (whole.fact_splits, whole.attribute_fact_splits))
    fewer = SplitGraph(whole.graph.restricted(kept, own), whole.fact_splits[kept], whole.attribute_fact_splits[own])
    for name, split in (("whole", whole), ("fewer", fewer)):
        build_split(begin(split, tmp_path / name, chosen), Split.TRAIN, chosen, BuildProgress(), 2)
    assert same_files(tmp_path / "whole" / "train", tmp_path / "fewer" / "train")
    hidden = ~values_in(whole.at(Split.TRAIN))
    compared = [queries for queries in Benchmark.open(tmp_path / "whole").query_sets(Split.TRAIN, "1p")
                if queries.shape.text == "(np,(nv))"]  # fmt: skip
    assert hidden.any() and any(hidden[queries.hard.items].any() for queries in compared)


class TestRepeatable:
    def test_same_bytes_whatever_the_number_of_workers(self, tmp_path):
        graph = random_graph(1)
        for workers in (1, 3):
            make(graph, tmp_path / str(workers), queries=300, seed=5, workers=workers)
        assert same_files(tmp_path / "1", tmp_path / "3")

    @pytest.mark.parametrize(("queries", "expected"), [(None, "8370e6136bc6f5bb"), (100, "6cd3170136c5131d")])
    def test_the_same_queries_in_every_version(self, tmp_path, queries, expected):
        """A change of what a seed builds must be meant: benchmarks of the same seed are compared with each other."""
        make(random_graph(1), tmp_path / "built", queries=queries, seed=5)
        digest = hashlib.sha256()
        built = Benchmark.open(tmp_path / "built")
        for queries in (each for split in Split for name in GENERAL_TYPES for each in built.query_sets(split, name)):
            answers = (part for ragged in (queries.easy, queries.hard) for part in (ragged.offsets, ragged.items))
            for array in (queries.batch.ids, *answers):
                digest.update(np.ascontiguousarray(array, dtype=np.int64).tobytes())
        assert digest.hexdigest()[:16] == expected

    def test_another_seed_gives_other_queries(self, tmp_path):
        graph = random_graph(1)
        for seed in (1, 2):
            make(graph, tmp_path / str(seed), queries=50, seed=seed)
        assert not same_files(tmp_path / "1", tmp_path / "2")

    def test_a_stopped_build_keeps_what_is_complete_and_goes_on(self, tmp_path):
        graph = random_graph(2)
        make(graph, tmp_path / "whole", queries=200)

        class Stop(BuildProgress):
            def start(self, split, name, wanted):
                if (split, name) == (Split.VALID, "2i"):
                    raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            make(graph, tmp_path / "stopped", queries=200, progress=Stop())
        begun = Benchmark.open(tmp_path / "stopped")
        assert begun.is_complete(Split.VALID, "2p") and not begun.is_complete(Split.VALID, "2i")
        with pytest.raises(UserError, match="not built yet"):
            next(begun.query_sets(Split.TEST, "1p"))
        make(graph, tmp_path / "stopped", queries=200)
        assert same_files(tmp_path / "whole", tmp_path / "stopped")

    def test_a_graph_with_other_names_or_units_is_another_graph(self, tmp_path):
        def named(thing, unit):
            builder = GraphBuilder()
            for number in range(8):
                builder.add_fact(f"{thing}{number}", "near", f"{thing}{(3 * number + 1) % 8}")
                builder.add_value(f"{thing}{number}", "size", float(number), unit)
            return builder.build()

        make(named("a", "metres"), tmp_path / "b", queries=5)
        make(named("a", "metres"), tmp_path / "b", queries=5)
        for other in (named("c", "metres"), named("a", "feet")):
            with pytest.raises(UserError, match="another graph"):
                make(other, tmp_path / "b", queries=5)

    def test_another_build_of_the_same_folder_leaves_the_first_alone(self, tmp_path):
        graph = random_graph(2)
        make(graph, tmp_path / "alone", queries=100)
        refused: list[pytest.ExceptionInfo] = []

        class Second(BuildProgress):
            def advance(self, found):
                if not refused:  # the first has files under way
                    with pytest.raises(UserError, match="being written by another process") as error:
                        make(graph, tmp_path / "both", queries=100)
                    refused.append(error)

        make(graph, tmp_path / "both", queries=100, progress=Second())
        assert refused and same_files(tmp_path / "alone", tmp_path / "both")

    def test_kill_minus_nine_loses_only_what_was_under_way(self, tmp_path):
        graph = random_graph(3)
        graph.save(tmp_path / "graph")
        command = [sys.executable, "-m", "kgreckon", "build", str(tmp_path / "graph"), "--queries", "20000", "--out"]
        process = subprocess.Popen([*command, str(tmp_path / "killed")], stderr=subprocess.DEVNULL)
        deadline = time.monotonic() + 120
        while not (tmp_path / "killed" / "train" / "2i" / "summary.json").exists() and time.monotonic() < deadline:
            time.sleep(0.01)
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
        subprocess.run(
            [*command, str(tmp_path / "killed")], check=True, stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL
        )
        subprocess.run(
            [*command, str(tmp_path / "whole")], check=True, stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL
        )
        assert same_files(tmp_path / "whole", tmp_path / "killed")

    def test_a_benchmark_of_an_older_version_is_read_but_not_continued(self, tmp_path):
        make(random_graph(1), tmp_path / "b", queries=20)
        path = tmp_path / "b" / "benchmark.json"
        header = json.loads(path.read_text()) | {"version": 1}
        del header["known_anchors"], header["checksum"]
        path.write_text(json.dumps(header))
        assert sum(map(len, Benchmark.open(tmp_path / "b").query_sets(Split.TEST, "2i"))) > 0
        with pytest.raises(UserError, match="of an older version, which sampled queries by another rule"):
            make(random_graph(1), tmp_path / "b", queries=20)

    def test_a_folder_of_other_settings_or_of_another_graph_is_left_alone(self, tmp_path):
        make(random_graph(1), tmp_path / "b", queries=20)
        with pytest.raises(UserError, match=r"other settings \(seed\)"):
            make(random_graph(1), tmp_path / "b", queries=20, seed=7)
        with pytest.raises(UserError, match="another graph"):
            make(random_graph(2), tmp_path / "b", queries=20)
        (tmp_path / "c").mkdir()
        (tmp_path / "c" / "mine.txt").write_text("mine")
        with pytest.raises(UserError, match="not a benchmark folder"):
            make(random_graph(1), tmp_path / "c", queries=20)
        assert (tmp_path / "c" / "mine.txt").read_text() == "mine"


class TestDeadEnds:
    def test_a_graph_without_numbers(self, tmp_path):
        builder = GraphBuilder()
        rng = np.random.default_rng(0)
        for head, tail in rng.integers(0, 30, (200, 2)):
            builder.add_fact(f"e{head}", "r", f"e{tail}")
        for mode in ComparisonMode:
            made = make(builder.build(), tmp_path / mode.value, queries=100, mode=mode)
            for name in GENERAL_TYPES:
                for split in Split:
                    assert all(not queries.shape.touches_numbers for queries in made.query_sets(split, name))
                assert made.summary(Split.TRAIN, name)["found"] > 0

    def test_a_graph_without_relations(self, tmp_path):
        builder = GraphBuilder()
        for index in range(40):
            builder.add_value(f"e{index}", "size", index % 7 + 1, "metres")
        made = make(builder.build(), tmp_path / "b", queries=50)
        assert made.summary(Split.TRAIN, "2i")["found"] > 0
        assert all("rp" not in text for text in made.summary(Split.TRAIN, "2p")["shapes"])

    def test_a_type_that_a_graph_cannot_yield_ends_with_a_count(self, tmp_path):
        builder = GraphBuilder()
        builder.add_fact("a", "r", "b")
        made = make(builder.build(), tmp_path / "b", queries=1000)
        assert made.summary(Split.TRAIN, "3i") == {"wanted": 1000, "found": 0, "shapes": {}, "files": {}}
        assert list(made.query_sets(Split.TEST, "1p")) == []

    def test_a_type_written_out_is_sampled_as_it_stands(self, tmp_path):
        types = {"far": Shape.parse("(rp,(rp,(rap,(nv))))"), "not": Shape.parse("(n,(rp,(e)))")}
        made = make(random_graph(), tmp_path / "b", queries=50, types=types)
        assert list(made.summary(Split.TRAIN, "far")["shapes"]) == ["(rp,(rp,(rap,(nv))))"]
        assert made.summary(Split.TRAIN, "not")["found"] == 50

    @pytest.mark.parametrize("name", ["a/b", "", "..", "x" * 65, "ü"])
    def test_a_type_name_that_is_no_folder_name_is_an_error(self, tmp_path, name):
        with pytest.raises(UserError, match="cannot name a type"):
            make(random_graph(), tmp_path / "b", types={name: GENERAL_TYPES["1p"]})
        assert not (tmp_path / "b").exists()

    def test_a_type_that_cannot_be_meant_is_an_error(self, tmp_path):
        with pytest.raises(UserError, match="starts from entities"):
            make(random_graph(), tmp_path / "b", types={"wrong": Shape.parse("(rp,(nv))")})

    def test_a_dataset_wants_its_number_of_attributes(self, tmp_path):
        with pytest.raises(UserError, match="the dataset fb15k has 15 attributes"):
            make(random_graph(), tmp_path / "b", dataset="fb15k")
        with pytest.raises(UserError, match="unknown dataset"):
            make(random_graph(), tmp_path / "b", dataset="fb15")

    def test_a_dataset_wants_its_graph(self, tmp_path):
        builder = GraphBuilder()
        for attribute in range(7):
            builder.add_fact("a", "near", "b")
            builder.add_value("a", f"size{attribute}", 1.0, "metres")
        with pytest.raises(UserError, match="YAGO15k has 122,886 facts, this graph 1: it is not the one"):
            make(builder.build(), tmp_path / "b", dataset="yago15k")

    def test_where_numbers_come_from_may_be_written(self, tmp_path):
        made = make(random_graph(), tmp_path / "b", queries=20, mode="sampled")
        assert made.mode is ComparisonMode.SAMPLED
        with pytest.raises(UserError, match="comparisons are computed, sampled or released, not 'some'"):
            make(random_graph(), tmp_path / "c", mode="some")

    def test_a_query_may_name_what_only_hidden_facts_hold_where_that_is_asked_for(self, tmp_path):
        def unknown(made) -> int:
            train = made.graphs.at(Split.TRAIN)
            known = {Operator.ENTITY: entities_in(train), Operator.NUMBER: values_in(train)}
            return sum(
                int((~known[operator][queries.batch.ids[:, column]]).sum())
                for name in ("2u", "up")
                for queries in made.query_sets(Split.TEST, name)
                for column, operator in enumerate(queries.shape.columns)
                if operator in known
            )

        assert unknown(make(random_graph(), tmp_path / "any", queries=300, known_anchors=False)) > 0
        assert unknown(make(random_graph(), tmp_path / "known", queries=300)) == 0

    def test_a_dataset_is_built_as_released_unless_told_otherwise(self, data_folder):
        graph = open_graph(data_folder / "DB15K", 30)
        chosen = BuildSettings.choose(graph, dataset="db15k")
        assert (chosen.mode, chosen.known_anchors) == (ComparisonMode.RELEASED, False)
        own = BuildSettings.choose(graph)
        assert (own.mode, own.known_anchors) == (ComparisonMode.SAMPLED, True)
        other = BuildSettings.choose(graph, dataset="db15k", mode="computed", known_anchors=True)
        assert (other.mode, other.known_anchors) == (ComparisonMode.COMPUTED, True)
        assert {chosen.as_json()["numbers"], own.as_json()["numbers"]} == {"released", "sampled"}
