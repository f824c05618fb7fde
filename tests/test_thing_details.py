"""What the server says of one thing, kind, relation or attribute, against what the graph states."""

import numpy as np
import pytest
from jsonschema import Draft202012Validator

from kgreckon.answers import Answerer
from kgreckon.exact import ask
from kgreckon.graph import GraphBuilder
from kgreckon.models.exact_model import ExactModel
from kgreckon.models.held_back import HeldBack
from kgreckon.query.paper import parse
from kgreckon.runs.measuring import measure
from kgreckon.server import Limits, Service, thing_details
from served import client_of


@pytest.fixture(scope="module")
def get(client):
    """The answer at an address, which is what the description says."""
    described = client.get("/api").json()

    def got(path, **parameters):
        response = client.get(path, params=parameters)
        schema = described["paths"][path]["get"]["responses"][str(response.status_code)]["content"]["application/json"]
        Draft202012Validator({**schema["schema"], "components": described["components"]}).validate(response.json())
        return response.json()

    return got


def answers(graph, text):
    return {graph.vocabulary.entity_name(entity) for entity in ask(graph, parse(text, graph.vocabulary)).tolist()}


def names(entities):
    return [each["name"] for each in entities]


class TestThings:
    def test_all_facts_of_a_thing_are_there_in_groups_that_go_on(self, get, world_graph):
        japan = get("/api/entity", name="japan")
        assert japan["name"] == "Japan" and names(japan["kinds"]) == ["Country"] and japan["members"] == 0
        shown = {}
        for group in japan["facts"]:
            relation = "^" * group["inverse"] + group["relation"]
            shown[relation] = set(names(group["things"]))
            expected = answers(world_graph, f"(rp,({relation}),(e,(Japan)))")
            assert group["count"] == len(expected) and shown[relation] <= expected
        assert shown["on_continent"] == {"Asia"} and "^in_country" in shown
        entity = world_graph.vocabulary.entity_id("Japan")
        follows = world_graph.follows
        assert len(shown) == follows.offsets[entity + 1] - follows.offsets[entity]
        paged = []
        for offset in range(0, 400, 90):
            page = get("/api/facts", name="Japan", relation="in_country", inverse=True, offset=offset, limit=90)
            assert page["offset"] == offset
            paged += names(page["things"])
        assert len(paged) == page["count"] == len(set(paged))
        assert set(paged) == answers(world_graph, "(rp,(^in_country),(e,(Japan)))")
        degrees = degrees_of(world_graph, paged)
        assert degrees == sorted(degrees, reverse=True)

    def test_a_value_has_its_place_among_those_of_the_same_kind(self, get, world_graph):
        names_, values = world_graph.vocabulary, world_graph.values
        attribute = names_.attribute_id("population")
        countries = [names_.entity_id(name) for name in answers(world_graph, "(rp,(^is_a),(e,(Country)))")]
        rows = [world_graph.values_of.row(country, attribute) for country in countries]
        numbers = {country: values.numbers[row[0]] for country, row in zip(countries, rows, strict=True) if len(row)}
        own = numbers[names_.entity_id("Japan")]
        (value,) = [each for each in get("/api/entity", name="Japan")["values"] if each["attribute"] == "population"]
        assert value["value"] == own and value["unit"] == "persons"
        assert value["rank"]["larger"] == sum(number > own for number in numbers.values())
        assert value["rank"]["of"] == len(numbers) and value["rank"]["kind"]["name"] == "Country"

    def test_what_is_near_by_value_is_the_nearest_of_its_kind(self, get, world_graph):
        near = get("/api/near", name="Japan", attribute="population", limit=6)
        values = [each["value"]["value"] for each in near["values"]]
        assert values == sorted(values, reverse=True) and len(values) == 7
        own = next(each["value"]["value"] for each in near["values"] if each["entity"]["name"] == "Japan")
        farthest = max(abs(value - own) for value in values)
        everyone = get("/api/values", attribute="population", kind="Country", limit=100)["values"]
        nearer = {each["entity"]["name"] for each in everyone if abs(each["value"]["value"] - own) < farthest}
        assert nearer <= {each["entity"]["name"] for each in near["values"]}
        assert "nothing is near" in get("/api/near", name="Tokyo", attribute="literacy")["error"]

    def test_an_exact_answerer_finds_nothing_missing(self, get):
        missing = get("/api/missing", name="Japan")
        assert missing["facts"] == missing["values"] == [] and missing["calibration"] == "certain"

    def test_what_is_missing_is_not_stated_and_as_likely_as_an_answer_says(self, reckoner, monkeypatch):
        monkeypatch.setattr(thing_details, "_POSSIBLE", 0.01)  # of a model this small nothing is likely
        client, graph = client_of(reckoner), reckoner.graph
        facts, values = 0, 0
        for entity in range(len(graph.entities)):
            name = graph.vocabulary.entity_name(entity)
            stated = client.get("/api/entity", params={"name": name}).json()
            missing = client.get("/api/missing", params={"name": name}).json()
            known = {each["attribute"] for each in stated["values"]}
            assert not known & {each["attribute"] for each in missing["values"]}
            for each in missing["values"]:
                assert each["low"] <= each["estimate"] <= each["high"] and 0.25 <= each["chance"] <= 1
            chances = [each["probability"] for each in missing["facts"]]
            assert chances == sorted(chances, reverse=True) and all(0.01 <= chance <= 1 for chance in chances)
            for fact in missing["facts"][:1]:
                query = f"(rp,({'^' * fact['inverse']}{fact['relation']}),(e,({name})))"
                asked = {"query": query, "only": "inferred", "limit": 100, "above": 0}
                found = client.post("/api/ask", json=asked).json()["answers"]
                (answer,) = [each for each in found if each["name"] == fact["entity"]["name"]]
                assert answer["score"] == pytest.approx(fact["probability"], abs=1e-4)
                facts += 1
            values += len(missing["values"])
        assert facts and values

    def test_names_are_text_whatever_they_hold(self):
        hostile = ["<img src=x onerror=alert(1)>", "‮مرحبا", "x" * 10_000, "a\nb\u0000c", "'\"&;"]
        builder = GraphBuilder()
        for name in hostile:
            builder.add_fact(name, "is a", "Thing")
            builder.add_value(name, "size", float(len(name)), "m")
        client = client_of(Service(Answerer(ExactModel(builder.build())), Limits()))
        for name in hostile:
            stated = client.get("/api/entity", params={"name": name})
            assert stated.status_code == 200 and stated.json()["name"] == name
        shown = client.get("/api/kind", params={"name": "Thing"}).json()
        assert set(names(shown["things"])) == set(hostile)


def degrees_of(graph, entities):
    places = [graph.vocabulary.entity_id(name) for name in entities]
    both = (graph.follows, graph.values_of)
    ends = [(rows.starts[rows.offsets[places]], rows.starts[rows.offsets[np.add(places, 1)]]) for rows in both]
    return sum(high - low for low, high in ends).tolist()


class TestOverviews:
    def test_a_kind_says_how_many_of_its_things_have_what(self, get, world_graph):
        kind = get("/api/kind", name="Airport")
        airports = answers(world_graph, "(rp,(^is_a),(e,(Airport)))")
        assert kind["count"] == len(airports) and kind["relation"] == "is_a" and set(names(kind["things"])) <= airports
        (elevation,) = [each for each in kind["attributes"] if each["attribute"] == "elevation"]
        assert sum(elevation["distribution"]["counts"]) == elevation["count"] <= kind["count"]
        assert elevation["smallest"]["value"]["value"] <= elevation["largest"]["value"]["value"]
        assert elevation["largest"]["entity"]["name"] in airports
        served = next(each for each in kind["relations"] if each["relation"] == "serves" and not each["inverse"])
        serving = answers(world_graph, "(rp,(^serves),(rp,(^is_a),(e,(City))))") & airports
        assert len(serving) <= served["count"] <= kind["count"]
        assert "nothing is stated to be of the kind" in get("/api/kind", name="Japan")["error"]

    def test_a_relation_counts_its_ends(self, get, world_graph):
        relation = get("/api/relation", name="in_country")
        facts = world_graph.facts[world_graph.facts.labels == world_graph.relations.find("in_country")]
        assert relation["facts"] == len(facts) and relation["quality"] is None
        assert relation["heads"]["count"] == len(np.unique(facts.sources)) and relation["heads"]["inverse"]
        assert relation["tails"]["count"] == len(np.unique(facts.targets)) and not relation["tails"]["inverse"]
        counted = {each["entity"]["name"]: each["count"] for each in relation["tails"]["ends"]}
        assert counted["Japan"] == len(answers(world_graph, "(rp,(^in_country),(e,(Japan)))"))
        assert list(counted.values()) == sorted(counted.values(), reverse=True)
        assert {each["entity"]["name"] for each in relation["tail_kinds"]} == {"Country"}
        ends = [get("/api/ends", relation="in_country", offset=offset, limit=100)["ends"] for offset in (0, 100, 200)]
        assert sum(each["count"] for page in ends for each in page) == len(facts)

    def test_an_attribute_has_its_extremes_and_the_kinds_that_have_it(self, get, world_graph):
        found = get("/api/attribute", name="population")
        rows = world_graph.attribute_facts.targets[
            world_graph.attribute_facts.labels == world_graph.attributes.find("population")
        ]
        numbers = np.sort(world_graph.values.numbers[rows])
        assert found["values"] == len(numbers) == sum(found["distribution"]["counts"])
        assert [each["value"]["value"] for each in found["smallest"]] == numbers[: len(found["smallest"])].tolist()
        assert [each["value"]["value"] for each in found["largest"]] == numbers[::-1][: len(found["largest"])].tolist()
        assert found["quartiles"][1] == pytest.approx(float(np.median(numbers)))
        assert found["mean"] == pytest.approx(float(np.mean(numbers)))
        counts = {each["entity"]["name"]: (each["count"], each["of"]) for each in found["kinds"]}
        assert all(count <= of for count, of in counts.values()) and counts["Country"][0] > 200
        second = get("/api/values", attribute="population", order="smallest", offset=5, limit=5)
        assert [each["value"]["value"] for each in second["values"]] == numbers[5:10].tolist()

    def test_the_quality_report_is_given_for_the_run_and_its_parts(self, reckoner):
        graph = reckoner.graph
        share = np.arange(len(graph.facts)) % 4 == 0
        hidden = np.arange(len(graph.attribute_facts)) % 4 == 0
        held_back = HeldBack(graph.facts[share], graph.attribute_facts[hidden], 0.75)
        quality = measure(reckoner.model, held_back, 0.25, np.random.default_rng(1))
        client = client_of(Service(reckoner.answerer, Limits(), quality=quality))
        assert client.get("/api/quality").json()["sentences"] == quality.sentences()
        row = quality.relations[0]
        assert client.get("/api/relation", params={"name": row.name}).json()["quality"] == row.model_dump()
        number = quality.attributes[0]
        assert client.get("/api/attribute", params={"name": number.name}).json()["quality"] == number.model_dump()
        assert client_of(reckoner).get("/api/quality").json() == {"sentences": [], "report": None}

    def test_a_graph_without_kinds_says_so(self, reckoner):
        client = client_of(reckoner)
        name = reckoner.graph.entities.name(0)
        assert client.get("/api/entity", params={"name": name}).json()["kinds"] == []
        refused = client.get("/api/kind", params={"name": name})
        assert refused.status_code == 400 and "no kinds" in refused.json()["error"]
