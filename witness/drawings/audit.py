"""The figure of an audit: the attacker's error rates, and the proved, certified and claimed ε."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from epsilond.accountants.json_types import JsonObject
from epsilond.witness.drawings import style

INCHES = (10.0, 4.6)
FAR = 10.0
"""Ratio of a certified bound to all proved and claimed ones above which it is not drawn, because it would hide them."""

LARGEST_EXPONENT = 700.0
"""Largest exponent ε of e^ε, which is then below the largest double."""


def audit(answer: JsonObject) -> Figure:
    """Draw the figure of an audit: the attacker's error rates, and the proved, certified and claimed ε.

    An audit attacks a mechanism, and its success proves a lower bound on ε.

    Args:
        answer: answer of kind `audit`, as a JSON object.

    Returns:
        A figure with two panels.
    """
    figure = style.new_figure(INCHES)
    rates, interval = figure.subplots(1, 2, width_ratios=(1.0, 1.25))
    _draw_rates(rates, answer)
    _draw_interval(interval, answer)
    figure.suptitle(_title(answer), x=0.01, ha="left", fontsize=11)
    return figure


def _draw_rates(axes: Axes, answer: JsonObject) -> None:
    """Draw the attacker's true positive rate against the false positive rate, with guessing as a diagonal.

    If the certified ε is finite, a dashed curve shows the largest true positive rates that it allows.

    Args:
        axes: axes of the panel.
        answer: answer of the audit in its JSON form.
    """
    false_rates, true_rates = style.sorted_rates(answer["roc"])
    axes.plot(false_rates, true_rates, color=style.MEASURED, linewidth=2.0)
    axes.plot((0, 1), (0, 1), color=style.NON_PRIVATE, linewidth=1.0, linestyle=":")  # both rates equal: guessing
    axes.text(
        0.55, 0.48, "guessing", color=style.NON_PRIVATE, fontsize=9, rotation=45, rotation_mode="anchor", va="top"
    )
    title = "attacker's error rates"
    upper = style.number(answer["certified"]["upper"])
    if math.isfinite(upper):
        grid = np.linspace(0.0, 1.0, 400)
        largest_rates = _largest_true_positive_rates(grid, upper, 10.0 ** answer["log10_delta"])
        axes.plot(grid, largest_rates, color=style.CERTIFIED, linewidth=1.3, linestyle="--")
        title += " (dashed: most that is certified)"
    # Rates are from 0 to 1; a margin of 1 % keeps lines at the ends visible.
    axes.set_xlim(-0.01, 1.01)
    axes.set_ylim(-0.01, 1.01)
    axes.set_xlabel("false positive rate")
    axes.set_ylabel("true positive rate")
    axes.set_title(title, fontsize=10)


def _largest_true_positive_rates(
    false_positive_rates: npt.NDArray[np.float64], epsilon: float, delta: float
) -> npt.NDArray[np.float64]:
    """Return the largest true positive rates that a test of an (ε, δ)-private mechanism can have.

    The test guesses from an output which of two neighbouring data sets the mechanism ran on. The bound at the false
    positive rate f is min(1, e^ε f + δ, 1 − e^−ε (1 − δ − f)).

    Args:
        false_positive_rates: rates from 0 to 1.
        epsilon: certified ε, in nats.
        delta: δ of the certificate.

    Returns:
        One rate for each false positive rate.
    """
    # The exponent is limited, so that e^ε is finite. Such large numbers do not change the minimum with 1.
    steep_line = math.exp(min(epsilon, LARGEST_EXPONENT)) * false_positive_rates + delta
    flat_line = 1 - (1 - delta - false_positive_rates) * math.exp(-epsilon)
    return np.asarray(np.minimum(1.0, np.minimum(steep_line, flat_line)))


def _draw_interval(axes: Axes, answer: JsonObject) -> None:
    """Draw values of ε in rows: the certified interval, the lower bounds of the attack, and the claim if any.

    An audit attacks a mechanism to prove a lower bound on its ε, which must not exceed the certified upper bound. The
    third row is only an estimate: the ε of Gaussian noise that the attack would distinguish equally well.

    Args:
        axes: axes of the panel, which are drawn on.
        answer: answer of the audit in its JSON form.
    """
    certified, claim = answer["certified"], answer.get("claim")
    lower, upper = style.number(certified["lower"]), style.number(certified["upper"])
    proved_lower = answer["epsilon"]["lower"]
    gaussian_estimate = answer["gaussian"]["epsilon_if_gaussian"]
    claimed = 0.0 if claim is None else claim["epsilon"]
    # A quarter of the axis remains free for the texts.
    right_limit = 1.25 * _largest_drawn(lower, upper, (proved_lower, gaussian_estimate, claimed))

    # Row 0: the certified interval. Row 1: the lower bound that the attack proves.
    rows = ["certified", "proved by its test", "if it were Gaussian"]
    _draw_certificate(axes, lower, upper, right_limit)
    _draw_lower_bound(axes, 1, proved_lower, right_limit, style.MEASURED)
    # An output that is impossible on the other data set excludes every ε at this δ.
    if answer["evidence"] == "escape":
        # The words are between the rows 0 and 1, on a white box.
        words = "no ε: outputs that the other data set cannot give"
        box = {"facecolor": "white", "edgecolor": "none", "pad": 1.0}
        axes.text(0.02 * right_limit, 0.72, words, color=style.MEASURED, fontsize=9, va="center", bbox=box)

    # Row 2: the estimate by Gaussian noise. Row 3: the claim.
    _draw_lower_bound(axes, 2, gaussian_estimate, right_limit, "#56B4E9")  # sky blue
    if claim is not None:
        rows.append("claimed")
        _draw_claim(axes, 3, claim, right_limit)

    # The vertical axis is reversed, so that the first row is at the top.
    axes.set_yticks(range(len(rows)), rows)
    axes.set_ylim(len(rows) - 0.45, -0.55)
    axes.set_xlim(0.0, right_limit)
    axes.set_xlabel(f"ε at δ = {style.power_of_ten(answer['log10_delta'])} (nats)")
    axes.set_title(f"the audit and the certificate: {answer['verdict']}", fontsize=10)


def _draw_claim(axes: Axes, row: float, claim: JsonObject, right_limit: float) -> None:
    """Draw the claimed ε as a vertical line through all rows, with the verdict on it in the given row.

    The audit compares the claim with the lower bounds that its attack proves, and with the certified ε.

    Args:
        axes: the panel.
        row: vertical position of the text.
        claim: the claim in JSON form, with `epsilon`, and with `violated`, the verdict on whether the audit refutes it.
        right_limit: right limit of the horizontal axis, in units of ε.
    """
    epsilon = claim["epsilon"]
    # The rows are at the heights 0 to 3, and the line extends beyond them.
    axes.plot((epsilon, epsilon), (-0.4, 3.4), color=style.BOUND, linewidth=1.5, linestyle="-.")
    words = f"at most {_format_bound(epsilon)}; violated: {claim['violated']}"
    # The text begins slightly to the right of the line.
    axes.text(epsilon + 0.012 * right_limit, row, words, color=style.BOUND, fontsize=9, va="center")


def _largest_drawn(lower: float, upper: float, lower_bounds: tuple[float, ...]) -> float:
    """Return the largest value of ε that must fit on the horizontal axis of an audit's figure.

    The values are proved lower bounds, the claimed ε, and the certified bounds unless they are far larger.

    Args:
        lower: certified lower bound on ε.
        upper: certified upper bound on ε. A certified bound beyond `FAR` times all other values may be off the axis.
        lower_bounds: the other values of ε in the figure: lower bounds from the attack, and the claim.

    Returns:
        The largest value, in nats. If the other values are all 0, the least certified bound that is positive and
        finite, or 1 if there is none.
    """
    finite_lower_bounds = [value for value in lower_bounds if math.isfinite(value)]
    largest = max(finite_lower_bounds, default=0.0)
    certified_bounds = [bound for bound in (lower, upper) if 0.0 < bound < math.inf]
    if largest == 0.0:
        return min(certified_bounds, default=1.0)
    # A certified bound that is far larger would hide the others.
    near_bounds = [bound for bound in certified_bounds if bound <= FAR * largest]
    return max([largest, *near_bounds])


def _draw_certificate(axes: Axes, lower: float, upper: float, right_limit: float) -> None:
    """Draw the certified interval of ε as a bar, or state it in words if it starts beyond the axis.

    The bounds of the interval are written next to the bar.

    Args:
        axes: axes of the figure, on which the certified interval is in row 0.
        lower: certified lower bound on ε.
        upper: certified upper bound on ε.
        right_limit: largest ε of the axis.
    """
    words = f"[{_format_bound(lower)}, {_format_bound(upper)}]"
    colour = style.CERTIFIED
    if lower > right_limit:
        words += ", off scale →"
        axes.text(0.98 * right_limit, 0, words, ha="right", va="center", color=colour, fontsize=9)
        return

    # A narrow interval is drawn 0.4 % of the axis wide, so that it remains visible.
    right_end = min(upper, right_limit)
    width = max(right_end - lower, 0.004 * right_limit)
    axes.barh(0, width, left=lower, height=0.35, color=colour, alpha=0.85)

    # The text is to the left of the right end, or to its right if the bar ends in the left half.
    if upper > right_limit:
        words += ", upper end off scale →"
    alignment = "right" if right_end > 0.5 * right_limit else "left"
    axes.text(right_end, 0.32, words, ha=alignment, va="center", color=colour, fontsize=9)


def _draw_lower_bound(axes: Axes, row: float, value: float, right_limit: float, colour: str) -> None:
    """Draw a lower bound on ε as a mark with an arrow that points to larger values.

    Args:
        axes: axes of the panel, which are drawn on.
        row: vertical position.
        value: the lower bound, in the units of the horizontal axis.
        right_limit: right limit of the horizontal axis, at which the arrow ends at the latest.
        colour: colour of mark, arrow and text.
    """
    arrow_length = 0.16 * right_limit
    arrow_end = min(value + arrow_length, right_limit)
    axes.annotate(
        "",
        xy=(arrow_end, row),
        xytext=(value, row),
        arrowprops={"arrowstyle": "->", "color": colour, "linewidth": 1.6},
    )
    axes.plot(value, row, marker="|", markersize=14, markeredgewidth=2.2, color=colour)

    # The text below it extends to the left if the mark is far to the right.
    alignment = "left" if value < 0.7 * right_limit else "right"
    axes.text(value, row + 0.36, f"at least {_format_bound(value)}", color=colour, fontsize=9, ha=alignment)


def _format_bound(value: float) -> str:
    """Return a bound on ε as text with four digits; `unbounded` if it is infinite."""
    if not math.isfinite(value):
        return "unbounded"
    return f"{value:.4g}"


def _title(answer: JsonObject) -> str:
    """Return the title of an audit's figure: the setting, the number of samples, and the confidence.

    The setting states which data sets count as neighbours, the protected unit, and the observer of the outputs.

    Args:
        answer: answer of the audit in its JSON form.

    Returns:
        One line of text.
    """
    relation = answer.get("relation", "two given updates")
    return (
        f"Audit: {relation}, one {answer['unit']} against {answer['observer']}; {answer['samples']:,} runs on each data"
        f" set, {answer['confidence']:.4g} confidence"
    )
