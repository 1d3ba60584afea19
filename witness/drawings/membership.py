"""The figure of a membership inference: error rates of every attack, and the lower bounds on ε with the certificate."""

from __future__ import annotations

import math

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from epsilond.accountants.json_types import JsonObject
from epsilond.witness.drawings import style

INCHES = (10.0, 4.6)
FAR = 20.0
"""Ratio of the certified upper bound to the largest lower bound above which it is not drawn, because it would hide the
rest."""


def membership(answer: JsonObject) -> Figure:
    """Draw the figure of a membership inference: error rates of every attack, and the lower bounds on ε.

    Each attack guesses which inserted records were in the training data.

    Args:
        answer: answer of kind `membership`, as a JSON object.

    Returns:
        A figure with two panels.
    """
    figure = style.new_figure(INCHES)
    rates, proved = figure.subplots(1, 2, width_ratios=(1.0, 1.25))
    _draw_rates(rates, answer)
    _draw_bounds(proved, answer)
    figure.suptitle(_title(answer), x=0.01, ha="left", fontsize=11)
    return figure


def _draw_rates(axes: Axes, answer: JsonObject) -> None:
    """Draw the true positive rate of every attack against its false positive rate, with guessing as a diagonal.

    Each attack guesses which inserted records or clients were in the training data. Its label states the area under its
    curve.

    Args:
        axes: axes of the panel.
        answer: answer of the membership inference in its JSON form.
    """
    for number, attack in enumerate(answer["attacks"]):
        false_rates, true_rates = style.sorted_rates(attack["roc"])
        label = f"{style.run_words(attack['attack'])}: area {attack['auc']:.2f}"
        colour, dash = style.COLOURS[number % len(style.COLOURS)], style.DASHES[number]
        axes.plot(false_rates, true_rates, color=colour, linewidth=1.8, linestyle=dash, label=label)
    axes.plot((0, 1), (0, 1), color=style.NON_PRIVATE, linewidth=1.0, linestyle=":", label="guessing")
    # Rates are from 0 to 1; a margin of 1 % keeps lines at the ends visible.
    axes.set_xlim(-0.01, 1.01)
    axes.set_ylim(-0.01, 1.01)
    axes.set_xlabel("false positive rate")
    axes.set_ylabel("true positive rate")
    axes.set_title("attackers' error rates, as observed", fontsize=10)
    axes.legend(loc="lower right", fontsize=8, frameon=False)


def _draw_bounds(axes: Axes, answer: JsonObject) -> None:
    """Draw the lower bound on ε of every attack, and the certified interval of ε if it is not too far away.

    Each attack guesses which inserted records were in the training data, and proves a lower bound on ε by its success.
    A certified bound above `FAR` times the largest lower bound is left out, because it would hide the others.

    Args:
        axes: axes of the panel, which are drawn on.
        answer: answer of the membership inference in its JSON form.
    """
    attacks = answer["attacks"]

    # Choose the axis. A certified upper bound far above all lower bounds is left off.
    upper = style.number(answer["certified"]["upper"])
    largest_lower = max((attack["epsilon_lower"] for attack in attacks), default=0.0)
    is_near = largest_lower == 0.0 or upper <= FAR * largest_lower
    is_visible = math.isfinite(upper) and is_near
    largest_drawn = upper if is_visible else max(largest_lower, 1.0)
    right_limit = 1.25 * largest_drawn  # a quarter of the bar's length is free for the text
    _draw_certificate(axes, answer["certified"], right_limit, is_visible=is_visible)

    # One bar for each attack, from 0 to its lower bound.
    for row, attack in enumerate(attacks):
        colour = style.COLOURS[row % len(style.COLOURS)]
        lower_bound = attack["epsilon_lower"]
        axes.barh(row, lower_bound, height=0.35, color=colour)
        # The text begins slightly to the right of the bar.
        words = f"at least {lower_bound:.3g}" if lower_bound > 0.0 else "proves nothing"
        axes.text(lower_bound + 0.01 * right_limit, row, words, color=colour, va="center", fontsize=9)

    row_titles = [style.wrap(style.run_words(attack["attack"])) for attack in attacks]
    axes.set_yticks(range(len(attacks)), row_titles)
    # The first attack is at the top, below the words on the certified bound.
    axes.set_ylim(len(attacks) - 0.45, -0.75)
    axes.set_xlim(0.0, right_limit)
    axes.set_xlabel(f"ε at δ = {style.power_of_ten(answer['log10_delta'])} (nats)")
    axes.set_title(f"proved with {answer['confidence']:.4g} confidence each", fontsize=10)


def _draw_certificate(axes: Axes, certified: JsonObject, right_limit: float, *, is_visible: bool) -> None:
    """Draw the certified interval of ε, and state its upper bound in words.

    Args:
        axes: the axes.
        certified: lower and upper bound in JSON form. If the upper bound is infinite, nothing is stated.
        right_limit: right limit of the axis.
        is_visible: whether the upper bound is within the axis. Otherwise only the words are drawn, at the right limit.
    """
    lower, upper = style.number(certified["lower"]), style.number(certified["upper"])
    if is_visible:
        axes.axvspan(lower, upper, color=style.CERTIFIED, alpha=0.5)
        axes.axvline(upper, color=style.CERTIFIED, linewidth=1.5)

    words = ""
    if math.isfinite(upper):
        words = f"certified: at most {upper:.4g}"
        if not is_visible:
            words += ", off scale →"
    right_end = min(upper, right_limit) if is_visible else right_limit
    # The text ends slightly to the left of the bound.
    axes.text(right_end * 0.985, -0.45, words, color=style.CERTIFIED, ha="right", va="center", fontsize=9)


def _title(answer: JsonObject) -> str:
    """Return the title of the figure: the protected unit, the neighbouring relation, and the numbers of trainings.

    A canary is a record or client that is inserted to be detected. A reference is a further training that an attacker
    learns from.

    Args:
        answer: answer of the membership inference in its JSON form.

    Returns:
        One line of text.
    """
    noun = "canary" if answer["canaries"] == 1 else "canaries"
    runs = "run" if answer["runs"] == 1 else "runs"
    return (
        f"Membership inference: one {answer['unit']}, {answer['relation']}; {answer['canaries']:,} {noun},"
        f" {answer['runs']:,} {runs}, {answer['references']:,} references"
    )
