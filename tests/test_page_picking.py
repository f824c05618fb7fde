"""Ranges that are picked on a histogram: by mouse, finger and keyboard, on an attribute's page and in the menus."""

import re
from urllib.parse import parse_qs, quote, urlsplit

import pytest

from browsing import PHONE, expect, part, serving, settled
from small_world import small_world


@pytest.fixture(scope="module")
def address(world_graph, tmp_path_factory):
    with serving(small_world(world_graph, "Norway"), tmp_path_factory.mktemp("picking") / "graph") as at:
        yield at


def drag(page, start, end):
    """Drag over the histogram, from one share of its width to another."""
    picker = page.locator(".picker")
    expect(page.locator(".picture svg").first).to_be_visible()
    picker.scroll_into_view_if_needed()
    box = picker.bounding_box()
    x, y = (lambda share: box["x"] + share * box["width"]), box["y"] + 50
    page.mouse.move(x(start), y)
    page.mouse.down()
    page.mouse.move(x((start + end) / 2), y)
    page.mouse.move(x(end), y)
    page.mouse.up()


def values(page):
    return [float(slider.get_attribute("aria-valuenow")) for slider in page.get_by_role("slider").all()]


def test_a_range_is_dragged_and_leads_to_its_question(visit):
    page = visit("/attribute/area")
    picked = part(page, "How its values are spread").locator(".picked")
    expect(picked).to_contain_text("Drag over the bars")
    drag(page, 0.7, 0.5)  # in either direction
    expect(picked.get_by_role("link")).to_have_text(re.compile("Ask for things with area between .* square kilometres"))
    low, high = values(page)
    assert 0 < low < high
    picked.get_by_role("link").click()
    expect(page.locator("#status")).to_contain_text("The graph proves")
    assert f"{low:.0f}" in parse_qs(urlsplit(settled(page).url).query)["q"][0].replace(",", "")
    page.go_back()
    drag(page, 0.6, 0.4)
    assert values(page)[1] < high


def test_handles_move_by_keyboard_and_never_cross(visit):
    page = visit("/attribute/area")
    first, second = page.get_by_role("slider", name="From, area"), page.get_by_role("slider", name="Up to, area")
    expect(first).to_have_attribute("aria-valuetext", "no limit")
    first.press("ArrowRight")
    expect(first).to_have_attribute("aria-valuetext", re.compile("square kilometres$"))
    lowest = values(page)[0]
    first.press("PageUp")
    assert values(page)[0] > lowest
    expect(page.locator(".picked a")).to_contain_text("area ≥")
    second.press("Home")
    assert values(page)[0] == values(page)[1]
    second.press("End")
    expect(second).to_have_attribute("aria-valuetext", "no limit")
    first.press("Home")
    expect(page.locator(".picked")).to_have_text("Every value is in the range.")


def test_a_finger_moves_a_handle_and_the_page_still_scrolls(visit):
    page = visit("/attribute/area", **PHONE)
    assert page.locator(".picker").evaluate("node => getComputedStyle(node).touchAction") == "pan-y"
    box = page.locator(".picker").bounding_box()
    page.touchscreen.tap(box["x"] + 0.3 * box["width"], box["y"] + 50)
    expect(page.locator(".picked a")).to_contain_text("with area")
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_the_menus_take_what_is_picked(visit):
    page = visit(f"/ask?q={quote('countries with area > 1000')}")
    expect(page.locator("#status")).to_contain_text("The graph proves")
    page.get_by_role("tab", name="Menus").click()
    page.get_by_role("button", name="pick on a histogram").click()
    drag(page, 0.4, 0.6)
    low, high = values(page)
    fields = page.get_by_label("Number", exact=True)
    expect(fields).to_have_count(2)
    assert [float(field.input_value()) for field in fields.all()] == [low, high]
    expect(page.get_by_role("slider", name="Up to, area")).to_be_focused()
    page.keyboard.press("End")  # no limit any more
    expect(fields).to_have_count(1)
    expect(page.get_by_role("combobox", name="in words")).to_have_value(re.compile("area ≥ .* square kilometres$"))
    expect(page.get_by_role("slider", name="Up to, area")).to_be_focused()
