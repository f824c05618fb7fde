"""Reading a query in any notation: SPARQL where the text begins like it, else the paper's."""

from __future__ import annotations

import re

from kgreckon.query.algebra import Query
from kgreckon.query.paper import parse as parse_paper
from kgreckon.query.vocabulary import Vocabulary

_SHOWN = 20  # answers, where nobody says how many
_FIRST_WORDS = "SELECT|PREFIX|BASE|ASK|CONSTRUCT|DESCRIBE|INSERT|DELETE|LOAD|CLEAR|CREATE|DROP|COPY|MOVE|ADD|WITH"
_BEGINS_LIKE_SPARQL = re.compile(rf"\s*(#.*\n\s*)*({_FIRST_WORDS})\b", re.IGNORECASE)


def is_sparql(text: str) -> bool:
    """Whether a text begins as SPARQL does."""
    return _BEGINS_LIKE_SPARQL.match(text) is not None


def answers_wanted(given: int | None, written: int | None) -> int:
    """How many answers are wanted: what the caller gives, what the query says itself, the less where both do."""
    return min((limit for limit in (given, written) if limit is not None), default=_SHOWN)


def read_query(text: str, vocabulary: Vocabulary) -> tuple[Query, int | None]:
    """The query that a text means, and how many answers it asks for, if it says."""
    if not is_sparql(text):
        return parse_paper(text, vocabulary), None
    from kgreckon.query.sparql import parse as parse_sparql

    select = parse_sparql(text, vocabulary)
    return select.query, select.limit
