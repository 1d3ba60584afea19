"""Profile of a product of pairs in one direction, evaluated at each requested ε."""

from __future__ import annotations

import contextlib
import math
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from epsilond.accountants.curve.enclosure import SMALL_EPSILON, Interval, Tails
from epsilond.accountants.curve.profile import PointwiseProfile
from epsilond.accountants.engine.lattice.budget import Budget
from epsilond.accountants.engine.lattice.discretise import log_probability_of_any
from epsilond.accountants.engine.lattice.laws import BAND, GridAndTilt, GridKey, TiltedEvaluation
from epsilond.accountants.engine.lattice.survey import DEPTHS, LatticePart, Survey
from epsilond.accountants.engine.lattice.tilted import TiltCoordinate
from epsilond.accountants.engine.lattice.transforms import (
    Transforms,
    chernoff_log_delta,
    lower_log_delta,
    remember,
    upper_log_delta,
)
from epsilond.accountants.numerics.root_search import Guess
from epsilond.accountants.numerics.special import UNIT_ROUNDOFF
from epsilond.accountants.profiles.attained_tails import attained_table, infinite_loss_only
from epsilond.accountants.profiles.piecewise import TABLE_ACCURACY, PiecewiseTails, tabulate

if TYPE_CHECKING:
    from collections.abc import Sequence

    from epsilond.accountants.numerics.special import FloatArray

_TILTS_PER_BAND = 4  # number of tilts per interval of tilts; evaluations at nearby ε then share a transform
_KEPT_EVALUATIONS = 16  # number of evaluations that are remembered: those of one search
_DEEPEST_ROW = -720.0  # log δ at the end of the table of tails; e^−720 is subnormal, but a double with ten digits
_NO_DOUBLE = -750.0  # log δ below which no double holds δ, so that δ is bounded without a transform
_MOST_ROWS = 2000  # largest number of rows of the table of tails; 375 of the steps below lead to its end
_ROW_STEPS = ((-40.0, 0.25), (-100.0, 1.0), (-math.inf, 4.0))  # steps of the table in log δ, for log δ above a level
_OUTSIDE = (ArithmeticError, ValueError)  # numbers beyond the range of doubles: an overflow or a NaN


@dataclass(frozen=True, eq=False)
class ComposedProfile(PointwiseProfile):
    """Privacy profile ε ↦ δ(ε) of a composition, computed on a lattice of privacy losses when it is evaluated.

    A part of the composition is a pair (P, Q) of output distributions on neighbouring data, released in some rounds.
    The composition is the product of the pairs. Its profile is that of one direction, P against Q.

    Guarantees: `log_delta` satisfies lower ≤ truth ≤ upper at every ε ≥ 0 for the product of exactly the given parts.
    It is a function of ε only: earlier evaluations change the time, not the result. `log_tails` are those of a pair
    that dominates the product, and `attained_log_tails` those of a pair that the product dominates. Upper and lower
    bounds that are computed from them for a larger composition are therefore valid.

    Attributes:
        parts: pairs in this direction, with their numbers of rounds.
        budget: limits on the work, and the required relative width of δ.
        tail_accuracy: bound on the error of each log tail, per unit of 1 + |log tail|.
    """

    one_sided: ClassVar[bool] = True
    shares_nodes: ClassVar[bool] = True
    estimated: ClassVar[bool] = True

    parts: tuple[LatticePart, ...]
    budget: Budget
    tail_accuracy: float = TABLE_ACCURACY
    _evaluations: dict[float, TiltedEvaluation] = field(default_factory=dict, repr=False)  # the latest, by ε

    @cached_property
    def _log_width(self) -> float:
        """Logarithm of the required relative width of δ."""
        return math.log(self.budget.relative_width)

    @cached_property
    def _survey(self) -> Survey:
        return Survey(self.parts, self._log_width)

    @cached_property
    def _transforms(self) -> Transforms:
        return Transforms(self._survey, self.budget, self._log_width)

    @property
    def supremum(self) -> float:
        """Least known ε from which on δ is zero; math.inf if none is known."""
        return self._survey.supremum

    @property
    def log_infinite_mass(self) -> float:
        """Upper bound on the log probability that the loss of any round is infinite."""
        return self._survey.log_infinite_mass

    @property
    def least_log_infinite_mass(self) -> float:
        """Lower bound on the log probability that the loss of any round is infinite."""
        return self._survey.least_log_infinite_mass

    @cached_property
    def coupled_log_delta(self) -> float:
        """Logarithm of the upper bound 1 − Π (1 − δ_j(0))^{T_j} on δ at every ε, for T_j rounds of part j.

        δ_j(0) is the total variation distance of the outputs of one round on neighbouring data. They can hence be
        coupled so that they differ with this probability only. The bound costs far less than an evaluation.
        """
        log_deltas_at_zero = [_log_delta_at_zero(part) for part in self.parts]
        return log_probability_of_any(log_deltas_at_zero, self._survey.counts, direction=1)

    def coupled_meets(self, log_delta: float) -> bool:
        """Return whether `coupled_log_delta`, which bounds log δ at every ε, is at most a target log δ."""
        # The first part is tested before the others, because it usually decides.
        if _log_delta_at_zero(self.parts[0]) > log_delta:
            return False
        return self.coupled_log_delta <= log_delta

    def log_tails(self, epsilon: FloatArray) -> Tails:
        """Return the log tails at each ε of a pair (P, Q) that dominates this composition, with its privacy loss L.

        The tails follow from the slopes of a convex function of ε, built from certified upper bounds on δ.

        Args:
            epsilon: array of ε ≥ 0, in nats.

        Returns:
            log P(L > ε) and log Q(L > ε) of that pair, one of each for every ε.
        """
        return self._table.tails(np.asarray(epsilon, dtype=np.float64))

    def delta_at_zero_by_tails(self) -> float:
        """Return the upper bound on δ(0) that the table of tails starts with, without its expensive other rows."""
        return math.exp(self._coarse.upper_log_delta(0.0))

    def attained_log_tails(self, epsilon: FloatArray) -> Tails:
        """Return the log tails at each ε of a pair that the product dominates, for lower bounds.

        They are the slopes of a convex function below the profile, or those of the infinite loss only if there is none.
        """
        points = np.asarray(epsilon, dtype=np.float64)
        if self._attained_table is None:
            return infinite_loss_only(points, self.least_log_infinite_mass)
        return self._attained_table.tails(points)

    @cached_property
    def _coarse(self) -> ComposedProfile:
        """The profile with the coarse budget, from which the tables of tails are computed."""
        return self if self.budget == Budget.coarse() else ComposedProfile(self.parts, Budget.coarse())

    @cached_property
    def _attained_table(self) -> PiecewiseTails | None:
        """Convex function below the profile, from bounds at the ε of the table of tails; None if they are too wide."""
        points = self._table.epsilon
        return attained_table(points, self._coarse.log_delta(points), self.least_log_infinite_mass)

    @cached_property
    def _table(self) -> PiecewiseTails:
        """Certified upper bounds on log δ at increasing ε, from which the tails of a dominating pair are computed.

        The steps in log δ are about those of `_ROW_STEPS`, because the next ε follows from an estimate of the slope.
        Any spacing gives valid tails.
        """
        coarse = self._coarse
        # δ approaches the probability of an infinite loss from above, and the table ends just before.
        least_log_delta = max(self.log_infinite_mass + 1e-3, _DEEPEST_ROW)
        largest_epsilon = min(self._survey.supremum, 1e9)  # beyond any useful ε

        epsilon, log_delta = 0.0, coarse.upper_log_delta(0.0)
        epsilons, log_deltas = [epsilon], [log_delta]
        while len(epsilons) < _MOST_ROWS and log_delta > least_log_delta and epsilon < largest_epsilon:
            log_step = next(step for level, step in _ROW_STEPS if log_delta > level)
            steepness = max(self._survey.steepness(epsilon), 1e-9)  # not 0
            epsilon = epsilon + log_step / steepness
            log_delta = coarse.upper_log_delta(epsilon)
            epsilons.append(epsilon)
            log_deltas.append(log_delta)
        return tabulate(np.asarray(epsilons), np.asarray(log_deltas))

    def log_delta_bounds(self, epsilon: float) -> Interval:
        """Enclose log δ at one ε, with a tilt and a lattice that are chosen for this ε.

        If the lattice gives no lower bound, the δ of one of the parts bounds that of the product from below.

        Args:
            epsilon: ε ≥ 0, in nats.

        Returns:
            The bounds; (−inf, −inf) if δ is zero.
        """
        choice, upper = self.evaluation(epsilon)
        if math.isinf(upper):  # δ is zero
            return Interval(-math.inf, -math.inf)
        lower = self.lower_on(choice, epsilon) if upper >= _NO_DOUBLE else -math.inf
        if math.isinf(lower):
            lower = self._lower_log_delta_of_parts(epsilon)
        return Interval(min(lower, upper), upper)

    def upper_log_delta(self, epsilon: float) -> float:
        """Return the upper bound on log δ at one ε, without the work for the lower bound."""
        return self.evaluation(epsilon).upper

    def evaluation(self, epsilon: float) -> TiltedEvaluation:
        """Return the upper bound on log δ(ε), with the lattice of losses and the tilt that were used.

        The lattice has equally spaced losses L, weighted by e^{λL} with the tilt λ. The latest results are stored,
        because a search returns to them.

        Args:
            epsilon: ε ≥ 0, in nats.

        Returns:
            The bound, and the lattice with its tilt: None if δ is zero, or at an overflow or NaN of doubles.
        """
        if epsilon not in self._evaluations:
            remember(self._evaluations, epsilon, self._evaluation(epsilon), _KEPT_EVALUATIONS)
        return self._evaluations[epsilon]

    def _evaluation(self, epsilon: float) -> TiltedEvaluation:
        """Compute an upper bound on log δ(ε) of the composition with a suitable tilt and lattice for this ε.

        The tilt is the exponent λ of the weights e^{λL} of losses L. If a double overflows, basic composition is used.
        """
        try:
            if epsilon >= self._survey.supremum:  # no loss exceeds ε
                return TiltedEvaluation(None, -math.inf)
            choice = self._choose_tilt(epsilon)
            upper = self._upper_or_chernoff(choice, epsilon)
        except _OUTSIDE:
            return TiltedEvaluation(None, self._basic_composition(epsilon))

        # A bound far above the estimate shows that the lattice is too coarse for such a large tilt. The bound at ε/2 is
        # then tried too. It is valid at ε, because δ decreases in ε.
        log_estimate = DEPTHS[choice.key.depth]
        is_far_above = choice.coordinate.direct and log_estimate < _NO_DOUBLE and upper > 0.5 * log_estimate
        if is_far_above and epsilon > SMALL_EPSILON:
            upper = min(upper, self.evaluation(0.5 * epsilon).upper)
        return TiltedEvaluation(choice, upper)

    def _upper_or_chernoff(self, choice: GridAndTilt, epsilon: float) -> float:
        """Return a Chernoff bound on log δ(ε) if δ is probably below all doubles, or a bound by a Fourier transform.

        Args:
            choice: the lattice, and the tilt λ of the weights e^{λL} of losses L.
            epsilon: ε ≥ 0, in nats.
        """
        laws = self._transforms.laws(choice.key).upper
        if choice.coordinate.direct and laws.flat.estimate_at(choice.coordinate, epsilon) < _NO_DOUBLE:
            return chernoff_log_delta(laws, choice.coordinate, epsilon)
        return self.upper_on(choice, epsilon)

    def upper_on(self, choice: GridAndTilt, epsilon: float) -> float:
        """Return an upper bound on log δ(ε) with a given lattice and tilt.

        Every lattice and tilt gives a valid bound. It is tight if they were chosen for a similar ε.

        Args:
            choice: the lattice, and the tilt λ of the weights e^{λL} of losses L.
            epsilon: ε ≥ 0, in nats.
        """
        key, spectrum = self._transforms.spectrum(choice, from_above=True)
        laws = self._transforms.laws(key).upper
        return upper_log_delta(spectrum, laws, epsilon - laws.loss_error)

    def lower_on(self, choice: GridAndTilt | None, epsilon: float) -> float:
        """Return a lower bound on log δ(ε), from the Fourier transform of the total loss on a lattice of losses.

        Args:
            choice: the lattice, and the tilt λ of the weights e^{λL} of losses L.
            epsilon: ε ≥ 0, in nats.

        Returns:
            The bound; −∞ if `choice` is None, or if the computation leaves the range of doubles.
        """
        if choice is None:
            return -math.inf
        try:
            key, spectrum = self._transforms.spectrum(choice, from_above=False)
            laws = self._transforms.laws(key).lower
            # A total loss is its lattice point plus `offset`. Raising ε by the rounding error lowers the bound.
            return lower_log_delta(spectrum, laws, epsilon - laws.offset + laws.loss_error)
        except _OUTSIDE:
            return -math.inf

    def upper_log_deltas(self, epsilons: Sequence[float]) -> list[float]:
        """Return one upper bound on log δ for each of several ε, computed with the transform for the middle one.

        Its bounds are valid at every ε, and looser far from the middle. If there is no such transform, or if it fails,
        each ε is evaluated separately.

        Args:
            epsilons: values of ε in nats, at least one.
        """
        middle_epsilon = sorted(epsilons)[len(epsilons) // 2]
        choice = self.evaluation(middle_epsilon).tilt
        if len(epsilons) > 1 and choice is not None:
            with contextlib.suppress(*_OUTSIDE):
                return [min(self.upper_on(choice, epsilon), 0.0) for epsilon in epsilons]
        return [self.upper_log_delta(epsilon) for epsilon in epsilons]

    def guess(self, log_delta: float) -> Guess:
        """Estimate the ε with the given log δ; it decides only where a search starts."""
        return Guess(*self._survey.estimate_epsilon(log_delta))

    def likely_log_delta(self, epsilon: float) -> float:
        """Estimate log δ(ε), −∞ on failure; it decides only whether a bound is evaluated."""
        try:
            return self._survey.likely_log_delta(epsilon)
        except _OUTSIDE:
            return -math.inf

    def is_at_most(self, epsilon: float, log_delta: float) -> bool:
        """Return whether the upper bound is at most `log_delta`, without the lower bound, which costs more."""
        return self.upper_log_delta(epsilon) <= log_delta

    def likely_meets(self, epsilon: float, log_delta: float) -> bool:
        """Return whether the upper bound is at most `log_delta`."""
        return self.is_at_most(epsilon, log_delta)

    def _is_within(self, epsilon: float, coordinate: TiltCoordinate) -> bool:
        """Return whether ε is within the bulk of the total loss, that is, its distribution without rare rounds.

        The lattice spacing must then be small compared with the bulk. ε is within if it is at most six standard
        deviations from the mean, and if the variance V satisfies V |λ (1 + λ)| < 1/4. They affect tightness only.

        Args:
            epsilon: ε, in nats.
            coordinate: the tilt λ for this ε, that is, the exponent of the weights e^{λL} of losses L.
        """
        mean, variance = self._survey.bulk
        is_near_mean = variance > 0 and abs(epsilon - mean) <= 6.0 * math.sqrt(variance)
        has_small_tilt = variance * math.exp(coordinate.pole) < 0.25  # `pole` is log|λ (1 + λ)|
        return is_near_mean and has_small_tilt

    def _choose_tilt(self, epsilon: float) -> GridAndTilt:
        """Choose the lattice and the tilt λ for an ε.

        The tilt is the exponent of the weight e^{λL} of a loss L. It is the saddle point of the distributions on the
        lattice. The lattice depends on the interval ("band") of tilts that contains λ. So both are chosen in turn, at
        most four times, until the band no longer changes. Every choice gives valid bounds.

        Args:
            epsilon: ε ≥ 0, in nats.

        Returns:
            The choices that determine the lattice, and the tilt. The tilt is rounded down to one of a few of its band,
            so that evaluations at nearby ε share a transform.
        """
        # The first choice, from coarse tables of the losses (the survey). `direct` is True for λ > 0, which gives δ,
        # False for λ < 0, which gives 1 − δ. `depth` says how rare losses may be and still matter. `y` encodes λ.
        direct = self._survey.all_losses.prefers_direct(epsilon)
        depth = self._survey.find_depth(epsilon, direct=direct)
        band_width = BAND[direct]
        coordinate = self._survey.losses_to(depth).saddle(epsilon, direct=direct)
        band = math.floor(coordinate.y / band_width)
        key = GridKey(direct, depth, self._is_within(epsilon, coordinate), band)

        for _ in range(4):
            lattice_losses = self._transforms.laws(key).upper.flat
            coordinate = lattice_losses.saddle(epsilon, direct=direct, start=coordinate.y)
            previous_key, key = key, key._replace(band=math.floor(coordinate.y / band_width))
            if key == previous_key:
                break
        return GridAndTilt(key, coordinate.round_down(band_width / _TILTS_PER_BAND))

    def _basic_composition(self, epsilon: float) -> float:
        """Return an upper bound on log δ(ε) by basic composition of all rounds.

        Let part j have T_j rounds, each (ε/T, δ_j)-private, with T = Σ T_j. All rounds are then (ε, Σ T_j δ_j)-private.

        Args:
            epsilon: ε ≥ 0, in nats.

        Returns:
            The logarithm of Σ T_j δ_j(ε/T), at most 0; −inf if δ is zero.
        """
        rounds = sum(part.count for part in self.parts)
        # ε/T is rounded down, because δ_j is larger at a smaller ε.
        share_of_epsilon = np.asarray([epsilon / rounds * (1.0 - 4 * UNIT_ROUNDOFF)])
        log_terms = []
        for part in self.parts:
            log_delta = float(part.profile.log_delta(share_of_epsilon).upper[0])
            log_terms.append(log_delta + math.log(part.count))
        total = float(np.logaddexp.reduce(log_terms))
        if not math.isfinite(total):
            return total
        return min(total + 16 * UNIT_ROUNDOFF * (1.0 + abs(total)), 0.0)  # rounded up

    def _lower_log_delta_of_parts(self, epsilon: float) -> float:
        """Return the largest lower bound on log δ(ε) of one round of any part, which is valid for the composition.

        Leaving out the outputs of all other rounds is post-processing, so it cannot increase δ.
        """
        points = np.asarray([epsilon])
        return max(float(part.profile.log_delta(points).lower[0]) for part in self.parts)


def _log_delta_at_zero(part: LatticePart) -> float:
    """Return an upper bound on log δ(0) of one round of a part."""
    return float(part.profile.log_delta(np.zeros(1)).upper[0])
