"""The pages of things, kinds, relations and attributes in a real browser."""

from urllib.parse import quote

import numpy as np
import pytest

from browsing import expect, part, serving_model
from kgreckon.graph import GraphBuilder
from kgreckon.models.exact_model import ExactModel
from kgreckon.models.interface import Influence, Prediction, ScoreMeaning
from small_world import small_world


class Guessing(ExactModel):
    """Exact answers, and two guesses: everything speaks Norwegian, and has an area of 1,000 to 2,000."""

    name = "guessing"
    calibration = ScoreMeaning.PROBABILITY

    def likely_facts(self, relation, heads, above):
        names = self.graph.vocabulary
        tail = names.entity_id("Norwegian")
        if names.relation_name(relation) != "speaks" or tail in self.graph.follows.row(int(heads[0]), relation):
            return (np.zeros(0, dtype=int),) * 3
        return np.array([0]), np.array([tail]), np.array([0.625])

    def attribute_chances(self, entity):
        return (np.arange(len(self.graph.attributes)) == self.graph.vocabulary.attribute_id("area")) * 0.875

    def predict(self, entity, attribute, coverage, reasons=False):
        relation = self.graph.vocabulary.relation_id("borders")
        why = (Influence(effect=120.0, relation=relation, entities=(0,)),)
        return Prediction((), "square kilometres", 0.875, 1500.0, 1000.0, 2000.0, coverage, reasons=why)


@pytest.fixture(scope="module")
def address(world_graph):
    with serving_model(Guessing(small_world(world_graph, "Japan", "Norway"))) as at:
        yield at


def test_a_thing_shows_its_numbers_facts_and_neighbours_and_leads_on_and_back(visit):
    page = visit("/thing/Tokyo")
    expect(page.get_by_role("heading", level=1)).to_have_text("Tokyo")
    expect(page.locator(".sort")).to_have_text("City")
    expect(part(page, "Numbers")).to_contain_text("9,733,276 persons")
    expect(part(page, "Numbers")).to_contain_text("7th of 539 cities")
    expect(part(page, "What it is linked to")).to_contain_text("in country")
    expect(part(page, "Around it").get_by_role("link", name="Japan").first).to_be_visible()
    expect(part(page, "Where it is").locator("svg .mark")).to_be_visible()
    part(page, "What it is linked to").get_by_role("link", name="Japan").first.click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Japan")
    expect(page.get_by_role("heading", level=1)).to_be_focused()
    assert page.url.endswith("/thing/Japan") and page.title().startswith("Japan")
    expect(part(page, "What is linked to it")).to_contain_text("The capital of Japan")
    page.go_back()
    expect(page.get_by_role("heading", level=1)).to_have_text("Tokyo")
    page.go_forward()
    expect(page.get_by_role("heading", level=1)).to_have_text("Japan")


def test_what_is_probably_missing_says_how_likely_and_why(visit):
    missing = part(visit("/thing/Tokyo"), "Probably missing")
    expect(missing).to_contain_text("about 1,500 square kilometres")
    expect(missing).to_contain_text("1,000 to 2,000 in 90 % of cases")
    expect(missing).to_contain_text("120 square kilometres more")
    expect(missing).to_contain_text("88 %")
    page = visit("/thing/Japan")
    missing = part(page, "Probably missing")
    expect(missing).to_contain_text("Japan speaks Norwegian")
    expect(missing).to_contain_text("63 %")
    missing.get_by_role("button", name="Why").click()
    expect(missing.locator(".reasons p").first).to_be_visible()
    expect(part(visit("/thing/Norway"), "Probably missing")).not_to_contain_text("speaks")


def test_the_nearest_by_a_value_can_be_chosen_and_lists_go_on(visit, world_graph):
    page = visit("/thing/Japan")
    near = page.locator(".nearest")
    expect(near.get_by_role("heading")).to_contain_text("Countries nearest by")
    expect(near.locator("[aria-current]")).to_have_text("Japan126,529,100 persons")
    near.get_by_label("Nearest by").select_option("area")
    expect(near.locator("[aria-current]")).to_contain_text("square kilometres")
    things = part(page, "What is linked to it").locator(".row", has_text="Things in Japan")
    before = things.get_by_role("listitem").count()
    things.get_by_role("button", name="Show 50 more").click()
    expect(things.get_by_role("listitem")).to_have_count(before + 50)
    assert page.evaluate("document.activeElement.closest('li') !== null")  # the first new one
    things.get_by_role("link", name="Things in Japan").click()
    expect(page.locator("#status")).to_contain_text("The graph proves")


def test_kinds_relations_and_attributes_have_pages_that_lead_to_things(visit):
    page = visit("/kind/Country")
    expect(page.get_by_role("link", name="countries")).to_be_visible()
    expect(page.locator(".card", has_text="population")).to_contain_text("largest China")
    expect(part(page, "How much is known")).to_contain_text("of 249")
    part(page, "How much is known").get_by_role("link", name="population").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("population")
    expect(page.locator(".histogram svg")).to_be_visible()
    expect(part(page, "Largest").get_by_role("listitem").first).to_contain_text("China")
    expect(page.locator(".figures")).to_contain_text("median")
    part(page, "Largest").get_by_role("link", name="India").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("India")
    page = visit("/relation/speaks")
    expect(page.locator(".about-it")).to_contain_text("“x speaks y”")
    expect(part(page, "What it leads to most often").get_by_role("listitem").first).to_contain_text("English")
    expect(part(page, "Kinds it leads from")).to_contain_text("Country")


def test_what_is_not_there_is_said(browser, address):
    page = browser.new_page()
    for path, words in (("/thing/Atlantis", "unknown entity"), ("/kind/Japan", "nothing is stated to be of the kind")):
        page.goto(address + path)
        expect(page.get_by_role("alert").filter(has_text=words)).to_be_visible()
    page.close()


HOSTILE = [
    "<img src=x onerror=alert(1)><b>bold</b>",
    "‮‏مرحبا بالعالم",
    "long" * 2_500,
    "a/b?c=d&e#f%20",
    "'\"&amp;\\ {{x}}",
]


@pytest.fixture(scope="module")
def hostile():
    builder = GraphBuilder()
    for place, name in enumerate(HOSTILE):
        builder.add_fact(name, "is a", HOSTILE[0])
        builder.add_fact(name, HOSTILE[0], HOSTILE[place - 1])
        builder.add_value(name, HOSTILE[0], float(place), HOSTILE[0])
    with serving_model(ExactModel(builder.build())) as at:
        yield at


@pytest.mark.parametrize("place", range(len(HOSTILE)))
def test_a_hostile_graph_stays_text_and_fits_a_phone(visit, hostile, place):
    page = visit(f"/thing/{quote(HOSTILE[place], safe='')}", hostile, viewport={"width": 390, "height": 844})
    expect(page.get_by_role("heading", level=1)).to_have_text(HOSTILE[place])
    assert page.locator("img, b").count() == 0
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    link = part(page, "What it is linked to").locator("dd a").first
    link.click()
    expect(page.get_by_role("heading", level=1)).to_have_text(HOSTILE[place - 1])


@pytest.mark.parametrize("view", ["kind", "relation", "attribute"])
def test_hostile_names_of_all_sorts_stay_text(visit, hostile, view):
    page = visit(f"/{view}/{quote(HOSTILE[0], safe='')}", hostile, viewport={"width": 390, "height": 844})
    expect(page.get_by_role("heading", level=1)).to_have_text(HOSTILE[0])
    assert page.locator("img, b").count() == 0
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
