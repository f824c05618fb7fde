"""A question in words that cannot be read: what is wrong, and where."""

from __future__ import annotations

from kgreckon.errors import UserError
from kgreckon.query.words import WordsError
from kgreckon.server.schemas import Error, Mistake


class MisreadError(UserError):
    """A mistake in a question in words, with all that a page shows of it: to look for what is meant takes a while."""

    def __init__(self, error: WordsError) -> None:
        message, _, _ = str(error).rpartition("\n")[0].rpartition("\n")  # without the line and the caret below it
        super().__init__(message)
        mistake = Mistake(message=error.message, start=error.start, word=error.word, suggestions=error.suggestions)
        self.told = Error(error=" ".join(message.split()), mistake=mistake)
