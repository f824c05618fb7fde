"""Run the notebooks of the documentation, and write what their cells print into them.

    python scripts/run_notebooks.py            # run all, and keep the outputs
    python scripts/run_notebooks.py --check    # run all; an error where an output has changed but for its digits

The cells run here, in a folder that is thrown away: no Jupyter is needed. The files open in any.
"""

from __future__ import annotations

import argparse
import ast
import contextlib
import io
import json
import os
import re
import sys
import tempfile
from pathlib import Path
from typing import Any

NOTEBOOKS = Path(__file__).resolve().parents[1] / "docs" / "notebooks"


def main() -> None:
    """Run the notebooks that are named, or all."""
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("notebooks", nargs="*", type=Path, default=sorted(NOTEBOOKS.glob("*.ipynb")))
    arguments.add_argument("--check", action="store_true", help="write nothing; fail where an output has changed")
    chosen = arguments.parse_args()
    for path in chosen.notebooks:
        notebook = json.loads(path.read_text(encoding="utf-8"))
        before = [outputs_of(cell) for cell in code_cells(notebook)]
        with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
            run(notebook)
        after = [outputs_of(cell) for cell in code_cells(notebook)]
        if chosen.check:
            changed = [(old, new) for old, new in zip(before, after, strict=True) if masked(old) != masked(new)]
            if changed:
                sys.exit(
                    f"{path.name}: a cell gives another output\n--- kept\n{changed[0][0]}\n--- now\n{changed[0][1]}"
                )
        else:
            path.write_text(json.dumps(notebook, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def code_cells(notebook: dict[str, Any]) -> list[dict[str, Any]]:
    """The cells that run."""
    return [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]


def outputs_of(cell: dict[str, Any]) -> str:
    """What a cell gave, as text."""
    return "".join("".join(output.get("text") or output["data"]["text/plain"]) for output in cell["outputs"])


def masked(text: str) -> str:
    """A text without its digits, and with one space for several: another processor may round otherwise."""
    return re.sub(r"[\s─━]+", " ", re.sub(r"[-+]?\d[\d,.]*(?:e[-+]?\d+)?", "0", text))


def run(notebook: dict[str, Any]) -> None:
    """Run all cells one after the other, and put what they give into them."""
    names: dict[str, Any] = {"__name__": "__main__"}
    for number, cell in enumerate(code_cells(notebook), 1):
        tree = ast.parse("".join(cell["source"]))
        last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
        printed = io.StringIO()
        outputs: list[dict[str, Any]] = []
        with contextlib.redirect_stdout(printed):
            exec(compile(tree, f"cell {number}", "exec"), names)
            value = None
            if isinstance(last, ast.Expr):
                value = eval(compile(ast.Expression(last.value), f"cell {number}", "eval"), names)
        if printed.getvalue():
            outputs.append({"output_type": "stream", "name": "stdout", "text": _lines(printed.getvalue())})
        if value is not None:
            data = {"text/plain": _lines(repr(value))}
            outputs.append({"output_type": "execute_result", "execution_count": number, "metadata": {}, "data": data})
        cell["execution_count"], cell["outputs"] = number, outputs


def _lines(text: str) -> list[str]:
    return [line.rstrip() + "\n" * line.endswith("\n") for line in text.splitlines(keepends=True)]


if __name__ == "__main__":
    os.environ.setdefault("COLUMNS", "100")
    main()
