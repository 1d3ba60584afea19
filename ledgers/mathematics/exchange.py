"""Exchange of planned mechanisms: a mechanism may be run in place of another only if dominance is proved.

A credit for g may be spent on h if the profile of h is at most that of g at every ε, in both directions
(docs/ledger.md, "Plans, credits and exchange"). For Poisson-sampled Gaussian and Laplace mechanisms of one relation, a
rate that is not larger and noise that is not smaller suffice. A smaller rate is a mixture with a run that reads
nothing, and more noise is post-processing. If the sampling is the same, of any kind, more noise suffices. Every other
mechanism is exchanged for itself only.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import NamedTuple

from epsilond.accountants.specs import Spec, Subsampled
from epsilond.accountants.specs.primitives import NoisySum, Primitive


def dominance_reason(spec: Spec, by: Spec) -> str | None:
    """Return a reason why one run of `spec` loses no more privacy than one run of `by`.

    The reason holds under every neighbouring relation: the same mechanism, or more noise or a smaller sampling rate.

    Returns:
        The reason as a clause, or None if no such reason is known.
    """
    if spec == by:
        return "it is the same mechanism"
    if getattr(spec, "level", None) != getattr(by, "level", None):
        return None
    if (
        isinstance(spec, Subsampled)
        and isinstance(by, Subsampled)
        and replace(spec, mechanism=by.mechanism) == by
        and _has_enough_noise(spec.mechanism.primitive, by.mechanism.primitive)
    ):
        return "it has the same draw, and the same noise or more"
    run, planned = _sampled_sum(spec), _sampled_sum(by)
    if run is None or planned is None or run.rate > planned.rate or not _has_enough_noise(run.noise, planned.noise):
        return None
    return "it has the same noise or more, and the same sampling rate or less"


def _has_enough_noise(primitive: Primitive | None, planned: Primitive | None) -> bool:
    """Return whether both are noisy sums with one distribution, and the first has at least the noise of the second."""
    return (
        isinstance(primitive, NoisySum)
        and isinstance(planned, NoisySum)
        and primitive.distribution == planned.distribution
        and primitive.multiplier >= planned.multiplier
    )


class _SampledSum(NamedTuple):
    """A Poisson-sampled noisy sum; the rate is 1 without sampling."""

    rate: float
    noise: NoisySum


def _sampled_sum(spec: Spec) -> _SampledSum | None:
    """Return the sampling rate and the noise of a Poisson-sampled or plain noisy sum, or None for any other spec."""
    rate = 1.0
    if isinstance(spec, Subsampled):
        if spec.sampling != "poisson" or spec.rate is None:
            return None
        rate, spec = float(spec.rate), spec.mechanism
    if not isinstance(spec.primitive, NoisySum) or not math.isfinite(rate):
        return None
    return _SampledSum(rate, spec.primitive)
