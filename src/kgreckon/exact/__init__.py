"""Exact answers: set semantics on compressed rows."""

from kgreckon.exact.ragged import Ragged
from kgreckon.exact.semantics import ExactSemantics, Numbers, answer, ask, check_ids

__all__ = ["ExactSemantics", "Numbers", "Ragged", "answer", "ask", "check_ids"]
