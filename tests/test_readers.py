"""From files as people have them to a knowledge graph: tables, RDF, MMKG folders, and what can be wrong in them."""

import csv
import gzip
import io
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kgreckon.errors import UserError
from kgreckon.graph import GraphBuilder, TableKind, read_sources

XSD = "http://www.w3.org/2001/XMLSchema#"
LABEL = "<http://www.w3.org/2000/01/rdf-schema#label>"


def read(*sources, **options):
    """The graph of some sources."""
    return read_sources(list(sources), **options)[0]


def report_of(*sources, **options):
    """What the import of some sources met."""
    return read_sources(list(sources), **options)[1]


def problem_of(*sources, **options):
    """What the import of some sources complains of."""
    with pytest.raises(UserError) as caught:
        read_sources(list(sources), **options)
    return str(caught.value)


def facts_of(graph):
    """The facts of a graph by name."""
    entities, relations = graph.entities.names.to_pylist(), graph.relations.names.to_pylist()
    columns = (graph.facts.sources.tolist(), graph.facts.labels.tolist(), graph.facts.targets.tolist())
    return {(entities[head], relations[label], entities[tail]) for head, label, tail in zip(*columns, strict=True)}


def values_of(graph):
    """The values of a graph by name, each with its unit."""
    entities, attributes, stated = graph.entities, graph.attributes, graph.attribute_facts
    return {
        (entities.name(entity), attributes.name(attribute), *graph.values.number_at(row))
        for entity, attribute, row in zip(
            stated.sources.tolist(), stated.labels.tolist(), stated.targets.tolist(), strict=True
        )
    }


def labels_of(graph):
    """The labels that the data gives, by name."""
    return {
        symbols.name(place): symbols.given_label(place)
        for symbols in (graph.entities, graph.relations, graph.attributes)
        for place in range(len(symbols))
        if symbols.given_label(place) is not None
    }


class TestTables:
    @pytest.mark.parametrize("name", ["facts.tsv", "facts.txt", "facts.tsv.gz", "FACTS.TSV", "facts.TSV.GZ", "a.b.tsv"])
    def test_facts_with_tabs(self, file, name):
        content = "Oslo\tin\tNorway\nKyoto\tin\tJapan\n"
        path = file(name, gzip.compress(content.encode()) if name.lower().endswith("gz") else content.encode())
        assert facts_of(read(path)) == {("Oslo", "in", "Norway"), ("Kyoto", "in", "Japan")}

    @pytest.mark.parametrize("name", ["facts.csv", "facts.csv.gz"])
    def test_facts_with_commas_and_quotes(self, file, name):
        path = file(name, 'Oslo,in,Norway\n"Washington, D.C.",in,"the ""US"""\n"two\nlines",in,Oslo\n')
        assert facts_of(read(path)) == {
            ("Oslo", "in", "Norway"),
            ("Washington, D.C.", "in", 'the "US"'),
            ("two\nlines", "in", "Oslo"),
        }

    def test_values_with_and_without_units(self, file):
        path = file("values.tsv", "Oslo\tpopulation\t700000\tpersons\nOslo\trank\t5\t\nOslo\tarea\t454\tkm²\n")
        assert values_of(read(path)) == {
            ("Oslo", "population", 700_000, "persons"),
            ("Oslo", "rank", 5, "number"),
            ("Oslo", "area", 454, "km²"),
        }

    def test_a_cell_may_hold_a_date_or_a_typed_literal(self, file):
        path = file("values.tsv", f'a\tborn\t1969-03-01\na\tdied\t-44-03-15\na\tsize\t"7"^^<{XSD}integer>\n')
        assert values_of(read(path)) == {
            ("a", "born", 1969 + 59 / 365, "date"),
            ("a", "died", -44 + 74 / 366, "date"),
            ("a", "size", 7, "integer"),
        }

    def test_the_fourth_field_says_the_unit_whatever_the_cell_looks_like(self, file):
        path = file("values.tsv", f'a\tborn\t1969-03-01\tyears\na\tsize\t"7"^^<{XSD}integer>\tmetres\n')
        assert {(number, unit) for _, _, number, unit in values_of(read(path))} == {
            (1969 + 59 / 365, "years"),
            (7, "metres"),
        }

    def test_facts_values_and_names_meet_in_one_graph(self, file):
        graph, report = read_sources(
            [
                file("facts.tsv", "Q585\tin\tQ20\n"),
                file("values.csv", "Q585,P1082,700000,persons\n"),
                file("names.tsv", "Q585\tOslo\nQ20\tNorway\nP1082\tpopulation\nin\tlies in\nQ1\tUniverse\n"),
            ]
        )
        assert facts_of(graph) == {("Q585", "in", "Q20")}
        assert values_of(graph) == {("Q585", "P1082", 700_000, "persons")}
        assert labels_of(graph) == {"Q585": "Oslo", "Q20": "Norway", "P1082": "population", "in": "lies in"}
        assert graph.vocabulary.entity_id("oslo") == graph.vocabulary.entity_id("Q585")
        assert report.labels == 4 and report.labels_of_nothing == 1
        assert report.remarks() == ["1 labels of things that no fact names"]

    def test_names_may_stand_before_what_they_name(self, file):
        facts, names = file("facts.tsv", "Q585\tin\tQ20\n"), file("names.tsv", "Q585\tOslo\n")
        assert labels_of(read(facts, names)) == {"Q585": "Oslo"}
        assert labels_of(read((names, TableKind.NAMES), facts)) == {"Q585": "Oslo"}
        assert labels_of(read(names, facts)) == {"Q585": "Oslo"}

    def test_the_last_label_of_a_name_holds(self, file):
        graph = read(file("facts.tsv", "a\tr\tb\n"), file("names.tsv", "a\tAnna\na\tAda\n"))
        assert labels_of(graph) == {"a": "Ada"}

    def test_a_label_of_two_things_must_be_told_apart(self, file):
        graph = read(file("facts.tsv", "p1\tin\tp2\n"), file("names.tsv", "p1\tParis\np2\tParis\n"))
        with pytest.raises(UserError, match="'Paris' is the label of more than one entity: give one of the names 'p1'"):
            graph.vocabulary.entity_id("Paris")

    @pytest.mark.parametrize(
        "header",
        ["head\trelation\ttail", "Subject\tPredicate\tObject", " HEAD \trelation\ttail", "\ufeffhead\trelation\ttail"],
    )
    def test_a_header_is_no_fact(self, file, header):
        assert facts_of(read(file("facts.tsv", f"{header}\na\tr\tfive\n"))) == {("a", "r", "five")}

    def test_among_facts_those_of_a_relation_with_numbers_alone_are_values(self, file):
        rows = "Ada\tborn\t1815-12-10\nAda\tin\tLondon\nAda\tage\t36\nBob\tage\tn/a\nEve\tage\t40\nAda\tno\t7\n"
        for header in ("", "subject\tpredicate\tobject\n"):
            table = file("table.tsv", header + rows)
            graph, report = read_sources([table])
            assert {(entity, attribute) for entity, attribute, *_ in values_of(graph)} == {
                ("Ada", "born"),
                ("Ada", "no"),
            }
            ages = {("Ada", "age", "36"), ("Bob", "age", "n/a"), ("Eve", "age", "40")}
            assert facts_of(graph) == {("Ada", "in", "London"), *ages}
            nearly = f"table.tsv:{5 if header else 4}: 'n/a' is not"
            assert "born, no" in report.remarks()[0] and nearly in report.remarks()[1]
            assert not values_of(read((table, TableKind.FACTS)))

    def test_what_nobody_sees_is_told(self, file):
        rows = "A \tid\t9007199254740993\nA\tid\t9007199254740992\nA\tid\t5e200\n"
        remarks = " ".join(read_sources([file("values.tsv", rows)])[1].remarks())
        assert "1 integers rounded" in remarks and "only in blanks around them: 'A '" in remarks
        remarks = " ".join(read_sources([file("values.tsv", " A\tid\t-9007199254740992\n")])[1].remarks())
        assert "rounded" not in remarks and "blanks" not in remarks

    def test_where_bad_lines_are_skipped_the_unit_of_most_values_stays(self, file):
        table = file("values.tsv", "a\theight\t5\tft\nb\theight\t2\tm\nc\theight\t3\tm\n")
        graph, report = read_sources([table], skip_bad_lines=True)
        assert values_of(graph) == {("b", "height", 2, "m"), ("c", "height", 3, "m")}
        assert "1 literals left out: height in ft, where most are in m" in report.remarks()
        with pytest.raises(UserError, match="an attribute has one unit"):
            read(table)

    def test_a_table_of_edges_has_no_values_unless_that_is_said(self, file):
        table = file("table.tsv", "head\trelation\ttail\na\trated\t5\n")
        graph, report = read_sources([table])
        assert facts_of(graph) == {("a", "rated", "5")} and "--triples" in report.remarks()[0]
        assert values_of(read((table, TableKind.TRIPLES))) == {("a", "rated", 5, "number")}

    def test_a_header_tells_what_a_table_holds(self, file):
        values = file("values.csv", "entity,attribute,value,unit\n1,2,3,m\n")
        names = file("names.csv", "id,name\n1,one\n")
        graph = read(values, names)
        assert values_of(graph) == {("1", "2", 3, "m")} and labels_of(graph) == {"1": "one"}

    @pytest.mark.parametrize(
        ("rows", "kind"),
        [
            ("Oslo\tin\tNorway\n", TableKind.FACTS),
            ("Oslo\tpopulation\t700000\n", TableKind.VALUES),
            ("Oslo\tfounded\t1048-##-##\n", TableKind.VALUES),
            ("Oslo\tfounded\t10##-##-##\nOslo\trank\t3\n", TableKind.VALUES),
            ("Oslo\tpopulation\t700000\tpersons\n", TableKind.VALUES),
            ("17\t4\t12\n3\t4\t17\n", TableKind.FACTS),  # numbers at both ends are ids
            ("Oslo\tin\tNorway\nOslo\tin\t1984\nOslo\tin\tEurope\n", TableKind.FACTS),
        ],
    )
    def test_what_a_table_holds_is_guessed_from_its_rows(self, file, rows, kind):
        graph = read(file("table.tsv", rows))
        assert bool(len(graph.facts)) == (kind is TableKind.FACTS)
        assert bool(len(graph.attribute_facts)) == (kind is TableKind.VALUES)

    def test_a_kind_that_is_given_goes_before_a_guess(self, file):
        numbers = file("table.tsv", "1\t2\t3\n")
        assert facts_of(read((numbers, TableKind.FACTS))) == {("1", "2", "3")}
        assert values_of(read((numbers, TableKind.VALUES))) == {("1", "2", 3, "number")}
        assert facts_of(read((file("facts.dat", "a\tr\tb\n"), TableKind.FACTS))) == {("a", "r", "b")}

    @pytest.mark.parametrize(
        "content",
        [
            "a\tr\tb\r\nc\tr\td\r\n",
            "\ufeffa\tr\tb\nc\tr\td\n",
            "\n\na\tr\tb\n\n\nc\tr\td\n\n",
            "a\tr\tb\nc\tr\td",
            "a\tr\tb\rc\tr\td\r",
            "a\tr\tb\n   \nc\tr\td\n",
        ],
        ids=["windows", "byte order mark", "blank lines", "no last line end", "old mac", "a line of blanks"],
    )
    def test_how_lines_end_does_not_matter(self, file, content):
        expected = {("a", "r", "b"), ("c", "r", "d")}
        assert facts_of(read(file("facts.tsv", content))) == expected
        assert facts_of(read(file("facts.csv", content.replace("\t", ",")))) == expected

    def test_repeats_count_once_and_are_reported(self, file):
        facts = file("facts.tsv", "a\tr\tb\n" * 3)
        values = file("values.tsv", "a\tage\t5\na\tage\t5.0\nb\tage\t5\n")
        graph, report = read_sources([facts, values, facts])
        assert len(graph.facts) == 1 and len(graph.attribute_facts) == 2 and len(graph.values) == 1
        assert report.remarks() == ["5 repeated facts counted once", "1 repeated values counted once"]

    def test_a_date_without_a_year_is_dropped_and_counted(self, file):
        graph, report = read_sources([file("values.tsv", "a\tborn\t15##-##-##\nb\tborn\t1949-##-##\n")])
        assert values_of(graph) == {("b", "born", 1949, "date")}
        assert report.remarks() == ["1 dates dropped because their year is unknown"]

    def test_only_the_most_frequent_attributes_are_kept(self, file):
        rows = "a\tage\t1\nb\tage\t2\nc\tage\t2\na\tsize\t1\nb\tsize\t1\nb\tsize\t1\nc\tweight\t7\nlonely\tdepth\t1\n"
        path = file("values.tsv", rows)
        for count, kept in ((1, {"age"}), (2, {"age", "size"}), (3, {"age", "size", "depth"}), (9, None)):
            graph = read(path, top_attributes=count)
            assert set(graph.attributes.names.to_pylist()) == (kept or {"age", "size", "depth", "weight"})
        # What nothing speaks of any more is gone.
        one = read(path, top_attributes=1)
        assert one.entities.names.to_pylist() == ["a", "b", "c"] and one.values.numbers.tolist() == [1, 2]

    def test_very_long_lines_are_read(self, file):
        name = "x" * 3_000_000
        assert facts_of(read(file("facts.tsv", f"a\tr\t{name}\n"))) == {("a", "r", name)}

    @pytest.mark.parametrize("header", ["source,relation,target", "Subject, Property, Object", "from,predicate,to"])
    def test_common_words_are_a_header_and_a_blank_after_a_comma_does_not_count(self, file, header):
        found = read(file("facts.csv", f'{header}\nA, likes, B\nB,likes,C\nC,likes," D"\n'))
        assert facts_of(found) == {("A", "likes", "B"), ("B", "likes", "C"), ("C", "likes", " D")}

    @settings(max_examples=50)
    @given(st.data())
    def test_any_names_come_through_a_table(self, tmp_path_factory, data):
        text = st.text(st.characters(codec="utf-8", exclude_characters="\t\r\n\ufeff"), min_size=1, max_size=6)
        names = text.filter(lambda name: name.strip())
        facts = data.draw(st.sets(st.tuples(names, names, names), min_size=1, max_size=5))
        folder = tmp_path_factory.mktemp("any")
        tabs, commas = folder / "facts.tsv", folder / "facts.csv"
        tabs.write_bytes("".join("\t".join(fact) + "\n" for fact in facts).encode())
        written = io.StringIO(newline="")
        csv.writer(written, quoting=csv.QUOTE_ALL).writerows(facts)
        commas.write_bytes(written.getvalue().encode())
        assert facts_of(read((tabs, TableKind.FACTS))) == facts_of(read((commas, TableKind.FACTS))) == facts


class TestUnits:
    def test_an_attribute_has_one_unit(self, file):
        path = file("values.tsv", "a\theight\t5\tmetres\nb\theight\t6\tfeet\n")
        expected = "'height' is measured in metres, here in feet: an attribute has one unit"
        assert problem_of(path) == f"{path}:2: {expected}"

    def test_dates_and_numbers_do_not_mix_in_one_attribute(self, file):
        path = file("values.tsv", "a\tborn\t1969-03-01\nb\tborn\t1969\n")
        assert problem_of(path).startswith(f"{path}:2: 'born' is measured in date, here in number")

    def test_literals_of_one_family_take_the_commonest_type(self, file):
        rows = [("a", "5", "integer"), ("b", "6.5", "double"), ("c", "7", "integer")]
        path = file("values.tsv", "".join(f'{name}\tsize\t"{text}"^^<{XSD}{kind}>\n' for name, text, kind in rows))
        assert {(number, unit) for _, _, number, unit in values_of(read(path))} == {
            (5, "integer"),
            (6.5, "integer"),
            (7, "integer"),
        }

    def test_a_rejected_row_leaves_nothing_behind(self, file):
        path = file("values.tsv", b"a\tsize\t5\t\xff\nb\tsize\t6\tmetres\nc\tsize\t7\tfeet\n")
        graph, report = read_sources([path], skip_bad_lines=True)
        assert values_of(graph) == {("b", "size", 6, "metres")}
        assert graph.entities.names.to_pylist() == ["b"]
        assert report.bad_lines == 1 and "size in feet, where most are in metres" in report.remarks()[0]

    @pytest.mark.parametrize("number", [float("nan"), float("inf"), float("-inf")])
    def test_the_builder_takes_finite_numbers_only(self, number):
        with pytest.raises(UserError, match="finite"):
            GraphBuilder().add_value("a", "size", number)


BAD_TABLES = {
    "a date of milligrams": (
        "values.csv",
        b"a,dose,5,mg\nb,dose,1969-03-01,mg\n",
        2,
        "'1969-03-01' is a date, not a number of mg",
    ),
    "too few fields": ("facts.tsv", b"a\tr\tb\na\tr\n", 2, "expected 3 tab-separated fields, found 2"),
    "too many fields": ("facts.tsv", b"a\tr\tb\na\tr\tb\tc\n", 2, "expected 3 tab-separated fields, found 4"),
    "a trailing tab": ("facts.tsv", b"a\tr\tb\nc\tr\td\na\tr\tb\t\n", 3, "expected 3 tab-separated fields, found 4"),
    "commas for tabs": ("facts.tsv", b"a,r,b\n", 1, "expected 3 tab-separated fields, found 1"),
    "semicolons for commas": ("facts.csv", b"a;r;b\n", 1, "expected 3 comma-separated fields, found 1"),
    "blank lines are counted": (
        "facts.tsv",
        b"\r\na\tr\tb\r\n\r\na\tr\r\n",
        4,
        "expected 3 tab-separated fields, found 2",
    ),
    "an empty name": ("facts.tsv", b"a\tr\tb\n\tr\tb\n", 2, "a name is empty"),
    "bad UTF-8": ("facts.tsv", b"a\tr\tb\nCaf\xe9\tr\tb\n", 2, r"b'Caf\xe9' is not valid UTF-8"),
    "bad UTF-8 in CSV": ("facts.csv", b"a,r,b\na,r,Caf\xe9\n", 2, r"b'Caf\xe9' is not valid UTF-8"),
    "UTF-16": ("facts.tsv", "a\tr\tb".encode("utf-16"), 1, None),
    "no number": ("values.tsv", b"a\tage\t5\nb\tage\told\nc\tage\t7\n", 2, "'old' is not a number"),
    "an empty number": ("values.tsv", b"a\tage\t5\tyears\nb\tage\t\tyears\n", 2, "'' is not a number"),
    "not a number": ("values.tsv", b"a\tage\t5\nb\tage\tNaN\nc\tage\t7\n", 2, "'NaN' is not a finite number"),
    "infinity": ("values.csv", b"a,age,5\nb,age,-inf\nc,age,7\n", 2, "'-inf' is not a finite number"),
    "too large": ("values.tsv", b"a\tage\t5\nb\tage\t1e999\nc\tage\t7\n", 2, "'1e999' is too large for a number"),
    "thousands set off": ("values.csv", b'a,age,5\nb,age,"1,000"\nc,age,7\n', 2, "'1,000' is not a number"),
    "no such day": (
        "values.tsv",
        b"a\tborn\t1969-02-28\nb\tborn\t1969-02-29\nc\tborn\t1969-03-01\n",
        2,
        "there is no day 29 in month 2 of 1969",
    ),
    "an open literal": ("values.tsv", b'a\tage\t5\nb\tage\t"5\nc\tage\t7\n', 2, None),
    "a word literal": (
        "values.tsv",
        f'a\tage\t5\nb\tage\t"5"^^<{XSD}string>\nc\tage\t6\n'.encode(),
        2,
        "a literal of type string is not a number",
    ),
    "a quote that closes early": ("facts.csv", b'a,r,b\n"c"d,r,e\n', 2, None),
    "a field beyond the limit of CSV": ("facts.csv", b"a,r,b\nc,r," + b"d" * 200_000 + b"\n", 2, None),
    "an empty unit is accepted but bad UTF-8 is not": (
        "values.tsv",
        b"a\tage\t5\t\nb\tage\t5\t\xff\n",
        2,
        r"b'\xff' is not valid UTF-8",
    ),
}


class TestBadTables:
    @pytest.mark.parametrize("case", BAD_TABLES)
    def test_a_bad_line_is_named_by_file_and_line(self, file, case):
        name, content, line, problem = BAD_TABLES[case]
        path = file(name, content)
        message = problem_of(path)
        assert message.startswith(f"{path}:{line}: ") and len(message.splitlines()) == 1
        if problem is not None:
            assert message == f"{path}:{line}: {problem}"

    @pytest.mark.parametrize("case", BAD_TABLES)
    def test_a_bad_line_can_be_skipped_and_is_reported(self, file, case):
        name, content, line, _ = BAD_TABLES[case]
        good = file("good.tsv", "head\trelation\ttail\ngood\tis\tgood\n")
        path = file(name, content)
        graph, report = read_sources([path, good], skip_bad_lines=True)
        assert ("good", "is", "good") in facts_of(graph)
        assert report.bad_lines == 1
        assert report.remarks()[-1].startswith(f"1 bad lines skipped, the first: {path}:{line}: ")

    def test_all_bad_lines_are_counted_and_the_first_are_shown(self, file):
        path = file("facts.tsv", "a\tr\tb\n" + "x\n" * 100)
        report = report_of(path, skip_bad_lines=True)
        assert report.bad_lines == 100 and len(report.bad_examples) == 5
        assert report.bad_examples[0] == f"{path}:2: expected 3 tab-separated fields, found 1"

    def test_where_all_lines_are_bad_there_is_no_graph(self, file):
        assert "no facts" in problem_of(file("facts.tsv", "x\ny\n"), skip_bad_lines=True)

    @pytest.mark.parametrize(
        ("header", "problem"),
        [
            ("entity,attribute,value,unit,source", "unknown column 'source'"),
            ("entity,attribute,value,source,page", "unknown column 'source', 'page'"),
            ("head,relation,tail,weight", "unknown column 'weight'"),
            (
                "drug,relation,target",
                "the columns drug, relation, target look like a header, but that of 'drug' is called",
            ),
            ("id,attribute,amount", "the columns id, attribute, amount look like a header, but that of 'amount' is"),
            ("value,attribute,entity", "the columns value, attribute, entity are in no order that is known"),
        ],
    )
    @pytest.mark.parametrize("skip_bad_lines", [False, True])
    def test_a_header_that_is_not_known_is_no_fact(self, file, header, problem, skip_bad_lines):
        path = file("table.csv", f"{header}\na,b,5,mg,x\nc,b,6,mg,x\n")
        assert problem_of(path, skip_bad_lines=skip_bad_lines).startswith(f"{path}:1: {problem}")

    def test_a_quote_that_never_closes_is_named_by_the_line_it_opens_on(self, file):
        path = file("facts.csv", 'a,r,b\nc,r,"d\ne,r,f\ng,r,h\n')
        assert problem_of(path) == f"{path}:2: a quote opens here and does not close where a field ends"

    def test_a_quote_left_open_before_much_more_is_told_as_such(self, file):
        path = file("facts.csv", 'a,r,"b\n' + "c,r,d\n" * 30_000)  # more than a field may hold
        assert problem_of(path) == f"{path}:1: a quote opens here and does not close where a field ends"
        assert report_of(path, skip_bad_lines=True).bad_lines == 1

    @pytest.mark.parametrize("end", ["\n", "\r\n"])
    @pytest.mark.parametrize("bad", ['"x,r,y', 'x,r,"y', 'x,"r,y'])
    @pytest.mark.parametrize("places", [(0,), (2,), (4,), (1, 2), (0, 3), (0, 2, 4)])
    def test_a_quote_left_open_loses_no_other_line(self, file, places, bad, end):
        good = [f"a{place},r,b{place}" for place in range(5)]
        lines = [bad if place in places else line for place, line in enumerate(good)]
        path = file("facts.csv", end.join(["head,relation,tail", *lines, ""]))
        graph, report = read_sources([path], skip_bad_lines=True)
        assert facts_of(graph) == {tuple(line.split(",")) for line in lines if line != bad}
        assert report.bad_lines == len(places)
        assert [example.split(":")[-2] for example in report.bad_examples] == [str(place + 2) for place in places]

    def test_a_row_of_several_lines_is_named_by_its_first(self, file):
        path = file("facts.csv", 'a,r,b\n"c\nd",r\ne,r,f\n')
        assert problem_of(path) == f"{path}:2: expected 3 comma-separated fields, found 2"

    @pytest.mark.parametrize("content", [b"a\tCaf\xe9\n", b"Caf\xe9\tcoffee\n", b"stranger\tCaf\xe9\n"])
    def test_bad_utf8_in_names_is_named_too(self, file, content):
        facts, names = file("facts.tsv", "a\tr\tb\n"), file("names.tsv", content)
        assert problem_of(facts, (names, TableKind.NAMES)) == rf"{names}:1: b'Caf\xe9' is not valid UTF-8"
        assert report_of(facts, (names, TableKind.NAMES), skip_bad_lines=True).bad_lines == 1

    def test_an_empty_label_is_named(self, file):
        facts, names = file("facts.tsv", "a\tr\tb\n"), file("names.tsv", "b\tBea\na\t\n")
        assert problem_of(facts, names).startswith(f"{names}:2: ")

    @pytest.mark.parametrize("name", ["facts.tsv", "facts.csv", "facts.tsv.gz", "names.tsv"])
    @pytest.mark.parametrize("content", ["", "\n\n\r\n", "\ufeff"])
    def test_an_empty_file_says_so(self, file, name, content):
        path = file(name, content)
        assert problem_of(path) == f"{path} is empty"

    def test_a_table_of_only_a_header_holds_no_facts(self, file):
        assert problem_of(file("facts.tsv", "head\trelation\ttail\n")) == "the sources hold no facts"

    def test_names_alone_are_no_graph(self, file):
        problem = problem_of(file("names.tsv", "a\tAnna\n"))
        assert problem.startswith("the sources hold no facts; taken for a table of names: names.tsv (where")

    @pytest.mark.parametrize("name", ["facts.tsv", "facts.nt", "facts", "facts.csv.gz"])
    def test_a_missing_file_says_so(self, tmp_path, name):
        assert problem_of(tmp_path / name) == f"{tmp_path / name}: no such file"

    def test_a_folder_that_is_not_of_mmkg_says_so(self, tmp_path):
        assert problem_of(tmp_path) == (
            f"{tmp_path} is a folder, but not one of MMKG (EntityTriples and NumericalTriples)"
        )

    @pytest.mark.parametrize("name", ["graph.doc", "graph", "graph.gz", "graph.tsv.zip"])
    def test_an_unknown_ending_names_the_known_ones(self, file, name):
        path = file(name, b"a\tr\tb\n")
        message = problem_of(path)
        assert message.startswith(f"{path}: cannot tell what this file is") and ".tsv" in message and ".ttl" in message

    def test_nothing_to_import_says_so(self):
        assert "at least one file" in problem_of()


def broken_gzip(content: str, how: str) -> bytes:
    whole = gzip.compress(content.encode() + Random(1).randbytes(500).hex().encode(), mtime=0)
    if how == "truncated":
        return whole[: len(whole) // 2]
    if how == "without its end":
        return whole[:-4]
    if how == "not zipped":
        return content.encode()
    damaged = bytearray(whole)
    if how == "damaged from the start":
        damaged[10] = 0xFF  # a block type that there is not
    else:
        damaged[len(damaged) // 2] ^= 0xFF
    return bytes(damaged)


@pytest.mark.parametrize("skip_bad_lines", [False, True])
@pytest.mark.parametrize(
    "how", ["truncated", "without its end", "not zipped", "damaged from the start", "damaged in the middle"]
)
@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("facts.tsv.gz", "a\tr\tb\n"),
        ("facts.csv.gz", "a,r,b\n"),
        ("facts.nt.gz", "<a:a> <a:r> <a:b> .\n# "),
        ("facts.ttl.gz", "<a:a> <a:r> <a:b> .\n# "),
    ],
)
def test_a_broken_gzip_file_says_so(file, name, content, how, skip_bad_lines):
    path = file(name, broken_gzip(content, how))
    message = problem_of(path, skip_bad_lines=skip_bad_lines)
    assert message.startswith(str(path)) and len(message.splitlines()) == 1


TURTLE = f"""@prefix : <http://example.org/> .
@prefix xsd: <{XSD}> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
:Oslo :in :Norway ; :population 700000 ; :latitude 59.9 ; :founded "1048-##-##"^^xsd:date ; rdfs:label "Oslo"@en .
:Norway :independent "1905"^^xsd:gYear ; :area "385207.0"^^<http://example.org/units/km2> ; :motto "Alt for Norge" .
"""
EXAMPLE = "http://example.org/"


class TestRDF:
    @pytest.mark.parametrize("name", ["graph.ttl", "graph.ttl.gz", "graph.trig", "graph.n3", "GRAPH.TTL"])
    def test_turtle_and_its_kin(self, file, name):
        graph, report = read_sources([file(name, TURTLE)])
        assert facts_of(graph) == {(EXAMPLE + "Oslo", EXAMPLE + "in", EXAMPLE + "Norway")}
        assert values_of(graph) == {
            (EXAMPLE + "Oslo", EXAMPLE + "population", 700_000, "integer"),
            (EXAMPLE + "Oslo", EXAMPLE + "latitude", 59.9, "decimal"),
            (EXAMPLE + "Oslo", EXAMPLE + "founded", 1048, "date"),
            (EXAMPLE + "Norway", EXAMPLE + "independent", 1905, "gYear"),
            (EXAMPLE + "Norway", EXAMPLE + "area", 385_207, "km2"),
        }
        assert labels_of(graph) == {EXAMPLE + "Oslo": "Oslo"}
        assert report.remarks() == ["1 texts left out: motto, of which hardly any repeats"]

    @pytest.mark.parametrize("name", ["graph.nt", "graph.nt.gz", "graph.nq"])
    @pytest.mark.parametrize("end", ["\n", "\r\n"])
    def test_n_triples(self, file, name, end):
        lines = ["<a:Oslo> <a:in> <a:Norway> .", "# a comment", "", f'<a:Oslo> <a:population> "7"^^<{XSD}integer> .']
        graph = read(file(name, end.join(lines) + end))
        assert facts_of(graph) == {("a:Oslo", "a:in", "a:Norway")}
        assert values_of(graph) == {("a:Oslo", "a:population", 7, "integer")}

    def test_rdf_xml_and_json_ld(self, file):
        xml = file("graph.rdf", f"""<?xml version="1.0"?>
            <rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns:e="{EXAMPLE}">
              <rdf:Description rdf:about="{EXAMPLE}Oslo">
                <e:in rdf:resource="{EXAMPLE}Norway"/>
                <e:population rdf:datatype="{XSD}integer">700000</e:population>
              </rdf:Description>
            </rdf:RDF>""")  # fmt: skip
        json = file("graph.jsonld", f"""{{"@context": {{"@vocab": "{EXAMPLE}"}}, "@id": "{EXAMPLE}Oslo",
            "in": {{"@id": "{EXAMPLE}Norway"}}, "population": 700000}}""")  # fmt: skip
        for path in (xml, json):
            graph = read(path)
            assert facts_of(graph) == {(EXAMPLE + "Oslo", EXAMPLE + "in", EXAMPLE + "Norway")}
            assert values_of(graph) == {(EXAMPLE + "Oslo", EXAMPLE + "population", 700_000, "integer")}

    def test_the_graph_of_a_quad_does_not_matter(self, file):
        path = file("graph.nq", "<a:a> <a:r> <a:b> <a:g> .\n<a:a> <a:r> <a:b> .\n")
        assert facts_of(read(path)) == {("a:a", "a:r", "a:b")}

    def test_names_in_any_script(self, file):
        path = file("graph.nt", "<http://example.org/東京> <a:in> <http://example.org/d\\u00E9j\\u00E0> .\n")
        assert facts_of(read(path)) == {("http://example.org/東京", "a:in", "http://example.org/déjà")}
        assert read(path).vocabulary.entity_label(0) == "東京"

    @pytest.mark.parametrize(
        ("labels", "expected"),
        [
            (['"Wien"@de', '"Vienna"@en', '"Vienne"@fr'], "Vienna"),
            (['"Vienna"@en', '"Wien"@de'], "Vienna"),
            (['"Wien"@de', '"Vienna"'], "Vienna"),
            (['"VIE"', '"Vienna"@en'], "Vienna"),
            (['"Wien"@de', '"Vienna"@en-US'], "Vienna"),
            (['"Wien"@de', '"Vienne"@fr'], "Wien"),
            (['"1984"'], "1984"),
        ],
    )
    def test_the_best_language_gives_the_label(self, file, labels, expected):
        lines = [f"<a:v> {LABEL} {label} ." for label in labels]
        path = file("graph.nt", "\n".join([*lines, "<a:v> <a:in> <a:o> ."]))
        graph, report = read_sources([path])
        assert labels_of(graph) == {"a:v": expected} and report.labels == 1

    def test_labels_name_relations_and_attributes_too(self, file):
        statements = ["<a:o> <a:in> <a:n> .", f'<a:o> <a:p> "5"^^<{XSD}integer> .']
        statements += [f'<a:in> {LABEL} "lies in" .', f'<a:p> {LABEL} "size" .', f'<a:x> {LABEL} "nobody" .']
        graph, report = read_sources([file("graph.nt", "\n".join(statements))])
        assert labels_of(graph) == {"a:in": "lies in", "a:p": "size"}
        assert report.labels_of_nothing == 1

    def test_labels_may_stand_in_a_file_of_their_own_whatever_its_place(self, file):
        facts, labels = file("facts.nt", "<a:a> <a:r> <a:b> .\n"), file("labels.nt", f'<a:a> {LABEL} "Anna" .\n')
        assert labels_of(read(facts, labels)) == labels_of(read(labels, facts)) == {"a:a": "Anna"}

    def test_percent_signs_in_iris_are_decoded_for_people(self, file):
        graph = read(file("f.nt", "<http://x/S%C3%A3o_Paulo> <http://x/in> <http://x/100%25> .\n"))
        assert graph.vocabulary.entity_label(graph.vocabulary.entity_id("são paulo")) == "São Paulo"
        assert graph.vocabulary.entity_label(graph.vocabulary.entity_id("100%")) == "100%"

    def test_an_empty_label_is_no_label(self, file):
        path = file("graph.nt", f'<a:a> <a:r> <a:b> .\n<a:a> {LABEL} "" .\n<a:b> {LABEL} "Bea" .\n')
        assert labels_of(read(path)) == {"a:b": "Bea"}

    def test_other_literals_are_counted_by_type(self, file):
        literals = [f'"INF"^^<{XSD}double>']
        literals += [
            f'"5oo"^^<{XSD}integer>',
            f'"1969-02-30"^^<{XSD}date>',
            f'"15##-##-##"^^<{XSD}date>',
            '"POINT(1 2)"^^<http://example.org/wkt>',
        ]
        lines = [f"<a:a> <a:p{place}> {literal} ." for place, literal in enumerate(literals)]
        graph, report = read_sources([file("graph.nt", "\n".join(["<a:a> <a:r> <a:b> .", *lines]))])
        assert values_of(graph) == set()
        assert report.other_literals == {
            "double that is not a finite number": 1, "integer that is not a finite number": 1,
            "date that is not a date": 1, "wkt": 1
        }  # fmt: skip
        assert report.unknown_dates == 1
        assert "1 literals left out: wkt" in report.remarks()

    def test_texts_become_what_they_are_like(self, file):
        texts = {
            "genre": ['"Drama"', '"Horror"', '"Drama"', '"Horror"@en'],
            "year": ['"1979"', '"1984"', '"2007"', '"1995"'],
            "length": ['"117 min"', '"2 h"', '"90 min"', '"100 min"'],
            "seen": [f'"true"^^<{XSD}boolean>', f'"false"^^<{XSD}boolean>', f'"true"^^<{XSD}boolean>', '"true"'],
            "took": [f'"PT2H"^^<{XSD}duration>', f'"PT1H"^^<{XSD}duration>', f'"P1D"^^<{XSD}duration>', '"PT4H"'],
            "title": ['"Alien"@en', '"Düne"@de', '"Zodiac"', '"Sieben"@de'],
            "motto": ['"one"', '"two"', '"three"', '"four"'],
            "plot": [f'"{"long " * 30}{number}"' for number in range(4)],
        }
        lines = [
            f"<a:f{place}> <http://x/{predicate}> {literal} ."
            for predicate, literals in texts.items() for place, literal in enumerate(literals)
        ]  # fmt: skip
        graph, report = read_sources([file("graph.nt", "\n".join(lines))])
        facts, values = facts_of(graph), values_of(graph)
        assert ("a:f0", "http://x/genre", "Drama") in facts and ("a:f3", "http://x/genre", "Horror") in facts
        assert ("a:f0", "http://x/seen", "yes") in facts and ("a:f1", "http://x/seen", "no") in facts
        assert ("a:f0", "http://x/year", 1979, "date") in values
        assert {value[2:] for value in values if value[1] == "http://x/length"} == {
            (117, "minutes"), (120, "minutes"), (90, "minutes"), (100, "minutes")
        }  # fmt: skip
        assert ("a:f2", "http://x/took", 24, "hours") in values
        assert labels_of(graph)["a:f0"] == "Alien" and labels_of(graph)["a:f2"] == "Zodiac"
        assert not [fact for fact in facts if fact[1] in ("http://x/motto", "http://x/plot")]
        remarks = report.remarks()
        assert "texts of genre taken for things" in remarks and "texts of title taken for names" in remarks
        assert "4 texts left out: motto, of which hardly any repeats" in remarks

    def test_the_label_goes_before_other_names(self, file):
        names = '<a:a> <a:r> <a:b> .\n<a:a> <http://x/name> "A." .\n<a:b> <http://x/name> "Bea" .\n'
        lines = f'{names}<a:a> {LABEL} "Anna" .\n'
        assert labels_of(read(file("graph.nt", lines))) == {"a:a": "Anna", "a:b": "Bea"}

    def test_things_that_are_the_same_are_one(self, file):
        same = "<http://www.w3.org/2002/07/owl#sameAs>"
        lines = [
            f"<d:Oslo> {same} <w:Q585> .",
            f"<w:Q585> {same} <g:Oslo> .",
            "<d:Oslo> <a:in> <d:Norway> .",
            "<d:Oslo> <a:near> <d:Ski> .",
            "<w:Q585> <a:in> <d:Norway> .",
            '<g:Oslo> <a:size> "5"^^<http://x/km> .',
            f'<w:Q585> {LABEL} "Oslo" .',
        ]
        graph, report = read_sources([file("graph.nt", "\n".join(lines))])
        assert facts_of(graph) == {("d:Oslo", "a:in", "d:Norway"), ("d:Oslo", "a:near", "d:Ski")}
        assert values_of(graph) == {("d:Oslo", "a:size", 5, "km")} and labels_of(graph) == {"d:Oslo": "Oslo"}
        assert "2 things merged with others, as owl:sameAs says" in report.remarks()

    def test_numbers_of_several_types_are_one_attribute(self, file):
        rows = [("a", "5", "integer"), ("b", "6.5", "double"), ("c", "7", "double")]
        lines = [f'<a:{name}> <a:size> "{text}"^^<{XSD}{kind}> .' for name, text, kind in rows]
        graph = read(file("graph.nt", "\n".join(lines)))
        assert {(number, unit) for _, _, number, unit in values_of(graph)} == {
            (5, "double"),
            (6.5, "double"),
            (7, "double"),
        }

    def test_a_date_among_numbers_is_left_out_and_counted(self, file):
        rows = [("b", "1969-03-01", "date"), ("a", "5", "integer"), ("c", "6.5", "double"), ("a", "5", "integer")]
        lines = [f'<a:{name}> <a:size> "{text}"^^<{XSD}{kind}> .' for name, text, kind in rows]
        graph, report = read_sources([file("graph.nt", "\n".join(lines))])
        assert values_of(graph) == {("a:a", "a:size", 5, "integer"), ("a:c", "a:size", 6.5, "integer")}
        assert report.other_literals == {"a:size in date, where most are in integer": 1}
        assert report.repeated_values == 1

    @pytest.mark.parametrize(
        ("date", "problem"),
        [("25-12-03", "has fewer than four digits"), ("1969-02-30", "there is no day"), ("1969-02-01T25:00", "time")],
    )
    def test_a_table_of_bad_dates_is_not_taken_for_facts(self, file, date, problem):
        path = file("born.csv", f"a,born,{date}\nb,born,{date}\n")
        assert problem_of(path).startswith(f"{path}:1: ") and problem in problem_of(path)

    def test_a_stray_unit_that_comes_first_throws_nothing_else_away(self, file):
        lines = ['<a:r0> <a:length> "12"^^<u:/mi> .']
        lines += [f'<a:r{place}> <a:length> "{place}"^^<u:/km> .' for place in range(1, 9)]
        graph, report = read_sources([file("graph.nt", "\n".join(lines))])
        assert {unit for *_, unit in values_of(graph)} == {"km"} and len(values_of(graph)) == 8
        assert report.remarks() == ["1 literals left out: a:length in mi, where most are in km"]

    def test_blank_nodes_without_a_name_are_the_same_at_every_reading(self, file):
        path = file("graph.ttl", "<a:a> <a:r> [ <a:s> <a:b> ] , [ <a:s> <a:c> ] .\n")
        assert len(facts_of(read(path))) == 4
        assert facts_of(read(path)) == facts_of(read(path))

    def test_blank_nodes_of_two_files_are_two_things(self, file):
        one, other = file("one.nt", "_:x <a:r> <a:b> .\n"), file("other.nt", "_:x <a:r> <a:c> .\n")
        assert len({head for head, _, _ in facts_of(read(one, other))}) == 2

    @pytest.mark.parametrize(
        ("name", "content", "line"),
        [
            ("graph.nt", b"<a:a> <a:r> <a:b> .\n<a:a> <a:r> .\n", 2),
            ("graph.nt", b"<a:a> <a:r> <a:b> .\n\n# fine\n<a:a> <a:r> a:b .\n", 4),
            ("graph.nt", b'<a:a> <a:r> <a:b> .\n<a:a> <a:r> "\xff" .\n', 2),
            ("graph.nt", b"a\tr\tb\n", 1),
            ("graph.nt", b"<a:a> <a:r> <a:b>\n<a:a> <a:r> <a:c> .\n", 1),
            ("graph.nq", b"\xef\xbb\xbf<a:a> <a:r> <a:b> .\n<a:a> <a:r> <a:c>\n# so\n\n<a:a> <a:r> <a:d> .\n", 2),
            ("graph.nt", b"<a:a> <a:r> <a:b> .\n<a:a> <a:r> <a:c>", 2),
            ("graph.nt", b"<a:a> <a:r> <a:b> .\n<a:a> <a:r> <a:c>\n", 2),
            ("graph.nt", b'<a:a> <a:r> <a:b> .\n<a:a> <a:r> "x\ny" .\n', 2),
            ("graph.nt", b"<a:a> <a:r> \n<a:b> .\n", 1),
            ("graph.nq", b"<a:a> <a:r> <a:b> <a:g> .\nnonsense\n", 2),
            ("graph.ttl", b"<a:a> <a:r> <a:b> .\n\n<a:a> nothing:here <a:b> .\n", 3),
            ("graph.ttl", b"<a:a> <a:r>\n<a:b>\n", 3),
            ("graph.jsonld", b'{"@id": \n nonsense}', 2),
        ],
    )
    def test_a_broken_file_is_named_with_its_line(self, file, name, content, line):
        path = file(name, content)
        message = problem_of(path)
        assert message.startswith(f"{path}:{line}: ") and len(message.splitlines()) == 1

    @pytest.mark.parametrize(
        "content",
        [
            '<?xml version="1.0"?>\n<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#">\n<rdf:X></rdf:Y>\n',
            "plain words",
            "<html><body><p>Not found</body></html>",
        ],
    )
    def test_broken_xml_claims_no_line_that_it_does_not_know(self, file, content):
        path = file("graph.rdf", content)
        message = problem_of(path)
        assert str(path) in message and f"{path}:1:" not in message

    @pytest.mark.parametrize("name", ["graph.nt", "graph.ttl", "graph.rdf", "graph.nt.gz"])
    @pytest.mark.parametrize("skip_bad_lines", [False, True])
    def test_a_file_without_triples_says_so(self, file, name, skip_bad_lines):
        path = file(name, "")
        assert problem_of(path, skip_bad_lines=skip_bad_lines) == f"{path} holds no triples"

    def test_a_byte_order_mark_does_no_harm(self, file):
        for name in ("graph.nt", "graph.ttl"):
            path = file(name, "\ufeff<a:a> <a:r> <a:b> .\n")
            for skip in (False, True):
                assert facts_of(read(path, skip_bad_lines=skip)) == {("a:a", "a:r", "a:b")}

    def test_bad_lines_of_n_triples_can_be_skipped(self, file):
        lines = [b"<a:a> <a:r> <a:b> .", b"nonsense", b'<a:a> <a:r> "\xff" .', b"", b"# fine", b"<a:b> <a:r> <a:a> ."]
        path = file("graph.nt", b"\r\n".join(lines))
        graph, report = read_sources([path], skip_bad_lines=True)
        assert facts_of(graph) == {("a:a", "a:r", "a:b"), ("a:b", "a:r", "a:a")}
        assert report.bad_lines == 2
        assert [example.split(": ")[0] for example in report.bad_examples] == [f"{path}:2", f"{path}:3"]

    def test_a_remark_names_one_line_and_not_two(self, file):
        path = file("graph.nt", "<a:a> <a:r> <a:b> .\n" * 6 + "nonsense\n")
        example = report_of(path, skip_bad_lines=True).bad_examples[0]
        assert example.startswith(f"{path}:7: ") and "line 1" not in example

    @settings(max_examples=50)
    @given(st.data())
    def test_the_same_graph_comes_from_a_table_and_from_n_triples(self, tmp_path_factory, data):
        name = st.text("abcé東😀_-.~", min_size=1, max_size=5).map(lambda text: f"{EXAMPLE}{text}")
        facts = data.draw(st.lists(st.tuples(name, name, name), min_size=1, max_size=8))
        number = st.floats(allow_nan=False, allow_infinity=False)
        values = data.draw(st.lists(st.tuples(name, name, number), max_size=8))
        folder = tmp_path_factory.mktemp("same")
        tables = {"facts.tsv": facts, "values.tsv": [(e, a, repr(n), "double") for e, a, n in values]}
        for file_name, rows in tables.items():
            (folder / file_name).write_text("".join("\t".join(row) + "\n" for row in rows), encoding="utf-8")
        statements = [f"<{head}> <{label}> <{tail}> .\n" for head, label, tail in facts]
        statements += [f'<{e}> <{a}> "{n!r}"^^<{XSD}double> .\n' for e, a, n in values]
        (folder / "graph.nt").write_text("".join(statements), encoding="utf-8")
        sources = [(folder / "facts.tsv", TableKind.FACTS)] + [(folder / "values.tsv", TableKind.VALUES)] * bool(values)
        for skip in (False, True):
            one, other = read(*sources), read(folder / "graph.nt", skip_bad_lines=skip)
            assert (facts_of(one), values_of(one)) == (facts_of(other), values_of(other))
            assert one.entities.names.equals(other.entities.names)


class TestMMKG:
    @pytest.fixture
    def mmkg(self, file, tmp_path):
        """Make a folder of MMKG from the text of its tables."""

        def make(facts, values, names=None, ending=".tsv.gz"):
            file(f"graph/EntityTriples{ending}", facts)
            file(f"graph/NumericalTriples{ending}", values)
            if names is not None:
                file(f"graph/EntityNames{ending}", names)
            return tmp_path / "graph"

        return make

    def test_freebase_plain_numbers_measured_as_the_attribute_says(self, mmkg):
        namespace = "http://rdf.freebase.com/ns/"
        units = {
            "location.geocode.latitude": "degrees",
            "topic_server.population_number": "persons",
            "location.location.area": "square metres",
            "people.person.height_meters": "metres",
            "people.person.date_of_birth": "years",
            "some.thing.nobody_knows": "number",
        }
        values = "".join(f"/m/1\t<{namespace}{attribute}>\t{place}.5\n" for place, attribute in enumerate(units))
        graph = read(mmkg("/m/1\t/location/in\t/m/2\n", values, "/m/1\tSchleswig-Holstein_(state)\n/m/2\tGermany\n"))
        assert facts_of(graph) == {("/m/1", "/location/in", "/m/2")}
        assert values_of(graph) == {
            ("/m/1", namespace + attribute, place + 0.5, unit) for place, (attribute, unit) in enumerate(units.items())
        }
        labels = labels_of(graph)
        assert labels["/m/1"] == "Schleswig-Holstein (state)"
        assert labels[namespace + "people.person.date_of_birth"] == "date of birth"

    @pytest.mark.parametrize("ending", [".tsv", ".tsv.gz", ".txt"])
    def test_typed_literals_and_iris_in_brackets(self, mmkg, ending):
        values = f'<http://d/A>\tgross\t"7.5E1"^^<{XSD}double>\n<http://d/A>\tborn\t"1969-03-01"^^<{XSD}date>\n'
        graph = read(mmkg("<http://d/A>\t<http://d/r>\t<http://d/B>\n" * 2, values, ending=ending))
        assert facts_of(graph) == {("http://d/A", "http://d/r", "http://d/B")}
        assert values_of(graph) == {
            ("http://d/A", "gross", 75, "double"),
            ("http://d/A", "born", 1969 + 59 / 365, "date"),
        }

    def test_decimal_dates_unknown_parts_and_years_bc(self, mmkg):
        dates = {
            "A": ("1961-07-18", "date", 1961 + 198 / 365),
            "B": ("1961.0718", "degrees", 1961 + 198 / 365),
            "C": ("1950.0000", "degrees", 1950),
            "D": ("1949-##-##", "date", 1949),
            "E": ("-383-1-1", "date", -383),
            "F": ("1949-0-0", "date", 1949),
            "G": ("15##-##-##", "date", None),
        }
        values = "".join(f'<{name}>\tborn\t"{text}"^^<{XSD}{kind}>\n' for name, (text, kind, _) in dates.items())
        values += f'<A>\tlatitude\t"23.03"^^<{XSD}degrees>\n'
        graph, report = read_sources([mmkg("<A>\tr\t<B>\n", values)])
        assert values_of(graph) == {
            (name, "born", year, "date") for name, (_, _, year) in dates.items() if year is not None
        } | {("A", "latitude", 23.03, "degrees")}
        assert report.unknown_dates == 1

    @pytest.mark.parametrize(
        ("facts", "values", "names", "table", "line"),
        [
            ("a\tr\tb\na\tr\n", "a\tage\t5\n", None, "EntityTriples", 2),
            ("a\tr\tb\n", "a\tage\t5\na\tage\n", None, "NumericalTriples", 2),
            ("a\tr\tb\n", "a\tage\tnan\n", None, "NumericalTriples", 1),
            ("a\tr\tb\n", f'a\tage\t"old"^^<{XSD}integer>\n', None, "NumericalTriples", 1),
            ("a\tr\tb\n", 'a\tage\t"5"^^<>\n', None, "NumericalTriples", 1),
            ("a\tr\tb\n", f'a\tb\t"1969"^^<{XSD}date>\na\tb\t"1.5"^^<{XSD}degrees>\n', None, "NumericalTriples", 2),
            ("a\tr\tb\n", f'a\tb\t5\nb\tb\t"5"^^<{XSD}integer>\n', None, "NumericalTriples", 2),
            ("a\tr\tb\n", "a\tage\t5\n", "a\tAnna\nb\n", "EntityNames", 2),
        ],
    )  # fmt: skip
    def test_bad_lines_are_named_or_skipped(self, mmkg, facts, values, names, table, line):
        folder = mmkg(facts, values, names)
        assert problem_of(folder).startswith(f"{folder / table}.tsv.gz:{line}: ")
        graph, report = read_sources([folder], skip_bad_lines=True)
        assert report.bad_lines == 1 and ("a", "r", "b") in facts_of(graph)

    def test_half_a_folder_is_not_one_of_mmkg(self, file, tmp_path):
        file("graph/EntityTriples.tsv", "a\tr\tb\n")
        assert "not one of MMKG" in problem_of(tmp_path / "graph")

    def test_an_empty_table_says_so(self, mmkg):
        folder = mmkg("", "a\tage\t5\n")
        assert problem_of(folder) == f"{folder / 'EntityTriples.tsv.gz'} is empty"

    def test_a_broken_table_says_so(self, mmkg, file):
        folder = mmkg("a\tr\tb\n", "a\tage\t5\n")
        whole = (folder / "NumericalTriples.tsv.gz").read_bytes()
        path = file("graph/NumericalTriples.tsv.gz", whole[:-6])
        assert problem_of(folder).startswith(f"{path} is not a whole gzip file")
