"""Choice of the run to answer with if rounds or batch size are open, and the trade-off that it is chosen from.

The bound on the excess risk keeps falling slightly as a run grows, so its minimum is not a sensible answer. The answer
is the smallest run, by rounds and then by batch size, whose bound is within a given factor of the best bound.

Certifying a run is expensive, so runs are compared at an estimated noise. The estimate is corrected by the certified
noise of similar runs. The best run and the answer are certified, and so is every smaller run close to the limit. A
prediction is the bound on the excess risk at an estimated noise.

For Gaussian noise on random batches the correction is an increasing, concave function of n/(K√R), for n records,
batches of size K and R rounds. It equals that of a full batch where the sum of all rounds is nearly normal. Linear
interpolation between two certified runs is therefore not above the true correction: a run is rather certified in vain
than passed over.
"""

from __future__ import annotations

import contextlib
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from epsilond.accountants.errors import EpsilondError
from epsilond.calibrators.answer import FrontierRun
from epsilond.calibrators.mb_sgd.noise_estimates import NoiseEstimates, distance
from epsilond.calibrators.mb_sgd.problem import Run, Traffic
from epsilond.calibrators.serving.long_runs import LONG_BITS, SHORT_ROUNDS, is_long

Chosen_co = TypeVar("Chosen_co", covariant=True)
BEST_TRIALS = 3
"""Limit on the expensive certificates that are spent on the best run."""
MOST_TRIALS = 12
"""Limit on the further expensive certificates that are spent on the smallest run."""
THRIFTY_TRIALS = 3
"""Limit on the certificates if each takes seconds."""
PREDICTION_ERROR = 2e-3
"""Relative error that is assumed of predicted bounds, at most. A run that exceeds the limit by less is certified before
it is passed over. A run that is better than the best run by less is not certified."""
SPACED_ROUNDS = 12
"""Numbers of rounds in the frontier, in addition to those of the answer and the best run."""


@dataclass(frozen=True, kw_only=True)
class Outlook:
    """Functions that give the noise and the risk bound of a run, by which a calibrator compares runs.

    Noises are standard deviations σ per coordinate, the root mean square over clients if they differ.

    Attributes:
        likely_noise: run ↦ estimate of its noise.
        certified_noise: run ↦ its certified noise, which may take seconds to compute.
        quick_risk: (run, noise) ↦ approximation of the bound on the excess risk, in less time.
        risk: (run, noise) ↦ the bound on the excess risk, as the answer states it.
        rarity: run ↦ a number that orders runs by the error of the estimated noise.
        reference: a run that is certified almost without work, or None; it may exceed the budgets.
        cheap: run ↦ whether it is certified almost without work.
    """

    likely_noise: Callable[[Run], float]
    certified_noise: Callable[[Run], float]
    quick_risk: Callable[[Run, float], float]
    risk: Callable[[Run, float], float]
    rarity: Callable[[Run], float] = lambda _: 0.0
    reference: Run | None = None
    cheap: Callable[[Run], bool] = lambda _: False


@dataclass(frozen=True)
class Choice(Generic[Chosen_co]):
    """The run to answer with, and the frontier; it is None if nothing was to be chosen or no bound applies."""

    run: Chosen_co
    frontier: tuple[FrontierRun, ...] | None = None


@dataclass(frozen=True)
class _CertifiedRun:
    """The noise and the bound of a certified run, and the ratio of the bound to its quick approximation."""

    noise: float
    risk: float
    risk_ratio: float


def smallest_run(runs: Sequence[Run], outlook: Outlook, *, within: float, traffic: Traffic) -> Choice[Run]:
    """Choose the smallest run with a certified risk bound of at most (1 + within) times the best one.

    Args:
        runs: the runs to choose from, in increasing size.
        outlook: their noises and bounds on the excess risk.
        within: tolerated relative excess over the best bound.
        traffic: bits per round.

    Returns:
        The run, with the frontier: alternatives of which none is at least as good as another in rounds, batch size
        and bound. A single run is returned as it is, without a frontier.

    Raises:
        EpsilondError: no noise can be certified for a run that is tried.
    """
    if len(runs) == 1:
        return Choice(runs[0])
    survey = _Survey(runs, outlook)
    return Choice(survey.choose(within), survey.frontier(traffic, certify_shorter=True))


def smallest_likely_run(runs: Sequence[Run], outlook: Outlook, *, within: float, traffic: Traffic) -> Choice[Run]:
    """Choose a small run with a certified risk bound of at most (1 + within) times the best predicted one.

    It needs fewer certificates than `smallest_run`, for algorithms in which each takes seconds.

    Args:
        runs: the runs to choose from, in increasing size.
        outlook: their noises and bounds on the excess risk.
        within: tolerated relative excess over the best bound.
        traffic: bits per round.

    Returns:
        The run, with the frontier: alternatives of which none is at least as good as another in rounds, batch size
        and bound. A single run is returned as it is, without a frontier.

    Raises:
        EpsilondError: no noise can be certified for a run that is tried.
    """
    if len(runs) == 1:
        return Choice(runs[0])
    survey = _Survey(runs, outlook)
    return Choice(survey.choose_thriftily(within), survey.frontier(traffic))


def _size(run: Run) -> tuple[int, int]:
    """Return the sorting key of a run: its rounds, then its batch size."""
    return run.rounds, run.batch_size


class _Survey:
    """The runs in increasing size, the results known for each, and the answer once it is chosen."""

    def __init__(self, runs: Sequence[Run], outlook: Outlook) -> None:
        self._outlook = outlook
        self._runs = sorted(set(runs), key=_size)
        self._estimates = NoiseEstimates(self._runs, likely_noise=outlook.likely_noise, rarity=outlook.rarity)
        # Runs of which the noise is certified; it is the slow part.
        self._certified: dict[Run, _CertifiedRun] = {}
        self._quick: dict[Run, tuple[float, float]] = {}
        """The last noise at which the quick bound was computed, and that bound."""
        self._predicted: dict[Run, float] = {}
        """Predicted bounds under the current corrections."""
        self._answer: Run | None = None
        if outlook.reference is not None:
            with contextlib.suppress(EpsilondError):  # it may need more noise than is offered, and the answer not
                self._estimates.correct(outlook.reference, outlook.certified_noise(outlook.reference))

    def choose(self, within: float) -> Run:
        """Choose the smallest certified run with a risk bound of at most (1 + within) times the best certified bound.

        First the runs with the least predicted bounds are certified, then smaller runs that may be good enough. The
        chosen run is stored for `frontier`.

        Args:
            within: relative tolerance of the risk bound, at least 0.

        Returns:
            The run with the least rounds and batch size among the certified runs within the tolerance.
        """
        self._certify_until(self._next_best, trials=BEST_TRIALS)
        self._certify_until(lambda: self._next_smallest(within), trials=MOST_TRIALS)
        limit = (1.0 + within) * self._certified[self._best].risk
        self._answer = min((run for run, trial in self._certified.items() if trial.risk <= limit), key=_size)
        return self._answer

    def _certify_until(self, following: Callable[[], Run | None], *, trials: int) -> None:
        """Certify one run after another, until none follows or too many expensive ones were certified.

        Args:
            following: function that returns the next run to certify, or None.
            trials: largest number of runs that are expensive to certify.
        """
        run = following()
        while run is not None and trials > 0:
            self._certify(run)
            if not self._outlook.cheap(run):
                trials -= 1
            run = following()

    def _next_best(self) -> Run | None:
        """Return the run with the best predicted bound, or None if a certified run is as good.

        "As good" allows for the relative error `PREDICTION_ERROR` of a prediction.
        """
        run = self._best_prediction()
        if self._certified and self._prediction(run) * (1.0 + PREDICTION_ERROR) >= self._certified[self._best].risk:
            return None
        return run

    def _next_smallest(self, within: float) -> Run | None:
        """Return the smallest run with a bound or prediction within the limit, or None if that run is certified.

        The limit is (1 + within) times the best certified bound.
        """
        limit = (1.0 + within) * self._certified[self._best].risk
        run = next(run for run in self._runs if self._may_be_within(run, limit))
        return None if run in self._certified else run

    def _may_be_within(self, run: Run, limit: float) -> bool:
        """Decide whether the bound of a run may be within a limit.

        For a prediction the limit is increased by the relative error `PREDICTION_ERROR`. The lower bound on a
        prediction takes less time, and often suffices to exclude the run.
        """
        if run not in self._certified:
            limit *= 1.0 + PREDICTION_ERROR
        return self._lower_bound(run) <= limit and self._prediction(run) <= limit

    def choose_thriftily(self, within: float) -> Run:
        """Choose a small certified run with a risk bound of at most (1 + within) times the least predicted bound.

        The smallest run that is predicted to meet this limit is certified, until a certified run meets it. After
        `THRIFTY_TRIALS` failures the best certified run is chosen. The chosen run is stored for `frontier`.
        """
        for _ in range(THRIFTY_TRIALS):
            limit = (1.0 + within) * min(map(self._prediction, self._runs))
            self._answer = next(run for run in self._runs if self._prediction(run) <= limit)
            if self._answer in self._certified:
                return self._answer
            self._certify(self._answer)
            if self._certified[self._answer].risk <= (1.0 + within) * min(map(self._prediction, self._runs)):
                return self._answer
        self._answer = self._best
        return self._answer

    @property
    def _best(self) -> Run:
        """The certified run with the least bound."""
        return min(self._certified, key=lambda run: self._certified[run].risk)

    def _certify(self, run: Run) -> None:
        """Certify a run, store its noise and its risk bound, and correct the estimates for other runs by them.

        Raises:
            EpsilondError: no noise can be certified for the run.
        """
        noise = self._outlook.certified_noise(run)
        risk = self._outlook.risk(run, noise)
        expected = self._outlook.quick_risk(run, noise)
        self._certified[run] = _CertifiedRun(noise, risk, _ratio(risk, expected))
        self._estimates.correct(run, noise)
        self._predicted.clear()

    def _prediction(self, run: Run) -> float:
        """Return the certified bound if the run is certified, and the predicted bound otherwise."""
        if run in self._certified:
            return self._certified[run].risk
        predicted = self._predicted.get(run)
        if predicted is None:
            predicted = self._predicted[run] = self._predict(run)
        return predicted

    def _predict(self, run: Run) -> float:
        """Predict the bound on the excess risk of a run that need not be certified.

        The prediction is the quickly computed bound at the estimated noise, times a correction. The correction is the
        ratio of the answer's bound to the quick one for the nearest certified run, or 1 if there is none.
        """
        noise = self._estimates.noise(run)
        if run not in self._quick or self._quick[run][0] != noise:
            self._quick[run] = noise, self._outlook.quick_risk(run, noise)
        nearest = min(self._certified, key=lambda certified_run: distance(certified_run, run), default=None)
        risk_ratio = 1.0 if nearest is None else self._certified[nearest].risk_ratio
        return self._quick[run][1] * risk_ratio

    def _lower_bound(self, run: Run) -> float:
        """Return an approximate lower bound on the predicted risk bound of a run, without much work.

        A bound on the excess risk rises with the noise, at most with its square. The quick bound at an earlier noise σ₀
        is therefore multiplied by min(1, σ/σ₀)², where σ is the noise that is estimated now.
        """
        if run in self._certified or run in self._predicted or run not in self._quick:
            return self._prediction(run)
        earlier_noise, earlier_risk = self._quick[run]
        noise_ratio = min(1.0, self._estimates.noise(run) / earlier_noise)
        return earlier_risk * noise_ratio**2 * self._least_ratio * (1.0 - PREDICTION_ERROR)

    def _best_prediction(self) -> Run:
        """Return the run with the least predicted bound on the excess risk, the smallest one if several runs share it.

        Runs are predicted in the order of their lower bounds, until a lower bound exceeds the least prediction.
        """
        best, least = self._runs[0], math.inf
        lower_bounds = {run: self._lower_bound(run) for run in self._runs}
        # Runs are in increasing size, which a stable sort keeps among equal lower bounds.
        for run in sorted(self._runs, key=lower_bounds.__getitem__):
            if lower_bounds[run] > least:
                break
            predicted = self._prediction(run)
            if predicted < least or (predicted == least and _size(run) < _size(best)):
                best, least = run, predicted
        return best

    @property
    def _least_ratio(self) -> float:
        """The least ratio of a certified run's bound to its quick approximation; 1 if no run is certified."""
        return min((trial.risk_ratio for trial in self._certified.values()), default=1.0)

    def frontier(self, traffic: Traffic, *, certify_shorter: bool = False) -> tuple[FrontierRun, ...]:
        """Return runs none of which is at least as good as another in rounds, batch size and bound.

        The answer and the best certified run are among them. If the answer is long, with many rounds or much traffic,
        so is the best predicted run within `SHORT_ROUNDS`. Runs that are not certified have an estimated noise.

        Args:
            traffic: bits per round.
            certify_shorter: whether to certify the shorter run that a long answer is compared with.
        """
        assert self._answer is not None  # a run has been chosen
        shorter = self._best_short_run(traffic)
        if shorter is not None and certify_shorter and shorter not in self._certified:
            with contextlib.suppress(EpsilondError):  # it may need more noise than is offered
                self._certify(shorter)
        runs = [self._answer, self._best]
        if shorter is not None:
            runs.append(shorter)
        runs = list(dict.fromkeys([*runs, *self._runs_at_spaced_rounds()]))  # each run once, the answer first
        for run in runs:
            if run not in self._certified and self._outlook.cheap(run):
                self._certify(run)
        answer, *further = [self._frontier_run(run, traffic) for run in runs]
        # A run that dominates the answer is left out, so that the answer is always in the frontier.
        candidates = [answer, *(run for run in further if not _dominates(run, answer))]
        undominated = [run for run in candidates if not any(_dominates(rival, run) for rival in candidates)]
        return tuple(sorted(undominated, key=lambda run: (run.rounds, run.batch_size)))

    def _best_short_run(self, traffic: Traffic) -> Run | None:
        """Return the best predicted run within `SHORT_ROUNDS` if the answer is a long run, else None."""
        assert self._answer is not None
        if not is_long(self._answer.rounds, traffic.bits_per_client * self._answer.rounds):
            return None
        most_rounds = min(SHORT_ROUNDS, max(1, LONG_BITS // traffic.bits_per_client))
        runs = [run for run in self._runs if run.rounds <= most_rounds]
        return min(runs, key=self._prediction, default=None)

    def _runs_at_spaced_rounds(self) -> Iterator[Run]:
        """Yield runs with few to many rounds, each the one with the best predicted risk bound at its number of rounds.

        There are `SPACED_ROUNDS` numbers of rounds, evenly spaced in their logarithm, from the fewest rounds to those
        of the best run.
        """
        best_at: dict[int, Run] = {}
        for run in self._runs:
            rival = best_at.get(run.rounds)
            if rival is None or self._is_predicted_better(run, rival):
                best_at[run.rounds] = run
        best = self._best_prediction()
        offered = [rounds for rounds in best_at if rounds <= max(best.rounds, self._best.rounds)]
        least, most = offered[0], offered[-1]
        for index in range(SPACED_ROUNDS):
            spaced_rounds = least * (most / least) ** (index / (SPACED_ROUNDS - 1))
            yield best_at[min(offered, key=lambda rounds: abs(math.log(rounds / spaced_rounds)))]

    def _is_predicted_better(self, run: Run, rival: Run) -> bool:
        """Decide whether the prediction of a run is below that of a rival; its lower bound is tried first."""
        rival_risk = self._prediction(rival)
        return self._lower_bound(run) < rival_risk and self._prediction(run) < rival_risk

    def _frontier_run(self, run: Run, traffic: Traffic) -> FrontierRun:
        """Describe a run as an entry of the frontier, with its certified noise or, without one, an estimate.

        The frontier has the runs of which none is at least as good as another in rounds, batch size and risk bound.

        Args:
            run: rounds and batch size of the run.
            traffic: bits of one round.
        """
        certified = self._certified.get(run)
        noise = self._estimates.noise(run) if certified is None else certified.noise
        return FrontierRun(
            rounds=run.rounds,
            batch_size=run.batch_size,
            risk=self._outlook.risk(run, noise) if certified is None else certified.risk,
            noise_std=noise,
            certified=certified is not None,
            chosen=run == self._answer,
            bits_per_client=traffic.bits_per_client * run.rounds,
            total_bits=traffic.bits_per_round * run.rounds,
        )


def _ratio(risk: float, expected: float) -> float:
    """Return the ratio of a bound to its quick approximation; 1 if it is not finite."""
    if 0.0 < expected < math.inf and risk < math.inf:
        return risk / expected
    return 1.0


def _dominates(run: FrontierRun, rival: FrontierRun) -> bool:
    """Decide whether a run is at least as good as a rival in rounds, batch size and bound, and better in one."""
    pairs = [(run.rounds, rival.rounds), (run.batch_size, rival.batch_size), (run.risk, rival.risk)]
    is_as_good = all(value <= rival_value for value, rival_value in pairs)
    return is_as_good and any(value < rival_value for value, rival_value in pairs)
