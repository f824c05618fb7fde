"""What tests of the page share: a browser, visits that complain about nothing, and a server whose model guesses."""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from kgreckon.answers import Answerer
from kgreckon.answers.live_answerer import LiveAnswerer
from kgreckon.graph import KnowledgeGraph
from kgreckon.graph.changes.live_graph import LiveGraph
from kgreckon.models.exact_model import ExactModel
from kgreckon.models.interface import Candidates, Prediction, ScoreMeaning
from kgreckon.runs.quality import AttributeQuality, Quality, RelationQuality, Suggestion, Tenth
from kgreckon.server import Gate, Limits, Service, application
from served import running

sync_api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
CHROMIUM = shutil.which("chromium")
if CHROMIUM is None:
    pytest.skip("there is no chromium on this machine", allow_module_level=True)

expect = sync_api.expect
expect.set_options(timeout=45_000)  # a machine that does much else is slow, and nothing here is about speed

TOKEN = "a-token-for-changes-0123456789"
DESK: Any = {"viewport": {"width": 1280, "height": 900}}
PHONE: Any = {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True}


class Guessing(ExactModel):
    """What is proved, and guesses: one more answer to every question, one more language, 1,000 km² for each border."""

    name = "guessing"
    calibration = ScoreMeaning.PROBABILITY

    def over(self, graph: KnowledgeGraph) -> ExactModel:
        return Guessing(graph)

    def candidates(self, query: Any, proved: np.ndarray, pause: Any = None) -> Candidates:
        other = np.setdiff1d(np.arange(min(len(proved) + 1, len(self.graph.entities))), proved)[:1]
        scores = np.append(np.ones(len(proved)), np.full(len(other), 0.625)).astype(np.float32)
        return Candidates(np.append(proved, other), scores)

    def likely_facts(self, relation: int, heads: np.ndarray, above: float) -> Any:
        names = self.graph.vocabulary
        tail = len(self.graph.entities) - 1
        if names.relation_name(relation) != "speaks" or tail in self.graph.follows.row(int(heads[0]), relation):
            return (np.zeros(0, dtype=int),) * 3
        return np.array([0]), np.array([tail]), np.array([0.625])

    def attribute_chances(self, entity: int) -> np.ndarray:
        return (np.arange(len(self.graph.attributes)) == self.graph.vocabulary.attribute_id("area")) * 0.875

    def predict(self, entity: int, attribute: int, coverage: float, reasons: bool = False) -> Prediction:
        borders = self.graph.follows.row(entity, self.graph.vocabulary.relation_id("borders"))
        size = 1000.0 * (1 + len(borders))
        return Prediction((), "square kilometres", 0.875, 1.5 * size, size, 2 * size, coverage)


REPORT = Quality(
    entities=1000,
    facts=4000,
    values=900,
    held_back=0.1,
    seconds=12.0,
    mrr=50.0,
    hits_at_1=40.0,
    hits_at_10=70.0,
    tested=300,
    coverage=0.9,
    tenths=tuple(
        Tenth(low=low / 10, high=(low + 1) / 10, candidates=100 - low, stated=low / 10 + 0.05, true=low / 10)
        for low in range(10)
    ),
    relations=(
        RelationQuality(
            name="speaks",
            label="speaks",
            facts=669,
            tested=77,
            mrr=50.0,
            hits_at_10=64.0,
            candidates=90,
            stated=37.4,
            true=43,
        ),
    ),
    attributes=(
        AttributeQuality(
            name="area",
            label="area",
            unit="square kilometres",
            values=247,
            tested=17,
            mean_error=158_000.0,
            median_error=20_000.0,
            mean_error_of_the_median=271_000.0,
            covered=0.875,
        ),
    ),
    entities_without_facts=3,
    suggestions=(
        Suggestion(command="ask", words=("(rp,(^is_a),(e,(Country)))",), answer="Japan", probability=0.8),
        Suggestion(command="predict", words=("Tokyo", "area"), answer="2,194 square kilometres", probability=0.9),
    ),
)


@contextmanager
def serving_model(model: ExactModel) -> Iterator[str]:
    """The address of a server with a model's answers, which takes no changes."""
    limits = Limits()
    app = application(Service(Answerer(model), limits), Gate(limits), {"127.0.0.1"})
    with running(app, limits) as port:
        yield f"http://127.0.0.1:{port}"


@contextmanager
def serving(
    graph: KnowledgeGraph, folder: Path, quality: Quality | None = REPORT, token: str | None = TOKEN
) -> Iterator[str]:
    """The address of a server that guesses over a graph, and takes changes to it with a token."""
    graph.save(folder)
    limits = Limits()
    answerer = LiveAnswerer(LiveGraph(folder), lambda moment: Guessing(moment.graph))
    app = application(Service(answerer, limits, quality=quality), Gate(limits), {"127.0.0.1"}, change_token=token)
    with running(app, limits) as port:
        yield f"http://127.0.0.1:{port}"


@contextmanager
def chromium() -> Iterator[Any]:
    """A browser."""
    with sync_api.sync_playwright() as playwright:
        launched = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield launched
        launched.close()


def settled(page: Any) -> Any:
    """The page when what it asks for has come."""
    expect(page.locator("main:visible")).to_be_visible()
    expect(page.locator("[aria-busy]:visible")).to_have_count(0)
    return page


class Visits:
    """Pages that are opened; afterwards, none complained about anything but the refusals that were expected."""

    def __init__(self, browser: Any, address: str) -> None:
        self.browser, self.address = browser, address
        self.contexts: list[Any] = []
        self.complaints: list[str] = []

    def __call__(self, path: str, at: str | None = None, refusals: bool = False, **options: Any) -> Any:
        context = self.browser.new_context(**{**DESK, **options})
        self.contexts.append(context)
        page = context.new_page()

        def heard(message: Any) -> None:
            if message.type == "error" and not (refusals and message.text.startswith("Failed to load resource")):
                self.complaints.append(message.text)

        page.on("console", heard)
        page.on("pageerror", lambda error: self.complaints.append(str(error)))
        page.goto((at or self.address) + path)
        return settled(page)

    def close(self) -> None:
        for context in self.contexts:
            context.close()
        assert self.complaints == []


def part(page: Any, name: str) -> Any:
    """A section of the page by its heading."""
    return page.get_by_role("region", name=name)
