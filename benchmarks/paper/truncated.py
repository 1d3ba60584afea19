"""Das et al., Theorem 1: the claimed δ, the true δ, and the result of an attack on the noise."""

from __future__ import annotations

from collections.abc import Mapping

import epsilond
from benchmarks.paper.exhibit import Measured, Words
from epsilond.accountants.theorems.papers.das.truncated_noise import THEOREM_1
from scripts.pages.markdown import table
from scripts.pages.svg import Axis, Plot, power

DIMENSIONS = (3, 5, 10, 20, 30, 50, 100, 200, 500, 1000)
SHOWN = (3, 10, 100, 1000)
"""Dimensions of the table."""
EPSILON = 1.0
AUDIT = "tdl-as-printed-audit"
FLOOR = -40.0
"""Lowest log₁₀ δ of the figure."""
OUTPUTS = ("noise_levels", "log10_claimed_delta", "log10_delta", "log10_one_minus_delta")


def at(dimension: int) -> Measured:
    """Evaluate the theorem as printed for integer updates that differ by one in every coordinate."""
    sensitivities = {"l1_sensitivity": float(dimension), "linf_sensitivity": 1.0}
    evaluation = THEOREM_1.evaluate(THEOREM_1.request(epsilon=EPSILON, dimension=dimension, **sensitivities))
    assert all(condition.holds == "yes" for condition in evaluation.conditions)
    return {"dimension": dimension} | {name: evaluation.outputs[name] for name in OUTPUTS}


def measure(short: bool) -> Measured:
    """Compute claim and truth by dimension, and attack the printed noise."""
    cells = epsilond.as_json(epsilond.simulate(AUDIT, repetitions=5))["cells"]
    attacked = [{"epsilon": cell["place"]["epsilon"], "delta_lower": cell["claim"]["delta_lower"]} for cell in cells]
    return {
        "dimensions": [at(dimension) for dimension in (DIMENSIONS[:3] if short else DIMENSIONS)],
        "attacked": attacked,
    }


def words(measured: Measured) -> Words:
    """Write the texts for the paper on truncated discrete Laplace noise: a table, and the figures of an attack.

    Args:
        measured: claimed and true δ for each dimension, and lower bounds on δ by attacks.

    Returns:
        Texts by name.
    """
    shown = [row for row in measured["dimensions"] if row["dimension"] in SHOWN]
    rows = (
        (str(row["dimension"]), str(row["noise_levels"]), _power(row["log10_claimed_delta"], 2), _delta(row))
        for row in shown
    )
    attacked = measured["attacked"]
    return {
        "table": table(("d", "levels m as printed", "claimed δ = 2⁻ᵈ", "true δ at the same ε"), rows),
        "epsilon": f"{EPSILON:g}",
        "attack_least": f"{min(row['delta_lower'] for row in attacked):.2f}",
        "attack_targets": ", ".join(f"{row['epsilon']:g}" for row in attacked),
    }


def _delta(row: Measured) -> str:
    near_one = row["log10_one_minus_delta"] <= -2.0
    return f"1 − {_power(row['log10_one_minus_delta'], 1)}" if near_one else f"{10.0 ** row['log10_delta']:.4f}"


def _power(exponent: float, digits: int) -> str:
    return f"10<sup>{exponent:.{digits}f}</sup>".replace("-", "−")


def figures(measured: Measured) -> Mapping[str, Plot]:
    """Draw the claimed and the true δ of truncated discrete Laplace noise over the dimension.

    Args:
        measured: claimed and true log₁₀ δ for each dimension.

    Returns:
        The figure by its name.
    """
    plot = Plot(
        "Truncated discrete Laplace noise: claimed and true δ over the dimension",
        "The claimed δ falls exponentially in the dimension, the true δ rises to one.",
        Axis(
            "dimension d",
            3.0,
            1000.0,
            [(dimension, str(dimension)) for dimension in (3, 10, 30, 100, 300, 1000)],
            "log",
        ),
        Axis("δ", FLOOR, 0.0, [(float(exponent), power(exponent)) for exponent in range(0, int(FLOOR) - 1, -10)]),
    )
    rows = measured["dimensions"]
    claimed = [(row["dimension"], row["log10_claimed_delta"]) for row in rows if row["log10_claimed_delta"] > FLOOR]
    true = [(row["dimension"], row["log10_delta"]) for row in rows]
    plot.line(claimed, 5, dashed=True)
    plot.line(true, 1)
    for point in true:
        plot.dot(point, 1)
    for point in claimed:
        plot.dot(point, 5, "diamond")
    plot.key("claimed, 2⁻ᵈ", 5, "diamond")
    plot.key("true, at the printed levels and decay", 1)
    return {"truncated": plot}
