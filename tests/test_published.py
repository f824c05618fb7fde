"""Published benchmarks: BetaE's folders and packed ones, and pickles that are not to be trusted."""

import gzip
import json
import os
import pickle
import pickletools
import re
import struct
from collections import OrderedDict, defaultdict
from itertools import chain

import numpy as np
import pytest

from betae_folder import ENTITIES, STRUCTURES, BetaEFolder, answers
from kgreckon.benchmark import Benchmark, Split
from kgreckon.benchmark.importing import import_benchmark
from kgreckon.benchmark.overview import benchmark_statistics
from kgreckon.benchmark.plain_pickle import read_plain_pickle
from kgreckon.errors import UserError
from kgreckon.query import NAMED_TYPES, Operator


def contents(benchmark: Benchmark) -> dict:
    """By split and type, the queries as BetaE writes them, with their easy and hard answers."""
    found: dict = defaultdict(dict)
    for split in Split:
        for name in benchmark.types:
            for queries in benchmark.query_sets(split, name):
                for index, row in enumerate(queries.batch.ids.tolist()):
                    query = as_tuples(queries.shape, iter(row))
                    found[split.label, name][query] = set(queries.easy[index]), set(queries.hard[index])
    return found


def as_tuples(shape, ids):
    """A query of ours as nested tuples: a path, an intersection, or a union."""
    steps = []
    while shape.operator in (Operator.FOLLOW, Operator.NOT):
        steps.append(next(ids) if shape.operator is Operator.FOLLOW else -2)
        (shape,) = shape.parts
    if shape.operator is Operator.ENTITY:
        return next(ids), tuple(reversed(steps))
    branches = tuple(as_tuples(part, ids) for part in shape.parts)
    branches += ((-1,),) if shape.operator is Operator.OR else ()
    return (branches, tuple(reversed(steps))) if steps else branches


@pytest.fixture(scope="module")
def betae() -> BetaEFolder:
    return BetaEFolder()


@pytest.fixture(scope="module")
def imported(betae, tmp_path_factory):
    folder = tmp_path_factory.mktemp("published")
    return import_benchmark(betae.write(folder / "FB-betae"), folder / "benchmark")


class TestBetaE:
    def test_all_types_have_the_answers_of_the_files(self, betae, imported):
        benchmark, report = imported
        assert list(benchmark.types) == [name for name in NAMED_TYPES if name in STRUCTURES]
        found = contents(benchmark)
        for split, queries in betae.queries.items():
            for name, structure in STRUCTURES.items():
                own = found[split, name]
                assert set(own) == queries[structure]
                for query, (easy, hard) in own.items():
                    if split == "train":
                        assert not easy and hard == betae.answers["train-answers"][query]
                    else:
                        assert easy == betae.answers[f"{split}-easy-answers"][query]
                        assert hard == betae.answers[f"{split}-hard-answers"][query]
        assert not any(counts.differences or counts.without_hard_answers for counts in report.types)

    def test_a_query_with_negation_keeps_easy_answers_that_later_facts_refute(self, betae, imported):
        """They are not ranked against, as in BetaE's own evaluation."""
        edges: dict = defaultdict(set)
        for head, relation, tail in chain(*betae.lines.values()):
            edges[head, relation].add(tail)
        refuted = [
            easy - answers(query, edges)
            for (split, name), queries in contents(imported[0]).items()
            if split == "test" and name.endswith(("n", "np", "ni"))
            for query, (easy, _) in queries.items()
        ]
        assert any(refuted)

    def test_a_relation_and_its_inverse_are_one(self, betae, imported):
        graph = imported[0].graph
        assert graph.relations.names.to_pylist() == ["/r0", "/r1", "/r2"]
        assert graph.entities.names.to_pylist()[7] == "/m/007" and len(graph.entities) == ENTITIES
        assert len(graph.facts) == sum(map(len, betae.facts.values()))
        sizes = [len(imported[0].graphs.at(split).facts) for split in Split]
        assert sizes == [240, 300, len(graph.facts)]

    def test_de_morgan_forms_are_left_out_and_told(self, imported):
        left_out = [remark for remark in imported[1].remarks if "disjunctive form" in remark]
        assert len(left_out) == 4 and all("8 queries" in remark for remark in left_out)

    def test_statistics_name_all_types(self, imported):
        counted = {(own.split, own.type): own.found for own in benchmark_statistics(imported[0]).queries}
        assert set(counted.values()) == {8} and len(counted) == 3 * len(STRUCTURES)

    def test_facts_stated_one_way_make_relations_of_their_own(self, betae, imported, tmp_path):
        folder = betae.write(tmp_path / "folder")
        lines = (folder / "test.txt").read_text().splitlines()
        (folder / "test.txt").write_text("\n".join([*lines, "1\t0\t1"]) + "\n")
        benchmark, report = import_benchmark(folder, tmp_path / "out")
        assert len(benchmark.graph.relations) == 6 and "taken for one of its own" in report.remarks[0]
        (queries,) = benchmark.query_sets(Split.TRAIN, "2p")
        assert not (queries.batch.ids[:, :2] % 2).any()
        relations = queries.batch.ids // [2, 2, 1]
        (paired,) = imported[0].query_sets(Split.TRAIN, "2p")
        assert np.array_equal(relations, paired.batch.ids)
        assert np.array_equal(queries.hard.items, paired.hard.items)

    def test_other_names_files_and_missing_splits_will_do(self, betae, tmp_path):
        folder = betae.write(tmp_path / "folder", protocol=2)
        for name in ("id2ent", "id2rel", "train-queries", "valid-queries", "test-easy-answers", "train-answers"):
            (folder / f"{name}.pkl").unlink()
        benchmark, report = import_benchmark(folder, tmp_path / "out")
        assert {counts.split for counts in report.types} == {"test"}
        assert benchmark.summary(Split.VALID, "2in")["found"] == 0
        assert benchmark.graph.entities.name(3) == "/m/003"

    def test_validation_queries_are_drawn_where_there_are_none(self, betae, tmp_path):
        folder = betae.write(tmp_path / "folder")
        (folder / "valid-queries.pkl").unlink()
        benchmark, _ = import_benchmark(folder, tmp_path / "out", validation_queries=5)
        assert benchmark.header["queries"]["valid"]["pni"] == 5
        for name in benchmark.types:
            for queries in benchmark.query_sets(Split.VALID, name):
                assert 0 < len(queries) <= 5 and queries.hard.counts.min() > 0

    def test_queries_without_a_hard_answer_are_dropped_and_told(self, betae, tmp_path):
        other = BetaEFolder()
        other.lines["valid"] += other.lines["test"]  # nothing is left to be found
        other.lines["test"] = [(0, 0, 0), (0, 1, 0)]
        benchmark, report = import_benchmark(other.write(tmp_path / "folder"), tmp_path / "out")
        for counts in report.types:
            kept = sum(len(queries) for queries in benchmark.query_sets(Split.of(counts.split), counts.type))
            assert kept == counts.kept == counts.read - counts.without_hard_answers
        lost = next(own for own in report.types if (own.split, own.type) == ("test", "2i")).without_hard_answers
        assert lost >= 7 and f"test 2i: {lost} of 8 queries left out, which have no hard answer" in report.remarks

    def test_no_query_at_all_is_an_error(self, betae, tmp_path):
        other = BetaEFolder(per_type=1)
        other.lines = {split: [(1, 0, 1), (1, 1, 1)] for split in other.lines}
        with pytest.raises(UserError, match="no query has a hard answer"):
            import_benchmark(other.write(tmp_path / "folder"), tmp_path / "out")
        assert [path.name for path in tmp_path.iterdir()] == ["folder"]


class TestContradictions:
    @pytest.mark.parametrize(
        ("kind", "wrong"), [("easy", "not proved"), ("hard", "not proved"), ("easy", "missing"), ("hard", "missing")]
    )
    def test_answers_that_differ_are_counted_and_the_proved_ones_taken(self, imported, tmp_path, kind, wrong):
        other = BetaEFolder()
        queries = sorted(other.queries["test"][STRUCTURES["pni"]], key=str)
        stated = other.answers[f"test-{kind}-answers"]
        changed = next(query for query in queries if stated[query] and len(stated[query]) < ENTITIES)
        if wrong == "missing":
            stated[changed] = set(sorted(stated[changed])[1:])
        else:
            stated[changed] = stated[changed] | {min(set(range(ENTITIES)) - stated[changed])}
        folder = other.write(tmp_path / "folder")
        benchmark, report = import_benchmark(folder, tmp_path / "out")
        assert contents(benchmark) == contents(imported[0])
        (difference,) = [own for counts in report.types for own in counts.differences]
        assert difference.file == f"test-{kind}-answers.pkl" and difference.queries == 1
        assert (difference.unproved, difference.missing) == ((1, 0) if wrong == "not proved" else (0, 1))
        assert str(changed) in difference.first
        assert any(f"test-{kind}-answers.pkl: the answers of 1 of 8 pni queries" in own for own in report.remarks)
        with pytest.raises(UserError, match=rf"test-{kind}-answers\.pkl: the query .* the answer \d+") as error:
            import_benchmark(folder, tmp_path / "strict", strict=True)
        assert str(changed) in str(error.value)
        assert sorted(path.name for path in tmp_path.iterdir()) == ["folder", "out"]

    def test_a_fact_of_an_earlier_split_is_counted_there_or_an_error_with_its_line(self, betae, tmp_path):
        folder = betae.write(tmp_path / "folder")
        head, relation, tail = betae.lines["train"][10]
        inverse = tail, relation + 1, head
        lines = (folder / "valid.txt").read_text()
        again = "".join(f"{h}\t{r}\t{t}\n" for h, r, t in ((head, relation, tail), inverse))
        (folder / "valid.txt").write_text(lines + again)
        benchmark, report = import_benchmark(folder, tmp_path / "out")
        assert len(benchmark.graphs.at(Split.TRAIN).facts) == 240 and len(benchmark.graphs.at(Split.VALID).facts) == 300
        place = r"valid\.txt:121: this fact is in train\.txt too"
        assert any(re.search(place, remark) for remark in report.remarks)
        with pytest.raises(UserError, match=place):
            import_benchmark(folder, tmp_path / "strict", strict=True)


class TestBadFolders:
    @pytest.mark.parametrize(
        ("name", "line", "problem"),
        [
            ("train", "40\t0\t1", r"train\.txt:481: there is no entity 40: there are 40"),
            ("test", "1\t6\t1", r"test\.txt:\d+: there is no relation 6"),
            ("valid", "1\tx\t1", r"valid\.txt:121: 'x' is not the number of a relation"),
            ("valid", "-1\t1\t1", r"valid\.txt:121: '-1' is not the number of an entity"),
            ("valid", "1\t1", r"valid\.txt:121: expected 3 tab-separated fields, found 2"),
        ],
    )
    def test_a_line_that_is_no_fact_is_named(self, betae, tmp_path, name, line, problem):
        folder = betae.write(tmp_path / "folder")
        path = folder / f"{name}.txt"
        path.write_text(path.read_text() + line + "\n")
        self.fails(folder, tmp_path, problem)

    @pytest.mark.parametrize(
        ("structure", "query", "problem"),
        [
            ("1p", (40, (0,)), r"the query \(40, \(0,\)\) has the entity 40, but there are 40"),
            ("1p", (-1, (0,)), "has the entity -1"),
            ("2p", (4, (0, 6)), r"the query \(4, \(0, 6\)\) has the relation 6, but there are 6"),
            ("1p", (4, (0, 1)), "does not have the structure"),
            ("1p", 4, "does not have the structure"),
            ("1p", (4, ("r",)), "has 'r' in place of 'r'"),
            ("2in", ((1, (1,)), (2, (1, -1))), "has -1 in place of 'n'"),
        ],
    )
    def test_a_query_that_cannot_be_meant_is_named(self, tmp_path, structure, query, problem):
        other = BetaEFolder(per_type=1)
        other.queries["test"][STRUCTURES[structure]].add(query)
        self.fails(other.write(tmp_path / "folder"), tmp_path, rf"test-queries\.pkl: .*{problem}")

    @pytest.mark.parametrize("structure", [("e",), "e", ("q", ("r",)), (("e", ("r",)),), (), (("u",), ("e", ("r",)))])
    def test_a_structure_that_is_none_is_named(self, tmp_path, structure):
        other = BetaEFolder(per_type=1)
        other.queries["test"][structure].add((1, (1,)))
        self.fails(other.write(tmp_path / "folder"), tmp_path, r"test-queries\.pkl: .*not the structure of a query")

    @pytest.mark.parametrize(("answer", "problem"), [(40, "has the answer 40"), (-1, "answer -1"), ("7", "not an int")])
    def test_an_answer_that_is_no_entity_is_named(self, tmp_path, answer, problem):
        other = BetaEFolder(per_type=1)
        query = next(iter(other.queries["valid"][STRUCTURES["up"]]))
        other.answers["valid-hard-answers"][query] = {1, answer}
        self.fails(other.write(tmp_path / "folder"), tmp_path, rf"valid-hard-answers\.pkl: .*{problem}")

    @pytest.mark.parametrize(
        ("name", "data"),
        [
            ("test-queries", [1, 2]),
            ("test-queries", {("e", ("r",)): [(1, (1,))]}),
            ("test-queries", {("e", ("r",)): 3}),
            ("test-hard-answers", {1, 2}),
            ("id2ent", {0: "a", 2: "b"}),
            ("id2ent", {0: "a", 1: "a"}),
            ("id2ent", {0: 5}),
            ("id2ent", {}),
            ("id2rel", ["a", "b"]),
        ],
    )
    def test_a_pickle_of_something_else_is_named(self, betae, tmp_path, name, data):
        folder = betae.write(tmp_path / "folder")
        (folder / f"{name}.pkl").write_bytes(pickle.dumps(data))
        self.fails(folder, tmp_path, rf"{name}\.pkl")

    @pytest.mark.parametrize("name", ["train.txt", "valid.txt", "id2rel.pkl"])
    def test_a_missing_file_is_named(self, betae, tmp_path, name):
        folder = betae.write(tmp_path / "folder")
        (folder / name).unlink()
        (folder / "rel2id.pkl").unlink()
        self.fails(folder, tmp_path, name.replace(".", r"\."))

    def test_other_folders_are_told_what_is_expected(self, tmp_path):
        (tmp_path / "folder").mkdir()
        self.fails(tmp_path / "folder", tmp_path, r"neither test-queries\.pkl.* nor testing_queries\.json")
        with pytest.raises(UserError, match="no such folder"):
            import_benchmark(tmp_path / "nowhere", tmp_path / "out")

    def test_what_is_there_is_not_overwritten(self, betae, tmp_path):
        folder = betae.write(tmp_path / "folder")
        with pytest.raises(UserError, match="already exists"):
            import_benchmark(folder, folder)

    def fails(self, folder, tmp_path, problem):
        with pytest.raises(UserError, match=problem):
            import_benchmark(folder, tmp_path / "out")
        assert [path.name for path in tmp_path.iterdir()] == ["folder"]


PLAIN = {
    ("e", ("r",)): {(1, (2,)), (70_000, (300,))},
    "text": [1, -5, 2**31, 2**62, "ä", "x" * 300],
    (): frozenset({1, "2"}),
    3: {"inner": set(range(3000)), "list": list(range(3000)), "empty": [set(), {}, (), []]},
    4: ((1, 2, 3, 4, 5), (1,), (1, 2), (1, 2, 3)),
}


class Evil:
    """Runs a command where a pickle is trusted."""

    def __init__(self, *call):
        self.call = call

    def __reduce__(self):
        return self.call


def opcodes(*codes: bytes) -> bytes:
    return b"\x80\x04" + b"".join(codes) + b"."


DOUBLING = b"".join(b"\x94h" + bytes([place]) + b"\x86" for place in range(200))  # a tuple of itself twice, 200 times


class TestPlainPickle:
    @pytest.mark.parametrize("protocol", [2, 3, 4, 5])
    def test_plain_data_comes_back(self, tmp_path, protocol):
        (tmp_path / "data.pkl").write_bytes(pickle.dumps(PLAIN, protocol=protocol))
        assert read_plain_pickle(tmp_path / "data.pkl") == PLAIN
        for factory in (set, list, None):
            data = defaultdict(factory, PLAIN)
            (tmp_path / "data.pkl").write_bytes(pickle.dumps([data, data, ("shared",) * 2], protocol=protocol))
            first, second, shared = read_plain_pickle(tmp_path / "data.pkl")
            assert type(first) is dict and first == PLAIN and second is first and shared == ("shared", "shared")

    def test_progress_is_told(self, tmp_path):
        (tmp_path / "data.pkl").write_bytes(pickle.dumps(set(range(10**6))))
        told = []
        read_plain_pickle(tmp_path / "data.pkl", lambda done, total: told.append((done, total)))
        assert len(told) > 2 and told == sorted(told) and told[-1][0] == told[-1][1]

    @pytest.mark.parametrize("protocol", [2, 3, 4, 5])
    @pytest.mark.parametrize(
        ("made", "forbidden"),
        [
            (lambda path: Evil(os.system, (f"touch {path}",)), "posix.system"),
            (lambda path: Evil(eval, (f"open({str(path)!r}, 'w')",)), r"\w+.eval"),
            (lambda path: Evil(getattr, ({}, "clear")), r"\w+.getattr"),
            (lambda path: Evil(type, (1,)), r"\w+.type"),
            (lambda path: Evil(dict, ([(1, 2)],)), r"\w+.dict"),
            (lambda path: Evil(str, (b"bytes",)), r"\w+.(str|unicode)"),
            (lambda path: Evil(OrderedDict, ()), "collections.OrderedDict"),
            (lambda path: defaultdict(int), r"\w+.(int|long)"),
            (lambda path: defaultdict(dict), r"\w+.dict"),
            (lambda path: defaultdict(frozenset), "neither a set nor a list"),
            (lambda path: np.int64(5), "numpy"),
            (lambda path: path, "pathlib"),
            (lambda path: 1.5, "BINFLOAT"),
            (lambda path: None, "NONE"),
            (lambda path: True, "NEWTRUE"),
            (lambda path: b"bytes", r"BYTES|codecs"),
            (lambda path: bytearray(b"bytes"), r"BYTEARRAY|bytearray"),
            (lambda path: 2**70, "an integer of 9 bytes"),
        ],
    )
    def test_anything_else_is_refused_by_name_and_not_run(self, tmp_path, protocol, made, forbidden):
        content = pickle.dumps({"a": [made(tmp_path / "run")]}, protocol=protocol)
        (tmp_path / "data.pkl").write_bytes(content)
        with pytest.raises(UserError, match=rf"data\.pkl: byte [\d,]+: .*({forbidden}).*; only tuples, lists"):
            read_plain_pickle(tmp_path / "data.pkl")
        assert not (tmp_path / "run").exists()

    @pytest.mark.parametrize(
        "content",
        [
            b"",
            b"hello",
            b"\x80\x04",
            opcodes(),
            opcodes(b"\x85"),
            opcodes(b"\x86"),
            opcodes(b"K\x01(\x87"),
            opcodes(b"u"),
            opcodes(b"(K\x01", b"u"),
            opcodes(b"}(K\x01", b"u"),
            opcodes(b"K\x01K\x02a"),
            opcodes(b"](K\x01\x90"),
            opcodes(b"h\x05"),
            opcodes(b"K\x01K\x01R"),
            opcodes(b"](", b"K\x01e", b"K\x01R"),
            opcodes(b"cbuiltins\nset\n", b"K\x01\x85R"),
            opcodes(b"cbuiltins\nset\n", b"]]\x86R"),
            opcodes(b"cbuiltins\nset\n", b"](]e\x85R"),
            opcodes(b"]]\x93"),
            opcodes(b"\x8c\xffabc"),
            opcodes(b"\x8d" + struct.pack("<Q", 2**62) + b"abc"),
            opcodes(b"\x8c\x02\xff\xfe"),
            opcodes(b"}", b"]K\x01s"),
            opcodes(b"\x8f(", b"]", b"\x90"),
            opcodes(b"P0\n"),
            opcodes(b"\x82\x01"),
            opcodes(b"cbuiltins\nset\n)\x81"),
            opcodes(b"cbuiltins\nset\n)R", b"}b"),
        ],
    )
    def test_a_file_that_is_no_pickle_or_means_harm_is_one_error(self, tmp_path, content):
        (tmp_path / "data.pkl").write_bytes(content)
        with pytest.raises(UserError, match=r"data\.pkl") as error:
            read_plain_pickle(tmp_path / "data.pkl")
        assert "\n" not in str(error.value) and len(str(error.value)) < 400

    @pytest.mark.parametrize(
        ("content", "problem"),
        [
            (opcodes(b"\x8f(K\x01", DOUBLING, b"\x90"), "a key of more than 64 parts"),
            (opcodes(b"}K\x01", DOUBLING, b"K\x01s"), "a key of more than 64 parts"),
            (opcodes(b"(K\x01", DOUBLING, b"\x91"), "a key of more than 64 parts"),
            (opcodes(b"](", b"K\x01" * 500, b"e\x94(", b"cbuiltins\nlist\nh\x00\x85R" * 500, b"l"), "again and again"),
        ],
    )
    def test_a_small_file_cannot_take_much_time_or_memory(self, tmp_path, content, problem):
        (tmp_path / "data.pkl").write_bytes(content)
        with pytest.raises(UserError, match=problem):
            read_plain_pickle(tmp_path / "data.pkl")

    def test_a_file_that_is_cut_anywhere_is_an_error(self, tmp_path):
        content = pickletools.optimize(pickle.dumps({("e", ("r",)): {(1, (300,))}, "t": [70_000, 2**40]}))
        for length in range(len(content)):
            (tmp_path / "data.pkl").write_bytes(content[:length])
            with pytest.raises(UserError, match=r"data\.pkl"):
                read_plain_pickle(tmp_path / "data.pkl")

    def test_a_far_memo_costs_nothing_and_a_large_file_is_refused(self, tmp_path, monkeypatch):
        (tmp_path / "data.pkl").write_bytes(opcodes(b"K\x07r\xff\xff\xff\x7f"))
        assert read_plain_pickle(tmp_path / "data.pkl") == 7
        monkeypatch.setattr("kgreckon.benchmark.plain_pickle.MOST_BYTES", 3)
        with pytest.raises(UserError, match=r"data\.pkl has 10 bytes; at most 3 are read"):
            read_plain_pickle(tmp_path / "data.pkl")
        with pytest.raises(UserError, match=r"none\.pkl cannot be read"):
            read_plain_pickle(tmp_path / "none.pkl")


def packed(folder, facts, queries):
    """A folder of the packed form."""
    folder.mkdir()
    for split, own in facts.items():
        with gzip.open(folder / f"{split}.tsv.gz", "wt") as file:
            file.writelines(f"e{h}\tr{r}\te{t}\n" for h, r, t in own)
    with gzip.open(folder / "testing_queries.json.gz", "wt") as file:
        json.dump(queries, file)
    return folder


FACTS = {"train": [(0, 0, 1), (1, 1, 2)], "valid": [(0, 0, 3)], "test": [(3, 1, 2), (3, 1, 4)]}
PACKED = {
    "1p": {"shape": "(rp,(e))", "ids": [[2, 3], [3, 4]]},
    "2p": {"shape": "(rp,(rp,(e)))", "ids": [[2, 0, 0]]},
    "pni": {"shape": "(i,(n,(rp,(rp,(e)))),(rp,(e)))", "ids": [[2, 0, 0, 3, 2], [1, 3, 4, 2, 3]]},
}


class TestPacked:
    def test_queries_and_answers(self, tmp_path):
        benchmark, report = import_benchmark(packed(tmp_path / "folder", FACTS, PACKED), tmp_path / "out")
        assert list(benchmark.types) == ["1p", "2p", "pni"]
        found = contents(benchmark)
        assert found["test", "1p"] == {(3, (2,)): (set(), {2, 4}), (4, (3,)): (set(), {3})}
        assert found["test", "2p"] == {(0, (0, 2)): ({2}, {4})}
        assert found["test", "pni"] == {((0, (0, 2, -2)), (2, (3,))): ({1}, {3}), ((4, (3, 1, -2)), (3, (2,))): (
            set(), {2, 4})}  # fmt: skip
        assert [counts.kept for counts in report.types] == [2, 1, 2] and not report.remarks

    @pytest.mark.parametrize(
        ("queries", "problem"),
        [
            ({"1p": {"shape": "(rp,(e))", "ids": [[2, 5]]}}, r"the query \[2, 5\] has the entity 5, but there are 5"),
            ({"1p": {"shape": "(rp,(e))", "ids": [[4, 0]]}}, r"the relation 4, but there are 4"),
            ({"1p": {"shape": "(rp,(e))", "ids": [[2]]}}, "not a row of 2 ids"),
            ({"1p": {"shape": "(rp,(e))", "ids": [[2, 1.5]]}}, "not a row of 2 ids"),
            ({"1p": {"shape": "(rp,(e))", "ids": [[2, 2**80]]}}, "not a row of 2 ids"),
            ({"1p": {"shape": "(rp,(e))", "ids": [[2, 1], [1]]}}, "type '1p' cannot be used"),
            ({"1p": {"shape": "(rp,(e))"}}, "type '1p' cannot be used"),
            ({"1p": [1]}, "type '1p' cannot be used"),
            ({"1p": {"shape": "(rp,(e)", "ids": [[2, 0]]}}, "type '1p' cannot be used"),
            ({"1p": {"shape": "(rp,(rp,(e)))", "ids": [[2, 0, 0]]}}, "is not the shape of the type '1p'"),
            ({"x": {"shape": "(rp,(rp,(e)))", "ids": [[2, 0, 0]]}}, "is not the shape of the type 'x'"),
            ({"1p": {"shape": "(ap,(e))", "ids": [[2, 0]]}}, "not made of e, rp, i, u and n alone"),
            ({"1p": {"shape": "(p,(e))", "ids": [[2, 0]]}}, "not made of e, rp, i, u and n alone"),
            ([1], "does not hold a JSON object"),
        ],
    )
    def test_queries_that_cannot_be_used_are_named(self, tmp_path, queries, problem):
        self.fails(packed(tmp_path / "folder", FACTS, queries), tmp_path, rf"testing_queries\.json\.gz: ?.*{problem}|"
                   rf"testing_queries\.json\.gz {problem}")  # fmt: skip

    @pytest.mark.parametrize(
        ("line", "problem"),
        [
            ("e1\tr0\tx1\n", r"valid\.tsv:1: 'x1' is not an entity: expected 'e' and a number"),
            ("e1\te0\te1\n", r"valid\.tsv:1: 'e0' is not a relation"),
            ("e1\tr0\te9999999999\n", r"valid\.tsv:1: 'e9999999999' is not an entity"),
            ("e1\tr0\te7\n", r"no fact names e5, but one names e7"),
            ("", r"valid\.tsv is empty"),
        ],
    )
    def test_facts_that_cannot_be_used_are_named(self, tmp_path, line, problem):
        folder = packed(tmp_path / "folder", FACTS, PACKED)
        (folder / "valid.tsv").write_text(line)
        self.fails(folder, tmp_path, problem)

    def test_a_broken_file_is_named(self, tmp_path):
        folder = packed(tmp_path / "folder", FACTS, PACKED)
        path = folder / "testing_queries.json.gz"
        path.write_bytes(path.read_bytes()[:-20])
        self.fails(folder, tmp_path, r"testing_queries\.json\.gz cannot be read")
        path.unlink()
        (folder / "testing_queries.json").write_text("{")
        self.fails(folder, tmp_path, r"testing_queries\.json cannot be read")

    def fails(self, folder, tmp_path, problem):
        with pytest.raises(UserError, match=problem):
            import_benchmark(folder, tmp_path / "out")
        assert [path.name for path in tmp_path.iterdir()] == ["folder"]


class TestNELL995:
    """A sample of NELL995's testing queries; all 69,021 of them take some seconds more."""

    AT_MOST = 150

    def test_every_query_has_a_hard_answer_and_the_answers_are_those_of_plain_sets(self, data_folder, tmp_path):
        source = data_folder / "NELL995"
        if not source.is_dir():
            pytest.skip("NELL995 is not among the graphs here")
        (tmp_path / "sample").mkdir()
        for split in Split:
            (tmp_path / "sample" / f"{split.label}.tsv.gz").symlink_to(source / f"{split.label}.tsv.gz")
        with gzip.open(source / "testing_queries.json.gz") as file:
            queries = {
                name: {"shape": own["shape"], "ids": own["ids"][:: len(own["ids"]) // self.AT_MOST][: self.AT_MOST]}
                for name, own in json.load(file).items()
            }
        (tmp_path / "sample" / "testing_queries.json").write_text(json.dumps(queries))
        benchmark, report = import_benchmark(tmp_path / "sample", tmp_path / "out")
        assert len(benchmark.graph.entities) == 63_361 and len(benchmark.graph.relations) == 200
        assert [len(benchmark.graphs.at(split).facts) for split in Split] == [114_213, 128_537, 142_804]
        assert {(own.split, own.type): own.kept for own in report.types} == {
            ("test", name): self.AT_MOST for name in queries
        }
        edges = [self.edges(benchmark, split) for split in (Split.VALID, Split.TEST)]
        for own in contents(benchmark).values():
            for query, (easy, hard) in list(own.items())[:10]:
                (before, _), (after, _) = (self.answers(query, known) for known in edges)
                assert easy == before and hard == after - easy

    def edges(self, benchmark, split):
        found = defaultdict(set)
        facts = benchmark.graphs.at(split).facts
        for h, r, t in zip(facts.sources.tolist(), facts.labels.tolist(), facts.targets.tolist(), strict=True):
            found[h, 2 * r].add(t)
            found[t, 2 * r + 1].add(h)
        return found

    def answers(self, query, edges):
        """A set of entities, and whether the query means all others: so no set of all entities is needed."""
        if query[-1] == (-1,):
            return set.union(*(self.answers(part, edges)[0] for part in query[:-1])), False
        if not all(isinstance(step, int) for step in query[-1]):
            parts = [self.answers(part, edges) for part in query]
            found = set.intersection(*(own for own, negated in parts if not negated))
            return found.difference(*(own for own, negated in parts if negated)), False
        base, path = query
        found = {base} if isinstance(base, int) else self.answers(base, edges)[0]
        for step in path:
            if step != -2:
                found = {tail for head in found for tail in edges.get((head, step), ())}
        return found, path[-1] == -2
