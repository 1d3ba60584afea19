"""The decay of the transform of a batch without replacement: the path at the edge of its noise (certificate, A8)."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from epsilond.accountants.engine.contour.accuracy import LOG_SQRT_2PI

if TYPE_CHECKING:
    from epsilond.accountants.engine.contour.likelihood_ratio import LikelihoodRatio
    from epsilond.accountants.numerics.special import FloatArray


def edge_bound(ratio: LikelihoodRatio, tilt: float, frequencies: FloatArray, height: float) -> FloatArray:
    """Bound the contour integral on the path from the edge of a batch's noise into the complex plane.

    Let L be the privacy loss of one step that draws a batch without replacement, and s its shift. The noise of L > 0
    begins at the edge s/2. The path leads from there to s/2 + iy. It is part of the contour that bounds how fast
    E[e^{(l+it)L}] decays in t. For all frequencies t′ ≥ t the integral on the path is at most:

        φ(s/2) e^{y²/2} [s min(½y², (tβ)^−2) + q(1 − q) s² e^{2b} (1 + l + t₀ + (l + t₀) e^{lb}) (t₀β)^−3].

    Here φ is the normal density, r the likelihood ratio, q the rate, and:

        β = q sin(sy)/y,   b = −log(|r(s/2 + iy)|/r(s/2)),   t₀ = max(t, 6^{1/3}/(βy)).

    Args:
        ratio: likelihood ratio r of one step, with the rate q and the shift s.
        tilt: real part l of the exponent z in the moment E[e^{zL}] of the loss L.
        frequencies: frequencies t > 0, per nat of loss.
        height: imaginary part y of the noise, with s y ≤ π/2.

    Returns:
        One upper bound on the modulus of the integral for each frequency.

    Source: docs/engine-certificate.md, A8, Decay.
    """
    rate, shift = ratio.rate, ratio.shift

    # `log_modulus` is −b. Where e^{lb} exceeds e^600, the bound is of no use, so that its limit does no harm.
    _, (log_modulus,) = ratio.turn(np.asarray([0.5 * shift]), height)
    modulus_power = math.exp(min(-tilt * float(log_modulus), 600.0))  # e^{lb}
    beta = rate * math.sin(shift * height) / height * (1.0 - 1e-12)  # rounded down
    t0 = np.maximum(frequencies, 1.8171 / (beta * height))  # 6^{1/3}, rounded down

    first_order = shift * np.minimum(0.5 * height * height, (frequencies * beta) ** -2.0)
    curvature = rate * (1.0 - rate) * (shift * math.exp(-float(log_modulus))) ** 2  # q(1 − q) s² e^{2b}
    second_order = curvature * (1.0 + tilt + t0 + (tilt + t0) * modulus_power) * (t0 * beta) ** -3.0
    density = math.exp(0.5 * height * height - 0.125 * shift * shift - LOG_SQRT_2PI)  # φ(s/2) e^{y²/2}
    # Round up: 1e-9 is far above the relative rounding errors.
    return np.asarray((1.0 + 1e-9) * density * (first_order + second_order))
