"""The token that requests must bear: from a file or the environment, never from a command line that others can read."""

from __future__ import annotations

import os
import re
from pathlib import Path

from kgreckon.errors import UserError

VARIABLE, CHANGE_VARIABLE = "KGRECKON_TOKEN", "KGRECKON_CHANGE_TOKEN"
_LEAST = 16  # characters
_TOKEN = re.compile(r"[A-Za-z0-9._~+/-]+=*")  # of RFC 6750


def read_token(file: Path | None = None, variable: str = VARIABLE) -> str | None:
    """The token in a file, or else in the environment; None where there is neither."""
    if file is None:
        source, text = f"the environment variable {variable}", os.environ.get(variable)
        if text is None:
            return None
    else:
        source = str(file)
        try:
            text = file.read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            reason = error.strerror if isinstance(error, OSError) else "it is not text"
            raise UserError(f"the token cannot be read from {file}: {reason}") from None
    token = text.strip()
    if len(token) < _LEAST or not _TOKEN.fullmatch(token):
        raise UserError(
            f"{source} must hold one token of at least {_LEAST} characters (letters, digits and ._~+/-), "
            "such as `openssl rand -hex 32` writes"
        )
    return token
