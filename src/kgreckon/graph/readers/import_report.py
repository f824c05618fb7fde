"""What an import met: counts of what was read, and of what was not and why."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from kgreckon.errors import UserError
from kgreckon.graph.wide.mapping import TableGuess

_EXAMPLES_KEPT = 5

Labels = dict[str, tuple[int, str]]  # name to the rank of a label's language, 0 being the best, and the label


@dataclass
class ImportReport:
    """What was read, and what was left out."""

    skip_bad_lines: bool = False
    files: list[str] = field(default_factory=list)
    names: list[str] = field(default_factory=list)  # those of the files that were taken for tables of names
    unclear: list[str] = field(default_factory=list)  # files whose first row may be a header of things
    facts: int = 0
    values: int = 0
    labels: int = 0
    repeated_facts: int = 0
    repeated_values: int = 0
    of_an_earlier_split: int = 0
    bad_lines: int = 0
    bad_examples: list[str] = field(default_factory=list)
    attributes: list[str] = field(default_factory=list)
    nearly_attributes: dict[str, str] = field(default_factory=dict)
    numbers_as_things: list[str] = field(default_factory=list)
    unknown_dates: int = 0
    rounded: int = 0
    blank_twins: list[str] = field(default_factory=list)
    other_literals: Counter[str] = field(default_factory=Counter)
    labels_of_nothing: int = 0
    tables: list[TableGuess] = field(default_factory=list)  # wide tables, and what their columns became
    rows_left_out: Counter[str] = field(default_factory=Counter)
    texts_taken: dict[str, list[str]] = field(default_factory=dict)  # predicates of RDF, by what their texts became
    texts_left_out: Counter[str] = field(default_factory=Counter)
    merged: int = 0  # things that owl:sameAs says are others
    blank_nodes: int = 0

    progress: Callable[[Path, int], None] | None = None  # see read_sources

    def read(self, path: Path, size: int) -> None:
        """Note that a further part of a file has been read."""
        if self.progress is not None:
            self.progress(path, size)

    def reject(self, path: Path, line: int, problem: str) -> None:
        """Stop at a bad line, or count it where bad lines are to be skipped."""
        self.reject_at(f"{path}:{line}", problem)

    def reject_at(self, place: str, problem: str) -> None:
        """The same for whatever else a place is: a row of a sheet, a cell of a database."""
        message = f"{place}: {problem}"
        if not self.skip_bad_lines:
            raise UserError(message)
        self.bad_lines += 1
        if len(self.bad_examples) < _EXAMPLES_KEPT:
            self.bad_examples.append(message.partition("; --skip-bad-lines")[0])  # which is given

    def remarks(self) -> list[str]:
        """One sentence for each thing that was left out, or taken for what it may not be."""
        remarks = [
            f"{name}: each row was taken for a statement, the first one too; if it is a header and each further row "
            "is a thing: --wide FILE"
            for name in self.unclear
        ]
        if self.attributes:
            remarks.append(
                f"all tails of {_some(self.attributes)} are numbers or dates, and so values (as things: --facts FILE)"
            )
        if self.numbers_as_things:
            told = _some(self.numbers_as_things)
            remarks.append(
                f"all tails of {told} are numbers or dates, but taken for things (as values: --triples FILE)"
            )
        for relation, where in self.nearly_attributes.items():
            remarks.append(
                f"{relation} taken for a relation: most of its tails are numbers or dates, but {where} is not"
            )
        if self.repeated_facts:
            remarks.append(f"{self.repeated_facts:,} repeated facts counted once")
        if self.repeated_values:
            remarks.append(f"{self.repeated_values:,} repeated values counted once")
        if self.of_an_earlier_split:
            remarks.append(
                f"facts and values that an earlier split has too, counted with it: {self.of_an_earlier_split:,}"
            )
        if self.unknown_dates:
            remarks.append(f"{self.unknown_dates:,} dates dropped because their year is unknown")
        if self.rounded:
            remarks.append(f"{self.rounded:,} integers rounded: beyond 2^53 not all of them are told apart")
        if self.blank_twins:
            some = _some([repr(name) for name in self.blank_twins])
            remarks.append(f"names that differ from another only in blanks around them: {some}")
        for kind, count in self.other_literals.most_common():
            remarks.append(f"{count:,} literals left out: {kind}")
        for what, names in self.texts_taken.items():
            remarks.append(f"texts of {_some(names)} taken for {what}")
        for what, count in self.texts_left_out.most_common():
            remarks.append(f"{count:,} texts left out: {what}")
        if self.merged:
            remarks.append(f"{self.merged:,} things merged with others, as owl:sameAs says")
        for what, count in self.rows_left_out.most_common():
            remarks.append(f"{count:,} {what}")
        if self.labels_of_nothing:
            remarks.append(f"{self.labels_of_nothing:,} labels of things that no fact names")
        if self.bad_lines:
            remarks.append(f"{self.bad_lines:,} bad lines skipped, the first: {'; '.join(self.bad_examples)}")
        return remarks


def _some(names: list[str]) -> str:
    """A list in words, which does not grow without end."""
    return ", ".join(names[:_EXAMPLES_KEPT]) + (
        f" and {len(names) - _EXAMPLES_KEPT:,} more" if len(names) > _EXAMPLES_KEPT else ""
    )
