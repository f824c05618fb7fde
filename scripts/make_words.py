"""Write the tables of docs/words.md: questions in words with their answers, on World and on the films of the tests.

python scripts/make_words.py [--check]
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from kgreckon.answers import Answerer, Answers
from kgreckon.graph import KnowledgeGraph, world
from kgreckon.graph.literals import exactly
from kgreckon.models.exact_model import ExactModel
from kgreckon.query.notations import read_question

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "words.md"
BEGIN = "<!-- made by scripts/make_words.py -->\n"
SHOWN = 3

WORLD = (
    "cities in Japan",
    "City where latitude > latitude of Oslo",
    "countries that border France, with population > 2 × population of Belgium",
    "airports in Switzerland whose elevation is missing",
    "the population of the capitals of countries on South America",
    "top 5 cities by population in countries that speak French",
    "cities within 2 degrees of the latitude of Rome",
    "what is the capital of France?",
    "France's population",
    "which countries border France and Germany?",
    "which countries border France or speak Dutch?",
    "countries in Europe that do not speak French",
    "countries whose capital is Paris",
    "how many countries are there?",
    "how many airports in Japan?",
    "average population of cities in Japan",
    "total population of countries that border Germany",
    "median elevation of airports in Switzerland",
    "airports higher than 4 km",
    "airports higher than every airport in Switzerland",
    "airports in Japan with elevation not > 5 metres",
    "airports in Japan without elevation",
    "cities with population between 1 and 1.1 million",
    "the 3 northernmost airports",
    "the highest airport in Japan",
    "bottom 3 countries by area",
    "cities with latitude nearest to the latitude of Rome",
    "cities or airports north of Reykjavík",
    "countries with population ≈ 2 × the population of Belgium",
    "the countries of cities with population > 15 million",
    "what Switzerland borders",
    "countries in Europe with population / area > 500",
    "top 3 countries by population / area",
    "countries with population > population of France + population of Germany",
    "countries in Africa, Asia or Europe",
    "cities in Japan with more than 2 million people",
    "top 5 cities by population in countries whose official language is French",
    "countries in Europe or countries in Asia",
    "the most populous city in Africa",
    "the capital of the country with the smallest area",
    "airports higher than the highest airport in Japan",
    "population and area of France",
    "the population of France - the population of Germany",
    "is Paris in France?",
    "distance between Rome and Paris",
    "languages spoken in Switzerland",
    "the largest city in the world",
    "the second largest country by area",
    "which country has the third most people?",
    "countries with more people than France",
    "countries where French is spoken, in Asia",
    "airports near Paris",
    "how big is France?",
    "how high is Geneva Cointrin International Airport?",
    "how many people live in Japan?",
    "where is Paris?",
)
FILMS = (
    "how many films directed by someone born before 1930?",
    "films where budget is between 1 and 5 million dollars, and not genre Drama",
    "who directed Alien?",
    "the genres of films directed by Fritz Lang",
    "films released in 1936",
    "films longer than 2 hours",
    "films whose budget is unknown",
    "the 3 longest films",
    "total budget of films with genre Drama",
    "people born after 1960",
    "top 3 films by budget / length",
    "the second oldest film",
    "how old is Fritz Lang?",
)


def answer_text(answers: Answers, limited: bool) -> str:
    """The answer in one cell: the first answers and how many more there are, or a number."""
    if answers.total is not None:
        return str(answers.total)
    first = [str(answer) for answer in answers]
    if answers.columns and answers.columns[0].unit is not None:
        unit = answers.columns[0].unit
        cells = [answer.values[0] for answer in answers]
        values = ["" if cell is None or cell.value is None else f" ({exactly(cell.value, unit)})" for cell in cells]
        first = [f"{label}{value}" for label, value in zip(first, values, strict=True)]
    if answers.observed == 0:
        return "none"
    more = 0 if limited else answers.observed - answers.unordered - len(first)
    return ", ".join(first) + (f" and {more:,} more" if more > 0 else "")


def rows(graph: KnowledgeGraph, questions: tuple[str, ...]) -> list[str]:
    """A row of a table for each question: as it is asked, as it is understood, and its answer."""
    answerer, lines = Answerer(ExactModel(graph)), ["| question | understood as | answer |", "|---|---|---|"]
    for question in questions:
        answers = answerer.ask(question)
        answers = answerer.ask(question, limit=len(answers) if len(answers) <= SHOWN + 2 else SHOWN)
        limited = read_question(question, graph.vocabulary).limit is not None
        lines.append(f"| {question} | {answers.words} | {answer_text(answers, limited)} |")
    return lines


def tables() -> str:
    """Both tables."""
    sys.path.insert(0, str(ROOT / "tests"))
    from films import films

    on_films = "The thirteen films of `tests/films.py`, whose relations have no phrases: their verbs are guessed."
    parts = ["## Examples on World", "", *rows(world(), WORLD), "", "## Examples on films", "", on_films, ""]
    return BEGIN + "\n" + "\n".join([*parts, *rows(films(), FILMS)]) + "\n"


def main() -> None:
    """Write the tables, or say whether they are what they should be."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="change nothing; fail where the page would change")
    arguments = parser.parse_args()
    page = PAGE.read_text(encoding="utf-8")
    made = page.partition(BEGIN)[0] + tables()
    if not arguments.check:
        PAGE.write_text(made, encoding="utf-8")
    elif made != page:
        sys.exit(f"{PAGE} is not what its questions answer: run scripts/make_words.py")


if __name__ == "__main__":
    main()
