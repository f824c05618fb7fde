"""Commands for agents: mcp."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from kgreckon.cli.app import MovedBenchmark, app


@app.command()
def mcp(
    place: Annotated[
        str, typer.Argument(metavar="RUN", help="A run folder; or a graph folder or 'world', for exact answers only.")
    ],
    http: Annotated[bool, typer.Option("--http", help="Serve at http://127.0.0.1:PORT/mcp instead of stdio.")] = False,
    port: Annotated[
        int, typer.Option(min=0, max=65535, help="The port to listen at with --http; 0 for any that is free.")
    ] = 8001,
    seconds: Annotated[float, typer.Option(min=0.1, help="The longest that one call of a tool may take.")] = 10.0,
    heads: Annotated[
        int, typer.Option(min=1, help="Likeliest heads of a reckoner's predicted facts: more is slower and finer.")
    ] = 64,
    token_file: Annotated[
        Path | None,
        typer.Option(help="With --http: a file with the token that requests must bear; else KGRECKON_TOKEN."),
    ] = None,
    changes: Annotated[
        bool, typer.Option("--changes", help="Let agents change the graph too; with --http this needs a token.")
    ] = False,
    benchmark: MovedBenchmark = None,
) -> None:
    """Let agents ask a trained run, or a graph: an MCP server, which changes nothing without --changes."""
    from kgreckon.cli.console import notes
    from kgreckon.errors import UserError, naming_extras

    with naming_extras("agents"):
        from kgreckon.runs.changing import changeable_graph
        from kgreckon.server.agents import serve_agents
        from kgreckon.server.limits import Limits
        from kgreckon.server.serving import open_service
        from kgreckon.server.tokens import read_token

    if token_file is not None and not http:
        raise UserError("--token-file needs --http: on stdio there is only the program that started this one")
    token = read_token(token_file) if http else None
    if changes:
        if http and token is None:
            raise UserError("--changes with --http needs a token: --token-file, or KGRECKON_TOKEN")
        changeable_graph(place)
    with notes().status("opening ..."):
        service = open_service(place, Limits(seconds=seconds, heads=heads), benchmark)

    def started(address: str) -> None:
        typer.echo(address)
        notes().print("MCP over streamable HTTP; Ctrl-C stops it", soft_wrap=True)

    serve_agents(service, port if http else None, token, started, changes)
