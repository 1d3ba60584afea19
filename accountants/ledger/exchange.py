"""Whether one mechanism may be run in the place of another that the plan holds: only where dominance is proved.

A credit for g may be spent on h if the profile of h is at most that of g at every ε, in both orders (docs/ledger.md,
"Plans, credits and exchange"). For Poisson-sampled Gaussian and Laplace mechanisms of one relation it suffices that the
rate is no larger and the noise no smaller: a smaller rate is a mixture with the run that reads nothing, and more noise
is post-processing. Where the draw is the same, by whatever sampler, more noise alone suffices. Anything else is
exchanged for itself alone.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

_NOISE = {"gaussian": "noise_multiplier", "laplace": "scale_multiplier"}


def dominated(spec: Any, by: Any) -> str | None:
    """Why one run of `spec` loses no more than one of `by` in any relation, in words; None where that is not proved."""
    if spec == by:
        return "it is the same mechanism"
    if getattr(spec, "level", None) != getattr(by, "level", None):
        return None
    if spec.kind == by.kind == "subsampled" and replace(spec, mechanism=by.mechanism) == by:
        (one, other) = spec.mechanism, by.mechanism
        louder = _NOISE.get(one.kind)
        if one.kind == other.kind and louder is not None and getattr(one, louder) >= getattr(other, louder):
            return "it has the same draw, and the same noise or more"
    inner, outer = _sampled(spec), _sampled(by)
    if inner is None or outer is None:
        return None
    (rate, noise_kind, noise), (other_rate, other_kind, other_noise) = inner, outer
    if noise_kind != other_kind or noise < other_noise or rate > other_rate:
        return None
    return "it has the same noise or more, and the same sampling rate or less"


def _sampled(spec: Any) -> tuple[float, str, float] | None:
    """(rate, kind of noise, its multiplier) of a Poisson-sampled or a plain additive mechanism."""
    rate = 1.0
    if spec.kind == "subsampled":
        if spec.sampling != "poisson" or spec.rate is None:
            return None
        rate, spec = float(spec.rate), spec.mechanism
    noise = _NOISE.get(spec.kind)
    if noise is None or not math.isfinite(rate):
        return None
    return rate, spec.kind, float(getattr(spec, noise))
