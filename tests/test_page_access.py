"""The page for everyone: the quality report, keyboards and phones, and graphs that nobody checked."""

import json
from pathlib import Path
from urllib.parse import quote

import pytest

from browsing import PHONE, REPORT, TOKEN, expect, part, serving
from kgreckon.graph import GraphBuilder
from kgreckon.runs.quality import Suggestion
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
# Further pictures and messages of the answers' view.
MORE = {
    "bars": f"/ask?q={quote('top 5 countries by population')}",
    "total": f"/ask?q={quote('how many countries are there?')}",
    "mistake": f"/ask?q={quote('countries that brder Japan')}",
    "no answers": f"/ask?q={quote('countries with population < 1')}",
}


@pytest.fixture(scope="module")
def address(world_graph, tmp_path_factory):
    with serving(small_world(world_graph, "Japan"), tmp_path_factory.mktemp("page") / "graph") as at:
        yield at


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

    @pytest.mark.parametrize("view", VIEWS | MORE)
    def test_no_view_has_a_serious_violation(self, visit, view):
        page = visit((VIEWS | MORE)[view], refusals=view == "mistake", reduced_motion="reduce")
        page.wait_for_load_state("networkidle")
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
        asked = [(request.url, request.post_data) for request in loaded if not request.url.endswith("icon.svg")]
        assert not [one for one in asked if asked.count(one) > 1]  # by the page; the icon is the browser's
        assert len(sizes) <= 50
        assert sum(size for url, size in sizes.items() if "/vendored/" not in url) < 250_000


class TestPastQuestions:
    """What was asked is kept in the browser, until it is forgotten."""

    def test_questions_are_listed_lead_back_and_are_forgotten_by_keyboard(self, visit):
        page = visit(VIEWS["answers"])
        expect(page.locator("#status")).to_contain_text("The graph proves")
        page.goto(f"{visit.address}/ask?q={quote('countries in Asia')}")
        expect(page.locator("#status")).to_contain_text("The graph proves")
        page.goto(f"{visit.address}/quality")
        page.get_by_role("button", name="Your questions").press("Enter")
        past = page.get_by_role("dialog", name="Your questions")
        expect(past.get_by_role("link")).to_have_count(2)
        page.keyboard.press("Escape")
        expect(past).to_have_count(0)
        expect(page.get_by_role("button", name="Your questions")).to_be_focused()
        page.keyboard.press("Enter")
        past.get_by_role("link", name="population").press("Enter")
        expect(past).to_have_count(0)
        expect(page.locator("#status")).to_contain_text("The graph proves")
        page.get_by_role("button", name="Your questions").click()
        expect(past.get_by_role("link").first).to_contain_text("population")  # the latest first, each once
        expect(past.get_by_role("link")).to_have_count(2)
        past.get_by_role("button", name="Forget them").press("Enter")
        page.get_by_role("button", name="Your questions").click()
        expect(past).to_contain_text("kept in this browser and nowhere else")
        expect(past.get_by_role("link")).to_have_count(0)

    def test_they_are_bounded_and_what_else_stands_there_is_let_be(self, visit):
        page = visit("/quality")
        many = [{"words": f"question {place}", "address": "/ask?q=x"} for place in range(80)]
        store = "text => localStorage.setItem('kgreckon questions', text)"
        page.evaluate(store, json.dumps(many))
        page.goto(visit.address + VIEWS["answers"])
        expect(page.locator("#status")).to_contain_text("The graph proves")
        page.get_by_role("button", name="Your questions").click()
        expect(page.get_by_role("dialog").get_by_role("link")).to_have_count(50)
        for text in ("{", "7", '[{"words": 1}, {"words": "x", "address": "https://example.org/"}]'):
            page.evaluate(store, text)
            page.goto(visit.address + "/quality")
            page.get_by_role("button", name="Your questions").click()
            expect(page.get_by_role("dialog").get_by_role("link")).to_have_count(0)


def test_how_sure_answers_are_is_explained_where_a_probability_first_appears(visit):
    page = visit(VIEWS["answers"])
    page.get_by_text("How sure is that?").press("Enter")
    sure = page.locator(".how-sure")
    expect(sure).to_contain_text("of a hundred answers at 70 %, about seventy should be true")
    expect(sure).to_contain_text("Of about 183 facts at 80 to 100 %, 85 % were true.")
    page = visit("/thing/Tokyo")
    part(page, "Probably missing").get_by_text("How sure is that?").click()
    part(page, "Probably missing").get_by_role("link", name="quality report").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("How well it infers")


HOSTILE = ["<img src=x onerror=alert(1)><b>bold</b>", "\u202e\u200fمرحبا بالعالم", "long" * 2_500, "'\"&amp;\\ {{x}}"]


@pytest.fixture(scope="module")
def hostile(tmp_path_factory):
    builder = GraphBuilder()
    for place, name in enumerate(HOSTILE):
        builder.add_fact(name, "is_a", HOSTILE[0])
        builder.add_fact(name, HOSTILE[1], HOSTILE[place - 1])
        for attribute in (HOSTILE[0], "area", "latitude", "longitude"):
            builder.add_value(name, attribute, float(place + 1), "degrees" if "tude" in attribute else HOSTILE[0][:20])
    builder.add_fact(HOSTILE[0], "speaks", HOSTILE[1])
    builder.add_fact(HOSTILE[0], "borders", HOSTILE[1])
    of_relation, of_attribute = REPORT.relations[0], REPORT.attributes[0]
    named = {
        "relations": tuple(of_relation.model_copy(update={"name": name, "label": name}) for name in HOSTILE),
        "attributes": tuple(of_attribute.model_copy(update={"label": name, "unit": name}) for name in HOSTILE),
        "suggestions": tuple(
            Suggestion(command="predict", words=(name, name), answer=name, probability=0.5) for name in HOSTILE
        ),
    }
    folder = tmp_path_factory.mktemp("hostile") / "graph"
    with serving(builder.build(), folder, quality=REPORT.model_copy(update=named)) as at:
        yield at


class TestHostileNames:
    """Names with markup, from right to left and of 10 kB stay text, and fit a phone."""

    @staticmethod
    def holds(page):
        assert page.locator("main img, main b").count() == 0
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")

    @pytest.mark.parametrize("path", ["/", "/quality", f"/thing/{quote(HOSTILE[0], safe='')}"])
    def test_in_every_view(self, visit, hostile, path):
        page = visit(path, hostile, **PHONE)
        expect(page.locator("main:visible")).to_contain_text(HOSTILE[0])
        self.holds(page)

    def test_as_answers_in_tables_and_figures(self, visit, hostile):
        page = visit(f"/ask?q={quote('(e,(<img src=x>))')}", hostile, refusals=True, **PHONE)
        expect(page.get_by_text("unknown entity '<img src=x>'").first).to_be_visible()
        self.holds(page)
        page = visit(f"/ask?q={quote('(rap,(area),(np,(x > y),(nv,(0))))')}", hostile, **PHONE)
        expect(page.locator("#answers")).to_contain_text(HOSTILE[0])
        page.get_by_role("button", name="Why?").first.click()
        expect(page.locator(".reasons:visible").first).not_to_contain_text("looking")
        self.holds(page)
        page.get_by_role("button", name="Your questions").click()
        self.holds(page)

    def test_while_they_are_changed_and_picked(self, visit, hostile):
        page = visit(f"/thing/{quote(HOSTILE[1], safe='')}", hostile, **PHONE)
        page.evaluate("token => sessionStorage.setItem('kgreckon change token', token)", TOKEN)
        page.get_by_role("button", name="Edit").click()
        part(page, "What it is linked to").get_by_role("button", name="Remove <img").click()
        expect(page.locator(".changed h2")).to_contain_text(f"Removed: {HOSTILE[1]}")
        self.holds(page)
        page = visit(f"/attribute/{quote(HOSTILE[0], safe='')}", hostile, **PHONE)
        page.get_by_role("slider").first.press("PageUp")
        expect(page.locator(".picked")).to_contain_text(HOSTILE[0])
        self.holds(page)
