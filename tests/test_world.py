"""The embedded World graph: its size, its shape, and some things that are true of the world."""

import numpy as np
import pytest

from kgreckon.exact import ask
from kgreckon.graph.world import WORLD_FOLDER
from kgreckon.query import Builder


def test_it_is_small_on_disk_and_large_enough_to_ask(world_graph):
    assert sum(path.stat().st_size for path in WORLD_FOLDER.iterdir()) < 1_000_000
    assert 5_000 <= len(world_graph.entities) <= 15_000
    assert len(world_graph.attributes) >= 8 and len(world_graph.values.units) >= 5


def test_it_is_one_connected_whole(world_graph):
    facts = world_graph.facts
    component = np.arange(len(world_graph.entities))
    while True:  # labels run along the facts until nothing changes
        low = np.minimum(component[facts.sources], component[facts.targets])
        new = component.copy()
        np.minimum.at(new, facts.sources, low)
        np.minimum.at(new, facts.targets, low)
        if np.array_equal(new, component):
            break
        component = new[new]
    assert (component == 0).all()


def test_an_attribute_has_one_value(world_graph):
    stated = world_graph.attribute_facts
    assert len(set(zip(stated.sources.tolist(), stated.labels.tolist(), strict=True))) == len(stated)


def test_names_are_readable_and_differ_even_without_their_case(world_graph):
    names = world_graph.entities.names.to_pylist()
    assert len({name.casefold() for name in names}) == len(names)
    assert all(name == name.strip() and name.isprintable() for name in names)


@pytest.mark.parametrize(
    ("relation", "head", "tail"),
    [
        ("capital_of", "Tokyo", "Japan"),
        ("in_region", "Sapporo", "Hokkaido"),
        ("borders", "France", "Germany"),
        ("on_continent", "Brazil", "South America"),
        ("uses_currency", "Japan", "Japanese Yen"),
        ("in_timezone", "Sapporo", "Asia/Tokyo"),
        ("is_a", "Zürich Airport", "Airport"),
    ],
)
def test_facts(world_graph, relation, head, tail):
    _, the = Builder(world_graph.vocabulary).words()
    assert tail in [world_graph.entities.name(entity) for entity in ask(world_graph, the(relation, of=head))]


@pytest.mark.parametrize(
    ("attribute", "entity", "low", "high"),
    [
        ("latitude", "Sapporo", 43, 43.2),
        ("population", "Japan", 1.2e8, 1.3e8),
        ("elevation", "Zürich Airport", 425, 440),
        ("utc_offset", "Asia/Tokyo", 9, 9),
        ("area", "Germany", 3.5e5, 3.6e5),
    ],
)
def test_numbers(world_graph, attribute, entity, low, high):
    _, the = Builder(world_graph.vocabulary).words()
    (row,) = ask(world_graph, the(attribute, of=entity))
    assert low <= world_graph.values.numbers[row] <= high
