"""Reports as pages: Markdown, and HTML that needs no other file."""

from __future__ import annotations

import re
from collections.abc import Sequence
from html import escape
from typing import assert_never

from kgreckon.reproduce.layout import Block, Figure, Heading, Table, Text
from kgreckon.reproduce.plots import svg


def markdown(blocks: Sequence[Block]) -> str:
    """The report in Markdown; figures are for the other page."""
    lines: list[str] = []
    for block in blocks:
        match block:
            case Heading(text, level):
                lines += [f"{'#' * level} {text}", ""]
            case Text(text):
                lines += [text, ""]
            case Table():
                lines += [*_markdown_table(block), ""]
            case Figure():
                pass
            case _:
                assert_never(block)
    return "\n".join(lines)


def _markdown_table(table: Table) -> list[str]:
    rows = [[f"**{row[0]}**" if index in table.strong else row[0], *row[1:]] for index, row in enumerate(table.rows)]
    head, rule = _markdown_row(table.columns), "|---|" + "---:|" * (len(table.columns) - 1)
    return [head, rule, *map(_markdown_row, rows)]


def _markdown_row(cells: Sequence[object]) -> str:
    return "| " + " | ".join(str(cell).replace("|", "\\|") for cell in cells) + " |"


_STYLE = """
:root { color-scheme: light; }
body { font: 16px/1.5 system-ui, sans-serif; color: #1b1f24; background: #fff; }
body { max-width: 76rem; margin: 2rem auto; padding: 0 1rem; }
h1, h2, h3 { line-height: 1.2; margin-top: 2.2em; }
.wide { overflow-x: auto; }
table { border-collapse: collapse; font-size: 0.85rem; font-variant-numeric: tabular-nums; margin: 1rem 0; }
th, td { padding: 0.25rem 0.6rem; border-bottom: 1px solid #d9dee3; text-align: right; white-space: nowrap; }
th:first-child, td:first-child { text-align: left; }
tr.ours td { background: #eef5ff; font-weight: 600; }
figure { margin: 1.5rem 0; }
svg { max-width: 100%; height: auto; }
code { background: #f1f3f5; padding: 0.1em 0.3em; border-radius: 3px; }
"""


def html(blocks: Sequence[Block], title: str) -> str:
    """The report as one page with its figures."""
    body: list[str] = []
    for block in blocks:
        match block:
            case Heading(text, level):
                body.append(f"<h{level}>{_inline(text)}</h{level}>")
            case Text(text):
                body.append(f"<p>{_inline(text)}</p>")
            case Table():
                body.append(_html_table(block))
            case Figure(title=name):
                body.append(f'<figure role="img" aria-label="{escape(name)}">{svg(block)}</figure>')
            case _:
                assert_never(block)
    return (
        f'<!doctype html>\n<html lang="en">\n<meta charset="utf-8">\n'
        f'<meta name="viewport" content="width=device-width, initial-scale=1">\n<title>{escape(title)}</title>\n'
        f"<style>{_STYLE}</style>\n<body>\n" + "\n".join(body) + "\n</body>\n</html>\n"
    )


def _html_table(table: Table) -> str:
    head = "".join(f'<th scope="col">{_inline(str(name))}</th>' for name in table.columns)
    rows = []
    for index, row in enumerate(table.rows):
        opening = '<tr class="ours">' if index in table.strong else "<tr>"
        rows.append(opening + "".join(f"<td>{_inline(str(cell))}</td>" for cell in row) + "</tr>")
    return (
        f'<div class="wide"><table><thead><tr>{head}</tr></thead>\n<tbody>\n'
        + "\n".join(rows)
        + "\n</tbody></table></div>"
    )


def _inline(text: str) -> str:
    """Escaped, with what stands between backquotes as code."""
    return re.sub(r"`([^`]*)`", r"<code>\1</code>", escape(text))
