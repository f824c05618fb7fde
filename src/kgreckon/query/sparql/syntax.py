"""rdflib's parse tree as groups; whatever lies outside the subset is named here."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from functools import cache
from importlib.util import find_spec, module_from_spec
from threading import Lock
from typing import Any

from kgreckon.errors import BeyondAlgebraError, UserError
from kgreckon.query.algebra import Order
from kgreckon.query.sparql.elements import (
    Alternative,
    Block,
    BlockKind,
    Element,
    Everything,
    Group,
    Inverse,
    Iri,
    Literal,
    Mark,
    Path,
    PathStep,
    Same,
    Sequence,
    Term,
    Triple,
    ValuesClause,
    Variable,
)
from kgreckon.query.sparql.expressions import Expressions, conjuncts, construct, named, unwrapped
from kgreckon.query.sparql.names import PREFIXES
from kgreckon.query.sparql.text import MAX_TOKENS, check_question

MAX_TRIPLES = 200

# Variables that may be selected though no pattern binds them: what is known of each answer.
ABOUT_ANSWERS = ("score", "observed")

_XSD, _RDF = PREFIXES["xsd"], PREFIXES["rdf"]
_WORDS = ("string", "boolean", "anyURI", "langString")
_PARSER = Lock()  # pyparsing finds out how to call an action when it first does, which is not made for several threads
_UNSUPPORTED = {
    "OptionalGraphPattern": "OPTIONAL",
    "GraphGraphPattern": "GRAPH",
    "Bind": "BIND",
}
_COUNT = re.compile(r"\(\s*COUNT\b", re.IGNORECASE)  # what may be one, before it is parsed
_CLAUSES = {
    "groupby": "GROUP BY",
    "having": "HAVING",
    "orderby": "ORDER BY",
    "valuesClause": "VALUES after the pattern",
}


@dataclass(frozen=True)
class Select:
    """A SELECT: its variable, its pattern, the most answers it asks for, and all that it selects in order."""

    variable: Variable
    group: Group
    limit: int | None
    columns: tuple[str, ...]


def read(text: str, tokens: int = MAX_TOKENS) -> Select:
    """The SELECT that `text` writes, of at most so many words and signs."""
    reader, query = _query(text, tokens)
    if not named(query, "SelectQuery"):
        raise BeyondAlgebraError(f"{query.name.removesuffix('Query').upper()} is not supported: write a SELECT")
    return reader.select(query)


@dataclass(frozen=True)
class SortKey:
    """A variable that solutions are sorted by."""

    variable: str
    descending: bool


@dataclass(frozen=True)
class TableSelect:
    """A SELECT of several variables, or with an order."""

    columns: tuple[str, ...]
    keys: tuple[SortKey, ...]
    group: Group
    limit: int | None

    @property
    def marks(self) -> tuple[str, ...]:
        """The columns that say how a row is known: ?score and ?observed, where the pattern does not use them."""
        return tuple(
            name for name in self.columns if name in ABOUT_ANSWERS and Variable(name) not in self.group.variables
        )


@dataclass(frozen=True)
class Counted:
    """A SELECT of how many different values a variable has."""

    variable: Variable
    group: Group


def read_table(text: str, tokens: int = MAX_TOKENS) -> TableSelect:
    """The SELECT of variables that `text` writes, with its order."""
    reader, query = _query(text, tokens)
    if not named(query, "SelectQuery"):
        raise BeyondAlgebraError("this is not a SELECT")
    return reader.table(query)


def read_count(text: str, tokens: int = MAX_TOKENS) -> Counted | None:
    """The one COUNT that a SELECT is, if it is one that the algebra can say; None of any other query."""
    if _COUNT.search(text) is None:
        return None
    reader, query = _query(text, tokens)
    return reader.counted(query) if named(query, "SelectQuery") else None


def read_ask(text: str, tokens: int = MAX_TOKENS) -> Group:
    """The pattern of the ASK that `text` writes."""
    reader, query = _query(text, tokens)
    if not named(query, "AskQuery"):
        raise UserError("the query is not an ASK")
    return reader.ask(query)


def _query(text: str, tokens: int) -> tuple[_Reader, Any]:
    """A query as rdflib's tree, and what reads it with its prefixes."""
    text = check_question(text, tokens)
    prologue, query = _tree(text)
    prefixes = dict(PREFIXES)
    for declaration in prologue:
        if named(declaration, "Base"):
            raise BeyondAlgebraError("BASE is not supported: write the IRIs in full or use PREFIX")
        prefixes[declaration.prefix or ""] = str(declaration.iri)
    return _Reader(prefixes), query


def _tree(text: str) -> Any:
    """Rdflib's parse tree."""
    from pyparsing import ParseBaseException

    try:
        with _PARSER:
            return _grammar().parseQuery(text)
    except ParseBaseException as error:
        near = text[max(0, error.loc - 20) : error.loc + 20]
        where = f"line {error.lineno}, at or after column {error.column} (near {near!r})"
        raise BeyondAlgebraError(f"SPARQL, {where}: syntax error") from None
    except RecursionError:
        raise BeyondAlgebraError(
            "the SPARQL query is nested too deeply or has too many triple patterns in one group"
        ) from None
    except Exception as error:  # a foreign parser on any text: what it cannot read is the text's mistake
        raise BeyondAlgebraError(f"the SPARQL query cannot be read: {error}") from None


@cache
def _grammar() -> Any:
    """A copy of rdflib's grammar in which `-3.5` is a literal; rdflib's own cannot negate a decimal.

    It is a copy so that others in the process who use rdflib find it as it is.
    """
    from rdflib import Literal as RdfLiteral

    spec = find_spec("rdflib.plugins.sparql.parser")
    assert spec is not None and spec.loader is not None
    grammar = module_from_spec(spec)
    spec.loader.exec_module(grammar)

    def negated(tokens: Any) -> Any:
        return RdfLiteral(f"-{tokens[0]}", datatype=tokens[0].datatype)

    grammar.DECIMAL_NEGATIVE.set_parse_action(negated)
    return grammar


class _Reader:
    """Reads the tree of one query."""

    def __init__(self, prefixes: dict[str, str]) -> None:
        self.prefixes = prefixes
        self.triples = 0
        self.expressions = Expressions(self.term)

    def ask(self, node: Any) -> Group:
        self.check_clauses(node)
        if node.limitoffset:
            raise BeyondAlgebraError("LIMIT and OFFSET are not supported in ASK")
        return self.group(node.where)

    @staticmethod
    def check_clauses(node: Any, allowed: tuple[str, ...] = ()) -> None:
        """Refuse what a query may have beside its pattern."""
        for clause, name in _CLAUSES.items():
            if getattr(node, clause) and clause not in allowed:
                raise BeyondAlgebraError(f"{name} is not supported")

    def select(self, node: Any) -> Select:
        self.check_clauses(node)
        columns, group = self.columns(node), self.group(node.where)
        return Select(self.asked(columns, group), group, self.limit(node), columns)

    @staticmethod
    def columns(node: Any) -> tuple[str, ...]:
        """The variables that a SELECT names."""
        projection = node.projection
        if not projection or projection == "*":
            raise BeyondAlgebraError("SELECT * is not supported: name one variable")
        if any(not named(each, "vars") or each.expr for each in projection):
            raise BeyondAlgebraError("an expression (… AS ?x) after SELECT is not supported: name one variable")
        return tuple(str(each.var) for each in projection)

    @staticmethod
    def limit(node: Any) -> int | None:
        """The LIMIT of a SELECT."""
        if not node.limitoffset:
            return None
        if node.limitoffset.offset is not None:
            raise BeyondAlgebraError("OFFSET is not supported")
        return int(str(node.limitoffset.limit))

    def table(self, node: Any) -> TableSelect:
        """A SELECT of variables, with its order."""
        self.check_clauses(node, ("orderby",))
        columns = self.columns(node)
        if len(set(columns)) < len(columns):
            raise BeyondAlgebraError("SELECT takes each variable once")
        keys = tuple(self.key(each) for each in (node.orderby.condition if node.orderby else ()))
        return TableSelect(columns, keys, self.group(node.where), self.limit(node))

    @staticmethod
    def key(node: Any) -> SortKey:
        """What solutions are sorted by."""
        inner = unwrapped(node.expr) if named(node, "OrderCondition") else unwrapped(node)
        if not _is_variable(inner):
            raise BeyondAlgebraError("an order by an expression is not supported")
        direction = str(node.order or "ASC").upper() if named(node, "OrderCondition") else "ASC"
        return SortKey(str(inner), direction == "DESC")

    def counted(self, node: Any) -> Counted | None:
        """A COUNT of different values; of all values where the pattern is one triple, whose solutions are different."""
        self.check_clauses(node)
        if node.limitoffset or not node.projection or node.projection == "*" or len(node.projection) != 1:
            return None
        counting = unwrapped(node.projection[0].expr) if node.projection[0].expr else None
        if counting is None or not named(counting, "Aggregate_Count"):
            return None
        group = self.group(node.where)
        variable = unwrapped(counting.vars)
        one = len(group.variables) == 1 and all(isinstance(each, Triple) for each in group.elements)
        if str(counting.vars) == "*" and one:
            return Counted(next(iter(group.variables)), group)
        if not _is_variable(variable) or not (counting.distinct or one):
            return None
        return Counted(_variable(variable), group)

    def asked(self, columns: tuple[str, ...], group: Group) -> Variable:
        """The one variable of the pattern that is selected, beside what is said of each answer."""
        own = [name for name in columns if name not in ABOUT_ANSWERS or Variable(name) in group.variables]
        if len(set(columns)) < len(columns):
            raise UserError("SELECT takes each variable once")
        if len(own) > 1:
            beside = " and ".join(f"?{name}" for name in ABOUT_ANSWERS)
            raise BeyondAlgebraError(f"SELECT takes one variable, not {len(columns)}; beside it only {beside}")
        return Variable(own[0] if own else columns[0])

    def group(self, node: Any) -> Group:
        """The group between two braces, or of a SELECT inside."""
        if named(node, "SubSelect"):
            inner = self.select(node)
            if len(inner.columns) > 1:
                raise BeyondAlgebraError(f"a SELECT inside a pattern takes one variable, not {len(inner.columns)}")
            if inner.limit is not None:
                raise BeyondAlgebraError("LIMIT inside a pattern is not supported")
            return Group((Block(BlockKind.JOIN, (inner.group,), frozenset([inner.variable])),))
        elements: list[Element] = []
        for part in node.part or ():
            elements += self.part(part)
        return Group(tuple(elements))

    def part(self, node: Any) -> list[Element]:
        match node.name:
            case "TriplesBlock":
                return [triple for flat in node.triples for triple in self.flat_triples(list(flat))]
            case "Filter":
                return self.filter(node.expr)
            case "MinusGraphPattern":
                return [_block(BlockKind.MINUS, self.group(node.graph))]
            case "GroupOrUnionGraphPattern":
                block = _block(BlockKind.JOIN, *(self.group(group) for group in node.graph))
                everything = _everything(block)
                return [block if everything is None else everything]
            case "InlineData":
                return [self.values(node)]
        raise BeyondAlgebraError(f"{_UNSUPPORTED.get(node.name, node.name)} is not supported")

    def flat_triples(self, terms: list[Any]) -> list[Element]:
        self.triples += len(terms) // 3
        if self.triples > MAX_TRIPLES:
            raise UserError(f"a SPARQL query may have at most {MAX_TRIPLES} triple patterns")
        triples: list[Element] = []
        for subject, predicate, object in zip(terms[::3], terms[1::3], terms[2::3], strict=True):
            if str(predicate) in (f"{_RDF}first", f"{_RDF}rest"):
                raise BeyondAlgebraError("a collection (…) is not supported")
            path = self.path(predicate)
            triples.append(Triple(self.term(subject), path, self.term(object)))
        return triples

    def path(self, node: Any) -> Path | Variable:
        """A predicate: an IRI, a path or, in the pattern of everything, a variable."""
        if _is_variable(node):
            return _variable(node)
        match getattr(node, "name", None):
            case "PathAlternative" | "PathSequence":
                parts = tuple(self.inner_path(part) for part in node.part)
                if len(parts) == 1:
                    return parts[0]
                return Alternative(parts) if node.name == "PathAlternative" else Sequence(parts)
            case "PathElt":
                if node.mod:
                    raise BeyondAlgebraError(f"the path operator {node.mod} is not supported: use ^, / and |")
                return self.path(node.part)
            case "PathEltOrInverse":
                return Inverse(self.inner_path(node.part))
            case "PathNegatedPropertySet":
                raise BeyondAlgebraError("the path operator ! is not supported: use ^, / and |")
        term = self.term(node)
        assert isinstance(term, Iri), "the grammar puts nothing else into a path"
        return PathStep(term.text)

    def inner_path(self, node: Any) -> Path:
        path = self.path(node)
        assert not isinstance(path, Variable), "the grammar puts no variable into a path"
        return path

    def values(self, node: Any) -> ValuesClause:
        if len(node.var) != 1:
            raise BeyondAlgebraError("VALUES is supported for one variable at a time")
        flat = [term for value in node.value or () for term in _flattened(value)]
        if not flat:
            raise BeyondAlgebraError("VALUES without a value is not supported")
        if any(str(term) == "UNDEF" and not hasattr(term, "n3") for term in flat):
            raise BeyondAlgebraError("UNDEF is not supported")
        return ValuesClause(_variable(node.var[0]), tuple(self.term(term) for term in flat))

    def filter(self, node: Any) -> list[Element]:
        """What a FILTER asks for; `&&` is several filters."""
        node = unwrapped(node)
        name = str(getattr(node, "name", ""))
        match name:
            case "ConditionalAndExpression":
                within = self.expressions.within(node)
                return [within] if within else [part for one in conjuncts(node) for part in self.filter(one)]
            case "ConditionalOrExpression":
                return [_tested(*(self.filter(side) for side in conjuncts(node)))]
            case "RelationalExpression" if node.op in ("IN", "NOT IN"):
                return [self.listed(node)]
            case "RelationalExpression":
                return [self.same(node) or self.expressions.condition(node)]
            case "Builtin_EXISTS" | "Builtin_NOTEXISTS":
                kind = BlockKind.EXISTS if name == "Builtin_EXISTS" else BlockKind.NOT_EXISTS
                return [_block(kind, self.group(node.graph))]
            case "UnaryNot":
                return [self.negated(unwrapped(node.expr))]
        mark = self.mark(node)
        if mark is not None:
            return [mark]
        raise BeyondAlgebraError(f"{construct(node) if name else node} is not supported in FILTER")

    def listed(self, node: Any) -> Element:
        """What `?x IN (…)` or `?x NOT IN (…)` asks for."""
        listed = [] if _is_iri(node.other) else node.other  # an empty list is written as rdf:nil
        variable, terms = unwrapped(node.expr), [unwrapped(term) for term in listed]
        if not _is_variable(variable) or not terms or any(_is_variable(term) for term in terms):
            raise BeyondAlgebraError(f"{node.op} is supported for a variable and a list of names or numbers")
        values = ValuesClause(_variable(variable), tuple(self.constant(term) for term in terms))
        block = _tested([values])
        return block if node.op == "IN" else replace(block, kind=BlockKind.NOT_EXISTS)

    def constant(self, node: Any) -> Term:
        """A name, or the number that an expression such as `-3` denotes."""
        if getattr(node, "name", None) not in (None, "literal", "pname"):
            node = self.expressions.linear(node)
            if node.factor != 1 or node.offset:
                raise BeyondAlgebraError("a list of IN is supported with names and numbers alone")
            return node.leaf
        return self.term(node)

    def negated(self, node: Any) -> Element:
        """What `!` before an expression asks for."""
        if named(node, "ConditionalAndExpression"):
            within = self.expressions.within(node)
            if within is not None:
                return replace(within, order=Order.UNEQUAL)
        if named(node, "Builtin_EXISTS") or named(node, "Builtin_NOTEXISTS"):
            kind = BlockKind.NOT_EXISTS if named(node, "Builtin_EXISTS") else BlockKind.EXISTS
            return _block(kind, self.group(node.graph))
        mark = self.mark(node)
        if mark is not None:
            return replace(mark, number=not mark.number)
        return replace(_tested(self.filter(node)), kind=BlockKind.NOT_EXISTS)

    def mark(self, node: Any) -> Mark | None:
        """The sort that isNumeric, isLiteral or isIRI gives a variable."""
        sorts = {"isnumeric": True, "isliteral": True, "isiri": False, "isuri": False}
        number = sorts.get(str(getattr(node, "name", "")).removeprefix("Builtin_").lower())
        argument = unwrapped(node.arg) if number is not None else None
        if number is None or not _is_variable(argument):
            return None
        return Mark(_variable(argument), number)

    def same(self, node: Any) -> Same | None:
        """The `?x = <entity>` that a comparison states, if it does."""
        one, other = unwrapped(node.expr), node.other if isinstance(node.other, list) else unwrapped(node.other)
        if _is_iri(one):
            one, other = other, one
        if not _is_iri(other):
            return None
        if node.op not in ("=", "!=") or not _is_variable(one):
            raise BeyondAlgebraError("an entity can be compared with a variable, by = or !=, and with nothing else")
        entity = self.term(other)
        assert isinstance(entity, Iri), "an IRI is read as one"
        return Same(_variable(one), entity, node.op == "=")

    def term(self, node: Any) -> Term:
        """A variable, a name or a literal."""
        from rdflib.term import BNode, URIRef
        from rdflib.term import Literal as RdfLiteral

        if named(node, "pname"):
            prefix = node.prefix or ""
            if prefix not in self.prefixes:
                raise UserError(f"unknown prefix {prefix!r}: declare it with PREFIX {prefix}: <…>")
            return Iri(self.prefixes[prefix] + re.sub(r"\\(.)", r"\1", str(node.localname or "")))
        if named(node, "literal"):
            datatype = self.term(node.datatype) if node.datatype else None
            words = datatype is None or datatype in [Iri(_XSD + word) for word in _WORDS]
            return Literal(str(node.string), not words)
        if _is_variable(node) or isinstance(node, BNode):
            return _variable(node)
        if isinstance(node, URIRef):
            return Iri(str(node))
        if isinstance(node, RdfLiteral):
            if node.datatype is not None and str(node.datatype) == f"{_XSD}boolean":
                raise BeyondAlgebraError("true and false are not supported")
            return Literal(str(node), node.datatype is not None)
        raise BeyondAlgebraError(f"{construct(node)} is not supported here")


def _flattened(value: Any) -> list[Any]:
    """The term of a row of VALUES, which rdflib keeps bare or in a list of its own."""
    from pyparsing import ParseResults

    return list(value) if isinstance(value, ParseResults) else [value]


def _is_variable(node: Any) -> bool:
    from rdflib.term import Variable as RdfVariable

    return isinstance(node, RdfVariable)


def _is_iri(node: Any) -> bool:
    from rdflib.term import URIRef

    return named(node, "pname") or isinstance(node, URIRef)


def _variable(node: Any) -> Variable:
    return Variable(str(node) if _is_variable(node) else f"_:{node}")


def _tested(*sides: list[Element]) -> Block:
    """A test that one of several conditions passes; they bind nothing."""
    if any(isinstance(element, Mark) for side in sides for element in side):
        raise BeyondAlgebraError("a test such as isIRI is not supported beside || and below !")
    return _block(BlockKind.EXISTS, *(Group(tuple(side)) for side in sides))


def _block(kind: BlockKind, *groups: Group) -> Block:
    return Block(kind, groups, frozenset(variable for group in groups for variable in group.variables))


def _everything(block: Block) -> Everything | None:
    """The pattern of everything, `{ ?x ?p ?o } UNION { ?s ?q ?x FILTER(!isLiteral(?x)) }`, if the block is it."""
    match [group.elements for group in block.groups]:
        case [
            (Triple(Variable() as x, Variable(), Variable()),),
            (Triple(Variable(), Variable(), Variable() as y), Mark(z, False)),
        ] if x == y == z:
            return Everything(x)
    return None
