"""The map in a real browser: coasts and borders, marks that lead to things, and all the ways to zoom."""

import re

import pytest

from browsing import expect, serving_model
from kgreckon.models.exact_model import ExactModel
from small_world import small_world


@pytest.fixture(scope="module")
def address(world_graph):
    with serving_model(ExactModel(small_world(world_graph, "Japan", "Norway"))) as at:
        yield at


@pytest.fixture
def capitals(visit):
    """Opens the map of the capitals of France's neighbours."""

    def opened(**options):
        page = visit("/ask?q=(rp,(^capital_of),(rp,(^borders),(e,(France))))", **options)
        expect(page.locator("#map .place").first).to_be_visible()
        return page

    return opened


def scale(page):
    """How many pixels a degree has."""
    transform = page.locator("#map .ground").get_attribute("transform")
    return float(transform.rpartition("scale(")[2].rstrip(")"))


def places(page):
    return page.locator("#map .place").evaluate_all("marks => marks.map(mark => mark.getAttribute('transform'))")


def settle(page):
    page.evaluate("() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")


def test_coasts_and_borders_are_drawn_where_they_are(capitals):
    page = capitals()
    land = page.locator("#map g.ground > g .land")
    expect(land).to_have_attribute("d", re.compile(r"^M.{100000}"))
    expect(page.locator("#map g.ground > g .borders")).to_have_attribute("d", re.compile("^M.{10000}"))
    is_land = """(path, [longitude, latitude]) => {
        const angle = latitude * Math.PI / 180;
        const y = -180 / Math.PI * Math.log(Math.tan(Math.PI / 4 + angle / 2));
        return path.isPointInFill(new DOMPoint(longitude, y));
    }"""
    towns = {"Paris": (2.3, 48.8), "Canberra": (149.1, -35.3), "Tokyo": (139.4, 35.7), "Neshkan": (-174.0, 66.8)}
    assert {name: land.evaluate(is_land, list(place)) for name, place in towns.items()} == dict.fromkeys(towns, True)
    seas = {"Atlantic": (-40.0, 30.0), "Tasman Sea": (160.0, -37.0), "Bay of Biscay": (-5.0, 45.0)}
    assert {name: land.evaluate(is_land, list(place)) for name, place in seas.items()} == dict.fromkeys(seas, False)


def test_the_map_zooms_by_buttons_wheel_and_keys_and_shows_all_again(capitals):
    page = capitals()
    first, before = scale(page), places(page)
    page.get_by_role("button", name="Zoom in").click()
    assert scale(page) == pytest.approx(1.6 * first)
    page.get_by_role("button", name="Zoom out").click()
    assert scale(page) == pytest.approx(first)
    mark = page.locator("#map .place").first
    box = mark.locator(".mark").bounding_box()
    centre = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    page.wait_for_timeout(500)  # a wheel that scrolls the page does not zoom
    page.mouse.move(*centre)
    page.mouse.wheel(0, -200)
    settle(page)
    assert scale(page) > 1.5 * first
    after = mark.locator(".mark").bounding_box()
    assert after["x"] + after["width"] / 2 == pytest.approx(centre[0], abs=1)  # what is under the pointer stays
    page.locator("#map .map-area").focus()
    for key in ("-", "-", "-"):
        page.keyboard.press(key)
    assert scale(page) < first
    page.keyboard.press("+")
    farther = scale(page)
    page.keyboard.press("ArrowLeft")
    assert scale(page) == farther and places(page) != before
    page.get_by_role("button", name="Show all").click()
    assert scale(page) == pytest.approx(first) and places(page) == before
    for _ in range(12):
        page.get_by_role("button", name="Zoom out").click()
    assert scale(page) == pytest.approx(page.locator("#map svg").bounding_box()["width"] / 360)  # the world, no less


def test_the_map_is_dragged_and_a_drag_is_no_click(capitals):
    page = capitals()
    box = page.locator("#map .place .mark").first.bounding_box()
    address = page.url
    page.mouse.move(box["x"] + 4, box["y"] + 4)
    page.mouse.down()
    page.mouse.move(box["x"] + 44, box["y"] + 34, steps=4)
    page.mouse.up()
    settle(page)
    moved = page.locator("#map .place .mark").first.bounding_box()
    assert (moved["x"] - box["x"], moved["y"] - box["y"]) == (pytest.approx(40, abs=1), pytest.approx(30, abs=1))
    assert page.url == address


def test_two_fingers_zoom(capitals):
    page = capitals(viewport={"width": 390, "height": 844}, has_touch=True)
    page.locator("#map svg").scroll_into_view_if_needed()
    first, box = scale(page), page.locator("#map svg").bounding_box()
    middle = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    client = page.context.new_cdp_session(page)

    def touch(kind, apart):
        points = [{"x": middle[0] + side * apart, "y": middle[1], "id": side + 1} for side in (-1, 1)]
        client.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points if apart else []})

    touch("touchStart", 20)
    for apart in (30, 40):
        touch("touchMove", apart)
    touch("touchEnd", 0)
    settle(page)
    assert scale(page) == pytest.approx(2 * first, rel=0.05)
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_marks_have_names_and_lead_to_their_things(capitals):
    page = capitals()
    named = page.locator("#map .name-on-map:visible")
    assert named.count() >= 3
    page.locator("#map .place[tabindex='0']").focus()
    tip = page.locator("#map .tip")
    first = tip.text_content()
    page.keyboard.press("ArrowRight")
    second = tip.text_content()
    assert first and second and first != second
    page.keyboard.press("Enter")
    expect(page.locator("#view h1")).to_have_text(second)
    page.go_back()
    page.locator("#map .place .mark").last.hover()
    assert tip.text_content() == page.locator("#map .place").last.get_attribute("aria-label")
    page.locator("#map .place .mark").last.click()
    expect(page.locator("#view h1")).to_be_visible()


def test_marks_on_both_sides_of_the_date_line_stand_together(capitals):
    page = capitals()
    script = """async () => {
        const { worldMap } = await import('/page/map.js');
        const marks = [['Fiji', 178, -18], ['Samoa', -172, -14]].map(([label, longitude, latitude]) =>
            ({ label, longitude, latitude, href: '/thing/x' }));
        document.querySelector('#map').replaceChildren(worldMap(marks, { label: 'Islands' }));
    }"""
    page.evaluate(script)
    expect(page.locator("#map .place").first).to_be_visible()
    settle(page)
    fiji, samoa = (page.locator("#map .mark").nth(place).bounding_box()["x"] for place in (1, 0))  # the first on top
    assert 50 < samoa - fiji < 300
    assert scale(page) > 15
