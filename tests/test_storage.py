"""Graph folders: what was saved opens equal, what is damaged says so, and a folder is written whole or not at all."""

import os
import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.ipc
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kgreckon.errors import UserError
from kgreckon.exact import ask
from kgreckon.files import read_json, write_json, write_table
from kgreckon.graph import GraphBuilder, KnowledgeGraph, Triples, open_graph, open_graph_folder, read_sources, storage
from kgreckon.graph.statistics import graph_statistics
from kgreckon.query.paper import parse
from older_folders import without_checksums
from strategies import graphs


def content(graph: KnowledgeGraph) -> dict:
    """All of a graph as plain data."""

    def columns(triples):
        if triples is None:
            return None
        return [column.tolist() for column in (triples.sources, triples.labels, triples.targets)]

    symbols = (graph.entities, graph.relations, graph.attributes)
    return {
        "kinds": [table.kind for table in symbols],
        "names": [table.names.to_pylist() for table in symbols],
        "labels": [table.labels.to_pylist() for table in symbols],
        "phrases": graph.relation_phrases,
        "attribute_units": graph.attribute_units.tolist(),
        "units": graph.values.units,
        "unit_starts": graph.values.unit_starts.tolist(),
        "numbers": graph.values.numbers.tolist(),
        "facts": columns(graph.facts),
        "attribute_facts": columns(graph.attribute_facts),
        "comparisons": columns(graph.comparisons),
    }


def example() -> KnowledgeGraph:
    """Three cities, one of them with a label that no keyboard has."""
    builder = GraphBuilder()
    for city, country, latitude in (("Oslo", "Norway", 59.9), ("Kyoto", "Japan", 35.0), ("東京", "Japan", 35.7)):
        builder.add_fact(city, "in", country)
        builder.add_value(city, "latitude", latitude, "degrees")
        builder.add_value(city, "population", latitude * 1000, "persons")
    builder.phrase_relation("in", "is in")
    builder.label("東京", "Tokyo 🗼")
    return builder.build()


def another() -> KnowledgeGraph:
    builder = GraphBuilder()
    builder.add_fact("a", "r", "b")
    return builder.build()


@pytest.fixture
def folder(tmp_path):
    """A saved graph."""
    example().save(tmp_path / "graph")
    return tmp_path / "graph"


def names_in(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


NUMBERS = st.sampled_from([0, 1, 2, 5, 2**31 - 1])  # three of the largest do not fit one key of 64 bits
EDGES = st.lists(st.tuples(NUMBERS, NUMBERS, NUMBERS), max_size=12)


class TestTriples:
    @given(st.lists(EDGES, max_size=3))
    def test_edges_of_several_parts_are_distinct_and_sorted(self, parts):
        arrays = [np.array(part, dtype=np.int32).reshape(-1, 3) for part in parts]
        union = Triples.from_parts(*((part[:, 0], part[:, 1], part[:, 2]) for part in arrays))
        edges = zip(union.sources.tolist(), union.labels.tolist(), union.targets.tolist(), strict=True)
        assert list(edges) == sorted({edge for part in parts for edge in part})


class TestRoundTrip:
    @settings(max_examples=40)
    @given(graph=graphs(), compress=st.booleans(), data=st.data())
    def test_what_was_saved_opens_equal(self, tmp_path_factory, graph, compress, data):
        if data.draw(st.booleans()):
            rows = st.integers(0, len(graph.values) - 1)
            edges = data.draw(st.lists(st.tuples(rows, st.integers(0, 6), rows), max_size=5))
            columns = np.array(edges, dtype=np.int32).reshape(-1, 3).T
            graph = replace(graph, comparisons=Triples.from_arrays(*columns))
        folder = tmp_path_factory.mktemp("round") / "graph"
        graph.save(folder, compress=compress)
        assert content(open_graph_folder(folder)) == content(graph)
        assert content(open_graph(str(folder))) == content(graph)

    @given(st.text(st.characters(codec="utf-8"), min_size=1), st.floats(allow_nan=False, allow_infinity=False))
    @settings(max_examples=40)
    def test_any_name_and_any_number_can_be_kept(self, tmp_path_factory, name, number):
        builder = GraphBuilder()
        builder.add_value(name, name, number, name)
        builder.label(name, name)
        graph = builder.build()
        folder = tmp_path_factory.mktemp("any") / "graph"
        graph.save(folder)
        assert content(open_graph_folder(folder)) == content(graph)

    def test_facts_without_values_and_values_without_facts(self, tmp_path):
        builder = GraphBuilder()
        builder.add_value("a", "age", 5, "years")
        for place, graph in enumerate((another(), builder.build(), GraphBuilder().build())):
            for compress in (False, True):
                folder = tmp_path / f"{place}{compress}"
                graph.save(folder, compress=compress)
                assert content(open_graph_folder(folder)) == content(graph)

    def test_the_same_graph_gives_the_same_bytes(self, tmp_path):
        for name in ("one", "other"):
            example().save(tmp_path / name)
        for path in (tmp_path / "one").iterdir():
            assert path.read_bytes() == (tmp_path / "other" / path.name).read_bytes()

    def test_compression_makes_a_graph_smaller(self, tmp_path):
        builder = GraphBuilder()
        for number in range(2000):
            builder.add_fact(f"entity {number}", "next", f"entity {number + 1}")
        graph = builder.build()
        sizes = []
        for compress in (False, True):
            graph.save(tmp_path / str(compress), compress=compress)
            sizes.append(sum(path.stat().st_size for path in (tmp_path / str(compress)).iterdir()))
        assert sizes[1] < sizes[0] / 2

    def test_an_opened_graph_answers_as_the_one_that_was_saved(self, folder):
        graph, opened = example(), open_graph_folder(folder)
        for text in ("(rp,(^in),(e,(Japan)))", "(rap,(latitude),(np,(GreaterThan),(ap,(latitude),(e,(Kyoto)))))"):
            answers = [ask(one, parse(text, one.vocabulary)).tolist() for one in (graph, opened)]
            assert answers[0] == answers[1] != []

    def test_a_part_of_a_graph_keeps_its_names_and_has_statistics(self, tmp_path):
        graph = example()
        part = graph.restricted(np.array([True, False, False]), graph.attribute_facts.labels == 0)
        part.save(tmp_path / "part")
        opened = open_graph_folder(tmp_path / "part")
        assert content(opened) == content(part)
        statistics = graph_statistics(opened)
        assert (statistics.facts, statistics.attributes, statistics.attribute_facts) == (1, 2, 3)


class TestWriting:
    def test_a_folder_may_be_named_by_a_text(self, tmp_path):
        example().save(str(tmp_path / "graph"))
        example().save(str(tmp_path / "graph"), overwrite=True)
        assert len(open_graph_folder(tmp_path / "graph").facts) == len(example().facts)

    def test_missing_parents_are_made(self, tmp_path):
        example().save(tmp_path / "some" / "where" / "graph")
        assert content(open_graph(tmp_path / "some" / "where" / "graph")) == content(example())
        assert names_in(tmp_path / "some" / "where") == ["graph"]

    def test_an_empty_folder_is_filled(self, tmp_path):
        (tmp_path / "graph").mkdir()
        example().save(tmp_path / "graph")
        assert content(open_graph(tmp_path / "graph")) == content(example())
        assert names_in(tmp_path) == ["graph"]

    def test_the_folder_one_stands_in_can_be_filled(self, tmp_path, monkeypatch):
        (tmp_path / "graph").mkdir()
        monkeypatch.chdir(tmp_path / "graph")
        example().save(Path())
        assert content(open_graph(tmp_path / "graph")) == content(example())
        assert names_in(tmp_path) == ["graph"]

    def test_others_may_read_what_was_written(self, folder):
        assert folder.stat().st_mode & 0o555 == 0o555

    def test_a_graph_is_not_replaced_unless_asked(self, folder):
        with pytest.raises(UserError, match=r"graph already exists; use --overwrite to replace it"):
            another().save(folder)
        assert content(open_graph(folder)) == content(example())

    def test_overwriting_replaces_all_of_a_graph(self, folder, tmp_path):
        replace(example(), comparisons=Triples.from_arrays(*np.zeros((3, 1), dtype=np.int32))).save(
            folder, overwrite=True
        )
        assert (folder / "comparisons.arrow").is_file()
        another().save(folder, overwrite=True)
        assert content(open_graph(folder)) == content(another())
        assert not (folder / "comparisons.arrow").exists()
        assert names_in(tmp_path) == ["graph"]

    def test_overwriting_where_there_is_nothing_just_writes(self, tmp_path):
        example().save(tmp_path / "graph", overwrite=True)
        assert content(open_graph(tmp_path / "graph")) == content(example())

    def test_a_graph_can_be_written_over_the_files_it_is_mapped_from(self, folder):
        opened = open_graph_folder(folder)
        opened.save(folder, overwrite=True)
        assert content(opened) == content(open_graph_folder(folder)) == content(example())

    @pytest.mark.parametrize("overwrite", [False, True])
    def test_other_peoples_files_are_never_replaced(self, tmp_path, overwrite):
        (tmp_path / "thesis").mkdir()
        (tmp_path / "thesis" / "chapter.tex").write_text("years of work")
        (tmp_path / "file").write_text("a file")
        for taken in ("thesis", "file"):
            with pytest.raises(UserError, match=f"{taken} already exists"):
                example().save(tmp_path / taken, overwrite=overwrite)
        assert names_in(tmp_path) == ["file", "thesis"]
        assert (tmp_path / "thesis" / "chapter.tex").read_text() == "years of work"

    def test_a_file_that_happens_to_be_called_like_our_header_does_not_give_a_folder_away(self, tmp_path):
        (tmp_path / "thesis").mkdir()
        (tmp_path / "thesis" / "graph.json").write_text('{"nodes": []}')
        (tmp_path / "thesis" / "chapter.tex").write_text("years of work")
        with pytest.raises(UserError, match="thesis already exists"):
            example().save(tmp_path / "thesis", overwrite=True)
        assert names_in(tmp_path / "thesis") == ["chapter.tex", "graph.json"]

    def test_a_file_in_the_way_of_a_parent_says_so(self, tmp_path):
        (tmp_path / "file").write_text("a file")
        with pytest.raises(UserError, match="file"):
            example().save(tmp_path / "file" / "graph")
        assert names_in(tmp_path) == ["file"]

    @pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may write everywhere")
    def test_a_parent_that_may_not_be_written_says_so(self, tmp_path):
        (tmp_path / "closed").mkdir(mode=0o555)
        with pytest.raises(UserError, match="closed"):
            example().save(tmp_path / "closed" / "graph")

    @pytest.mark.parametrize("error", [OSError(28, "No space left on device"), KeyboardInterrupt()])
    @pytest.mark.parametrize("existing", [False, True])
    def test_where_writing_fails_nothing_is_left_and_nothing_is_lost(self, tmp_path, monkeypatch, existing, error):
        if existing:
            example().save(tmp_path / "graph")
        written = []

        def fail_at_the_third(path, *_):
            written.append(path)
            if len(written) == 3:
                raise error

        with monkeypatch.context() as patch:
            patch.setattr(storage, "write_table", fail_at_the_third)
            with pytest.raises(BaseException, match=r"No space left|^$"):
                another().save(tmp_path / "graph", overwrite=True)
        assert names_in(tmp_path) == ["graph"] * existing
        if existing:
            assert content(open_graph(tmp_path / "graph")) == content(example())


def rewrite(path: Path, **columns) -> None:
    """Change columns of an Arrow file."""
    with pa.OSFile(str(path)) as source:
        table = pa.ipc.open_file(source).read_all()
    for name, values in columns.items():
        place = table.column_names.index(name)
        table = table.set_column(place, table.schema.field(name), pa.array(values, table.schema.field(name).type))
    write_table(path, table)


def with_header(folder: Path, **entries) -> None:
    """Change entries of the header, and seal it again."""
    write_json(folder / "graph.json", read_json(folder / "graph.json") | entries)


@pytest.fixture
def older(folder) -> Path:
    """A saved graph as the version before kept it: without checksums, so that only what does not fit is noticed."""
    return without_checksums(folder)


# The example holds 5 entities, 1 relation, 2 attributes, 2 units, 6 values, 3 facts and 6 attribute facts.
DAMAGES: dict[str, tuple[str, dict[str, Any]]] = {
    "ids of entities": ("facts.arrow", {"head": [0, 2, 5]}),
    "negative ids": ("facts.arrow", {"tail": [-1, 3, 3]}),
    "ids of relations": ("facts.arrow", {"relation": [0, 0, 1]}),
    "ids of attributes": ("attribute_facts.arrow", {"attribute": [0, 1, 0, 1, 0, 2]}),
    "ids of values": ("attribute_facts.arrow", {"value": [2, 5, 0, 3, 1, 6]}),
    "units of attributes": ("attributes.arrow", {"unit": [0, 2]}),
    "units of values": ("values.arrow", {"unit": [0, 0, 0, 1, 1, 2]}),
    "values not sorted by unit": ("values.arrow", {"unit": [1, 1, 1, 0, 0, 0]}),
    "values not rising": ("values.arrow", {"number": [3.0, 2.0, 1.0, 4.0, 5.0, 6.0]}),
    "values twice": ("values.arrow", {"number": [1.0, 1.0, 2.0, 4.0, 5.0, 6.0]}),
    "not a number": ("values.arrow", {"number": [1.0, 2.0, 3.0, 4.0, 5.0, float("nan")]}),
    "infinity": ("values.arrow", {"number": [1.0, 2.0, 3.0, 4.0, 5.0, float("inf")]}),
    "missing ids": ("facts.arrow", {"head": [0, 2, None]}),
    "missing numbers": ("values.arrow", {"number": [1.0, 2.0, 3.0, 4.0, 5.0, None]}),
    "missing names": ("entities.arrow", {"name": ["Oslo", None, "Kyoto", "Japan", "Tokyo"]}),
    "names twice": ("entities.arrow", {"name": ["Oslo", "Oslo", "Kyoto", "Japan", "Tokyo"]}),
    "facts not sorted": ("facts.arrow", {"head": [2, 0, 4], "tail": [3, 1, 3]}),
    "attribute facts not sorted": ("attribute_facts.arrow", {"entity": [4, 4, 2, 2, 0, 0]}),
    "values of another unit": ("attribute_facts.arrow", {"value": [5, 2, 0, 3, 1, 4]}),
}


class TestDamage:
    def test_the_example_is_what_the_damages_assume(self, older):
        graph = open_graph_folder(older)
        sizes = (graph.entities, graph.relations, graph.attributes, graph.values, graph.facts, graph.attribute_facts)
        assert tuple(len(each) for each in sizes) == (5, 1, 2, 6, 3, 6)

    @pytest.mark.parametrize("damage", DAMAGES)
    def test_what_does_not_fit_together_is_named(self, older, damage):
        name, columns = DAMAGES[damage]
        rewrite(older / name, **columns)
        with pytest.raises(UserError) as caught:
            open_graph_folder(older)
        assert str(caught.value).startswith(str(older / name))

    @pytest.mark.parametrize("name", ["entities", "relations", "attributes", "values", "facts", "attribute_facts"])
    def test_a_missing_table_says_so(self, older, name):
        path = older / f"{name}.arrow"
        path.unlink()
        with pytest.raises(UserError) as caught:
            open_graph_folder(older)
        assert str(caught.value) == f"{path} is missing"

    def test_numerical_edges_that_are_announced_must_be_there(self, older):
        with_header(older, comparisons=3)
        with pytest.raises(UserError, match=r"comparisons\.arrow is missing"):
            open_graph_folder(older)

    @pytest.mark.parametrize("compress", [False, True])
    def test_numerical_edges_lie_between_values(self, tmp_path, compress):
        edges = Triples.from_arrays(*(np.array([number], dtype=np.int32) for number in (0, 1, 6)))
        replace(example(), comparisons=edges).save(tmp_path / "graph", compress)
        with pytest.raises(UserError, match=r"(comparisons|compared)\.arrow is damaged: an id is out of range"):
            stored = open_graph_folder(tmp_path / "graph").compared
            assert stored is not None and len(stored.targets)

    @pytest.mark.parametrize("compress", [False, True])
    @pytest.mark.parametrize("name", ["entities", "values", "facts"])
    def test_a_table_cut_short_anywhere_says_so(self, tmp_path, name, compress):
        example().save(tmp_path / "graph", compress=compress)
        without_checksums(tmp_path / "graph")
        path = tmp_path / "graph" / f"{name}.arrow"
        whole = path.read_bytes()
        for length in range(0, len(whole), 17):
            path.write_bytes(whole[:length])
            with pytest.raises(UserError) as caught:
                open_graph_folder(tmp_path / "graph")
            assert str(caught.value).startswith(f"{path} is not a readable Arrow file")

    @pytest.mark.parametrize("data", [b"", b"ARROW1\0\0", b"PAR1", b"name,label\nOslo,\n", b"\0" * 5000])
    def test_what_is_no_arrow_file_says_so(self, older, data):
        (older / "facts.arrow").write_bytes(data)
        with pytest.raises(UserError, match=r"facts\.arrow is not a readable Arrow file"):
            open_graph_folder(older)

    def test_a_folder_in_the_place_of_a_table_says_so(self, older):
        (older / "facts.arrow").unlink()
        (older / "facts.arrow").mkdir()
        with pytest.raises(UserError, match=r"facts\.arrow"):
            open_graph_folder(older)

    def test_other_columns_are_named_beside_the_expected_ones(self, older):
        (older / "facts.arrow").write_bytes((older / "values.arrow").read_bytes())
        expected = "has the columns unit int32, number double; expected head int32, relation int32, tail int32"
        with pytest.raises(UserError, match=rf"facts\.arrow {expected}"):
            open_graph_folder(older)

    def test_wider_columns_are_other_columns(self, older):
        wide = pa.table({name: pa.array([0, 0, 0], pa.int64()) for name in ("head", "relation", "tail")})
        write_table(older / "facts.arrow", wide)
        with pytest.raises(UserError, match="expected head int32"):
            open_graph_folder(older)

    @pytest.mark.parametrize("name", ["entities", "relations", "attributes", "values", "facts", "attribute_facts"])
    def test_a_table_with_other_rows_than_the_header_counts_says_so(self, older, name):
        with_header(older, **{name: 1000})
        with pytest.raises(UserError, match=rf"{name}\.arrow"):
            open_graph_folder(older)

    @pytest.mark.parametrize("compress", [False, True])
    def test_no_flipped_byte_brings_more_than_an_error(self, tmp_path, compress):
        """In a process of its own, since what Arrow is not asked to check can end the process."""
        example().save(tmp_path / "graph", compress=compress)
        without_checksums(tmp_path / "graph")
        done = subprocess.run(
            [sys.executable, "-c", FLIP, str(tmp_path / "graph")],
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        ended = signal.Signals(-done.returncode).name if done.returncode < 0 else done.returncode
        assert (ended, done.stdout, done.stderr) == (0, "", "")


FLIP = """
import sys
from pathlib import Path
from random import Random
from kgreckon.errors import UserError
from kgreckon.graph import open_graph_folder
from kgreckon.graph.statistics import graph_statistics

folder, random, problems = Path(sys.argv[1]), Random(5), set()
for path in sorted(folder.glob("*.arrow")):
    whole = path.read_bytes()
    for _ in range(120):
        changed = bytearray(whole)
        changed[random.randrange(len(changed))] = random.randrange(256)
        path.write_bytes(changed)
        try:
            graph = open_graph_folder(folder)
            graph_statistics(graph)
            for symbols in (graph.entities, graph.relations, graph.attributes):
                for place in range(len(symbols)):
                    symbols.find(symbols.name(place))
            graph.follows, graph.values_of, graph.having
        except UserError:
            pass
        except Exception as error:
            problems.add(f"{path.name}: {type(error).__name__}: {error}")
    path.write_bytes(whole)
print("\\n".join(sorted(problems)), end="")
"""


class TestHeaders:
    def test_a_folder_without_header_is_no_graph_folder(self, tmp_path):
        with pytest.raises(UserError, match=r"is not a graph folder: it has no graph\.json"):
            open_graph_folder(tmp_path)
        with pytest.raises(UserError, match="is not a graph folder; make one with: kgreckon import"):
            open_graph(tmp_path)

    def test_no_folder_at_all_says_so(self, tmp_path):
        with pytest.raises(UserError, match="nowhere: no such folder"):
            open_graph_folder(tmp_path / "nowhere")
        with pytest.raises(
            UserError, match="nowhere: no such folder or file; give a graph folder, a table, or the word"
        ):
            open_graph(tmp_path / "nowhere")

    def test_a_file_is_no_graph_folder_but_can_be_opened(self, tmp_path):
        (tmp_path / "facts.tsv").write_text("a\tr\tb\n")
        with pytest.raises(UserError, match="no such folder"):
            open_graph_folder(tmp_path / "facts.tsv")
        assert len(open_graph(tmp_path / "facts.tsv").facts) == 1

    @pytest.mark.parametrize(
        "text", ["", "not JSON", '{"format": ', "\udcff", "[" * 100_000], ids=["empty", "words", "cut", "bytes", "deep"]
    )
    def test_a_header_that_is_not_json_says_so(self, folder, text):
        (folder / "graph.json").write_bytes(text.encode(errors="surrogateescape"))
        with pytest.raises(UserError, match=r"graph\.json cannot be read"):
            open_graph_folder(folder)

    @pytest.mark.parametrize("text", ["[]", "{}", "null", "3", '"kgreckon-graph"', '{"format": "another"}'])
    def test_json_of_another_kind_is_no_header(self, folder, text):
        (folder / "graph.json").write_text(text)
        with pytest.raises(UserError, match=r"graph\.json is not the header of a graph folder"):
            open_graph_folder(folder)

    @pytest.mark.parametrize("version", [0, 4, "1", None])
    def test_another_version_is_named_beside_the_known_one(self, folder, version):
        with_header(folder, version=version)
        with pytest.raises(UserError, match=f"has version {version}; this kgreckon reads version 3 and those before"):
            open_graph_folder(folder)

    @pytest.mark.parametrize("units", [None, "degrees", [1, 2], {"degrees": 0}])
    def test_the_units_must_be_listed(self, folder, units):
        with_header(folder, units=units)
        with pytest.raises(UserError, match="does not list the units"):
            open_graph_folder(folder)

    @pytest.mark.parametrize("units", [[], ["degrees"], ["degrees", "degrees"], ["degrees", "persons", "unused"]])
    def test_the_units_must_be_those_of_the_values(self, folder, units):
        with_header(folder, units=units)
        with pytest.raises(UserError, match="unit"):
            open_graph_folder(folder)


class TestOpening:
    def test_an_mmkg_folder_is_read_with_its_most_frequent_attributes(self, tmp_path):
        (tmp_path / "EntityTriples.tsv").write_text("a\tr\tb\n")
        (tmp_path / "NumericalTriples.tsv").write_text("a\tage\t5\nb\tage\t5\nb\tsize\t5\n")
        assert open_graph(tmp_path).attributes.names.to_pylist() == ["age", "size"]
        assert open_graph(str(tmp_path), top_attributes=1).attributes.names.to_pylist() == ["age"]

    def test_a_finished_graph_has_the_attributes_it_has(self, folder):
        with pytest.raises(UserError, match="choose its attributes when it is imported"):
            open_graph(folder, top_attributes=1)

    def test_a_folder_called_world_goes_before_the_embedded_graph(self, folder, tmp_path, monkeypatch, world_graph):
        monkeypatch.chdir(tmp_path)
        assert content(open_graph("world")) == content(world_graph)
        folder.rename(tmp_path / "world")
        assert content(open_graph("world")) == content(example())

    def test_a_graph_folder_is_not_a_source(self, folder):
        with pytest.raises(UserError, match="is a folder, but not one of MMKG"):
            read_sources([folder])


def test_numbers_as_far_apart_as_can_be_are_two_values():
    builder = GraphBuilder()
    for number in (1.7976931348623157e308, -2.99e292, -1.7976931348623157e308, -2.99e292):
        builder.add_value("a", "size", number, "metres")
    assert len(builder.build().values) == 3
