"""Answers: a model asked like a person, with ranked answers, observed or inferred, and reasons."""

from kgreckon.answers.answer_columns import Cell, Column
from kgreckon.answers.answer_table import Answer, Answers, Estimate
from kgreckon.answers.answerer import COVERAGE, Answerer, name_of
from kgreckon.answers.reason import Reason, Statement
from kgreckon.answers.selecting import Only, Ranking
from kgreckon.answers.sparql_answers import SparqlAnswers
from kgreckon.answers.totals import Total

__all__ = [
    "COVERAGE",
    "Answer",
    "Answerer",
    "Answers",
    "Cell",
    "Column",
    "Estimate",
    "Only",
    "Ranking",
    "Reason",
    "SparqlAnswers",
    "Statement",
    "Total",
    "name_of",
]
