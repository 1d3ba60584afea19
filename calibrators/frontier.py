"""Choice of the run to answer with if rounds or batch size are open, and the trade-off that it is chosen from.

The bound on the excess risk keeps falling slightly as a run grows, so its minimum is not a sensible answer. The answer
is the smallest run, by rounds and then by batch size, with a bound within a given factor of the best bound.

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
from epsilond.calibrators.mb_sgd.problem import Run, Traffic
from epsilond.calibrators.mb_sgd.run_predictions import PREDICTION_ERROR, RunFunctions, RunPredictions, size_of
from epsilond.calibrators.serving.long_runs import LONG_BITS, SHORT_ROUNDS, is_long

Chosen_co = TypeVar("Chosen_co", covariant=True)
BEST_TRIALS = 3
"""Limit on the expensive certificates that are spent on the best run."""
MOST_TRIALS = 12
"""Limit on the further expensive certificates that are spent on the smallest run."""
THRIFTY_TRIALS = 3
"""Limit on the certificates if each takes seconds."""
SPACED_ROUNDS = 12
"""Numbers of rounds in the frontier, in addition to those of the answer and the best run."""


@dataclass(frozen=True)
class Choice(Generic[Chosen_co]):
    """The run to answer with, and the alternatives that it was chosen from.

    Attributes:
        run: the run; its class depends on the algorithm.
        frontier: the efficient alternatives: no run of them is at least as good as another in rounds, batch size and
            risk bound. None if nothing was to be chosen or if no theorem bounds the risk.
    """

    run: Chosen_co
    frontier: tuple[FrontierRun, ...] | None = None


def smallest_run(runs: Sequence[Run], outlook: RunFunctions, *, within: float, traffic: Traffic) -> Choice[Run]:
    """Choose the smallest run with a certified bound on the excess risk of at most (1 + within) times the best one.

    Args:
        runs: the runs to choose from, by increasing rounds and then by increasing batch size.
        outlook: estimates and certificates of the runs' noise, and the resulting bounds on the excess risk.
        within: tolerated relative excess over the best bound, at least 0.
        traffic: bits that are sent in a round.

    Returns:
        The run, with the frontier: alternatives of which none is at least as good as another in rounds, batch size
        and bound. A single run is returned as it is, without a frontier.

    Raises:
        EpsilondError: no noise can be certified for a run that is tried.
    """
    if len(runs) == 1:
        return Choice(runs[0])
    survey = _Survey(runs, outlook)
    chosen = survey.choose(within)
    return Choice(chosen, survey.frontier(traffic, certify_shorter=True))


def smallest_likely_run(runs: Sequence[Run], outlook: RunFunctions, *, within: float, traffic: Traffic) -> Choice[Run]:
    """Choose a small run with few certificates, for algorithms in which a certificate takes seconds.

    Its certified bound on the excess risk is at most (1 + within) times the least predicted one. If no such run is
    found in `THRIFTY_TRIALS` certificates, the best certified run is chosen, which may exceed this limit.

    Args:
        runs: the runs to choose from, by increasing rounds and then by increasing batch size.
        outlook: estimates and certificates of the runs' noise, and the resulting bounds on the excess risk.
        within: tolerated relative excess over the least bound, at least 0.
        traffic: bits that are sent in a round.

    Returns:
        The run, with the frontier: alternatives of which none is at least as good as another in rounds, batch size
        and bound. A single run is returned as it is, without a frontier.

    Raises:
        EpsilondError: no noise can be certified for a run that is tried.
    """
    if len(runs) == 1:
        return Choice(runs[0])
    survey = _Survey(runs, outlook)
    chosen = survey.choose_thriftily(within)
    return Choice(chosen, survey.frontier(traffic))


class _Survey:
    """A comparison of runs by the bounds on their excess risk, which ends with the choice of one run.

    The bounds are certified for a few runs, and predicted for the others. The chosen run is stored for `frontier`.
    """

    def __init__(self, runs: Sequence[Run], outlook: RunFunctions) -> None:
        """Prepare the comparison of runs by their bounds on the excess risk.

        Args:
            runs: the runs to choose from, by increasing rounds and then by increasing batch size.
            outlook: estimates and certificates of the runs' noise, and the resulting bounds on the excess risk.
        """
        self._outlook = outlook
        self._bounds = RunPredictions(runs, outlook)
        self._answer: Run | None = None

    def choose(self, within: float) -> Run:
        """Choose the smallest certified run with a risk bound of at most (1 + within) times the best certified bound.

        First the runs with the least predicted bounds are certified, then smaller runs that may be good enough. The
        numbers of expensive certificates are limited. The chosen run is stored for `frontier`.

        Args:
            within: relative tolerance of the risk bound, at least 0.

        Returns:
            The run with the least rounds and batch size among the certified runs within the tolerance.

        Raises:
            EpsilondError: no noise can be certified for a run that is tried.
        """
        self._certify_until(self._next_best, trials=BEST_TRIALS)
        self._certify_until(lambda: self._next_smallest(within), trials=MOST_TRIALS)
        limit = self._certified_limit(within)
        good_runs = [run for run, trial in self._bounds.certified.items() if trial.risk <= limit]
        self._answer = min(good_runs, key=size_of)
        return self._answer

    def _certified_limit(self, within: float) -> float:
        """Return the largest acceptable risk bound, which is (1 + within) times the best certified one."""
        best_risk = self._bounds.certified[self._bounds.best_certified].risk
        return (1.0 + within) * best_risk

    def _certify_until(self, next_run: Callable[[], Run | None], *, trials: int) -> None:
        """Certify one run after another, until none is left or too many expensive ones were certified.

        Args:
            next_run: function that returns the next run to certify, or None to stop.
            trials: largest number of runs that are expensive to certify; cheap ones are not counted.

        Raises:
            EpsilondError: no noise can be certified for one of the runs.
        """
        remaining_trials = trials
        run = next_run()
        while run is not None and remaining_trials > 0:
            self._bounds.certify(run)
            if not self._outlook.cheap(run):
                remaining_trials -= 1
            run = next_run()

    def _next_best(self) -> Run | None:
        """Return the run with the least predicted bound on the excess risk, as the next run to certify.

        Returns:
            The run; None if its prediction is not below the best certified bound by more than `PREDICTION_ERROR`, the
            relative error of a prediction.
        """
        run = self._bounds.best()
        if not self._bounds.certified:
            return run
        best_certified_risk = self._bounds.certified[self._bounds.best_certified].risk
        if self._bounds.risk(run) * (1.0 + PREDICTION_ERROR) >= best_certified_risk:
            return None
        return run

    def _next_smallest(self, within: float) -> Run | None:
        """Return the smallest run with a risk bound that may be within the limit, as the next run to certify.

        Args:
            within: relative tolerance. The limit is (1 + within) times the best certified bound.

        Returns:
            The run; None if it is certified already, so that the search is over.
        """
        limit = self._certified_limit(within)
        run = next(run for run in self._bounds.runs if self._bounds.may_be_within(run, limit))
        return None if run in self._bounds.certified else run

    def choose_thriftily(self, within: float) -> Run:
        """Choose a small certified run with a risk bound of at most (1 + within) times the least predicted bound.

        The smallest run that is predicted to meet this limit is certified, until a certified run meets it. After
        `THRIFTY_TRIALS` failures the best certified run is chosen. The chosen run is stored for `frontier`.

        Args:
            within: relative tolerance of the risk bound, at least 0.

        Returns:
            The chosen run, which is certified.

        Raises:
            EpsilondError: no noise can be certified for a run that is tried.
        """
        for _ in range(THRIFTY_TRIALS):
            limit = self._predicted_limit(within)
            candidate = next(run for run in self._bounds.runs if self._bounds.risk(run) <= limit)
            self._answer = candidate
            if candidate in self._bounds.certified:
                return candidate
            # The certificate also corrects the predictions of other runs, and so the limit.
            self._bounds.certify(candidate)
            if self._bounds.certified[candidate].risk <= self._predicted_limit(within):
                return candidate
        self._answer = self._bounds.best_certified
        return self._answer

    def _predicted_limit(self, within: float) -> float:
        """Return (1 + within) times the least risk bound of all runs, predicted unless the run is certified."""
        least_risk = min(map(self._bounds.risk, self._bounds.runs))
        return (1.0 + within) * least_risk

    def frontier(self, traffic: Traffic, *, certify_shorter: bool = False) -> tuple[FrontierRun, ...]:
        """Return the chosen run together with alternative runs, none of which dominates another.

        A run dominates another if it is nowhere worse and somewhere better, in rounds, batch size and risk bound.
        Candidates are the chosen run, the best certified run, and the best predicted runs at several numbers of rounds.
        If the chosen run is long, with many rounds or much traffic, the best predicted short run is another candidate.
        Runs that are not certified have an estimated noise.

        Args:
            traffic: bits that are sent in a round.
            certify_shorter: whether to certify the short run that a long run is compared with.

        Returns:
            The runs by increasing rounds, and by increasing batch size among runs with equal rounds.
        """
        assert self._answer is not None  # a run has been chosen
        shorter = self._best_short_run(traffic)
        if shorter is not None and certify_shorter:
            self._try_to_certify(shorter)
        runs = [self._answer, self._bounds.best_certified]
        if shorter is not None:
            runs.append(shorter)
        # Remove repeated runs, and keep the order.
        runs = list(dict.fromkeys([*runs, *self._runs_at_spaced_rounds()]))
        for run in runs:
            if run not in self._bounds.certified and self._outlook.cheap(run):
                self._bounds.certify(run)

        # Runs that dominate the answer are left out, so that the answer is always in the frontier.
        answer, *further = [self._frontier_run(run, traffic) for run in runs]
        candidates = [answer, *(run for run in further if not _dominates(run, answer))]
        undominated = [run for run in candidates if not any(_dominates(rival, run) for rival in candidates)]
        return tuple(sorted(undominated, key=lambda run: (run.rounds, run.batch_size)))

    def _try_to_certify(self, run: Run) -> None:
        """Certify a run unless it is certified already; do nothing if no noise can be certified for it."""
        if run in self._bounds.certified:
            return
        with contextlib.suppress(EpsilondError):
            self._bounds.certify(run)

    def _best_short_run(self, traffic: Traffic) -> Run | None:
        """Return the run with the best predicted bound among short runs, if the chosen run is long.

        A run is short if it has at most `SHORT_ROUNDS` rounds, and at most `LONG_BITS` bits of traffic per client.

        Args:
            traffic: bits that are sent in a round.

        Returns:
            The run; None if the chosen run is not long, or if there is no short run.
        """
        assert self._answer is not None  # a run has been chosen
        bits_of_answer = traffic.bits_per_client * self._answer.rounds
        if not is_long(self._answer.rounds, bits_of_answer):
            return None
        rounds_within_traffic = max(1, LONG_BITS // traffic.bits_per_client)
        most_rounds = min(SHORT_ROUNDS, rounds_within_traffic)
        short_runs = [run for run in self._bounds.runs if run.rounds <= most_rounds]
        return min(short_runs, key=self._bounds.risk, default=None)

    def _runs_at_spaced_rounds(self) -> Iterator[Run]:
        """Yield the runs with the best predicted risk bound at `SPACED_ROUNDS` different numbers of rounds.

        These numbers are nearly evenly spaced by logarithm, from the fewest rounds to those of the best run.

        Yields:
            Candidates by increasing rounds; some may be repeated.
        """
        # Runs, and so the keys of the mapping, are in the order of increasing rounds.
        best_at: dict[int, Run] = {}
        for run in self._bounds.runs:
            rival = best_at.get(run.rounds)
            if rival is None or self._bounds.is_better(run, rival):
                best_at[run.rounds] = run

        most_useful = max(self._bounds.best().rounds, self._bounds.best_certified.rounds)
        available = [rounds for rounds in best_at if rounds <= most_useful]
        least, most = available[0], available[-1]
        for index in range(SPACED_ROUNDS):
            # Geometric interpolation between the fewest and the most rounds, and the nearest available number.
            fraction = index / (SPACED_ROUNDS - 1)
            spaced_rounds = least * (most / least) ** fraction
            yield best_at[min(available, key=lambda rounds: abs(math.log(rounds / spaced_rounds)))]

    def _frontier_run(self, run: Run, traffic: Traffic) -> FrontierRun:
        """Describe a run for an answer: its size, noise, risk bound and traffic.

        The noise and the risk bound are certified if the run has been certified. Otherwise they are estimates.

        Args:
            run: rounds and batch size of the run.
            traffic: bits that are sent in a round.
        """
        certified = self._bounds.certified.get(run)
        if certified is None:
            noise = self._bounds.noise(run)
            risk = self._outlook.risk(run, noise)
        else:
            noise = certified.noise
            risk = certified.risk
        return FrontierRun(
            rounds=run.rounds,
            batch_size=run.batch_size,
            risk=risk,
            noise_std=noise,
            certified=certified is not None,
            chosen=run == self._answer,
            bits_per_client=traffic.bits_per_client * run.rounds,
            total_bits=traffic.bits_per_round * run.rounds,
        )


def _dominates(run: FrontierRun, rival: FrontierRun) -> bool:
    """Decide whether a run dominates a rival, that is, whether it is nowhere worse and somewhere better.

    The runs are compared in rounds, batch size and bound on the excess risk. Smaller is better for each.
    """
    pairs = [(run.rounds, rival.rounds), (run.batch_size, rival.batch_size), (run.risk, rival.risk)]
    is_as_good = all(value <= rival_value for value, rival_value in pairs)
    is_better_in_one = any(value < rival_value for value, rival_value in pairs)
    return is_as_good and is_better_in_one
