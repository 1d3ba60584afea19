"""An audit: the attacker's error rates, and what they prove of ε beside what is certified and what was claimed."""

from __future__ import annotations

import math

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from epsilond.accountants.json_types import JsonObject
from epsilond.witness.drawings import style

INCHES = (10.0, 4.6)
FAR = 10.0
"""Certified ends this many times beyond what was proved and claimed would leave nothing else to see."""


def audit(answer: JsonObject) -> Figure:
    """The figure of an answer of kind `audit`."""
    figure = style.new_figure(INCHES)
    rates, interval = figure.subplots(1, 2, width_ratios=(1.0, 1.25))
    _rates(rates, answer)
    _interval(interval, answer)
    figure.suptitle(_title(answer), x=0.01, ha="left", fontsize=11)
    return figure


def _rates(axes: Axes, answer: JsonObject) -> None:
    false = np.array([point["false_positive_rate"] for point in answer["roc"]])
    true = np.array([point["true_positive_rate"] for point in answer["roc"]])
    order = np.lexsort((true, false))
    axes.plot(false[order], true[order], color=style.MEASURED, linewidth=2.0)
    axes.plot((0, 1), (0, 1), color=style.NON_PRIVATE, linewidth=1.0, linestyle=":")
    axes.text(
        0.55, 0.48, "guessing", color=style.NON_PRIVATE, fontsize=9, rotation=45, rotation_mode="anchor", va="top"
    )
    upper = style.number(answer["certified"]["upper"])
    if math.isfinite(upper):
        grid = np.linspace(0.0, 1.0, 400)
        delta = 10.0 ** answer["log10_delta"]
        # No test of an (ε, δ)-private mechanism is above either line.
        most = np.minimum(
            1.0, np.minimum(math.exp(min(upper, 700.0)) * grid + delta, 1 - (1 - delta - grid) * math.exp(-upper))
        )
        axes.plot(grid, most, color=style.CERTIFIED, linewidth=1.3, linestyle="--")
    dashed = " (dashed: most that is certified)" if math.isfinite(upper) else ""
    axes.set_xlim(-0.01, 1.01)
    axes.set_ylim(-0.01, 1.01)
    axes.set_xlabel("false positive rate")
    axes.set_ylabel("true positive rate")
    axes.set_title(f"attacker's error rates{dashed}", fontsize=10)


def _interval(axes: Axes, answer: JsonObject) -> None:
    certified = answer["certified"]
    lower, upper = style.number(certified["lower"]), style.number(certified["upper"])
    proved, gaussian = answer["epsilon"]["lower"], answer["gaussian"]["epsilon_if_gaussian"]
    claim = answer.get("claim")
    most = 1.25 * _scale(lower, upper, (proved, gaussian, claim["epsilon"] if claim else 0.0))
    rows = ["certified", "proved by its test", "if it were Gaussian"] + (["claimed"] if claim else [])
    _certified(axes, lower, upper, most)
    _at_least(axes, 1, proved, most, style.MEASURED)
    if answer["evidence"] == "escape":
        words = "no ε: outputs that the other data set cannot give"
        box = {"facecolor": "white", "edgecolor": "none", "pad": 1.0}
        axes.text(0.02 * most, 0.72, words, color=style.MEASURED, fontsize=9, va="center", bbox=box)
    _at_least(axes, 2, gaussian, most, "#56B4E9")
    if claim is not None:
        axes.plot((claim["epsilon"],) * 2, (-0.4, 3.4), color=style.BOUND, linewidth=1.5, linestyle="-.")
        axes.text(
            claim["epsilon"] + 0.012 * most,
            3,
            f"at most {_short(claim['epsilon'])}; violated: {claim['violated']}",
            color=style.BOUND,
            fontsize=9,
            va="center",
        )
    axes.set_yticks(range(len(rows)), rows)
    axes.set_ylim(len(rows) - 0.45, -0.55)
    axes.set_xlim(0.0, most)
    axes.set_xlabel(f"ε at δ = {style.power_of_ten(answer['log10_delta'])} (nats)")
    axes.set_title(f"the audit and the certificate: {answer['verdict']}", fontsize=10)


def _scale(lower: float, upper: float, told: tuple[float, ...]) -> float:
    """The largest value that is drawn: what is certified far beyond all that was proved and claimed is not."""
    near = max((value for value in told if math.isfinite(value)), default=0.0)
    ends = [end for end in (lower, upper) if 0.0 < end < math.inf]
    return max([near, *(end for end in ends if end <= FAR * near)]) or min(ends, default=1.0)


def _certified(axes: Axes, lower: float, upper: float, most: float) -> None:
    """The certified interval, or in words where it is if it starts past the axis."""
    words = f"[{_short(lower)}, {_short(upper)}]"
    if lower > most:
        axes.text(0.98 * most, 0, f"{words}, off scale →", ha="right", va="center", color=style.CERTIFIED, fontsize=9)
        return
    end = min(upper, most)
    axes.barh(0, max(end - lower, 0.004 * most), left=lower, height=0.35, color=style.CERTIFIED, alpha=0.85)
    if upper > most:
        words += ", upper end off scale →"
    place = "right" if end > 0.5 * most else "left"
    axes.text(end, 0.32, words, ha=place, va="center", color=style.CERTIFIED, fontsize=9)


def _at_least(axes: Axes, row: float, value: float, most: float, colour: str) -> None:
    """An arrow from a lower end upward."""
    axes.annotate(
        "",
        xy=(min(value + 0.16 * most, most), row),
        xytext=(value, row),
        arrowprops={"arrowstyle": "->", "color": colour, "linewidth": 1.6},
    )
    axes.plot(value, row, marker="|", markersize=14, markeredgewidth=2.2, color=colour)
    axes.text(
        value,
        row + 0.36,
        f"at least {_short(value)}",
        color=colour,
        fontsize=9,
        ha="left" if value < 0.7 * most else "right",
    )


def _short(value: float) -> str:
    return f"{value:.4g}" if math.isfinite(value) else "unbounded"


def _title(answer: JsonObject) -> str:
    relation = answer.get("relation", "two given updates")
    return (
        f"Audit: {relation}, one {answer['unit']} against {answer['observer']}; {answer['samples']:,} runs on each data"
        f" set, {answer['confidence']:.4g} confidence"
    )
