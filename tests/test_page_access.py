"""The page for everyone: the quality report, keyboards and phones, and graphs that nobody checked."""

import pytest

from browsing import PHONE, Visits, chromium, expect, part, serving
from small_world import small_world


@pytest.fixture(scope="module")
def browser():
    with chromium() as launched:
        yield launched


@pytest.fixture(scope="module")
def address(world_graph, tmp_path_factory):
    with serving(small_world(world_graph, "Japan"), tmp_path_factory.mktemp("page") / "graph") as at:
        yield at


@pytest.fixture
def visit(browser, address):
    visits = Visits(browser, address)
    yield visits
    visits.close()


class TestQuality:
    def test_the_report_is_there_in_words_as_a_drawing_and_in_tables(self, visit):
        page = visit("/quality")
        expect(page.get_by_role("heading", level=1)).to_have_text("How well it infers")
        expect(part(page, "In words")).to_contain_text("300 facts were hidden and looked for from both ends")
        row = part(page, "Relations").get_by_role("row", name="speaks")
        expect(row.get_by_role("cell")).to_have_text(["669", "77", "64 %", "37", "43"])
        expect(part(page, "Attributes")).to_contain_text("158,000 square kilometres")
        likely = part(page, "Probabilities of facts")
        expect(likely.locator("circle")).to_have_count(10)
        likely.get_by_text("The same as a table").click()
        expect(likely.get_by_role("row", name="70 to 80 %").get_by_role("cell")).to_have_text(["93", "75 %", "70 %"])
        part(page, "To try").get_by_role("link", name="Tokyo: area").click()
        expect(page.get_by_role("heading", level=1)).to_have_text("Tokyo")

    def test_it_fits_a_phone_and_relations_lead_to_it(self, visit):
        page = visit("/relation/speaks", **PHONE)
        part(page, "How well it is inferred").get_by_role("link", name="whole quality report").click()
        expect(page.get_by_role("heading", level=1)).to_have_text("How well it infers")
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")

    def test_where_nothing_was_measured_it_says_so(self, visit, world_graph, tmp_path):
        with serving(small_world(world_graph, "Japan"), tmp_path / "graph", quality=None) as at:
            expect(visit("/quality", at).locator("main:visible")).to_contain_text("Nothing was measured here")
