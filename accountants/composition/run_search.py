"""Numbers of a run of Poisson-sampled Gaussian steps for a target, by a search in the compiled kernel: guesses.

Nothing is certified. Where there is no kernel, or it has no answer, there is no guess, and a search by trials starts
elsewhere.
"""

from __future__ import annotations

from epsilond.accountants.curve.facts import SampledGaussianLaw
from epsilond.accountants.engine import kernel
from epsilond.accountants.engine.kernel import Unknown
from epsilond.accountants.errors import InvalidInput
from epsilond.accountants.quantities import Relation
from epsilond.accountants.target import Target


def searched(
    unknown: Unknown, target: Target, *, relation: Relation, rate: float, noise: float, rounds: int, guess: float
) -> float | None:
    """About the shift (the reciprocal of the noise), the rounds or the rate at which δ(ε) is the target's; or None.

    Args:
        unknown: which of the three; what is said of it has no meaning.
        target: ε and δ.
        relation: replace-one, or with and without a record.
        rate: how likely a record is drawn.
        noise: noise multiplier.
        rounds: how often the step is run.
        guess: where the search starts.
    """
    try:
        first = SampledGaussianLaw(rate, 1.0 / noise, "replace" if relation == "replace-one" else "remove")
    except InvalidInput:
        return None
    orders = [first] if first.direction == "replace" else [first, first.reversed()]
    return kernel.search([(law, rounds) for law in orders], unknown, target.epsilon, target.log_delta, guess)
