"""The figures of answers in a real browser: which are drawn, what they show, and where their points lead."""

import json
import re
from urllib.parse import quote

import pytest

from browsing import PHONE, expect, serving, serving_model
from films import films
from kgreckon.graph import GraphBuilder
from kgreckon.models.exact_model import ExactModel
from small_world import small_world
from test_overview import HOSTILE


@pytest.fixture(scope="module")
def address(world_graph, tmp_path_factory):
    with serving(small_world(world_graph, "Japan", "Norway"), tmp_path_factory.mktemp("figures") / "graph") as at:
        yield at


@pytest.fixture(scope="module")
def cinema():
    with serving_model(ExactModel(films())) as at:
        yield at


def asked(visit, question, at=None, **options):
    page = visit(f"/ask?q={question}", at, **options)
    expect(page.locator("#status")).to_contain_text("The graph proves")
    return page


def test_two_numbers_are_a_scatter_plot_whose_points_lead_to_things(visit):
    page = asked(visit, "countries in Europe with gdp per capita > 1 and life expectancy > 1")
    chart = page.locator(".scatter")
    expect(chart).to_contain_text("gdp per capita by life expectancy")
    points = chart.locator(".place")
    assert points.count() >= 10
    said = [
        re.match(r"(.*), life expectancy (?:about )?([\d.,]+) .*, gdp per capita (?:about )?([\d.,]+) ", text)
        for text in points.evaluate_all("points => points.map(point => point.getAttribute('aria-label'))")
    ]
    values = {
        one[1]: (float(one[3].replace(",", "")), float(one[2].replace(",", ""))) for one in said if one is not None
    }
    assert len(values) == points.count()
    assert all(30 < expectancy < 100 for _, expectancy in values.values())
    spots = {
        said.split(",")[0]: tuple(map(float, re.findall(r"[\d.]+", at)))
        for said, at in points.evaluate_all(
            "points => points.map(point => [point.getAttribute('aria-label'), point.getAttribute('transform')])"
        )
    }
    by_place = sorted(spots, key=lambda name: spots[name][0])
    assert [values[name][1] for name in by_place] == sorted(values[name][1] for name in by_place)
    by_height = sorted(spots, key=lambda name: -spots[name][1])
    assert [values[name][0] for name in by_height] == sorted(values[name][0] for name in by_height)
    name = points.last.get_attribute("aria-label").split(",")[0]
    points.last.focus()
    expect(chart.locator(".tip")).to_have_text(name)
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", level=1)).to_have_text(name)


def test_dates_are_a_timeline(visit, cinema):
    page = asked(visit, "films released after 1900", cinema)
    chart = page.locator(".timeline")
    expect(chart.locator(".place")).to_have_count(12)
    first = chart.get_by_role("link", name=re.compile("^The Kid, release Date 1921-01-21", re.IGNORECASE))
    last = chart.get_by_role("link", name=re.compile("^Memento, release Date 2000-09-05", re.IGNORECASE))
    assert first.bounding_box()["x"] < last.bounding_box()["x"] - 200
    expect(chart.locator(".tick").first).to_have_text(re.compile(r"^(19|20)\d\d$"))


def test_what_is_sorted_by_a_number_is_bars(visit):
    page = asked(visit, "top 5 countries by area")
    bars = page.locator(".bar-chart").get_by_role("listitem")
    expect(bars).to_have_count(5)
    widths = bars.locator(".length").evaluate_all("bars => bars.map(bar => bar.getBoundingClientRect().width)")
    assert widths == sorted(widths, reverse=True) and widths[0] > widths[-1] > 0
    expect(page.locator(".scatter, .timeline")).to_have_count(0)


def test_many_things_are_counted_by_what_sets_them_apart(visit):
    page = asked(visit, "countries")
    chart = page.locator(".bar-chart")
    expect(chart).to_contain_text("proved answers")
    counts = [int(text) for text in chart.locator(".amount").all_inner_texts()]
    assert counts == sorted(counts, reverse=True) and len(counts) > 2
    chart.get_by_role("link").first.click()
    expect(page.get_by_role("heading", level=1)).to_be_visible()


def test_things_with_a_place_are_on_the_map(visit):
    page = asked(visit, "cities within 300 km of Tokyo")
    expect(page.locator("#charts .world-map .place").first).to_be_visible()
    expect(page.locator(".bar-chart, .scatter")).to_have_count(0)  # the distances are on the map


def test_numbers_and_too_few_answers_have_no_chart(visit):
    page = asked(visit, "the population of cities in Japan")
    expect(page.locator(".histogram").first).to_be_visible()
    expect(page.locator(".chart")).to_have_count(0)
    page = asked(visit, "the capital of Japan")
    expect(page.locator(".chart")).to_have_count(0)


@pytest.mark.parametrize("options", [PHONE, {**PHONE, "color_scheme": "dark"}])
def test_charts_fit_a_phone_in_the_dark_too(visit, options):
    page = asked(visit, "countries in Europe with gdp per capita > 1 and life expectancy > 1", **options)
    expect(page.locator(".scatter svg")).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


WIDE = "wide" * 900  # an address holds no longer name of a column
ITEMS = [*HOSTILE, *(f"{name} again" for name in HOSTILE)]


@pytest.fixture(scope="module")
def hostile():
    builder = GraphBuilder()
    for place, name in enumerate(ITEMS):
        builder.add_fact(name, "is_a", "Item")
        builder.add_fact(name, HOSTILE[2], HOSTILE[place % 3])
        builder.add_value(name, HOSTILE[0], 1.0 + 7 * place % 10, HOSTILE[2])
        builder.add_value(name, WIDE, 1.0 + place, HOSTILE[0])
        builder.add_value(name, HOSTILE[1], 1900.0 + 3 * place, "date")
        builder.add_value(name, "latitude", 9.0 * place - 40, "degrees")
        builder.add_value(name, "longitude", 15.0 * place - 70, "degrees")
    with serving_model(ExactModel(builder.build())) as at:
        yield at


class TestHostileNames:
    """Names with markup, from right to left and of 10 kB stay text in every figure, and fill no page."""

    @staticmethod
    def looked_at(visit, at, columns, options):
        page = asked(visit, f"{quote('(rp,(^is_a),(e,(Item)))')}&columns={quote(json.dumps(columns))}", at, **options)
        expect(page.locator("#map .place")).to_have_count(len(ITEMS))
        return page

    @staticmethod
    def holds(page):
        assert page.locator("main img, main b").count() == 0
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        heights = page.locator("figure").evaluate_all("figures => figures.map(figure => figure.offsetHeight)")
        assert max(heights) < 800 and page.evaluate("document.documentElement.scrollHeight") < 6_000

    @pytest.mark.parametrize("options", [{}, PHONE])
    @pytest.mark.parametrize(
        ("figure", "columns", "named"),
        [
            (".scatter", [HOSTILE[0], WIDE], ITEMS),
            (".timeline", [HOSTILE[1]], ITEMS),
            (".bar-chart", [WIDE], ITEMS),  # in the order of a number
            (".bar-chart", [], HOSTILE[:3]),  # counted by what they are linked to
            (".histogram", [HOSTILE[0]], []),
        ],
    )
    def test_in_charts(self, visit, hostile, figure, columns, named, options):
        page = self.looked_at(visit, hostile, columns, options)
        chart = page.locator(f"#charts {figure}")
        expect(chart).to_be_visible()
        links = "links => links.map(link => link.getAttribute('aria-label') ?? link.textContent)"
        said = chart.locator("a").evaluate_all(links)
        assert len(said) == len(named)
        assert all(any(text.startswith(name) for text in said) for name in named)
        self.holds(page)

    def test_on_the_map_and_in_its_tips(self, visit, hostile):
        page = self.looked_at(visit, hostile, [], {})
        for place, name in enumerate(ITEMS):
            mark = page.locator("#map .place").nth(len(ITEMS) - 1 - place)  # the first is on top
            assert mark.get_attribute("aria-label") == name
            mark.focus()
            expect(page.locator("#map .tip")).to_have_text(name if len(name) <= 26 else f"{name[:25]}…")
        self.holds(page)


@pytest.mark.parametrize(
    "values", [[5.0] * 4, [0.0, 1e-300, 1.7e308], [-1.7e308, 0.0, 1.7e308], [1e16, 1e16 + 2, 5e16]]
)
def test_any_numbers_have_a_place(visit, values):
    page = visit("/")
    script = """async values => {
        const { scatter } = await import('/page/charts.js');
        const point = (x, place) => ({ label: `${place}`, said: `${place}`, href: '/', observed: true, x, y: x });
        const points = values.map(point);
        const measure = { label: 'size', unit: 'number' };
        document.querySelector('#view').replaceChildren(scatter(points, measure, measure));
    }"""
    page.evaluate(script, values)
    expect(page.locator(".scatter svg")).to_be_visible()
    assert "NaN" not in page.locator(".scatter").inner_html()
    assert "Infinity" not in page.locator(".scatter").inner_html()
