"""Choice of the run to answer with if rounds or batch size are open, and the trade-off that it is chosen from.

The bound on the excess risk keeps falling slightly as a run grows, so its minimum is not a sensible answer. The answer
is the smallest run, by rounds and then by batch size, whose bound is within a given factor of the best bound.

Certifying a run is expensive, so runs are compared at an estimated noise. The estimate is corrected by the certified
noise of similar runs. The best run and the answer are certified, and so is every smaller run close to the limit.

For Gaussian noise on random batches the correction is an increasing, concave function of n/(K√R), for n records,
batches of size K and R rounds. It equals that of a full batch where the sum of all rounds is nearly normal. Linear
interpolation between two certified runs is therefore not above the true correction: a run is rather certified in vain
than passed over.
"""

from __future__ import annotations

import bisect
import contextlib
import functools
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from epsilond.accountants.errors import EpsilondError, InvalidInput
from epsilond.accountants.numerics.root_search import bisect_integers
from epsilond.calibrators.answer import FrontierRun
from epsilond.calibrators.mb_sgd.problem import Run, Traffic
from epsilond.calibrators.serving.long_runs import LONG_BITS, SHORT_ROUNDS, is_long

Chosen_co = TypeVar("Chosen_co", covariant=True)
ROUNDS_RATIO, BATCH_RATIO = 1.1, 2.0
"""Ratios of neighbouring values of rounds and of batch sizes in the lattice that is searched."""
MOST_ROUNDS = 10**9
"""Largest number of rounds that is chosen. A longer run is answered only if the request gives its rounds."""
BEST_TRIALS = 3
MOST_TRIALS = 12
THRIFTY_TRIALS = 3
HAIR = 2e-3
"""Relative error that is assumed of predicted bounds, at most. A run that exceeds the limit by less is certified before
it is passed over. A run that is better than the best run by less is not certified."""
SHOWN = 12
"""Numbers of rounds at which the frontier is shown, in addition to the answer and the best run."""


@dataclass(frozen=True, kw_only=True)
class Outlook:
    """Functions by which a calibrator compares its runs.

    `risk` returns the bound of the answer at a noise, and `quick_risk` approximates it in less time. Noises are σ per
    coordinate, the root mean square over clients if they differ. `rarity` orders runs by the error of the estimated
    noise. `cheap` returns whether a run is certified almost without work. `reference` is a cheap run, if any exists; it
    may exceed the budgets.
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


def lattice(most: int, ratio: float) -> tuple[int, ...]:
    """Return integers from 1 to `most`, both included, each about `ratio` times the previous; none if `most` < 1."""
    values = [1] if most >= 1 else []
    while values and values[-1] < most:
        values.append(min(most, max(values[-1] + 1, int(values[-1] * ratio))))
    return tuple(values)


def runs_within(
    most_rounds: Callable[[int], int], *, rounds: int | None, batch_size: int | None, largest_batch: int
) -> list[Run]:
    """Return the lattice of runs within the budgets.

    At each number of rounds the largest batch that the budgets pay for is included.

    Args:
        most_rounds: batch size ↦ largest number of rounds that the budgets pay for.
        rounds: the number of rounds if the problem fixes it.
        batch_size: the batch size if the problem fixes it.
        largest_batch: the largest batch size to try.

    Raises:
        InvalidInput: the budgets leave no run.
    """
    most_rounds = functools.cache(most_rounds)
    all_rounds = lattice(min(most_rounds(batch_size or 1), MOST_ROUNDS), ROUNDS_RATIO) if rounds is None else (rounds,)
    runs = []
    for count in all_rounds:
        if batch_size is None:
            sizes = lattice(_largest(most_rounds, count, largest_batch), BATCH_RATIO)
        else:
            sizes = (batch_size,)
        runs += [Run(batch_size=size, rounds=count) for size in sizes if count <= most_rounds(size)]
    if not runs:
        raise InvalidInput.at("/max_gradients", "does not pay for the rounds; its default is 1000 · samples_per_client")
    return runs


def _largest(most_rounds: Callable[[int], int], rounds: int, largest_batch: int) -> int:
    """Return the largest batch size at which the budgets pay for `rounds` rounds, 0 if there is none."""
    return bisect_integers(lambda size: rounds <= most_rounds(size), 0, largest_batch + 1)


def smallest_run(runs: Sequence[Run], outlook: Outlook, *, within: float, traffic: Traffic) -> Choice[Run]:
    """Return the smallest run whose certified bound is at most (1 + within) times the best run's, and the frontier.

    Args:
        runs: the runs to choose from.
        outlook: their noises and bounds.
        within: tolerated relative excess over the best bound.
        traffic: bits per round.
    """
    if len(runs) == 1:
        return Choice(runs[0])
    survey = _Survey(runs, outlook)
    return Choice(survey.choose(within), survey.frontier(traffic, certify_shorter=True))


def smallest_likely_run(runs: Sequence[Run], outlook: Outlook, *, within: float, traffic: Traffic) -> Choice[Run]:
    """Choose as `smallest_run` does, but against a predicted best bound, as certificates take seconds each.

    Args:
        runs: the runs to choose from.
        outlook: their noises and bounds.
        within: tolerated relative excess over the best bound.
        traffic: bits per round.
    """
    if len(runs) == 1:
        return Choice(runs[0])
    survey = _Survey(runs, outlook)
    return Choice(survey.choose_thriftily(within), survey.frontier(traffic))


def _size(run: Run) -> tuple[int, int]:
    return run.rounds, run.batch_size


class _Survey:
    """The runs in increasing size, the results known for each, and the answer once it is chosen."""

    def __init__(self, runs: Sequence[Run], outlook: Outlook) -> None:
        self._outlook = outlook
        self._runs = sorted(set(runs), key=_size)
        self._likely = {run: outlook.likely_noise(run) for run in self._runs}
        self._rarity = {run: outlook.rarity(run) for run in self._runs}
        self._corrections: dict[float, list[tuple[Run, float]]] = {}
        """Certified runs and the corrections of their log noise, by rarity."""
        self._known_rarities: list[float] = []
        self._corrected = False
        """True if any correction is not 0."""
        self._noises: dict[Run, float] = {}
        self._found: dict[Run, _CertifiedRun] = {}
        self._seen: dict[Run, tuple[float, float]] = {}
        self._foreseen: dict[Run, float] = {}
        """Predicted bounds under the current corrections."""
        self._answer: Run | None = None
        if outlook.reference is not None:
            with contextlib.suppress(EpsilondError):  # it may need more noise than is offered, and the answer not
                self._correct(outlook.reference, outlook.certified_noise(outlook.reference))

    def choose(self, within: float) -> Run:
        """Return the smallest certified run whose bound is at most (1 + within) times the best certified bound."""
        self._certify_until(self._next_best, trials=BEST_TRIALS)
        self._certify_until(lambda: self._next_smallest(within), trials=MOST_TRIALS)
        limit = (1.0 + within) * self._found[self._best].risk
        self._answer = min((run for run, trial in self._found.items() if trial.risk <= limit), key=_size)
        return self._answer

    def _certify_until(self, following: Callable[[], Run | None], *, trials: int) -> None:
        """Certify the runs that `following` returns, until it returns None or `trials` runs were expensive."""
        run = following()
        while run is not None and trials > 0:
            self._certify(run)
            trials -= not self._outlook.cheap(run)
            run = following()

    def _next_best(self) -> Run | None:
        """Return the run with the best predicted bound, or None if a certified run is as good up to `HAIR`."""
        run = self._best_prediction()
        is_certified = self._found and self._prediction(run) * (1.0 + HAIR) >= self._found[self._best].risk
        return None if is_certified else run

    def _next_smallest(self, within: float) -> Run | None:
        """Return the smallest run whose prediction is within the limit, or None if that run is certified."""
        limit = (1.0 + within) * self._found[self._best].risk
        run = next(
            run
            for run in self._runs
            if self._lower_bound(run) <= self._tolerable_limit(run, limit)
            and self._prediction(run) <= self._tolerable_limit(run, limit)
        )
        return None if run in self._found else run

    def choose_thriftily(self, within: float) -> Run:
        """Certify the smallest run that is predicted to pass, and repeat until a run passes.

        After `THRIFTY_TRIALS` failures the best certified run is returned.
        """
        for _ in range(THRIFTY_TRIALS):
            limit = (1.0 + within) * min(map(self._prediction, self._runs))
            self._answer = next(run for run in self._runs if self._prediction(run) <= limit)
            if self._answer in self._found:
                return self._answer
            self._certify(self._answer)
            if self._found[self._answer].risk <= (1.0 + within) * min(map(self._prediction, self._runs)):
                return self._answer
        self._answer = self._best
        return self._answer

    @property
    def _best(self) -> Run:
        return min(self._found, key=lambda run: self._found[run].risk)

    def _tolerable_limit(self, run: Run, limit: float) -> float:
        return limit if run in self._found else limit * (1.0 + HAIR)

    def _certify(self, run: Run) -> None:
        noise = self._outlook.certified_noise(run)
        risk, expected = self._outlook.risk(run, noise), self._outlook.quick_risk(run, noise)
        self._found[run] = _CertifiedRun(noise, risk, _ratio(risk, expected))
        self._correct(run, noise)

    def _correct(self, run: Run, noise: float) -> None:
        likely = self._likely[run] if run in self._likely else self._outlook.likely_noise(run)
        correction = math.log(noise / likely)
        self._corrections.setdefault(self._outlook.rarity(run), []).append((run, correction))
        self._known_rarities = sorted(self._corrections)
        self._corrected = self._corrected or correction != 0.0
        self._noises.clear()
        self._foreseen.clear()

    def _noise(self, run: Run) -> float:
        """Return the estimated noise, corrected by interpolation between certified runs of adjacent rarity."""
        noise = self._noises.get(run)
        if noise is None:
            noise = self._noises[run] = self._likely[run] * math.exp(self._correction(run))
        return noise

    def _correction(self, run: Run) -> float:
        """Return the correction of the log of the estimated noise."""
        if not self._corrected:
            return 0.0
        rarity, rarities = self._rarity[run], self._known_rarities
        after = bisect.bisect_left(rarities, rarity)
        if after < len(rarities) and rarities[after] == rarity:
            return self._nearest(rarity, run)
        if after in (0, len(rarities)):
            return self._nearest(rarities[max(after - 1, 0)], run)
        low, high = rarities[after - 1], rarities[after]
        below, above = self._nearest(low, run), self._nearest(high, run)
        return below + (above - below) * (rarity - low) / (high - low)

    def _nearest(self, rarity: float, run: Run) -> float:
        """Return the correction of the nearest certified run of this rarity."""
        return min(self._corrections[rarity], key=lambda correction: _distance(correction[0], run))[1]

    def _prediction(self, run: Run) -> float:
        """Return the certified bound if the run is certified, and the predicted bound otherwise."""
        if run in self._found:
            return self._found[run].risk
        predicted = self._foreseen.get(run)
        if predicted is None:
            predicted = self._foreseen[run] = self._foresee(run)
        return predicted

    def _foresee(self, run: Run) -> float:
        noise = self._noise(run)
        if run not in self._seen or self._seen[run][0] != noise:
            self._seen[run] = noise, self._outlook.quick_risk(run, noise)
        near = min(self._found, key=lambda certified_run: _distance(certified_run, run), default=None)
        return self._seen[run][1] * (1.0 if near is None else self._found[near].risk_ratio)

    def _lower_bound(self, run: Run) -> float:
        """Return an approximate lower bound on a prediction: risks rise with the noise, at most with its square."""
        if run in self._found or run in self._foreseen or run not in self._seen:
            return self._prediction(run)
        noise, risk = self._seen[run]
        return risk * min(1.0, self._noise(run) / noise) ** 2 * self._least_ratio * (1.0 - HAIR)

    def _best_prediction(self) -> Run:
        """Return the smallest run among those with the best predicted bound, predicting only runs that may be best."""
        best, least = self._runs[0], math.inf
        for bound, place in sorted((self._lower_bound(run), place) for place, run in enumerate(self._runs)):
            if bound > least:
                break
            predicted = self._prediction(self._runs[place])
            if predicted < least or (predicted == least and _size(self._runs[place]) < _size(best)):
                best, least = self._runs[place], predicted
        return best

    @property
    def _least_ratio(self) -> float:
        return min((trial.risk_ratio for trial in self._found.values()), default=1.0)

    def frontier(self, traffic: Traffic, *, certify_shorter: bool = False) -> tuple[FrontierRun, ...]:
        """Return runs none of which is at least as good as another in rounds, batch size and bound.

        The answer and the best certified run are among them. If the answer is a long run, so is the run within
        `SHORT_ROUNDS` that is predicted to be best. The rest are at an estimated noise, and say so.

        Args:
            traffic: bits per round.
            certify_shorter: whether to certify the shorter run that stands for a long answer.

        Returns:
            The runs, fewest rounds first.
        """
        assert self._answer is not None
        shorter = self._shorter(traffic)
        if shorter is not None and certify_shorter and shorter not in self._found:
            with contextlib.suppress(EpsilondError):  # it may need more noise than is offered
                self._certify(shorter)
        runs = dict.fromkeys(run for run in (self._answer, self._best, shorter, *self._between()) if run is not None)
        for run in runs:
            if run not in self._found and self._outlook.cheap(run):
                self._certify(run)
        listed = [self._frontier_run(run, traffic) for run in runs]
        answer = listed[0]
        listed = [run for run in listed if not _dominates(run, answer)]
        undominated = [run for run in listed if not any(_dominates(rival, run) for rival in listed)]
        return tuple(sorted(undominated, key=lambda run: (run.rounds, run.batch_size)))

    def _shorter(self, traffic: Traffic) -> Run | None:
        """Return the best predicted run within `SHORT_ROUNDS` if the answer is a long run, else None."""
        assert self._answer is not None
        if not is_long(self._answer.rounds, traffic.bits_per_client * self._answer.rounds):
            return None
        most_rounds = min(SHORT_ROUNDS, max(1, LONG_BITS // traffic.bits_per_client))
        runs = [run for run in self._runs if run.rounds <= most_rounds]
        return min(runs, key=self._prediction, default=None)

    def _between(self) -> Iterator[Run]:
        """Yield the best run at rounds evenly spaced by logarithm, from the fewest to those of the best run."""
        best_at: dict[int, Run] = {}
        for run in self._runs:
            best_run = best_at.get(run.rounds)
            if best_run is None or (
                self._lower_bound(run) < self._prediction(best_run)
                and self._prediction(run) < self._prediction(best_run)
            ):
                best_at[run.rounds] = run
        best = self._best_prediction()
        offered = [rounds for rounds in best_at if rounds <= max(best.rounds, self._best.rounds)]
        least, most = offered[0], offered[-1]
        for place in range(SHOWN):
            wanted = least * (most / least) ** (place / (SHOWN - 1))
            yield best_at[min(offered, key=lambda rounds: abs(math.log(rounds / wanted)))]

    def _frontier_run(self, run: Run, traffic: Traffic) -> FrontierRun:
        certified = self._found.get(run)
        noise = self._noise(run) if certified is None else certified.noise
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


def _distance(left: Run, right: Run) -> float:
    """Return the Euclidean distance of two runs in the logarithms of rounds and batch size."""
    return math.hypot(math.log(left.rounds / right.rounds), math.log(left.batch_size / right.batch_size))


def _ratio(risk: float, expected: float) -> float:
    return risk / expected if 0.0 < expected < math.inf and risk < math.inf else 1.0


def _dominates(run: FrontierRun, rival: FrontierRun) -> bool:
    """Return whether a run is at least as good as a rival in rounds, batch size and bound, and better in any."""
    pairs = [(run.rounds, rival.rounds), (run.batch_size, rival.batch_size), (run.risk, rival.risk)]
    return all(mine <= theirs for mine, theirs in pairs) and any(mine < theirs for mine, theirs in pairs)
