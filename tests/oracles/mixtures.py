"""Mixtures of Gaussian laws from the definition: runs by inversion of their transform in ball arithmetic.

The noise is summed by a rule whose error is far below the digits that are compared. The tilt minimises K(l) − lε, and the
period is so long that Chernoff's bounds put its images below e^−30 of δ; neither is proved.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import mpmath as mp
from flint import acb, arb, ctx
from mpmath.calculus.quadrature import GaussLegendre

_FINE = 64
"""Nodes in a standard deviation of the noise."""
_FAR = 13.0
"""Standard deviations beyond every mean, where the density is below e^−84."""
_BITS = 110

Nodes = list[tuple[float, float]]
"""Log mass under the first law, and loss, of each node."""
Components = Sequence[tuple[float, float]]
"""Sensitivity and probability of each."""


def log_ratio(components: Components, x: float) -> mp.mpf:
    """log r(x)."""
    return mp.log(mp.fsum(mp.mpf(p) * mp.exp(mp.mpf(s) * x - mp.mpf(s) ** 2 / 2) for s, p in components))


def gaussian_nodes(components: Components, direction: str, most_tilt: float) -> list[tuple[mp.mpf, mp.mpf]]:
    """Mass and loss of each node of the trapezoidal rule over the noise."""
    most = max(s for s, _ in components)
    low = -_FAR - (most_tilt * most if direction == "add" else 0.0)
    high = _FAR + (0.0 if direction == "add" else most * (1.0 + 2.0 * most_tilt))
    nodes = []
    for k in range(math.floor(low * _FINE), math.ceil(high * _FINE) + 1):
        x = mp.mpf(k) / _FINE
        density, right = mp.npdf(x) / _FINE, log_ratio(components, x)
        if direction == "add":
            nodes.append((density, -right))
        else:
            left = log_ratio(components, -x) if direction == "replace" else mp.mpf(0)
            nodes.append((density * mp.exp(right), right - left))
    return nodes


def drawn_nodes(components: Components, rate: float, most_tilt: float) -> list[tuple[mp.mpf, mp.mpf]]:
    """Mass and loss of each node of Gauss's rule, and of the loss 0, for a batch that holds the record with a rate."""
    q, rule, nodes, silent = mp.mpf(rate), GaussLegendre(mp.mp), [], mp.mpf(0)
    for s, p in components:
        d, probability = mp.mpf(s), mp.mpf(p)
        length = (d * (1 + most_tilt) + _FAR) / 4
        for start in range(4):
            for u, weight in rule.get_nodes(start * length, (start + 1) * length, 6, mp.mp.prec):
                loss, density = mp.log1p(q * mp.expm1(d * u)), probability * weight * mp.npdf(u + d / 2)
                nodes += [(density * mp.exp(loss), loss), (density, -loss)]
        silent += probability * (1 - q) * mp.erf(d / mp.sqrt(8))
    return [*nodes, (silent, mp.mpf(0))]


def log_delta(nodes: list[tuple[mp.mpf, mp.mpf]], count: int, epsilon: float, most_tilt: float) -> float | None:
    """Return log δ(ε) of a run by the sum of A0; None where it takes more than a few thousand terms."""
    doubles = [(float(mp.log(mass)), float(loss)) for mass, loss in nodes if mass > 0]

    def cumulant(tilt: float) -> float:
        terms = [log_mass + tilt * loss for log_mass, loss in doubles]
        top = max(terms)
        return count * (top + math.log(math.fsum(math.exp(term - top) for term in terms)))

    tilts = [most_tilt * 0.5 * 0.93**k for k in range(80)]
    exponents = [cumulant(tilt) - tilt * epsilon for tilt in tilts]
    place = min(range(80), key=lambda k: exponents[k] - math.log(tilts[k] * (1.0 + tilts[k])))
    tilt, wanted = tilts[place], exponents[place] - math.log(tilts[place] * (1.0 + tilts[place])) - 34.0
    above = [
        (exponent - wanted) / (other - tilt) for other, exponent in zip(tilts, exponents, strict=True) if other > tilt
    ]
    below = [
        (exponent - wanted) / (tilt - other) for other, exponent in zip(tilts, exponents, strict=True) if other < tilt
    ]
    if not above or not below:
        return None
    period = max(min(above), min(below))
    return _invert(nodes, count, epsilon, tilt, period)


def _invert(nodes: list[tuple[mp.mpf, mp.mpf]], count: int, epsilon: float, tilt: float, period: float) -> float | None:
    ctx.prec = _BITS
    spacing = 2 * arb.pi() / arb(period)
    balls = [(arb(mp.nstr(mass, 34)), arb(mp.nstr(loss, 34))) for mass, loss in nodes]
    weights = [mass * (loss * arb(tilt)).exp() for mass, loss in balls]
    most = max(float(weight) for weight in weights)
    kept = [k for k, weight in enumerate(weights) if float(weight) > 1e-28 * most]
    weights, losses = [acb(weights[k]) for k in kept], [balls[k][1] for k in kept]
    steps = [acb(0, spacing * loss).exp() for loss in losses]
    total, first = arb(0), 0.0
    for k in range(4000):
        z = acb(arb(tilt), spacing * k)
        term = sum(weights, acb(0)) ** count * (-z * arb(epsilon)).exp() / (z * (1 + z))
        total += term.real / 2 if k == 0 else term.real
        size = float(abs(term))
        first = max(first, size)
        if size < 1e-18 * first:
            return float((spacing / arb.pi() * total).log())
        weights = [weight * step for weight, step in zip(weights, steps, strict=True)]
    return None
