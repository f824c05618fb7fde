"""Answers of a model as tables, with reasons."""

from __future__ import annotations

from rich.console import Console
from rich.text import Text

from kgreckon.answers import Answer, Answers, Estimate
from kgreckon.answers.estimates import interval_texts
from kgreckon.cli.console import print_numbers, print_table
from kgreckon.graph.literals import exactly
from kgreckon.models.interface import ScoreMeaning
from kgreckon.query.datatypes import with_unit
from kgreckon.query.words.claims import percent


def print_found(answers: Answers, out: Console, notation: bool = False) -> None:
    """A question in words, its best answers, an estimate where it asks for a number, and reasons if there are any.

    With `notation` the query stands below its words as the paper writes it, with its type.
    """
    out.print(Text(answers.words), style="bold", soft_wrap=True)
    if notation:
        out.print(Text(answers.query), style="cyan", soft_wrap=True)
        out.print(f"type {answers.type}, {answers.specific_type}", style="dim", soft_wrap=True)
    if answers.total is not None:
        out.print(str(answers.total), soft_wrap=True)
    elif answers.calibration is ScoreMeaning.CERTAIN:
        _print_proved(answers, out)
    else:
        _print_ranked(answers, out)
    for note in answers.notes():
        remedy = "; --above 0 shows them" if "left out" in note else ""
        out.print(Text(note + remedy), style="dim", soft_wrap=True)
    if answers.estimate is not None:
        _print_estimate(answers.estimate, out)
    for answer in answers:
        if answer.reason is not None:
            print_reason(str(answer), [answer.reason.sentence, *answer.reason.lines()], out)


def _print_proved(answers: Answers, out: Console) -> None:
    title = f"{answers.count:,} answer{'s' * (answers.count != 1)}"
    if len(answers) < answers.count:
        title += f", the first {len(answers)}"
    further = [column.header for column in answers.columns]
    if not answers:
        out.print(title)
    elif any(answer.value is not None for answer in answers):
        numbers = [(*answers.texts(a), exactly(a.value, a.unit or ""), a.unit) for a in answers if a.value is not None]
        print_numbers(out, title, further, numbers)
    elif all(answer.label == answer.name for answer in answers):
        print_table(out, title, ("answer", *further), [(answer.label, *answers.texts(answer)) for answer in answers])
    else:
        rows = [(answer.label, answer.name, *answers.texts(answer)) for answer in answers]
        print_table(out, title, ("answer", "name", *further), rows)


def _print_ranked(answers: Answers, out: Console) -> None:
    further = [column.header for column in answers.columns]
    shown = percent if answers.calibration is ScoreMeaning.PROBABILITY else "{:.4f}".format
    rows = [(str(a), *answers.texts(a), "" if a.observed else shown(a.score), _how(a)) for a in answers]
    columns = ["answer", *further, answers.calibration.value, "known"]
    if all(answer.observed for answer in answers):  # who has no probability needs no column for it
        rows, columns = [(*row[:-2], row[-1]) for row in rows], [*columns[:-2], columns[-1]]
    if rows:
        print_table(out, f"{answers.observed:,} observed; the {len(rows)} best", columns, rows)
    else:
        nothing = "nothing is observed, and no answer is likely"
        out.print(f"{answers.observed:,} observed, none shown" if answers.observed else nothing)


def _how(answer: Answer) -> str:
    return "observed" if answer.observed else "inferred"


def _print_estimate(estimate: Estimate, out: Console) -> None:
    middle, low, high = interval_texts(estimate.value, estimate.low, estimate.high, estimate.unit)
    unit = with_unit("", estimate.unit)
    if estimate.expected <= 1:
        sure = "" if estimate.expected >= 0.995 else f", if there is one ({percent(estimate.expected)})"
        interval = f"{low} to {high}{unit} with a probability of {estimate.coverage:.0%}"
        out.print(f"not stated{sure}: about {middle}{unit}, {interval}", soft_wrap=True)
    else:
        spread = f"half of them below {middle}{unit}, {estimate.coverage:.0%} between {low} and {high}{unit}"
        out.print(f"about {estimate.expected:.0f} that are not stated are expected: {spread}", soft_wrap=True)


def print_reason(name: str, lines: list[str], out: Console) -> None:
    """The facts that an answer rests on."""
    out.print(Text(name), style="bold", soft_wrap=True)
    for line in lines:
        out.print(Text(f"  {line}"), soft_wrap=True)
