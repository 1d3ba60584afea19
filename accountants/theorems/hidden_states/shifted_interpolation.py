"""Shifted interpolation: hidden states of noisy gradient descent, exactly Gaussian (Bok, Su and Altschuler 2024).

Setting. X_k = Π(φ_k(X_{k−1}) + Z_k) and X'_k = Π(φ'_k(X'_{k−1}) + Z'_k) with Z_k, Z'_k ~ N(0, ν_k²I). Π is a projection
onto a convex set, or the identity. φ_k has Lipschitz constant c_k, and sup |φ_k − φ'_k| ≤ s_k. The starts are
X_0 = X'_0, or |X_0 − X'_0| ≤ z₀ for arbitrary distributions. φ_k and φ'_k are fixed in advance.

Theorem. For a_k ≥ 0 with z_k = c_k z_{k−1} + s_k − a_k ≥ 0 and z_T = 0, (X_T, X'_T) is μ-Gaussian differentially
private in both directions, μ² = Σ (a_k/ν_k)².

Proof. Let Y_0 = X'_0 and Y_k = Π(φ'_k(Y_{k−1}) + λ_k(φ_k(X_{k−1}) − φ'_k(Y_{k−1})) + Z_k), with the noise Z_k of X and
λ_k = a_k/(c_k z_{k−1} + s_k). Projections do not expand, and |φ_k(X) − φ'_k(Y)| ≤ c_k |X − Y| + s_k. By induction
|X_k − Y_k| ≤ z_k, so Y_T = X_T. Given Y_{k−1} = y, the step adds to φ'_k(y) a shift of norm at most a_k and Gaussian
noise. The shift may be random, but is independent of Z_k. Compare with X' at the same y. As E_γ is jointly convex, it
is at most that of N(a_k/ν_k, 1) and N(0, 1), in either direction, and Π does not increase it. Adaptive composition of
the T steps gives the Gaussian mechanism of μ² = Σ (a_k/ν_k)². ∎

The best plan. Let C_k = Π_{j>k} c_j. The partial sums B of b_k = C_k a_k may not exceed the partial sums F of C_k s_k,
and must equal them at the end. As b_k costs b_k²/w_k with w_k = (C_k ν_k)², the best B is the greatest convex minorant
of F over W = Σ w. It is a straight line where F is concave. On a domain of diameter D, the plan may also start at a
later state with z = D, and the earlier shifts do not count. For equal steps with the record in every step, this is the
plan of Bok, Su and Altschuler, which quadratic losses attain.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Annotated, NamedTuple

import numpy as np

from epsilond.accountants.errors import InvalidInput
from epsilond.accountants.numerics.special import FloatArray
from epsilond.accountants.quantities import Quantity, request
from epsilond.accountants.quantities.algorithms import KERNEL_NOISE_STD, Distance
from epsilond.accountants.theorem import Condition, Outputs, Source, Status, Theorem
from epsilond.accountants.theorems.hidden_states.best_plan import least_mu

CONTRACTIONS = Quantity(symbol="c_k", description="Lipschitz constant of each step's map, in order")
SHIFTS = Quantity(symbol="s_k", unit="length", description="most that each step's maps on neighbouring data differ")
NOISES = Quantity(symbol="ν_k", unit="length", description="noise per coordinate that each step adds to the model")
ENTRY = Quantity(ge=0, description="a value of one step")
MOST_STEPS = 10**5
"""Largest number of listed steps of a request; it bounds the time of one evaluation."""
OUTWARD = 1.0 + 1e-11
"""Factor on every μ that covers the rounding of its powers and sums."""
BLOCK_RATIO = 1.0 + 1.0 / 256.0
"""Ratio of the first places of consecutive blocks, in steps from the release; a block counts as its worst place."""
LEAST_CONTRACTION = 1e-300
"""Least contraction factor; a smaller one is raised to it, so that its logarithm is finite."""
LEAST_LOG_POWER = -690.0
"""Least logarithm of a power of c; a smaller power counts as e^−690, so that it underflows in squares only."""
LEAST_SQUARE = 1e-300
"""Least square of a positive μ, in case its square underflows."""
MOST_STARTS = 256
"""Number of late starts on the geometric grid of the search."""


# Equal steps, in units of the noise of one step --------------------------------------------------------------------
def powers_sum(rate: float, count: FloatArray | float) -> FloatArray:
    """Return Σ_{k<n} e^{−rk}, the geometric sum of n powers of a contraction factor e^{−r}.

    It is (1 − e^{−rn})/(1 − e^{−r}), and n for r = 0.

    Args:
        rate: number r ≥ 0, minus the log of the contraction factor.
        count: number n ≥ 0 of terms; an array gives one sum for each entry.

    Returns:
        An array of the shape of `count`.
    """
    terms = np.asarray(count, dtype=np.float64)
    if rate == 0.0:
        return terms
    return np.asarray(np.expm1(-rate * terms) / math.expm1(-rate))


def periodic_mu(
    *, uses: int, period: int, after: FloatArray, contraction: float, shift: float, diameter: float
) -> FloatArray:
    """Compute the Gaussian-DP parameter μ of the last model, for a record that is used every `period` steps.

    The noise of each step hides a part of the distance between two runs on neighbouring data. A plan chooses these
    parts. Hiding a distance b by noise of variance w adds b²/w to μ². In the best plan, the hidden distance is
    proportional to the noise variance, with one factor up to the last use and one after it. Other plans ignore the
    first uses, and start with the diameter of the domain as the distance.

    Args:
        uses: number of uses of the record.
        period: steps from one use to the next.
        after: steps after the last use; the result has one entry for each. More steps give no larger μ.
        contraction: Lipschitz constant c ≤ 1 of every step's map.
        shift: shift per use, in standard deviations of the noise of one step.
        diameter: diameter of the domain in the same unit; `math.inf` for none.

    Returns:
        The least μ over these plans, rounded up. It is `math.inf` if μ² of every plan exceeds the largest double.
    """
    rate = -math.log(max(contraction, LEAST_CONTRACTION))
    steps = np.asarray(after, dtype=np.float64)
    last_use = _LastUse(
        rate=rate,
        remaining_shift=shift * _powers(rate, steps),
        noise_variance=powers_sum(2.0 * rate, steps + 1.0),
        contraction=_powers(rate, steps + 1.0),
    )

    # Each plan has a distance before the last use, and a number of steps before the last use that hide it.
    plans = [_distance_before_last_use(uses, period, rate, shift)]
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        if uses > 1 and math.isfinite(diameter):
            plans += _late_starts(uses, period, rate, shift=shift, diameter=diameter)
        squares = [last_use.cost(distance, hiding_steps) for distance, hiding_steps in plans]
        if math.isfinite(diameter):
            # One more plan starts after the last use, with the diameter as the distance.
            remaining_distance = diameter * _powers(rate, steps)
            squares.append(remaining_distance**2 / powers_sum(2.0 * rate, steps))

    # A plan with an undefined square is not used, and a positive square that underflows counts as `LEAST_SQUARE`.
    usable_squares = [np.where(np.isnan(square), np.inf, square) for square in np.broadcast_arrays(*squares)]
    has_distance = shift > 0.0 and diameter > 0.0
    smallest = LEAST_SQUARE if has_distance else 0.0
    least_square = np.maximum(np.minimum.reduce(usable_squares), smallest)
    return np.asarray(np.sqrt(least_square) * OUTWARD)


def _distance_before_last_use(uses: int, period: int, rate: float, shift: float) -> tuple[float, float]:
    """Compute the distance between two runs on neighbouring data just before the last use of the record.

    Each of the n − 1 earlier uses adds s to it, and each later step multiplies it by c. With the period P it is:

        s c^{P−1} Σ_{k<n−1} c^{Pk}.

    Args:
        uses: number n of uses of the record, at least 1.
        period: number P of steps from one use to the next.
        rate: −log c, with c the Lipschitz constant of each step's map.
        shift: s, in standard deviations of the noise of one step.

    Returns:
        The distance in the same unit, and the number P (n − 1) of steps from the first to the last use.
    """
    if uses == 1:
        return 0.0, 0.0
    shift_before_next_use = shift * float(_powers(rate, period - 1.0))
    distance = shift_before_next_use * float(powers_sum(period * rate, uses - 1.0))
    return distance, period * (uses - 1.0)


def _powers(rate: float, count: FloatArray | float) -> FloatArray:
    """Compute powers e^(−rn) of a contraction factor, but at least e^−690, so that only their squares may underflow.

    Args:
        rate: r ≥ 0, minus the log of the contraction factor.
        count: numbers n of steps.

    Returns:
        One power for each number.
    """
    exponents = -rate * np.asarray(count, dtype=np.float64)
    return np.asarray(np.exp(np.maximum(exponents, LEAST_LOG_POWER)))


class _LastUse(NamedTuple):
    """The steps of a run from the last use of the record to the release, for each of several numbers of these steps.

    Distances are in standard deviations of the noise of one step.

    Attributes:
        rate: −log c, with c the Lipschitz constant of each step's map.
        remaining_shift: r, the distance between two runs on neighbouring data that the last use causes, at the release.
        noise_variance: V, the variance at the release of the noise that these steps add.
        contraction: C, the product of the Lipschitz constants of these steps.
    """

    rate: float
    remaining_shift: FloatArray
    noise_variance: FloatArray
    contraction: FloatArray

    def cost(self, distance: float, steps: float) -> FloatArray:
        """Return the least μ² for which noise hides the distance between two runs on neighbouring data.

        The earlier uses of the record cause a distance d before its last use, of which d C is left at the release. The
        last use adds r. To hide a distance b by noise of variance w costs b²/w. Let W be the variance of the noise
        before the last use. The noise of all steps may hide the total distance, or each part of it is hidden by its own
        noise:

            (d C + r)²/(W C² + V)    or    d²/W + r²/V.

        The first cost is smaller. It is possible only if at most d C is hidden before the last use.

        Args:
            distance: d, in standard deviations of a step's noise.
            steps: number of steps before the last use whose noise hides d.

        Returns:
            One μ² for each entry of `remaining_shift`.
        """
        total = distance * self.contraction + self.remaining_shift
        if steps == 0.0:
            return np.asarray(total**2 / self.noise_variance)
        variance_before = float(powers_sum(2.0 * self.rate, steps))

        # The first cost is possible if d V ≥ r W C. The second one always is, so a margin of 1e-9 avoids errors by
        # rounding at a negligible cost.
        threshold = self.remaining_shift * variance_before * self.contraction * (1.0 + 1e-9)
        can_share_noise = distance * self.noise_variance >= threshold
        shared_cost = total**2 / (variance_before * self.contraction**2 + self.noise_variance)
        separate_cost = np.square(distance) / variance_before + self.remaining_shift**2 / self.noise_variance
        return np.where(can_share_noise, shared_cost, separate_cost)


def _late_starts(
    uses: int, period: int, rate: float, *, shift: float, diameter: float
) -> Iterator[tuple[float, float]]:
    """Yield upper bounds on the distance between two runs on neighbouring data, just before the last use of a record.

    Each bound ignores the first uses of the record. It starts right after a use (a late start), where the distance is
    at most the diameter of the domain, and adds the shifts of the later uses. If the diameter is smaller than the shift
    of a use, only the start one period before the last use is considered.

    Args:
        uses: number of uses of the record, at least 2.
        period: steps from one use to the next.
        rate: −log c, with c the Lipschitz constant of every step's map.
        shift: shift per use, in standard deviations of the noise of one step.
        diameter: diameter of the domain in the same unit.

    Yields:
        A bound on the distance, and the number of steps from the late start to the last use. Their noise hides it.
    """
    most = uses - 1.0 if diameter >= shift else 1.0
    # If steps do not contract (c = 1), the best start is near the use from which on the shifts add up to the diameter.
    # The geometric grid is for c < 1.
    uses_to_diameter = 1e15  # more than any number of uses
    if shift > 0.0:
        uses_to_diameter = min(diameter / shift, uses_to_diameter)
    near_best = np.clip(np.round(uses_to_diameter) + np.arange(-2.0, 4.0), 1.0, most)
    grid = np.geomspace(1.0, most, MOST_STARTS).round()
    candidates = np.unique(np.concatenate((near_best, grid))).tolist()
    shift_before_next_use = shift * float(_powers(rate, period - 1.0))
    for remaining_uses in candidates:
        steps = period * remaining_uses - 1.0
        from_start = diameter * float(_powers(rate, steps))
        from_uses = shift_before_next_use * float(powers_sum(period * rate, remaining_uses - 1.0))
        yield from_start + from_uses, steps


# The theorem --------------------------------------------------------------------------------------------------------
@request
class ListedSteps:
    """The steps of a run, in order. `initial_distance` is the distance of the two starts, 0 for a common start."""

    contractions: Annotated[tuple[Annotated[float, ENTRY], ...], CONTRACTIONS]
    shifts: Annotated[tuple[Annotated[float, ENTRY], ...], SHIFTS]
    noises: Annotated[tuple[Annotated[float, KERNEL_NOISE_STD], ...], NOISES]
    initial_distance: Distance = 0.0

    def check(self) -> None:
        """Check that the lists of contractions, shifts and noises have one length, and that all entries are in range.

        Raises:
            InvalidInput: the lists have different lengths, or are empty or longer than 100,000. Also if an entry is
                negative or not finite, or if a noise is 0.
        """
        lists = {"contractions": self.contractions, "shifts": self.shifts, "noises": self.noises}
        for name, values in lists.items():
            has_valid_length = 1 <= len(values) <= MOST_STEPS and len(values) == len(self.noises)
            if not has_valid_length:
                raise InvalidInput.at(f"/{name}", "must be as long as the others", allowed=f"1 to {MOST_STEPS} entries")
            least = math.ulp(0.0) if name == "noises" else 0.0
            if not all(least <= value < math.inf for value in values):
                raise InvalidInput.at(f"/{name}", "has an entry out of range", allowed="finite, not negative")


def listed_steps(inputs: ListedSteps) -> Outputs:
    """Compute the Gaussian-DP parameter μ of the last model by the best plan of shifted interpolation, rounded up."""
    mu = least_mu(inputs.contractions, inputs.shifts, inputs.noises, initial_distance=inputs.initial_distance)
    return {"gaussian_dp_mu": mu}


GRADIENTS = Condition(
    "gradient-distance", "the gradients of a record and of its replacement differ by at most Δ everywhere"
)
MAPS = Condition(
    "lipschitz-maps", "every step's map without noise has the given Lipschitz constant, and no gradient is clipped"
)
FIXED_ORDER = Condition("fixed-order", "which step uses which records is fixed in advance")
HIDDEN = Condition("hidden-states", "no model except the released one is observed")

INTERPOLATION = Theorem(
    id="epsilond.shifted-interpolation",
    title="Two noisy runs that drift apart, for any steps",
    statement=(
        "Let z_k = c_k z_{k−1} + s_k − a_k ≥ 0 and z_T = 0. Then the last model is μ-Gaussian differentially "
        "private with μ² = Σ (a_k/ν_k)². The best a is the slope of a greatest convex minorant"
    ),
    source=Source("bok2024shifted", "the shifted interpolated process, for steps that differ; proof in this file"),
    status=Status.PROVED,
    conditions=(MAPS, FIXED_ORDER, HIDDEN),
    inputs=ListedSteps,
    formula=listed_steps,
    examples=({"contractions": (0.9, 0.9, 0.9), "shifts": (0.1, 0.0, 0.0), "noises": (1.0, 1.0, 1.0)},),
)

THEOREMS: tuple[Theorem, ...] = (INTERPOLATION,)
