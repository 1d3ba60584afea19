"""Estimates of a parameter of a run of Gaussian steps on sampled batches for a target, from the compiled kernel.

Nothing is certified. If the kernel is missing or has no answer, there is no estimate. A search by trials then starts
elsewhere.
"""

from __future__ import annotations

from epsilond.accountants.curve.facts import DrawnGaussianLaw, SampledGaussianLaw
from epsilond.accountants.engine import kernel
from epsilond.accountants.engine.kernel import Unknown
from epsilond.accountants.errors import InvalidInput
from epsilond.accountants.quantities import Relation, Sampling
from epsilond.accountants.target import Target


def search_run(
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
    """Estimate the shift, the number of rounds or the rate at which a run of Gaussian steps meets a target (ε, δ).

    The compiled kernel searches for the root. The result is an estimate without error bounds.

    Args:
        unknown: name of the unknown: the shift (the reciprocal of the noise multiplier), the rounds or the rate. The
            value of the corresponding argument has no effect, but must be valid.
        target: the target (ε, δ).
        sampling: sampling of the batches. Batches without replacement use the bound for replace-one for all relations.
        relation: neighbouring relation; the direction with the larger δ counts if the two differ.
        rate: inclusion probability of a record.
        noise: noise multiplier, the standard deviation of the noise over the norm bound of a contribution.
        rounds: number of times that the step is run.
        guess: initial estimate of the unknown.

    Returns:
        The unknown. None if a parameter is out of range, the kernel does not support the sampling or is missing, or it
        finds no root.
    """
    try:
        directions = _step_laws(sampling, relation, rate, noise)
    except InvalidInput:
        return None
    if not directions:
        return None

    # The kernel's shift is the distance of the means: the reciprocal of the noise multiplier, or twice that.
    scale = directions[0].shift * noise if unknown == "shift" else 1.0
    laws = [(law, rounds) for law in directions]
    solution = kernel.search(laws, unknown, target.epsilon, target.log_delta, guess * scale)
    return None if solution is None else solution / scale


def _step_laws(
    sampling: Sampling, relation: Relation, rate: float, noise: float
) -> list[SampledGaussianLaw] | list[DrawnGaussianLaw]:
    """Return the distribution of one step's privacy loss in each direction; one entry if both are the same.

    Args:
        sampling: sampling scheme of the batches.
        relation: neighbouring relation.
        rate: inclusion probability of a record.
        noise: noise multiplier.

    Returns:
        One or two distributions. The list is empty for sampling schemes that the kernel cannot search.

    Raises:
        InvalidInput: a number is outside its range.
    """
    if sampling == "without-replacement":
        return [DrawnGaussianLaw(rate, 2.0 / noise)]
    if sampling != "poisson":
        return []
    if relation == "replace-one":
        return [SampledGaussianLaw(rate, 1.0 / noise, "replace")]
    removing = SampledGaussianLaw(rate, 1.0 / noise, "remove")
    return [removing, removing.reverse()]
