"""Tables read by the block: the same graph, report and errors as row by row."""

import gzip
from dataclasses import asdict

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from kgreckon.errors import UserError
from kgreckon.graph import GraphBuilder, ImportReport, TableKind, read_sources
from kgreckon.graph.name_table import NameTable
from kgreckon.graph.readers import built, table_blocks
from kgreckon.graph.readers.tables import add_rows as add_single_rows
from kgreckon.graph.readers.tables import read_rows, read_table
from kgreckon.graph.unpacking import suffix_of
from test_storage import content

XSD = "http://www.w3.org/2001/XMLSchema#"
KINDS = [TableKind.FACTS, TableKind.VALUES, TableKind.TRIPLES]
NAMES = st.sampled_from(["a", "b", "Oslo", "12", "-3.5", "東京", "é x", " a", "1984_novel", '"q', "x" * 40])
VALUES = st.sampled_from(
    ["5", "-0", "5.25", "+7", ".5", "1e3", "12.", "1969-03-01", "9007199254740993", f'"5"^^<{XSD}int>']
)
ODD = st.sampled_from(
    ["", " ", "\t\t", "a\tb", "a\tb\tc\td", "a\t\tb", "\ta\tb", "a\tb\tx\r", "a\rb\tc\td", "\x00\tb\tc", "a\tb\tnan"]
)
ROWS = st.one_of(
    st.builds("{}\t{}\t{}".format, NAMES, NAMES, NAMES),
    st.builds("{}\t{}\t{}".format, NAMES, NAMES, VALUES),
    st.builds("{}\t{}\t{}".format, NAMES, st.sampled_from(["r", "s", "\x85"]), NAMES),
    st.builds("{}\t{}\t{}".format, NAMES, st.sampled_from(["height", "age"]), VALUES),
)
LINES = st.lists(st.one_of(ROWS, ROWS, ROWS, ROWS, ODD), min_size=1, max_size=25)


def outcome(path, kind, skip):
    """The graph and the report, or what is wrong."""
    builder, report = GraphBuilder(), ImportReport(skip_bad_lines=skip)
    try:
        read_table(path, kind, builder, report)
        return content(built(builder, report)), asdict(report)
    except UserError as error:
        return str(error)


def one_by_one(path, kind, skip):
    """The same by the reader of single rows alone."""
    builder, report = GraphBuilder(), ImportReport(skip_bad_lines=skip)
    report.files.append(path.name)
    try:
        add_single_rows(read_rows(path, report), path, kind, builder, report)
        return content(built(builder, report)), asdict(report)
    except UserError as error:
        return str(error)


class TestSameAsRowByRow:
    @settings(max_examples=250)
    @given(
        LINES,
        st.sampled_from(KINDS),
        st.booleans(),
        st.sampled_from(["\n", "\r\n"]),
        st.sampled_from(["", "\ufeff"]),
        st.sampled_from([20, 64, 1 << 20]),
        st.booleans(),
    )
    @example(["a\tr\t5", "b\tr\t" + "9" * 400], TableKind.VALUES, True, "\n", "", 64, False)
    @example(["a\tr\t1", "b\tr\tx", "1\tr\t2"], TableKind.TRIPLES, False, "\n", "", 20, True)
    def test_a_table_gives_the_same(self, tmp_path_factory, lines, kind, skip, line_break, mark, size, ends):
        path = tmp_path_factory.mktemp("fast") / "table.tsv"
        path.write_bytes((mark + line_break.join(lines) + line_break * ends).encode())
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(table_blocks, "_SIZE", size)
            found = outcome(path, kind, skip)
            patch.setattr(table_blocks, "_split", lambda content, starts, ends: False)
            assert found == outcome(path, kind, skip)
        first = next(iter(read_rows(path, ImportReport(skip_bad_lines=True))), None)
        if kind is not TableKind.TRIPLES and first is not None and len(first[1]) == 3:
            assert found == one_by_one(path, kind, skip)

    @pytest.mark.parametrize("zipped", [False, True])
    @pytest.mark.parametrize("bad", [b"a\tr\t\xff", b"a\tr", b"a\t\tb"])
    def test_a_bad_line_far_down_is_named(self, tmp_path, monkeypatch, zipped, bad):
        monkeypatch.setattr(table_blocks, "_SIZE", 1000)
        lines = [f"head {number}\trelation\ttail {number}".encode() for number in range(500)]
        lines[404] = bad
        path = tmp_path / ("facts.tsv.gz" if zipped else "facts.tsv")
        path.write_bytes(gzip.compress(b"\n".join(lines)) if zipped else b"\n".join(lines))
        with pytest.raises(UserError, match=rf"{path.name}:405: "):
            read_sources([(path, TableKind.FACTS)])
        graph, report = read_sources([(path, TableKind.FACTS)], skip_bad_lines=True)
        assert (len(graph.facts), report.bad_lines) == (499, 1) and ":405: " in report.bad_examples[0]

    def test_a_header_and_blank_lines_before_it_are_no_facts(self, tmp_path):
        path = tmp_path / "facts.tsv"
        path.write_text("\n\nhead\trelation\ttail\na\tr\tb\n\nc\tr\td\n")
        graph, _ = read_sources([path])
        assert graph.entities.names.to_pylist() == ["a", "b", "c", "d"]

    def test_ids_are_given_in_the_order_of_the_rows(self, tmp_path, monkeypatch):
        monkeypatch.setattr(table_blocks, "_SIZE", 30)
        path = tmp_path / "triples.tsv"
        path.write_text("z\tnext\ty\ny\theight\t5\nx\tnext\tz\nw\theight\t6.5\nv\tnext\tw\n")
        graph, report = read_sources([(path, TableKind.TRIPLES)])
        assert graph.entities.names.to_pylist() == ["z", "y", "x", "w", "v"] and report.attributes == ["height"]

    def test_reading_tells_how_far_it_is(self, tmp_path):
        path, told = tmp_path / "facts.tsv", []
        path.write_text("a\tr\tb\n" * 100)
        report = ImportReport(progress=lambda file, size: told.append((file, size)))
        read_table(path, TableKind.FACTS, GraphBuilder(), report)
        assert told == [(path, path.stat().st_size)] and suffix_of(path) == ".tsv"


class TestNameTable:
    @given(st.lists(st.text(st.characters(codec="utf-8"), min_size=1)), st.lists(st.text(min_size=1), max_size=3))
    def test_it_is_a_dictionary_in_order(self, names, absent):
        table = NameTable()
        places: dict[str, int] = {}
        for name in names:
            assert table.add(name) == places.setdefault(name, len(places))
        assert len(table) == len(places) and table.texts(np.arange(len(table))).to_pylist() == list(places)
        for name in [*names, *(name for name in absent if name.isascii())]:
            assert table.find(name) == places.get(name)
        assert [table.text(place) for place in range(len(table))] == list(places)

    def test_one_by_one_and_all_at_once_share_ids(self):
        table = NameTable()
        words = ["one", "two", "one", "three"] + [f"name {number}" for number in range(5000)]
        content = np.frombuffer("".join(words).encode(), dtype=np.uint8)
        ends = np.cumsum([len(word) for word in words])
        assert table.add("two") == 0
        ids = table.add_all(content, ends - [len(word) for word in words], ends)
        assert ids[:4].tolist() == [1, 0, 1, 2] and len(table) == 5003 and table.add("name 7") == ids[11]
