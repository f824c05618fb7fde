"""Tables with one row per thing: what is guessed of them, mappings, the formats they come in, and what can be wrong."""

import contextlib
import gzip
import json
import os
import sqlite3
import subprocess
import sys
import tomllib
from io import BytesIO, TextIOWrapper
from pathlib import Path

import duckdb
import networkx
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.csv
import pyarrow.feather
import pyarrow.json
import pyarrow.parquet
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import kgreckon as kg
from kgreckon.errors import UserError
from kgreckon.exact import ask
from kgreckon.files import new_file
from kgreckon.graph import TableKind, read_sources
from kgreckon.graph.readers import reading_of
from kgreckon.graph.wide import loading
from kgreckon.graph.wide.frames import frame_tables
from kgreckon.graph.wide.guessing import guess
from kgreckon.graph.wide.loading import load
from kgreckon.graph.wide.mapping import checked, write_mapping
from kgreckon.query import sentence
from kgreckon.query.words import read as read_words
from kgreckon.runs.checking import State, check_folder
from test_readers import facts_of, labels_of, values_of

_NOTE = "someone wants something that somebody else has and in the end nobody has it"
FILMS = "title,genres,budget,released,running time (min),director,in color,note,id\n" + "".join(
    f"{row},{_NOTE} ({number}),{number}\n"
    for number, row in enumerate(
        (
            'Alien,"Horror, Sci-Fi","$11,000,000",25 May 1979,117,Ridley Scott,yes',
            'Blade Runner,"Sci-Fi, Thriller","$30,000,000",25 June 1982,117,Ridley Scott,yes',
            'Se7en,"Thriller","$33,000,000",22 September 1995,127,David Fincher,yes',
            'Zodiac,"Thriller, Drama","$65,000,000",2 March 2007,157,David Fincher,yes',
            'Eraserhead,"Horror",,19 March 1977,89,David Lynch,no',
            'Dune,"Sci-Fi, Drama","$40,000,000",14 December 1984,137,David Lynch,yes',
        ),
        7,
    )
)


def read(*sources, mapping=None, key=None, **options):
    """The graph of some sources and what was met."""
    return read_sources(list(sources), reading=reading_of(mapping, key), **options)


def guessed_tables(*paths, mapping=None):
    """What is guessed of each table of some files."""
    return guess([table for path in paths for table in load(path)], checked(mapping or {}, "m"))


def guessed(*paths, mapping=None):
    """What is guessed of each column of some files, by table and column."""
    tables = guessed_tables(*paths, mapping=mapping)
    return {table.table: {column.column: column for column in table.columns} for table in tables}


def kinds(path, mapping=None):
    """What each column of a file with one table becomes."""
    (columns,) = guessed(path, mapping=mapping).values()
    return {name: str(column.mapping.kind) for name, column in columns.items()}


def problem_of(*sources, **options):
    """What an import complains of."""
    with pytest.raises(UserError) as caught:
        read(*sources, **options)
    assert len(str(caught.value).splitlines()) == 1
    return str(caught.value)


class TestFilms:
    def test_each_column_becomes_what_it_is(self, file):
        assert kinds(file("films.csv", FILMS)) == {
            "genres": "relation",
            "budget": "number",
            "released": "date",
            "running time (min)": "number",
            "director": "relation",
            "in color": "boolean",
            "note": "left out",
            "id": "left out",
        }

    def test_the_graph_holds_what_the_rows_say(self, file):
        graph, report = read(file("films.csv", FILMS))
        facts = facts_of(graph)
        assert {tail for head, relation, tail in facts if (head, relation) == ("Alien", "genres")} == {
            "Horror",
            "Sci-Fi",
        }
        assert ("Zodiac", "director", "David Fincher") in facts and ("Eraserhead", "in_color", "no") in facts
        values = {value[:2]: value[2:] for value in values_of(graph)}
        assert values["Alien", "budget"] == (11_000_000, "dollars") and ("Eraserhead", "budget") not in values
        assert values["Alien", "running_time"] == (117, "minutes")
        assert values["Alien", "released"] == (1979 + 144 / 365, "date")
        assert report.remarks() == []

    def test_the_reasons_name_what_was_seen(self, file):
        columns = guessed(file("films.csv", FILMS))["films"]
        assert columns["budget"].why.startswith("its cells are in dollars") and "'$11,000,000'" in columns["budget"].why
        assert columns["running time (min)"].why == "(min) in its header"
        assert columns["note"].why == "long texts" and columns["id"].why.startswith("ids")
        assert columns["genres"].examples[0] == "Horror, Sci-Fi"


class TestColumns:
    @pytest.mark.parametrize(
        ("cells", "kind"),
        [
            (["1", "2", "3", "4"], "number"),
            (["1", "2", "n/a", "unknown"], "number"),
            (["5 km", "700 m", "3 km", "2 mi"], "number"),
            (["1999-05-01", "2001-02", "", "2003-01-01"], "date"),
            (["PT2H", "PT30M", "PT1H", "PT5M"], "duration"),
            (["10:30", "9:15", "23:59", "0:00"], "time"),
            (["yes", "no", "yes", ""], "boolean"),
            (["red", "blue", "red", "blue"], "relation"),
            (["a;b", "b;c", "a;c", "b"], "relation"),
            (["00501", "02134", "00501", "90210"], "relation"),  # codes
            (["3rd", "1st", "1st", "3rd"], "relation"),
            (["one", "two", "three", "four"], "left out"),
            ([";a;b;", ";a;", ";a;b;", ";a;c;"], "relation"),
            (["", "", "", ""], "left out"),
            (["NA", "DE", "NA", "DE"], "relation"),
        ],
    )
    def test_the_cells_say_what_a_column_is(self, file, cells, kind):
        rows = "".join(f"thing {place},{cell},{place}.5\n" for place, cell in enumerate(cells))
        assert kinds(file("things.csv", f"name,column,size\n{rows}"))["column"] == kind

    @pytest.mark.parametrize(
        ("header", "cells", "kind"),
        [
            ("year", ["1999", "2001", "2003"] * 2, "date"),
            ("year", ["1", "2", "3"] * 2, "number"),
            ("joined", [str(1990 + place % 6) for place in range(12)], "date"),
            ("joined (m)", [str(1990 + place % 6) for place in range(12)], "number"),
            ("joined", [str(1895 + place) for place in range(12)], "number"),  # some are before 1900
            ("joined", [str(1990 + place % 6) for place in range(9)], "number"),  # of few rows it may be anything
            ("UNcode", ["4", "248", "8", "12", "16", "20"], "left out"),
            ("UNcode", ["4", "248", "8"] * 2, "relation"),
            ("id", ["1", "2", "3", "4", "5", "6"], "left out"),
            ("store_id", ["1", "2", "1", "2", "1", "2"], "relation"),
            ("population", ["10", "20", "30", "40", "50", "60"], "number"),
            ("created_at", [str(1_517_966_773_840 + place) for place in range(6)], "date"),
            ("amount", [str(1_517_966_773_840 + place) for place in range(6)], "number"),
            ("country", ["Norway"] * 6, "left out"),  # the same in every row
            ("survived", ["0", "1"] * 3, "number"),  # of few rows it may be a count
        ],
    )
    def test_the_header_helps(self, file, header, cells, kind):
        rows = "".join(f"thing {place},{cell},{place}.5\n" for place, cell in enumerate(cells))
        assert kinds(file("things.csv", f"name,{header},size\n{rows}"))[header] == kind

    @pytest.mark.parametrize(
        ("cells", "kind"),
        [
            (
                ["Ann Lee", "Bo Ray", "Ann Lee, Cy Fox", "Bo Ray, Di Orr", "Cy Fox, Bo Ray", "Eve May", "Cy Fox"],
                "relation",
            ),
            ([f"{last}, {first}" for last in ("Lee", "Fox", "Ray") for first in ("Ann", "Bo", "Cy", "Di")], "left out"),
            ([f"{city}, {land}" for land in ("Peru", "Chad") for city in ("A", "B", "C, D", "E")], "left out"),
        ],
    )
    def test_a_list_has_its_things_at_any_place(self, file, cells, kind):
        rows = "".join(f'thing {place},"{cell}",{place}.5\n' for place, cell in enumerate(cells))
        guess = guessed(file("t.csv", f"name,who,size\n{rows}"))["t"]["who"]
        assert (guess.mapping.kind, guess.mapping.separator) == (kind, "," if kind == "relation" else "")

    def test_zeros_and_ones_of_many_rows_are_no_and_yes(self, file):
        rows = "".join(f"thing {place},{place % 2},{place}.5\n" for place in range(12))
        graph, _ = read(file("things.csv", f"name,survived,size\n{rows}"))
        assert ("thing 1", "survived", "yes") in facts_of(graph) and ("thing 2", "survived", "no") in facts_of(graph)

    def test_na_is_namibia_among_codes_and_nothing_elsewhere(self, file):
        rows = "a,NA,NA\nb,DE,red\nc,NA,red\nd,DE,red\n"
        facts = facts_of(read(file("t.csv", f"name,code,color,size\n{rows.replace(chr(10), ',1' + chr(10))}"))[0])
        assert {fact for fact in facts if fact[0] == "a"} == {("a", "code", "NA")}

    def test_quantities_of_one_dimension_are_in_one_unit(self, file):
        path = file("t.csv", "isotope,half-life\nA,5 d\nB,3 years\nC,40 ms\nD,2 days\nE,12 h\n")
        values = {name: (number, unit) for name, _, number, unit in values_of(read(path)[0])}
        assert values["A"] == (5, "days") and values["B"] == (1095.75, "days") and values["E"] == (0.5, "days")
        assert values["C"] == (pytest.approx(0.04 / 86400), "days")

    def test_units_may_stand_in_a_column_of_their_own(self, file):
        path = file("t.csv", "name,half_life,half_life_unit\nA,5,d\nB,3,y\nC,40,d\n".replace("y\n", "yr\n"))
        assert {(name, number, unit) for name, _, number, unit in values_of(read(path)[0])} == {
            ("A", 5, "days"), ("B", 1095.75, "days"), ("C", 40, "days")
        }  # fmt: skip

    def test_a_factor_in_the_header_counts(self, file):
        graph, _ = read(file("t.csv", "country,GDP (US$ millions),population (thousands)\nA,2,3\nB,5,7\n"))
        assert values_of(graph) == {
            ("A", "GDP", 2e6, "US dollars"), ("B", "GDP", 5e6, "US dollars"),
            ("A", "population", 3000, "number"), ("B", "population", 7000, "number"),
        }  # fmt: skip

    def test_two_columns_that_only_differ_in_their_units_keep_their_names(self, file):
        graph, _ = read(file("t.csv", "name,height_m,height_ft\nA,2,7\nB,1,3\n"))
        assert set(graph.attributes.names.to_pylist()) == {"height", "height_ft"}

    def test_things_of_two_kinds_and_one_name_are_two_things(self, file):
        rows = "Drama,Drama,2\nAlien,Horror,3\nRing,Drama,4\nSaw,Horror,4\n"
        facts = facts_of(read(file("films.csv", f"title,genre,stars\n{rows}"))[0])
        assert ("Drama", "genre", "Drama (genre)") in facts and ("Alien", "genre", "Horror") in facts

    def test_a_class_keeps_its_name_where_a_thing_has_the_same(self, file):
        """Whoever asks for elements means those, whatever another table says of a table of elements."""
        notes = file("notes.csv", "note,table,cited\n1st,element,2\n2nd,isotope,4\n3rd,element,4\n4th,isotope,5\n")
        facts = facts_of(read(notes, file("elements.csv", "name,block,mass\nIron,d,56\nNeon,p,20\nGold,d,197\n"))[0])
        assert ("Iron", "is_a", "element") in facts and ("1st", "table", "element (table)") in facts

    @pytest.mark.parametrize(
        ("name", "kind"),
        [("wine.csv", "wine"), ("Films.csv", "Film"), ("movies.csv", "movie"), ("world_cities.csv", "world city"),
         ("wine_data.csv", "wine"), ("wine-list.csv", "wine list"),
         ("wines_2020.csv", "wine"), ("2019 Films (new).csv", "Film"),
         ("data.csv", ""), ("Sheet1.csv", ""), ("2020.csv", ""), ("t.csv", "")],
    )  # fmt: skip
    def test_rows_are_of_the_kind_that_their_table_is_named_after(self, file, name, kind):
        path = file(name, "name,grape,alcohol\nA,merlot,12\nB,merlot,\nC,syrah,13\nD,syrah,14\n")
        (table,) = guessed_tables(path)
        assert table.mapping.type == kind
        graph, _ = read(path)
        assert {fact for fact in facts_of(graph) if fact[1] == "is_a"} == {
            (row, "is_a", kind) for row in "ABCD" if kind
        }
        if kind:
            query = read_words(f"{kind} without alcohol", graph.vocabulary)
            assert [graph.entities.name(one) for one in ask(graph, query).tolist()] == ["B"]
        off = {table.table: {"type": ""}}
        assert not [fact for fact in facts_of(read(path, mapping=off)[0]) if fact[1] == "is_a"]
        assert 'type = ""' in write_mapping(guessed_tables(path, mapping=off))

    @pytest.mark.parametrize(
        "content",
        ["name,type,size\na,red,1\nb,red,2\nc,dry,3\nd,dry,4\n",  # the column says what each is
         "name,sort,size\na,wine,1\nb,wine,2\nc,Beer,3\nd,Beer,4\n",  # a cell is called as the kind would be
         "name,size\nwine,1\nbeer,2\nrum,3\ngin,4\n",
         "source,target\na,b\nb,c\na,c\nc,d\nb,d\n"],  # rows are links
    )  # fmt: skip
    def test_a_kind_that_would_clash_is_not_stated(self, file, content):
        graph, _ = read((file("wines.csv", content), TableKind.WIDE))
        assert not [fact for fact in facts_of(graph) if fact[1] == "is_a"] and not graph.entities.has("wine (sort)")

    def test_columns_that_share_some_of_their_cells_lead_to_different_things(self, file):
        rows = "".join(f"thing {n},{'v' if n % 30 < 4 else 'w'}{n % 30},v{n % 5},{n}.5\n" for n in range(90))
        columns = guessed(file("things.csv", f"name,city,county,size\n{rows}"))["things"]
        assert columns["county"].mapping.things == "county"

    def test_columns_with_largely_the_same_cells_lead_to_the_same_things(self, file):
        ends = ("OSL,LHR", "LHR,OSL", "CDG,OSL", "OSL,CDG", "LHR,CDG", "CDG,LHR")
        rows = "".join(f"flight {number},{both},{number}.5\n" for number, both in enumerate(ends))
        facts = facts_of(read(file("flights.csv", f"name,origin,destination,hours\n{rows}"))[0])
        assert ("flight 0", "origin", "OSL") in facts and ("flight 1", "destination", "OSL") in facts

    def test_numbers_that_name_things_are_called_by_what_they_are(self, file):
        rows = "".join(f"sale {n},{n % 2},{n}.5\n" for n in range(6))
        facts = facts_of(read(file("sales.csv", f"name,store_id,price\n{rows}"))[0])
        assert ("sale 1", "store", "store 1") in facts


class TestKeys:
    @pytest.mark.parametrize(
        ("content", "key"),
        [
            ("name,code,size\nA,x1,1\nB,x2,2\n", ("name",)),
            ("code,name,size\nx1,A,1\nx2,B,2\n", ("name",)),
            ("id,size\n1,5.5\n2,6.5\n", ("id",)),
            ("symbol,size\nH,1\nHe,2\n", ("symbol",)),
            ("zip_code,city\n" + "".join(f"0050{n},{'ab'[n % 2]}\n" for n in range(9)), ("zip_code",)),
            ("title,year,size\n" + "".join(f"film {n % 9},{1990 + n},{n}.5\n" for n in range(10)), ("title", "year")),
            ("title,size\n" + "".join(f"film {n % 19},{n}.5\n" for n in range(20)), ("title", "row number")),
        ],
    )
    def test_the_key_is_found(self, file, content, key):
        (found,) = guess(load(file("t.csv", content)))
        assert found.mapping.key == key

    def test_only_rows_of_one_name_are_told_apart(self, file):
        content = "title,year,size\n" + "".join(f"film {n % 9},{1990 + n},{n}.5\n" for n in range(10))
        names = set(read(file("films.csv", content))[0].entities.names.to_pylist())
        assert {"film 0 (1990)", "film 0 (1999)", "film 1"} <= names and "film 0" not in names

    def test_rows_of_one_name_and_nothing_else_are_numbered(self, file):
        content = "title,size\n" + "".join(f"film {n % 19},{n}.5\n" for n in range(20))
        names = set(read(file("films.csv", content))[0].entities.names.to_pylist())
        assert {"film 0", "film 0 #2", "film 1"} <= names

    def test_rows_without_a_name_are_left_out_and_counted(self, file):
        rows = "".join(f"thing {n},{n}.5\n" for n in range(40))
        graph, report = read(file("t.csv", f"name,size\n{rows},7\n"))
        assert len(graph.entities) == 40 and report.remarks() == ["1 rows of t left out: they have no name"]

    def test_a_table_without_a_key_says_what_to_do(self, file):
        path = file("t.csv", "color,size\nred,1\nblue,2\nred,3\nblue,4\n")
        message = problem_of(path)
        assert message.startswith(f"{path}: no column of the table 't' names its rows (the nearest is 'color'")
        assert "--key COLUMN" in message and "'row number'" in message and "--key 'color+size'" in message
        assert read(path, key="row number")[0].entities.names.to_pylist()[0] == "t 1"
        assert read(path, key="color+size")[0].entities.names.to_pylist()[0] == "red (1)"

    def test_what_several_rows_are_of_is_a_thing_too(self, file):
        rows = "".join(
            f"{country},{year},{year - 1990}.5\n" for country in ("Norway", "Chad") for year in (1990, 1995, 2000)
        )
        path = file("t.csv", f"country,year,births\n{rows}")
        assert "--key 'country+year'" in problem_of(path)
        assert ("Chad (1995)", "country", "Chad") in facts_of(read(path, key="country+year")[0])

    def test_with_one_key_given_rows_of_one_name_are_one_thing(self, file):
        graph, _ = read(file("t.csv", "color,size\nred,1\nblue,2\nred,3\nblue,4\n"), key="color")
        assert values_of(graph) == {("red", "size", 1, "number"), ("red", "size", 3, "number"),
                                    ("blue", "size", 2, "number"), ("blue", "size", 4, "number")}  # fmt: skip

    def test_an_edge_list_links_its_ends(self, file):
        graph, _ = read(file("t.csv", "source,target,weight\na,b,1\nb,c,2\na,c,2\nc,d,4\nb,d,5\n"))
        assert facts_of(graph) == {(one, "linked_to", other) for one, other in ("ab", "bc", "ac", "cd", "bd")}


def database(path):
    """Films, directors and who played in what, with keys."""
    base = sqlite3.connect(path)
    base.executescript("""
        CREATE TABLE directors (id INTEGER PRIMARY KEY, name TEXT, born INTEGER);
        CREATE TABLE films (id INTEGER PRIMARY KEY, title TEXT, year INTEGER, director_id INTEGER REFERENCES directors);
        CREATE TABLE actors (id INTEGER PRIMARY KEY, name TEXT);
        CREATE TABLE cast_of (film_id INTEGER REFERENCES films(id), actor_id INTEGER REFERENCES actors(id),
                              PRIMARY KEY (film_id, actor_id));
        INSERT INTO directors VALUES (1, 'Scott', 1937), (2, 'Fincher', 1962), (3, 'Lynch', 1946);
        INSERT INTO films VALUES (1, 'Alien', 1979, 1), (2, 'Zodiac', 2007, 2), (3, 'Dune', 1984, 3),
                                 (4, 'Se7en', 1995, 2);
        INSERT INTO actors VALUES (1, 'Weaver'), (2, 'Downey'), (3, 'Pitt');
        INSERT INTO cast_of VALUES (1, 1), (2, 2), (4, 3);
    """)
    base.close()
    return path


class TestReferences:
    def test_foreign_keys_lead_to_rows_and_tables_of_pairs_are_relations(self, tmp_path):
        facts = facts_of(read(database(tmp_path / "films.sqlite"))[0])
        assert {("Zodiac", "director", "Fincher"), ("Se7en", "actor", "Pitt"), ("Alien", "is_a", "film")} <= facts

    def test_columns_that_name_rows_of_another_file_are_found(self, file):
        films = file("films.csv", "title,director_id,year\nAlien,1,1979\nZodiac,2,2007\nDune,3,1984\nSe7en,2,1995\n")
        directors = file("directors.csv", "id,name,born\n1,Scott,1937\n2,Fincher,1962\n3,Lynch,1946\n")
        for sources in ((films, directors), (directors, films)):
            assert ("Zodiac", "director", "Fincher") in facts_of(read(*sources)[0])

    def test_names_that_name_rows_of_another_file_are_found(self, file):
        cities = file("cities.csv", "city,size\nOslo,1\nParis,2\nLyon,3\n")
        people = file("people.csv", "person,lives in,age\nAda,Oslo,30\nBob,Paris,40\nEve,Lyon,50\nJoe,Oslo,60\n")
        guess = guessed(cities, people)["people"]["lives in"]
        assert guess.mapping.references == "cities.city" and guess.why == "its cells name rows of cities"

    @pytest.mark.parametrize(("step", "joined"), [(7, True), (1, False)])
    def test_tables_of_the_same_ids_are_of_the_same_rows_unless_any_ids_would_be(self, file, step, joined):
        films = "ID,title,year\n" + "".join(f"{step * n + 3},film {n},{1990 + n}\n" for n in range(9))
        ratings = "ID,rating,votes\n" + "".join(f"{step * n + 3},{n}.5,{n * n}\n" for n in range(9))
        values = values_of(read(file("films.csv", films), file("ratings.csv", ratings))[0])
        assert (("film 4", "rating", 4.5, "number") in values) is joined

    def test_cells_that_name_no_row_are_counted(self, file):
        films = file("films.csv", "title,director_id,year\nAlien,1,1979\nZodiac,2,2007\nDune,9,1984\nSe7en,2,1995\n")
        directors = file("directors.csv", "id,name,born\n1,Scott,1937\n2,Fincher,1962\n3,Lynch,1946\n")
        graph, report = read(films, directors)
        assert not [fact for fact in facts_of(graph) if fact[:2] == ("Dune", "director")]
        assert "1 cells of director_id in films left out: they name no row of directors.id" in report.remarks()


TABLE = pa.table(
    {
        "name": ["Alien", "Zodiac", "Dune"],
        "stars": [8.5, 7.7, None],
        "votes": [900, 500, 100],
        "genres": [["Horror", "Sci-Fi"], ["Drama"], ["Sci-Fi", "Drama"]],
        "seen": [True, False, None],
    }
)
FLAT = TABLE.set_column(3, "genres", pa.array(["Horror;Sci-Fi", "Drama", "Sci-Fi;Drama"]))


class TestFormats:
    def expected(self):
        facts = {("Alien", "genres", "Horror"), ("Alien", "genres", "Sci-Fi"), ("Zodiac", "genres", "Drama"),
                 ("Dune", "genres", "Sci-Fi"), ("Dune", "genres", "Drama"), ("Alien", "seen", "yes"),
                 ("Zodiac", "seen", "no")}  # fmt: skip
        facts |= {(name, "is_a", "film") for name in ("Alien", "Zodiac", "Dune")}
        values = {("Alien", "stars", 8.5, "number"), ("Zodiac", "stars", 7.7, "number")}
        return facts, values | {
            (name, "votes", votes, "number") for name, votes in (("Alien", 900), ("Zodiac", 500), ("Dune", 100))
        }

    def write(self, path):
        ending = path.name.partition(".")[2]
        match ending:
            case "parquet":
                pa.parquet.write_table(TABLE, path)
            case "feather":
                pa.feather.write_feather(TABLE, str(path))
            case "arrow":
                with pa.ipc.new_stream(str(path), TABLE.schema) as sink:
                    sink.write_table(TABLE)
            case "jsonl":
                path.write_text("".join(json.dumps(row) + "\n" for row in TABLE.to_pylist()))
            case "json":
                path.write_text(json.dumps(TABLE.to_pylist()))
            case "sqlite":
                FLAT.to_pandas().to_sql("films", sqlite3.connect(path), index=False, dtype={"seen": "BOOLEAN"})
            case "duckdb":
                with duckdb.connect(str(path)) as base:
                    base.register("given", TABLE)
                    base.execute("CREATE TABLE films AS SELECT * FROM given")
            case "xlsx":
                FLAT.to_pandas().to_excel(path, index=False)
            case _:
                separator = {"tsv": "\t", "csv.gz": ",", "csv": ",", "txt": ";"}[ending]
                sink = pa.BufferOutputStream()
                pa.csv.write_csv(FLAT, sink, pa.csv.WriteOptions(delimiter=separator))
                content = sink.getvalue().to_pybytes().replace(b"true", b"yes").replace(b"false", b"no")
                path.write_bytes(gzip.compress(content) if ending.endswith("gz") else content)

    @pytest.mark.parametrize(
        "name",
        ["films.csv", "films.tsv", "films.txt", "films.csv.gz", "films.parquet", "films.feather", "films.arrow",
         "films.jsonl", "films.json", "films.duckdb", "films.sqlite", "films.xlsx"],
    )  # fmt: skip
    def test_the_same_table_in_every_format_is_the_same_graph(self, tmp_path, name):
        self.write(tmp_path / name)
        graph, _ = read(tmp_path / name)
        assert (facts_of(graph), values_of(graph)) == self.expected()

    def test_a_database_that_is_read_in_pieces_is_the_same(self, tmp_path, monkeypatch):
        mixed, path = (None, 1, 2.5, "some", b"\xff\xfe", str(2**70), "x" * 90), tmp_path / "t.sqlite"
        rows = [(f"n{place}", cell, place, b"a picture", place % 2) for place, cell in enumerate(mixed * 3)]
        with contextlib.closing(sqlite3.connect(path)) as base:
            base.execute("CREATE TABLE t (a TEXT, b, c INT, d BLOB, e BOOLEAN)")
            base.executemany("INSERT INTO t VALUES (?, ?, ?, ?, ?)", rows)
            base.execute("INSERT INTO t VALUES ('n99', CAST(x'ff41' AS TEXT), 99, NULL, NULL)")
            base.commit()
        (whole,) = load(path)
        assert whole.columns["b"].to_pylist()[:5] == [None, "1", "2.5", "some", None]
        assert whole.columns["b"].to_pylist()[-1] == "\ufffdA" and whole.columns["d"].null_count == 22
        assert str(whole.columns["e"].type) == "bool" and str(whole.columns["c"].type) == "int64"
        for bound, small in (("_MOST_ROWS", 3), ("_PIECE", 100)):
            monkeypatch.setattr(loading, bound, small)
            assert load(path)[0].columns == whole.columns

    @pytest.mark.parametrize("name", ["films.sqlite", "films.duckdb"])
    def test_a_database_may_have_empty_tables(self, tmp_path, name):
        self.write(tmp_path / name)
        connect = sqlite3.connect if name.endswith("sqlite") else duckdb.connect
        with contextlib.closing(connect(str(tmp_path / name))) as base:
            base.execute("CREATE TABLE empty (a TEXT, b INTEGER)")
            base.commit()
        graph, _ = read(tmp_path / name)
        assert (facts_of(graph), values_of(graph)) == self.expected()

    def test_frames_are_tables(self):
        frames = (TABLE, FLAT.to_pandas(), pl.DataFrame(FLAT), pl.DataFrame(TABLE).lazy(), TABLE.to_pandas(),
                  FLAT.to_pandas().set_index("name"))  # fmt: skip
        for frame in frames:
            graph = kg.KnowledgeGraph.from_frame(frame, "films")
            assert (facts_of(graph), values_of(graph)) == self.expected()
        with pytest.raises(UserError, match="a list is not a table"):
            kg.KnowledgeGraph.from_frame([1, 2])

    def test_frames_by_name_refer_to_each_other(self):
        films = pd.DataFrame({"title": ["Alien", "Dune", "Zodiac"], "director_id": [1, 2, 3]})
        directors = pd.DataFrame({"id": [1, 2, 3], "name": ["Scott", "Lynch", "Fincher"], "born": [1937, 1946, 1962]})
        graph = kg.KnowledgeGraph.from_frame({"films": films, "directors": directors})
        assert ("Dune", "director", "Lynch") in facts_of(graph)

    def test_a_column_of_several_types_is_read_as_text(self, file):
        frame = pd.DataFrame({"name": ["a", 300, 2.0], "size": [1, 2, 3]})
        assert {name for name, *_ in values_of(kg.KnowledgeGraph.from_frame(frame))} == {"a", "300", "2"}
        path = file("t.jsonl", '{"name": "a", "size": 1}\n{"name": 300, "size": 2}\n')
        assert {name for name, *_ in values_of(read(path)[0])} == {"a", "300"}

    def test_records_within_records_are_columns(self, file):
        path = file("t.json", json.dumps([{"name": "a", "medals": {"gold": 1}}, {"name": "b", "medals": {"gold": 2}}]))
        assert values_of(read(path)[0]) == {("a", "medals.gold", 1, "number"), ("b", "medals.gold", 2, "number")}

    def test_features_of_geojson_are_things_in_places(self, file):
        features = [
            {
                "type": "Feature",
                "id": f"q{place}",
                "properties": {"title": f"quake {place}", "time": 1_517_966_773_840, "box": [0.5, 1.5]},
                "geometry": {"type": "Point", "coordinates": [place + 0.5, 60.0 + place]},
            }
            for place in range(4)
        ]
        path = file("quakes.geojson", json.dumps({"type": "FeatureCollection", "features": features}))
        found = {(name, attribute): (number, unit) for name, attribute, number, unit in values_of(read(path)[0])}
        assert found["quake 2", "longitude"] == (2.5, "degrees") and found["quake 2", "latitude"] == (62, "degrees")
        assert found["quake 2", "time"] == (pytest.approx(2018 + 37.0599 / 365, abs=1e-6), "date")
        assert kinds(path)["box"] == "left out"  # numbers name no things

    def test_json_ld_is_rdf_still(self, file):
        path = file("t.json", '{"@id": "http://x/a", "http://x/r": {"@id": "http://x/b"}}')
        assert facts_of(read(path)[0]) == {("http://x/a", "http://x/r", "http://x/b")}

    def test_sheets_of_a_workbook_are_tables(self, tmp_path):
        path = tmp_path / "book.xlsx"
        with pd.ExcelWriter(path) as book:
            pd.DataFrame({"title": ["Alien", "Dune", "Zodiac"], "director": ["Scott", "Lynch", "Fincher"]}).to_excel(
                book, sheet_name="films", index=False
            )
            pd.DataFrame({"name": ["Scott", "Lynch", "Fincher"], "born": [1937, 1946, 1962]}).to_excel(
                book, sheet_name="directors", index=False
            )
        assert ("Dune", "director", "Lynch") in facts_of(read(path)[0])

    def test_a_parquet_file_of_facts_is_read_as_facts(self, tmp_path):
        pa.parquet.write_table(pa.table({"head": ["a"], "relation": ["r"], "tail": ["b"]}), tmp_path / "f.parquet")
        assert facts_of(read(tmp_path / "f.parquet")[0]) == {("a", "r", "b")}

    def test_facts_parted_by_semicolons_are_facts(self, file):
        assert facts_of(read(file("f.csv", "subject;predicate;object\na;r;b\nb;r;c\n"))[0]) == {
            ("a", "r", "b"),
            ("b", "r", "c"),
        }

    def test_wide_tables_and_facts_meet_in_one_graph(self, file):
        graph, _ = read(file("t.csv", "name,size (m)\na,1\nb,2\n"), file("f.tsv", "a\tknows\tb\n"))
        assert facts_of(graph) == {("a", "knows", "b")} and len(values_of(graph)) == 2

    @pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "cp1252"])
    def test_encodings(self, file, encoding):
        path = file("t.csv", "name,size\nJosé,1\nZoë,2\n".encode(encoding))
        assert {name for name, *_ in values_of(read(path)[0])} == {"José", "Zoë"}

    def test_quotes_line_ends_and_blanks_around_them(self, file):
        content = 'name,  motto, size\n"Ada, the ""first""", "x", 1\n"two\nlines",  "x",2\n"c","y", 3\nd, y, 5\n'
        names = {name for name, *_ in values_of(read(file("t.csv", content))[0])}
        assert names == {'Ada, the "first"', "two\nlines", "c", "d"}


class TestNetworks:
    def network(self):
        network = networkx.DiGraph()
        network.add_node("a", size=1.5, color="red")
        network.add_node("b", size=2.5, color="blue")
        network.add_node("c", size=3.5, color="red")
        network.add_edge("a", "b", relation="knows", weight=2)
        network.add_edge("b", "c", relation="knows")
        network.add_edge("a", "c")
        return network

    def check(self, graph):
        facts = facts_of(graph)
        assert {("a", "knows", "b"), ("b", "knows", "c"), ("a", "linked_to", "c"), ("a", "color", "red")} <= facts
        assert {value[:3] for value in values_of(graph)} == {("a", "size", 1.5), ("b", "size", 2.5), ("c", "size", 3.5)}

    def test_a_networkx_graph_is_a_graph(self):
        self.check(kg.KnowledgeGraph.from_frame(self.network(), "people"))

    @pytest.mark.parametrize("ending", ["graphml", "gexf", "gml"])
    def test_network_files(self, tmp_path, ending):
        path = tmp_path / f"people.{ending}"
        getattr(networkx, f"write_{ending}")(self.network(), str(path))
        graph, report = read(path)
        self.check(graph)
        assert "weight of 1 links left out: a link has no values of its own" in report.tables[1].remarks

    @pytest.mark.parametrize("ending", ["graphml", "gexf", "gml"])
    def test_a_broken_network_file_is_named(self, file, ending):
        path = file(f"t.{ending}", "nothing")
        assert problem_of(path).startswith(f"{path} cannot be read as {ending}: ")


class TestLayout:
    @pytest.mark.parametrize(
        "content",
        [
            "name,height,weight\nAda,170,60\nBob,180,80\n",
            "name,height\nAda,170\nBob,180\n",
            "title,genre,year\nAlien,Horror,1979\nDune,Sci-Fi,1984\n",
            "a,b,c,d,e\nx,1,2,3,4\n",
            "name,mass,kind\nA,1,p\nB,2,p\nC,heavy,q\nD,4,q\nE,5,p\nF,6,q\n",
            "name,mass\nA,1\nB,2\nC,heavy\nD,4\nE,5\n",
            "code,name,continent\n" + "".join(f"c{n},country {n},{'EuropeAsia'[n % 2 * 6 :]}\n" for n in range(12)),
        ],
    )
    def test_wide(self, file, content):
        _, report = read(file("t.csv", content), mapping=None, skip_bad_lines="heavy" in content)
        assert [guess.table for guess in report.tables] == ["t"]

    @pytest.mark.parametrize(
        "content",
        [
            "Oslo,in,Norway\nKyoto,in,Japan\n",
            "Ada,born,1815-12-10\nAda,in,London\nAda,no,7\n",
            "head,relation,tail\na,r,5\nb,r,6\n",
            "17,4,12\n3,4,17\n",
            "Oslo,population,700000,persons\n",
            "person,likes,film\nAda,likes,Alien\nBob,likes,Dune\n",
        ],
    )
    def test_statements(self, file, content):
        _, report = read(file("t.csv", content))
        assert not report.tables and not any("--wide" in remark for remark in report.remarks())

    def test_a_first_row_that_may_be_a_header_is_spoken_of(self, file, monkeypatch):
        content = "title,kind,stars\nA,p,3\nB,q,4\nC,q,x\n"
        path = file("t.csv", content)
        graph, report = read(path)
        (remark,) = [remark for remark in report.remarks() if "--wide FILE" in remark]
        assert remark.startswith(f"{path}: ") and ("title", "kind", "stars") in facts_of(graph)
        monkeypatch.setattr(sys, "stdin", TextIOWrapper(BytesIO(content.encode())))
        assert any(remark.startswith("standard input: ") for remark in read(Path("-"))[1].remarks())

    def test_names_alone_say_what_they_might_be(self, file):
        with pytest.raises(UserError, match=r"table of names: t\.csv .*--wide FILE"):
            read(file("t.csv", "name,mass\nA,1\nB,heavy\nC,light\n"))

    def test_what_is_said_goes_before_what_is_guessed(self, file):
        path = file("t.csv", "country,capital,currency\nNorway,Oslo,krone\nJapan,Tokyo,yen\nSweden,Stockholm,krona\n")
        assert not read(path)[1].tables
        assert read((path, TableKind.WIDE), mapping={"t": {"columns": {"capital": "relation"}}})[1].tables
        assert facts_of(read((path, TableKind.WIDE), mapping={"t": {"columns": {"capital": "relation"}}})[0]) == {
            ("Norway", "capital", "Oslo"), ("Japan", "capital", "Tokyo"), ("Sweden", "capital", "Stockholm"),
        }  # fmt: skip


def columns(**said):
    """A mapping that says something of columns of the table t."""
    return {"t": {"columns": said}}


class TestMappings:
    def test_what_was_guessed_can_be_written_and_given_back(self, file, tmp_path):
        path = file("films.csv", FILMS)
        graph, report = read(path)
        text = write_mapping(report.tables)
        (tmp_path / "films.toml").write_text(text)
        again, second = read(path, mapping=tmp_path / "films.toml")
        assert (facts_of(again), values_of(again)) == (facts_of(graph), values_of(graph))
        assert (
            tomllib.loads(write_mapping(second.tables))["films"]["columns"]["budget"]
            == tomllib.loads(text)["films"]["columns"]["budget"]
        )
        assert "# its cells are in dollars" in text

    def test_a_mapping_says_some_and_the_rest_is_guessed(self, file):
        columns = {
            "budget": {"kind": "number", "to": "euros", "unit": "euros"},
            "note": "label",
            "director": {"kind": "relation", "name": "made_by"},
            "genres": "left out",
        }
        mapping = {"films": {"type": "film", "columns": columns}}
        with pytest.raises(UserError, match="is in dollars, which cannot be converted to euros"):
            read(file("films.csv", FILMS), mapping=mapping)
        del columns["budget"]
        graph, _ = read(file("films.csv", FILMS), mapping=mapping)
        facts = facts_of(graph)
        assert ("Alien", "made_by", "Ridley Scott") in facts and ("Alien", "is_a", "film") in facts
        assert not [fact for fact in facts if fact[1] == "genres"]
        assert labels_of(graph)["Alien"].startswith("someone wants")

    def test_a_mapping_says_how_a_relation_reads(self, file, tmp_path):
        said = {"director": {"kind": "relation", "phrase": "was made by"}}
        graph, report = read(file("films.csv", FILMS), mapping={"films": {"columns": said}})
        assert sentence(read_words("things made by Ridley Scott", graph.vocabulary), graph.vocabulary) == (
            "things made by Ridley Scott"
        )
        (tmp_path / "films.toml").write_text(write_mapping(report.tables))
        again, _ = read(file("films.csv", FILMS), mapping=tmp_path / "films.toml")
        assert again.relation_phrases == graph.relation_phrases != read(file("films.csv", FILMS))[0].relation_phrases

    def test_units_can_be_converted(self, file):
        path = file("t.csv", "name,height_m\nA,2\nB,1\n")
        mapping = {"t": {"columns": {"height_m": {"kind": "number", "to": "cm"}}}}
        assert values_of(read(path, mapping=mapping)[0]) == {
            ("A", "height", 200, "centimetres"), ("B", "height", 100, "centimetres")
        }  # fmt: skip

    def test_a_table_can_be_skipped(self, tmp_path):
        path = database(tmp_path / "films.sqlite")
        graph, _ = read(path, mapping={"cast_of": {"skip": True}})
        assert "actor" not in graph.relations.names.to_pylist()
        written = tmp_path / "mapping.toml"
        written.write_text(write_mapping(guess(load(path, {}))).replace("[cast_of]\n", "[cast_of]\nskip = true\n"))
        assert facts_of(read(path, mapping=written)[0]) == facts_of(graph)

    @given(
        st.text(st.characters(codec="utf-8"), min_size=1, max_size=12),
        st.text(st.characters(codec="utf-8"), max_size=20),
    )
    @settings(max_examples=60)
    def test_any_names_come_through_a_mapping_file(self, table, column):
        frame = pa.table({"name": ["a", "b"], f"x{column}": [1.5, 2.5]})
        graph_tables = frame_tables(frame, table)
        text = write_mapping(guess(graph_tables))
        data = checked(tomllib.loads(text), "m")
        assert guess(graph_tables, data)[0].mapping.columns.keys() == {f"x{column}"}

    @pytest.mark.parametrize(
        ("mapping", "problem"),
        [
            (columns(heigth="number"), "'t' has no such column: unknown column 'heigth'; did you mean 'height'?"),
            ({"u": {}}, "the mapping: unknown table 'u': choose t"),
            ({"t": {"keys": "name"}}, "the mapping: table 't': unknown setting 'keys'; did you mean 'key'?"),
            ({"t": {"key": "nam"}}, "'t' has no such column: unknown column 'nam'; did you mean 'name'?"),
            (columns(height="nunber"), "the mapping: column 'height' of 't': kind cannot be 'nunber': choose"),
            (columns(height={"kind": "number", "units": "m"}), "unknown setting 'units'; did you mean 'unit'?"),
            (columns(height={"kind": "number", "unit": "m", "to": "kg"}), "cannot be converted to kilograms"),
            (columns(height={"kind": "relation", "references": "u.id"}), "unknown table 'u'"),
            (columns(height={"kind": "number", "phrase": "is"}), "`phrase` says how a relation reads, and a number is"),
            ({"t": 5}, "[t] must be a section"),
        ],
    )  # fmt: skip
    def test_a_mapping_that_cannot_be_meant(self, file, mapping, problem):
        assert problem in problem_of(file("t.csv", "name,height\na,1\nb,2\n"), mapping=mapping)

    def test_a_mapping_file_that_is_none(self, file, tmp_path):
        path = file("t.csv", "name,height\na,1\nb,2\n")
        assert "no such file" in problem_of(path, mapping=tmp_path / "none.toml")
        assert "cannot be read as TOML" in problem_of(path, mapping=file("m.toml", "[t\n"))
        assert "there is no wide table to map" in problem_of(file("f.tsv", "a\tr\tb\n"), mapping={"t": {}})


class TestShortRows:
    @pytest.mark.parametrize("blank", ["", " "])  # behind a blank, quotes are read by another reader
    def test_cells_that_are_left_away_at_the_end_are_missing(self, file, blank):
        """Spreadsheets and editors write no separators behind the last cell that is filled."""
        whole = f'\nname,size,{blank}"colour"\na,1,red\n\n"b\nb",2,\nc,3,{blank}"red"\nd,,\ne,5,blue\n'
        short = whole.replace('"b\nb",2,', '"b\nb",2').replace("d,,", "d")
        (table,), (same,) = load(file("short.csv", short)), load(file("whole.csv", whole))
        assert table.columns == same.columns
        assert table.remarks == ("2 rows have fewer cells than the header: the last ones are taken as empty",)


class TestBadTables:
    @pytest.mark.parametrize(
        ("name", "content", "problem"),
        [
            ("t.csv", "name,size,size\na,1,2\nb,3,4\n", ": columns 2 and 3 are both called 'size': rename one of them"),
            (
                "t.csv",
                "name,a,b,c,d\nx,1,2,3,4\ny,1\nz,1,2,3,4,5\n",
                ":4: the header has 5 columns, this row has 6: z,1,2",
            ),
            ("t.csv", 'name,a,b,c,d\nx, "1",2,3,4\ny,1\nz,1,2,3,4,5\n', ":4: the header has 5 columns, this row has 6"),
            ("t.parquet", "nothing", " cannot be read: "),
            ("t.arrow", "nothing", " cannot be read: "),
            ("t.sqlite", "nothing", " cannot be read as a SQLite database: "),
            ("t.duckdb", "nothing", " cannot be read as a DuckDB database: "),
            ("t.xlsx", "nothing", " cannot be read as a workbook: "),
            ("t.jsonl", '{"a": 1}\n{"a": \n', ":2: not JSON: "),
            ("t.jsonl", '{"a": 1}\n[1]\n', ":2: expected an object"),
            ("t.json", '[{"a": 1},\n {"b"]', ":2: "),
            ("t.json", '{"a": 1}', " holds one object"),
            ("t.parquet.gz", "nothing", " is not a whole gzip file"),
        ],
    )
    def test_a_broken_file_is_named(self, file, name, content, problem):
        path = file(name, content.encode())
        assert problem_of(path).startswith(f"{path}{problem}")

    def test_a_cell_of_another_type_is_named_by_line_and_column(self, file):
        rows = "".join(f"thing {n},{n}.5,2020-01-0{n % 9 + 1}\n" for n in range(20))
        path = file("t.csv", f"name,size,day\n{rows}odd,many,2020-01-01\n")
        message = problem_of(path)
        assert (
            message.startswith(f"{path}:22: column 'size': 'many' is not a number; ") and "--skip-bad-lines" in message
        )
        graph, report = read(path, skip_bad_lines=True)
        assert report.bad_lines == 1 and len(values_of(graph)) == 41
        path = file("t.csv", f"name,size,day\n{rows}odd,1,2020-02-31\n")
        assert problem_of(path).startswith(f"{path}:22: column 'day': there is no day 31 in month 2 of 2020")

    def test_a_unit_of_another_dimension_is_named(self, file):
        rows = "".join(f"thing {n},{n} km\n" for n in range(20))
        path = file("t.csv", f"name,distance\n{rows}odd,5 kg\n")
        assert problem_of(path).startswith(
            f"{path}:22: column 'distance': '5 kg' is in kilograms, which cannot be converted to kilometres"
        )

    def test_a_failed_import_leaves_the_old_graph(self, file, tmp_path):
        good, bad = file("good.csv", "name,size\na,1\nb,2\n"), file("bad.csv", "name,size,size\na,1,2\nb,3,4\n")
        out = tmp_path / "graph"
        assert command("import", good, "--out", out)[0] == 0
        before = {path.name: path.read_bytes() for path in out.iterdir()}
        code, _, errors = command("import", bad, "--out", out, "--overwrite")
        assert code == 2 and "both called 'size'" in errors
        assert {path.name: path.read_bytes() for path in out.iterdir()} == before


def command(*arguments, given=None):
    """The exit code and the two outputs of a kgreckon command."""
    program = [sys.executable, "-m", "kgreckon", *map(str, arguments)]
    done = subprocess.run(program, input=given, capture_output=True, env=os.environ | {"COLUMNS": "120"})
    return done.returncode, done.stdout.decode(), done.stderr.decode()


class TestCommand:
    def test_a_dry_run_shows_and_writes_nothing(self, file, tmp_path):
        code, shown, _ = command(
            "import", file("films.csv", FILMS), "--dry-run", "--write-mapping", tmp_path / "films.toml"
        )
        assert (
            code == 0
            and "films, 6 rows, each is_a film: its rows are named by title" in shown
            and "The first facts" in shown
        )
        assert "11,000,000 dollars" in shown and "long texts" in shown
        assert {path.name for path in tmp_path.iterdir()} == {"films.csv", "films.toml"}

    def test_one_row_is_one_row(self, file):
        path = file("films.csv", "title,budget\nAlien,11\n")
        code, shown, _ = command("import", path, "--wide", path, "--dry-run")
        assert code == 0 and "films, 1 row, each is_a film: its rows are named by title\n" in shown

    def test_the_mapping_stays_with_the_graph(self, file, tmp_path):
        code, shown, notes = command("import", file("films.csv", FILMS), "--out", tmp_path / "g")
        assert code == 0 and "its rows are named by title" in notes and shown.count("\n") == 1
        code, again, _ = command(
            "import", file("films.csv", FILMS), "--mapping", tmp_path / "g" / "mapping.toml", "--out", tmp_path / "h"
        )
        assert code == 0 and again.partition(":")[2] == shown.partition(":")[2]
        mapping = (tmp_path / "g" / "mapping.toml").read_bytes()
        assert command("phrase", tmp_path / "g", "director", "was made by")[0] == 0
        assert (tmp_path / "g" / "mapping.toml").read_bytes() == mapping and not check_folder(tmp_path / "g").is_damaged
        (tmp_path / "g" / "mapping.toml").write_bytes(mapping + b" ")
        check = check_folder(tmp_path / "g")
        whole = {"graph": State.WHOLE, "changes": State.WHOLE}
        assert check.parts() == {**whole, "mapping": State.DAMAGED} and "edited" in str(check.as_json())

    def test_a_mapping_replaces_nothing_but_a_file_that_nobody_writes(self, file, tmp_path):
        source = file("films.csv", FILMS)
        code, _, errors = command("import", source, "--dry-run", "--write-mapping", "/dev/null")
        assert code == 2 and errors.splitlines()[-1] == (
            "error: /dev/null is not a file that can be replaced: name another"
        )
        with new_file(tmp_path / "films.toml") as path:
            path.write_text("ours")
            code, _, errors = command("import", source, "--dry-run", "--write-mapping", tmp_path / "films.toml")
            assert code == 2 and "films.toml is being written by another process" in errors
        assert (tmp_path / "films.toml").read_text() == "ours"

    def test_without_a_place_to_write_nothing_is_read(self, file):
        code, _, errors = command("import", file("films.csv", FILMS))
        assert code == 2 and "--out" in errors and "--dry-run" in errors

    @pytest.mark.parametrize(
        ("arguments", "given", "told"),
        [
            (("--triples", "/dev/stdin"), b"a\tr\tb\n", "2 entities, 1 facts"),
            (("-",), b"a\tr\tb\n", "2 entities, 1 facts"),
            (("-",), b"<a:a> <a:r> <a:b> .\n", "2 entities, 1 facts"),
            (("-",), FILMS.encode(), "6 values of 3 attributes".replace("6", "17")),
            (("-",), gzip.compress(FILMS.encode()), "17 values of 3 attributes"),
            (("-",), b'{"name": "a", "size": 1}\n{"name": "b", "size": 2}\n', "2 values of 1 attributes"),
        ],
    )
    def test_standard_input_is_a_source(self, tmp_path, arguments, given, told):
        code, shown, errors = command("import", *arguments, "--out", tmp_path / "g", given=given)
        assert code == 0 and told in shown, errors

    @pytest.mark.parametrize(
        ("arguments", "given", "problem"),
        [
            (
                ("--triples", "/dev/stdin"),
                b"a\tr\tb\nx\n",
                "error: /dev/stdin:2: expected 3 tab-separated fields, found 1",
            ),
            (("-",), b"", "error: standard input is empty"),
            (("-",), b"name,size,size\na,1,2\nb,3,4\n", "error: standard input: columns 2 and 3 are both called"),
        ],
    )
    def test_what_is_wrong_with_standard_input_is_named(self, tmp_path, arguments, given, problem):
        code, _, errors = command("import", *arguments, "--out", tmp_path / "g", given=given)
        assert code == 2 and errors.startswith(problem) and not (tmp_path / "g").exists()

    def test_a_question_can_be_put_to_a_file(self, file):
        code, shown, _ = command("ask", file("films.csv", FILMS), "(rp,(^director),(e,(David Lynch)))")
        assert code == 0 and "Dune" in shown and "Eraserhead" in shown and "Alien" not in shown


def test_a_missing_library_is_named_with_its_extra(file):
    program = (
        "import sys; sys.modules['fastexcel'] = None; sys.argv = ['kgreckon', 'import', 't.xlsx', '--out', 'g']\n"
        "from kgreckon.cli import main; main()"
    )
    path = file("t.xlsx", b"PK")
    done = subprocess.run([sys.executable, "-c", program], cwd=path.parent, capture_output=True, text=True)
    assert done.returncode == 2 and "pip install 'kgreckon[tables]'" in done.stderr
