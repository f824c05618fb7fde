"""The start in a real browser: what the graph is about, the line to ask, and figures of the answers."""

import re

import pytest

from browsing import PHONE, expect, part, serving
from kgreckon.graph import GraphBuilder
from small_world import small_world
from test_overview import HOSTILE, hostile, without_kinds_and_numbers


@pytest.fixture(scope="module")
def graph(world_graph):
    return small_world(world_graph, "Japan", "Norway")


@pytest.fixture(scope="module")
def address(graph, tmp_path_factory):
    with serving(graph, tmp_path_factory.mktemp("start") / "graph") as at:
        yield at


def line(page):
    return page.get_by_role("combobox", name="Ask in words, or search a name")


def test_it_greets_with_kinds_and_their_things_a_map_histograms_and_the_quality_report(visit, graph):
    page = visit("/")
    expect(page.get_by_role("heading", level=1)).to_have_text("Ask about cities and countries")
    cities = part(page, "What is in it").get_by_role("listitem").filter(has_text="Cities")
    expect(cities).to_contain_text(re.compile("Cities.*such as ", re.DOTALL))
    expect(part(page, "What is measured").locator(".spark").first).to_be_visible()
    expect(part(page, "How things are linked")).to_contain_text("in country")
    expect(part(page, "How far to trust what is inferred")).to_contain_text("300 facts were hidden")
    places = part(page, "Where things are")
    assert places.locator(".place").count() == 200
    expect(places.locator("g.ground > g .land")).to_have_attribute("d", re.compile("^M.{100000}"))
    part(page, "What is measured").get_by_role("link", name="population").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("population")
    page.go_back()
    cities.locator(".such-as a").first.click()
    expect(page.locator(".sort")).to_contain_text("City")


def test_it_is_light(browser, address):
    page, sizes = browser.new_page(), {}
    page.on("response", lambda response: sizes.update({response.url: len(response.body())}))
    page.goto(f"{address}/")
    expect(page.locator(".world-map .land").first).to_be_attached()
    page.wait_for_load_state("networkidle")
    of_map = ("/page/vendored/world.json", "/api/places")
    assert sum(size for url, size in sizes.items() if url.endswith(of_map)) > 100_000
    assert sum(size for url, size in sizes.items() if not url.endswith(of_map)) < 300_000
    assert len(sizes) < 50
    page.close()


def test_every_example_leads_to_answers(visit):
    page = visit("/")
    examples = page.get_by_role("list", name="Questions to begin with").get_by_role("link")
    assert examples.count() >= 6
    words = examples.nth(1).inner_text()
    examples.nth(1).click()
    expect(page.get_by_role("combobox", name="Your question in words")).to_have_value(words)
    expect(page.locator("#answers").get_by_text(re.compile(r"\w")).first).to_be_visible()
    page.go_back()
    expect(examples.first).to_be_visible()


def test_the_line_completes_asks_and_finds_a_thing_by_its_name(visit):
    page = visit("/")
    line(page).press_sequentially("cities in Jap")
    page.get_by_role("option", name="Japan").first.click()
    expect(line(page)).to_have_value(re.compile("^cities in Japan"))
    line(page).press("Enter")
    expect(page.get_by_role("combobox", name="Your question in words")).to_have_value("cities in Japan")
    page.goto(page.url.partition("/ask")[0])
    line(page).fill("tokyo")
    line(page).press("Enter")
    expect(page.get_by_role("heading", level=1)).to_have_text("Tokyo")


def test_every_other_page_has_the_line_and_no_slogan(visit):
    page = visit("/thing/Tokyo")
    expect(page.locator("#about")).to_be_hidden()
    line(page).fill("population")
    line(page).press("Enter")
    expect(page.get_by_role("heading", level=1)).to_have_text("population")
    line(page).fill("how many cities in Japan")
    page.locator("header").get_by_role("button", name="Ask").click()
    expect(page.get_by_role("combobox", name="Your question in words")).to_have_value("how many cities in Japan")
    expect(line(page)).to_be_hidden()


@pytest.mark.parametrize("options", [PHONE, {**PHONE, "color_scheme": "dark"}, {"color_scheme": "dark"}])
def test_it_fits_a_phone_and_the_dark(visit, options):
    page = visit("/", **options)
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    background = page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert (sum(map(int, re.findall(r"\d+", background)[:3])) < 200) == (options.get("color_scheme") == "dark")
    land, water = (
        page.locator(which).first.evaluate(f"node => getComputedStyle(node).{style}")
        for which, style in (("g.ground > g .land", "fill"), (".map-area", "backgroundColor"))
    )
    assert land != water


def test_a_graph_without_kinds_places_and_numbers_greets_too(visit, tmp_path):
    with serving(without_kinds_and_numbers(), tmp_path / "graph", quality=None) as at:
        page = visit("/", at)
        expect(page.get_by_role("heading", level=1)).to_have_text("Ask about 14 things")
        expect(part(page, "What most is known of").get_by_role("link", name="Oslo")).to_be_visible()
        for absent in ("Where things are", "What is measured", "What is in it", "How far to trust what is inferred"):
            expect(part(page, absent)).to_have_count(0)
        expect(part(page, "How things are linked")).to_contain_text("lives in")


def test_an_empty_graph_greets(visit, tmp_path):
    with serving(GraphBuilder().build(), tmp_path / "graph", quality=None) as at:
        expect(visit("/", at).get_by_role("heading", level=1)).to_have_text("Ask about 0 things")


@pytest.mark.parametrize("options", [{}, PHONE])
def test_a_hostile_graph_stays_text(visit, tmp_path, options):
    with serving(hostile(), tmp_path / "graph", quality=None) as at:
        page = visit("/", at, **options)
        expect(part(page, "How things are linked")).to_contain_text(HOSTILE[0])
        assert page.locator("main img, main b").count() == 0
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        assert page.evaluate("document.documentElement.scrollHeight") < 6_000  # no name fills the page
