"""Reading requests: bodies that stay within bounds, and values that are what their types say."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from email.message import Message
from typing import Any, TypeVar
from urllib.parse import parse_qsl

from pydantic import ValidationError
from pydantic_core import from_json
from starlette.requests import ClientDisconnect, Request

from kgreckon.errors import first_problem
from kgreckon.server.limits import Limits
from kgreckon.server.schemas import Schema

Asked = TypeVar("Asked", bound=Schema)

_PARAMETERS = 50  # the most that a request may carry


class HttpError(Exception):
    """A request that is refused, with its status and one line for the user."""

    def __init__(self, status: int, message: str, headers: Mapping[str, str] | None = None) -> None:
        super().__init__(message)
        self.status, self.message, self.headers = status, message, dict(headers or {})


async def read_body(request: Request, limits: Limits) -> bytes:
    """The whole body, which is given up as soon as it is too large, whatever length it claims, or too slow."""
    most, parts, size = limits.body_bytes, [], 0
    claimed = request.headers.get("content-length", "")
    if claimed.isascii() and claimed.isdigit() and (len(claimed) > 12 or int(claimed) > most):
        raise _too_large(most)
    try:
        async with asyncio.timeout(limits.seconds):
            async for part in request.stream():
                size += len(part)
                if size > most:
                    raise _too_large(most)
                parts.append(part)
    except TimeoutError:
        raise HttpError(408, "the body of the request did not arrive in time", {"Connection": "close"}) from None
    except ClientDisconnect:
        raise HttpError(400, "the body of the request did not arrive") from None
    return b"".join(parts)


def _too_large(most: int) -> HttpError:
    # What is left of the body is not read: the connection cannot go on.
    return HttpError(413, f"the body of a request may have at most {most:,} bytes", {"Connection": "close"})


def media_type(request: Request) -> str:
    """The media type of the body, in small letters; its characters are UTF-8, whatever else is refused."""
    header = Message()
    header["content-type"] = request.headers.get("content-type", "")
    charset = header.get_content_charset("utf-8")
    if charset not in ("utf-8", "utf8", "us-ascii"):
        raise HttpError(415, f"the body must be UTF-8, not {charset!r}")
    return header.get_content_type() if header["content-type"] else ""


async def read_request(request: Request, kind: type[Asked], limits: Limits) -> Asked:
    """What a request asks: the JSON object of its body, or the parameters of its address."""
    if request.method != "POST":
        found = read_parameters(request.url.query)
        for name, values in found.items():
            if len(values) > 1:
                raise HttpError(400, f"the parameter {name[:60]!r} is given more than once")
        return _checked(kind, {name: values[0] for name, values in found.items()}, limits, "parameter")
    if media_type(request) != "application/json":
        raise HttpError(415, "the content type must be application/json")
    body = await read_body(request, limits)
    try:
        data = from_json(body, allow_inf_nan=False)
    except ValueError:
        raise HttpError(400, "the body is not JSON in UTF-8, or is nested too deeply") from None
    if not isinstance(data, dict):
        raise HttpError(400, "the body must be a JSON object")
    return _checked(kind, data, limits, "field")


def _checked(kind: type[Asked], data: dict[str, Any], limits: Limits, what: str) -> Asked:
    """The data as its type; fields of JSON are strict, while a parameter writes a number as text."""
    unknown = [name for name in data if name not in kind.model_fields]
    if unknown:
        known = ", ".join(kind.model_fields) or "none"
        raise HttpError(400, f"unknown {what} {unknown[0][:60]!r}: use {known}")
    try:
        return kind.model_validate(data, strict=what == "field", context=limits)
    except ValidationError as error:
        raise HttpError(400, f"the {what} {first_problem(error)}") from None


def text_of(body: bytes) -> str:
    """A body as text."""
    try:
        return body.decode("utf-8")
    except UnicodeDecodeError:
        raise HttpError(400, "the body is not UTF-8") from None


def read_parameters(text: str) -> dict[str, list[str]]:
    """The parameters of a query string or a form."""
    try:
        pairs = parse_qsl(text, keep_blank_values=True, errors="strict", max_num_fields=_PARAMETERS)
    except ValueError:  # of which UnicodeDecodeError is one
        raise HttpError(400, f"the parameters are not percent-encoded UTF-8, or more than {_PARAMETERS}") from None
    parameters: dict[str, list[str]] = {}
    for name, value in pairs:
        parameters.setdefault(name, []).append(value)
    return parameters
