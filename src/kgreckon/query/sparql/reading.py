"""SPARQL into the algebra: a pattern that is a tree, read from the projected variable down.

Whatever is said of a variable is one part of an intersection: a triple leads on to the variable at its other end, a
comparison to the one it compares with, a block (a group, UNION, NOT EXISTS, MINUS) shares one variable and no more.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass, replace
from typing import assert_never

from kgreckon.errors import BeyondAlgebraError, UserError
from kgreckon.query.algebra import And, Compare, Comparison, Not, Or, Order, Query, sort_of
from kgreckon.query.s_expressions import MAX_DEPTH
from kgreckon.query.shapes import check_size
from kgreckon.query.sparql.elements import (
    Alternative,
    Block,
    BlockKind,
    Element,
    Everything,
    Group,
    Iri,
    Linear,
    Literal,
    Mark,
    NumberCondition,
    Path,
    PathStep,
    Same,
    Span,
    Term,
    Triple,
    ValuesClause,
    Variable,
    variables_of,
)
from kgreckon.query.sparql.expressions import comparison_for
from kgreckon.query.sparql.meaning import Meaning, Part, join
from kgreckon.query.sparql.syntax import read, read_ask, read_count
from kgreckon.query.sparql.text import MAX_TOKENS
from kgreckon.query.vocabulary import Vocabulary


@dataclass(frozen=True)
class SparqlQuery:
    """A SELECT as a query of the algebra, with the variable it asks for and the most answers it wants.

    `columns` are the selected variables in order: the one of the pattern, and beside it perhaps ?score and ?observed.
    """

    query: Query
    variable: str
    limit: int | None
    columns: tuple[str, ...]


def parse(text: str, vocabulary: Vocabulary, tokens: int = MAX_TOKENS) -> SparqlQuery:
    """The query that a SELECT of the subset in docs/sparql.md denotes, its sorts and units checked.

    A text of more than so many words and signs is refused: to read one takes time that nothing can cut short.
    """
    try:
        select = read(text, tokens)
        if select.variable not in select.group.variables:
            raise UserError(f"{select.variable} is selected but does not occur in the pattern")
        query = tree_from(Meaning(vocabulary, select.group), select.group, select.variable)
    except RecursionError:
        raise _too_deep() from None
    return SparqlQuery(query, select.variable.name, select.limit, select.columns)


def parse_count(text: str, vocabulary: Vocabulary, tokens: int = MAX_TOKENS) -> Query | None:
    """The set that a SELECT with nothing but the COUNT of a variable's different values counts; None of any other."""
    try:
        counted = read_count(text, tokens)
        if counted is None:
            return None
        if counted.variable not in counted.group.variables:
            raise UserError(f"{counted.variable} is counted but does not occur in the pattern")
        return tree_from(Meaning(vocabulary, counted.group), counted.group, counted.variable)
    except RecursionError:
        raise _too_deep() from None


def parse_ask(text: str, vocabulary: Vocabulary, tokens: int = MAX_TOKENS) -> tuple[Query, ...]:
    """The queries that all have an answer if an ASK is true: one for each part of its pattern that stands alone."""
    try:
        pattern = Group(tuple(part for each in enumerate(read_ask(text, tokens).elements) for part in _opened(*each)))
        meaning = Meaning(vocabulary, pattern)
        return tuple(tree_from(meaning, group, _first_variable(group)) for group in _connected(pattern))
    except RecursionError:
        raise _too_deep() from None


def tree_from(meaning: Meaning, group: Group, root: Variable) -> Query:
    """What a pattern says of one of its variables, its size, sorts and units checked."""
    _check_predicates(group)
    query = _Tree(meaning, group, root, 0).part(answers=True).build(None)
    check_size(query)
    sort_of(query, meaning.vocabulary)
    return query


def _check_predicates(group: Group) -> None:
    """Refuse variables as predicates, before any name is looked up: such a variable need not stand for an entity."""
    for element in group.elements:
        match element:
            case Triple(path=Variable() as path):
                raise BeyondAlgebraError(f"a variable as predicate ({path}) is not supported")
            case Block(groups=groups):
                for inner in groups:
                    _check_predicates(inner)


def _opened(place: int, element: Element) -> tuple[Element, ...]:
    """A triple of constants with a variable in its subject's place, whose one value is the subject."""
    match element:
        case Triple(Iri() | Literal() as subject, path, Iri() | Literal() as end):
            variable = Variable(f"_: {place}")  # as nobody can write it
            return Triple(variable, path, end), ValuesClause(variable, (subject,))
    return (element,)


def _connected(pattern: Group) -> list[Group]:
    """The parts of a pattern that share no variable."""
    parts: list[tuple[set[Variable], list[int]]] = []
    for place, element in enumerate(pattern.elements):
        variables, places = set(variables_of(element)), [place]
        for part in [part for part in parts if part[0] & variables]:
            parts.remove(part)
            variables, places = variables | part[0], places + part[1]
        parts.append((variables, places))
    return [Group(tuple(pattern.elements[place] for place in sorted(places))) for _, places in parts]


def _first_variable(group: Group) -> Variable:
    """The variable that a pattern is read from: one that triples bind or else, in a UNION, one of all its groups."""
    triples = [element for element in group.elements if isinstance(element, Triple)]
    for element in (*triples, *group.elements):
        groups = element.groups if isinstance(element, Block) else ()
        for variable in variables_of(element):
            if all(variable in each.variables for each in groups):
                return variable
    raise BeyondAlgebraError("in ASK a condition or a block needs a variable that all its groups have")


def _too_deep() -> UserError:
    return UserError(f"a query may be at most {MAX_DEPTH} levels deep")


class _Tree:
    """One group, read from the variable that it shares with what is around it."""

    def __init__(self, meaning: Meaning, group: Group, root: Variable, depth: int) -> None:
        self.meaning = meaning
        self.group = group
        self.root = root
        self.depth = depth
        self.seen: set[int] = set()  # places of elements
        self.visited: set[Variable] = set()
        self.uses: dict[Variable, list[int]] = defaultdict(list)
        self.occurs = Counter(variable for element in group.elements for variable in set(variables_of(element)))
        self.shown = [self._shown(place) for place in range(len(group.elements))]
        for place, variables in enumerate(self.shown):
            for variable in dict.fromkeys(variables):
                self.uses[variable].append(place)

    def _shown(self, place: int) -> tuple[Variable, ...]:
        """The variables that tie an element to the others: of a block, only those that occur outside of it."""
        element = self.group.elements[place]
        variables = variables_of(element)
        if not isinstance(element, Block):
            return variables
        shared = tuple(variable for variable in variables if variable == self.root or self.occurs[variable] > 1)
        if len(shared) > 1:
            names = " and ".join(map(str, shared))
            raise BeyondAlgebraError(
                f"{element.kind.value} shares {names} with its surroundings: it may share one variable"
            )
        if element.kind is BlockKind.MINUS and shared:
            before = [earlier for earlier in self.group.elements[:place] if _binds(earlier)]
            if not any(shared[0] in variables_of(earlier) for earlier in before):
                raise UserError(f"MINUS takes from what stands before it: put it after {shared[0]} is bound")
        return shared

    def part(self, answers: bool = False, free: bool = False) -> Part:
        """What the group says of its root; `free` where the root is bound outside."""
        part = self.visit(self.root, None, None, answers, free)
        for place, element in enumerate(self.group.elements):
            if place not in self.seen:
                shown = " and ".join(str(variable) for variable in variables_of(element)) or "a pattern of constants"
                raise BeyondAlgebraError(
                    f"unconnected patterns are not supported: {shown} is not connected with {self.root}"
                )
        return part

    def visit(self, variable: Variable, via: int | None, of_numbers: bool | None, answers: bool, free: bool) -> Part:
        """What is said of a variable, other than by the element that led to it."""
        if variable in self.visited:
            raise BeyondAlgebraError(f"a cyclic pattern is not supported: there are two ways to {variable}")
        self.visited.add(variable)
        self.depth += 1
        if self.depth > 2 * MAX_DEPTH:
            raise _too_deep()
        self.check_marks(variable, of_numbers)
        parts: list[Part] = []
        bound = free or (via is not None and isinstance(self.group.elements[via], Triple))
        for place in self.uses[variable]:
            if place == via:
                continue
            if place in self.seen:
                raise BeyondAlgebraError(f"a cyclic pattern is not supported: there are two ways to {variable}")
            self.seen.add(place)
            element = self.group.elements[place]
            if of_numbers is False and isinstance(element, NumberCondition):
                raise UserError(f"{variable} is an entity: only numbers are compared")
            part = self.element(element, place, variable, answers)
            if part is not None:
                parts.append(part)
            bound = bound or _binds(element)
        self.depth -= 1
        if not bound:
            raise UserError(f"{variable} is compared but never bound: say what it is a value of")
        return self.together(variable, parts, of_numbers, answers)

    def check_marks(self, variable: Variable, of_numbers: bool | None) -> None:
        """Refuse a test such as isNumeric(?x) where ?x can only be an entity: no answer would pass it."""
        elements = self.group.elements
        marks = [each.number for each in elements if isinstance(each, Mark) and each.variable == variable]
        if not marks:
            return
        told = [*marks, *self.meaning.told_sorts(self.group, variable), *([] if of_numbers is None else [of_numbers])]
        if len(set(told)) > 1:
            raise UserError(f"{variable} is asked to be a number and to be an entity: nothing is both")

    def together(self, variable: Variable, parts: list[Part], of_numbers: bool | None, answers: bool) -> Part:
        """The intersection of what is said of a variable; all of a unit, or all entities, adds nothing to most."""
        wholes = [part for part in parts if part.everything]
        rest = [part for part in parts if not part.everything]
        if not parts:
            if of_numbers is None:
                raise UserError(f"nothing is said of {variable}")
            return self.meaning.all_numbers(None) if of_numbers else self.meaning.all_entities()
        if not rest:
            return wholes[0]
        unit = next((part.unit for part in wholes if part.unit is not None), None)
        if unit is None:
            return join(And, rest)
        if not answers and not any(part.stated for part in rest):
            rest = [wholes[0], *rest]
        joined = join(And, rest)
        known = joined.unit or unit
        if known != unit:
            raise UserError(f"{variable} is measured in {known} and in {unit}: they cannot be compared")
        return Part(lambda _: joined.build(unit), unit, joined.stated, size=joined.size)

    def element(self, element: Element, place: int, variable: Variable, answers: bool) -> Part | None:
        """What one element says of a variable."""
        meaning = self.meaning
        match element:
            case Triple():
                return self.triple(element, place, variable)
            case Span(order, left, right, bound):
                return self.span(NumberCondition(order, left, right, 0.0), bound, place, variable)
            case NumberCondition():
                comparison, leaf = comparison_for(element, variable)
                if isinstance(leaf, Literal):
                    of = meaning.number(leaf)
                    if comparison == Comparison(Order.EQUAL, tolerance=0.0):
                        return of
                else:
                    of = self.visit(leaf, place, True, answers=False, free=False)
                return Part(lambda unit: Compare(comparison, of.build(of.unit or unit)), of.unit, size=1 + of.size)
            case Same(_, entity, equal):
                same = meaning.entity(entity)
                return same if equal else Part(lambda unit: Not(same.build(unit)), size=1 + same.size)
            case ValuesClause(_, terms):
                return join(Or, [self.value(term) for term in terms])
            case Mark():
                return None  # it only tells sorts, and `check_marks` has looked at them
            case Everything():
                return meaning.all_entities()
            case Block(kind, groups):
                inner = [
                    _Tree(meaning, group, variable, self.depth).part(
                        answers=answers and kind is BlockKind.JOIN,
                        free=kind in (BlockKind.EXISTS, BlockKind.NOT_EXISTS),
                    )
                    for group in groups
                ]
                joined = join(Or, inner)
                if kind in (BlockKind.JOIN, BlockKind.EXISTS):
                    return joined
                return Part(lambda unit: Not(joined.build(joined.unit or unit)), joined.unit, size=1 + joined.size)
        assert_never(element)

    def span(self, condition: NumberCondition, bound: float, place: int, variable: Variable) -> Part:
        """That a variable is no further from another than a bound, or that it is."""
        inside = condition.order in (Order.LESS, Order.AT_MOST)
        low, high = (Order.GREATER, Order.LESS) if condition.order in (Order.LESS, Order.GREATER) else (
            Order.AT_LEAST, Order.AT_MOST)  # fmt: skip
        if not inside:
            low, high = high, low
        ends = [
            comparison_for(replace(condition, order=order, right=_moved(condition.right, far)), variable)
            for order, far in ((low, -bound), (high, bound))
        ]
        leaves = [leaf for _, leaf in ends]
        if isinstance(leaves[0], Variable):
            sides = [self.visit(leaves[0], place, True, False, False)] * 2
        else:
            sides = [self.meaning.number(leaf) for leaf in leaves if isinstance(leaf, Literal)]

        def build(unit: str | None) -> Query:
            others = [side.build(side.unit or unit) for side in sides]
            if inside and not all(map(self.meaning.is_one_number, others)):
                raise BeyondAlgebraError("ABS of a difference to several numbers is not supported: it takes one number")
            parts = tuple(Compare(comparison, other) for (comparison, _), other in zip(ends, others, strict=True))
            return And(parts) if inside else Or(parts)

        of = sides[0]
        return Part(build, of.unit, size=3 + 2 * of.size)

    def value(self, term: Term) -> Part:
        assert not isinstance(term, Variable), "the grammar puts no variable into VALUES"
        numeric = isinstance(term, Literal) and term.numeric
        return self.meaning.number(term) if numeric else self.meaning.entity(term)

    def triple(self, triple: Triple, place: int, variable: Variable) -> Part:
        """What a triple says of the variable at one of its ends."""
        if triple.subject == triple.object:
            raise BeyondAlgebraError(f"a cyclic pattern is not supported: {variable} stands at both ends of a triple")
        meaning, path = self.meaning, triple.path
        assert not isinstance(path, Variable), "variables as predicates are refused before"
        subject, object = meaning.sort(triple.subject), meaning.sort(triple.object)
        backwards = triple.subject == variable
        other = triple.object if backwards else triple.subject
        numbers = meaning.end_sorts(path, subject, object)[backwards]
        if not isinstance(other, Variable):
            of = meaning.number(other) if numbers else meaning.entity(other)
        else:
            of = self.visit(other, place, numbers, answers=False, free=False)
            unit = None if backwards or not of.everything else self.whole_unit(path)
            if unit is not None:
                return meaning.all_numbers(unit)
        return meaning.walk(path, backwards, of, subject, object)

    def whole_unit(self, path: Path) -> str | None:
        """The unit whose attributes are all named by a path: what they lead to is every value of the unit."""
        steps = path.parts if isinstance(path, Alternative) else (path,)
        attributes = {self.meaning.predicate(step.iri, True)[1] for step in steps if isinstance(step, PathStep)}
        first = next(iter(attributes), None)
        if first is None or len(attributes) != len(steps):
            return None
        unit = self.meaning.vocabulary.attribute_unit(first)
        return unit if attributes == self.meaning.attributes_in(unit) else None


def _moved(linear: Linear, far: float) -> Linear:
    """An expression plus a number; a literal is added to at once."""
    if isinstance(linear.leaf, Literal):
        return replace(linear, leaf=Literal(repr(float(linear.leaf.text) + far), True))
    return replace(linear, offset=linear.offset + far)


def _binds(element: Element) -> bool:
    """Whether an element gives its variable values, and does not only test them."""
    return isinstance(element, Triple | ValuesClause | Everything) or (
        isinstance(element, Block) and element.kind is BlockKind.JOIN
    )
