"""The three graphs of the benchmark as they are published: what is read equals the table of the paper."""

import numpy as np
import pytest

from kgreckon.exact import ask
from kgreckon.graph import open_graph, open_graph_folder, read_sources
from kgreckon.graph.literals import read_date
from kgreckon.query.paper import parse

# Folder: distinct relation triples, entities, relation types, attributes kept, distinct attribute triples kept.
TABLE = {
    "FB15K": (592_213, 14_951, 1_345, 15, 25_311),
    "DB15K": (89_197, 12_842, 279, 30, 41_411),
    "YAGO15K": (122_886, 15_404, 32, 7, 23_520),
}
REMARKS = {
    "FB15K": [],
    "DB15K": ["9,831 repeated facts counted once"],
    "YAGO15K": ["12 dates dropped because their year is unknown"],
}


@pytest.fixture(scope="module")
def read(data_folder):
    """Read a graph once, with its report."""
    read_so_far = {}

    def read(name):
        if name not in read_so_far:
            read_so_far[name] = read_sources([data_folder / name], top_attributes=TABLE[name][3])
        return read_so_far[name]

    return read


def units_of(graph):
    """The unit of each attribute by its label."""
    return {
        graph.attributes.label(place): graph.vocabulary.attribute_unit(place) for place in range(len(graph.attributes))
    }


def value(graph, entity, attribute):
    """The one value that an attribute takes on an entity."""
    vocabulary = graph.vocabulary
    (row,) = graph.values_of.row(vocabulary.entity_id(entity), vocabulary.attribute_id(attribute)).tolist()
    return graph.values.number_at(row)


@pytest.mark.parametrize("name", TABLE)
def test_the_graph_has_the_size_that_the_paper_gives(read, name):
    graph, report = read(name)
    counts = (graph.facts, graph.entities, graph.relations, graph.attributes, graph.attribute_facts)
    assert tuple(len(counted) for counted in counts) == TABLE[name]
    assert (report.facts, report.values) == (len(graph.facts), len(graph.attribute_facts))
    assert report.bad_lines == 0 and report.remarks() == REMARKS[name]
    assert len(graph.follows.targets) == 2 * len(graph.facts)  # as the paper counts: once for each direction


@pytest.mark.parametrize("name", TABLE)
def test_values_are_finite_sorted_and_used(read, name):
    graph, _ = read(name)
    assert np.isfinite(graph.values.numbers).all()
    for unit in graph.values.units:
        assert (np.diff(graph.values.numbers[graph.values.rows_of(unit)]) > 0).all()
    assert len(np.unique(graph.attribute_facts.targets)) == len(graph.values)


@pytest.mark.parametrize("name", ["FB15K", "YAGO15K"])
def test_an_attribute_has_one_value_per_entity(read, name):
    graph, _ = read(name)
    assert (np.diff(graph.values_of.starts) == 1).all()


def test_the_numbers_of_fb15k_are_measured_as_their_attributes_say(read):
    graph, _ = read("FB15K")
    assert graph.values.units == ("degrees", "metres", "persons", "square metres", "years")
    units = units_of(graph)
    assert units["latitude"] == units["longitude"] == "degrees"
    assert units["population number"] == "persons" and units["area"] == "square metres"
    assert units["height meters"] == "metres" and units["date of birth"] == "years"
    assert sum(unit == "years" for unit in units.values()) == 10


def test_the_types_of_literals_are_the_units_of_the_other_two(read):
    db15k, yago15k = units_of(read("DB15K")[0]), units_of(read("YAGO15K")[0])
    assert db15k["budget"] == "double" and db15k["populationTotal"] == "integer" and db15k["birthDate"] == "date"
    assert db15k["foundingYear"] == "gYear"
    assert yago15k == {
        "hasLatitude": "degrees",
        "hasLongitude": "degrees",
        "wasBornOnDate": "date",
        "diedOnDate": "date",
        "wasCreatedOnDate": "date",
        "wasDestroyedOnDate": "date",
        "happenedOnDate": "date",
    }


def test_dates_come_out_as_they_are_meant(read):
    yago15k = read("YAGO15K")[0]
    assert value(yago15k, "Javier Bardem", "wasBornOnDate") == (1969 + 59 / 365, "date")
    assert value(yago15k, "Livonia, Michigan", "wasCreatedOnDate") == (1950, "date")  # written 1950.0000, in degrees
    assert value(yago15k, "Henry David Thoreau", "wasCreatedOnDate") == (read_date("1987-10-01"), "date")
    assert value(yago15k, "San Marino", "wasCreatedOnDate") == (read_date("301-09-03"), "date")  # written 301.0903
    db15k = read("DB15K")[0]
    assert value(db15k, "Aristotle", "birthDate") == (-383, "date")
    assert value(db15k, "Aristotle", "birthYear") == (-384, "gYear")


def test_things_of_fb15k_are_called_by_their_names(read):
    graph, report = read("FB15K")
    assert report.labels == len(graph.entities)
    assert graph.vocabulary.entity_label(graph.vocabulary.entity_id("/m/07dfk")) == "Tokyo"


def test_fb15k_saved_opens_and_answers(read, tmp_path):
    graph, _ = read("FB15K")
    graph.save(tmp_path / "graph")
    opened = open_graph(tmp_path / "graph")
    query = "(rap,(latitude),(np,(GreaterThan),(ap,(latitude),(e,(Tokyo)))))"
    answers = ask(opened, parse(query, opened.vocabulary)).tolist()
    assert answers == ask(graph, parse(query, graph.vocabulary)).tolist()
    latitude, tokyo = opened.vocabulary.attribute_id("latitude"), value(opened, "Tokyo", "latitude")[0]
    stated = opened.attribute_facts[opened.attribute_facts.labels == latitude]
    north = stated.sources[opened.values.numbers[stated.targets] > tokyo]
    assert answers == sorted(north.tolist()) and len(answers) > 1000


def test_an_mmkg_folder_opens_as_a_graph_that_can_be_saved_compressed(data_folder, read, tmp_path):
    graph = open_graph(data_folder / "YAGO15K", top_attributes=7)
    expected, _ = read("YAGO15K")
    graph.save(tmp_path / "graph", compress=True)
    opened = open_graph_folder(tmp_path / "graph")
    for one in (graph, opened):
        assert one.entities.names.equals(expected.entities.names)
        assert np.array_equal(one.facts.targets, expected.facts.targets)
        assert np.array_equal(one.values.numbers, expected.values.numbers)
