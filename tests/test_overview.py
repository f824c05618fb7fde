"""What the page begins with: what a graph is about, and example questions that it can answer."""

import numpy as np
import pytest

from films import films
from kgreckon.answers import Answerer
from kgreckon.exact import ask
from kgreckon.graph import GraphBuilder
from kgreckon.models.exact_model import ExactModel
from kgreckon.query.paper import parse
from kgreckon.query.words import read_question
from kgreckon.server import Limits, Service
from served import client_of

HOSTILE = ["<b>bold</b>", "‮‏مرحبا", "long" * 2_500, "a/b?c=d&e#f%20", "'\"&amp;\\ {{x}}"]


def service(graph):
    return Service(Answerer(ExactModel(graph)), Limits())


def hostile():
    builder = GraphBuilder()
    for place, name in enumerate(HOSTILE):
        builder.add_fact(name, "is a", HOSTILE[0])
        builder.add_fact(name, HOSTILE[0], HOSTILE[place - 1])
        builder.add_value(name, HOSTILE[0], float(place), HOSTILE[0])
    return builder.build()


def without_kinds_and_numbers():
    builder = GraphBuilder()
    for place in range(12):
        builder.add_fact(f"person {place}", "knows", f"person {place // 3}")
        builder.add_fact(f"person {place}", "lives_in", "Oslo" if place % 2 else "Rome")
    return builder.build()


def one_of_each():
    builder = GraphBuilder()
    builder.add_value("a", "size", 1.0)
    return builder.build()


class TestExamples:
    @pytest.mark.parametrize("made", [films, hostile, without_kinds_and_numbers, one_of_each])
    def test_all_are_words_that_are_read_and_answered_on_any_graph(self, made):
        graph = made()
        here = service(graph)
        for text in here.about.examples:
            question = read_question(text, graph.vocabulary)
            assert "(" not in text and len(text) <= 90
            answers = here.answerer.ask(question)
            assert answers.observed > 0

    def test_they_are_of_many_forms(self, client, world_graph):
        examples = client.get("/api/info").json()["examples"]
        questions = [read_question(text, world_graph.vocabulary) for text in examples]
        assert any(question.limit == 5 and question.sorting for question in questions)
        assert {question.aggregate for question in questions} >= {None, "count", "mean"}
        assert any(question.near for question in questions)
        assert any(" between " in text for text in examples)
        assert any(text.startswith("cities in countries that") for text in examples)

    def test_a_graph_without_kinds_has_some_and_one_without_facts_none(self):
        assert len(service(without_kinds_and_numbers()).about.examples) >= 3
        assert service(GraphBuilder().build()).about.examples == []


class TestOverview:
    def test_it_counts_kinds_relations_attributes_and_places(self, client, world_graph):
        overview = client.get("/api/overview").json()
        kinds = {each["kind"]["name"]: each for each in overview["kinds"]}
        for name, each in kinds.items():
            members = ask(world_graph, parse(f"(rp,(^is_a),(e,({name})))", world_graph.vocabulary)).tolist()
            names = {world_graph.vocabulary.entity_name(entity) for entity in members}
            assert each["count"] == len(names)
            assert each["things"] and {thing["name"] for thing in each["things"]} <= names
        assert kinds["Country"]["words"] == "countries"
        counts = [each["count"] for each in overview["kinds"]]
        assert counts == sorted(counts, reverse=True) and overview["num_kinds"] >= len(counts)
        for each in overview["attributes"]:
            assert each["count"] == sum(each["distribution"]["counts"])
        facts = np.bincount(world_graph.facts.labels)
        for each in overview["relations"]:
            assert each["facts"] == facts[world_graph.vocabulary.relation_id(each["relation"]) >> 1]
        assert overview["num_places"] > 6_000 and len(overview["places"]) == 200
        assert {"London", "Tokyo"} & {each["entity"]["name"] for each in overview["places"]}

    @pytest.mark.parametrize("made", [hostile, without_kinds_and_numbers, one_of_each, GraphBuilder().build])
    def test_it_is_there_for_any_graph(self, made):
        overview = client_of(service(made())).get("/api/overview").json()
        assert overview["places"] == [] and overview["num_kinds"] == len(overview["kinds"])
        assert bool(overview["things"]) == (len(made().entities) > 0)


class TestGroups:
    def groups(self, client, query):
        return client.post("/api/groups", json={"query": query}).json()

    def test_answers_are_counted_by_what_sets_them_apart(self, client, world_graph):
        found = self.groups(client, "cities in countries that use Euro")
        assert found["label"] in ("in country", "in timezone") and found["num_groups"] > 5
        names = world_graph.vocabulary
        cities = ask(world_graph, read_question("cities in countries that use Euro", names).query)
        assert found["things"] == len(cities)
        for group in found["groups"]:
            relation = names.relation_id(found["relation"])
            ends = world_graph.follows.row(names.entity_id(group["entity"]["name"]), relation ^ 1)
            assert group["count"] == len(np.intersect1d(ends, cities))
        assert sorted((group["count"] for group in found["groups"]), reverse=True) == [
            group["count"] for group in found["groups"]
        ]

    @pytest.mark.parametrize("query", ["Japan", "the population of cities in Japan", "how many cities in Japan"])
    def test_what_falls_into_no_groups_has_none(self, client, query):
        assert self.groups(client, query)["groups"] == []
