"""The shared style of figures: colours for colour-blind readers, labels next to lines, sizes, and the file."""

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

from epsilond.accountants.json_types import JsonObject

Format = Literal["png", "svg"]

MEASURED, BOUND, NON_PRIVATE, CERTIFIED = "#0072B2", "#D55E00", "#6E6E6E", "#009E73"
COLOURS = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#8C6D1F", "#000000")
"""Colours of Okabe and Ito; a darker colour replaces yellow, which is too pale for a line."""
DASHES = ("-", (0, (9, 2.5)), (0, (1, 1.5)), (0, (5, 2, 1, 2)), (0, (3, 1.2, 1, 1.2, 1, 1.2)))
"""Dash patterns of lines, as matplotlib takes them: an offset, and lengths of lines and gaps in points."""
INCHES = (8.0, 4.8)
"""Usual width and height of a figure."""
LABEL_SPACING = 0.062
"""Height of one line of a label, in units of the axes' height."""
LABEL_CHARACTERS = 20
"""Most characters in one line of a label."""
DOTS_PER_INCH = 120
SWEEPS = 200
"""Sweeps over the labels; more labels than fit on the axes still overlap after them."""
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
    """Return an empty figure that needs no window system."""
    figure = Figure(figsize=inches, dpi=DOTS_PER_INCH, layout="constrained")
    FigureCanvasAgg(figure)
    return figure


def settings() -> AbstractContextManager[None]:
    """Return a context with the style, for making and rendering a figure."""
    return mpl.rc_context(SETTINGS)


def render(figure: Figure, file_format: Format) -> bytes:
    """Return a figure as the content of a file; the same figure gives the same bytes.

    Args:
        figure: the figure.
        file_format: `png` for pixels, or `svg` for vector graphics.

    Returns:
        The bytes of the file.
    """
    buffer = io.BytesIO()
    # The file contains neither the date nor the version of matplotlib.
    metadata = {"Date": None} if file_format == "svg" else {"Software": None}
    figure.savefig(buffer, format=file_format, metadata=metadata)
    return buffer.getvalue()


def number(value: str | float) -> float:
    """Return a number of an answer as a double. Answers write infinities as "unbounded" and "-unbounded"."""
    infinities = {"unbounded": math.inf, "-unbounded": -math.inf}
    return infinities[value] if isinstance(value, str) else float(value)


def numbers(values: Iterable[str | float]) -> npt.NDArray[np.float64]:
    """Return numbers of an answer as an array; infinite ones become NaN and are not drawn."""
    array = np.array([number(value) for value in values], dtype=float)
    return np.where(np.isfinite(array), array, np.nan)


def sorted_rates(points: Iterable[JsonObject]) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    """Return the false and the true positive rates of a test at all its thresholds, by ascending false rate.

    Args:
        points: one point for each threshold, with `false_positive_rate` and `true_positive_rate`.

    Returns:
        Two arrays of equal length with rates from 0 to 1.
    """
    rates = [(point["false_positive_rate"], point["true_positive_rate"]) for point in points]
    false_rates, true_rates = np.array(sorted(rates), dtype=float).T
    return false_rates, true_rates


def logarithmic(axes: Axes) -> None:
    """Make the vertical axis logarithmic, even if no value on it is positive."""
    if not math.isfinite(axes.dataLim.minposy):
        axes.set_ylim(0.1, 10.0)
    axes.set_yscale("log")


def power_of_ten(exponent: float) -> str:
    """Return 10 to the given power in the notation of figures, with at most four digits in the exponent."""
    return f"$10^{{{exponent:.4g}}}$"


def run_words(name: str) -> str:
    """Return the name of a run or of a score in the words that figures display.

    A run is one training of a comparison, for example the training without noise.

    Args:
        name: name in the answer, such as `non-private` or `test_error`.

    Returns:
        The words. A name that is not listed is written with spaces in place of hyphens.
    """
    displayed = {
        "non-private": "without noise",
        "noisy-sgd": "noisy SGD",
        "test_rrmse": "RRMSE, on records held out,",
        "test_error": "error, on records held out,",
        "test_accuracy": "accuracy, on records held out,",
    }
    return displayed.get(name, name.replace("-", " "))


def wrap(words: str) -> str:
    """Wrap words into lines that fit next to the axes."""
    return "\n".join(textwrap.wrap(words, LABEL_CHARACTERS))


def label_ends(axes: Axes, labels: Sequence[tuple[float, str, str]], *, heading: str | None = None) -> None:
    """Write the labels of lines at the right of the axes. Labels that would overlap are moved apart.

    A label that was moved gets a short line to its height on the axis.

    Args:
        axes: the axes, with all lines drawn.
        labels: height, words and colour of each label. A label with an infinite or NaN height is left out.
        heading: heading above the labels.
    """
    drawable = [(value, words, colour) for value, words, colour in labels if math.isfinite(value)]
    if not drawable:
        return

    # Place each label at the height of its line, and then move labels apart that overlap.
    axes.figure.canvas.draw()  # limits are final only now
    low, high = axes.get_ylim()
    line_heights = [min(max(_share(axes, value, low, high), 0.0), 1.0) for value, _, _ in drawable]
    sizes = [LABEL_SPACING * (1 + words.count("\n")) for _, words, _ in drawable]
    label_heights = _separate(line_heights, sizes)

    # Heights are in units of the axes' height, and horizontal positions in units of their width.
    for (_, words, colour), line_height, label_height in zip(drawable, line_heights, label_heights, strict=True):
        was_moved = abs(label_height - line_height) > 0.005  # half a percent of the axes' height
        # Labels begin at 1.022, slightly to the right of the axes, so that a connecting line fits between.
        if was_moved:
            ends = (line_height, label_height)
            axes.plot((1.0, 1.018), ends, color=colour, linewidth=0.8, transform=axes.transAxes, clip_on=False)
        axes.text(
            1.022, label_height, words, color=colour, transform=axes.transAxes, va="center", ha="left", fontsize=9
        )
    if heading is not None:
        top = max(label_heights) + LABEL_SPACING
        axes.text(1.022, top, heading, transform=axes.transAxes, va="bottom", ha="left", fontsize=9)


def _share(axes: Axes, value: float, low: float, high: float) -> float:
    """Return the position of a value on the vertical axis, as a fraction of its length.

    Args:
        axes: the axes, with a linear or logarithmic vertical scale.
        value: the value.
        low: value at the bottom, positive on a logarithmic scale.
        high: value at the top.

    Returns:
        0 at the bottom and 1 at the top; values off the axis are below 0 or above 1. A value without a logarithm is at
        the bottom.
    """
    if axes.get_yscale() != "log":
        return (value - low) / (high - low)
    if value <= 0.0:
        return 0.0
    return math.log(value / low) / math.log(high / low)


def _separate(heights: Sequence[float], sizes: Sequence[float]) -> list[float]:
    """Move labels apart that overlap, and return their heights, close to the given ones.

    Overlapping neighbours are moved by equal amounts, in at most `SWEEPS` passes over all labels.

    Args:
        heights: heights of the centres of the labels, in units of the axes' height.
        sizes: heights of the labels themselves, in the same units.

    Returns:
        New heights of the centres, in the order of `heights`.
    """
    order = sorted(range(len(heights)), key=heights.__getitem__)  # indices of the labels from bottom to top
    ascending = [heights[index] for index in order]
    # Two neighbours just touch if their centres differ by half of both heights.
    needed_distances = [(sizes[below] + sizes[above]) / 2 for below, above in pairwise(order)]

    for _ in range(SWEEPS):
        for index, needed in enumerate(needed_distances):
            overlap = needed - (ascending[index + 1] - ascending[index])
            if overlap > 1e-9:  # more than rounding
                ascending[index] -= overlap / 2
                ascending[index + 1] += overlap / 2

    separated = [0.0] * len(heights)
    for index, height in zip(order, ascending, strict=True):
        separated[index] = height
    return separated
