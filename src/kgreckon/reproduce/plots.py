"""Figures as SVG, the same bytes for the same data."""

from __future__ import annotations

from io import StringIO
from typing import Any

from kgreckon.reproduce.layout import Figure


def svg(figure: Figure) -> str:
    """A figure to be put into a page."""
    import matplotlib as mpl  # a second to import, and needed by no other part

    style: Any = {"svg.hashsalt": figure.title, "svg.fonttype": "none", "font.family": "sans-serif", "font.size": 9}
    with mpl.rc_context(style):
        from matplotlib.figure import Figure as Canvas

        canvas = Canvas(figsize=(7.2, 3.6), layout="constrained")
        axes = canvas.subplots()
        (_bars if figure.is_bars else _curves)(axes, figure)
        axes.set_title(figure.title, loc="left", fontsize=10)
        axes.set_xlabel(figure.x_label)
        axes.set_ylabel(figure.y_label)
        axes.grid(axis="y", alpha=0.3)
        axes.spines[["top", "right"]].set_visible(False)
        canvas.legend(loc="outside right upper", frameon=False)
        text = StringIO()
        canvas.savefig(text, format="svg", metadata={"Date": None, "Creator": None})
    return text.getvalue()[text.getvalue().index("<svg") :]


# A style of line for each form of numbers, so that curves differ by more than their colour.
_LINES = {"baseline": ":", "dice": "--", "sinusoidal": "-"}


def _curves(axes: Any, figure: Figure) -> None:
    for name, points in figure.curves.items():
        style = next((line for form, line in _LINES.items() if name.endswith(form)), "-")
        axes.plot(*zip(*points, strict=True), style, label=name, marker="o", markersize=3, linewidth=1.4)
    if figure.diagonal:
        axes.plot((0, 1), (0, 1), ":", color="grey", linewidth=1)
        axes.set_xlim(0, 1)
        axes.set_ylim(top=1)
    if figure.log_x:
        axes.set_xscale("log", base=2)
        axes.xaxis.set_major_formatter("{x:,.0f}")
    axes.set_ylim(bottom=0)


def _bars(axes: Any, figure: Figure) -> None:
    names = list(dict.fromkeys(str(x) for points in figure.curves.values() for x, _ in points))
    width = 0.8 / len(figure.curves)
    for index, (name, points) in enumerate(figure.curves.items()):
        left = [names.index(str(x)) - 0.4 + width * (index + 0.5) for x, _ in points]
        axes.bar(left, [y for _, y in points], width, label=name)
    axes.set_xticks(
        range(len(names)), names, rotation=20 if len(names) > 4 else 0, ha="right" if len(names) > 4 else "center"
    )
