"""The expressions of FILTER: comparisons of numbers that are linear in one variable on each side."""

from __future__ import annotations

import math
from typing import Any

from kgreckon.errors import BeyondAlgebraError, UserError
from kgreckon.query.algebra import Comparison, Order
from kgreckon.query.sparql.elements import Linear, Literal, NumberCondition, Span, Variable

_TURNED = {
    Order.LESS: Order.GREATER,
    Order.GREATER: Order.LESS,
    Order.AT_MOST: Order.AT_LEAST,
    Order.AT_LEAST: Order.AT_MOST,
}
_WRAPPERS = (
    *("ConditionalOrExpression", "ConditionalAndExpression", "RelationalExpression"),
    *("AdditiveExpression", "MultiplicativeExpression", "UnaryPlus"),
)


def unwrapped(node: Any) -> Any:
    """The expression without the levels of the grammar that hold nothing but the next one."""
    while getattr(node, "name", None) in _WRAPPERS and not node.other:
        node = node.expr
    return node


def named(node: Any, name: str) -> bool:
    """Whether a node of rdflib's tree is of that kind."""
    return getattr(node, "name", None) == name


def conjuncts(node: Any) -> list[Any]:
    """The parts of `a && b && c`."""
    return [unwrapped(part) for part in (node.expr, *node.other)]


class Expressions:
    """Reads expressions; `term` reads variables and literals."""

    def __init__(self, term: Any) -> None:
        self.term = term

    def condition(self, node: Any) -> NumberCondition | Span:
        """The comparison that a relational expression states: of two expressions, or of how far two are apart."""
        one, other, order = unwrapped(node.expr), unwrapped(node.other), Order(node.op)
        if named(other, "Builtin_ABS"):
            one, other, order = other, one, _TURNED.get(order, order)
        if named(one, "Builtin_ABS"):
            return self._span(one.arg, other, order)
        return _checked(self._compared(one, other, order))

    def _compared(self, one: Any, other: Any, order: Order) -> NumberCondition:
        """Two expressions as two sides with a variable each, moved where one side holds both."""
        try:
            return NumberCondition(order, self.linear(one), self.linear(other), 0.0)
        except BeyondAlgebraError:
            sides = _terms(self, one), _terms(self, other)
        (left, plus), (right, more) = sides
        factors = {leaf: left.get(leaf, 0.0) - right.get(leaf, 0.0) for leaf in (*left, *right)}
        kept = [(leaf, factor) for leaf, factor in factors.items() if factor]
        if len(kept) != 2:
            names = ", ".join(str(leaf) for leaf in factors)
            raise BeyondAlgebraError(f"a comparison of more or fewer than two variables ({names}) is not supported")
        (x, a), (y, b) = kept
        return NumberCondition(order, Linear(a, x, 0.0), Linear(-b, y, more - plus), 0.0)

    def _span(self, inside: Any, other: Any, order: Order) -> Span:
        """`ABS(?x - ?y) < 5`."""
        bound = _constant(self.linear(other))
        if order in (Order.EQUAL, Order.UNEQUAL) or not 0 <= bound < math.inf:
            raise BeyondAlgebraError("ABS is supported in inequalities with a positive number")
        factors, plus = _terms(self, inside)
        kept = [(leaf, factor) for leaf, factor in factors.items() if factor]
        match kept:
            case [(x, a)]:
                return Span(order, Linear(a, x, 0.0), Linear(1.0, Literal(repr(-plus), True), 0.0), bound)
            case [(x, a), (y, b)]:
                return Span(order, Linear(a, x, 0.0), Linear(-b, y, -plus), bound)
        raise BeyondAlgebraError("ABS takes one variable or the difference of two")

    def within(self, node: Any) -> NumberCondition | None:
        """The equality within a share that `ABS(x - z) < t * ABS(x) && ABS(x - z) < t * ABS(z)` states, if it does."""
        halves = [half for part in conjuncts(node) if (half := self._half(part)) is not None]
        if len(halves) != 2 or len(node.other) != 1:
            return None
        (x, z, share, one), (*same, other) = halves
        if [x, z, share] != same or (one, other) not in ((x, z), (z, x)):
            return None
        return _checked(NumberCondition(Order.EQUAL, x, z, share))

    def _half(self, node: Any) -> tuple[Linear, Linear, float, Linear] | None:
        """The x, z, t and w of `ABS(x - z) < t * ABS(w)`."""
        if not named(node, "RelationalExpression") or node.op != "<":
            return None
        distance, bound = unwrapped(node.expr), unwrapped(node.other)
        if not named(distance, "Builtin_ABS") or not named(bound, "MultiplicativeExpression"):
            return None
        difference, size = unwrapped(distance.arg), unwrapped(bound.other[0])
        if not named(difference, "AdditiveExpression") or list(difference.op) != ["-"]:
            return None
        if list(bound.op) != ["*"] or not named(size, "Builtin_ABS"):
            return None
        x, z = self.linear(difference.expr), self.linear(difference.other[0])
        return x, z, _constant(self.linear(bound.expr)), self.linear(size.arg)

    def linear(self, node: Any) -> Linear:
        """The expression as `factor·leaf + offset`."""
        node = unwrapped(node)
        name = getattr(node, "name", None)
        if name == "AdditiveExpression":
            total = self.linear(node.expr)
            for operator, other in zip(node.op, node.other, strict=True):
                total = _sum(total, self.linear(other), -1.0 if operator == "-" else 1.0)
            return total
        if name == "MultiplicativeExpression":
            product = self.linear(node.expr)
            for operator, other in zip(node.op, node.other, strict=True):
                product = _product(product, self.linear(other), operator)
            return product
        if name == "UnaryMinus":
            return _negated(self.linear(node.expr))
        if name is not None and name not in ("literal", "pname"):
            raise BeyondAlgebraError(f"{construct(node)} is not supported in a comparison: compare linear expressions")
        leaf = self.term(node)
        if not isinstance(leaf, Variable | Literal):
            raise UserError(f"<{leaf.text}> is not a number: only numbers are compared")
        return Linear(1.0, leaf, 0.0)


def construct(node: Any) -> str:
    """What SPARQL calls a node of rdflib's tree."""
    name = str(getattr(node, "name", node))
    known = {
        "ConditionalOrExpression": "||",
        "ConditionalAndExpression": "&&",
        "RelationalExpression": "a comparison",
        "UnaryNot": "!",
        "Function": "a function call",
        "Builtin_NOTEXISTS": "NOT EXISTS",
    }
    return known.get(name, name.removeprefix("Builtin_").removeprefix("Aggregate_"))


def comparison_for(condition: NumberCondition, variable: Variable) -> tuple[Comparison, Variable | Literal]:
    """The comparison with `variable` as its result, and what it is compared with."""
    x, y, order = condition.left, condition.right, condition.order
    if x.leaf != variable:
        x, y, order = y, x, _TURNED.get(order, order)
    if x.factor == 0:
        raise BeyondAlgebraError(f"{variable} does not matter in a comparison that multiplies it by 0")
    if x.factor < 0:
        order = _TURNED.get(order, order)
    if condition.tolerance and (x.offset or (y.offset and x.factor != 1)):
        raise BeyondAlgebraError(
            f"an equality within a share can be asked for {y.leaf}, not for {variable}: turn it around"
        )
    factor, offset = (y.factor, y.offset) if (x.factor, x.offset) == (1, 0) else (
        y.factor / x.factor, (y.offset - x.offset) / x.factor)  # fmt: skip
    if not (math.isfinite(factor) and math.isfinite(offset)):
        raise UserError("a comparison holds a number that is too large")
    return Comparison(order, factor, offset, condition.tolerance), y.leaf


def _checked(condition: NumberCondition) -> NumberCondition:
    left, right = condition.left.leaf, condition.right.leaf
    if not isinstance(left, Variable) and not isinstance(right, Variable):
        raise BeyondAlgebraError("a comparison without a variable is not supported")
    if left == right:
        raise BeyondAlgebraError(f"{left} is compared with itself: that is not supported")
    numbers = (condition.left.factor, condition.left.offset, condition.right.factor, condition.right.offset)
    if not all(map(math.isfinite, numbers)) or not 0 <= condition.tolerance < math.inf:
        raise UserError("a comparison holds a number that is too large or not a number")
    return condition


def _terms(expressions: Expressions, node: Any) -> tuple[dict[Variable, float], float]:
    """An expression as a sum: what each variable is multiplied by, and the number beside them."""
    node = unwrapped(node)
    if named(node, "AdditiveExpression"):
        factors, plus = _terms(expressions, node.expr)
        for operator, part in zip(node.op, node.other, strict=True):
            sign = -1.0 if operator == "-" else 1.0
            others, more = _terms(expressions, part)
            for leaf, factor in others.items():
                factors[leaf] = factors.get(leaf, 0.0) + sign * factor
            plus += sign * more
        return factors, plus
    if named(node, "MultiplicativeExpression"):
        sides = [_terms(expressions, part) for part in (node.expr, *node.other)]
        product, plus = sides[0]
        for operator, (factors, number) in zip(node.op, sides[1:], strict=True):
            if operator == "*" and not product:
                product, plus, factors, number = factors, number, product, plus
            if factors or (operator == "/" and number == 0):
                raise BeyondAlgebraError(
                    "an expression may hold a variable to the first power: no product of two, and no division by one"
                )
            times = number if operator == "*" else 1 / number
            product, plus = {leaf: factor * times for leaf, factor in product.items()}, plus * times
        return product, plus
    if named(node, "UnaryMinus"):
        factors, plus = _terms(expressions, node.expr)
        return {leaf: -factor for leaf, factor in factors.items()}, -plus
    linear = expressions.linear(node)
    if isinstance(linear.leaf, Variable):
        return {linear.leaf: linear.factor}, linear.offset
    return {}, _constant(linear)


def _constant(linear: Linear) -> float:
    """The number that an expression without a variable denotes."""
    if isinstance(linear.leaf, Variable):
        raise BeyondAlgebraError(
            f"an expression may hold one variable, to the first power: {linear.leaf} is one too many"
        )
    try:
        return linear.factor * float(linear.leaf.text) + linear.offset
    except ValueError:
        raise UserError(f"{linear.leaf.text!r} is not a number to calculate with") from None


def _sum(one: Linear, other: Linear, sign: float) -> Linear:
    if isinstance(other.leaf, Variable):
        if isinstance(one.leaf, Variable):
            raise BeyondAlgebraError(f"an expression of two variables ({one.leaf}, {other.leaf}) is not supported")
        return Linear(sign * other.factor, other.leaf, sign * other.offset + _constant(one))
    return Linear(one.factor, one.leaf, one.offset + sign * _constant(other))


def _product(one: Linear, other: Linear, operator: str) -> Linear:
    if operator == "/":
        divisor = _constant(other)
        if divisor == 0:
            raise UserError("a comparison divides by 0")
        return Linear(one.factor / divisor, one.leaf, one.offset / divisor)
    if isinstance(one.leaf, Variable):
        factor, scaled = _constant(other), one
    else:
        factor, scaled = _constant(one), other
    return Linear(factor * scaled.factor, scaled.leaf, factor * scaled.offset)


def _negated(linear: Linear) -> Linear:
    if isinstance(linear.leaf, Literal) and (linear.factor, linear.offset) == (1, 0) and linear.leaf.numeric:
        text = linear.leaf.text
        return Linear(1.0, Literal(text[1:] if text[:1] == "-" else f"-{text.removeprefix('+')}", True), 0.0)
    return Linear(-linear.factor, linear.leaf, -linear.offset)
