"""How hard answers are: the counts against a brute-force search for the fewest facts that prove an answer."""

import json
from itertools import combinations

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from kgreckon.benchmark import Benchmark, BuildSettings, Split, SplitGraph, build
from kgreckon.benchmark.balancing import equal_shares
from kgreckon.benchmark.hardness import Hardness, ProofSearch
from kgreckon.benchmark.numerical_edges import with_numerical_edges
from kgreckon.benchmark.overview import benchmark_statistics
from kgreckon.benchmark.sampling import Walker
from kgreckon.benchmark.walking import Program
from kgreckon.errors import UserError
from kgreckon.evaluation import EvaluationQueries, EvaluationResult, evaluate_scores
from kgreckon.exact import ComparisonMode, Ragged, answer
from kgreckon.graph import KnowledgeGraph
from kgreckon.query import (
    GENERAL_TYPES,
    NAMED_TYPES,
    SEVEN,
    And,
    Batch,
    Compare,
    Entity,
    Follow,
    HavingValue,
    Not,
    Number,
    Operator,
    Or,
    Query,
    Shape,
    ValueOf,
    sort_of,
    specific_shapes,
)
from kgreckon.query.algebra import EntitySort
from kgreckon.reproduce.result_files import result_of
from kgreckon.runs import train
from kgreckon.runs.run_folder import benchmark_hash
from random_graph import random_graph

SHAPES = [shape for name in [*GENERAL_TYPES, "3p", "pin", "pni"] for shape in specific_shapes(NAMED_TYPES[name])]
FEW = {name: NAMED_TYPES[name] for name in ("1p", "2i", "3i")}
OWN = ["(rap,(np,(u,(ap,(e)),(np,(nv)))))", "(np,(i,(np,(nv)),(np,(ap,(e)))))", "(rp,(n,(n,(rp,(e)))))"]


class Oracle:
    """The meaning of a query on some of the facts of a small graph, by plain sets."""

    def __init__(self, split: SplitGraph, mode: ComparisonMode) -> None:
        self.split, self.mode = split, mode
        self.graph = split.graph
        self.facts = _rows(self.graph.facts)
        self.values = _rows(self.graph.attribute_facts)
        self.all = frozenset(range(len(self.facts) + len(self.values)))
        entered = np.concatenate([split.fact_splits, split.attribute_fact_splits])
        self.training = frozenset(np.flatnonzero(entered == Split.TRAIN).tolist())

    def is_value(self, fact: int) -> bool:
        return fact >= len(self.facts)

    def answers(self, query: Query, known: frozenset) -> set:
        facts = [fact for number, fact in enumerate(self.facts) if number in known]
        values = [fact for number, fact in enumerate(self.values, len(self.facts)) if number in known]
        below = self.answers
        match query:
            case Entity(entity):
                return {entity}
            case Number(value, unit):
                return {self.graph.values.row_of(value, unit)}
            case Follow(relation, of):
                start, label = below(of, known), relation // 2
                if relation % 2:
                    return {head for head, own, tail in facts if own == label and tail in start}
                return {tail for head, own, tail in facts if own == label and head in start}
            case ValueOf(attribute, of):
                start = below(of, known)
                return {row for entity, own, row in values if own == attribute and entity in start}
            case HavingValue(attribute, of):
                start = below(of, known)
                return {entity for entity, own, row in values if own == attribute and row in start}
            case Compare(comparison, of):
                return self.compared(list(SEVEN.values()).index(comparison), below(of, known), values)
            case And(parts):
                return set.intersection(*(below(part, known) for part in parts))
            case Or(parts):
                return set.union(*(below(part, known) for part in parts))
            case Not(of):  # what the whole graph does not prove
                sort = sort_of(of, self.graph.vocabulary)
                everything: set = set(range(len(self.graph.entities)))
                if not isinstance(sort, EntitySort):
                    everything = {row for unit in sort.units for row in rows_of(self.graph, unit)}
                return everything - below(of, self.all)
        raise AssertionError(query)

    def compared(self, label: int, start: set, values: list) -> set:
        if self.mode.is_computed:
            table = [self.graph.values.number_at(row) for row in range(len(self.graph.values))]
            holds = list(SEVEN.values())[label].holds
            return {
                row
                for row, (x, unit) in enumerate(table)
                if any(unit == table[y][1] and holds(x, table[y][0]) for y in start)
            }
        stated = {row for _, _, row in values}
        return {x for y, own, x in _rows(self.graph.comparisons) if own == label and y in start and x in stated}

    def hardness(self, query: Query, wanted: int) -> tuple[int, int]:
        """The fewest facts and values to add to the training graph so that it proves an answer; then fewest values."""
        hidden = sorted(self.all - self.training)
        for count in range(len(hidden) + 1):
            enough = [
                sum(map(self.is_value, added))
                for added in combinations(hidden, count)
                if wanted in self.answers(query, self.training | set(added))
            ]
            if enough:
                return count - min(enough), min(enough)
        raise AssertionError("an answer of the whole graph needs no more than the whole graph")


def rows_of(graph: KnowledgeGraph, unit: str) -> range:
    table = graph.values.rows_of(unit)
    return range(table.start, table.stop)


def _rows(triples) -> list[tuple[int, int, int]]:
    return list(zip(*(column.tolist() for column in (triples.sources, triples.labels, triples.targets)), strict=True))


def small_split(seed: int, mode: ComparisonMode, hidden: float = 0.35) -> SplitGraph:
    rng = np.random.default_rng(seed)
    graph = random_graph(seed, entities=7, facts=12, values=9)
    splits = [
        np.where(rng.random(len(each)) < hidden, np.int8(2), np.int8(0))
        for each in (graph.facts, graph.attribute_facts)
    ]
    split = SplitGraph(graph, *splits)
    return split if mode.is_computed else with_numerical_edges(split, rng, mode, 40)


def some_queries(split: SplitGraph, mode: ComparisonMode, shape: Shape, seed: int) -> Batch:
    """Queries of a shape: walks on the graph, which have answers, and random ids as far as they can be meant."""
    walks = Walker(split.graph, mode).draw(Program(shape), seed, 0, 100).ids
    graph, rng = split.graph, np.random.default_rng(seed)
    limits = {
        Operator.ENTITY: len(graph.entities),
        Operator.NUMBER: len(graph.values),
        Operator.FOLLOW: 2 * len(graph.relations),
        Operator.VALUE_OF: len(graph.attributes),
        Operator.HAVING_VALUE: len(graph.attributes),
        Operator.COMPARE: len(SEVEN),
    }
    batch = Batch(shape, np.stack([rng.integers(limits[each], size=60) for each in shape.columns], axis=1))
    meant = [row for row in range(len(batch)) if can_be_meant(batch.query(row, graph.values), graph)]
    return Batch(shape, np.concatenate([walks, batch.ids[meant]]))


def can_be_meant(query: Query, graph: KnowledgeGraph) -> bool:
    try:
        sort_of(query, graph.vocabulary)
    except UserError:
        return False
    return True


def hard_answers(split: SplitGraph, batch: Batch, mode: ComparisonMode) -> Ragged:
    own, training = (answer(split.at(each), batch, mode) for each in (Split.TEST, Split.TRAIN))
    hard = [np.setdiff1d(own[row], training[row]) for row in range(len(batch))]
    offsets = np.concatenate([[0], np.cumsum([len(each) for each in hard])])
    return Ragged(offsets, np.concatenate([np.zeros(0, dtype=np.int32), *hard]).astype(np.int32))


@settings(max_examples=40)
@given(st.integers(0, 10_000), st.sampled_from(list(ComparisonMode)), st.data())
def test_counts_are_those_of_the_fewest_facts_that_prove_an_answer(seed, mode, data):
    split = small_split(seed, mode)
    oracle = Oracle(split, mode)
    shapes = [*SHAPES, *map(Shape.parse, OWN)]
    for shape in data.draw(st.lists(st.sampled_from(shapes), min_size=4, max_size=4)):
        batch = some_queries(split, mode, shape.canonical, seed)
        hard = hard_answers(split, batch, mode)
        found = ProofSearch(split, Split.TEST, mode).hardness(batch, hard)
        of = np.repeat(np.arange(len(batch)), hard.counts)
        for place in range(0, len(found), max(1, len(found) // 6)):
            query = batch.query(int(of[place]), split.graph.values)
            wanted = oracle.hardness(query, int(hard.items[place]))
            assert (found.facts[place], found.values[place]) == wanted, (shape.text, batch.ids[of[place]])


def test_an_answer_that_nothing_proves_is_an_error():
    split = small_split(0, ComparisonMode.COMPUTED)
    nobody = next(head for head in range(len(split.graph.entities)) if not len(split.graph.follows.row(head, 0)))
    batch = Batch(Shape.parse("(rp,(e))"), np.array([[0, nobody]]))
    wrong = Ragged(np.array([0, 1]), np.array([0], dtype=np.int32))
    with pytest.raises(UserError, match=r"\(rp,\(e\)\) has an answer that its graph does not prove"):
        ProofSearch(split, Split.TEST, ComparisonMode.COMPUTED).hardness(batch, wrong)


def test_batches_and_workers_change_nothing():
    split = small_split(3, ComparisonMode.SAMPLED)
    batch = some_queries(split, ComparisonMode.SAMPLED, Shape.parse("(rp,(rp,(e)))"), 3)
    batch = Batch(batch.shape, np.tile(batch.ids, (40, 1)))
    hard = hard_answers(split, batch, ComparisonMode.SAMPLED)
    proofs = ProofSearch(split, Split.TEST, ComparisonMode.SAMPLED)
    together = proofs.hardness(batch, hard, workers=2)
    assert len(batch) > 1024
    assert len(together) == len(hard.items) and (together.missing > 0).all()
    half = len(batch) // 2
    apart = [
        proofs.hardness(batch[rows], hard.take(np.arange(len(batch))[rows]))
        for rows in (slice(half), slice(half, None))
    ]
    assert together.facts.tolist() == Hardness.concatenate(apart).facts.tolist()
    assert together.values.tolist() == Hardness.concatenate(apart).values.tolist()


@pytest.fixture(scope="module", params=["sampled", "computed"])
def both(request, tmp_path_factory) -> tuple[Benchmark, Benchmark]:
    folder, graph = tmp_path_factory.mktemp("balanced"), random_graph()
    choices = [
        BuildSettings.choose(graph, types=FEW, queries=200, mode=request.param, balance=each)
        for each in (None, "missing")
    ]
    ordinary, balanced = (build(graph, folder / str(own.balance), own, workers=2) for own in choices)
    return ordinary, balanced


class TestBalanced:
    def test_graphs_and_training_queries_are_those_of_the_ordinary_benchmark(self, both):
        ordinary, balanced = both
        for folder in ("train", "graph"):
            one, other = ordinary.folder / folder, balanced.folder / folder
            names = sorted(path.relative_to(one) for path in one.rglob("*") if path.is_file())
            assert names and all((one / name).read_bytes() == (other / name).read_bytes() for name in names)
        assert benchmark_hash(ordinary) == benchmark_hash(balanced)

    def test_a_query_asks_for_answers_of_one_number_and_knows_the_others(self, both):
        _, balanced = both
        for split in (Split.VALID, Split.TEST):
            proofs = ProofSearch(balanced.graphs, split, balanced.mode)
            for name in balanced.types:
                for queries in balanced.query_sets(split, name):
                    missing = proofs.hardness(queries.batch, queries.hard).missing
                    own = answer(balanced.graphs.at(split), queries.batch, balanced.mode)
                    before = answer(balanced.graphs.at(Split(split - 1)), queries.batch, balanced.mode)
                    met = set()
                    for row, (easy, hard) in enumerate(zip(queries.easy, queries.hard, strict=True)):
                        numbers = set(missing[queries.hard.offsets[row] : queries.hard.offsets[row + 1]].tolist())
                        assert len(numbers) == 1 and 0 not in numbers
                        assert not set(easy.tolist()) & set(hard.tolist())
                        assert sorted([*easy, *hard]) == own[row].tolist() and easy.tolist() == sorted(easy)
                        assert not set(hard.tolist()) & set(before[row].tolist())
                        met.add((*queries.batch.ids[row].tolist(), *numbers))
                    assert len(met) == len(queries)

    def test_shares_are_equal_as_far_as_the_graph_yields_them(self, both):
        _, balanced = both
        met = {}
        for counts in benchmark_statistics(balanced).queries:
            if counts.split == "train":
                assert not counts.missing
                continue
            wanted = equal_shares(balanced.types[counts.type], 20)
            assert sum(wanted.values()) == 20
            for number, share in counts.missing_of_queries.items():
                assert round(share * counts.found) <= wanted[number]
            met[counts.split, counts.type] = counts.missing_of_queries
        assert met["test", "1p"] == {1: 1.0}
        assert met["test", "2i"] == {1: 0.5, 2: 0.5}
        assert set(met["test", "3i"]) == {1, 2, 3}

    def test_a_folder_is_not_continued_with_the_other_kind(self, both):
        ordinary, balanced = both
        for folder, balance in ((ordinary.folder, "missing"), (balanced.folder, None)):
            chosen = BuildSettings.choose(random_graph(), types=FEW, queries=200, mode=ordinary.mode, balance=balance)
            with pytest.raises(UserError, match=r"other settings \(balance\)"):
                build(random_graph(), folder, chosen)

    def test_an_unknown_balance_is_an_error(self):
        with pytest.raises(UserError, match="queries can be balanced by missing, not by 'luck'"):
            BuildSettings.choose(random_graph(), balance="luck")


def test_an_evaluation_tells_the_mrr_by_what_is_missing(tmp_path):
    graph = random_graph()
    made, balanced = (
        build(graph, tmp_path / name, BuildSettings.choose(graph, types=FEW, queries=200, balance=balance))
        for name, balance in (("ordinary", None), ("balanced", "missing"))
    )
    run = train(made, "gqe", out=tmp_path / "run", preset="small", steps=20, device="cpu")
    queries = EvaluationQueries.load(made, Split.TEST, torch.device("cpu"), with_hardness=True)
    # Whoever knows all that lacks one fact or less, and nothing else.
    proofs = ProofSearch(made.graphs, Split.TEST, made.mode)

    def score(batch):
        ids = batch.ids.numpy()
        own = answer(made.graphs.at(Split.TEST), Batch(batch.shape, ids), made.mode)
        missing = proofs.hardness(Batch(batch.shape, ids), own).missing
        size = len(graph.values) if batch.shape.denotes_numbers else len(graph.entities)
        scores = torch.zeros(len(ids), size)
        for row in range(len(ids)):
            scores[row, own[row][missing[own.offsets[row] : own.offsets[row + 1]] <= 1].tolist()] = 1.0
        return scores

    found = evaluate_scores(score, queries).result().as_json()
    for target in ("entity_targets", "number_targets"):
        rows = {row["missing"]: row for row in found[target]["by_hardness"]["by_missing"]}
        assert rows[1]["mrr"] == pytest.approx(100)
        assert rows[2]["mrr"] < 30 if target == "entity_targets" else 2 not in rows
        apart = found[target]["by_hardness"]["by_facts_and_values"]
        for number, row in rows.items():
            assert sum(own["answers"] for own in apart if own["missing"] == number) == row["answers"]
    total = sum(len(own.items[1]) for own in queries.sets)
    tables = [found[target]["by_hardness"]["by_missing"] for target in ("entity_targets", "number_targets")]
    assert sum(row["answers"] for table in tables for row in table) == total

    ordinary, on_balanced = run.evaluate(device="cpu"), run.evaluate(benchmark=balanced.folder, device="cpu")
    assert EvaluationResult.from_json(ordinary.as_json()) == ordinary
    assert ordinary.queries == len(queries) and on_balanced.entity_targets != ordinary.entity_targets
    kept = [json.loads((run.folder / f"test_metrics{end}.json").read_text()) for end in ("", "_balanced")]
    tables = [each["entity_targets"]["all"] for each in kept]
    assert tables[0] != tables[1] and on_balanced.entity_targets.all is not None
    result = result_of(run.folder)
    assert result["entity_targets"]["by_hardness"]["by_missing"][0]["missing"] == 1
    assert result["balanced"]["entity_targets"]["all"]["mrr"] == pytest.approx(tables[1]["mrr"])
