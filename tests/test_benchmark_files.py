"""Benchmark folders and the released JSON form: round trips, statistics, and files that are not as they should be."""

import json
import shutil

import numpy as np
import pyarrow as pa
import pytest

from kgreckon.benchmark import PAPER_DATASETS, Benchmark, BuildSettings, Split, build
from kgreckon.benchmark.examples import example_queries
from kgreckon.benchmark.exchange import export_queries, import_queries
from kgreckon.benchmark.format import file_name, query_schema
from kgreckon.benchmark.overview import benchmark_statistics
from kgreckon.benchmark.types import parse_types
from kgreckon.errors import UserError
from kgreckon.exact import ComparisonMode
from kgreckon.files import read_json, read_table, write_json, write_table
from kgreckon.graph.storage import save_graph
from kgreckon.query import GENERAL_TYPES, Shape, specific_shapes
from kgreckon.runs.run_folder import benchmark_hash
from older_folders import without_checksums
from random_graph import random_graph

TYPES = {**GENERAL_TYPES, "2in": Shape.parse("(i,(p,(e)),(n,(p,(e))))")}


@pytest.fixture(scope="module")
def made(tmp_path_factory) -> Benchmark:
    graph = random_graph()
    folder = tmp_path_factory.mktemp("files") / "benchmark"
    return build(graph, folder, BuildSettings.choose(graph, types=TYPES, queries=150))


@pytest.fixture
def copy(made, tmp_path) -> Benchmark:
    """The same benchmark, to be damaged."""
    shutil.copytree(made.folder, tmp_path / "copy")
    return Benchmark.open(tmp_path / "copy")


@pytest.fixture
def older(copy) -> Benchmark:
    """The same as the version before kept it: without checksums, so that only what does not fit is noticed."""
    return Benchmark.open(without_checksums(copy.folder))


def contents(benchmark: Benchmark) -> dict:
    """All queries and answers as plain data."""
    found = {}
    for split in Split:
        for name in benchmark.types:
            for queries in benchmark.query_sets(split, name):
                for index, row in enumerate(queries.batch.ids.tolist()):
                    answers = queries.easy[index].tolist(), queries.hard[index].tolist()
                    found[split, name, queries.shape.text, tuple(row)] = answers
    return found


class TestReading:
    def test_pyarrow_reads_the_files_without_us(self, made):
        path = next((made.folder / "test" / "2i").glob("*.arrow"))
        table = pa.ipc.open_file(pa.memory_map(str(path))).read_all()
        assert table.column_names == ["ids", "easy", "hard"]
        assert Shape.parse(table.schema.metadata[b"shape"].decode()).parts

    def test_every_shape_has_a_file_name_of_its_own(self):
        shapes = [shape for general in TYPES.values() for shape in specific_shapes(general)]
        names = {file_name(shape) for shape in shapes}
        assert len(names) == len(set(shapes)) and all(
            name.replace("_", "").replace(".", "").isalnum() for name in names
        )

    def test_a_graph_folder_is_told_how_to_become_one(self, made, tmp_path):
        save_graph(made.graph, tmp_path / "graph")
        with pytest.raises(UserError, match=r"not a benchmark folder.*kgreckon build .*graph --out FOLDER"):
            Benchmark.open(tmp_path / "graph")

    def test_unknown_types_are_named(self, made):
        with pytest.raises(UserError, match="has no queries of type '4p'"):
            next(made.query_sets(Split.TEST, "4p"))

    def test_examples_read_like_the_query_they_show(self, made):
        examples = example_queries(made, Split.TEST, "pi", 4, seed=1)
        assert len(examples) == 4
        for example in examples:
            assert example.hard and example.words and example.notation.startswith("(i,")
            assert example.as_json(2)["hard_count"] == len(example.hard)

    @pytest.mark.parametrize("content", ["{}", '{"found": "many", "shapes": {}}', '{"found": 3, "shapes": 3}'])
    def test_a_summary_that_tells_nothing_is_named(self, copy, content):
        (copy.folder / "test" / "2i" / "summary.json").write_text(content)
        with pytest.raises(UserError, match=r"summary\.json is damaged"):
            next(copy.query_sets(Split.TEST, "2i"))


class TestStatistics:
    def test_counts_agree_with_the_files(self, made):
        statistics = benchmark_statistics(made)
        graph = made.graph
        test = statistics.graphs[Split.TEST]
        assert test.relation_edges == 2 * len(graph.facts) and test.attribute_edges == len(graph.attribute_facts)
        assert test.edges == test.relation_edges + 2 * test.attribute_edges + test.numerical_edges
        for each in statistics.value_types:
            numbers = [graph.values.number_at(row) for row in graph.attribute_facts.targets]
            own = [number for number, unit in numbers if unit == each.unit]
            assert (each.attribute_facts, each.values) == (len(own), len(set(own)))
        assert sum(each.share for each in statistics.value_types) == pytest.approx(1)
        for counts in statistics.queries:
            assert counts.found == sum(counts.specific.values()) == counts.entity_targets + counts.number_targets
            assert counts.touching_numbers <= counts.found
            assert counts.hard_answers["mean"] >= 1
        assert json.dumps(statistics.as_json())

    def test_the_papers_numbers_are_those_of_its_tables(self):
        fb15k = PAPER_DATASETS["fb15k"]
        assert fb15k.queries[Split.TRAIN]["1p"] == 304_633 and fb15k.queries[Split.TEST]["up"] == 29_274
        assert sum(fb15k.queries[Split.VALID].values()) == 182_734
        assert fb15k.graphs[Split.TEST]["relation_edges"] == 1_184_426
        assert [dataset.top_attributes for dataset in PAPER_DATASETS.values()] == [15, 30, 7]


class TestExchange:
    def test_what_was_exported_imports_equal(self, made, tmp_path):
        count = export_queries(made, tmp_path / "json")
        assert count == len(contents(made))
        again = import_queries(tmp_path / "json", made, tmp_path / "again")
        assert again.types.keys() == made.types.keys()
        assert contents(again) == contents(made)

    def test_the_form_is_that_of_the_released_code(self, made, tmp_path):
        export_queries(made, tmp_path / "json")
        queries = json.loads((tmp_path / "json" / "valid_queries.json").read_text())["(p,(e))"]
        for text, answers in queries.items():
            assert set(answers) == {"train_answers", "valid_answers"}
            assert text.startswith(("(rp,(", "(ap,(", "(rap,(", "(np,("))
            easy, every = (list(map(str, answers[name])) for name in ("train_answers", "valid_answers"))
            assert set(easy) < set(every)

    def test_types_in_another_order_of_parts_are_understood(self, made, tmp_path):
        """The released code writes pi with the longer branch first."""
        (tmp_path / "json").mkdir()
        query = "(i,(rp,(0),(rp,(1),(e,(3)))),(rp,(2),(e,(4))))"
        for split, answers in (("train", {"train_answers": ["1", "2"]}), ("valid", {}), ("test", {})):
            data = {"(i,(p,(p,(e))),(p,(e)))": {query: answers} if answers else {}}
            (tmp_path / "json" / f"{split}_queries.json").write_text(json.dumps(data))
        again = import_queries(tmp_path / "json", made, tmp_path / "again")
        (queries,) = again.query_sets(Split.TRAIN, "pi")
        assert queries.batch.ids.tolist() == [[0, 1, 3, 2, 4]] and queries.hard[0].tolist() == [1, 2]

    def test_two_spellings_of_a_type_are_one_and_new_names_are_free(self, made, tmp_path):
        (tmp_path / "json").mkdir()
        spellings = {
            "(i,(p,(p,(e))),(p,(e)))": "(i,(rp,(0),(rp,(1),(e,(3)))),(rp,(2),(e,(4))))",
            "(i,(p,(e)),(p,(p,(e))))": "(i,(rp,(2),(e,(5))),(rp,(0),(rp,(1),(e,(3)))))",
            "(p,(p,(p,(e))))": "(rp,(0),(rp,(0),(rp,(0),(e,(1)))))",
            "(p,(p,(p,(p,(p,(e))))))": "(rp,(0),(rp,(0),(rp,(0),(rp,(0),(rp,(0),(e,(1)))))))",
        }
        data = {kind: {query: {"train_answers": ["1"]}} for kind, query in spellings.items()}
        for split in Split:
            text = json.dumps(data if split is Split.TRAIN else {})
            (tmp_path / "json" / f"{split.label}_queries.json").write_text(text)
        again = import_queries(tmp_path / "json", made, tmp_path / "again")
        assert again.summary(Split.TRAIN, "pi")["found"] == 2
        assert again.header["queries"]["train"] == {"pi": 2, "3p": 1, "type0": 1}
        (tmp_path / "json" / "train_queries.json").write_text(json.dumps(data).replace('"1"', '"2"'))
        third = import_queries(tmp_path / "json", made, tmp_path / "third")
        assert benchmark_hash(third) != benchmark_hash(again)  # the same counts, but other answers

    @pytest.mark.parametrize(
        "queries",
        [
            {"(rp,(0),(e,(9999)))": {"train_answers": ["1"]}},
            {"(rp,(-1),(e,(1)))": {"train_answers": ["1"]}},
            {"(rp,(0),(e,(1)))": {"train_answers": ["x"]}},
            {"(rp,(0),(e,(1)))": {"valid_answers": ["1"]}},
            {"(rp,(0),(e,(1)))": {"train_answers": []}},
            {"(rp,(0),(e,(1))": {"train_answers": ["1"]}},
            {"(rp,(0),(e,(1))))": {"train_answers": ["1"]}},
            {"(xx,(0),(e,(1)))": {"train_answers": ["1"]}},
            {"(rap,(0),(nv,(0,123456.0)))": {"train_answers": ["1"]}},
            {"(rap,(0),(nv,(0)))": {"train_answers": ["1"]}},
            {"(rap,(0),(nv,(99,1.0)))": {"train_answers": ["1"]}},
            {"(rap,(0),(nv,(-1,1.0)))": {"train_answers": ["1"]}},
            {"(ap,(0),(e,(1)))": {"train_answers": [[1.0, 99]]}},
            {"(rp,(0),(nv,(0,1.0)))": {"train_answers": ["1"]}},
            {"(" * 100: {"train_answers": ["1"]}},
            {"(rp,(0),(e,(1)))": ["1"]},
            ["(rp,(0),(e,(1)))"],
        ],
    )
    def test_a_hostile_file_is_a_clear_error_and_nothing_is_written(self, made, tmp_path, queries):
        (tmp_path / "json").mkdir()
        for split in Split:
            data = {"(p,(e))": queries if split is Split.TRAIN else {}}
            (tmp_path / "json" / f"{split.label}_queries.json").write_text(json.dumps(data))
        with pytest.raises(UserError, match=r"train_queries\.json"):
            import_queries(tmp_path / "json", made, tmp_path / "again")
        assert sorted(path.name for path in tmp_path.iterdir()) == ["json"]

    def test_a_query_with_nothing_left_to_be_found_is_left_out(self, made, tmp_path):
        (tmp_path / "json").mkdir()
        found = {"(rp,(0),(e,(1)))": {"valid_answers": ["1"], "test_answers": ["1"]}}
        asked = {"(rp,(0),(e,(2)))": {"valid_answers": ["1"], "test_answers": ["1", "2"]}}
        for split in Split:
            data = {"(p,(e))": {**found, **asked} if split is Split.TEST else {}}
            (tmp_path / "json" / f"{split.label}_queries.json").write_text(json.dumps(data))
        again = import_queries(tmp_path / "json", made, tmp_path / "again")
        (queries,) = again.query_sets(Split.TEST, next(iter(again.types)))
        assert queries.batch.ids.tolist() == [[0, 2]] and queries.hard.items.tolist() == [2]

    @pytest.mark.parametrize("sort", ["entities", "relations", "attributes", "units"])
    def test_queries_of_another_graph_are_refused(self, made, tmp_path, sort):
        export_queries(made, tmp_path / "json")
        ids = json.loads((tmp_path / "json" / "ids.json").read_text())
        for names, number in (([*ids[sort][:-1], "other"], len(ids[sort]) - 1), (ids[sort][:-1], len(ids[sort]) - 1)):
            (tmp_path / "json" / "ids.json").write_text(json.dumps({**ids, sort: names}))
            with pytest.raises(UserError, match=f"number {number} of the {sort} is .* of another graph"):
                import_queries(tmp_path / "json", made, tmp_path / "again")
        assert not (tmp_path / "again").exists()

    @pytest.mark.parametrize("text", ["", "{", "[]", '{"(q,(e))": {}}'])
    def test_what_is_not_json_or_no_type_is_a_clear_error(self, made, tmp_path, text):
        (tmp_path / "json").mkdir()
        for split in Split:
            (tmp_path / "json" / f"{split.label}_queries.json").write_text(text)
        with pytest.raises(UserError):
            import_queries(tmp_path / "json", made, tmp_path / "again")
        with pytest.raises(UserError, match="is missing"):
            import_queries(tmp_path, made, tmp_path / "again")


class TestDamage:
    def path(self, benchmark):
        return benchmark.folder / "test" / "1p" / "rp_e.arrow"

    def read(self, benchmark):
        return list(benchmark.query_sets(Split.TEST, "1p"))

    @pytest.mark.parametrize("keep", [0, 10, 0.5, 0.99])
    def test_a_truncated_file(self, older, keep):
        content = self.path(older).read_bytes()
        self.path(older).write_bytes(content[: keep if keep > 1 else int(keep * len(content))])
        with pytest.raises(UserError, match=r"rp_e\.arrow is not a readable Arrow file"):
            self.read(older)

    def test_a_missing_file(self, older):
        self.path(older).unlink()
        with pytest.raises(UserError, match=r"rp_e\.arrow is missing"):
            self.read(older)

    def test_a_wrong_schema(self, older):
        write_table(self.path(older), pa.table({"ids": [1, 2]}))
        with pytest.raises(UserError, match="has the columns ids int64; expected ids"):
            self.read(older)

    @pytest.mark.parametrize(("column", "value"), [("ids", 10**6), ("ids", -1), ("easy", 10**6), ("hard", -5)])
    def test_ids_out_of_range(self, older, column, value):
        shape = Shape.parse("(rp,(e))")
        table = read_table(self.path(older), query_schema(shape)).to_pydict()
        table[column][0] = [value] * len(table[column][0])
        self.path(older).unlink()  # the old file is still mapped
        write_table(self.path(older), pa.table(table, schema=query_schema(shape)))
        with pytest.raises(UserError, match="is out of range"):
            self.read(older)

    def test_splits_that_do_not_fit_the_facts(self, older):
        write_table(older.folder / "fact_splits.arrow", pa.table({"split": np.zeros(3, dtype=np.int8)}))
        with pytest.raises(UserError, match="does not give one split to each fact"):
            Benchmark.open(older.folder).graphs  # noqa: B018

    @pytest.mark.parametrize(
        ("key", "value"),
        [("format", "other"), ("version", 99), ("types", []), ("types", {"../x": "(p,(e))"}), ("numbers", "guessed")],
    )
    def test_a_header_that_is_not_ours(self, copy, key, value):
        path = copy.folder / "benchmark.json"
        write_json(path, read_json(path) | {key: value})
        with pytest.raises(UserError):
            Benchmark.open(copy.folder)

    def test_a_header_that_is_not_json(self, copy, tmp_path):
        (copy.folder / "benchmark.json").write_text("{")
        with pytest.raises(UserError, match="cannot be read"):
            Benchmark.open(copy.folder)
        with pytest.raises(UserError, match="no such folder"):
            Benchmark.open(tmp_path / "nowhere")
        with pytest.raises(UserError, match="not a benchmark folder"):
            Benchmark.open(tmp_path)


class TestTypes:
    def test_names_and_shapes(self):
        assert parse_types(None) is None
        assert list(parse_types(["1p,2i", "3p=(p,(p,(p,(e))))"]) or ()) == ["1p", "2i", "3p"]
        assert parse_types(["x='(i,(p,(p,(e))),(p,(e)))'"]) == {"x": GENERAL_TYPES["pi"]}

    @pytest.mark.parametrize("texts", [["5p"], ["1p,1p"], ["3p=(p,(q))"], ["3p="], ["1p=(p,(p,(e)))"], ["x=(p"]])
    def test_mistakes(self, texts):
        with pytest.raises(UserError):
            parse_types(texts)


def test_computed_numbers_round_trip_too(tmp_path):
    graph = random_graph()
    made = build(graph, tmp_path / "b", BuildSettings.choose(graph, queries=60, mode=ComparisonMode.COMPUTED))
    export_queries(made, tmp_path / "json")
    assert contents(import_queries(tmp_path / "json", made, tmp_path / "again")) == contents(made)
