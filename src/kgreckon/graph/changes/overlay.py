"""What the changes to a graph come to: new names, and for each fact and value that they touch whether it is stated."""

from __future__ import annotations

from kgreckon.errors import UserError
from kgreckon.graph.changes.change import Change, ChangedStatement
from kgreckon.graph.knowledge_graph import KnowledgeGraph
from kgreckon.graph.symbols import Symbols


class _NewNames:
    """The names of one kind that come after a graph's own."""

    def __init__(self, base: Symbols) -> None:
        self.base, self.names = base, list[str]()
        self._places: dict[str, int] = {}

    def __len__(self) -> int:
        return len(self.base) + len(self.names)

    def add(self, name: str) -> int:
        """The place of a name, which may be known."""
        place = self.find(name)
        if place is None:
            place = self._places[name] = len(self)
            self.names.append(name)
        return place

    def find(self, name: str) -> int | None:
        """The place of a name, or None."""
        place = self._places.get(name)
        return self.base.place_of(name) if place is None else place

    def place(self, name: str) -> int:
        """The place of a name that must be there."""
        place = self.find(name)
        if place is None:
            raise UserError(f"the graph has no {self.base.kind} {name!r}")
        return place


class Overlay:
    """The sum of some changes to a graph, in the order in which they were made."""

    def __init__(self, base: KnowledgeGraph) -> None:
        if base.comparisons is not None:
            raise UserError("the graph carries the numerical edges of a benchmark, and cannot be changed")
        self.base, self.count = base, 0
        self.entities, self.relations, self.attributes = map(
            _NewNames, (base.entities, base.relations, base.attributes)
        )
        self.units: list[str] = []  # of new attributes
        self.labels: dict[int, str] = {}  # of entities
        self.facts: dict[tuple[int, int, int], bool] = {}
        self.values: dict[tuple[int, int, float], bool] = {}

    def apply(self, change: Change) -> None:
        """Add a change to those before; a UserError where it names what is not there."""
        for name in change.things:
            self.entities.add(name)
        for name in change.relations:
            self.relations.add(name)
        for name, unit in change.attributes:
            if self.attributes.find(name) is None:
                self.attributes.add(name)
                self.units.append(unit)
        for statements, stated in ((change.removed, False), (change.added, True)):
            for statement in statements:
                self._state(statement, stated)
        for name, label in change.labels:
            self.labels[self.entities.place(name)] = label
        self.count += 1

    def _state(self, statement: ChangedStatement, stated: bool) -> None:
        subject = self.entities.place(statement.subject)
        if isinstance(statement.object, str):
            relation, tail = self.relations.place(statement.predicate), self.entities.place(statement.object)
            self.facts[subject, relation, tail] = stated
        else:
            self.values[subject, self.attributes.place(statement.predicate), statement.object] = stated
