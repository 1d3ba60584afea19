"""What figures share: colours that colour-blind readers tell apart, labels beside lines, the size, and the file."""

from __future__ import annotations

import io
import math
import textwrap
from collections.abc import Iterable, Sequence
from contextlib import AbstractContextManager
from itertools import pairwise
from typing import Any, Literal

import matplotlib as mpl
import numpy as np
import numpy.typing as npt
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

Format = Literal["png", "svg"]

MEASURED, BOUND, NON_PRIVATE, CERTIFIED = "#0072B2", "#D55E00", "#6E6E6E", "#009E73"
COLOURS = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#8C6D1F", "#000000")
"""Of Okabe and Ito, whose yellow is too pale for a line."""
DASHES = ("-", (0, (9, 2.5)), (0, (1, 1.5)), (0, (5, 2, 1, 2)), (0, (3, 1.2, 1, 1.2, 1, 1.2)))
INCHES = (8.0, 4.8)
LABEL_SPACING = 0.062
"""Of one line of a label, over the height of the axes."""
LABEL_CHARACTERS = 20
"""Of one line of a label."""
DOTS_PER_INCH = 120
SETTINGS: Any = {
    "svg.hashsalt": "epsilond",  # names inside the file do not change from run to run
    "svg.fonttype": "none",
    "font.family": "DejaVu Sans",
    "font.size": 10.0,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.titlesize": 11.0,
    "axes.titlelocation": "left",
    "axes.grid": True,
    "grid.color": "#E4E4E4",
    "grid.linewidth": 0.7,
    "axes.axisbelow": True,
}


def new_figure(inches: tuple[float, float] = INCHES) -> Figure:
    """An empty figure, drawn without any window system."""
    figure = Figure(figsize=inches, dpi=DOTS_PER_INCH, layout="constrained")
    FigureCanvasAgg(figure)
    return figure


def settings() -> AbstractContextManager[None]:
    """The style, while a figure is made and render."""
    return mpl.rc_context(SETTINGS)


def render(figure: Figure, file_format: Format) -> bytes:
    """The file: the same bytes for the same figure."""
    held = io.BytesIO()
    # Neither a date nor a version of the program that drew it.
    metadata = {"Date": None} if file_format == "svg" else {"Software": None}
    figure.savefig(held, format=file_format, metadata=metadata)
    return held.getvalue()


def number(value: str | float) -> float:
    """A number of an answer, where infinities are words."""
    words = {"unbounded": math.inf, "-unbounded": -math.inf}
    return words[value] if isinstance(value, str) else float(value)


def numbers(values: Iterable[str | float]) -> npt.NDArray[np.float64]:
    """Numbers of an answer; those that cannot be drawn are left out."""
    held = np.array([number(value) for value in values], dtype=float)
    return np.where(np.isfinite(held), held, np.nan)


def logarithmic(axes: Axes) -> None:
    """Make the vertical axis logarithmic, also where nothing on it is positive."""
    if not math.isfinite(axes.dataLim.minposy):
        axes.set_ylim(0.1, 10.0)
    axes.set_yscale("log")


def power_of_ten(exponent: float) -> str:
    """10 to that power, as it is drawn."""
    return f"$10^{{{exponent:.4g}}}$"


def words(name: str) -> str:
    """A run's name as it is read."""
    known = {"non-private": "without noise", "noisy-sgd": "noisy SGD", "test_rrmse": "RRMSE, on records held out,"}
    known |= {f"test_{what}": f"{what}, on records held out," for what in ("error", "accuracy")}
    return known.get(name, name.replace("-", " "))


def wrapped(words: str) -> str:
    """In lines short enough to stand beside the axes."""
    return "\n".join(textwrap.wrap(words, LABEL_CHARACTERS))


def label_ends(axes: Axes, labels: Sequence[tuple[float, str, str]], *, heading: str | None = None) -> None:
    """Words right of the axes at these heights (value, words, colour), moved apart where they would overlap."""
    drawable = [(value, words, colour) for value, words, colour in labels if math.isfinite(value)]
    if not drawable:
        return
    axes.figure.canvas.draw()  # limits are final only now
    low, high = axes.get_ylim()
    scaled = [min(max(_share(axes, value, low, high), 0.0), 1.0) for value, _, _ in drawable]
    sizes = [LABEL_SPACING * (1 + words.count("\n")) for _, words, _ in drawable]
    places = _apart(scaled, sizes)
    for (_, words, colour), height, place in zip(drawable, scaled, places, strict=True):
        if abs(place - height) > 0.005:
            axes.plot(
                (1.0, 1.018), (height, place), color=colour, linewidth=0.8, transform=axes.transAxes, clip_on=False
            )
        axes.text(1.022, place, words, color=colour, transform=axes.transAxes, va="center", ha="left", fontsize=9)
    if heading is not None:
        axes.text(
            1.022, max(places) + LABEL_SPACING, heading, transform=axes.transAxes, va="bottom", ha="left", fontsize=9
        )


def _share(axes: Axes, value: float, low: float, high: float) -> float:
    if axes.get_yscale() == "log":
        return 0.0 if value <= 0.0 else math.log(value / low) / math.log(high / low)
    return (value - low) / (high - low)


def _apart(heights: Sequence[float], sizes: Sequence[float]) -> list[float]:
    """The heights, moved as little as a few sweeps manage so that labels of these sizes do not overlap."""
    order = sorted(range(len(heights)), key=heights.__getitem__)
    places = [heights[index] for index in order]
    needed = [(sizes[low] + sizes[high]) / 2 for low, high in pairwise(order)]
    for _ in range(200):
        for lower, apart in enumerate(needed):
            short = apart - (places[lower + 1] - places[lower])
            if short > 1e-9:
                places[lower] -= short / 2
                places[lower + 1] += short / 2
    moved = [0.0] * len(heights)
    for index, place in zip(order, places, strict=True):
        moved[index] = place
    return moved
