"""Sets in graphs that are drawn from the probabilities of facts: the fourth meaning of the algebra.

A batch is one query in many drawn graphs. What is observed is in each of them; a predicted fact is in some, by a coin
that depends on the graph and the fact alone, so that all parts of a query see the same graphs.
"""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

from kgreckon.models.interface import Draws
from kgreckon.models.reckoner.fuzzy import FactModel, FuzzyNumbers, FuzzySemantics, FuzzySet, Inference, MissingValues
from kgreckon.query import Batch, Pause, Query, interpret

GRAPHS = 256  # that are drawn
_FEWEST = 64  # where sets are large
_NUMBERS = 1 << 26  # in a set of all graphs
_COINS = 1 << 22  # that are thrown at once
_LEAST = 1e-5  # of a fact's probability
_LOW = (1 << 32) - 1


def draw(
    facts: FactModel, inference: Inference, query: Query, attribute: int | None, pause: Pause | None = None
) -> Draws:
    """The answers to a query in drawn graphs, with their values of an attribute where one is given."""
    graph = facts.observed.graph
    size = max(len(graph.entities), len(graph.values))
    count = max(_FEWEST, min(GRAPHS, _NUMBERS // max(1, size)))
    batch = Batch.of([query] * count, graph.values)
    semantics = DrawnSemantics(facts, inference, batch, count)
    ids = torch.from_numpy(np.array(batch.ids)).to(facts.observed.device)
    found: FuzzySet = interpret(batch.with_ids(ids), semantics, pause)
    assert isinstance(found, Tensor), "answers that are things are drawn"
    likely = torch.nonzero(found.amax(dim=0) > 0)[:, 0]
    members = (found[:, likely] > 0).cpu().numpy()
    values = None if attribute is None else semantics.values(attribute, likely)
    return Draws(likely.cpu().numpy(), members, values)


class DrawnSemantics(FuzzySemantics):
    """Sets in drawn graphs (kgreckon.query.Semantics): one row for each graph, all numbers 0 or 1."""

    def __init__(self, facts: FactModel, inference: Inference, batch: Batch[np.ndarray], count: int) -> None:
        super().__init__(facts, inference, batch.comparisons, batch.literals)
        self.salts = _mixed(torch.arange(1, count + 1, device=self.device))[:, None]
        self._rows: dict[int, tuple[MissingValues, Tensor]] = {}

    def follow(self, relations: Tensor, of: FuzzySet) -> Tensor:  # (b,) -> (b, entities)
        """What observed facts lead to, and those predicted facts that are in a graph."""
        assert isinstance(of, Tensor)
        found = self.observed.relations.best(relations.long(), of)
        relation, members = int(relations[0]), of > 0
        share, heads = members.float().mean(dim=0).topk(min(self.inference.heads, self.num_entities))
        for head in heads[share > 0].tolist():
            one = torch.tensor([[head]], device=self.device)
            predicted = self.facts.tails(one, torch.tensor([relation], device=self.device))
            if predicted is None:
                break
            likely = predicted[0, 0]
            tails = torch.nonzero(likely > _LEAST)[:, 0]
            within = torch.nonzero(members[:, head])[:, 0]
            for some in tails.split(max(1, _COINS // max(1, len(within)))):
                ends = (some, torch.full_like(some, head)) if relation & 1 else (torch.full_like(some, head), some)
                fact = ((relation >> 1) * self.num_entities + ends[0]) * self.num_entities + ends[1]
                graph, place = torch.nonzero(self._coins(fact, within) < likely[some], as_tuple=True)
                found[within[graph], some[place]] = 1.0
        return found

    def value_of(self, attributes: Tensor, of: FuzzySet) -> FuzzyNumbers:  # (b,)
        """The stated values, and the drawn ones of entities that have none."""
        assert isinstance(of, Tensor)
        attribute, attributes = int(attributes[0]), attributes.long()
        found = self.observed.values.best(attributes, of)
        drawn = self._drawn(attribute)
        if drawn is not None:
            missing, rows = drawn
            graph, place = torch.nonzero((rows >= 0) & (of[:, missing.entities] > 0), as_tuple=True)
            found[graph, rows[graph, place]] = 1.0
        return FuzzyNumbers(self._with_literals(found), self.attribute_units[attributes][:, None] == self.unit_ids)

    def having_value(self, attributes: Tensor, of: FuzzySet) -> Tensor:  # (b,) -> (b, entities)
        """The entities whose stated value, or else whose drawn one, is in the set."""
        assert isinstance(of, FuzzyNumbers)
        found = self.observed.having.best(attributes.long(), of.likely[:, : self.num_rows])
        drawn = self._drawn(int(attributes[0]))
        if drawn is not None:
            missing, rows = drawn
            graph, place = torch.nonzero(rows >= 0, as_tuple=True)
            held = of.likely[graph, rows[graph, place]] > 0
            found[graph[held], missing.entities[place[held]]] = 1.0
        return found

    def values(self, attribute: int, entities: Tensor) -> np.ndarray:  # (n,) -> (b, n)
        """The value of an attribute in each graph: the mean of those that are stated, or the drawn one; else NaN."""
        graph, numbers = self.observed.graph, self.observed.graph.values.numbers
        found = np.full((len(self.salts), len(entities)), np.nan)
        places = {entity: place for place, entity in enumerate(entities.tolist())}
        drawn = self._drawn(attribute)
        if drawn is not None:
            for column, entity in enumerate(drawn[0].entities.tolist()):
                if entity in places:
                    rows = drawn[1][:, column].cpu().numpy()
                    found[rows >= 0, places[entity]] = numbers[rows[rows >= 0]]
        for entity, place in places.items():
            stated = numbers[graph.values_of.row(entity, attribute)]
            if len(stated):
                found[:, place] = stated.mean()
        return found

    def _drawn(self, attribute: int) -> tuple[MissingValues, Tensor] | None:  # rows: (b, c), -1 for none
        """For each graph the rows of the values that entities without a stated one have."""
        if attribute not in self._rows:
            missing = self.facts.missing(attribute)
            if missing is None or not len(missing.entities):
                return None
            keys = _mixed(missing.entities + (attribute + 1) * self.num_entities)
            everywhere = torch.arange(len(self.salts), device=self.device)
            coins = self._coins(keys, everywhere).to(missing.probabilities.dtype)
            sums = missing.probabilities.cumsum(dim=1)
            rows = torch.searchsorted(sums, coins.T.contiguous(), right=True).T
            rows = torch.where(rows < sums.shape[1], rows + missing.first_row, -1)
            self._rows[attribute] = missing, rows
        return self._rows[attribute]

    def _coins(self, keys: Tensor, graphs: Tensor) -> Tensor:  # (n,), (g,) -> (g, n)
        """A number from 0 to 1 for each fact in each graph: always the same one."""
        mixed = _mixed(_mixed(keys)[None] ^ self.salts[graphs])
        return (mixed & _LOW).double() / (1 << 32)


def _mixed(keys: Tensor) -> Tensor:
    """Numbers that look random, by the mixing of splitmix64."""
    keys = keys + -7046029254386353131
    keys = (keys ^ _shifted(keys, 30)) * -4658895280553007687
    keys = (keys ^ _shifted(keys, 27)) * -7723592293110705685
    return keys ^ _shifted(keys, 31)


def _shifted(bits: Tensor, by: int) -> Tensor:
    """Bits shifted to the right, with zeros from the left."""
    return (bits >> by) & ((1 << (64 - by)) - 1)
