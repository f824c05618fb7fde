"""The page in a real browser, against a real server over a small run: what a person does with it."""

import csv
import json
import math
import re
from typing import Any
from urllib.parse import parse_qs, quote, urlsplit

import pyarrow.parquet as pq
import pytest
import torch

from browsing import DESK, expect
from kgreckon.benchmark import BuildSettings, build
from kgreckon.exact import ask
from kgreckon.query.paper import parse
from kgreckon.runs import train
from kgreckon.server import Gate, Limits, application
from kgreckon.server.serving import open_service
from served import running
from small_world import small_world

CAPITALS = "(rp,(^capital_of),(rp,(^borders),(e,(France))))"
LARGE = "(i,(rp,(^is_a),(e,(Country))),(rap,(population),(np,(TwiceGreaterThan),(ap,(population),(e,(France))))))"
NUMBERS = "(ap,(population),(rp,(^capital_of),(rp,(^borders),(e,(Norway)))))"
# Every operator, in places where the menus have no sentence for it too.
ALL_KINDS = [
    CAPITALS,
    LARGE,
    NUMBERS,
    "(e,(Japan))",
    "(rp,(speaks),(u,(e,(France)),(e,(Japan))))",
    "(rap,(area),(nv,(1000)))",
    "(rap,(area),(np,(x > 2y + 3),(ap,(area),(i,(rp,(^is_a),(e,(Country))),(n,(e,(Norway)))))))",
    "(rap,(population),(i,(np,(GreaterThan),(nv,(1000000))),(np,(x <= y),(nv,(2000000)))))",
    "(rap,(population),(np,(SmallerThan),(np,(TwiceEqualTo),(u,(nv,(7)),(n,(ap,(population),(e,(Norway))))))))",
    "(n,(i,(rp,(^is_a),(e,(City))),(u,(e,(Tokyo)),(i,(rp,(^in_country),(e,(Norway))),(n,(e,(Oslo)))))))",
    "(u,(ap,(latitude),(e,(Tokyo))),(np,(EqualTo),(nv,(60 degrees))))",
    "(rap,(area),(np,(x > -1e-05y + 1e+20),(ap,(area),(e,(Norway)))))",
    "(rap,(area),(np,(x = 2.5y - 1e-07 within 1e-06),(nv,(1000))))",
]


# ------------------------------------------------------------------------------------------------------- fixtures


@pytest.fixture(scope="module")
def graph(world_graph):
    return small_world(world_graph, "Japan", "Norway")


@pytest.fixture(scope="module")
def address(graph, tmp_path_factory):
    """Where a server answers for a run that was trained for seconds."""
    folder = tmp_path_factory.mktemp("page")
    few: dict[str, Any] = {
        "rank": 16,
        "epochs": 4,
        "batch_size": 256,
        "heads": 32,
        "validation_queries": 2,
        "device": "cpu",
    }
    benchmark = build(graph, folder / "benchmark", BuildSettings.choose(graph, queries=20))
    threads = torch.get_num_threads()
    torch.set_num_threads(1)  # matrices this small only wait for more
    run = train(benchmark, "reckoner", out=folder / "run", **few)
    torch.set_num_threads(threads)
    limits = Limits()
    service = open_service(run.folder, limits)
    service.warm_up()
    with running(application(service, Gate(limits), {"127.0.0.1"}), limits) as port:
        yield f"http://127.0.0.1:{port}/"


@pytest.fixture
def visit(browser, address):
    """Opens the page; afterwards, nothing was complained about and nothing was asked of another host."""
    contexts, complaints, elsewhere = [], [], []

    def open_page(question=None, refusals_expected=False, menus=True, **options):
        context = browser.new_context(**{**DESK, **options})
        contexts.append(context)
        page = context.new_page()

        def heard(message):
            refusal = message.text.startswith("Failed to load resource")
            if message.type in ("error", "warning") and not (refusal and refusals_expected):
                complaints.append(message.text)

        page.on("console", heard)
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on("request", lambda request: elsewhere.append(request.url) if not same_host(request.url) else None)
        page.goto(address + (f"ask?q={quote(question)}" if question else "ask"))
        expect(page.locator("#about")).to_contain_text("things")
        expect(page.locator("#builder")).not_to_be_empty()
        if question:
            expect(page.locator("#status")).not_to_have_text(re.compile("will be here|Asking"))
        if menus and page.locator("#panel-builder").is_hidden():
            page.get_by_role("tab", name="Menus").click()
        return page

    def same_host(url):
        return urlsplit(url).netloc == urlsplit(address).netloc

    yield open_page
    for context in contexts:
        context.close()
    assert complaints == []
    assert elsewhere == []


@pytest.fixture
def proved(graph):
    """The labels of what the graph proves."""
    names = graph.vocabulary
    return lambda text: {names.entity_label(entity) for entity in ask(graph, parse(text, names)).tolist()}


def tab_to(page, name, most=60):
    """Press Tab until the control of this name has the focus."""
    for _ in range(most):
        page.keyboard.press("Tab")
        if re.search(name, focused(page)):
            return
    raise AssertionError(f"Tab never reaches {name!r}")


def focused(page):
    """The accessible name of what has the focus, as far as this page gives names."""
    return page.evaluate("document.activeElement.ariaLabel || document.activeElement.textContent || ''")


def choose(page, text, option):
    """Type into the field that has the focus, and take an option with the arrows."""
    page.keyboard.type(text)
    wanted = page.get_by_role("option", name=option).first
    expect(wanted).to_be_visible()
    for _ in range(30):
        if wanted.get_attribute("aria-selected") == "true":
            break
        page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")


def hold(page, address, wanted=lambda request: True):
    """Keep back the requests to an address; they are answered when the routes in the list are told to go on."""
    held = []
    page.route(address, lambda route: held.append(route) if wanted(route.request) else route.continue_())
    return held


def asked_in(url):
    """The question of an address."""
    return parse_qs(urlsplit(url).query)["q"][0]


def follow(page, question):
    """Follow a link to a question."""
    script = """question => {
        const link = document.createElement('a');
        link.href = `/ask?q=${encodeURIComponent(question)}`;
        document.body.append(link);
        link.click();
        link.remove();
    }"""
    page.evaluate(script, question)


def until(page, condition):
    """Wait for what happens outside the page."""
    for _ in range(150):
        if condition():
            return
        page.wait_for_timeout(100)
    raise AssertionError("it never happens")


def release(page, route, **answer):
    """Let the server answer a request that was held, or answer it, and give the page time to take it in."""
    with page.expect_event("requestfinished", lambda request: request == route.request):
        route.fulfill(**answer) if answer else route.continue_()
    page.wait_for_timeout(100)


def answers(page, state="observed"):
    expect(page.locator("#status")).to_contain_text(re.compile("^The graph proves|^By what is stated"))
    return set(page.locator(f"#answers tr.{state} .name").all_inner_texts())


# -------------------------------------------------------------------------------------------------- asking by menu


def test_a_question_is_built_asked_and_explained_with_the_keyboard_alone(visit, proved):
    page = visit()
    tab_to(page, "^Add a condition")
    choose(page, "capital", re.compile("^is the capital of …"))
    expect(page.get_by_role("combobox", name="Name of the thing")).to_be_focused()
    choose(page, "fra", re.compile("^anything that …"))
    expect(page.get_by_role("combobox", name="Add a condition")).to_be_focused()
    choose(page, "bord", re.compile("^borders …"))
    choose(page, "fran", re.compile("^France"))
    expect(page.get_by_role("combobox", name="Your question")).to_have_value(re.compile("borders France"))
    tab_to(page, "^Add another condition")
    tab_to(page, "^Add another condition")  # the second list is that of the whole question
    choose(page, "popul", re.compile("^population is …"))
    expect(page.get_by_role("combobox", name="Comparison")).to_be_focused()
    page.keyboard.type("less")
    tab_to(page, "^Number$")
    page.keyboard.type("1,000,000")
    page.keyboard.press("Enter")
    question = f"(i,{CAPITALS},(rap,(population),(np,(SmallerThan),(nv,(1000000 persons)))))"
    assert answers(page) == proved(question) != set()
    expect(page.locator("#paper")).to_have_value(question)
    tab_to(page, "^Why\\?", most=200)
    page.keyboard.press("Enter")
    reasons = page.locator("#answers .reasons").first
    expect(reasons).to_contain_text("borders")
    expect(reasons).to_contain_text("population")
    page.keyboard.press("Enter")
    expect(reasons).to_be_hidden()


def test_the_menu_offers_what_the_things_asked_for_are_known_by(visit):
    page = visit("(rp,(^is_a),(e,(Country)))")
    page.get_by_role("combobox", name="Add another condition").click()
    options = page.get_by_role("option")
    expect(options.filter(has_text="borders …").first).to_be_visible()
    offered = options.all_inner_texts()
    assert any(text.startswith("literacy is …") for text in offered)
    assert not any(text.startswith("serves …") for text in offered)
    page.keyboard.press("Escape")
    expect(page.get_by_role("listbox")).to_have_count(0)


def test_what_is_typed_faster_than_the_list_follows_is_taken_as_typed(visit):
    page = visit(CAPITALS)
    name = page.get_by_role("combobox", name="Name of the thing")
    name.focus()
    page.keyboard.type("n")
    expect(page.get_by_role("listbox")).to_be_visible()
    page.keyboard.type("orway")
    page.keyboard.press("Enter")  # the list still shows what begins with n
    expect(page.locator("#paper")).to_have_value(CAPITALS.replace("France", "Norway"))
    name.focus()
    page.keyboard.type("jap")
    page.keyboard.press("Tab")  # left half-typed: kept, and not taken for a name
    expect(name).to_have_value("jap")
    expect(page.locator("#words")).to_have_text("Not finished yet.")
    name.focus()
    page.keyboard.type("japan")
    expect(page.get_by_role("option", name="Japan").first).to_be_visible()
    page.keyboard.press("Tab")  # left as a name
    expect(page.locator("#paper")).to_have_value(CAPITALS.replace("France", "Japan"))


def test_conditions_are_removed_and_alternatives_are_grouped(visit, proved):
    page = visit(LARGE)
    page.get_by_role("button", name="Remove this condition").last.click()
    expect(page.locator("#paper")).to_have_value("(rp,(^is_a),(e,(Country)))")
    page.get_by_role("combobox", name="Add another condition").focus()
    choose(page, "any", re.compile("^any of"))
    for text in ("Norw", "Jap"):
        page.get_by_role("combobox", name=re.compile("^Add a(nother)? condition")).first.focus()
        choose(page, "bord" if text == "Norw" else "is the thing", re.compile("^(borders …|is the thing …)"))
        choose(page, text, re.compile("^(Norway|Japan)"))
    page.locator("#ask").click()
    question = "(i,(rp,(^is_a),(e,(Country))),(u,(rp,(^borders),(e,(Norway))),(e,(Japan))))"
    expect(page.locator("#paper")).to_have_value(question)
    assert answers(page) == proved(question)


def test_an_unfinished_question_is_kept_and_ask_tells_what_is_missing(visit):
    page = visit(LARGE)
    answers(page)
    before = page.locator("#sparql").input_value()
    page.get_by_role("combobox", name="Add another condition").focus()
    choose(page, "speaks", re.compile("^speaks …"))
    page.keyboard.type("nothing so called")
    page.locator("#ask").click()
    problem = page.locator("#question-problem")
    expect(problem).to_contain_text("“nothing so called” is not chosen from the list")
    assert focused(page) == "Name of the thing"
    assert page.evaluate("document.activeElement.value") == "nothing so called"
    assert page.evaluate("document.activeElement.getAttribute('aria-invalid')") == "true"
    assert page.locator("#sparql").input_value() == before
    assert page.get_by_role("button", name="Remove this condition").count() == 3
    page.get_by_role("button", name="Remove this condition").last.click()
    expect(problem).to_be_empty()
    expect(page.locator("#paper")).to_have_value(LARGE)


def test_numbers_are_asked_of_the_things_described_so_far(visit, graph):
    page = visit("(rp,(^capital_of),(rp,(^borders),(e,(Norway))))")
    page.get_by_label("What you look for").select_option("numbers")
    page.get_by_role("combobox", name="Attribute").focus()
    choose(page, "popul", re.compile("^population"))
    expect(page.locator("#paper")).to_have_value(NUMBERS)
    page.locator("#ask").click()
    rows = ask(graph, parse(NUMBERS, graph.vocabulary)).tolist()
    assert answers(page) == {f"{graph.values.number_at(row)[0]:,.0f} persons" for row in rows}
    expect(page.locator(".histogram figcaption")).to_contain_text("where the answers are")
    assert page.locator(".histogram .bar.answer").count() > 0
    page.get_by_label("What you look for").select_option("entities")
    expect(page.locator("#paper")).to_have_value("(rp,(^capital_of),(rp,(^borders),(e,(Norway))))")


# ------------------------------------------------------------------------------------------------------ asking in words


def line_of(page):
    return page.get_by_role("combobox", name="Your question in words")


def test_a_question_is_typed_in_words_with_completions_and_asked_with_enter(visit, proved):
    page = visit(menus=False, refusals_expected=True)  # half of a word cannot be read
    line_of(page).focus()
    page.keyboard.type("cit")
    option = page.get_by_role("option", name=re.compile("^cities"))
    expect(option).to_contain_text(f"{len(proved('(rp,(^is_a),(e,(City)))')):,}")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    expect(line_of(page)).to_have_value("cities ")
    page.keyboard.type("in Jap")
    expect(page.get_by_role("option", name=re.compile("^Japan")).first).to_contain_text("Country")
    page.keyboard.type("an")
    page.keyboard.press("Enter")
    question = "(i,(rp,(^is_a),(e,(City))),(rp,(^in_country),(e,(Japan))))"
    answers(page)
    expect(page.locator("#paper")).to_have_value(question)
    assert asked_in(page.url) == "cities in Japan"
    expect(page.get_by_role("listbox")).to_have_count(0)


def test_a_mistake_in_words_is_shown_at_its_place_and_mended_by_a_press(visit):
    page = visit("cities in Jpan with population > 3", refusals_expected=True, menus=False)
    problem = page.locator("#line .problem")
    expect(problem.locator("mark")).to_have_text("Jpan")
    expect(line_of(page)).to_have_attribute("aria-invalid", "true")
    problem.get_by_role("button", name="Japan", exact=True).click()
    expect(line_of(page)).to_have_value("cities in Japan with population > 3")
    expect(problem).to_be_empty()
    page.keyboard.press("Enter")
    answers(page)
    assert asked_in(page.url) == "cities in Japan with population > 3"


def test_a_question_that_is_being_typed_is_not_called_wrong(visit):
    page = visit(refusals_expected=True, menus=False)
    line_of(page).focus()
    with page.expect_response("**/api/translate"):
        page.keyboard.type("cities in ")
    expect(page.locator("#line .problem")).to_be_empty()
    page.keyboard.press("Enter")
    expect(page.locator("#line .problem")).to_contain_text("Expected a name")
    expect(line_of(page)).to_be_focused()


@pytest.mark.parametrize(
    ("words", "lost"),
    [
        ("cities within 300 km of Tokyo", "the distance"),
        ("top 3 cities in Japan by population", "the order and the limit"),
    ],
)
def test_what_only_words_can_hold_stays_in_the_line_and_the_other_views_say_so(visit, words, lost):
    page = visit(words)
    answers(page)
    expect(line_of(page)).to_have_value(words)
    assert asked_in(page.url) == words
    expect(page.locator("#only-in-words")).to_contain_text(f"Only in words: {lost}.")
    page.get_by_role("combobox", name="Add another condition").focus()
    choose(page, "popul", re.compile("^population is"))  # whoever edits the menus asks for the set alone
    page.get_by_role("textbox", name="Number").fill("5")
    expect(page.locator("#only-in-words")).to_be_hidden()
    expect(line_of(page)).to_have_value(re.compile("^cities in .*with population|^cities with population"))


def test_from_words_to_a_table_a_reason_a_thing_and_back(visit, proved):
    page = visit("capitals of countries that border France", menus=False)
    assert answers(page) == proved(CAPITALS)
    page.get_by_role("button", name="Why? Berlin").click()
    reason = page.locator("tr.reason").first
    expect(reason).to_contain_text("The graph states that Berlin is the capital of Germany")
    drawing = reason.locator(".grounds svg")
    assert {"Berlin", "capital of", "Germany", "borders", "France"} <= set(drawing.locator("text").all_text_contents())
    reason.get_by_text("Step by step").click()
    expect(reason.locator(".steps > li").first).to_contain_text("(observed)")
    page.locator("#answers").get_by_role("link", name="Berlin", exact=True).click()
    expect(page.get_by_role("heading", name="Berlin", level=1)).to_be_visible()
    page.go_back()
    assert answers(page) == proved(CAPITALS)
    expect(line_of(page)).to_have_value("capitals of countries that border France")


# ---------------------------------------------------------------------------------------------------------- the table

IN_TWO = "(i,(rp,(^is_a),(e,(City))),(rp,(^in_country),(e,(Norway))))"


def column(page, place):
    texts = page.locator(f"#answers tbody tr > :nth-child({place})").all_inner_texts()
    return [float(text.replace(",", "")) if re.fullmatch(r"[\d,.]+", text) else text for text in texts]


def test_the_table_is_sorted_by_any_column_and_the_address_keeps_it(visit, proved):
    page = visit("cities in Norway with population > 50000", menus=False)
    answers(page)
    head = page.get_by_role("columnheader", name=re.compile("^population"))
    assert head.get_attribute("aria-sort") == "none"
    for direction in ("descending", "ascending"):
        with page.expect_response("**/api/ask"):
            head.get_by_role("button").press("Enter")
        expect(head).to_have_attribute("aria-sort", direction)
        numbers = [one for one in column(page, 3) if isinstance(one, float)]
        assert len(numbers) > 3 and numbers == sorted(numbers, reverse=direction == "descending")
        expect(head.get_by_role("button")).to_be_focused()
    named = page.get_by_role("columnheader", name="name")
    named.get_by_role("button").click()
    expect(named).to_have_attribute("aria-sort", "ascending")
    expect(head).to_have_attribute("aria-sort", "none")
    names = column(page, 2)
    page.reload()
    expect(named).to_have_attribute("aria-sort", "ascending")
    assert column(page, 2) == names
    assert asked_in(page.url) == "cities in Norway with population > 50000"
    line_of(page).fill("cities in Norway with population > 90000")  # another question stands in its own order
    line_of(page).press("Enter")
    expect(named).to_have_attribute("aria-sort", "none")


def test_a_column_is_added_and_removed_and_rows_are_filtered(visit, proved):
    page = visit("cities in Norway", menus=False)
    answers(page)
    page.get_by_role("combobox", name="Add a column").click()
    page.get_by_role("option", name=re.compile("^population")).click()
    head = page.get_by_role("columnheader", name=re.compile("^population"))
    expect(head).to_be_visible()
    assert "population" in parse_qs(urlsplit(page.url).query)["columns"][0]
    page.get_by_label("Filter the rows shown").fill("osl")
    expect(page.locator("#answers tbody tr:visible .name")).to_have_text(["Oslo"])
    expect(page.locator("#filtered")).to_contain_text("1 of ")
    page.get_by_label("Filter the rows shown").fill("")
    page.get_by_role("button", name="Remove the column population").click()
    expect(head).to_have_count(0)
    assert answers(page) <= proved(IN_TWO)


@pytest.mark.parametrize("form", ["CSV", "JSON", "Parquet"])
def test_all_answers_are_downloaded_as_they_are_looked_at(visit, proved, form):
    page = visit("cities in Norway with population > 50000", menus=False, accept_downloads=True)
    answers(page)
    page.get_by_label("observed", exact=True).check()
    expect(page.locator("#answers .inferred")).to_have_count(0)
    with page.expect_download() as started:
        page.get_by_role("link", name=form).click()
    assert started.value.suggested_filename == f"answers.{form.lower()}"
    path = started.value.path()
    if form == "CSV":
        labels = [row["label"] for row in csv.DictReader(path.read_text(encoding="utf-8").splitlines())]
    elif form == "JSON":
        labels = [row["label"] for row in json.loads(path.read_text())]
    else:
        labels = pq.read_table(path).column("label").to_pylist()
    assert set(labels) == proved(IN_TWO[:-1] + ",(rap,(population),(np,(GreaterThan),(nv,(50000)))))") != set()
    assert urlsplit(page.url).path == "/ask"


def test_more_goes_on_without_limit(visit):
    page = visit("(n,(e,(Japan)))", menus=False)
    rows = page.locator("#answers tbody tr")
    expect(rows.first).to_be_visible()
    while page.locator("#more").is_visible():
        shown = rows.count()
        page.locator("#more").click()
        expect(rows.nth(shown)).to_be_visible()
    assert rows.count() > 1000
    names = page.locator("#answers .name").all_inner_texts()
    assert "Japan" not in names
    assert page.locator("#answers .nth").last.inner_text() == f"{rows.count():,}"


def test_a_count_and_a_mean_are_numbers_with_an_interval(visit, proved):
    page = visit("how many cities in Norway", menus=False)
    total = page.locator("#total")
    expect(total.locator(".amount strong")).to_have_text(str(len(proved(IN_TWO))))
    expect(total).to_contain_text("proved by the graph")
    expect(total).to_contain_text("with what is inferred")
    assert re.search(r"between \d+ and \d+ in 90 % of cases|The same", total.inner_text())
    assert page.locator("#answers tr").count() == 0
    follow(page, "average population of cities in Norway")
    expect(total.locator(".amount strong")).to_have_text(re.compile(r"^[\d,.]+ persons$"))
    expect(total).to_contain_text("stated value")
    total.get_by_role("link").click()
    assert answers(page) <= proved(IN_TWO)
    follow(page, "is Oslo in Norway?")
    expect(total.locator(".amount strong")).to_have_text("Yes")
    follow(page, "population of Oslo - population of Bergen")
    expect(total.locator(".amount strong")).to_have_text(re.compile(r"^[\d,.]+ persons$"))


def test_what_is_unlikely_is_shown_on_demand(visit):
    page = visit("countries that border France", menus=False)
    page.get_by_role("button", name="Show them").click()
    expect(page.get_by_role("button", name="Show them")).to_have_count(0)
    head = page.get_by_role("columnheader", name="probability")
    for direction in ("descending", "ascending"):  # the least likely first
        head.get_by_role("button").click()
        expect(head).to_have_attribute("aria-sort", direction)
    expect(page.locator("#answers tbody tr").first).to_contain_text("inferred")
    assert float(re.findall(r"[\d.]+", page.locator("#answers .score").first.inner_text())[0]) < 10
    assert parse_qs(urlsplit(page.url).query)["above"] == ["0"]


# ------------------------------------------------------------------------------------------------- four forms in step


def test_typed_sparql_is_followed_by_the_notation_the_menus_and_the_drawing(visit, proved):
    page = visit(CAPITALS)
    sparql = page.locator("#sparql").input_value()
    page.get_by_role("tab", name="SPARQL").click()
    page.locator("#sparql").fill(sparql.replace("France", "Norway"))
    expect(page.locator("#paper")).to_have_value(CAPITALS.replace("France", "Norway"))
    expect(page.locator("#results")).to_have_class("stale")
    page.get_by_role("tab", name="Menus").click()
    expect(page.get_by_role("combobox", name="Name of the thing")).to_have_value("Norway")
    expect(page.locator("#drawing svg")).to_contain_text("Norway")
    page.locator("#ask").click()
    assert answers(page) == proved(CAPITALS.replace("France", "Norway")) != set()


def test_typed_notation_is_followed_by_sparql_and_the_menus(visit):
    page = visit()
    page.get_by_role("tab", name="Menus").focus()
    page.keyboard.press("ArrowLeft")
    expect(page.locator("#paper")).to_be_visible()
    page.locator("#paper").fill("(rap,(area),(np,(x > 2y + 3),(nv,(1000))))")
    expect(page.locator("#sparql")).to_have_value(re.compile("SELECT"))
    page.get_by_role("tab", name="Menus").click()
    expect(page.get_by_label("Formula")).to_have_value("x > 2y + 3")
    expect(page.get_by_role("textbox", name="Number", exact=True)).to_have_value("1000")


def test_a_mistake_is_shown_beside_its_field_and_the_other_forms_stay(visit):
    page = visit(CAPITALS, refusals_expected=True)
    answers(page)
    sparql = page.locator("#sparql").input_value()
    page.get_by_role("tab", name="Paper’s notation").click()
    page.locator("#paper").fill("(rp,(^capital_of),(e,(Frence)))")
    expect(page.locator("#paper-problem")).to_contain_text("France")  # the server's suggestion
    expect(page.locator("#paper")).to_have_attribute("aria-invalid", "true")
    page.locator("#ask").click()
    assert page.locator("#paper").input_value() == "(rp,(^capital_of),(e,(Frence)))"
    assert page.locator("#sparql").input_value() == sparql
    assert page.get_by_role("combobox", name="Name of the thing", include_hidden=True).input_value() == "France"
    page.locator("#paper").fill("(rp,(^capital_of),(e,(France)))")
    expect(page.locator("#paper-problem")).to_be_empty()
    expect(page.locator("#paper")).not_to_have_attribute("aria-invalid", "true")


def test_the_menus_hold_every_question_and_give_it_back(visit):
    page = visit()
    for question in ALL_KINDS:
        with page.expect_response("**/api/ask") as asked:
            follow(page, question)
        written = asked.value.json()["paper"]
        expect(page.locator("#paper")).to_have_value(written)
        with page.expect_response("**/api/translate") as translated:
            page.get_by_label("What you look for").dispatch_event("change")  # the menus are the source now
        assert translated.value.request.post_data_json["query"]["op"]  # a tree, not a text
        assert translated.value.json()["paper"] == written
        expect(page.locator("#paper")).to_have_value(written)
        expect(page.locator("#question-problem")).to_be_empty()


# -------------------------------------------------------------------------------------------- answers and what they say


def test_observed_and_inferred_answers_differ_by_word_and_shape(visit, proved):
    page = visit(CAPITALS)
    assert answers(page) == proved(CAPITALS)
    assert answers(page, "inferred")
    assert set(page.locator("#answers .observed .badge").all_inner_texts()) == {"observed"}
    assert set(page.locator("#answers .inferred .badge").all_inner_texts()) == {"inferred"}
    shape = "node => getComputedStyle(node, '::before').borderRadius"
    shapes = [page.locator(f"#answers .{state} .badge").first.evaluate(shape) for state in ("observed", "inferred")]
    assert shapes[0] != shapes[1]
    widths = page.locator("#answers .filled").evaluate_all("bars => bars.map(bar => parseFloat(bar.style.width))")
    assert widths == sorted(widths, reverse=True)


def test_more_answers_are_shown_on_demand(visit, proved):
    page = visit("(rp,(^is_a),(e,(Country)))")
    answers(page)
    assert page.locator("#answers tbody tr").count() == 20
    page.get_by_role("button", name="Show 100 more").click()
    expect(page.locator("#answers tbody tr")).to_have_count(120)
    expect(page.locator("#answers tbody tr").nth(20).get_by_role("link")).to_be_focused()
    while page.locator("#more").is_visible():
        rows = page.locator("#answers tbody tr").count()
        page.locator("#more").click()
        expect(page.locator("#answers tbody tr").nth(rows)).to_be_visible()
    assert answers(page) == proved("(rp,(^is_a),(e,(Country)))")


def test_what_a_limit_hides_is_not_said_to_be_unlikely(visit):
    page = visit("(rp,(is_a),(e,(Japan)))")
    answers(page)
    sparql = page.locator("#sparql").input_value()
    page.get_by_role("tab", name="SPARQL").click()
    page.locator("#sparql").fill(f"{sparql}\nLIMIT 1")
    with page.expect_response("**/api/ask"):
        page.locator("#ask").click()
    expect(page.locator("#status")).to_contain_text("The graph proves 1 answer (")


def test_no_more_answers_are_offered_than_a_limit_allows(visit):
    page = visit("(rp,(^is_a),(e,(Country)))")
    answers(page)
    sparql = page.locator("#sparql").input_value()
    page.get_by_role("tab", name="SPARQL").click()
    for limit, first in ((20, 20), (30, 20), (7, 7)):
        page.locator("#sparql").fill(f"{sparql}\nLIMIT {limit}")
        with page.expect_response("**/api/ask"):
            page.locator("#ask").click()
        expect(page.locator("#results")).not_to_have_attribute("aria-busy", "true")
        expect(page.locator("#answers tbody tr")).to_have_count(first)
        expect(page.locator("#more")).to_be_visible(visible=first < limit)
        if first < limit:
            page.locator("#more").click()
            expect(page.locator("#answers tbody tr")).to_have_count(limit)
            expect(page.locator("#more")).to_be_hidden()


def test_what_speaks_against_an_answer_is_indented(visit):
    page = visit(CAPITALS)
    answers(page)
    against = "what speaks against it has a probability of 0.2:"

    def said(text, *below):
        empty = dict.fromkeys(("how", "probability", "subject", "predicate", "object"))
        return {"text": text, **empty, "below": list(below)}

    known = said("sixth") | {"how": "predicted", "probability": 0.123456}
    statements = [
        said("first"),
        said(against, said("second"), said(against, said("third")), said("fourth")),
        said("fifth"),
        known,
    ]
    page.route("**/api/explain", lambda route: route.fulfill(json={"reason": {"statements": statements}}))
    page.get_by_role("button", name=re.compile("^Why")).first.click()
    reasons = page.locator("#answers .reasons").first
    expect(reasons.locator(".steps > li")).to_have_count(4)
    expect(reasons.locator(".steps > li").last).to_have_text("sixth (predicted, 12 %)")
    assert "–" not in reasons.inner_text()  # the dash is the mark of the item
    words = ("first", "second", "third", "fourth", "fifth")
    items = {word: reasons.get_by_text(re.compile(f"^{word}$")).bounding_box() for word in words}
    left = {word: box["x"] for word, box in items.items()}
    assert left["first"] == left["fifth"] < left["second"] == left["fourth"] < left["third"]
    assert sorted(words, key=lambda word: items[word]["y"]) == list(words)


def test_places_are_marked_on_a_map_and_named_by_the_keyboard(visit):
    page = visit(CAPITALS)
    answers(page)
    marks = page.locator("#map .place")
    expect(marks.first).to_be_visible()
    assert page.locator("#map circle.mark.observed").count() >= 5
    assert page.locator("#map path.mark.inferred").count() >= 1
    page.locator("#map .place[tabindex='0']").focus()
    first = page.locator("#map .tip").text_content()
    page.keyboard.press("ArrowRight")
    second = page.locator("#map .tip").text_content()
    assert first and second and first != second
    page.keyboard.press("Enter")
    expect(page.locator("#view h1")).to_have_text(second.removesuffix(", inferred"))


def test_the_queried_range_is_shaded(visit):
    page = visit(LARGE)
    answers(page)
    figure = page.locator(".histogram")
    expect(figure).to_have_count(1)
    expect(figure.locator("figcaption")).to_contain_text("asked for: from")
    picture, shade = figure.locator("svg").bounding_box(), figure.locator(".range").bounding_box()
    assert shade["x"] > picture["x"] + 20  # what is smaller is not asked for
    assert shade["x"] + shade["width"] == pytest.approx(picture["x"] + picture["width"], abs=15)


AXES = [
    *([value, math.nextafter(value, math.inf)] for value in (0.0, 5.0, -1e15, 1e16, 1e300, 1.7e308)),
    [7.0, 7.0],
    [1e16, 1e16 + 2, 1e16 + 4],
    [1e6, 1e6 + 1],
    [-1.7e308, 0.0, 1.7e308],
    [0.0, 5e-324],
    [3.0, 3.0, 3.0],
    [0.3, 0.7],
    [-1.0, 0.0, 2.0],
    [1990.2, 1990.7],
]


@pytest.mark.parametrize("width", [90, 600, 5000])
def test_an_axis_has_some_ticks_and_never_many(visit, width):
    page = visit()
    for edges in AXES:
        for log in (False, True):
            for unit in ("number", "date"):
                distribution = {"edges": edges, "log": log, "unit": unit}
                script = "async args => (await import('/page/histogram.js')).ticksOf(...args)"
                ticks = page.evaluate(script, [distribution, width])
                assert 1 <= len(ticks) <= 12, distribution
                assert ticks == sorted(set(ticks)), distribution
    wide = {"edges": [0, 500, 1000], "log": False, "unit": "number"}
    assert page.evaluate(script, [wide, 450]) == [0, 200, 400, 600, 800, 1000]
    assert page.evaluate(script, [wide | {"edges": [1, 10, 1e4], "log": True}, 450]) == [1, 10, 100, 1000, 10000]


@pytest.mark.parametrize("edges", [axis for axis in AXES if len(axis) == 2])
def test_a_single_value_is_drawn_as_one_bar_on_its_axis(visit, edges):
    page = visit(LARGE)
    answers(page)

    def answer(route):
        found = route.fetch().json()
        found["distributions"][0].update(edges=edges, counts=[3], low=edges[0], log=False)
        route.fulfill(json=found)

    page.route("**/api/ask", answer)
    page.locator("#ask").click()
    expect(page.locator(".histogram figcaption")).to_contain_text("3 values")
    expect(page.locator(".histogram .bar")).to_have_count(1)
    picture, bar = (page.locator(f".histogram {part}").bounding_box() for part in ("svg", ".bar"))
    assert bar["width"] >= 5
    assert picture["x"] <= bar["x"] and bar["x"] + bar["width"] <= picture["x"] + picture["width"]
    expect(page.locator(".histogram .tick").first).to_be_visible()
    shade = page.locator(".histogram .range").bounding_box()
    assert shade["x"] + shade["width"] == pytest.approx(picture["x"] + picture["width"], abs=15)
    assert shade["width"] > picture["width"] / 3  # what is larger is asked for too
    assert "NaN" not in page.locator(".histogram").inner_html()


def test_an_answer_opens_a_page_of_its_own_and_back_leads_to_the_question(visit, proved):
    page = visit(CAPITALS)
    answers(page)
    page.locator("#answers").get_by_role("link", name="Berlin", exact=True).click()
    expect(page.get_by_role("heading", name="Berlin", level=1)).to_be_focused()
    assert urlsplit(page.url).path == "/thing/Berlin"
    expect(page.get_by_role("region", name="Numbers")).to_contain_text("population")
    page.get_by_role("link", name="Germany").first.click()
    expect(page.get_by_role("heading", name="Germany", level=1)).to_be_visible()
    page.reload()
    expect(page.get_by_role("heading", name="Germany", level=1)).to_be_visible()
    page.go_back()
    expect(page.get_by_role("heading", name="Berlin", level=1)).to_be_visible()
    page.go_back()
    expect(page.locator("#answers tr.observed")).to_have_count(len(proved(CAPITALS)))


def test_a_late_page_does_not_replace_the_one_that_was_opened_after_it(visit):
    page = visit(CAPITALS, refusals_expected=True)
    answers(page)
    held = hold(page, "**/api/entity?*", lambda request: not request.url.endswith("Madrid"))
    for place, name in enumerate(("Berlin", "Brussels", "Madrid")):
        page.locator("#answers").get_by_role("link", name=name, exact=True).click()
        if name != "Madrid":
            until(page, lambda count=place + 1: len(held) == count)
    expect(page.get_by_role("heading", name="Madrid", level=1)).to_be_visible()
    release(page, held[0])
    release(page, held[1], status=500, json={"error": "late"})
    expect(page.get_by_role("heading", name="Madrid", level=1)).to_be_visible()
    expect(page.locator("#view .problem")).to_have_count(0)


def test_an_address_of_nothing_says_so(visit):
    page = visit(refusals_expected=True)
    page.goto(page.url.replace("ask", "thing/Atlantis"))
    expect(page.get_by_role("alert")).to_contain_text("Atlantis")
    page.get_by_role("link", name="Go to the start").click()
    expect(page.get_by_role("heading", level=1)).to_contain_text("Ask about")


def test_the_drawing_shows_anchors_edges_and_logic(visit):
    page = visit(LARGE.replace("(e,(France))", "(u,(e,(France)),(n,(e,(Norway))))"))
    drawing = page.locator("#drawing svg")
    expect(drawing).to_be_visible()
    texts = drawing.locator("text").all_text_contents()
    assert {"France", "Norway", "Country", "population", "greater than twice", "and", "or", "not", "?"} <= set(texts)
    places = {
        text: drawing.locator("text", has_text=re.compile(rf"^{re.escape(text)}$")).bounding_box()["x"]
        for text in ("France", "or", "?")
    }
    assert places["France"] < places["or"] < places["?"]


def test_text_of_the_graph_is_never_markup(visit):
    page = visit(CAPITALS)
    answers(page)
    hostile = "<img src=x onerror=alert(1)><b>bold</b>"

    def answer(route):
        found = route.fetch().json()
        found["words"] = found["answers"][0]["label"] = hostile
        route.fulfill(json=found)

    page.route("**/api/ask", answer)
    nothing = {"label": "", "things": 0, "groups": [], "num_groups": 0}  # of a question that nobody can read
    page.route("**/api/groups", lambda route: route.fulfill(json=nothing))
    page.locator("#ask").click()
    expect(page.locator("#answers .name").first).to_have_text(hostile)
    assert page.locator("img, b").count() == 0


# ------------------------------------------------------------------------------------------------- links and history


def test_only_what_is_inferred_is_shown_on_demand(visit, proved):
    page = visit(CAPITALS, menus=False)
    expect(page.locator("#answers .observed").first).to_be_visible()
    page.get_by_label("inferred", exact=True).check()
    expect(page.locator("#answers .observed")).to_have_count(0)
    expect(page.locator("#status")).to_contain_text("other")
    shown = set(page.locator("#answers .name").all_inner_texts())
    assert shown and not shown & proved(CAPITALS)
    page.get_by_label("observed", exact=True).check()
    expect(page.locator("#answers .inferred")).to_have_count(0)
    assert set(page.locator("#answers .name").all_inner_texts()) == proved(CAPITALS)


def test_an_example_is_asked_for_all_its_answers_and_keeps_the_focus_on_the_page(visit):
    page = visit(LARGE)
    page.get_by_label("inferred", exact=True).check()
    expect(page.locator("#answers .observed")).to_have_count(0)
    summary = page.locator("#examples summary")
    summary.click()
    page.locator("#examples button").first.press("Enter")
    expect(page.locator("#answers .observed").first).to_be_visible()
    expect(page.get_by_label("all", exact=True)).to_be_checked()
    expect(summary).to_be_focused()


def test_a_link_reproduces_the_question_and_its_answers(visit, address):
    page = visit(permissions=["clipboard-read", "clipboard-write"])
    example = page.locator("#examples button").first
    words = example.text_content()
    example.click()
    shown = answers(page)
    page.get_by_role("button", name="Copy link").click()
    expect(page.locator("#copied")).to_have_text("Link copied.")
    link = page.evaluate("navigator.clipboard.readText()")
    assert link.startswith(address)
    other = visit()
    other.goto("about:blank")
    other.goto(link)
    assert answers(other) == shown != set()
    expect(other.get_by_role("combobox", name="Your question in words")).to_have_value(words)


def test_back_and_forward_go_through_the_questions(visit, proved):
    page = visit(CAPITALS)
    answers(page)
    page.get_by_role("combobox", name="Name of the thing").focus()
    choose(page, "norw", re.compile("^Norway"))
    norwegian = CAPITALS.replace("France", "Norway")
    expect(page.locator("#paper")).to_have_value(norwegian)
    page.locator("#ask").click()
    expect(page.locator("#answers tr.observed")).to_have_count(len(proved(norwegian)))
    page.go_back()
    expect(page.locator("#paper")).to_have_value(CAPITALS)
    expect(page.locator("#answers tr.observed")).to_have_count(len(proved(CAPITALS)))
    page.go_forward()
    expect(page.locator("#paper")).to_have_value(norwegian)
    expect(page.locator("#answers tr.observed")).to_have_count(len(proved(norwegian)))


def test_a_new_question_ends_the_wait_for_the_old_one(visit):
    page = visit("(rp,(^is_a),(e,(Country)))")
    answers(page)
    held = hold(page, "**/api/ask")
    page.locator("#ask").click()
    results = page.locator("#results")
    expect(results).to_have_attribute("aria-busy", "true")
    until(page, lambda: held)
    page.get_by_role("button", name="New question").click()
    expect(page.locator("#results[aria-busy]")).to_have_count(0)
    release(page, held[0])
    expect(page.locator("#status")).to_contain_text("will be here")
    expect(page.locator("#answers tbody tr")).to_have_count(0)
    expect(page.locator("#more")).to_be_hidden()


def test_of_two_quick_arrivals_the_last_is_asked_once(visit, proved):
    page = visit()
    asked = []
    page.on("request", lambda request: asked.append(request) if request.url.endswith("/api/ask") else None)
    held = hold(page, "**/api/translate")
    for place, question in enumerate((LARGE, CAPITALS.replace(",", ", ")), 1):
        follow(page, question)
        until(page, lambda count=place: len(held) == count)
    entries = page.evaluate("history.length")
    release(page, held[0])
    assert asked == []
    release(page, held[1])
    expect(page.locator("#status")).to_contain_text("The graph proves")
    assert answers(page) == proved(CAPITALS)
    assert len(asked) == 1
    assert asked_in(page.url) == "the capitals of something that borders France"
    assert page.evaluate("history.length") == entries  # it had its place there already


# ------------------------------------------------------------------------------------------------------------ failures


def test_a_wrong_question_in_a_link_is_told_and_kept(visit):
    page = visit("(ap,(latitud),(e,(Japan)))", refusals_expected=True, menus=False)
    expect(page.locator("#paper-problem")).to_contain_text("did you mean 'latitude'")
    expect(page.locator("#paper")).to_be_visible()
    expect(page.locator("#paper")).to_have_value("(ap,(latitud),(e,(Japan)))")


def test_what_the_server_refuses_is_told_beside_the_menus(visit):
    page = visit(LARGE, refusals_expected=True)
    answers(page)
    page.get_by_role("combobox", name="Attribute").first.focus()
    choose(page, "area", re.compile("^area"))
    expect(page.locator("#question-problem")).to_contain_text("they cannot be compared")
    assert "population" in page.locator("#paper").input_value()  # the other forms stay
    compared = page.get_by_role("combobox", name="Attribute").last
    compared.focus()
    page.keyboard.press("ArrowDown")
    offered = page.get_by_role("listbox").get_by_role("option")
    expect(offered.first).to_be_visible()
    assert all("square kilometres" in text for text in offered.all_inner_texts())  # only what is measured alike
    page.keyboard.press("Enter")
    expect(page.locator("#question-problem")).to_be_empty()
    expect(page.locator("#paper")).to_have_value(LARGE.replace("population", "area"))


def test_a_busy_server_is_told_and_asked_again(visit, proved):
    page = visit(CAPITALS, refusals_expected=True)
    answers(page)
    busy = {"status": 503, "headers": {"Retry-After": "7"}, "json": {"error": "too many requests at once"}}
    page.route("**/api/ask", lambda route: route.fulfill(**busy))
    page.locator("#ask").click()
    problem = page.locator("#answers-problem")
    expect(problem).to_contain_text("too many requests at once")
    expect(problem).to_contain_text("Try again in 7 s")
    expect(page.get_by_role("combobox", name="Name of the thing")).to_have_value("France")
    page.unroute("**/api/ask")
    problem.get_by_role("button", name="Try again").click()
    expect(problem).to_be_empty()
    assert answers(page) == proved(CAPITALS)


def test_a_server_that_is_gone_is_told_and_the_question_kept(visit, proved):
    page = visit(CAPITALS, refusals_expected=True)
    answers(page)
    page.context.set_offline(True)
    page.get_by_role("combobox", name="Name of the thing").focus()
    page.get_by_role("tab", name="Paper’s notation").click()
    norwegian = CAPITALS.replace("France", "Norway")
    page.locator("#paper").fill(norwegian)
    page.locator("#ask").click()
    expect(page.locator("#answers-problem")).to_contain_text("does not answer")
    assert page.locator("#paper").input_value() == norwegian
    page.context.set_offline(False)
    page.get_by_role("button", name="Try again").click()
    expect(page.locator("#answers tr.observed")).to_have_count(len(proved(norwegian)))


# -------------------------------------------------------------------------------------------------- for every reader

PHONE = {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True}


@pytest.mark.parametrize("question", [None, CAPITALS, ALL_KINDS[8], ALL_KINDS[9]])
def test_a_phone_never_scrolls_sideways(visit, question):
    page = visit(question, **PHONE)
    if question:
        answers(page)
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    for field in page.get_by_role("combobox").all():
        if field.evaluate("node => node.tagName") == "INPUT" and not field.get_attribute("aria-label").startswith(
            "Your"
        ):
            field.click()
            expect(page.get_by_role("listbox")).to_be_visible()
            assert page.evaluate("document.documentElement.scrollWidth") <= 390
            page.keyboard.press("Escape")
    if question == CAPITALS:
        page.locator("#answers a.name").first.click()
        expect(page.locator("#view dl").first).to_be_visible()
        assert page.evaluate("document.documentElement.scrollWidth") <= 390


NAMELESS = """() => {
    const controls = 'input, select, textarea, button, [role=img], [role=group], [tabindex="0"]';
    const named = node => node.ariaLabel || node.labels?.length || node.getAttribute('aria-labelledby')
        || (node.matches('button, [role=tab]') && node.textContent.trim());
    return [...document.querySelectorAll(controls)].filter(node => !named(node)).map(node => node.outerHTML);
}"""
DANGLING = """() => {
    const pointers = ['aria-controls', 'aria-labelledby', 'aria-describedby', 'aria-activedescendant', 'for'];
    const targets = name => [...document.querySelectorAll(`[${name}]`)].map(node => node.getAttribute(name));
    return pointers.flatMap(targets).filter(id => !document.getElementById(id));
}"""
REPEATED = """() => {
    const ids = [...document.querySelectorAll('[id]')].map(node => node.id);
    return ids.filter((id, place) => ids.indexOf(id) < place);
}"""
# Text whose contrast with what is painted behind it is below 4.5, and edges of controls below 3, the AA of WCAG.
FAINT = """() => {
    const numbers = colour => colour.match(/[\\d.]+/g).map(Number);
    const linear = part => part <= 0.03928 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
    const light = colour => {
        const [red, green, blue] = numbers(colour).map(part => linear(part / 255));
        return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
    };
    const behind = node => {
        const colour = getComputedStyle(node).backgroundColor;
        return (numbers(colour)[3] ?? 1) > 0 ? colour : behind(node.parentElement);
    };
    const contrast = (...colours) => {
        const [darker, brighter] = colours.map(light).sort((one, other) => one - other);
        return (brighter + 0.05) / (darker + 0.05);
    };
    const ratio = node => {
        const style = getComputedStyle(node);
        return contrast(node instanceof SVGElement ? style.fill : style.color, behind(node));
    };
    const edge = node => getComputedStyle(node).borderTopColor;
    const edged = node => node.checkVisibility() && parseFloat(getComputedStyle(node).borderTopWidth) > 0
        && (numbers(edge(node))[3] ?? 1) > 0; // without an edge, its text is what tells a control
    const edgeRatio = node => Math.min(...[behind(node), behind(node.parentElement)]
        .filter(colour => colour !== edge(node)).map(colour => contrast(edge(node), colour)));
    const controls = 'button:not(:disabled), select, textarea, input:not([type=radio])';
    const unclear = [...document.querySelectorAll(controls)].filter(node => edged(node) && edgeRatio(node) < 3)
        .map(node => [node.outerHTML.slice(0, 99), edgeRatio(node)]);
    const speaks = node => [...node.childNodes].some(child => child.nodeType === Node.TEXT_NODE && child.data.trim());
    return [...document.querySelectorAll('body *:not(option):not(:disabled):not(.target-text):not(.label)')]
        .filter(node => speaks(node) && node.checkVisibility() && ratio(node) < 4.5)
        .map(node => [node.outerHTML.slice(0, 99), ratio(node)])
        .concat(unclear);
}"""


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_structure_and_contrast(visit, scheme):
    page = visit(ALL_KINDS[9].replace("(n,(i,", "(i,", 1)[:-1], color_scheme=scheme)
    answers(page)
    page.get_by_role("button", name=re.compile("^Why")).first.click()
    page.get_by_text("Step by step").click()
    expect(page.locator(".reasons li").first).to_be_visible()
    page.get_by_role("combobox", name=re.compile("^Add")).first.click()
    expect(page.get_by_role("listbox")).to_be_visible()
    page.keyboard.press("ArrowDown")
    assert page.evaluate(NAMELESS) == []
    assert page.evaluate(DANGLING) == []
    assert page.evaluate(REPEATED) == []
    assert page.evaluate(FAINT) == []
    for form in ("paper", "sparql"):
        page.locator(f"#tab-{form}").click()
        expect(page.locator(f"#{form}")).to_be_visible()
        assert page.evaluate(FAINT) == []
    background = page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert (sum(map(int, re.findall(r"\d+", background)[:3])) < 200) == (scheme == "dark")


def test_the_focus_can_be_seen_and_skips_to_the_answers_without_losing_the_question(visit):
    page = visit(CAPITALS, menus=False)
    answers(page)
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="Answers")).to_be_focused()
    expect(page.locator("#paper")).to_have_value(CAPITALS)
    page.locator("#tab-builder").focus()
    for _ in range(12):
        page.keyboard.press("Tab")
        outline = page.evaluate("getComputedStyle(document.activeElement).outlineStyle")
        assert outline != "none", focused(page)
