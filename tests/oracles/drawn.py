"""Batches without replacement from the definition of the pair: profiles by integration, of runs by inversion.

The profile of one step is H(α) = q E_γ(N(d, 1)‖N(0, 1)), γ = 1 + (α − 1)/q, for α ≥ 1, and 1 − α + α H(1/α) below. Of
more steps it is the mean, over the loss of one of them under the first law, of the profile of the other.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from mpmath import mp, mpc, mpf
from mpmath.calculus.quadrature import GaussLegendre


def one_step(rate: float, shift: float, epsilon: Any) -> Any:
    """δ(ε) of one step, ε of any sign."""
    q, d = mpf(rate), mpf(shift)
    if epsilon < 0:
        alpha = mp.exp(epsilon)
        return 1 - alpha + alpha * one_step(rate, shift, -epsilon)
    gamma = 1 + mp.expm1(epsilon) / q
    edge = mp.log(gamma) / d
    return q * (mp.ncdf(d / 2 - edge) - gamma * mp.ncdf(-d / 2 - edge))


def two_steps(rate: float, shift: float, epsilon: float) -> Any:
    """δ(ε) of two steps."""
    return _and_one_more(rate, shift, epsilon, lambda at: one_step(rate, shift, at))


def transform(rate: float, shift: float, z: complex) -> Any:
    """E e^{zL} of one step."""
    q, d, power = mpf(rate), mpf(shift), mp.mpmathify(z)

    def integrand(x: Any) -> Any:
        ratio = 1 - q + q * mp.exp(d * x - d * d / 2)
        return mp.npdf(x) * (ratio ** (1 + power) + ratio**-power)

    edge, far = d / 2, d * (1 + abs(power.real)) + 14
    marks = [edge + (far - edge) * k / 8 for k in range(9)]
    return (1 - q) * (1 - 2 * mp.ncdf(-d / 2)) + mp.quad(integrand, marks)


def by_inversion(rate: float, shift: float, count: int, epsilon: float, *, tilt: float, period: float) -> Any:
    """Return log δ(ε) of a run by the sum of A0, at the precision of mpmath and with Gauss's rule over the noise.

    The sum ends where terms are 1e-24 of the first. Images a period away are left in it.
    """
    q, d, spacing = mpf(rate), mpf(shift), 2 * mp.pi / mpf(period)
    middle = d * (mpf(3) / 2 + tilt) / 2 + 7
    rule = GaussLegendre(mp)
    nodes = [(x, w) for start in (mpf(0), middle) for x, w in rule.get_nodes(start, start + middle, 6, mp.prec)]
    losses = [mp.log1p(q * mp.expm1(d * u)) for u, _ in nodes]
    densities = [weight * mp.npdf(u + d / 2) for u, weight in nodes]
    rising = [density * mp.exp((1 + tilt) * loss) for density, loss in zip(densities, losses, strict=True)]
    falling = [density * mp.exp(-tilt * loss) for density, loss in zip(densities, losses, strict=True)]
    steps, turned = [mp.expj(spacing * loss) for loss in losses], [mpc(1)] * len(losses)
    atom, total, first, k = (1 - q) * mp.erf(d / mp.sqrt(8)), mpf(0), mpf(0), 0
    while True:
        z = mpc(tilt, spacing * k)
        moment = atom + sum(up * e + down * mp.conj(e) for up, down, e in zip(rising, falling, turned, strict=True))
        term = moment**count * mp.exp(-z * epsilon) / (z * (1 + z))
        total += term.real / 2 if k == 0 else term.real
        first = max(first, abs(term))
        if abs(term) < first * mpf(10) ** -24:
            return mp.log(spacing / mp.pi * total)
        turned, k = [e * step for e, step in zip(turned, steps, strict=True)], k + 1


def _and_one_more(rate: float, shift: float, epsilon: Any, others: Callable[[Any], Any]) -> Any:
    """The mean of the others' profile at ε less the loss of one step, split where either has an edge."""
    q, d, wanted = mpf(rate), mpf(shift), mpf(epsilon)

    def loss(u: Any) -> Any:
        return mp.log1p(q * mp.expm1(d * u))

    def integrand(u: Any) -> Any:
        at = loss(u)
        return mp.npdf(u + d / 2) * (mp.exp(at) * others(wanted - at) + others(wanted + at))

    # where the loss is |ε|, and beyond
    edge = mp.log1p(mp.expm1(abs(wanted)) / q) / d
    far = d + 13
    inner = [edge * k / 3 for k in range(4)] if edge < far else []
    start = inner[-1] if inner else mpf(0)
    marks = [*inner[:-1], *(start + (far - start) * k / 4 for k in range(5))]
    atom = (1 - q) * (1 - 2 * mp.ncdf(-d / 2))
    return atom * others(wanted) + mp.quad(integrand, marks)
