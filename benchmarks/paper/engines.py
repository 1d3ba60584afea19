"""The two engines beside each other, and both beside laws that are known to fifty digits."""

from __future__ import annotations

import math
from collections.abc import Iterator

import mpmath

from benchmarks.paper.exhibit import Exhibit, Measured, Words
from epsilond.accountants.account import account
from epsilond.accountants.engine.lattice.composition import compose
from epsilond.accountants.quantities import Relation
from epsilond.accountants.specs import Gaussian, RandomizedResponse, Repeated, Subsampled
from scripts.pages.markdown import table

DIGITS = 50
RUNS: tuple[tuple[float, float, int, Relation, float], ...] = (
    (0.01, 1.0, 1000, "add-or-remove-one", 2.12),
    (0.1, 2.0, 100, "add-or-remove-one", 2.68),
    (0.001, 0.6, 10_000, "add-or-remove-one", 3.15),
    (0.3, 5.0, 500, "add-or-remove-one", 7.0),
    (0.01, 1.0, 1000, "replace-one", 3.21),
    (1e-4, 0.7, 100_000, "add-or-remove-one", 0.363),
)
"""Rate, noise multiplier, rounds, relation, and an ε at which δ is near 1e-6."""


def both(rate: float, noise: float, rounds: int, relation: Relation, epsilon: float) -> Measured:
    """Return log δ(ε) as a question gets it, from the contour, and as the lattice composes the same steps."""
    step = Subsampled(sampling="poisson", rate=rate, mechanism=Gaussian(noise_multiplier=noise))
    composed = account(Repeated(times=rounds, mechanism=step), relation=relation).guarantee.curve
    lattice = compose([(account(step, relation=relation).guarantee.curve.upper, rounds)])
    return {
        "run": [rate, noise, rounds, relation, epsilon],
        "contour": list(composed.log_delta(epsilon)),
        "lattice": list(lattice.log_delta_bounds(epsilon)),
    }


def truths() -> Iterator[tuple[str, object, Relation, float, mpmath.mpf]]:
    """Questions whose δ has a formula, and δ to fifty digits."""
    for rounds in (1, 10, 100, 1000):
        for share in (0.2, 0.6):
            level = 0.1
            epsilon = share * level * rounds**0.5
            yield (
                f"{rounds} responses",
                Repeated(times=rounds, mechanism=RandomizedResponse(epsilon=level, categories=2)),
                "replace-one",
                epsilon,
                response_delta(level, rounds, epsilon),
            )
    for noise in (0.5, 1.0, 3.0):
        for epsilon in (0.1, 1.0, 5.0):
            gaussian = Gaussian(noise_multiplier=noise)
            yield "Gaussian", gaussian, "add-or-remove-one", epsilon, sampled_delta(1.0, noise, epsilon)
            for rate in (0.01, 0.3):
                drawn = Subsampled(sampling="poisson", rate=rate, mechanism=gaussian)
                yield "one sampled step", drawn, "add-or-remove-one", epsilon, sampled_delta(rate, noise, epsilon)


def response_delta(level: float, rounds: int, epsilon: float) -> mpmath.mpf:
    """Σ over the number of answers kept of P (1 − e^{ε − loss})₊, term by term."""
    keep = 1 / (1 + mpmath.exp(-mpmath.mpf(level)))
    total = mpmath.mpf(0)
    for kept in range(rounds + 1):
        loss = mpmath.mpf(level) * (2 * kept - rounds)
        if loss > epsilon:
            chance = mpmath.binomial(rounds, kept) * keep**kept * (1 - keep) ** (rounds - kept)
            total += chance * (1 - mpmath.exp(epsilon - loss))
    return total


def sampled_delta(rate: float, noise: float, epsilon: float) -> mpmath.mpf:
    """The larger of both orders of (1 − q) N(0, 1) + q N(1/σ, 1) against N(0, 1), from the normal law's tails."""
    q, shift, e = mpmath.mpf(rate), 1 / mpmath.mpf(noise), mpmath.exp(mpmath.mpf(epsilon))
    at = mpmath.log((e - 1 + q) / q) / shift + shift / 2
    removed = q * mpmath.ncdf(shift - at) + (1 - q - e) * mpmath.ncdf(-at)
    inside = (1 / e - 1 + q) / q
    if inside <= 0:
        return removed
    below = mpmath.log(inside) / shift + shift / 2
    added = mpmath.ncdf(below) - e * ((1 - q) * mpmath.ncdf(below) + q * mpmath.ncdf(below - shift))
    return max(removed, added)


def measure(short: bool) -> Measured:
    """Every run by both engines, and every enclosure beside its truth."""
    runs = [both(*run) for run in (RUNS[:2] if short else RUNS)]
    points, inside, widest = 0, 0, 0.0
    with mpmath.workdps(DIGITS):
        for _, spec, relation, epsilon, truth in truths():
            known = account(spec, relation=relation).guarantee.curve.log_delta(epsilon)  # type: ignore[arg-type]
            points += 1
            inside += bool(mpmath.mpf(known.lower) <= mpmath.log(truth) <= mpmath.mpf(known.upper))
            widest = max(widest, math.expm1(known.upper - known.lower))
    return {"runs": runs, "points": points, "inside": inside, "widest": widest}


def width(ends: list[float]) -> float:
    """Of δ, relative, from the ends of log δ."""
    return math.expm1(ends[1] - ends[0])


def words(measured: Measured) -> Words:
    """A table of the runs, and the counts."""
    rows = []
    overlaps = 0
    for one in measured["runs"]:
        rate, noise, rounds, relation, epsilon = one["run"]
        contoured, laid = one["contour"], one["lattice"]
        overlaps += max(contoured[0], laid[0]) <= min(contoured[1], laid[1])
        asked = f"rate {rate:g}, σ = {noise:g} C, {rounds:,} steps, {relation}".replace(",000", " 000")
        delta = f"{math.exp(contoured[1]):.6e}"
        rows.append((asked, f"{epsilon:g}", delta, f"{width(contoured):.1e}", f"{width(laid):.1e}"))
    head = ("composition", "ε", "δ, upper end", "width, contour", "width, lattice")
    return {
        "table": table(head, rows),
        "overlaps": f"{overlaps} of {len(rows)}",
        "points": f"{measured['inside']} of {measured['points']}",
        "widest": f"{measured['widest']:.1e}",
        "widest_contour": f"{max(width(one['contour']) for one in measured['runs']):.0e}",
        "narrowest_contour": f"{min(width(one['contour']) for one in measured['runs']):.0e}",
        "widest_lattice": f"{max(width(one['lattice']) for one in measured['runs']):.0e}",
        "narrowest_lattice": f"{min(width(one['lattice']) for one in measured['runs']):.0e}",
    }


EXHIBIT = Exhibit(
    name="engines",
    about="δ of six runs by both engines, and enclosures beside fifty digits",
    measure=measure,
    words=words,
)
