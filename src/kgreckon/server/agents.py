"""The graph for agents: the tools over MCP, on stdio or at a loopback address; read-only unless changes are allowed."""

from __future__ import annotations

import inspect
import signal
import threading
from collections.abc import Callable
from contextlib import suppress
from functools import wraps
from typing import Any

import uvicorn
from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from mcp_types import ToolAnnotations

from kgreckon.errors import UserError
from kgreckon.graph.symbols import Symbols
from kgreckon.server.agent_tools import AgentTools
from kgreckon.server.gate import TimeLimitError, deadline
from kgreckon.server.headers import TokenCheck
from kgreckon.server.service import Service
from kgreckon.server.serving import address_of, config, listen, terminated_like_interrupted
from kgreckon.version import __version__

_READ_ONLY = ToolAnnotations(read_only_hint=True, destructive_hint=False, idempotent_hint=True, open_world_hint=False)
_CHANGES = ToolAnnotations(read_only_hint=False, destructive_hint=True, idempotent_hint=False, open_world_hint=False)
_NAMED_AT_ONCE = 40  # relations and attributes that the description of `ask` lists

_INSTRUCTIONS = """\
A knowledge graph of {entities:,} entities and {facts:,} facts, with {model}.
Everything that a tool answers has a status. "proved": the graph states it, or it follows from what is stated. "found":
it fits what is stated, where what is not stated counts as false. "likely": it is inferred, with its probability.
"unknown": it is not stated, and not likely; it may still be true. Say which it is when you pass an answer on.
Begin with `search` to find names of entities, relations and attributes, then `ask`. `describe` shows what is known of
one entity, `explain` gives the reasons of one answer, `predict` a number that may not be stated, and `complete` what is
likely and not stated of some entities.
"""
_QUERY = """\
SPARQL: names are IRIs with the prefix `:`, as in
`SELECT ?c {{ ?c :in_country :Japan ; :population ?p FILTER(?p > 1000000) }}`. In names, other characters than letters,
digits and _ are percent-encoded (`:New%20York`). A label in quotes may stand for an entity. A SELECT of one variable
or several over a tree of triples is answered with inference. Any other SPARQL 1.1 query (cycles, aggregates, OPTIONAL,
regex, ASK) is answered from what is stated, with rdfs:label for labels.
In words: `cities in Japan with population > 1 million`, `how many countries border France`.
Relations: {relations}.
Attributes: {attributes}."""


def agent_server(service: Service, changes: bool = False) -> MCPServer:
    """The tools over a graph or a run, for any transport of MCP; with `changes` one of them changes the graph."""
    tools, graph = AgentTools(service), service.graph
    model = (
        "no model: what is not stated is unknown" if tools.certain else f"the model {service.model.name}, which infers"
    )
    server: MCPServer = MCPServer(
        "kgreckon",
        title="kgreckon",
        version=__version__,
        instructions=_INSTRUCTIONS.format(entities=len(graph.entities), facts=len(graph.facts), model=model),
        log_level="WARNING",
    )
    turn = threading.BoundedSemaphore(service.limits.at_once)
    query = _QUERY.format(relations=_listed(graph.relations), attributes=_listed(graph.attributes))
    for tool in (tools.search, tools.describe, tools.ask, tools.explain, tools.predict, tools.complete):
        about = inspect.cleandoc(tool.__doc__ or "") + (f"\n\n{query}" if tool == tools.ask else "")
        server.add_tool(_bounded(tool, service, turn), description=about, annotations=_READ_ONLY)
    if changes:
        server.add_tool(_bounded(tools.change, service, turn), annotations=_CHANGES)
    return server


def serve_agents(
    service: Service, port: int | None, token: str | None, started: Callable[[str], None], changes: bool = False
) -> None:
    """Serve the tools on stdio or, with a port, over HTTP at this machine's own address, until the end is asked for."""
    server = agent_server(service, changes)
    if port is None:
        if threading.current_thread() is threading.main_thread():
            signal.signal(signal.SIGINT, signal.SIG_DFL)  # else Ctrl-C would wait for the line that is being read
        server.run("stdio")
        return
    listening = listen("127.0.0.1", port)
    with listening:
        app: Any = server.streamable_http_app(
            json_response=True, stateless_http=True, max_request_body_size=service.limits.body_bytes
        )
        started(f"{address_of(listening)}mcp")
        runner = uvicorn.Server(config(app if token is None else TokenCheck(app, token), service.limits))
        with terminated_like_interrupted(), suppress(KeyboardInterrupt):  # uvicorn ends in order, then passes it on
            runner.run(sockets=[listening])


def _bounded(tool: Callable[..., Any], service: Service, turn: threading.BoundedSemaphore) -> Callable[..., Any]:
    """The tool in its turn and within the time of a request; a user's mistake is one line."""

    @wraps(tool)
    def called(*arguments: Any, **named: Any) -> Any:
        pause = deadline(service.limits.seconds)
        try:
            with turn:
                pause()
                now = AgentTools(service.now())  # over the graph as it is
                return getattr(now, tool.__name__)(*arguments, **named, pause=pause)
        except UserError as error:
            raise ToolError(str(error)) from None
        except TimeLimitError:
            seconds = f"{service.limits.seconds:g} s"
            raise ToolError(f"this takes longer than {seconds} to answer: ask something simpler") from None

    signature = inspect.signature(tool, eval_str=True)
    shown = [each for each in signature.parameters.values() if each.name != "pause"]
    called.__signature__ = signature.replace(parameters=shown)  # type: ignore[attr-defined]
    return called


def _listed(symbols: Symbols) -> str:
    """The names of relations or attributes; of many the first ones."""
    names = ", ".join(symbols.names[:_NAMED_AT_ONCE].to_pylist())
    more = len(symbols) - _NAMED_AT_ONCE
    return names if more <= 0 else f"{names} and {more:,} more, which `search` finds"
