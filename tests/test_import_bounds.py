"""What a line, a statement or a document may cost an import, and what small files may not make of it."""

import gzip
import io
import os
import subprocess
import sys
from pathlib import Path

import pytest

from kgreckon.errors import UserError
from kgreckon.graph import TableKind, read_sources
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
