"""The command line: results to stdout, the rest to stderr, exit code 2 for wrong use, and nothing half-written."""

import gzip
import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from betae_folder import BetaEFolder
from kgreckon import __version__
from kgreckon.cli import main
from kgreckon.graph import open_graph

FACTS = "Oslo\tin\tNorway\nKyoto\tin\tJapan\nTokyo\tin\tJapan\n"
VALUES = "Oslo\tlatitude\t59.9\tdegrees\nKyoto\tlatitude\t35.0\tdegrees\nTokyo\tlatitude\t35.7\tdegrees\n"
VALUES += "Oslo\tpopulation\t700000\tpersons\nTokyo\tfounded\t1457-04-08\n"
IN_JAPAN = "(rp,(^in),(e,(Japan)))"
NORTH_OF_KYOTO = "(rap,(latitude),(np,(GreaterThan),(ap,(latitude),(e,(Kyoto)))))"


@dataclass(frozen=True)
class Result:
    """How a command ended, and what it said."""

    code: int
    out: str
    err: str

    @property
    def problem(self) -> str:
        """The one line that says what is wrong."""
        assert self.code == 2 and self.out == "" and self.err.startswith("error: ")
        assert self.err.count("\n") == 1 and self.err.endswith("\n")
        return self.err[len("error: ") : -1]


@pytest.fixture
def kgreckon(monkeypatch, capsys, tmp_path):
    """Run the program in this process, in an empty folder."""
    monkeypatch.chdir(tmp_path)

    def run(*arguments: object) -> Result:
        monkeypatch.setattr(sys, "argv", ["kgreckon", *map(str, arguments)])
        capsys.readouterr()
        with pytest.raises(SystemExit) as ended:
            main()
        code = ended.value.code
        return Result(code if isinstance(code, int) else int(code is not None), *capsys.readouterr())

    return run


def run_apart(*arguments: object, **options) -> Result:
    """Run the program in a process of its own."""
    command = [sys.executable, "-m", "kgreckon", *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, encoding="utf-8", timeout=120, check=False, **options)
    return Result(done.returncode, done.stdout, done.stderr)


@pytest.fixture
def tables(tmp_path):
    """A table of facts and one of values."""
    (tmp_path / "facts.tsv").write_text(FACTS, encoding="utf-8")
    (tmp_path / "values.tsv").write_text(VALUES, encoding="utf-8")
    return tmp_path / "facts.tsv", tmp_path / "values.tsv"


@pytest.fixture
def graph(kgreckon, tables, tmp_path):
    """A graph folder."""
    assert kgreckon("import", *tables, "--out", tmp_path / "graph").code == 0
    return tmp_path / "graph"


def everything_in(folder: Path) -> dict[str, bytes | None]:
    return {str(path): path.read_bytes() if path.is_file() else None for path in folder.rglob("*")}


class TestImport:
    def test_it_writes_a_graph_folder_and_says_what_is_in_it(self, kgreckon, tables, tmp_path):
        result = kgreckon("import", *tables, "--out", "new/graph")
        assert (result.code, result.err) == (0, "")
        assert result.out == "new/graph: 5 entities, 3 facts of 1 relations, 5 values of 3 attributes\n"
        assert len(open_graph(tmp_path / "new" / "graph").facts) == 3

    def test_json_says_the_same(self, kgreckon, tables):
        result = kgreckon("import", *tables, tables[0], "--out", "graph", "--json")
        assert json.loads(result.out) == {
            "folder": "graph",
            "entities": 5,
            "relations": 1,
            "facts": 3,
            "attributes": 3,
            "attribute_facts": 5,
            "values": 5,
            "labels": 0,
            "remarks": ["3 repeated facts counted once"],
        }
        assert result.err == "3 repeated facts counted once\n"

    def test_kinds_can_be_said(self, kgreckon, tables, tmp_path):
        for name, content in (("f.dat", "1\t2\t3\n"), ("v.dat", "1\t2\t3\n"), ("n.dat", "1\tone\n")):
            (tmp_path / name).write_text(content)
        result = kgreckon(
            "import", *tables, "--facts", "f.dat", "--values", "v.dat", "--names", "n.dat", "--out", "graph", "--json"
        )
        summary = json.loads(result.out)
        assert (summary["facts"], summary["attribute_facts"], summary["labels"]) == (4, 6, 1)

    def test_only_the_most_frequent_attributes(self, kgreckon, tables):
        result = kgreckon("import", *tables, "--out", "graph", "--top-attributes", 1)
        assert result.out == "graph: 5 entities, 3 facts of 1 relations, 3 values of 1 attributes\n"

    def test_rdf_and_mmkg_together(self, kgreckon, tmp_path):
        (tmp_path / "some.ttl").write_text('<a:a> <a:r> <a:b> ; <a:p> 5 ; <a:q> "words" .')
        (tmp_path / "mmkg").mkdir()
        for name, content in (("EntityTriples", b"<c>\t<r>\t<d>\n"), ("NumericalTriples", b"<c>\tage\t7\n")):
            (tmp_path / "mmkg" / f"{name}.tsv.gz").write_bytes(gzip.compress(content))
        result = kgreckon("import", "some.ttl", "mmkg", "--out", "graph")
        assert result.out == "graph: 4 entities, 2 facts of 2 relations, 2 values of 2 attributes\n"
        assert result.err == "1 texts left out: a:q, of which hardly any repeats\n"

    def test_an_existing_graph_is_replaced_only_when_asked(self, kgreckon, graph, tables, tmp_path):
        before = everything_in(tmp_path)
        refused = kgreckon("import", tables[0], "--out", graph)
        assert refused.problem == f"{graph} already exists; use --overwrite to replace it"
        assert everything_in(tmp_path) == before
        assert kgreckon("import", tables[0], "--out", graph, "--overwrite").code == 0
        assert len(open_graph(graph).attributes) == 0
        assert {path.name for path in tmp_path.iterdir()} == {"facts.tsv", "values.tsv", "graph"}

    def test_an_import_that_is_interrupted_leaves_nothing(self, kgreckon, tables, tmp_path, monkeypatch):
        def interrupt(*_):
            raise KeyboardInterrupt

        before = everything_in(tmp_path)
        for place in ("readers.tables.add_rows", "storage.write_table"):
            with monkeypatch.context() as patch:
                patch.setattr(f"kgreckon.graph.{place}", interrupt)
                result = kgreckon("import", *tables, "--out", "graph")
            assert result.code not in (0, 2) and "Traceback" not in result.err
            assert everything_in(tmp_path) == before

    def test_where_the_sources_are_bad_an_existing_graph_stays(self, kgreckon, graph, tmp_path):
        (tmp_path / "bad.tsv").write_text("a\tr\n")
        before = everything_in(tmp_path)
        assert kgreckon("import", "bad.tsv", "--out", graph, "--overwrite").code == 2
        assert everything_in(tmp_path) == before

    def test_out_may_be_the_folder_one_stands_in(self, kgreckon, tables, tmp_path, monkeypatch):
        (tmp_path / "here").mkdir()
        monkeypatch.chdir(tmp_path / "here")
        assert kgreckon("import", *tables, "--out", ".").code == 0
        assert len(open_graph(tmp_path / "here").facts) == 3
        assert {path.name for path in tmp_path.iterdir()} == {"facts.tsv", "values.tsv", "here"}


BAD_LINE = "expected 3 tab-separated fields, found 2"
_NAMES_ALONE = "the sources hold no facts; taken for a table of names: "
BAD_SOURCES = {
    "too few fields": ("facts.tsv", b"a\tr\tb\nc\tr\td\na\tr\n", f"facts.tsv:3: {BAD_LINE}"),
    "bad UTF-8": ("facts.tsv", b"a\tr\tCaf\xe9\n", r"facts.tsv:1: b'Caf\xe9' is not valid UTF-8"),
    "not a number": ("v.csv", b"a,p,1\nb,p,2\na,p,nan\n", "v.csv:3: 'nan' is not a finite number"),
    "infinity": ("v.csv", b"a,p,1\nb,p,2\na,p,-inf\n", "v.csv:3: '-inf' is not a finite number"),
    "words": ("v.csv", b"a,p,1\nb,p,2\na,p,many\n", "v.csv:3: 'many' is not a number"),
    "units": ("v.csv", b"a,p,1,m\nb,p,2,s\n", "v.csv:2: 'p' is measured in m, here in s: an attribute has one unit"),
    "an empty file": ("facts.tsv", b"", "facts.tsv is empty"),
    "an empty gzip file": ("facts.tsv.gz", gzip.compress(b""), "facts.tsv.gz is empty"),
    "a truncated gzip file": ("facts.tsv.gz", gzip.compress(b"a\tr\tb\n")[:-3], None),
    "truncated RDF": ("g.nt.gz", gzip.compress(b"<a:a> <a:r> <a:b> .\n")[:-3], None),
    "broken RDF": ("g.ttl", b"<a:a> <a:r> <a:b> .\n<a:a> <a:r> ", None),
    "another kind of file": ("photo.png", b"\x89PNG\r\n", None),
    "only a header": ("facts.tsv", b"head\trelation\ttail\n", "the sources hold no facts"),
    "only names": ("names.tsv", b"a\tAnna\n", f"{_NAMES_ALONE}names.tsv (where each row is a thing: --wide FILE)"),
}  # fmt: skip


class TestBadSources:
    @pytest.mark.parametrize("case", BAD_SOURCES)
    @pytest.mark.parametrize("options", [[], ["--json"]])
    def test_bad_sources_are_one_line_and_leave_nothing(self, kgreckon, tmp_path, case, options):
        name, content, problem = BAD_SOURCES[case]
        (tmp_path / name).write_bytes(content)
        before = everything_in(tmp_path)
        result = kgreckon("import", name, "--out", "graph", *options)
        assert result.problem == problem or problem is None
        assert name in result.problem or problem == "the sources hold no facts"
        assert everything_in(tmp_path) == before

    @pytest.mark.parametrize("source", ["missing.tsv", ".", "a/b/c.nt"])
    def test_missing_files_and_folders_are_one_line(self, kgreckon, tmp_path, source):
        assert source in kgreckon("import", source, "--out", "graph").problem
        assert list(tmp_path.iterdir()) == []

    @pytest.mark.parametrize("out", ["facts.tsv", "facts.tsv/graph", "facts.tsv/some/graph", "taken", "x" * 300])
    @pytest.mark.parametrize("options", [[], ["--overwrite"]])
    def test_an_out_that_cannot_be_written_is_one_line(self, kgreckon, tables, tmp_path, out, options):
        (tmp_path / "taken").mkdir()
        (tmp_path / "taken" / "thesis.tex").write_text("years of work")
        before = everything_in(tmp_path)
        result = kgreckon("import", *tables, "--out", out, *options)
        assert out.split("/")[0] in result.problem
        assert everything_in(tmp_path) == before

    def test_an_out_that_cannot_be_written_is_told_before_the_work(self, kgreckon, graph, tmp_path):
        (tmp_path / "bad.tsv").write_text("a\tr\n")
        assert "already exists" in kgreckon("import", "bad.tsv", "--out", graph).problem

    def test_an_unknown_dataset_of_an_mmkg_folder_is_one_line(self, kgreckon, tmp_path):
        for name in ("EntityTriples", "NumericalTriples"):
            (tmp_path / f"{name}.tsv.gz").write_bytes(gzip.compress(b"a\tr\t1\n"))
        assert "unknown dataset 'foo'" in kgreckon("build", tmp_path, "--out", "b", "--dataset", "foo").problem

    @pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may write everywhere")
    def test_a_folder_that_may_not_be_written_is_one_line(self, kgreckon, tables, tmp_path):
        (tmp_path / "closed").mkdir(mode=0o555)
        assert "closed" in kgreckon("import", *tables, "--out", "closed/graph").problem

    def test_bad_lines_can_be_skipped_and_are_reported(self, kgreckon, tables, tmp_path):
        with tables[0].open("a") as facts:
            facts.write("x\n" * 100)
        result = kgreckon("import", "facts.tsv", "--out", "graph", "--skip-bad-lines", "--json")
        assert result.code == 0
        (remark,) = json.loads(result.out)["remarks"]
        assert remark.startswith(
            "100 bad lines skipped, the first: facts.tsv:4: expected 3 tab-separated fields, found 1"
        )
        assert result.err == f"{remark}\n"  # on one line, however long

    def test_line_100_is_called_100(self, kgreckon, tmp_path):
        """A terminal library may take `:100:` for a picture."""
        (tmp_path / "facts.tsv").write_text("a\tr\tb\n" * 99 + "x\n")
        result = kgreckon("import", "facts.tsv", "--out", "graph", "--skip-bad-lines")
        assert "facts.tsv:100: expected" in result.err


class TestStats:
    def test_tables_for_people(self, kgreckon, graph):
        result = kgreckon("stats", graph)
        assert (result.code, result.err) == (0, "")
        for words in ("entities", "latitude", "degrees", "59.9", "700,000", "1457-04-08", str(graph)):
            assert words in result.out

    def test_json_for_programs(self, kgreckon, graph):
        result = kgreckon("stats", graph, "--json")
        statistics = json.loads(result.out)
        assert (statistics["entities"], statistics["facts"], statistics["values"]) == (5, 3, 5)
        latitude = statistics["most_frequent_attributes"][0]
        assert (latitude["name"], latitude["unit"], latitude["entities"]) == ("latitude", "degrees", 3)
        assert (latitude["smallest"], latitude["median"], latitude["largest"]) == (35.0, 35.7, 59.9)
        assert result.err == ""

    def test_info_of_a_graph_says_how_to_have_a_run(self, kgreckon, graph):
        result = kgreckon("info", graph)
        assert result.code == 2 and f"learn from it with: kgreckon learn {graph} --out FOLDER" in result.err

    def test_how_many_rows_are_shown(self, kgreckon, graph):
        result = kgreckon("stats", graph, "--rows", 1)
        assert "Attributes: the 1 most frequent of 3" in result.out and "population" not in result.out

    def test_an_mmkg_folder(self, kgreckon, tmp_path):
        (tmp_path / "EntityTriples.tsv").write_text("a\tr\tb\n")
        (tmp_path / "NumericalTriples.tsv").write_text("a\tage\t5\nb\tage\t7\nb\tsize\t7\n")
        assert json.loads(kgreckon("stats", ".", "--json").out)["attributes"] == 2
        assert json.loads(kgreckon("stats", tmp_path, "--top-attributes", 1, "--json").out)["attributes"] == 1

    def test_the_embedded_graph(self, kgreckon):
        statistics = json.loads(kgreckon("stats", "world", "--json").out)
        assert statistics["entities"] > 1000 and "degrees" in {unit["unit"] for unit in statistics["units"]}

    def test_a_graph_without_numbers_and_one_without_facts(self, kgreckon, tmp_path):
        (tmp_path / "facts.tsv").write_text("a\tr\tb\n")
        (tmp_path / "values.tsv").write_text("a\tage\t5\n")
        for name in ("facts", "values"):
            assert kgreckon("import", f"{name}.tsv", "--out", name).code == 0
            assert kgreckon("stats", name).code == 0
            assert json.loads(kgreckon("stats", name, "--json").out)["entities"] > 0

    def test_the_largest_numbers_are_still_json(self, kgreckon, tmp_path):
        (tmp_path / "values.tsv").write_text("a\tsize\t1.7e308\nb\tsize\t1.6e308\n")
        kgreckon("import", "values.tsv", "--out", "graph")

        def no_constant(name):
            raise AssertionError(f"{name} is not JSON")

        statistics = json.loads(kgreckon("stats", "graph", "--json").out, parse_constant=no_constant)
        assert 1.6e308 <= statistics["most_frequent_attributes"][0]["median"] <= 1.7e308

    def test_a_folder_is_called_by_its_name(self, kgreckon, graph, tmp_path):
        for name in ("graph [old]", "graph :heart:", "graph [", "back\\"):
            (tmp_path / name).symlink_to(graph)
            assert kgreckon("stats", name).out.splitlines()[0].rstrip() == name

    @pytest.mark.parametrize(
        ("place", "problem"),
        [
            ("nowhere", "nowhere: no such folder or file; give a graph folder, a table, or the word 'world'"),
            (".", ". is not a graph folder; make one with: kgreckon import . --out FOLDER"),
            ("empty.tsv", "empty.tsv is empty"),
            ("x" * 5000, None),
        ],
    )
    @pytest.mark.parametrize("options", [[], ["--json"]])
    def test_what_is_no_graph_is_one_line(self, kgreckon, tmp_path, place, problem, options):
        (tmp_path / "empty.tsv").touch()
        result = kgreckon("stats", place, *options)
        assert result.problem == problem or problem is None

    @pytest.mark.parametrize("name", ["graph.json", "facts.arrow", "entities.arrow", "values.arrow"])
    @pytest.mark.parametrize("content", [b"", b"nonsense", None])
    @pytest.mark.parametrize("command", [["stats"], ["ask"]])
    def test_a_damaged_graph_is_one_line(self, kgreckon, graph, name, content, command):
        whole = (graph / name).read_bytes()
        (graph / name).write_bytes(whole[: len(whole) // 2] if content is None else content)
        query = [IN_JAPAN] if command == ["ask"] else []
        assert name in kgreckon(*command, graph, *query).problem

    def test_attributes_of_a_finished_graph_are_chosen(self, kgreckon, graph):
        assert "finished graph" in kgreckon("stats", graph, "--top-attributes", 1).problem


class TestAsk:
    def test_an_answer_for_people(self, kgreckon, graph):
        result = kgreckon("ask", graph, NORTH_OF_KYOTO, "--exact")
        assert (result.code, result.err) == (0, "")
        lines = result.out.splitlines()
        assert lines[0] == "things with latitude > the latitude of Kyoto"
        assert lines[1] == NORTH_OF_KYOTO and "2 answers" in result.out
        assert "Oslo" in result.out and "Tokyo" in result.out

    def test_an_answer_for_programs(self, kgreckon, graph):
        answer = json.loads(kgreckon("ask", graph, IN_JAPAN, "--exact", "--json").out)
        assert (answer["query"], answer["type"], answer["observed"]) == (IN_JAPAN, "1p", 2)
        assert [row["name"] for row in answer["answers"]] == ["Kyoto", "Tokyo"]

    def test_numbers_come_with_their_units(self, kgreckon, graph):
        query = "(ap,(latitude),(rp,(^in),(e,(Japan))))"
        answers = json.loads(kgreckon("ask", graph, query, "--json").out)["answers"]
        assert [(answer["value"], answer["unit"]) for answer in answers] == [(35.0, "degrees"), (35.7, "degrees")]
        assert "1457-04-08" in kgreckon("ask", graph, "(ap,(founded),(e,(Tokyo)))").out

    @pytest.mark.parametrize(
        ("command", "kind", "problem"),
        [
            (("ask", "place", IN_JAPAN), "benchmark", "place is a benchmark: its graph is place/graph"),
            (("stats", "place"), "run", "place is a run, not a graph"),
        ],
    )
    def test_a_benchmark_or_a_run_is_told_from_a_graph(self, kgreckon, tmp_path, command, kind, problem):
        (tmp_path / "place").mkdir()
        (tmp_path / "place" / f"{kind}.json").touch()
        assert kgreckon(*command).problem.startswith(problem)

    def test_a_limit_of_sparql_counts_above_the_default(self, kgreckon):
        def shown(*arguments: object) -> int:
            return len(json.loads(kgreckon("ask", "world", *arguments, "--json").out)["answers"])

        query = "SELECT ?c { ?c :is_a :City }"
        found = [shown(query), shown(f"{query} LIMIT 30"), shown(f"{query} LIMIT 30", "--limit", 25)]
        assert found == [20, 30, 25]

    def test_a_limit_cuts_what_is_shown_but_not_what_is_counted(self, kgreckon, graph):
        answer = json.loads(kgreckon("ask", graph, IN_JAPAN, "--limit", 1, "--json").out)
        assert answer["observed"] == 2 and len(answer["answers"]) == 1
        assert "2 answers, the first 1" in kgreckon("ask", graph, IN_JAPAN, "--limit", 1).out

    def test_exact_answers_have_all_their_digits(self, kgreckon, tmp_path):
        (tmp_path / "v.csv").write_text("a,score,100000.0508\na,score,100000.0509\nb,at,2003-10-01T08:00:00\n")
        assert kgreckon("import", tmp_path / "v.csv", "--out", tmp_path / "g").code == 0
        found = kgreckon("ask", tmp_path / "g", "(ap,(score),(e,(a)))").out
        assert "100,000.0508" in found and "100,000.0509" in found
        assert "2003-10-01T08:00:00" in kgreckon("ask", tmp_path / "g", "(ap,(at),(e,(b)))").out

    def test_times_of_one_day_are_compared(self, kgreckon, tmp_path):
        (tmp_path / "v.csv").write_text("a,at,2003-10-01T08:00:00\nb,at,2003-10-01 20:30:00\n")
        assert kgreckon("import", tmp_path / "v.csv", "--out", tmp_path / "g").code == 0
        later = "(rap,(at),(np,(GreaterThan),(ap,(at),(e,(a)))))"
        found = json.loads(kgreckon("ask", tmp_path / "g", later, "--json").out)
        assert [each["name"] for each in found["answers"]] == ["b"]

    def test_no_answer_is_an_answer(self, kgreckon, graph):
        query = "(rp,(in),(e,(Japan)))"
        assert json.loads(kgreckon("ask", graph, query, "--json").out)["answers"] == []
        assert "0 answers" in kgreckon("ask", graph, query).out

    @pytest.mark.parametrize(
        ("query", "problem"),
        [
            ("(e,(Japn))", "unknown entity 'Japn'; did you mean 'Japan'?"),
            ("(rp,(inn),(e,(Japan)))", "unknown relation 'inn'; did you mean 'in'?"),
            ("(rp,(latitude),(e,(Oslo)))", "'latitude' is an attribute, which leads to numbers, not a relation"),
            ("(ap,(in),(e,(Oslo)))", "'in' is a relation, which leads to entities, not an attribute"),
            ("(rp,(owns),(e,(Oslo)))", "unknown relation 'owns': choose in"),
            ("(ap,(lattitude),(e,(Oslo)))", "unknown attribute 'lattitude'; did you mean 'latitude'?"),
            (
                "(rap,(latitude),(ap,(population),(e,(Oslo))))",
                "latitude is measured in degrees, population in persons: they cannot be compared",
            ),
            ("(rap,(latitude),(nv,(5 parsecs)))", None),
            ("", None),
        ],
    )
    @pytest.mark.parametrize("options", [[], ["--json"]])
    def test_a_wrong_query_is_one_line(self, kgreckon, graph, query, problem, options):
        result = kgreckon("ask", graph, query, *options)
        assert result.problem == problem or problem is None

    @pytest.mark.parametrize("query", ["(rp", "which cities are in Japn?"])
    def test_a_mistake_in_words_is_shown_at_its_place(self, kgreckon, graph, query):
        result = kgreckon("ask", graph, query)
        message, line, caret = result.err.splitlines()
        assert (result.code, result.out) == (2, "")
        assert message.startswith("error: ") and caret.strip() == "^"
        assert line.strip() == query
        assert kgreckon("ask", graph, "\udcff").err.startswith("error: ")

    def test_words_are_asked_as_they_are(self, kgreckon, graph):
        assert "2 answers" in kgreckon("ask", graph, "what is in Japan?").out
        assert kgreckon("ask", graph, "how many things in Japan").out.splitlines() == ["how many things in Japan", "2"]

    def test_answers_are_tables(self, kgreckon, graph):
        shown = kgreckon("ask", graph, "things in Japan", "--order", "-latitude", "--csv").out.splitlines()
        assert shown[0] == "name,label,latitude (degrees),score,observed"
        assert [row.split(",")[:3] for row in shown[1:]] == [["Tokyo", "Tokyo", "35.7"], ["Kyoto", "Kyoto", "35.0"]]
        beside = json.loads(kgreckon("ask", graph, "things in Japan", "--columns", "latitude", "--json").out)
        assert [row["values"][0]["value"] for row in beside["answers"]] == [35.0, 35.7]
        assert "choose one of" in kgreckon("ask", graph, "things in Japan", "--csv", "--json").problem
        select = "SELECT ?what ?number WHERE { ?what :latitude ?number } ORDER BY ?number"
        shown = kgreckon("ask", graph, select, "--csv").out.splitlines()
        assert shown[0].split(",")[:2] == ["what", "number"] and shown[-1].split(",")[0] == "Oslo"
        assert kgreckon("ask", graph, "ASK { ?x ?y ?z . ?z ?y ?x }", "--csv").out.splitlines() == ["answer", "false"]
        assert "no table" in kgreckon("ask", graph, "DESCRIBE :Tokyo", "--csv").problem
        assert (
            "columns are for things"
            in kgreckon("ask", graph, "the latitude of things in Japan", "--columns", "latitude").problem
        )

    def test_a_phrase_is_given_and_taken_away(self, kgreckon, graph):
        assert kgreckon("phrase", graph, "in", "lies within").out.endswith("graph: in reads: … lies within …\n")
        assert kgreckon("ask", graph, IN_JAPAN).out.startswith("things that lie within Japan\n")
        assert "no phrase" in kgreckon("phrase", graph, "in", "").out
        assert kgreckon("ask", graph, IN_JAPAN).out.startswith("things in Japan\n")
        assert "is an inverse" in kgreckon("phrase", graph, "^in", "holds").problem
        assert "unknown relation" in kgreckon("phrase", graph, "inside", "lies within").problem

    def test_query_and_graph_in_the_wrong_order_are_one_line(self, kgreckon, graph):
        query = "(u," + ",".join([IN_JAPAN] * 20) + ")"
        for wrong in (IN_JAPAN, query):
            assert IN_JAPAN in kgreckon("ask", wrong, graph).problem

    def test_a_graph_has_exact_answers_only(self, kgreckon, graph):
        assert "exact answers only" in kgreckon("ask", graph, IN_JAPAN, "--no-exact").problem

    def test_sampled_numbers_need_numerical_edges(self, kgreckon, graph):
        assert "no numerical edges" in kgreckon("ask", graph, NORTH_OF_KYOTO, "--comparisons", "sampled").problem

    @pytest.mark.parametrize("name", ["[bold]x[/bold]", ":heart:", "back\\", "x" * 500, "[/]", "東京", "a:100:b"])
    def test_names_are_shown_as_they_are(self, kgreckon, tmp_path, name):
        (tmp_path / "facts.tsv").write_text(f"{name}\tin\tNorway\nNorway\tin\t{name}\n", encoding="utf-8")
        kgreckon("import", "facts.tsv", "--out", "graph")
        result = kgreckon("ask", "graph", "(rp,(^in),(e,(Norway)))")
        rows = [line.strip("│| ") for line in result.out.splitlines()]
        assert name in rows
        query = f"(rp,(in),(e,({json.dumps(name)})))"
        result = kgreckon("ask", "graph", query)
        assert result.out.splitlines()[0] in (f"what {name} is in", f"what {json.dumps(name)} is in")


class TestBenchmarks:
    def test_a_published_benchmark_is_imported_and_what_was_met_is_told(self, kgreckon, tmp_path):
        folder = BetaEFolder(per_type=2)
        folder.lines["valid"] += folder.lines["train"][:2]
        folder.write(tmp_path / "FB-betae")
        result = kgreckon("import-benchmark", "FB-betae", "--out", "b")
        assert result.code == 0
        assert result.out == "b: 84 queries of 14 types; look at them with: kgreckon stats b\n"
        assert "valid.txt:121: this fact is in train.txt too" in result.err and "disjunctive form" in result.err
        shown = kgreckon("stats", "b").out
        assert shown.startswith("b: no numbers\n") and "pni" in shown
        summary = json.loads(kgreckon("import-benchmark", "FB-betae", "--out", "c", "--json").out)
        assert summary["types"][0] == {
            "split": "train", "type": "1p", "read": 2, "kept": 2, "without_hard_answers": 0, "differences": []
        }  # fmt: skip
        assert len(summary["remarks"]) == 5
        problem = kgreckon("import-benchmark", "FB-betae", "--out", "d", "--strict").problem
        assert problem == "FB-betae/valid.txt:121: this fact is in train.txt too (1 in all)"
        assert not (tmp_path / "d").exists()

    def test_a_pickle_that_wants_more_is_one_line_and_leaves_nothing(self, kgreckon, tmp_path):
        folder = BetaEFolder(per_type=1).write(tmp_path / "folder")
        (folder / "test-queries.pkl").write_bytes(b"cos\nsystem\n(S'touch run'\ntR.")
        result = kgreckon("import-benchmark", "folder", "--out", "b")
        assert result.code == 2 and result.err.splitlines()[-1] == (
            "error: folder/test-queries.pkl: byte 0: it refers to os.system; only tuples, lists, sets, dictionaries, "
            "strings and integers are read"
        )
        assert [path.name for path in tmp_path.iterdir()] == ["folder"]

    def test_a_split_of_ones_own_is_built(self, kgreckon, tmp_path):
        facts = [f"e{n}\tr{n % 3}\te{n * n % 23}\n" for n in range(90)]
        for name, first, last in (("a", 0, 40), ("b", 40, 60), ("valid", 60, 75), ("test", 75, 90)):
            (tmp_path / f"{name}.tsv").write_text("".join(facts[first:last]))
        files = ["--train", "a.tsv", "--train", "b.tsv", "--valid", "valid.tsv", "--test", "test.tsv"]
        options = ["--types", "1p,2in", "--queries", "20", "--out"]
        assert kgreckon("build", *files, *options, "bench").code == 0
        statistics = json.loads(kgreckon("stats", "bench", "--json").out)
        assert [graph["relation_edges"] for graph in statistics["graphs"]] == [120, 150, 180]
        (tmp_path / "test.tsv").write_text(facts[70] + facts[80])
        problem = kgreckon("build", *files, *options, "other").problem
        assert problem.startswith("test.tsv:1: 'e70' 'r1' 'e1' is in an earlier split too: leave it out of one")
        assert not (tmp_path / "other").exists()
        again = kgreckon("build", *files, "--skip-bad-lines", *options, "other")
        assert again.code == 0 and "an earlier split has too, counted with it: 1" in again.err

    @pytest.mark.parametrize(
        ("arguments", "problem"),
        [
            (["--out", "b"], "give either a graph, or files with --train, --valid and --test"),
            (["world", "--train", "facts.tsv", "--out", "b"], "give either a graph, or files"),
            (["--train", "facts.tsv", "--out", "b"], "a split needs files for train, valid and test"),
            (["world", "--skip-bad-lines", "--out", "b"], "--skip-bad-lines is for --train, --valid and --test"),
        ],
    )
    def test_a_graph_or_a_split_and_not_both(self, kgreckon, tables, tmp_path, arguments, problem):
        assert problem in kgreckon("build", *arguments).problem
        assert not (tmp_path / "b").exists()


class TestUse:
    @pytest.mark.parametrize(
        "arguments",
        [
            [],
            ["nonsense"],
            ["--nonsense"],
            ["import"],
            ["import", "facts.tsv"],
            ["import", "facts.tsv", "--out", "graph", "--top-attributes", "0"],
            ["import", "facts.tsv", "--out", "graph", "--top-attributes", "many"],
            ["stats"],
            ["stats", "world", "--rows", "0"],
            ["ask", "world"],
            ["ask", "world", IN_JAPAN, "--limit", "0"],
            ["ask", "world", IN_JAPAN, "--comparisons", "guessed"],
        ],
        ids=" ".join,
    )
    def test_wrong_use_is_exit_code_2_and_a_hint(self, kgreckon, tables, tmp_path, arguments):
        result = kgreckon(*arguments)
        assert result.code == 2 and "Traceback" not in result.err
        assert "Usage: " in result.out + result.err
        assert {path.name for path in tmp_path.iterdir()} == {"facts.tsv", "values.tsv"}

    @pytest.mark.parametrize(
        "command", [[], ["import"], ["import-benchmark"], ["build"], ["stats"], ["ask"], ["demo"]], ids=" ".join
    )
    def test_every_command_has_help(self, kgreckon, command):
        result = kgreckon(*command, "--help")
        assert result.code == 0 and result.err == "" and " ".join(["kgreckon", *command, "[OPTIONS]"]) in result.out

    @pytest.mark.skipif(sys.platform == "win32", reason="Windows has another shell")
    @pytest.mark.parametrize("arguments", ["stats world", "stats world --json", "--version", "--help"])
    def test_a_closed_standard_output_is_one_line(self, arguments):
        done = subprocess.run(f"exec {sys.executable} -m kgreckon {arguments} >&-", shell=True, capture_output=True)
        assert (
            done.returncode == 2 and done.stderr.count(b"\n") == 1 and done.stderr.startswith(b"error: standard output")
        )

    @pytest.mark.skipif(sys.platform == "win32", reason="Windows has another shell")
    def test_no_file_takes_the_place_of_a_standard_stream_that_is_closed(self, tables, tmp_path):
        """Notes would be written into a file that is opened as number 2."""
        command = f"exec {sys.executable} -m kgreckon import facts.tsv facts.tsv --out graph 2>&- <&-"
        done = subprocess.run(command, shell=True, cwd=tmp_path, stdout=subprocess.PIPE)
        assert done.returncode == 0 and done.stdout.startswith(b"graph: ")
        assert run_apart("check", tmp_path / "graph").code == 0

    def test_what_cannot_be_read_as_text_is_one_line(self, kgreckon, graph, tmp_path):
        (tmp_path / "bytes").write_bytes(b"\xff\xfe\x00\x81")
        for name, problem in {
            "bytes": "it is not text in UTF-8",
            "missing": "No such file or directory",
            ".": "Is a directory",
        }.items():
            assert kgreckon("update", graph, "--file", name).problem == f"{name} cannot be read: {problem}"

    @pytest.mark.skipif(sys.platform == "win32", reason="Windows has another shell")
    def test_a_closed_standard_input_is_one_line(self, graph, tmp_path):
        for arguments in ("update graph --file -", "import - --out new"):
            command = f"exec {sys.executable} -m kgreckon {arguments} <&-"
            done = subprocess.run(command, shell=True, cwd=tmp_path, capture_output=True, text=True)
            assert (done.returncode, done.stderr) == (2, "error: standard input cannot be read: it is closed\n")

    def test_the_version(self, kgreckon):
        assert kgreckon("--version") == Result(0, f"kgreckon {__version__}\n", "")

    def test_a_mistake_of_ours_keeps_its_traceback(self, kgreckon, monkeypatch):
        monkeypatch.setattr("kgreckon.graph.open_graph", lambda *_: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            kgreckon("stats", "world")


class TestProcess:
    def test_help_is_quick_because_it_imports_no_library(self):
        code = (
            "import sys; sys.argv = ['kgreckon', 'import', '--help']\n"
            "from kgreckon.cli import main\n"
            "try: main()\n"
            "except SystemExit: pass\n"
            "heavy = {'numba', 'numpy', 'pyarrow', 'pyoxigraph', 'torch'} & set(sys.modules)\n"
            "sys.exit(f'imported {heavy}' if heavy else 0)\n"
        )
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=False)
        assert (done.returncode, done.stderr) == (0, "")
        assert "Usage: kgreckon import" in done.stdout

    def test_import_and_ask_as_a_user_runs_them(self, tables, tmp_path):
        done = run_apart("import", *tables, "--out", "graph", cwd=tmp_path)
        assert (done.code, done.err) == (0, "")
        answer = run_apart("ask", "graph", IN_JAPAN, "--json", cwd=tmp_path)
        assert (answer.code, answer.err) == (0, "") and json.loads(answer.out)["observed"] == 2

    def test_a_mistake_is_one_line_and_exit_code_2(self, tmp_path):
        (tmp_path / "facts.tsv").write_bytes(b"a\tr\tb\nCaf\xe9\tr\tb\n")
        done = run_apart("import", "facts.tsv", "--out", "graph", cwd=tmp_path)
        assert done.problem == r"facts.tsv:2: b'Caf\xe9' is not valid UTF-8"
        assert [path.name for path in tmp_path.iterdir()] == ["facts.tsv"]

    @pytest.mark.parametrize("options", [["--json"], ["--rows", "100000"]])
    def test_a_reader_that_goes_away_is_no_error(self, kgreckon, tmp_path, options):
        """As `kgreckon stats graph | head -1` does."""
        (tmp_path / "facts.tsv").write_text("".join(f"a\trelation {number}\tb\n" for number in range(5000)))
        kgreckon("import", "facts.tsv", "--out", "graph")
        command = [sys.executable, "-m", "kgreckon", "stats", "graph", *options]
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
            assert process.stdout and process.stderr
            assert process.stdout.readline()
            process.stdout.close()
            assert process.stderr.read() == b""
        assert process.returncode in (0, 1)

    @pytest.mark.parametrize("options", [["--json"], []])
    def test_a_terminal_that_cannot_show_a_name_is_no_error(self, kgreckon, tmp_path, options):
        (tmp_path / "facts.tsv").write_text("東京\tin\tJapan\nKyōto 😀\tin\tJapan\n", encoding="utf-8")
        kgreckon("import", "facts.tsv", "--out", "graph")
        done = run_apart(
            "ask", "graph", IN_JAPAN, *options, env=os.environ | {"PYTHONIOENCODING": "ascii"}, cwd=tmp_path
        )
        assert (done.code, done.err) == (0, "")
        if options:
            assert [row["name"] for row in json.loads(done.out)["answers"]] == ["東京", "Kyōto 😀"]


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no full device here")
def test_a_full_disk_is_one_line():
    for arguments in (("stats", "world"), ("ask", "world", "(e,(Japan))", "--json")):
        command = [sys.executable, "-m", "kgreckon", *arguments]
        with Path("/dev/full").open("w") as full:
            done = subprocess.run(
                command, stdout=full, stderr=subprocess.PIPE, encoding="utf-8", check=False, timeout=120
            )
        assert done.returncode == 2 and done.stderr == "error: No space left on device\n"


def test_a_name_does_not_command_the_terminal(kgreckon, tmp_path):
    (tmp_path / "facts.tsv").write_text("a\tr\tb\x1b[31m\x9b2J\nc\tr\ta\n", encoding="utf-8")
    kgreckon("import", "facts.tsv", "--out", "graph")
    asked = kgreckon("ask", "graph", "(rp,(r),(e,(a)))", "--explain")
    assert "b\\x1b[31m\\x9b2J" in asked.out and not {"\x1b", "\x9b"} & {*asked.out, *asked.err}
    problem = kgreckon("ask", "graph", "(e,(nobody))").problem
    assert "\x1b" not in problem and "b\\x1b[31m" in problem
    assert kgreckon("ask", "graph", "(rp,(r),(e,(a)))", "--json").out.count("\\u001b")  # JSON has the name itself


class TestThreads:
    """Those of torch wait without spinning, unless the user's environment says how they wait."""

    PROGRAM = """
import sys
from kgreckon.cli import main
sys.argv = ["kgreckon", "--version"]
try:
    main()
finally:
    assert "torch" not in sys.modules
    import torch
"""

    @pytest.mark.parametrize(("given", "policy"), [({}, "PASSIVE"), ({"OMP_WAIT_POLICY": "active"}, "ACTIVE")])
    def test_how_they_wait(self, given, policy):
        environment = {name: value for name, value in os.environ.items() if name != "OMP_WAIT_POLICY"}
        told = environment | given | {"OMP_DISPLAY_ENV": "true"}  # torch's OpenMP says what it took
        done = subprocess.run([sys.executable, "-c", self.PROGRAM], env=told, capture_output=True, text=True)
        assert f"OMP_WAIT_POLICY = '{policy}'" in done.stderr
