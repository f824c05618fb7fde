"""SELECTs of several variables over a pattern that is a tree: which sets of the algebra their columns come from.

The answers are those of one variable, as in `reading`. What the other variables are for one answer is asked by reading
the same tree from each of them, with all that is known of the others.
"""

from __future__ import annotations

from dataclasses import dataclass

from kgreckon.errors import BeyondAlgebraError, UserError
from kgreckon.query.algebra import Query
from kgreckon.query.sparql.elements import Group, Iri, Literal, ValuesClause, Variable
from kgreckon.query.sparql.meaning import Meaning
from kgreckon.query.sparql.reading import tree_from
from kgreckon.query.sparql.syntax import ABOUT_ANSWERS, SortKey, read_table
from kgreckon.query.sparql.text import MAX_TOKENS
from kgreckon.query.vocabulary import Vocabulary


@dataclass(frozen=True)
class SolutionQuery:
    """A SELECT of several variables, or with an order: its answers, its columns, and what else its order needs."""

    query: Query
    root: str
    columns: tuple[str, ...]
    marks: tuple[str, ...]  # the columns that say how a row is known
    keys: tuple[SortKey, ...]
    limit: int | None
    others: tuple[str, ...]  # variables of the pattern that columns and keys name, beside the root
    group: Group
    vocabulary: Vocabulary

    def of(self, variable: str, known: dict[str, Iri | Literal]) -> Query:
        """What a variable may be, given what others are."""
        values = tuple(ValuesClause(Variable(name), (term,)) for name, term in known.items())
        group = Group((*self.group.elements, *values))
        return tree_from(Meaning(self.vocabulary, group), group, Variable(variable))


def parse_solutions(text: str, vocabulary: Vocabulary, tokens: int = MAX_TOKENS) -> SolutionQuery:
    """The SELECT that a text writes, if its pattern is a tree; its order may name selected variables and ?score."""
    table = read_table(text, tokens)
    shown = table.group.variables
    named = dict.fromkeys((*table.columns, *(key.variable for key in table.keys)))
    own = [name for name in named if name not in ABOUT_ANSWERS or Variable(name) in shown]
    for name in own:
        if Variable(name) not in shown:
            raise UserError(f"?{name} is selected but does not occur in the pattern")
    if any(key.variable not in table.columns and key.variable not in ABOUT_ANSWERS for key in table.keys):
        raise BeyondAlgebraError("with inference the order may name what is selected, and ?score")
    meaning = Meaning(vocabulary, table.group)
    things = [name for name in own if not any(meaning.told_sorts(table.group, Variable(name)))]
    if not things:
        raise BeyondAlgebraError("with inference one of the variables must be a thing")
    root = things[0]
    query = tree_from(meaning, table.group, Variable(root))
    others = tuple(name for name in own if name != root)
    return SolutionQuery(
        query, root, table.columns, table.marks, table.keys, table.limit, others, table.group, vocabulary
    )
