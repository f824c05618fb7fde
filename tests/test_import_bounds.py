"""What a line, a statement or a document may cost an import, and what small files may not make of it."""

import contextlib
import gzip
import io
import os
import sqlite3
import subprocess
import sys
import tracemalloc
from pathlib import Path

import duckdb
import numpy as np
import pandas
import pyarrow
import pyarrow.parquet
import pytest

from kgreckon.errors import UserError
from kgreckon.graph import GraphBuilder, TableKind, read_sources, unpacking
from kgreckon.graph.readers import rdf, tables

RDF = 'xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns:e="urn:e:"'
STATEMENT = '<rdf:Description rdf:about="urn:a"><e:in rdf:resource="urn:b"/></rdf:Description>'
WHOLE = f"<rdf:RDF {RDF}>{STATEMENT}</rdf:RDF>"


def problem_of(path, **options):
    with pytest.raises(UserError) as caught:
        read_sources([path], **options)
    assert str(path) in str(caught.value)
    return str(caught.value)


def written(path, content):
    path.write_bytes(content.encode())
    return path


@pytest.fixture
def small_bounds(monkeypatch):
    """Bounds that a test reaches at once."""
    monkeypatch.setattr(tables, "MOST_LINE", 100)
    monkeypatch.setattr(rdf, "_MOST_BETWEEN", 2**16)


class TestLines:
    @pytest.mark.parametrize("skip_bad_lines", [False, True])
    @pytest.mark.parametrize(("name", "separator"), [("f.tsv", "\t"), ("f.csv", ","), ("f.nt", " ")])
    def test_a_line_without_end_is_not_read_whole(self, tmp_path, small_bounds, name, separator, skip_bad_lines):
        if name == "f.nt" and not skip_bad_lines:
            pytest.skip("read by the parser, which has a bound of its own")
        fact = separator.join(("<a:a>", "<a:r>", "<a:b>")) + (" ." if name == "f.nt" else "")
        path = written(tmp_path / name, f"{fact}\n{'x' * 101}")
        assert ":2: the line is longer than 100 characters" in problem_of(path, skip_bad_lines=skip_bad_lines)
        written(path, f"{fact}\n" * 200)
        assert len(read_sources([path], skip_bad_lines=skip_bad_lines)[0].facts) == 1

    def test_a_small_file_that_unpacks_to_a_long_line_takes_no_memory(self, tmp_path):
        """300 MiB in 300 kB: under an address space that has no room for them."""
        path = tmp_path / "bomb.tsv.gz"
        with gzip.open(path, "wb", compresslevel=1) as file:
            file.write(b"a\tr\t")
            for _ in range(300):
                file.write(b"x" * 2**20)
        program = """
import resource, sys
from pathlib import Path
from kgreckon.graph import read_sources
from kgreckon.errors import UserError
size = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (size + 200 * 2**20,) * 2)
try:
    read_sources([Path(sys.argv[1])])
except UserError as error:
    print(error)
"""
        done = subprocess.run([sys.executable, "-c", program, str(path)], capture_output=True, text=True)
        assert "longer than 16,777,216 characters" in done.stdout, done.stderr


class TestStatements:
    @pytest.mark.parametrize(
        ("name", "content"),
        [
            ("long.ttl", '<urn:a> <urn:in> <urn:b> ; <urn:d> """{}""" .'),
            ("long.nt", '<urn:a> <urn:in> <urn:b> .\n<urn:a> <urn:d> "{}" .\n'),
            ("long.jsonld", '{{"@id": "urn:a", "urn:d": "{}"}}'),
            (
                "long.rdf",
                f'<rdf:RDF {RDF}><rdf:Description rdf:about="urn:a"><e:d>{{}}</e:d></rdf:Description></rdf:RDF>',
            ),
            ("tag.rdf", f'<rdf:RDF {RDF}><rdf:Description rdf:about="urn:{{}}"/></rdf:RDF>'),
        ],
    )
    def test_one_that_is_too_long_is_one_line(self, tmp_path, name, content):
        path = written(tmp_path / name, content.format("x" * (33 << 20)))
        assert problem_of(path).endswith("a statement is too long: 16 MiB is what one may have")

    def test_many_short_ones_may_be_longer_together(self, tmp_path, small_bounds):
        path = written(tmp_path / "f.rdf", WHOLE.replace(STATEMENT, STATEMENT * 2000))
        assert path.stat().st_size > 2**16 and len(read_sources([path])[0].facts) == 1


GRAPHML = '<graphml xmlns="http://graphml.graphdrawing.org/xmlns"><graph edgedefault="directed">{}</graph></graphml>'
NODES, EDGE = '<node id="a"/><node id="b"/>', '<edge source="a" target="b"/>'
NETWORKS = {
    "f.graphml": GRAPHML.format(NODES + EDGE),
    "f.gexf": '<gexf version="1.2" xmlns="http://www.gexf.net/1.2draft"><graph defaultedgetype="directed">'
    f"<nodes>{NODES}</nodes><edges>{EDGE}</edges></graph></gexf>",
}


def computed_database(path, length, rows):
    """A table `t` of a column whose texts have a length, and take no place in the file."""
    if path.suffix == ".sqlite":
        with contextlib.closing(sqlite3.connect(path)) as base:
            base.execute(f"CREATE TABLE t (n, kind, long AS (hex(zeroblob({length // 2}))))")
            base.executemany("INSERT INTO t VALUES (?, ?)", [(f"n{row}", f"k{row % 3}") for row in range(rows)])
            base.commit()
    else:
        with duckdb.connect(str(path)) as base:
            base.execute(
                f"CREATE TABLE t AS SELECT 'n' || i AS n, 'k' || i % 3 AS kind, repeat('0', {length}) AS long "
                f"FROM range({rows}) AS r(i)"
            )


class TestWideSources:
    """What is read as a whole: a small file may not take all memory."""

    def test_small_files_that_unpack_to_much_take_little_memory(self, tmp_path):
        """100 MiB in each, under an address space that has no room for them."""
        long = "a line, text or tag is longer than 16,777,216 characters"
        many = "unpacks to more than 100 times its size"
        text, header = b"x" * 2**20, "name,height,weight,age,sort\n"
        files = {
            "text.json.gz": ('[{"a": "', text, '"}]', long),
            "text.jsonl.gz": ('{"a": "', text, '"}', long),
            "cell.csv.gz": (header, text, "", long),
            "tag.graphml": (GRAPHML.partition("{}")[0] + '<node id="', text, '"/>', long),
            "comment.gml.gz": ('graph [ comment "', text, '"]', long),
            "records.json.gz": ("[", b'{"a": 1},' * 2**17, "{}]", many),
            "lines.csv.gz": (header, b"a,1,1,1,b\n" * 2**17, "", many),
        }
        for name, (start, piece, end, _) in files.items():
            with (gzip.open if name.endswith("gz") else Path.open)(tmp_path / name, "wb") as file:
                file.write(start.encode())
                for _ in range(100):
                    file.write(piece)
                file.write(end.encode())
        program = """
import resource, sys
from pathlib import Path
import networkx, pyarrow.csv, pyarrow.json
from kgreckon.graph import read_sources
from kgreckon.errors import UserError
size = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (size + 150 * 2**20,) * 2)
for path in sys.argv[1:]:
    try:
        read_sources([Path(path)])
    except UserError as error:
        print(error)
"""
        done = subprocess.run(
            [sys.executable, "-c", program, *(str(tmp_path / name) for name in files)], capture_output=True, text=True
        )
        assert len(done.stdout.splitlines()) == len(files), done.stdout + done.stderr
        for told, (name, (*_, message)) in zip(done.stdout.splitlines(), files.items(), strict=True):
            assert name in told and message in told

    def test_workbooks_networks_and_typed_columns_have_bounds_too(self, tmp_path, monkeypatch):
        sheet, columns, nodes = tmp_path / "f.xlsx", tmp_path / "f.parquet", tmp_path / "f.graphml.gz"
        pandas.DataFrame({"name": ["a", "b", "c"], "height": [1, 2, 4], "age": [1, 2, 3]}).to_excel(sheet, index=False)
        table = {"name": [f"n{i}" for i in range(2000)], "height": range(2000), "text": ["x" * 1000] * 2000}
        pyarrow.parquet.write_table(pyarrow.table(table), columns)
        nodes.write_bytes(gzip.compress(GRAPHML.format(NODES * 1000 + EDGE).encode()))
        for path in (sheet, columns, nodes):
            read_sources([path])
        for bound, small in {
            "TIMES_UNPACKED": 1,
            "_TIMES_XML": 25,
            "_ALWAYS_UNPACKED": 0,
            "_ALWAYS_DECODED": 0,
        }.items():
            monkeypatch.setattr(unpacking, bound, small)
        for path in (sheet, columns, nodes):
            assert "times its size: if that is meant" in problem_of(path)

    @pytest.mark.parametrize("name", ["f.sqlite", "f.duckdb"])
    def test_databases_have_bounds_too(self, tmp_path, monkeypatch, name):
        """A small one holds much that is computed, or compressed."""
        whole, cell, much = (tmp_path / part / name for part in ("whole", "cell", "much"))
        for path, length, rows in ((whole, 10, 30), (cell, 20_000_000, 1), (much, 100_000, 300)):
            path.parent.mkdir()
            computed_database(path, length, rows)
            assert path.stat().st_size < 1_500_000
        assert len(read_sources([whole])[0].entities) > 30
        assert "table t: a cell is longer than 16,777,216 bytes" in problem_of(cell)
        monkeypatch.setattr(unpacking, "TIMES_UNPACKED", 1)
        monkeypatch.setattr(unpacking, "_ALWAYS_DECODED", 2**20)
        assert "times its size: if that is meant" in problem_of(much)

    def test_long_texts_are_read_in_few_rows_at_once(self, tmp_path):
        """1 GB of computed cells, under an address space that has no room for them."""
        computed_database(tmp_path / "f.sqlite", 2_000_000, 500)
        program = """
import resource, sys
from pathlib import Path
import sqlite3
from kgreckon.errors import UserError
from kgreckon.graph import unpacking
from kgreckon.graph.wide.loading import load
unpacking.TIMES_UNPACKED, unpacking._ALWAYS_DECODED = 1, 2**25
size = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (size + 500 * 2**20,) * 2)
try:
    load(Path(sys.argv[1]))
except UserError as error:
    print(error)
"""
        done = subprocess.run([sys.executable, "-c", program, tmp_path / "f.sqlite"], capture_output=True, text=True)
        assert "times its size: if that is meant" in done.stdout, done.stderr

    @pytest.mark.parametrize("name", NETWORKS)
    @pytest.mark.parametrize("encoding", ["utf-8", "utf-16"])
    def test_entities_are_refused(self, tmp_path, name, encoding):
        start = f'<?xml version="1.0" encoding="{encoding}"?>'
        path = tmp_path / name
        path.write_bytes((start + NETWORKS[name]).encode(encoding))
        assert len(read_sources([path])[0].facts) == 1  # `f` is no kind of things
        path.write_bytes((f'{start}<!DOCTYPE g [<!ENTITY a "aa">]>' + NETWORKS[name]).encode(encoding))
        assert "declares XML entities" in problem_of(path)


class TestXML:
    @pytest.mark.parametrize(
        "doctype",
        [
            '<!DOCTYPE r [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;&a;&a;">]>',
            '<!DOCTYPE r SYSTEM "<">\n<!ENTITY a "aaaa">',
            "<!DOCTYPE r [<!-- ]> -->" + " " * 100_000 + '<!ENTITY a "aaaa">]>',
        ],
    )
    def test_entities_are_refused(self, tmp_path, doctype):
        path = written(tmp_path / "f.rdf", f'<?xml version="1.0"?>{doctype}{WHOLE}')
        assert "declares XML entities" in problem_of(path)

    def test_entities_are_seen_across_the_pieces_that_are_read(self):
        document = b"<!DOCTYPE r [<!ENTITY a 'b'>]>"
        for size in range(1, 12):
            bounded = rdf._Bounded(io.BytesIO(document), Path("f.rdf"), is_xml=True)
            with pytest.raises(UserError, match="declares XML entities"):
                while bounded.read(size):
                    pass

    @pytest.mark.parametrize(
        "start", ["", '<?xml version="1.0"?>\n', "<!-- <r> -->\n", '<!DOCTYPE r SYSTEM "r.dtd">\n']
    )
    @pytest.mark.parametrize("end", ["", "\n", "<!-- the end -->\n", "<?end?>"])
    def test_a_whole_document_is_read(self, tmp_path, start, end):
        assert len(read_sources([written(tmp_path / "f.rdf", start + WHOLE + end)])[0].facts) == 1

    def test_a_document_that_is_cut_off_is_not_taken_for_a_whole_one(self, tmp_path):
        """The parser takes any beginning for a document."""
        for length in range(WHOLE.index(STATEMENT), len(WHOLE)):
            assert problem_of(written(tmp_path / "f.rdf", WHOLE[:length]))
        assert "is cut off" in problem_of(written(tmp_path / "f.rdf", WHOLE[: -len("</rdf:RDF>")]))


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="Windows has no such files")
class TestPipes:
    def test_a_table_whose_kind_is_said_can_come_through_one(self):
        assert imported("a\tr\tb\n", TableKind.FACTS) == "1 0"
        assert imported("a\theight\t3\n", TableKind.VALUES) == "0 1"

    def test_so_can_one_that_is_read_twice(self):
        assert imported("a\tr\tb\na\theight\t3\nb\theight\t4\n", TableKind.TRIPLES) == "1 2"


def imported(content, kind):
    """What an import of standard input comes to."""
    program = """
import sys
from pathlib import Path
from kgreckon.errors import UserError
from kgreckon.graph import TableKind, read_sources
try:
    graph, _ = read_sources([(Path("/dev/stdin"), TableKind(sys.argv[1]))])
    print(len(graph.facts), len(graph.attribute_facts))
except UserError as error:
    print(error)
"""
    done = subprocess.run([sys.executable, "-c", program, kind.value], input=content, capture_output=True, text=True)
    return done.stdout.strip() or done.stderr


class TestMemory:
    def test_writing_a_graph_takes_little_more_than_what_it_writes(self, tmp_path):
        """The sorted keys of a fact in both directions are 16 bytes, its compressed rows 20; and none is kept."""
        rng, count = np.random.default_rng(0), 100_000
        builder = GraphBuilder()
        things = builder.add_things(pyarrow.array([f"thing {number}" for number in range(count // 4)]))
        builder.add_facts(rng.choice(things, count), "near", rng.choice(things, count))
        graph = builder.build()
        graph.save(tmp_path / "first")  # what is compiled and imported takes memory once
        tracemalloc.start()
        graph.save(tmp_path / "second")
        kept, most = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        assert most < 60 * count and kept < count
