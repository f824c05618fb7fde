"""Exact answers: set semantics on compressed rows."""

from kgreckon.exact.ragged import Ragged
from kgreckon.exact.semantics import ComparisonMode, ExactSemantics, answer, ask, check_ids

__all__ = ["ComparisonMode", "ExactSemantics", "Ragged", "answer", "ask", "check_ids"]
