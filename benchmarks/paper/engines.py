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
    """Bound δ at an ε by two independent methods of composition, for a Poisson-subsampled Gaussian mechanism.

    The contour engine uses the known transform of the privacy loss, and the lattice engine only its tail probabilities.

    Args:
        rate: rate of Poisson sampling.
        noise: noise multiplier.
        rounds: number of steps.
        relation: neighbouring relation.
        epsilon: ε, in nats.

    Returns:
        The arguments as `run`, and lower and upper bounds on log δ as `contour` and `lattice`.
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
    """Yield mechanisms with a δ at an ε that is known by a formula: randomised responses, and single Gaussian releases.

    Yields:
        Specification, neighbouring relation, ε in nats, and the exact δ.
    """
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
    """Return the exact δ(ε) of T binary randomised responses, each with pure ε₀ = `LEVEL`.

    δ(ε) is the sum of P(j) (1 − e^{ε − L_j})₊ over the number j of true answers, from 0 to T. Here P(j) = C(T, j) p^j
    (1 − p)^{T − j} is the probability of j true answers, with p = 1/(1 + e^{−ε₀}). L_j = ε₀ (2j − T) is the privacy
    loss.

    Args:
        rounds: number of responses T.
        epsilon: ε, in nats.

    Returns:
        δ, with the digits of the present precision of mpmath.
    """
    level = mpmath.mpf(LEVEL)
    true_probability = 1 / (1 + mpmath.exp(-level))
    delta = mpmath.mpf(0)
    for true_answers in range(rounds + 1):
        probability = (
            mpmath.binomial(rounds, true_answers)
            * true_probability**true_answers
            * (1 - true_probability) ** (rounds - true_answers)
        )
        loss = level * (2 * true_answers - rounds)
        delta += probability * max(1 - mpmath.exp(epsilon - loss), 0)
    return delta


def sampled_delta(rate: float, noise: float, epsilon: float) -> mpmath.mpf:
    """Return the exact δ(ε) of a Gaussian release on a Poisson sample, the larger one of both directions.

    Let q be the rate and σ the noise multiplier. The outputs have the distributions P = (1 − q) N(0, 1) + q N(1/σ, 1)
    and Q = N(0, 1). Let s = 1/σ, and Φ the normal distribution function. The loss log(dP/dQ)(x) = log(1 − q + q e^{s x
    − s²/2}) grows with x.

    The loss equals ε at x = log((e^ε − 1 + q)/q)/s + s/2. Therefore:

        δ(P‖Q) = q Φ(s − x) + (1 − q − e^ε) Φ(−x).

    The loss equals −ε at y = log((e^{−ε} − 1 + q)/q)/s + s/2. Therefore:

        δ(Q‖P) = Φ(y) − e^ε ((1 − q) Φ(y) + q Φ(y − s)).

    There is no such y if e^{−ε} ≤ 1 − q, because the loss exceeds −ε everywhere. Then δ(Q‖P) = 0.

    Args:
        rate: q, in (0, 1].
        noise: σ, the noise multiplier.
        epsilon: ε, in nats.

    Returns:
        δ, with the digits of the present precision of mpmath.
    """
    q = mpmath.mpf(rate)
    shift = 1 / mpmath.mpf(noise)
    e = mpmath.exp(mpmath.mpf(epsilon))
    x = mpmath.log((e - 1 + q) / q) / shift + shift / 2
    delta_removed = q * mpmath.ncdf(shift - x) + (1 - q - e) * mpmath.ncdf(-x)
    # e^{s y − s²/2}, the likelihood ratio of both normal distributions at y.
    likelihood_ratio = (1 / e - 1 + q) / q
    if likelihood_ratio <= 0:
        return delta_removed
    y = mpmath.log(likelihood_ratio) / shift + shift / 2
    mixture_below_y = (1 - q) * mpmath.ncdf(y) + q * mpmath.ncdf(y - shift)
    delta_added = mpmath.ncdf(y) - e * mixture_below_y
    return max(delta_removed, delta_added)


def measure(short: bool) -> Measured:
    """Bound δ of each run by both engines, and check bounds against values that are known by formulas.

    Args:
        short: whether only the first two runs are computed, for tests.

    Returns:
        `runs`: bounds by both engines;
        `points`: number of known values;
        `inside`: number of those within our bounds;
        `widest`: largest relative width of the bounds.
    """
    contains_truth: list[bool] = []
    widths: list[float] = []
    with mpmath.workdps(DIGITS):
        for spec, relation, epsilon, truth in truths():
            bounds = account(spec, relation=relation).guarantee.curve.log_delta(epsilon)
            contains_truth.append(mpmath.mpf(bounds.lower) <= mpmath.log(truth) <= mpmath.mpf(bounds.upper))
            widths.append(math.expm1(bounds.upper - bounds.lower))
    selected = RUNS[:2] if short else RUNS
    runs = [compare_engines(*run) for run in selected]
    return {"runs": runs, "points": len(widths), "inside": sum(contains_truth), "widest": max(widths)}


def words(measured: Measured) -> Words:
    """Write the texts for the paper on the two engines.

    Args:
        measured: the numbers that `measure` returns.

    Returns:
        Texts by name: a table of the runs, how many intervals overlap and how many contain the truth, and extreme
        widths.
    """
    rows = []
    overlaps = 0
    widths: dict[str, list[float]] = {"contour": [], "lattice": []}
    for entry in measured["runs"]:
        rate, noise, rounds, relation, epsilon = entry["run"]
        contour = entry["contour"]
        lattice = entry["lattice"]
        # Two intervals overlap if the larger lower end is at most the smaller upper end.
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
