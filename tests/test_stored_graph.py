"""Graphs that are read where a question touches them: the same answers, few blocks, and no changed bit unnoticed."""

import base64
import json
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kgreckon.errors import UserError
from kgreckon.exact import ask
from kgreckon.files import listing, read_json, write_json, write_table
from kgreckon.graph import GraphBuilder, KnowledgeGraph, Triples, open_graph_folder, storage
from kgreckon.graph.folder_format import ADJACENCIES
from kgreckon.graph.statistics import graph_statistics
from kgreckon.graph.stored_file import BLOCK, block_checksums
from kgreckon.query.paper import parse
from kgreckon.runs.checking import State, check_folder
from older_folders import without_checksums
from strategies import graphs

COMPARISON = "(i,(rp,(^next),(e,(place 300))),(rap,(height),(np,(GreaterThan),(ap,(height),(e,(place 7))))))"

STARTS_OF_PATHS = ["urn:", "/", "http://x/y#", "urn", "a://b/"]


def with_edges(graph: KnowledgeGraph) -> KnowledgeGraph:
    """The same graph with some numerical edges."""
    rows = np.arange(len(graph.values), dtype=np.int32)
    return replace(graph, comparisons=Triples.from_arrays(rows, rows % 7, rows[::-1].copy()))


def large() -> KnowledgeGraph:
    """A graph whose every file takes several blocks."""
    builder = GraphBuilder()
    for number in range(30_000):
        builder.add_fact(f"place {number}", "next", f"place {number * 7 % 30_000}")
        builder.add_value(f"place {number}", "height", number * 0.25, "metres")
    builder.label("place 5", "The Fifth Place")
    return with_edges(builder.build())


@pytest.fixture(scope="module")
def written(tmp_path_factory) -> Path:
    """A large graph, in a folder that no test changes."""
    folder = tmp_path_factory.mktemp("stored") / "graph"
    large().save(folder)
    return folder


@pytest.fixture
def folder(tmp_path) -> Path:
    """A small graph with all there can be in a folder."""
    builder = GraphBuilder()
    for city, country, latitude in (("Oslo", "Norway", 59.9), ("Kyoto", "Japan", 35.0), ("東京", "Japan", 35.7)):
        builder.add_fact(city, "in", country)
        builder.add_value(city, "latitude", latitude, "degrees")
        builder.add_value(city, "population", latitude * 1000, "persons")
    builder.label("東京", "Tokyo")
    with_edges(builder.build()).save(tmp_path / "graph")
    return tmp_path / "graph"


def everything(graph: KnowledgeGraph) -> list:
    """All of a graph, every array of it and every name."""
    adjacencies = [getattr(graph, name) for name in ADJACENCIES]
    parts = [graph.facts, graph.attribute_facts, graph.comparisons]
    return [
        *([part.sources.tolist(), part.labels.tolist(), part.targets.tolist()] for part in parts if part),
        *([each.offsets.tolist(), each.labels.tolist(), each.starts.tolist()] for each in adjacencies if each),
        *(each.targets.tolist() for each in adjacencies if each),
        graph.values.numbers.tolist(),
        graph.entities.names.to_pylist(),
        graph.entities.labels.to_pylist(),
        [graph.entities.find(graph.entities.name(place)) for place in range(len(graph.entities))],
    ]


def blocks_read(graph: KnowledgeGraph) -> int:
    """How many blocks of the files of compressed rows and names were read."""
    files = [vars(getattr(graph, name))["_file"] for name in ("follows", "values_of", "having")]
    entities = graph.entities
    files += [entities._file, entities._hashes.file]  # type: ignore[attr-defined]
    return sum(len(file._checksums) - file._left for file in files)


class TestSameAnswers:
    @settings(max_examples=40)
    @given(graph=graphs())
    def test_a_stored_graph_is_the_graph(self, tmp_path_factory, graph):
        folder = tmp_path_factory.mktemp("same") / "graph"
        graph.save(folder)
        stored = open_graph_folder(folder)
        assert everything(stored) == everything(graph)
        assert graph_statistics(open_graph_folder(folder)) == graph_statistics(graph)
        for source in range(len(graph.entities)):
            for label in range(2 * len(graph.relations)):
                rows = [one.follows.row(source, label).tolist() for one in (open_graph_folder(folder), graph)]
                assert rows[0] == rows[1]

    @settings(max_examples=60)
    @given(
        st.lists(
            st.one_of(
                st.text(st.characters(codec="utf-8"), min_size=1),
                st.text(st.sampled_from("aAß_ /#%:Éİ41"), min_size=1),
                st.builds("{}{}".format, st.sampled_from(STARTS_OF_PATHS), st.text("A_/#%4é")),
            ),
            min_size=2,
            unique=True,
        ),
        st.data(),
    )
    def test_every_name_and_label_is_found_as_in_a_dictionary(self, tmp_path_factory, names, data):
        builder = GraphBuilder()
        for name in names:
            builder.add_fact(name, "r", names[0])
        for name in data.draw(st.lists(st.sampled_from(names))):
            builder.label(name, data.draw(st.sampled_from([*names, "A label", "ẞ"])))
        graph = builder.build()
        folder = tmp_path_factory.mktemp("names") / "graph"
        graph.save(folder)
        stored = open_graph_folder(folder)
        texts = {*names, *(graph.entities.label(place) for place in range(len(names))), "absent"}
        for text in sorted(texts | {text.swapcase() for text in texts} | {text.casefold() for text in texts}):
            answers: list[int | str] = []
            for symbols in (graph.entities, stored.entities):
                assert symbols.has(text) == (text in names)
                try:
                    answers.append(symbols.find(text))
                except UserError as error:
                    answers.append(str(error))
            assert answers[0] == answers[1]

    def test_an_older_folder_gives_the_same(self, folder):
        graph = everything(open_graph_folder(folder))
        assert everything(open_graph_folder(without_checksums(folder))) == graph

    def test_texts_beyond_what_32_bits_count_are_kept(self, folder, tmp_path, monkeypatch):
        monkeypatch.setattr(storage, "MOST_TEXT", 10)
        graph = open_graph_folder(folder)
        for compress in (False, True):
            graph.save(tmp_path / str(compress), compress=compress)
            with pa.OSFile(str(tmp_path / str(compress) / "entities.arrow")) as source:
                assert pa.ipc.open_file(source).schema.types == [pa.large_string()] * 2
            assert everything(open_graph_folder(tmp_path / str(compress))) == everything(graph)
            assert open_graph_folder(tmp_path / str(compress)).entities.label(4) == "Tokyo"
            assert not check_folder(tmp_path / str(compress)).is_damaged


class TestReadingLittle:
    def test_opening_and_a_question_read_few_blocks(self, written):
        graph = open_graph_folder(written)
        assert blocks_read(graph) <= 10  # of each file the first and the last
        answers = ask(graph, parse("(rp,(next),(e,(The fifth place)))", graph.vocabulary))
        assert [graph.entities.name(place) for place in answers.tolist()] == ["place 35"]
        total = sum(-(-path.stat().st_size // BLOCK) for path in written.glob("*.arrow"))
        assert blocks_read(graph) <= 25 < total / 3

    def test_what_was_read_before_is_not_looked_at_again(self, written):
        graph = open_graph_folder(written)
        query = parse(COMPARISON, graph.vocabulary)
        found, read = ask(graph, query).tolist(), blocks_read(graph)
        assert found and ask(graph, query).tolist() == found and blocks_read(graph) == read
        assert found == ask(large(), query).tolist()

    def test_a_graph_that_was_read_as_a_whole_checks_nothing_more(self, written):
        graph = open_graph_folder(written)
        graph.follows.targets  # noqa: B018  # an attribute stands for all
        assert vars(graph.follows)["_file"].is_checked


def flipped(path: Path, place: int, bit: int = 0) -> bytes:
    """Change one bit of a file; returns what it held."""
    whole = path.read_bytes()
    changed = bytearray(whole)
    changed[place] ^= 1 << bit
    path.write_bytes(changed)
    return whole


class TestDamage:
    def test_every_changed_bit_is_noticed(self, folder):
        rng = np.random.default_rng(3)
        whole = everything(open_graph_folder(folder))
        for path in sorted(folder.iterdir()):
            size = path.stat().st_size
            for place in {0, size - 1, *rng.integers(0, size, 12).tolist()}:
                content = flipped(path, place, int(rng.integers(8)))
                assert check_folder(folder).is_damaged, (path.name, place)
                with pytest.raises(UserError):
                    everything(open_graph_folder(folder))
                path.write_bytes(content)
        assert everything(open_graph_folder(folder)) == whole and not check_folder(folder).is_damaged

    def test_a_change_matters_where_a_question_touches_it(self, tmp_path, written):
        folder = tmp_path / "graph"
        large().save(folder)
        graph = open_graph_folder(folder)
        query = parse("(rp,(next),(e,(place 5)))", graph.vocabulary)
        asked = ask(graph, query).tolist()
        path = folder / "follows.arrow"
        stored, size = open_graph_folder(folder).follows, path.stat().st_size
        outcomes = []
        for place in range(BLOCK // 2, size, BLOCK):
            content = flipped(path, place)
            try:
                outcomes.append(ask(open_graph_folder(folder), query).tolist() == asked)
                assert outcomes[-1]
            except UserError as error:
                assert str(error).startswith(f"{path} is damaged")
                outcomes.append(False)
            assert check_folder(folder).parts()["graph"] is State.DAMAGED
            path.write_bytes(content)
        assert stored is not None and 2 <= outcomes.count(False) <= 6 < outcomes.count(True)

    def test_a_file_that_is_missing_or_cut_short_is_named(self, folder):
        for path in sorted(folder.glob("*.arrow")):
            content = path.read_bytes()
            path.unlink()
            with pytest.raises(UserError, match=f"{path.name} is missing"):
                open_graph_folder(folder)
            for length in (0, 5, len(content) - 1):
                path.write_bytes(content[:length])
                with pytest.raises(UserError) as caught:
                    open_graph_folder(folder)
                assert str(caught.value).startswith(str(path))
            path.write_bytes(content)

    @pytest.mark.parametrize("blocks", [{}, None, [], {"follows.arrow": "no base64"}, {"follows.arrow": 5}])
    def test_checksums_that_are_not_there_are_no_checksums(self, folder, blocks):
        header = read_json(folder / "graph.json")
        write_json(folder / "graph.json", header | {"blocks": header["blocks"] | blocks if blocks else blocks})
        with pytest.raises(UserError, match=r"\.arrow is damaged|graph\.json is damaged"):
            open_graph_folder(folder)


FORGED = """
import sys
from pathlib import Path
from kgreckon.errors import UserError
from kgreckon.exact import ask
from kgreckon.graph import open_graph_folder
from kgreckon.query.paper import parse

for folder in sys.argv[1:]:
    for text in ("(rp,(next),(n,(e,(place 1))))", "(rap,(height),(np,(GreaterThan),(nv,(35))))"):
        try:
            graph = open_graph_folder(Path(folder))
            print(len(ask(graph, parse(text, graph.vocabulary))))
        except UserError as error:
            print(str(error))
"""


class TestForgery:
    """Folders that were changed and sealed again: checksums say nothing, and still no other memory is read."""

    def test_ids_out_of_range_are_an_error(self, written, tmp_path):
        folders = []
        for column in ("offsets", "labels", "starts", "targets"):
            for number in (-1, 2**31 - 1):
                folder = tmp_path / f"{column}{number}"
                folders.append(str(folder))
                shutil.copytree(written, folder)
                for path in (folder / "follows.arrow", folder / "having.arrow"):
                    with pa.OSFile(str(path)) as source:
                        table = pa.ipc.open_file(source).read_all()
                    place = table.column_names.index(column)
                    values = table.column(column)[0].as_py()
                    values[len(values) // 2] = number
                    array = pa.array([values], table.schema.field(column).type)
                    write_table(path, table.set_column(place, table.schema.field(place), array))
                seal_again(folder)
        command = [sys.executable, "-c", FORGED, *folders]
        done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
        assert (done.returncode, done.stderr) == (0, "")
        problem = "is damaged: an id is out of range; kgreckon check FOLDER says what still holds"
        assert len(done.stdout.splitlines()) == 16 == done.stdout.count(problem), done.stdout
        assert check_folder(folders[0]).is_damaged

    def test_rows_of_another_graph_are_found_by_check(self, folder, tmp_path):
        other = open_graph_folder(folder).restricted(np.array([True, True, False]), np.ones(6, dtype=bool))
        other.save(tmp_path / "other")
        (folder / "follows.arrow").write_bytes((tmp_path / "other" / "follows.arrow").read_bytes())
        seal_again(folder)
        assert [each.problem for each in check_folder(folder).files if each.state is State.DAMAGED] == [
            f"{folder / 'follows.arrow'} is damaged: it is not of the facts and values of its graph"
        ]


def seal_again(folder: Path) -> None:
    """List the files of a folder as they are now."""
    header = read_json(folder / "graph.json")
    paths = [folder / name for name in header["files"]]
    blocks = {path.name: block_checksums(path) for path in paths}
    write_json(folder / "graph.json", header | {"files": listing(paths), "blocks": blocks})


def test_the_checksums_are_those_of_every_block(written):
    header = json.loads((written / "graph.json").read_text(encoding="utf-8"))
    for name, text in header["blocks"].items():
        size = header["files"][name]["bytes"]
        assert len(base64.b64decode(text)) == 4 * -(-size // BLOCK)
    assert set(header["blocks"]) == {path.name for path in written.glob("*.arrow")} and len(header["blocks"]) == 12
