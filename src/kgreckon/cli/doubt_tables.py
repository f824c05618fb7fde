"""What a check of the data found, as tables."""

from __future__ import annotations

import math

from rich.console import Console
from rich.text import Text

from kgreckon.answers.doubting import Doubts, DoubtSettings
from kgreckon.answers.estimates import interval_texts
from kgreckon.cli.console import print_table
from kgreckon.graph.literals import exactly
from kgreckon.query.vocabulary import Vocabulary


def print_doubts(doubts: Doubts, settings: DoubtSettings, names: Vocabulary, out: Console, rows: int = 15) -> None:
    """The least likely facts and numbers, and how many there are and would be if nothing were wrong."""

    def thing(name: str) -> str:
        return names.entity_label(names.entity_id(name))

    if doubts.facts_judged:
        cells = [
            (
                f"{thing(fact.head)} — {names.relation_label(names.relation_id(fact.relation))} → {thing(fact.tail)}",
                _chance(fact.chance),
                f"{'from ' if fact.of_head else ''}{thing(fact.instead)}, {fact.instead_probability:.0%}",
            )
            for fact in doubts.facts[:rows]
        ]
        print_table(out, "Doubtful facts", ("stated", "chance", "more likely"), cells, ("stated", "more likely"))
        rest = doubts.facts_stated - doubts.facts_judged
        _print_counts(out, "facts", len(doubts.facts), doubts.facts_judged, settings.share)
        if rest > 0:
            out.print(
                Text(f"The other {rest:,} facts were not judged: the model has seen them. --folds 5 judges all."),
                soft_wrap=True,
            )
    if doubts.numbers_judged:
        cells = []
        for one in doubts.numbers[:rows]:
            expected, low, high = interval_texts(one.expected, one.low, one.high, one.unit)
            attribute = names.attribute_label(names.attribute_id(one.attribute))
            stated = f"{thing(one.entity)} — {attribute}: {exactly(one.number, one.unit)}"
            cells.append((stated, _chance(one.chance), f"{expected}, {low} to {high}"))
        print_table(out, "Doubtful numbers", ("stated", "chance", "expected"), cells, ("stated", "expected"))
        _print_counts(out, "numbers", len(doubts.numbers), doubts.numbers_judged, settings.share)


def _print_counts(out: Console, what: str, doubtful: int, judged: int, share: float) -> None:
    out.print(
        Text(
            f"{doubtful:,} of the {judged:,} {what} that were judged have a chance of at most {share:.2g}; "
            f"about {share * judged:,.0f} would if all were right."
        ),
        soft_wrap=True,
    )


def _chance(chance: float) -> str:
    """As people say it: `1 in 3,500`."""
    if chance < 1e-6:
        return "below 1 in a million"
    times = 1 / chance
    return f"1 in {round(times, 1 - int(math.log10(times))):,.0f}"
