"""Questions in words: `cities in countries that border France, with population > 1 million`, read and written."""

from kgreckon.query.words.cursor import WordsError
from kgreckon.query.words.grammar import read, read_question
from kgreckon.query.words.proposing import Proposal, completions
from kgreckon.query.words.sentences import sentence

__all__ = ["Proposal", "WordsError", "completions", "read", "read_question", "sentence"]
