"""The best of a random number of runs: how much the choice adds to the losses of one run.

Let f be the generating function of the number K of runs, f(x) = E[x^K], and let outputs be totally ordered. Ties are
broken by an independent random number, which is part of the output. Let Q and Q′ be the distributions of one run on two
neighbours, and A and A′ those of the released best run. Let g_t be the
test with g_t(z) = 1 for z < y, and g_t(y) = t. Then:

    A(y) = f(Q(≤ y)) − f(Q(< y)) = Q(y) ∫₀¹ f′(Q(g_t)) dt.

Here Q(g_t) moves from Q(< y) to Q(≤ y). The same t serves Q′. Let φ be log f′. For a test g let q = Q(g) and
q′ = Q′(g). Let S(v, w) be the supremum of v φ(q) − w φ(q′) over all tests. This gives three bounds.

1. *Divergences.* (F, F′) ↦ F^a F′^{1−a} is jointly convex. Let M be e^{(a−1) D_a(Q‖Q′)}. With the output "no run":

       e^{(a−1) D_a(A‖A′)} ≤ f(0) + M e^{S(a, a−1)}.

   It is Lemma 7 of Papernot and Steinke (2022). Their Theorems 2 and 6 bound S by one more order.
2. *Profiles.* With H = S(1, 1), A(y) − γ A′(y) ≤ F (Q(y) − γ e^{−H} Q′(y)), F = ∫ f′(Q(g_t)) dt ≤ f′(1) = E[K].
   So δ_A(ε) ≤ E[K] δ_Q(ε − H) for ε ≥ H. Koskela, Redberg and Wang (2024, arXiv 2402.06701) bound the profile by that
   of one run, too. The proof here does not rely on theirs.
3. *Pure guarantees.* If one run is ε-private, 1 − q′ ≤ e^ε (1 − q), and losses are at most ε + H. A negative binomial
   number of shape η has φ(q) = const − (1 + η) log(1 + c (1 − q)), so that H ≤ (1 + η) ε. The geometric one gives 3ε
   (Liu and Talwar 2019). A Poisson number of mean μ has H ≤ μ tanh(ε/2). ∎

The supremum is over u = 1 − q. The profiles of both directions bound u′ = 1 − q′ from above. For every γ ≥ 1:

    u′ ≤ γ u + E_γ(Q′‖Q),   u′ ≤ 1 − (1 − u − E_γ(Q‖Q′))/γ.

φ decreases in u. On each cell of u one of these lines is used, so that the largest value has a closed form.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from epsilond.accountants.numerics.special import UNIT_ROUNDOFF

if TYPE_CHECKING:
    from epsilond.accountants.curve.profile import Profile
    from epsilond.accountants.numerics.special import FloatArray

_CELLS = np.concatenate([[0.0], np.geomspace(1e-18, 1.0, 1024)])
"""Boundaries of the cells of u, over all its scales."""


@dataclass(frozen=True)
class RunsDistribution:
    """The distribution of the random number K of runs of which the best is released: negative binomial or Poisson.

    Its generating function f(x) = E[x^K] determines how much the choice of the best run costs. φ = log f′ is used as a
    function of u = 1 − q, for a probability q.

    Attributes:
        mean: E[K], exactly.
        shape: shape η of a negative binomial number that is at least 1; math.inf for a Poisson number.
        odds: lower and upper bound on c = (1 − γ)/γ for the parameter γ of a negative binomial number. Not used for a
            Poisson number.
    """

    mean: float
    shape: float
    odds: tuple[float, float] = (0.0, 0.0)

    @property
    def never_runs(self) -> float:
        """f(0), the probability of no run, rounded up."""
        return math.exp(-self.mean) * (1.0 + 4 * UNIT_ROUNDOFF) if math.isinf(self.shape) else 0.0

    def fall(self, share: FloatArray, *, up: bool) -> FloatArray:
        """Return by how much log f′ falls from 1 to 1 − u, rounded up or down.

        f(x) = E[x^K] is the generating function of the random number K of runs, and φ = log f′. The fall
        φ(1) − φ(1 − u) is μ u for a Poisson number of mean μ. It is (1 + η) log(1 + c u) for a negative binomial one.

        Args:
            share: array of u ≥ 0. Bounds on u may exceed 1.
            up: True to round up, False to round down.

        Returns:
            The values φ(1) − φ(1 − u) ≥ 0, one for each u, as bounds to the requested side.
        """
        if math.isinf(self.shape):
            value = self.mean * share
        else:
            lower_odds, upper_odds = self.odds
            odds = upper_odds if up else lower_odds
            value = (1.0 + self.shape) * np.log1p(odds * share)
        # The few operations and the log1p err by less than this.
        rounding = 16 * UNIT_ROUNDOFF if up else -16 * UNIT_ROUNDOFF
        return np.asarray(np.maximum(value * (1.0 + rounding), 0.0))

    @property
    def rounding(self) -> float:
        """Bound on the relative rounding error of `some_in` and `all_in`."""
        if math.isinf(self.shape):
            return 1024 * UNIT_ROUNDOFF  # of exponents down to −700
        return 64 * UNIT_ROUNDOFF * (1.0 + abs(self.shape)) * (1.0 + math.log1p(self.odds[1]))

    def some_in(self, inside: FloatArray, outside: FloatArray, *, up: bool) -> FloatArray:
        """Return an upper or a lower bound on the probability that the output of some run is in a set.

        It is 1 − f(1 − p) for the generating function f of the number of runs. For a negative binomial number it
        increases with c = (1 − γ)/γ, of which two bounds are known (`odds`). The bound to the requested side is used.

        Args:
            inside: probability p that the output of one run is in the set.
            outside: 1 − p, which is not used. The signature is that of `all_in`.
            up: whether to return an upper bound, up to `rounding`; otherwise a lower one.

        Returns:
            The bound 1 − f(1 − p), one for each p, before the margin `rounding`.
        """
        del outside
        # Poisson number of mean μ: 1 − e^{−μ p}.
        if math.isinf(self.shape):
            return np.asarray(-np.expm1(-self.mean * inside))
        lower_odds, upper_odds = self.odds
        odds = upper_odds if up else lower_odds
        if odds == 0.0:  # there is one run
            return inside
        # Logarithmic number, the limit of shape η → 0.
        if self.shape == 0.0:
            return np.asarray(np.log1p(odds * inside) / math.log1p(odds))

        # f(x) = ((1 − (1 − γ) x)^−η − 1)/(γ^−η − 1) with 1/γ = 1 + c
        numerator = np.expm1(-self.shape * np.log1p(odds * inside))
        return np.asarray(numerator / math.expm1(-self.shape * math.log1p(odds)))

    def all_in(self, inside: FloatArray, outside: FloatArray, *, up: bool) -> FloatArray:
        """Return a bound on the probability that there is at least one run, and every output is in a given set.

        It is f(p) − f(0) for the generating function f(x) = E[x^K] of the number K of runs. K is Poisson, or negative
        binomial with a shape η and a parameter γ. In the latter case the probability decreases with c = (1 − γ)/γ, of
        which two bounds are known (`odds`). An upper bound uses the lower one of them, a lower bound the upper one.

        Args:
            inside: probability p that the output of one run is in the set.
            outside: 1 − p, given because its rounding matters for p near 1.
            up: whether to return an upper bound, up to `rounding`; otherwise a lower one.

        Returns:
            The bound f(p) − f(0), one for each p, before the margin `rounding`.
        """
        # Poisson number of mean μ: e^{−μ (1 − p)} − e^{−μ}, without cancellation.
        if math.isinf(self.shape):
            return np.asarray(np.exp(-self.mean * outside) * -np.expm1(-self.mean * inside))
        lower_odds, upper_odds = self.odds
        odds = lower_odds if up else upper_odds
        if odds == 0.0:  # there is one run
            return inside
        log_odds = math.log1p(odds)

        # log(1 − (1 − γ) p) and log((1 − (1 − γ) p)/γ), each from the smaller of p and 1 − p
        from_inside = np.log1p(-inside * (odds / (1.0 + odds)))
        from_outside = np.log1p(odds * outside)
        is_small = inside < 0.5
        log_factor = np.where(is_small, from_inside, from_outside - log_odds)
        log_excess = np.where(is_small, from_inside + log_odds, from_outside)
        # Logarithmic number, the limit of shape η → 0.
        if self.shape == 0.0:
            return np.asarray(-log_factor / log_odds)
        share = np.expm1(self.shape * log_factor) / math.expm1(-self.shape * log_odds)
        return np.asarray(np.exp(-self.shape * log_excess) * share)


@dataclass(frozen=True)
class SelectionGain:
    """The increase of privacy losses by the choice of the best of several runs, in one direction of a pair.

    One run has the distributions Q and Q′ on two neighbours. A test has the probabilities q and q′ under them. Let φ =
    log f′ for the generating function f of the number of runs. The increase is the supremum of v φ(q) − w φ(q′) over
    all tests, for weights v and w.

    Attributes:
        runs: distribution of the number of runs.
        forward: privacy profile of Q against Q′.
        backward: privacy profile of Q′ against Q.
        epsilons: array of ε ≥ 0 in nats at which the profiles are evaluated.
    """

    runs: RunsDistribution
    forward: Profile
    backward: Profile
    epsilons: FloatArray

    @cached_property
    def _tables(self) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Values of γ, and upper bounds on the forward and the backward profile at each."""
        rounding = 1.0 + 4 * UNIT_ROUNDOFF
        forward = np.exp(np.minimum(self.forward.log_delta(self.epsilons).upper, 0.0)) * rounding
        backward = np.exp(np.minimum(self.backward.log_delta(self.epsilons).upper, 0.0)) * rounding
        return np.exp(self.epsilons) * rounding, forward, backward

    @cached_property
    def _lines(self) -> tuple[FloatArray, FloatArray]:
        """Slopes and intercepts of lines that bound u′ from above as a function of u, one for each interval of u.

        A test accepts with the probabilities q and q′ under the distributions Q and Q′ of one run on two neighbouring
        data sets. Let u = 1 − q and u′ = 1 − q′. E_γ is the hockey-stick divergence at γ = e^ε, that is, `forward` for
        (Q‖Q′) and `backward` for (Q′‖Q). The lines are:

            u′ ≤ 1,  u′ ≤ γ u + E_γ(Q′‖Q),  u′ ≤ 1 − (1 − u − E_γ(Q‖Q′))/γ.

        In each interval (cell) the line is the lowest one at its middle. In the first cell, which begins at 0, it is
        the lowest one at the end, because a line that is lowest at 0 may be far above 1 there.
        """
        gamma, forward, backward = self._tables
        slopes = np.concatenate([[0.0], gamma, 1.0 / gamma])
        intercepts = np.concatenate([[1.0], backward, 1.0 - (1.0 - forward) / gamma])

        # The geometric middle of each cell; the end of the first one, which begins at 0.
        middle = np.sqrt(np.maximum(_CELLS[:-1], _CELLS[1]) * _CELLS[1:])
        lowest = np.argmin(slopes * middle[:, None] + intercepts, axis=1)
        # Larger than the relative errors of the tables and quotients. 1e-300 covers results below the normal doubles.
        rounding = 1.0 + 32 * UNIT_ROUNDOFF
        return slopes[lowest] * rounding, np.maximum(intercepts[lowest], 0.0) * rounding + 1e-300

    def supremum(self, first: float, second: float) -> float:
        """Return an upper bound on the increase of the privacy losses by choosing the best run.

        The increase is the largest value of v φ(q) − w φ(q′) − (v − w) φ(1) over all tests, which have the
        probabilities q and q′ on two neighbours. φ is log f′ for the generating function f of the number of runs.

        The range of u = 1 − q is divided into intervals. On each, a line γu + b bounds 1 − q′ (`_lines`). The largest
        value is then at an end of an interval, or where the derivative in u vanishes (`_stationary_points`).

        Args:
            first: weight v > 0.
            second: weight w, v or v − 1.

        Returns:
            The bound, in nats if v = w = 1.
        """
        slopes, intercepts = self._lines
        candidates = [_CELLS[:-1], _CELLS[1:]]
        has_stationary_point = first != second and math.isfinite(self.runs.shape) and self.runs.odds[1] > 0.0
        if has_stationary_point:
            candidates.append(self._stationary_points(first, second))

        largest, size = -math.inf, 0.0
        for u in candidates:
            gain = second * self.runs.fall(slopes * u + intercepts, up=True)  # w (φ(1) − φ(q′))
            loss = first * self.runs.fall(u, up=False)  # v (φ(1) − φ(q))
            largest = max(largest, float(np.max(gain - loss)))
            size = max(size, float(np.max(gain)), float(np.max(loss)))
        # Rounded up, relative to the largest term of the differences.
        rounding = 64 * UNIT_ROUNDOFF * (1.0 + size)
        return largest + rounding

    def _stationary_points(self, first: float, second: float) -> FloatArray:
        """Return the point of each interval (cell) of u at which the derivative of the increase of the losses vanishes.

        For a negative binomial number of runs with the shape η and the parameter c, the increase in u is:

            (1 + η)(w log(1 + c (γu + b)) − v log(1 + c u)),

        with the slope γ and the intercept b of the cell's line (`_lines`). The derivative vanishes at:

            u = (v (1 + cb) − wγ)/(cγ (w − v)).

        A point outside the cell is moved to its boundary.

        Args:
            first: weight v > 0.
            second: weight w ≠ v.

        Returns:
            One u for each cell.
        """
        slopes, intercepts = self._lines
        _, upper_odds = self.runs.odds
        denominator = upper_odds * slopes * (second - first) - 1e-300  # avoids 0; the other summand is negative
        stationary = (first * (1.0 + upper_odds * intercepts) - second * slopes) / denominator
        return np.clip(stationary, _CELLS[:-1], _CELLS[1:])
