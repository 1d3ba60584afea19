"""Numbers of a run of Gaussian steps on sampled batches for a target, by a search in the compiled kernel: guesses.

Nothing is certified. Where there is no kernel, or it has no answer, there is no guess, and a search by trials starts
elsewhere.
"""

from __future__ import annotations

from epsilond.accountants.curve.facts import DrawnGaussianLaw, SampledGaussianLaw
from epsilond.accountants.engine import kernel
from epsilond.accountants.engine.kernel import Unknown
from epsilond.accountants.errors import InvalidInput
from epsilond.accountants.quantities import Relation, Sampling
from epsilond.accountants.target import Target


def searched(
    unknown: Unknown,
    target: Target,
    *,
    sampling: Sampling,
    relation: Relation,
    rate: float,
    noise: float,
    rounds: int,
    guess: float,
) -> float | None:
    """About the shift (the reciprocal of the noise), the rounds or the rate at which δ(ε) is the target's; or None.

    Args:
        unknown: which of the three; what is said of it has no meaning.
        target: ε and δ.
        sampling: Poisson batches, or without replacement, for which every relation's bound is that of replace-one.
        relation: replace-one, or with and without a record.
        rate: how likely a record is drawn.
        noise: noise multiplier.
        rounds: how often the step is run.
        guess: where the search starts.
    """
    try:
        orders = _pairs_to_search(sampling, relation, rate, noise)
    except InvalidInput:
        return None
    scale = orders[0].shift * noise if orders and unknown == "shift" else 1.0
    laws = [(law, rounds) for law in orders]
    number = kernel.search(laws, unknown, target.epsilon, target.log_delta, guess * scale) if laws else None
    return None if number is None else number / scale


def _pairs_to_search(
    sampling: Sampling, relation: Relation, rate: float, noise: float
) -> list[SampledGaussianLaw] | list[DrawnGaussianLaw]:
    """Return one law, or one of each direction; none for sampling that the kernel does not search."""
    if sampling == "without-replacement":
        return [DrawnGaussianLaw(rate, 2.0 / noise)]
    if sampling != "poisson":
        return []
    first = SampledGaussianLaw(rate, 1.0 / noise, "replace" if relation == "replace-one" else "remove")
    return [first] if first.direction == "replace" else [first, first.reversed()]
