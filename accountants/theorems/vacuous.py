"""Conditions that fail where a statement is vacuous: every mechanism satisfies a δ, or a probability, of 1 or more."""

from __future__ import annotations

from epsilond.accountants.theorem import Condition, Outputs, Sides


def delta_below_one(name: str = "delta", *, condition: str = "delta-below-one") -> Condition:
    """Return the condition that a resulting δ is below 1, because every mechanism satisfies δ = 1.

    A condition is a check that an answer reports, with both sides of an inequality.

    Args:
        name: name of the output δ; the condition reads its decimal logarithm, `log10_<name>`.
        condition: identifier of the condition.

    Returns:
        The condition, which fails if the resulting δ is 1 or more.
    """
    logarithm = f"log10_{name}"

    def compare(inputs: object, outputs: Outputs) -> Sides:
        """Return log10 δ and its upper limit 0, which it must be below."""
        del inputs
        return Sides.below(outputs[logarithm], 0.0)

    statement = f"{logarithm} is below 0: every mechanism satisfies δ = 1"
    return Condition(condition, statement, compare, of_outputs=True)


def probability_below_one(name: str) -> Condition:
    """Return the condition that a resulting bound on a probability is below 1, because no probability exceeds 1.

    A condition is a check that an answer reports, with both sides of an inequality.

    Args:
        name: name of the output with the bound. The identifier of the condition is derived from it.

    Returns:
        The condition, which fails if the bound is 1 or more.
    """

    def compare(inputs: object, outputs: Outputs) -> Sides:
        """Return the bound and its upper limit 1, which it must be below."""
        del inputs
        return Sides.below(outputs[name], 1.0)

    words = name.replace("_", " ")
    statement = f"the {words} is below 1: no probability exceeds 1"
    return Condition(f"{name.replace('_', '-')}-below-one", statement, compare, of_outputs=True)
