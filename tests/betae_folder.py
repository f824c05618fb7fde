"""A small benchmark folder as BetaE writes it, and its meaning by brute force on nested tuples."""

import pickle
import random
from collections import defaultdict
from pathlib import Path

STRUCTURES = {
    "1p": ("e", ("r",)),
    "2p": ("e", ("r", "r")),
    "3p": ("e", ("r", "r", "r")),
    "2i": (("e", ("r",)), ("e", ("r",))),
    "3i": (("e", ("r",)), ("e", ("r",)), ("e", ("r",))),
    "pi": (("e", ("r", "r")), ("e", ("r",))),
    "ip": ((("e", ("r",)), ("e", ("r",))), ("r",)),
    "2u": (("e", ("r",)), ("e", ("r",)), ("u",)),
    "up": ((("e", ("r",)), ("e", ("r",)), ("u",)), ("r",)),
    "2in": (("e", ("r",)), ("e", ("r", "n"))),
    "3in": (("e", ("r",)), ("e", ("r",)), ("e", ("r", "n"))),
    "inp": ((("e", ("r",)), ("e", ("r", "n"))), ("r",)),
    "pin": (("e", ("r", "r")), ("e", ("r", "n"))),
    "pni": (("e", ("r", "r", "n")), ("e", ("r",))),
}
DE_MORGAN = {
    "2u": ((("e", ("r", "n")), ("e", ("r", "n"))), ("n",)),
    "up": ((("e", ("r", "n")), ("e", ("r", "n"))), ("n", "r")),
}
ENTITIES, RELATIONS = 40, 3


def facts_both_ways(facts):
    """Each fact, and its inverse on a line of its own."""
    return [line for h, r, t in facts for line in ((h, 2 * r, t), (t, 2 * r + 1, h))]


def answers(query, edges):
    """What a query means on edges from (head, relation) to tails: the nested tuples are walked as they stand."""
    if all(isinstance(part, int) and part != -1 for part in query[-1]) and len(query) == 2:
        base, path = query
        found = {base} if isinstance(base, int) else answers(base, edges)
        for step in path:
            if step == -2:
                found = set(range(ENTITIES)) - found
            else:
                found = {tail for head in found for tail in edges.get((head, step), ())}
        return found
    if query[-1] == (-1,):
        return set.union(*(answers(branch, edges) for branch in query[:-1]))
    return set.intersection(*(answers(branch, edges) for branch in query))


def filled(structure, rng):
    """A query of a structure with random ids."""
    if isinstance(structure, tuple):
        return tuple(filled(part, rng) for part in structure)
    numbers = {"e": rng.randrange(ENTITIES), "r": rng.randrange(2 * RELATIONS), "n": -2, "u": -1}
    return numbers[structure]


def in_de_morgan_form(query):
    """The same union, as what neither of its negated parts holds."""
    if query[-1] == (-1,):
        (a, (r,)), (b, (s,)) = query[:-1]
        return ((a, (r, -2)), (b, (s, -2))), (-2,)
    inner, _ = in_de_morgan_form(query[0])
    return inner, (-2, *query[1])


class BetaEFolder:
    """The content of a folder, to be changed before it is written."""

    def __init__(self, seed: int = 0, per_type: int = 8) -> None:
        rng = random.Random(seed)
        names = {(rng.randrange(ENTITIES), rng.randrange(RELATIONS), rng.randrange(ENTITIES)) for _ in range(400)}
        facts = sorted(names)
        rng.shuffle(facts)
        self.facts = {"train": facts[:240], "valid": facts[240:300], "test": facts[300:]}
        self.lines = {split: facts_both_ways(own) for split, own in self.facts.items()}
        self.queries: dict = {split: defaultdict(set) for split in self.facts}
        self.answers: dict = {
            name: defaultdict(set)
            for name in (
                "train-answers",
                *(f"{split}-{kind}-answers" for split in ("valid", "test") for kind in ("easy", "hard")),
            )
        }
        edges: dict = defaultdict(set)
        before: dict = {}
        for split, lines in self.lines.items():
            for head, relation, tail in lines:
                edges[head, relation].add(tail)
            for name, structure in STRUCTURES.items():
                while len(self.queries[split][structure]) < per_type:
                    query = filled(structure, rng)
                    easy, own = answers(query, before), answers(query, edges)
                    if own - easy:
                        self._add(split, name, query, easy, own - easy)
            before = {key: set(tails) for key, tails in edges.items()}

    def _add(self, split, name, query, easy, hard):
        forms: list[tuple] = [(STRUCTURES[name], query)]
        if name in DE_MORGAN and split != "train":
            forms.append((DE_MORGAN[name], in_de_morgan_form(query)))
        for structure, written in forms:
            self.queries[split][structure].add(written)
            if split == "train":
                self.answers["train-answers"][written] = hard
            else:
                self.answers[f"{split}-easy-answers"][written] = easy
                self.answers[f"{split}-hard-answers"][written] = hard

    def write(self, folder: Path, protocol: int = 4) -> Path:
        """The folder with all its files."""
        folder.mkdir()

        def dump(name, data):
            (folder / f"{name}.pkl").write_bytes(pickle.dumps(data, protocol=protocol))

        entities = [f"/m/{number:03}" for number in range(ENTITIES)]
        relations = [f"{sign}/r{number}" for number in range(RELATIONS) for sign in "+-"]
        for kind, names in (("ent", entities), ("rel", relations)):
            dump(f"id2{kind}", dict(enumerate(names)))
            dump(f"{kind}2id", {name: number for number, name in enumerate(names)})
        (folder / "stats.txt").write_text(f"numentity: {ENTITIES}\nnumrelations: {2 * RELATIONS}\n")
        for split, lines in self.lines.items():
            (folder / f"{split}.txt").write_text("".join(f"{h}\t{r}\t{t}\n" for h, r, t in lines))
            dump(f"{split}-queries", self.queries[split])
        for name, data in self.answers.items():
            dump(name, data)
        return folder
