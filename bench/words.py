"""How long reading words takes: lines of 500 characters, and questions beside the same ones in the paper's notation.

    python bench/words.py [GRAPH]

GRAPH is a graph folder or a file of tables; the questions, and the bound on the lines, are for World. All times are of
the processor, and each is the least of several.
"""

from __future__ import annotations

import argparse
import random
import sys
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from time import process_time

import kgreckon
from kgreckon.cli.console import console, print_table
from kgreckon.errors import UserError
from kgreckon.graph import world
from kgreckon.query.notations import read_question
from kgreckon.query.paper import write

BOUND = 50.0  # milliseconds for a line of 500 characters
TIMES = 5
_WORDS = """
    cities countries airports things Japan France Oslo that which with without whose where not and or in of the a
    border borders speak speaks population latitude elevation > < ≥ = between within 5 1,000 million km degrees ( ) , ;
    "City" "x #3 by top how many every numbers missing is are have do 's × + - all of any nearest to
"""
WORDS = _WORDS.split()
QUESTIONS = (
    "cities in Japan",
    "City where latitude > latitude of Oslo",
    "countries that border France, with population > 2 × population of Belgium",
    "airports in Switzerland whose elevation is missing",
    "the population of the capitals of countries on South America",
    "cities within 2 degrees of the latitude of Rome",
    "airports higher than every airport in Switzerland",
)


def lines() -> dict[str, str]:
    """Lines of about 500 characters, by what they are: deep, long, ambiguous, wrong."""
    rng = random.Random(7)
    mixed = {f"words in any order, {number}": " ".join(rng.choices(WORDS, k=90))[:500] for number in range(1, 31)}
    return {
        "relations within relations": "cities in " + "countries that border " * 22 + "France",
        "brackets": "cities that are " + "(" * 240 + "in Japan" + ")" * 240,
        "opening brackets": "(" * 500,
        "conditions": "cities with population " + "> 5 and " * 58 + "> 6",
        "alternatives": "cities in Japan or " * 25 + "cities in Japan",
        "attributes of attributes": "the population of " * 27 + "Japan",
        "negations": "not " * 125,
        "orders within orders": ("top 3 " * 90)[:500],
        "superlatives": ("the largest " * 42)[:500],
        "one long unknown name": "X" * 500,
        "many unknown names": "Xy " * 166,
        "alternatives, and a mistake at the end": "cities in Japan or " * 25 + "cities in Japn",
        "conditions, and a mistake at the end": "cities with population " + "> 5 and " * 58 + "> latitude of Oslo",
        "conditions of what is not said": "cities in countries"
        + " that border France and speak French or" * 12
        + " in Asia",
    } | mixed


def milliseconds(work: Callable[[], object]) -> float:
    """The least time of the processor that some work takes; that a text is refused is work too."""
    least = float("inf")
    for _ in range(TIMES):
        start = process_time()
        with suppress(UserError):
            work()
        least = min(least, process_time() - start)
    return 1000 * least


def main() -> None:
    """Measure, print, and end with code 1 where a line takes longer than the bound."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("graph", nargs="?", help="World, if none is given")
    given = parser.parse_args().graph
    graph = world() if given is None else kgreckon.open_graph(given)
    names, out = graph.vocabulary, console()
    with suppress(UserError):
        read_question("cities in Japan", names)  # makes the lexicon, once for a graph
    took = {what: milliseconds(partial(read_question, line, names)) for what, line in lines().items()}
    slowest = sorted(took.items(), key=lambda pair: -pair[1])
    print_table(
        out,
        "Lines of 500 characters",
        ("what", "ms"),
        [(what, f"{ms:.1f}") for what, ms in slowest[:12]],
        left=("what",),
    )
    out.print(f"{len(took)} lines: {sum(took.values()) / len(took):.1f} ms on average; the bound is {BOUND:g} ms")
    if given is None:
        answerer = kgreckon.load(graph)
        rows = []
        for words in QUESTIONS:
            paper = write(read_question(words, names).query, names)
            works: list[Callable[[], object]] = [partial(read_question, text, names) for text in (words, paper)]
            works += [partial(answerer.ask, text) for text in (words, paper)]
            rows.append((words, *(f"{milliseconds(work):.2f}" for work in works)))
        columns = ("question", "words read, ms", "paper's read, ms", "words asked, ms", "paper's asked, ms")
        print_table(out, "From a question to its query, and to its answers", columns, rows, left=("question",))
    sys.exit(slowest[0][1] > BOUND)


if __name__ == "__main__":
    main()
