"""What names, numbers and paths mean in a vocabulary, as parts that a tree of patterns is put together from."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import assert_never

from kgreckon.errors import BeyondAlgebraError, UserError
from kgreckon.query.algebra import (
    And,
    Compare,
    Comparison,
    Entity,
    Follow,
    HavingValue,
    Not,
    Number,
    Or,
    Order,
    Query,
    ValueOf,
)
from kgreckon.query.s_expressions import MAX_NODES
from kgreckon.query.sparql.elements import (
    Alternative,
    Block,
    Element,
    Everything,
    Group,
    Inverse,
    Iri,
    Literal,
    Mark,
    NumberCondition,
    Path,
    PathStep,
    Same,
    Sequence,
    Span,
    Term,
    Triple,
    ValuesClause,
    Variable,
    variables_of,
)
from kgreckon.query.sparql.names import LABEL, name_of
from kgreckon.query.vocabulary import Vocabulary


@dataclass(frozen=True)
class Part:
    """A query in the making: numbers take the unit that is passed down to them where they state none."""

    build: Callable[[str | None], Query]
    unit: str | None = None
    stated: bool = True  # whether it can hold only what the graph states, unlike a number that stands for itself
    everything: bool = False
    size: int = 1  # the nodes of what is built

    def __post_init__(self) -> None:
        """Refuse what is too large before it is built: a path of alternatives doubles with every step."""
        if self.size > MAX_NODES:
            raise UserError(f"a query may have at most {MAX_NODES} nodes")


def join(kind: type[And] | type[Or], parts: list[Part]) -> Part:
    """The intersection or union of some parts."""
    if len(parts) == 1:
        return parts[0]
    unit = next((part.unit for part in parts if part.unit is not None), None)
    stated = any if kind is And else all

    def build(given: str | None) -> Query:
        return kind(tuple(part.build(part.unit or unit or given) for part in parts))

    return Part(build, unit, stated(part.stated for part in parts), size=1 + sum(part.size for part in parts))


class Meaning:
    """The meaning of one SELECT in a vocabulary."""

    def __init__(self, vocabulary: Vocabulary, group: Group) -> None:
        self.vocabulary = vocabulary
        self.predicates: dict[str, tuple[int | None, int | None]] = {}
        self.sorts = dict(_sorts(group))

    # ------------------------------------------------------------------------------------------------------- names

    def entity(self, term: Iri | Literal) -> Part:
        """The entity that a name or label stands for."""
        if isinstance(term, Literal) and term.numeric:
            raise UserError(f"{term.text} is a number where an entity belongs")
        name = name_of(term.text) if isinstance(term, Iri) else term.text
        entity = Entity(self.vocabulary.entity_id(name))
        return Part(lambda _: entity)

    def number(self, term: Iri | Literal) -> Part:
        """The number that a literal writes, in the unit it is compared with."""
        if isinstance(term, Iri):
            raise UserError(f"{name_of(term.text)!r} is a name where a number belongs")
        return Part(lambda unit: self.vocabulary.read_number(term.text, unit), stated=False)

    def is_one_number(self, query: Query) -> bool:
        """Whether a set of numbers holds one at most: a number, or what is stated once of an entity."""
        match query:
            case Number():
                return True
            case ValueOf(attribute, Entity(entity)):
                return self.vocabulary.count_values(attribute, entity) <= 1
        return False

    def predicate(self, iri: str, of_numbers: bool | None) -> tuple[int | None, int | None]:
        """The relation or the attribute of that name; where it names both, what stands at its end decides."""
        if iri not in self.predicates:
            self.predicates[iri] = self._named(name_of(iri))
        relation, attribute = self.predicates[iri]
        if relation is None or attribute is None:
            return relation, attribute
        if of_numbers is None:
            raise UserError(
                f"{name_of(iri)!r} is both a relation and an attribute: "
                "say which with FILTER(isNumeric(?x)) or FILTER(!isLiteral(?x)) on its object"
            )
        return (None, attribute) if of_numbers else (relation, None)

    def _named(self, name: str) -> tuple[int | None, int | None]:
        relation = attribute = None
        try:
            relation = self.vocabulary.relation_id(name)
        except UserError as error:
            no_relation = error
        try:
            attribute = self.vocabulary.attribute_id(name)
        except UserError as no_attribute:
            if relation is None and name == LABEL:
                raise BeyondAlgebraError("rdfs:label is not supported: name things by their labels") from None
            if relation is None:
                raise UserError(f"{no_relation}; {no_attribute}") from None
        if relation is not None and attribute is not None:  # a name counts before a label that looks like it
            exact = self.vocabulary.relation_name(relation) == name, self.vocabulary.attribute_name(attribute) == name
            if exact[0] != exact[1]:
                return (relation, None) if exact[0] else (None, attribute)
        return relation, attribute

    def sort(self, term: Term) -> bool | None:
        """Whether a term is a number (True) or an entity (False), where its other uses tell."""
        match term:
            case Variable():
                return self.sorts.get(term)
            case Literal(numeric=numeric):
                return True if numeric else None
            case Iri():
                return False
        assert_never(term)

    def told_sorts(self, group: Group, variable: Variable) -> Iterator[bool]:
        """What a group's elements, other than marks, say about the sort of a variable."""
        for element in group.elements:
            match element:
                case Mark() | Triple(_, Variable(), _):
                    pass  # a variable as predicate is refused where its group is read
                case Triple(subject, path, object):
                    assert not isinstance(path, Variable)
                    ends = self.end_sorts(path, self.sort(subject), self.sort(object))
                    yield from (sort for end, sort in zip((subject, object), ends, strict=True) if end == variable)
                case Block(_, groups):
                    for inner in groups:
                        yield from self.told_sorts(inner, variable)
                case _:
                    yield from (sort for own, sort in _sorts_of(element) if own == variable)

    # -------------------------------------------------------------------------------------------------- everything

    def all_entities(self) -> Part:
        """Every entity: the first one, and all others."""
        if not self.vocabulary.knows("entity", 0):
            raise UserError("the graph has no entities")
        query = Or((Entity(0), Not(Entity(0))))
        return Part(lambda _: query, everything=True, size=4)

    def all_numbers(self, unit: str | None) -> Part:
        """Every value of a unit: those up to zero, and those above."""

        def build(given: str | None) -> Query:
            zero = self.vocabulary.read_number("0", unit or given)
            return Or((Compare(Comparison(Order.AT_MOST), zero), Compare(Comparison(Order.GREATER), zero)))

        return Part(build, unit, everything=True, size=5)

    def attributes_in(self, unit: str) -> set[int]:
        """All attributes measured in a unit."""
        return set(attributes_in(self.vocabulary, unit))

    # ------------------------------------------------------------------------------------------------------- paths

    def end_sorts(self, path: Path, subject: bool | None, object: bool | None) -> tuple[bool, bool]:
        """Whether numbers stand at a path's start and at its end, with what is known of them."""
        match path:
            case PathStep(iri):
                return False, self.predicate(iri, object)[1] is not None
            case Inverse(inner):
                start, end = self.end_sorts(inner, object, subject)
                return end, start
            case Sequence(parts):
                start = self.end_sorts(parts[0], subject, self._between(parts, 0, object))[0]
                return start, self.end_sorts(parts[-1], self._between(parts, -2, None), object)[1]
            case Alternative(parts):
                ends = {self.end_sorts(part, subject, object) for part in parts}
                if len(ends) > 1:
                    raise BeyondAlgebraError(
                        "the alternatives of a path must lead to entities or to numbers, not to both"
                    )
                return ends.pop()
        assert_never(path)

    @staticmethod
    def _between(parts: tuple[Path, ...], place: int, last: bool | None) -> bool | None:
        """What is known of the point after one step of a sequence: a plain step goes on from entities only."""
        place %= len(parts)
        if place == len(parts) - 1:
            return last
        return False if isinstance(parts[place + 1], PathStep) else None

    def walk(self, path: Path, backwards: bool, of: Part, subject: bool | None, object: bool | None) -> Part:
        """What a path leads to from `of`, which stands at its start or, backwards, at its end."""
        match path:
            case PathStep(iri):
                return self.step(iri, backwards, of, object)
            case Inverse(inner):
                return self.walk(inner, not backwards, of, object, subject)
            case Sequence(parts):
                places = range(len(parts))
                for place in reversed(places) if backwards else places:
                    before = subject if place == 0 else self._between(parts, place - 1, None)
                    of = self.walk(parts[place], backwards, of, before, self._between(parts, place, object))
                return of
            case Alternative(parts):
                return join(Or, [self.walk(part, backwards, of, subject, object) for part in parts])
        assert_never(path)

    def step(self, iri: str, backwards: bool, of: Part, of_numbers: bool | None) -> Part:
        """What a relation or an attribute leads to."""
        relation, attribute = self.predicate(iri, of_numbers)
        if attribute is None:
            assert relation is not None, "a predicate is one or the other"
            followed = relation ^ backwards
            return Part(lambda _: Follow(followed, of.build(None)), size=1 + of.size)
        unit = self.vocabulary.attribute_unit(attribute)
        if backwards:
            return Part(lambda _: HavingValue(attribute, of.build(of.unit or unit)), size=1 + of.size)
        return Part(lambda _: ValueOf(attribute, of.build(None)), unit, size=1 + of.size)


def attributes_in(vocabulary: Vocabulary, unit: str) -> Iterator[int]:
    """The attributes that are measured in `unit`."""
    attribute = 0
    while vocabulary.knows("attribute", attribute):
        if vocabulary.attribute_unit(attribute) == unit:
            yield attribute
        attribute += 1


def _sorts(group: Group) -> Iterator[tuple[Variable, bool]]:
    """What the uses of a variable say about its sort: True for a number, False for an entity."""
    for element in group.elements:
        yield from _sorts_of(element)


def _sorts_of(element: Element) -> Iterator[tuple[Variable, bool]]:
    match element:
        case Triple(subject, _, _):
            if isinstance(subject, Variable):
                yield subject, False
        case NumberCondition() | Span():
            for variable in variables_of(element):
                yield variable, True
        case Mark(variable, number):
            yield variable, number
        case ValuesClause(variable, terms):
            if any(isinstance(term, Literal) and term.numeric for term in terms):
                yield variable, True
            elif any(isinstance(term, Iri) for term in terms):
                yield variable, False
        case Same(variable) | Everything(variable):
            yield variable, False
        case Block(_, groups):
            for inner in groups:
                yield from _sorts(inner)
        case _:
            assert_never(element)
