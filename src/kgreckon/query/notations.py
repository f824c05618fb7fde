"""Reading a question in any notation, which its beginning shows: SPARQL, the paper's, else words."""

from __future__ import annotations

import re

from kgreckon.defaults import ANSWERS_SHOWN
from kgreckon.errors import UserError
from kgreckon.query.algebra import Query
from kgreckon.query.paper import parse as parse_paper
from kgreckon.query.question import Aggregate, Question
from kgreckon.query.vocabulary import Vocabulary
from kgreckon.query.words import read_question as read_words

_FIRST_WORDS = "SELECT|PREFIX|BASE|ASK|CONSTRUCT|DESCRIBE|INSERT|DELETE|LOAD|CLEAR|CREATE|DROP|COPY|MOVE|ADD|WITH"
_BEGINS_LIKE_SPARQL = re.compile(rf"\s*(#.*\n\s*)*({_FIRST_WORDS})\b", re.IGNORECASE)
_BEGINS_LIKE_PAPER = re.compile(r"\s*\(\s*[a-z]*\s*,\s*\(")


def is_sparql(text: str) -> bool:
    """Whether a text begins as SPARQL does."""
    return _BEGINS_LIKE_SPARQL.match(text) is not None


def is_paper(text: str) -> bool:
    """Whether a text begins as the paper's notation does: an operator in parentheses, and a parenthesis."""
    return _BEGINS_LIKE_PAPER.match(text) is not None


def answers_wanted(given: int | None, written: int | None) -> int:
    """How many answers are wanted: what the caller gives, what the query says itself, the less where both do."""
    return min((limit for limit in (given, written) if limit is not None), default=ANSWERS_SHOWN)


def read_question(text: str, vocabulary: Vocabulary) -> Question:
    """The question that a text asks."""
    if is_sparql(text):
        from kgreckon.query.sparql import parse as parse_sparql
        from kgreckon.query.sparql import parse_count

        counted = parse_count(text, vocabulary)
        if counted is not None:
            return Question(counted, aggregate=Aggregate.COUNT)
        select = parse_sparql(text, vocabulary)
        return Question(select.query, limit=select.limit)
    if is_paper(text):
        return Question(parse_paper(text, vocabulary))
    if not text.strip():
        raise UserError("the question is empty; ask for instance: cities in Japan")
    return read_words(text, vocabulary)


def read_query(text: str, vocabulary: Vocabulary) -> tuple[Query, int | None]:
    """The query that a text means, and how many answers it asks for, if it says."""
    question = read_question(text, vocabulary)
    if not question.is_plain:
        raise UserError("a set is expected here, not a count, an order or a total")
    return question.query, question.limit
