"""Both engines on the same runs, and enclosures compared with exact values of fifty digits."""

from __future__ import annotations

import math
from collections.abc import Iterator

import mpmath

from benchmarks.paper.exhibit import Measured, Words
from epsilond.accountants.account import account
from epsilond.accountants.engine.lattice.composition import compose
from epsilond.accountants.quantities import Relation
from epsilond.accountants.specs import Gaussian, RandomizedResponse, Repeated, Spec, Subsampled
from scripts.pages.markdown import table

DIGITS = 50
LEVEL = 0.1
"""Pure ε of the randomised responses."""
RUNS: tuple[tuple[float, float, int, Relation, float], ...] = (
    (0.01, 1.0, 1000, "add-or-remove-one", 2.12),
    (0.1, 2.0, 100, "add-or-remove-one", 2.68),
    (0.001, 0.6, 10_000, "add-or-remove-one", 3.15),
    (0.3, 5.0, 500, "add-or-remove-one", 7.0),
    (0.01, 1.0, 1000, "replace-one", 3.21),
    (1e-4, 0.7, 100_000, "add-or-remove-one", 0.363),
)
"""Rate, noise multiplier, rounds, relation, and an ε at which δ is near 1e-6."""


def compare_engines(rate: float, noise: float, rounds: int, relation: Relation, epsilon: float) -> Measured:
    """Return the enclosures of log δ(ε) by the contour engine and by the lattice engine.

    Args:
        rate: rate of Poisson sampling.
        noise: noise multiplier.
        rounds: number of steps.
        relation: neighbouring relation.
        epsilon: ε [nat].
    """
    step = Subsampled(sampling="poisson", rate=rate, mechanism=Gaussian(noise_multiplier=noise))
    contour = account(Repeated(times=rounds, mechanism=step), relation=relation).guarantee.curve
    lattice = compose([(account(step, relation=relation).guarantee.curve.upper, rounds)])
    return {
        "run": [rate, noise, rounds, relation, epsilon],
        "contour": list(contour.log_delta(epsilon)),
        "lattice": list(lattice.log_delta_bounds(epsilon)),
    }


def truths() -> Iterator[tuple[Spec, Relation, float, mpmath.mpf]]:
    """Yield questions with a formula for δ, and the value of the formula."""
    for rounds in (1, 10, 100, 1000):
        responses = Repeated(times=rounds, mechanism=RandomizedResponse(epsilon=LEVEL, categories=2))
        for share in (0.2, 0.6):
            epsilon = share * LEVEL * rounds**0.5
            yield responses, "replace-one", epsilon, response_delta(rounds, epsilon)
    for noise in (0.5, 1.0, 3.0):
        for epsilon in (0.1, 1.0, 5.0):
            for rate in (1.0, 0.01, 0.3):
                release = Gaussian(noise_multiplier=noise)
                step = release if rate == 1.0 else Subsampled(sampling="poisson", rate=rate, mechanism=release)
                yield step, "add-or-remove-one", epsilon, sampled_delta(rate, noise, epsilon)


def response_delta(rounds: int, epsilon: float) -> mpmath.mpf:
    """Return δ of randomised responses: Σ P (1 − e^{ε − loss})₊ over the number of true answers."""
    level, total = mpmath.mpf(LEVEL), mpmath.mpf(0)
    keep = 1 / (1 + mpmath.exp(-level))
    for true_answers in range(rounds + 1):
        chance = mpmath.binomial(rounds, true_answers) * keep**true_answers * (1 - keep) ** (rounds - true_answers)
        total += chance * max(1 - mpmath.exp(epsilon - level * (2 * true_answers - rounds)), 0)
    return total


def sampled_delta(rate: float, noise: float, epsilon: float) -> mpmath.mpf:
    """Return the larger δ of both directions of (1 − q) N(0, 1) + q N(1/σ, 1) against N(0, 1).

    Args:
        rate: q.
        noise: σ, the noise multiplier.
        epsilon: ε [nat].
    """
    q, shift, e = mpmath.mpf(rate), 1 / mpmath.mpf(noise), mpmath.exp(mpmath.mpf(epsilon))
    at = mpmath.log((e - 1 + q) / q) / shift + shift / 2
    removed = q * mpmath.ncdf(shift - at) + (1 - q - e) * mpmath.ncdf(-at)
    inside = (1 / e - 1 + q) / q
    if inside <= 0:
        return removed
    below = mpmath.log(inside) / shift + shift / 2
    return max(removed, mpmath.ncdf(below) - e * ((1 - q) * mpmath.ncdf(below) + q * mpmath.ncdf(below - shift)))


def measure(short: bool) -> Measured:
    """Compute every run by both engines, and compare every enclosure with its truth."""
    points, inside, widest = 0, 0, 0.0
    with mpmath.workdps(DIGITS):
        for spec, relation, epsilon, truth in truths():
            bounds = account(spec, relation=relation).guarantee.curve.log_delta(epsilon)
            points += 1
            inside += bool(mpmath.mpf(bounds.lower) <= mpmath.log(truth) <= mpmath.mpf(bounds.upper))
            widest = max(widest, math.expm1(bounds.upper - bounds.lower))
    selected = RUNS[:2] if short else RUNS
    runs = [compare_engines(*run) for run in selected]
    return {"runs": runs, "points": points, "inside": inside, "widest": widest}


def words(measured: Measured) -> Words:
    """Return a table of the runs, and the counts."""
    rows, overlaps = [], 0
    widths: dict[str, list[float]] = {"contour": [], "lattice": []}
    for entry in measured["runs"]:
        (rate, noise, rounds, relation, epsilon), contour, lattice = entry["run"], entry["contour"], entry["lattice"]
        overlaps += max(contour[0], lattice[0]) <= min(contour[1], lattice[1])
        widths["contour"].append(math.expm1(contour[1] - contour[0]))
        widths["lattice"].append(math.expm1(lattice[1] - lattice[0]))
        run = f"rate {rate:g}, σ = {noise:g} C, {rounds:,} steps, {relation}".replace(",000", " 000")
        cells = [f"{numbers[-1]:.1e}" for numbers in widths.values()]
        rows.append((run, f"{epsilon:g}", f"{math.exp(contour[1]):.6e}", *cells))
    head = ("composition", "ε", "δ, upper end", "width, contour", "width, lattice")
    texts = {
        "table": table(head, rows),
        "overlaps": f"{overlaps} of {len(rows)}",
        "points": f"{measured['inside']} of {measured['points']}",
        "widest": f"{measured['widest']:.1e}",
    }
    for engine, numbers in widths.items():
        texts[f"widest_{engine}"] = f"{max(numbers):.0e}"
        texts[f"narrowest_{engine}"] = f"{min(numbers):.0e}"
    return texts
