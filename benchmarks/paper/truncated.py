"""Das et al., Theorem 1: the δ that is claimed, the δ that is so, and what an attack on the noise measures."""

from __future__ import annotations

from collections.abc import Mapping

import epsilond
from benchmarks.paper.exhibit import Exhibit, Measured, Words
from epsilond.accountants.theorems.papers.das.truncated_noise import THEOREM_1
from scripts.pages.markdown import table
from scripts.pages.svg import Axis, Plot, power

DIMENSIONS = (3, 5, 10, 20, 30, 50, 100, 200, 500, 1000)
TOLD = (3, 10, 100, 1000)
"""Dimensions of the table."""
EPSILON = 1.0
AUDIT = "tdl-as-printed-audit"
FLOOR = -40.0
"""Lowest log₁₀ δ of the figure."""


def at(dimension: int) -> Measured:
    """The theorem as printed for integer updates that differ by one in every coordinate."""
    asked = THEOREM_1.request(
        epsilon=EPSILON, dimension=dimension, l1_sensitivity=float(dimension), linf_sensitivity=1.0
    )
    found = THEOREM_1.evaluate(asked)
    assert all(each.holds == "yes" for each in found.conditions)
    names = ("noise_levels", "log10_claimed_delta", "log10_delta", "log10_one_minus_delta")
    return {"dimension": dimension} | {name: found.outputs[name] for name in names}


def measure(short: bool) -> Measured:
    """Claim and truth by dimension, and the attack on the printed noise."""
    answer = epsilond.as_json(epsilond.simulate(AUDIT, repetitions=5))
    attacked = [
        {"epsilon": cell["place"]["epsilon"], "delta_lower": cell["claim"]["delta_lower"]} for cell in answer["cells"]
    ]
    dimensions = DIMENSIONS[:3] if short else DIMENSIONS
    return {"dimensions": [at(each) for each in dimensions], "attacked": attacked}


def words(measured: Measured) -> Words:
    """A table, and the attack's figures."""
    rows = (
        (
            str(one["dimension"]),
            str(one["noise_levels"]),
            _power(one["log10_claimed_delta"], 2),
            _said(one),
        )
        for one in measured["dimensions"]
        if one["dimension"] in TOLD
    )
    attacked = measured["attacked"]
    return {
        "table": table(("d", "levels m as printed", "claimed δ = 2⁻ᵈ", "true δ at the same ε"), rows),
        "epsilon": f"{EPSILON:g}",
        "attack_least": f"{min(one['delta_lower'] for one in attacked):.2f}",
        "attack_targets": ", ".join(f"{one['epsilon']:g}" for one in attacked),
    }


def _said(one: Measured) -> str:
    if one["log10_one_minus_delta"] > -2.0:
        return f"{10.0 ** one['log10_delta']:.4f}"
    return f"1 − {_power(one['log10_one_minus_delta'], 1)}"


def _power(exponent: float, digits: int) -> str:
    return f"10<sup>{exponent:.{digits}f}</sup>".replace("-", "−")


def figures(measured: Measured) -> Mapping[str, Plot]:
    """Claim and truth over the dimension."""
    plot = Plot(
        "Truncated discrete Laplace noise: claimed and true δ over the dimension",
        "The claimed δ falls exponentially in the dimension, the true δ rises to one.",
        Axis("dimension d", 3.0, 1000.0, [(each, str(each)) for each in (3, 10, 30, 100, 300, 1000)], "log"),
        Axis("δ", FLOOR, 0.0, [(float(each), power(each)) for each in range(0, int(FLOOR) - 1, -10)]),
    )
    rows = measured["dimensions"]
    claimed = [(one["dimension"], one["log10_claimed_delta"]) for one in rows if one["log10_claimed_delta"] > FLOOR]
    true = [(one["dimension"], one["log10_delta"]) for one in rows]
    plot.line(claimed, 5, dashed=True)
    plot.line(true, 1)
    for point in true:
        plot.dot(point, 1)
    for point in claimed:
        plot.dot(point, 5, "diamond")
    plot.key("claimed, 2⁻ᵈ", 5, "diamond")
    plot.key("true, at the printed levels and decay", 1)
    return {"truncated": plot}


EXHIBIT = Exhibit(
    name="truncated",
    about="claimed and true δ of Das et al.'s Theorem 1, and an attack on its noise",
    measure=measure,
    words=words,
    figures=figures,
)
