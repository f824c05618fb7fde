"""Text literals of RDF: by predicate they become things, numbers, dates or names, guessed as columns of tables are."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from kgreckon.graph.graph_builder import GraphBuilder
from kgreckon.graph.literals import local_name
from kgreckon.graph.readers.import_report import ImportReport, Labels
from kgreckon.graph.wide.cell_values import numbers_of
from kgreckon.graph.wide.column_headers import is_name
from kgreckon.graph.wide.forms import REPEATED, TRUTHS, Profile, split
from kgreckon.graph.wide.mapping import Becomes
from kgreckon.graph.wide.references import one_class
from kgreckon.graph.wide.stating import TRUTH, Things
from kgreckon.graph.wide.wide_table import WideTable, distinct
from kgreckon.query.datatypes import PLAIN_UNIT

_XSD = "http://www.w3.org/2001/XMLSchema#"
_LANG_STRING = "http://www.w3.org/1999/02/22-rdf-syntax-ns#langString"
_TAKEN = frozenset((f"{_XSD}string", f"{_XSD}boolean", f"{_XSD}duration", f"{_XSD}dayTimeDuration", _LANG_STRING))
_LANGUAGES = (None, "en", "en-us", "en-gb")
_WORST_RANK = 1_000  # of a label that another property than rdfs:label gives
_LONG, _ENOUGH = 100, 1_000  # characters on average, after so many texts: nothing but text will come


class _Texts:
    """The texts of one predicate."""

    def __init__(self) -> None:
        self.subjects: list[str] = []
        self.texts: list[str] = []
        self.languages: list[str | None] = []
        self.characters = 0
        self.dropped = 0

    def add(self, subject: str, text: str, language: str | None) -> None:
        if self.dropped:
            self.dropped += 1
            return
        self.subjects.append(subject)
        self.texts.append(text)
        self.languages.append(language)
        self.characters += len(text)
        if len(self.texts) >= _ENOUGH and self.characters > _LONG * len(self.texts):
            self.dropped = len(self.texts)
            self.subjects, self.texts, self.languages = [], [], []

    def in_one_language(self) -> int:
        """Keep, in order, the texts without a language and in English where there are some; returns how many others."""
        order = sorted(range(len(self.texts)), key=lambda place: (self.subjects[place], self.texts[place]))
        kept = [place for place in order if self.languages[place] in _LANGUAGES] or order
        others = len(order) - len(kept)
        self.subjects = [self.subjects[place] for place in kept]
        self.texts = [self.texts[place] for place in kept]
        return others


class RdfTexts:
    """Text literals, kept until all of them are read."""

    def __init__(self) -> None:
        self._by_predicate: dict[str, _Texts] = {}
        self._things = Things()

    def add(self, subject: str, predicate: str, text: str, datatype: str, language: str | None) -> bool:
        """Keep a literal; False where its datatype is not one of text."""
        if datatype not in _TAKEN:
            return False
        if text.strip():
            self._by_predicate.setdefault(predicate, _Texts()).add(subject, text, language)
        return True

    def state(self, builder: GraphBuilder, report: ImportReport, labels: Labels) -> None:
        """Add what the texts say to the graph, and names to the labels."""
        relations = []
        for predicate, texts in sorted(self._by_predicate.items()):  # readers give them in an order of their own
            if others := texts.in_one_language():
                report.texts_left_out["in other languages"] += others
            if texts.dropped:
                report.texts_left_out[f"{local_name(predicate)}, long texts"] += texts.dropped
                continue
            profile = Profile(local_name(predicate), pa.array(texts.texts, pa.string()), ".")
            if profile.distinct.total == 0:
                continue
            form = profile.form
            if form is not None and form.mapping.kind.is_value:
                self._state_values(predicate, texts, profile, builder, report)
            elif form is not None and form.mapping.kind is Becomes.BOOLEAN:
                truths = [TRUTHS.get(text.strip().lower()) for text in texts.texts]
                tails = self._things.named(("no", "yes"), TRUTH).to_pylist()
                for subject, truth in zip(texts.subjects, truths, strict=True):
                    if truth is not None:
                        builder.add_fact(subject, predicate, tails[truth])
                report.texts_taken.setdefault("yes and no", []).append(local_name(predicate))
            elif form is None and is_name(profile.header):
                self._name(texts, labels)
                report.texts_taken.setdefault("names", []).append(local_name(predicate))
            elif form is not None or (profile.distinct.repeated >= REPEATED * profile.distinct.total
                                      and profile.distinct.repeated and profile.mean_length <= _LONG / 2):  # fmt: skip
                relations.append((predicate, texts, profile))
            else:
                report.texts_left_out[f"{local_name(predicate)}, of which hardly any repeats"] += len(texts.texts)
        self._state_relations(relations, builder, report)
        self._by_predicate.clear()

    @staticmethod
    def _name(texts: _Texts, labels: Labels) -> None:
        for subject, text in zip(texts.subjects, texts.texts, strict=True):
            labels.setdefault(subject, (_WORST_RANK, text))

    @staticmethod
    def _state_values(
        predicate: str, texts: _Texts, profile: Profile, builder: GraphBuilder, report: ImportReport
    ) -> None:
        form, header = profile.form, profile.header
        assert form is not None
        table = WideTable(header, f"the texts of {header}", {header: profile.column}, row_word="literal")
        told = ImportReport(skip_bad_lines=True)
        found = numbers_of(table, header, form.mapping.model_copy(update={"name": header}), "", told)
        for subject, number in zip(texts.subjects, found.numbers.tolist(), strict=True):
            if np.isfinite(number):
                builder.add_value(subject, predicate, number, found.unit or PLAIN_UNIT, any_unit=True)
        report.texts_taken.setdefault("numbers and dates", []).append(header)
        if told.bad_lines:
            report.texts_left_out[f"{header} that is not like the others"] += told.bad_lines

    def _state_relations(
        self, relations: list[tuple[str, _Texts, Profile]], builder: GraphBuilder, report: ImportReport
    ) -> None:
        renamed = one_class([(profile.header, profile) for _, _, profile in relations])
        for predicate, texts, profile in relations:
            separator = profile.form.mapping.separator if profile.form is not None else ""
            things = renamed.get(profile.header, profile.header)
            found = distinct(profile.texts)
            parts = [split(text, separator) if separator else [text] for text in found.texts]
            different = list(dict.fromkeys(part for own in parts for part in own))
            names = dict(zip(different, self._things.named(different, things).to_pylist(), strict=True))
            for subject, code in zip(texts.subjects, found.codes.tolist(), strict=True):
                for name in map(names.__getitem__, parts[code]) if code >= 0 else ():
                    builder.add_fact(subject, predicate, name)
            report.texts_taken.setdefault("things", []).append(profile.header)
