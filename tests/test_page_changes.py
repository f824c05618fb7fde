"""Changes on the page of a thing, where the server takes them: by mouse, by keyboard and on a phone."""

import pytest

from browsing import PHONE, TOKEN, expect, part, serving, settled
from small_world import small_world


@pytest.fixture(scope="module")
def address(world_graph, tmp_path_factory):
    with serving(small_world(world_graph, "Norway"), tmp_path_factory.mktemp("changes") / "graph") as at:
        yield at


def editing(page, token=TOKEN):
    """The page in its edit mode, in a tab that has the token, if there is one."""
    if token:
        page.evaluate("token => sessionStorage.setItem('kgreckon change token', token)", token)
    page.get_by_role("button", name="Edit").click()
    return page


def choose(page, label, text):
    """Type into a combobox and take the choice of that name."""
    field = page.get_by_role("combobox", name=label, exact=True)
    field.fill(text)
    page.get_by_role("option").filter(has_text=text).first.wait_for()
    field.press("Enter")


def add(page, predicate, object_, label):
    """Fill in the form that adds a fact or a value, and send it."""
    choose(page, "Relation or attribute", predicate)
    if label == "Value":
        page.get_by_label("Value", exact=True).fill(object_)
    else:
        choose(page, label, object_)
    page.get_by_role("button", name="Add", exact=True).click()


def test_a_fact_is_added_with_the_token_and_what_it_changes_is_shown(visit):
    page = visit("/thing/Oslo", refusals=True)
    expect(page.get_by_role("form", name="Add a fact")).to_be_hidden()
    editing(page, token=None)
    expect(page.get_by_role("combobox", name="Relation or attribute")).to_be_focused()
    add(page, "borders", "Denmark", "Thing")
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("Token for changes").fill("not the token")
    dialog.get_by_role("button", name="Go on").click()
    expect(dialog.get_by_role("alert")).to_have_text("This is not the token for changes.")
    dialog.get_by_label("Token for changes").fill(TOKEN)
    page.keyboard.press("Enter")
    changed = part(page, "Added: Oslo borders Denmark")
    expect(changed.get_by_role("heading")).to_be_focused()
    row = changed.get_by_role("row", name="area")
    expect(row).to_contain_text("about 1,500 square kilometres (88 %)")
    expect(row).to_contain_text("about 3,000 square kilometres (88 %)")
    expect(part(page, "What it is linked to")).to_contain_text("Denmark")
    expect(part(page, "Probably missing")).to_contain_text("about 3,000")
    changed.get_by_role("button", name="Undo").click()
    expect(part(page, "Undone: Added: Oslo borders Denmark")).to_contain_text("about 1,500")
    expect(part(page, "What it is linked to")).not_to_contain_text("Denmark")


def test_a_value_is_corrected_by_keyboard_alone_and_others_see_it(visit):
    page = editing(visit("/thing/Sweden", refusals=True))
    numbers = part(page, "Numbers")
    numbers.get_by_role("button", name="Correct area").focus()
    page.keyboard.press("Enter")
    field = page.get_by_label("New value of area, in square kilometres")
    expect(field).to_be_focused()
    page.keyboard.press("Escape")
    expect(numbers.get_by_role("button", name="Correct area")).to_be_focused()
    page.keyboard.press("Enter")
    page.keyboard.type("a lot")
    page.keyboard.press("Enter")
    expect(numbers.get_by_role("alert")).to_contain_text("is a number of square kilometres")
    expect(field).to_have_attribute("aria-invalid", "true")
    expect(field).to_be_focused()
    field.press("Control+A")
    page.keyboard.type("450 thousand")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    expect(page.locator(".changed h2")).to_have_text("Corrected: area of Sweden: 450 thousand")
    expect(numbers).to_contain_text("450,000 square kilometres")
    expect(part(visit("/thing/Sweden"), "Numbers")).to_contain_text("450,000 square kilometres")


def test_facts_are_corrected_and_removed_from_either_end_on_a_phone(visit):
    page = editing(visit("/thing/Norway", **PHONE))
    linked = part(page, "What it is linked to")
    linked.get_by_role("button", name="Correct Europe").click()
    choose(page, "Thing", "Asia")
    linked.get_by_role("button", name="Save").click()
    expect(page.locator(".changed h2")).to_have_text("Corrected: Norway lies on Asia")
    expect(linked).to_contain_text("Asia")
    part(page, "What is linked to it").get_by_role("button", name="Remove Sweden").click()
    expect(page.locator(".changed h2")).to_have_text("Removed: Sweden borders Norway")
    expect(part(page, "What is linked to it").get_by_role("link", name="Sweden")).to_have_count(0)
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_what_is_likely_becomes_a_fact_and_what_is_new_is_asked_for(visit):
    page = editing(visit("/thing/Finland", refusals=True))
    likely = part(page, "Probably missing").locator("li", has_text="speaks")
    other = likely.locator("a").last.inner_text()
    likely.get_by_role("button", name="It is so").click()
    expect(page.locator(".changed h2")).to_have_text(f"Added: Finland speaks {other}")
    expect(page.get_by_role("row", name=f"Finland speaks {other}")).to_contain_text("63 %stated")
    choose(page, "Relation or attribute", "borders")
    page.get_by_role("combobox", name="Thing", exact=True).fill("Swedn")
    page.get_by_role("button", name="Add", exact=True).click()
    form = page.get_by_role("form", name="Add a fact")
    expect(form.get_by_role("alert").filter(has_text="did you mean 'Sweden'")).to_be_visible()
    expect(form).not_to_contain_text("--new")
    page.get_by_role("combobox", name="Thing", exact=True).fill("Atlantis")
    page.get_by_role("button", name="Add", exact=True).click()
    form.get_by_role("button", name="Add it as new").click()
    part(page, "What it is linked to").get_by_role("link", name="Atlantis").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Atlantis")
    editing(settled(page))
    add(page, "population", "1.2 million", "Value")
    expect(part(page, "Numbers")).to_contain_text("1,200,000 persons")


def test_what_lacks_is_said_by_its_field(visit):
    page = editing(visit("/thing/Denmark"))
    page.get_by_role("button", name="Add", exact=True).click()
    expect(page.get_by_text("Choose a relation or an attribute.")).to_be_visible()
    expect(page.get_by_role("combobox", name="Relation or attribute")).to_be_focused()
    choose(page, "Relation or attribute", "area")
    page.get_by_role("button", name="Add", exact=True).click()
    expect(page.get_by_label("Value", exact=True)).to_be_focused()
    expect(page.get_by_text("Write a number.")).to_be_visible()


def test_where_nothing_can_be_changed_nothing_is_offered(visit, world_graph, tmp_path):
    with serving(small_world(world_graph, "Norway"), tmp_path / "graph", token=None) as at:
        expect(visit("/thing/Norway", at).get_by_role("button", name="Edit")).to_have_count(0)
