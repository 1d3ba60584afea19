"""Predicted bounds on the excess risk of runs, which are corrected by the runs that are certified.

A prediction is a quickly computed bound at an estimated noise. Certifying the noise of a run takes much more time, so
runs are compared by predictions, and only a few are certified.
"""

from __future__ import annotations

import contextlib
import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from epsilond.accountants.errors import EpsilondError
from epsilond.calibrators.mb_sgd.noise_estimates import NoiseEstimates, distance
from epsilond.calibrators.mb_sgd.problem import Run

PREDICTION_ERROR = 2e-3
"""Relative error that is assumed of predicted bounds, at most. A run that exceeds the limit by less is certified before
it is passed over. A run that is better than the best run by less is not certified."""


@dataclass(frozen=True, kw_only=True)
class RunFunctions:
    """Functions that give the noise and the risk bound of a run, by which a calibrator compares runs.

    Noises are standard deviations σ per coordinate, the root mean square over clients if they differ.

    Attributes:
        likely_noise: estimates the noise of a run.
        certified_noise: computes the certified noise of a run, which may take seconds.
        quick_risk: approximates the bound on the excess risk from a run and its noise, in less time.
        risk: computes this bound, as the answer states it, from a run and its noise.
        rarity: returns a number of a run, such that the noise of runs with close numbers is estimated with similar
            errors.
        reference: a run that is certified almost without work, or None. It only corrects estimates, so it may exceed
            the limits of the request on gradients and communication.
        cheap: returns whether a run is certified almost without work.
    """

    likely_noise: Callable[[Run], float]
    certified_noise: Callable[[Run], float]
    quick_risk: Callable[[Run, float], float]
    risk: Callable[[Run, float], float]
    rarity: Callable[[Run], float] = lambda _: 0.0
    reference: Run | None = None
    cheap: Callable[[Run], bool] = lambda _: False


@dataclass(frozen=True)
class CertifiedRun:
    """The certified noise of a run, and the bound on its excess risk at this noise.

    Attributes:
        noise: certified standard deviation σ per coordinate.
        risk: bound on the excess risk, in units of the loss.
        risk_ratio: this bound divided by its quick approximation; 1 if either is not finite or the latter not positive.
    """

    noise: float
    risk: float
    risk_ratio: float


@dataclass(frozen=True)
class _QuickBound:
    """The quick approximation of a risk bound, and the noise at which it was computed."""

    noise: float
    risk: float


class RunPredictions:
    """Bounds on the excess risk of candidate runs: certified for a few runs, and predicted for all others.

    Each certified run improves the predictions of the others. Its noise corrects their estimated noise, and the ratio
    of its bound to the quick approximation corrects theirs.

    Attributes:
        runs: the candidates in increasing size: by rounds, then by batch size.
        certified: the runs with a certified noise so far, each with this noise and its risk bound.
    """

    def __init__(self, runs: Iterable[Run], outlook: RunFunctions) -> None:
        """Prepare the predictions, and correct the estimated noise by that of the reference run if there is one.

        Args:
            runs: the candidates, at least one.
            outlook: their noises and bounds on the excess risk.
        """
        self.runs: Sequence[Run] = sorted(set(runs), key=size_of)
        self.certified: dict[Run, CertifiedRun] = {}
        self._outlook = outlook
        self._estimates = NoiseEstimates(self.runs, likely_noise=outlook.likely_noise, rarity=outlook.rarity)
        self._quick: dict[Run, _QuickBound] = {}  # the quick bound of each run, at the noise that was estimated last
        self._predicted: dict[Run, float] = {}  # predicted bounds under the current corrections
        if outlook.reference is not None:
            # The noise of the reference may be too large to be certified, although that of the answer is not.
            with contextlib.suppress(EpsilondError):
                self._estimates.correct(outlook.reference, outlook.certified_noise(outlook.reference))

    @property
    def best_certified(self) -> Run:
        """The certified run with the least bound on the excess risk."""
        return min(self.certified, key=lambda run: self.certified[run].risk)

    def certify(self, run: Run) -> None:
        """Certify the noise of a run, store its risk bound, and correct the estimates for other runs.

        Args:
            run: the run to certify.

        Raises:
            EpsilondError: no noise can be certified for the run.
        """
        noise = self._outlook.certified_noise(run)
        risk = self._outlook.risk(run, noise)
        quick_risk = self._outlook.quick_risk(run, noise)
        self.certified[run] = CertifiedRun(noise, risk, _finite_ratio(risk, quick_risk))
        # Earlier predictions used the estimates without this correction.
        self._estimates.correct(run, noise)
        self._predicted.clear()

    def noise(self, run: Run) -> float:
        """Return the estimate of a candidate's noise, standard deviation σ per coordinate, with all corrections."""
        return self._estimates.noise(run)

    def risk(self, run: Run) -> float:
        """Return the certified bound on a run's excess risk if it is certified, and the predicted bound otherwise.

        Args:
            run: one of the candidates.

        Returns:
            The bound in units of the loss. A prediction is cached until the next run is certified.
        """
        if run in self.certified:
            return self.certified[run].risk
        predicted = self._predicted.get(run)
        if predicted is None:
            predicted = self._predict(run)
            self._predicted[run] = predicted
        return predicted

    def _predict(self, run: Run) -> float:
        """Predict the bound on the excess risk of a run without certifying its noise.

        The prediction is the quick approximation of the bound at the estimated noise, times a correction. The
        correction is the ratio of the bound to its approximation for the nearest certified run, or 1 if there is none.

        Args:
            run: one of the candidates.

        Returns:
            The predicted bound, in units of the loss.
        """
        noise = self._estimates.noise(run)
        quick = self._quick.get(run)
        if quick is None or quick.noise != noise:
            quick = _QuickBound(noise, self._outlook.quick_risk(run, noise))
            self._quick[run] = quick
        nearest = min(self.certified, key=lambda certified_run: distance(certified_run, run), default=None)
        risk_ratio = 1.0 if nearest is None else self.certified[nearest].risk_ratio
        return quick.risk * risk_ratio

    def lower_bound(self, run: Run) -> float:
        """Return an approximate lower bound on the predicted risk bound of a run, without much work.

        A bound on the excess risk rises with the noise, at most with its square. The quick bound at an earlier noise σ₀
        is therefore multiplied by min(1, σ/σ₀)², where σ is the noise that is estimated now.

        Args:
            run: one of the candidates.

        Returns:
            The lower bound, in units of the loss. It is `risk` itself if that is known, or if there is no earlier quick
            bound.
        """
        if run in self.certified or run in self._predicted or run not in self._quick:
            return self.risk(run)
        earlier = self._quick[run]
        noise_ratio = min(1.0, self._estimates.noise(run) / earlier.noise)
        # The nearest certified run is not searched for, so the least ratio of any certified run is used.
        return earlier.risk * noise_ratio**2 * self._least_ratio * (1.0 - PREDICTION_ERROR)

    def best(self) -> Run:
        """Return the run with the least predicted bound on the excess risk; ties go to the smallest run.

        Runs are predicted in the order of their lower bounds, until a lower bound exceeds the least prediction. Most
        runs then need no prediction.

        Returns:
            One of the candidates, certified or not.
        """
        best_run = self.runs[0]
        least_risk = math.inf
        lower_bounds = {run: self.lower_bound(run) for run in self.runs}
        # Runs are in increasing size, which a stable sort keeps among equal lower bounds.
        for run in sorted(self.runs, key=lower_bounds.__getitem__):
            if lower_bounds[run] > least_risk:
                break
            risk = self.risk(run)
            is_smaller_tie = risk == least_risk and size_of(run) < size_of(best_run)
            if risk < least_risk or is_smaller_tie:
                best_run = run
                least_risk = risk
        return best_run

    def is_better(self, run: Run, rival: Run) -> bool:
        """Decide whether the certified or predicted bound of a run is below that of a rival."""
        rival_risk = self.risk(rival)
        # The lower bound takes less time, and often decides.
        return self.lower_bound(run) < rival_risk and self.risk(run) < rival_risk

    def may_be_within(self, run: Run, limit: float) -> bool:
        """Decide whether the bound on the excess risk of a run may be within a limit.

        Args:
            run: one of the candidates.
            limit: largest permitted bound, in units of the loss.

        Returns:
            True unless the certified bound exceeds the limit, or the predicted one exceeds it by more than the relative
            error `PREDICTION_ERROR`.
        """
        error = 0.0 if run in self.certified else PREDICTION_ERROR
        limit_with_error = limit * (1.0 + error)
        # The lower bound takes less time, and often excludes the run.
        return self.lower_bound(run) <= limit_with_error and self.risk(run) <= limit_with_error

    @property
    def _least_ratio(self) -> float:
        """The least ratio of a certified run's bound to its quick approximation; 1 if no run is certified."""
        return min((trial.risk_ratio for trial in self.certified.values()), default=1.0)


def size_of(run: Run) -> tuple[int, int]:
    """Return the sorting key of a run: its rounds, then its batch size."""
    return run.rounds, run.batch_size


def _finite_ratio(risk: float, quick_risk: float) -> float:
    """Return the ratio of a bound on the excess risk to its quick approximation.

    Args:
        risk: the bound, in units of the loss.
        quick_risk: its approximation, in the same units.

    Returns:
        The ratio; 1 if either is not finite, or if the approximation is not positive.
    """
    if 0.0 < quick_risk < math.inf and risk < math.inf:
        return risk / quick_risk
    return 1.0
