"""Ranked answers of a trained run, with reasons."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console
from rich.text import Text

from kgreckon.answering import Answers
from kgreckon.terminal.tables import measured, print_table


def print_ranked(found: Answers, reasons: Sequence[Sequence[str]], out: Console) -> None:
    """A question in words, its best answers, an estimate where it asks for a number, and reasons if given."""
    out.print(Text(found.words), style="bold", soft_wrap=True)
    out.print(Text(found.query), style="cyan", soft_wrap=True)
    rows = [
        (answer.label, f"{answer.score:.4f}", "observed" if answer.observed else "inferred") for answer in found.answers
    ]
    if rows:
        title = f"{found.observed:,} observed; the {len(rows)} best"
        print_table(out, title, ("answer", "score", "known"), rows)
    else:
        nothing = "nothing is observed, and no answer is likely"
        out.print(f"{found.observed:,} observed, none shown" if found.observed else nothing)
    if found.estimate is not None:
        each = found.estimate
        low, middle, high = (measured(number, each.unit) for number in (each.low, each.value, each.high))
        if each.expected <= 1:
            sure = "" if each.expected >= 1 else f", if there is one (probability {each.expected:.2g})"
            interval = f"between {low} and {high} with a probability of {each.coverage:.0%}"
            out.print(f"one that is not observed{sure}: about {middle} {each.unit}, {interval}", soft_wrap=True)
        else:
            spread = f"half of them below {middle} {each.unit}, {each.coverage:.0%} between {low} and {high}"
            out.print(f"some {each.expected:.0f} that are not observed are to be expected: {spread}", soft_wrap=True)
    for answer, reason in zip(found.answers, reasons, strict=False):
        print_reason(answer.label, reason, out)


def print_reason(name: str, reason: Sequence[str], out: Console) -> None:
    """The facts that an answer rests on."""
    out.print(Text(name), style="bold", soft_wrap=True)
    for line in reason:
        out.print(Text(f"  {line}"), soft_wrap=True)
