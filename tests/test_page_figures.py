"""The figures of answers in a real browser: which are drawn, what they show, and where their points lead."""

import re

import pytest

from browsing import PHONE, expect, serving, serving_model
from films import films
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


def test_hostile_names_stay_text_in_charts(visit):
    rows = [[name, place, 10 - place] for place, name in enumerate(HOSTILE)]
    page = visit("/")
    script = """async rows => {
        const { bars, scatter, timeline } = await import('/page/charts.js');
        const point = ([label, x, y]) => ({ label, said: label, href: '/thing/x', observed: y % 2 === 0, x, y });
        const measure = { label: rows[0][0], unit: rows[0][0] };
        const bar = ([label, x]) => ({ label: label.slice(0, 90), amount: x, text: String(x) });
        document.querySelector('#view').replaceChildren(
            scatter(rows.map(point), measure, measure),
            timeline(rows.map(point), { ...measure, unit: 'date' }),
            bars(rows[0][0], rows[2][0], rows.map(bar)),
        );
    }"""
    page.evaluate(script, rows)
    expect(page.locator(".scatter svg")).to_be_visible()
    assert page.locator("main img, main b").count() == 0
    assert page.locator(".scatter .place").count() == page.locator(".timeline .place").count() == len(HOSTILE)
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


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
