"""Write docs/questions.md: questions asked of trained runs, with what the command line prints.

    python scripts/make_questions.py runs/world [runs/fb15k-reckoner]

The first is what `kgreckon learn world --out runs/world` learns, the second a reckoner of FB15k; without it, what is
there of FB15k is kept.
"""

from __future__ import annotations

import argparse
import os
import shlex
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from kgreckon.runs import Run

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "questions.md"
FB15K = "\n## On FB15k\n"


@dataclass(frozen=True)
class Question:
    """A question in words, why it is asked, and how."""

    words: str
    remark: str
    query: str
    options: tuple[str, ...] = ()


WORLD = (
    Question(
        "Which cities lie north of a Japanese city?",
        "North of the southernmost will do: some Japanese city is meant, not every one.",
        "cities with latitude > the latitude of a city in Japan",
        ("--explain", "--limit", "1"),
    ),
    Question(
        "Which Japanese cities lie north of Beijing?",
        "A comparison with one thing's number, as in the paper's third example.",
        "cities in Japan with latitude > the latitude of Beijing",
        ("--order=-latitude", "--limit", "3"),
    ),
    Question(
        "Which cities have more than twice as many people as every Californian one?",
        "A comparison with twice a number, as in the paper's fourth example.",
        "cities with population > 2 × the population of every city in California",
        ("--order=-population", "--limit", "3"),
    ),
    Question(
        "Which airports are higher than any in Switzerland?",
        "Higher than every Swiss one that the graph knows. That rests on what is not stated, so these are found, not\n"
        "proved: the lines below say how likely it is that a fact is missing that would refute one.",
        "airports higher than every airport in Switzerland",
        ("--explain", "--limit", "2"),
    ),
    Question(
        "Which countries have twice as many people as a neighbour of Germany?",
        "Equal within one percent.",
        "countries with population ≈ 2 × the population of countries that border Germany",
        ("--explain", "--limit", "2"),
    ),
    Question(
        "Which other countries may have more than twice as many people as France?",
        "Only what the graph does not prove: countries whose population it does not state.",
        "countries with population > 2 × the population of France",
        ("--only", "inferred", "--above", "0", "--explain", "--limit", "2"),
    ),
    Question(
        "Which countries may speak Portuguese, though the graph does not say so?",
        "A guess from what neighbours and similar countries speak, with a probability.",
        "countries that speak Portuguese",
        ("--only", "inferred", "--above", "0", "--explain", "--limit", "2"),
    ),
    Question(
        "How many people live in the capitals of France's neighbours?",
        "A question for numbers: the ones that are stated, and where one that is not stated may lie.",
        "the population of the capitals of countries that border France",
        ("--limit", "4"),
    ),
    Question(
        "Which capitals of France's neighbours have more than a million people? In SPARQL",
        "The same algebra, read from SPARQL.",
        "SELECT ?city WHERE { ?city :capital_of ?country . ?country :borders :France ; :is_a :Country . "
        "?city :population ?people . FILTER(?people > 1000000) }",
        ("--limit", "3"),
    ),
)

AWARD = "/award/award_winner/awards_won./award/award_honor/award"
PULITZER = (
    "(u,(e,(/m/0c_n9)),(e,(/m/0d085)),(e,(/m/0c_dx)),(e,(/m/0m57f)),(e,(/m/0lyb_)),(e,(/m/0196kn)),(e,(/m/0d8m3)))"
)
BORN = "http://rdf.freebase.com/ns/people.person.date_of_birth"
FREEBASE = (
    Question(
        "Which Australian Pulitzer winner was born before 1927?",
        "FB15k knows seven of the prizes that people win, and states no Australian winner: what follows is inferred.\n"
        "Entities go by their Freebase ids where a name is shared; `/m/0chghy` is Australia.",
        f"(i,(rp,(^/people/person/nationality),(e,(/m/0chghy))),(rp,(^{AWARD}),{PULITZER}),"
        f"(rap,({BORN}),(np,(SmallerThan),(nv,(1927)))))",
        ("--explain", "--limit", "3"),
    ),
    Question(
        "Which Pulitzer winners with a Canadian passport were born before 1927?",
        "The same of Canada, where the graph proves one.",
        f"(i,(rp,(^/people/person/nationality),(e,(/m/0d060g))),(rp,(^{AWARD}),{PULITZER}),"
        f"(rap,({BORN}),(np,(SmallerThan),(nv,(1927)))))",
        ("--explain", "--limit", "2"),
    ),
    Question(
        "At which universities did the Canadian Turing Award laureates study?",
        "FB15k holds the Turing Award and not one laureate: whom it may have been given to is a prediction, and so is\n"
        "all that follows. The probabilities say how little to trust it.",
        "(rp,(/people/person/education./education/education/institution),"
        f"(i,(rp,(^/people/person/nationality),(e,(/m/0d060g))),(rp,(^{AWARD}),(e,(/m/07n52)))))",
        ("--explain", "--limit", "2"),
    ),
)


def asked(question: Question, run: str, shown: str) -> str:
    """A question with what the command line prints."""
    arguments = [question.query, *question.options]
    environment = os.environ | {"COLUMNS": "118", "TERM": "dumb"}
    done = subprocess.run(
        [sys.executable, "-m", "kgreckon", "ask", run, *arguments],
        capture_output=True, text=True, check=True, env=environment,
    )  # fmt: skip
    command = f"$ kgreckon ask {shown} {shlex.join(arguments)}"
    return f"### {question.words}\n\n{question.remark}\n\n```console\n{command}\n{done.stdout.rstrip()}\n```\n"


def main() -> None:
    """Ask all questions and write the page."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("world")
    parser.add_argument("fb15k", nargs="?")
    arguments = parser.parse_args()
    page = (
        "# Questions\n\nThe paper's own questions and some more, as `scripts/make_questions.py` asked them: what the\n"
        "graph proves comes first, then what a reckoner infers, with reasons.\n\n## On World\n\n"
        "Of what `kgreckon learn world --out runs/world` learns, on two cores in less than two minutes.\n\n"
    )
    page += "\n".join(asked(question, arguments.world, "runs/world") for question in WORLD)
    if arguments.fb15k:
        settings = Run.open(arguments.fb15k).header["settings"]["reckoner"]
        rules = "" if settings.get("rules") else ", without rules"
        page += (
            f"{FB15K}\nOf a small reckoner of FB15k: rank {settings['rank']}, {settings['epochs']} epochs{rules}.\n\n"
        )
        page += "\n".join(asked(question, arguments.fb15k, "runs/fb15k-reckoner") for question in FREEBASE)
    elif PAGE.is_file():
        page += "".join(PAGE.read_text(encoding="utf-8").partition(FB15K)[1:])
    PAGE.write_text(page, encoding="utf-8")


if __name__ == "__main__":
    main()
