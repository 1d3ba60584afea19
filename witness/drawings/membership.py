"""Membership inference: every attack's error rates, and what it proves of ε beside what is certified."""

from __future__ import annotations

import math

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from epsilond.accountants.json_types import JsonObject
from epsilond.witness.drawings import style

INCHES = (10.0, 4.6)
FAR = 20.0
"""A certified end this many times beyond what was proved would leave nothing else to see."""


def membership(answer: JsonObject) -> Figure:
    """The figure of an answer of kind `membership`."""
    figure = style.new_figure(INCHES)
    rates, proved = figure.subplots(1, 2, width_ratios=(1.0, 1.25))
    _rates(rates, answer)
    _proved(proved, answer)
    figure.suptitle(_title(answer), x=0.01, ha="left", fontsize=11)
    return figure


def _rates(axes: Axes, answer: JsonObject) -> None:
    for place, attack in enumerate(answer["attacks"]):
        false = np.array([point["false_positive_rate"] for point in attack["roc"]])
        true = np.array([point["true_positive_rate"] for point in attack["roc"]])
        order = np.lexsort((true, false))
        told = f"{style.words(attack['attack'])}: area {attack['auc']:.2f}"
        colour = style.COLOURS[place % len(style.COLOURS)]
        axes.plot(false[order], true[order], color=colour, linewidth=1.8, linestyle=style.DASHES[place], label=told)
    axes.plot((0, 1), (0, 1), color=style.NON_PRIVATE, linewidth=1.0, linestyle=":", label="guessing")
    axes.set_xlim(-0.01, 1.01)
    axes.set_ylim(-0.01, 1.01)
    axes.set_xlabel("false positive rate")
    axes.set_ylabel("true positive rate")
    axes.set_title("attackers' error rates, as observed", fontsize=10)
    axes.legend(loc="lower right", fontsize=8, frameon=False)


def _proved(axes: Axes, answer: JsonObject) -> None:
    attacks = answer["attacks"]
    lower, upper = (style.number(answer["certified"][end]) for end in ("lower", "upper"))
    near = max((attack["epsilon_lower"] for attack in attacks), default=0.0)
    shown = math.isfinite(upper) and (near == 0.0 or upper <= FAR * near)
    most = 1.25 * (upper if shown else max(near, 1.0))
    if shown:
        axes.axvspan(lower, upper, color=style.CERTIFIED, alpha=0.5)
        axes.axvline(upper, color=style.CERTIFIED, linewidth=1.5)
    told = f"certified: at most {upper:.4g}" + ("" if shown else ", off scale →") if math.isfinite(upper) else ""
    place = min(upper, most) if shown else most
    axes.text(place * 0.985, -0.45, told, color=style.CERTIFIED, ha="right", va="center", fontsize=9)
    for row, attack in enumerate(attacks):
        colour = style.COLOURS[row % len(style.COLOURS)]
        value = attack["epsilon_lower"]
        axes.barh(row, value, height=0.35, color=colour)
        words = f"at least {value:.3g}" if value > 0.0 else "proves nothing"
        axes.text(value + 0.01 * most, row, words, color=colour, va="center", fontsize=9)
    axes.set_yticks(range(len(attacks)), [style.wrapped(style.words(attack["attack"])) for attack in attacks])
    axes.set_ylim(len(attacks) - 0.45, -0.75)
    axes.set_xlim(0.0, most)
    axes.set_xlabel(f"ε at δ = {style.power_of_ten(answer['log10_delta'])} (nats)")
    axes.set_title(f"proved with {answer['confidence']:.4g} confidence each", fontsize=10)


def _title(answer: JsonObject) -> str:
    noun = "canary" if answer["canaries"] == 1 else "canaries"
    runs = "run" if answer["runs"] == 1 else "runs"
    return (
        f"Membership inference: one {answer['unit']}, {answer['relation']}; {answer['canaries']:,} {noun},"
        f" {answer['runs']:,} {runs}, {answer['references']:,} references"
    )
