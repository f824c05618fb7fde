"""N-Triples read by the block: the same graph, report and errors as triple by triple."""

from dataclasses import asdict

import pyoxigraph as ox
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kgreckon.errors import UserError
from kgreckon.graph import GraphBuilder, ImportReport
from kgreckon.graph.readers import rdf, read_into, table_blocks
from test_storage import content

XSD = "http://www.w3.org/2001/XMLSchema#"
RDF = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"
LABEL = "http://www.w3.org/2000/01/rdf-schema#label"
GOOD = [
    *("http://a.b/c", "http://a.b/c%20d", "https://x/y#z", "http://a/?q=1&r=(2)", "http://東京/é"),
    *("urn:x:y", "http://a:80/b", "HTTP://a/B"),
]
BAD = [
    *("http://a b/c", "relative", "http://a/%zz", "http://a/#b#c", "http://a/{b}", "http://a/[b]", ""),
    *("http:///x", "http://a:b/c"),
]
GOOD_TEXTS = [
    "5",
    "-0.5",
    "5.25e3",
    " 7",
    "1969-03-01",
    "abc",
    "",
    "tab\\t",
    "\\u00e9",
    "é",
    "9007199254740993",
    "9" * 310,
]
GOOD_TYPES = [f"^^<{XSD}{name}>" for name in ("integer", "double", "date", "string", "gYear", "boolean")]
GOOD_TYPES += [f"^^<{RDF}HTML>", "^^<http://units/metre>", "", "@en", "@DE-at"]
BAD_TYPES = [f"^^<{RDF}langString>", "^^<bad>", "@e_n", "@", "@x-"]
RELATIONS = st.sampled_from(["<http://r/1>", "<http://r/2>", "<http://r/value>", f"<{LABEL}>"])


def lines_of(iris: list[str], texts: list[str], types: list[str]) -> st.SearchStrategy[str]:
    """Facts and literals of some parts."""
    things = st.sampled_from([*(f"<{iri}>" for iri in iris), "_:b0", "_:b1"])
    literals = st.builds('"{}"{}'.format, st.sampled_from(texts), st.sampled_from(types))
    return st.one_of(
        st.builds("{} {} {} .".format, things, RELATIONS, things),
        st.builds("{} {} {} .".format, things, RELATIONS, literals),
        st.builds("  {}\t{}{}.  ".format, things, RELATIONS, things),
        st.sampled_from(["", "# a comment", "<http://a/b> <http://r/1> <http://a/c> . # said so"]),
    )


GOOD_LINES = lines_of(GOOD, GOOD_TEXTS, GOOD_TYPES)
BAD_LINES = st.one_of(
    lines_of([*GOOD, *BAD], ['q"', "\\q", "5"], [*GOOD_TYPES, *BAD_TYPES]),
    st.sampled_from(["<http://a/b> <http://r/1> .", "<http://a/b> <http://r/1> <http://a/b>", "\x00"]),
    st.just("<http://a/b> <http://r/1> <http://a/c> .\r<http://a/c> <http://r/1> <http://a/d> ."),
)


def outcome(path, skip=False):
    """The graph and the report, or what is wrong."""
    builder, report = GraphBuilder(), ImportReport(skip_bad_lines=skip)
    try:
        read_into(builder, report, [path])
        return content(builder.build()), asdict(report) | {"other_literals": dict(report.other_literals)}
    except UserError as error:
        return str(error)


@settings(max_examples=300)
@given(
    st.lists(GOOD_LINES, min_size=1, max_size=12),
    st.lists(BAD_LINES, max_size=1),
    st.sampled_from(["\n", "\r\n"]),
    st.sampled_from([50, 1 << 20]),
    st.booleans(),
    st.booleans(),
)
def test_n_triples_give_the_same(tmp_path_factory, lines, bad, line_break, size, ends, mark):
    path = tmp_path_factory.mktemp("fast") / "graph.nt"
    lines = [*lines[:5], *bad, *lines[5:]]
    path.write_bytes(b"\xef\xbb\xbf" * mark + (line_break.join(lines) + line_break * ends).encode())
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(table_blocks, "_SIZE", size)
        found = outcome(path)
        patch.setattr(rdf._Reader, "read_blocks", lambda reader, file: reader.read_whole(file, ox.RdfFormat.N_TRIPLES))
        assert found == outcome(path)


@pytest.mark.parametrize(
    "bad", [b"<http://a/\xff> <http://r/1> <http://a/b> .", b"<a> <http://r/1> <http://a/b> .", b"what"]
)
def test_a_bad_line_far_down_is_named(tmp_path, monkeypatch, bad):
    monkeypatch.setattr(table_blocks, "_SIZE", 1000)
    lines = [b"<http://a/%d> <http://r/1> <http://a/%d> ." % (number, number + 1) for number in range(300)]
    lines[250] = bad
    path = tmp_path / "graph.nt"
    path.write_bytes(b"\n".join(lines))
    assert "graph.nt:251: " in str(outcome(path))
    assert outcome(path, skip=True)[1]["bad_lines"] == 1


def test_ids_are_given_in_the_order_of_what_is_stated(tmp_path):
    path = tmp_path / "graph.nt"
    path.write_text(
        '<http://e/skipped> <http://r/1> "text" .\n'
        '<http://e/measured> <http://r/size> "5"^^<http://www.w3.org/2001/XMLSchema#integer> .\n'
        "_:blank <http://r/1> <http://e/skipped> .\n"
        '<http://e/é> <http://r/size> "7"^^<http://www.w3.org/2001/XMLSchema#integer> .\n'
        '<http://e/skipped> <http://www.w3.org/2000/01/rdf-schema#label> "Sk\\u0069pped"@en .\n'
        '<http://e/skipped> <http://www.w3.org/2000/01/rdf-schema#label> "Later"@en .\n'
    )
    names, report = outcome(path)
    assert names["names"][0] == ["http://e/measured", "_:1", "http://e/skipped", "http://e/é"]
    assert names["labels"][0] == [None, None, "Skipped", None] and len(report["texts_left_out"]) == 1
