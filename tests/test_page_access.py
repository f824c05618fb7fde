"""The page for everyone: the quality report, keyboards and phones, and graphs that nobody checked."""

from pathlib import Path
from urllib.parse import quote

import pytest

from browsing import PHONE, Visits, chromium, expect, part, serving
from small_world import small_world

AXE = (Path(__file__).parent / "vendored" / "axe.min.js").read_text(encoding="utf-8")  # axe-core 4.14.1, from npm
CHECK = """async (rules) => {
    const only = rules ? { runOnly: { type: "rule", values: rules } } : {};
    const { violations } = await axe.run(document, { resultTypes: ["violations"], ...only });
    return violations.filter(({ impact }) => ["serious", "critical"].includes(impact)).flatMap(({ id, nodes }) =>
        nodes.map(({ html, failureSummary }) => `${id}: ${html.slice(0, 200)}: ${failureSummary}`));
}"""
IN_JAPAN = "things in Japan with population > 1000000"
VIEWS = {
    "start": "/",
    "question": "/ask",
    "answers": f"/ask?q={quote(IN_JAPAN)}",
    "thing": "/thing/Japan",
    "kind": "/kind/Country",
    "relation": "/relation/speaks",
    "attribute": "/attribute/area",
    "quality": "/quality",
}


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


class TestAxe:
    """No serious violation of what axe-core checks, in light and dark; contrasts alone are others in the dark."""

    @pytest.mark.parametrize("view", VIEWS)
    def test_no_view_has_a_serious_violation(self, visit, view):
        page = visit(VIEWS[view], reduced_motion="reduce")
        page.evaluate(AXE)
        self.open_all(page, view)
        assert page.evaluate(CHECK, None) == []
        page.emulate_media(color_scheme="dark")
        assert page.evaluate(CHECK, ["color-contrast", "link-in-text-block"]) == []

    def test_it_would_notice(self, visit):
        page = visit("/quality")
        page.evaluate(AXE)
        page.evaluate("document.querySelector('h1').after(document.createElement('button'), new Image())")
        page.evaluate("document.querySelector('h1').style.color = 'lightgrey'")
        assert {said.partition(":")[0] for said in page.evaluate(CHECK, None)} == {
            "button-name",
            "color-contrast",
            "image-alt",
        }

    @staticmethod
    def open_all(page, view):
        """What is folded away at first."""
        if view == "thing":
            page.get_by_role("button", name="Edit").click()
            page.get_by_role("button", name="Correct area").click()
        if view == "question":
            page.get_by_role("tab", name="Menus").click()
        if view == "answers":
            page.get_by_role("button", name="Why?").first.click()
        page.evaluate("document.querySelectorAll('main details').forEach((one) => { one.open = true; })")


class TestBudget:
    """What each view loads, without the land of the map, which comes later and once."""

    @pytest.mark.parametrize("view", ["start", "answers", "thing", "attribute", "quality"])
    def test_a_view_is_light(self, browser, address, view):
        page = browser.new_page()
        loaded = []
        page.on("requestfinished", lambda request: loaded.append(request))
        page.goto(address + VIEWS[view])
        page.wait_for_load_state("networkidle")
        sizes = {request.url: request.sizes()["responseBodySize"] for request in loaded}
        page.close()
        assert len(sizes) == len(loaded)  # nothing is asked for twice
        assert len(sizes) <= 50
        assert sum(size for url, size in sizes.items() if "/vendored/" not in url) < 250_000
