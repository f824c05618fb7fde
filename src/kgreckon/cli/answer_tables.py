"""Answers of a model as tables, with reasons."""

from __future__ import annotations

from rich.console import Console
from rich.text import Text

from kgreckon.answers import Answers, Estimate
from kgreckon.answers.estimates import interval_texts
from kgreckon.cli.console import exactly, print_table
from kgreckon.models.interface import ScoreMeaning


def print_found(answers: Answers, out: Console) -> None:
    """A question in words, its best answers, an estimate where it asks for a number, and reasons if there are any."""
    out.print(Text(answers.words), style="bold", soft_wrap=True)
    out.print(Text(answers.query), style="cyan", soft_wrap=True)
    if answers.calibration is ScoreMeaning.CERTAIN:
        out.print(f"type {answers.type}, {answers.specific_type}", style="dim", soft_wrap=True)
        _print_proved(answers, out)
    else:
        _print_ranked(answers, out)
    if answers.estimate is not None:
        _print_estimate(answers.estimate, out)
    for answer in answers:
        if answer.reason is not None:
            print_reason(answer.label, answer.reason.lines(), out)


def _print_proved(answers: Answers, out: Console) -> None:
    title = f"{answers.observed:,} answer{'s' * (answers.observed != 1)}"
    if len(answers) < answers.observed:
        title += f", the first {len(answers)}"
    if any(answer.value is not None for answer in answers):
        rows = [(exactly(a.value, a.unit or ""), a.unit) for a in answers if a.value is not None]
        print_table(out, title, ("value", "unit"), rows)
    elif all(answer.label == answer.name for answer in answers):
        print_table(out, title, ("answer",), [(answer.label,) for answer in answers])
    else:
        print_table(out, title, ("answer", "name"), [(answer.label, answer.name) for answer in answers])


def _print_ranked(answers: Answers, out: Console) -> None:
    rows = [(a.label, f"{a.score:.4f}", "observed" if a.observed else "inferred") for a in answers]
    if rows:
        title = f"{answers.observed:,} observed; the {len(rows)} best"
        print_table(out, title, ("answer", "score", "known"), rows)
    else:
        nothing = "nothing is observed, and no answer is likely"
        out.print(f"{answers.observed:,} observed, none shown" if answers.observed else nothing)


def _print_estimate(estimate: Estimate, out: Console) -> None:
    middle, low, high = interval_texts(estimate.value, estimate.low, estimate.high, estimate.unit)
    if estimate.expected <= 1:
        sure = "" if estimate.expected >= 1 else f", if there is one (probability {estimate.expected:.2g})"
        interval = f"{low} to {high} with a probability of {estimate.coverage:.0%}"
        out.print(f"one that is not observed{sure}: about {middle} {estimate.unit}, {interval}", soft_wrap=True)
    else:
        spread = f"half of them below {middle} {estimate.unit}, {estimate.coverage:.0%} between {low} and {high}"
        out.print(f"about {estimate.expected:.0f} that are not observed are expected: {spread}", soft_wrap=True)


def print_reason(name: str, lines: list[str], out: Console) -> None:
    """The facts that an answer rests on."""
    out.print(Text(name), style="bold", soft_wrap=True)
    for line in lines:
        out.print(Text(f"  {line}"), soft_wrap=True)
