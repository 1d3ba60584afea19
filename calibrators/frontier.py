"""Which run to answer with where rounds or batch size are left open, and the trade-off that it is chosen from.

The bound on the excess risk keeps falling by a hair as a run grows, so its least value is no sensible answer. The
answer is the smallest run, fewest rounds and then least batch, whose bound is within a share of the best one's.

To certify one run is dear, so runs are compared at a noise that is likely, corrected by what certified runs like them
turned out to need; the best run and the answer are certified, and so is every smaller run that comes close to the
limit. For Gaussian noise on drawn batches the correction is that of a full batch where the sum of all rounds is nearly
normal, and grows with n/(K√R), the more slowly the larger that is: drawn straight between two certified runs it is not
above the truth, so that a run is rather certified in vain than passed over.
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
"""Of neighbouring values of the lattice that is searched."""
MOST_ROUNDS = 10**9
"""Longer runs are answered where they are asked for, and never chosen."""
BEST_TRIALS = 3
MOST_TRIALS = 12
THRIFTY_TRIALS = 3
HAIR = 2e-3
"""Predicted bounds are taken to be wrong by no more: a run that exceeds the limit by less is certified before it is
passed over, and one that is better than the best by less is not."""
SHOWN = 12
"""Numbers of rounds at which the frontier is shown, beside the answer and the best run."""


@dataclass(frozen=True, kw_only=True)
class Outlook:
    """What a calibrator knows of its runs.

    `risk` is the bound that is answered, at a noise; `quick_risk` is about that bound, sooner. Noises are σ per
    coordinate, the root mean square over clients where they differ. `rarity` orders runs by how the likely noise errs;
    `reference` is a run, within the budgets or not, that is certified in no time, if there is one. `cheap` tells
    all such runs.
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
    """The run to answer with, and the frontier; None where nothing was to be chosen or no bound applies."""

    run: Chosen_co
    frontier: tuple[FrontierRun, ...] | None = None


@dataclass(frozen=True)
class _CertifiedRun:
    """A certified run: its noise and its bound, and the bound over what was expected at that noise."""

    noise: float
    risk: float
    risk_ratio: float


def lattice(most: int, ratio: float) -> tuple[int, ...]:
    """Whole numbers from 1 up to `most`, both included, each about `ratio` times the one before; none below 1."""
    values = [1] if most >= 1 else []
    while values and values[-1] < most:
        values.append(min(most, max(values[-1] + 1, int(values[-1] * ratio))))
    return tuple(values)


def runs_within(
    most_rounds: Callable[[int], int], *, rounds: int | None, batch_size: int | None, largest_batch: int
) -> list[Run]:
    """The lattice of runs within the budgets: `most_rounds` gives the rounds that a batch size leaves room for.

    What is given stays. At each number of rounds the largest batch that the budgets pay for is one of those tried.

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
    """The largest batch that leaves room for so many rounds, 0 if none does."""
    return bisect_integers(lambda size: rounds <= most_rounds(size), 0, largest_batch + 1)


def smallest_run(runs: Sequence[Run], outlook: Outlook, *, within: float, traffic: Traffic) -> Choice[Run]:
    """The smallest run whose certified bound is at most (1 + within) times the best run's, and the frontier."""
    if len(runs) == 1:
        return Choice(runs[0])
    survey = _Survey(runs, outlook)
    return Choice(survey.choose(within), survey.frontier(traffic, certify_shorter=True))


def smallest_likely_run(runs: Sequence[Run], outlook: Outlook, *, within: float, traffic: Traffic) -> Choice[Run]:
    """The same where a certificate takes seconds: the best run is predicted, and the first that passes is answered."""
    if len(runs) == 1:
        return Choice(runs[0])
    survey = _Survey(runs, outlook)
    return Choice(survey.choose_thriftily(within), survey.frontier(traffic))


def _size(run: Run) -> tuple[int, int]:
    return run.rounds, run.batch_size


class _Survey:
    """Runs in the order of their size, what is known of each, and the answer once it is chosen."""

    def __init__(self, runs: Sequence[Run], outlook: Outlook) -> None:
        self._outlook = outlook
        self._runs = sorted(set(runs), key=_size)
        self._likely = {run: outlook.likely_noise(run) for run in self._runs}
        self._rarity = {run: outlook.rarity(run) for run in self._runs}
        self._corrections: dict[float, list[tuple[Run, float]]] = {}
        """By the rarity of the certified runs."""
        self._known_rarities: list[float] = []
        self._corrected = False
        """Whether any of them is not 0."""
        self._noises: dict[Run, float] = {}
        self._found: dict[Run, _CertifiedRun] = {}
        self._seen: dict[Run, tuple[float, float]] = {}
        self._foreseen: dict[Run, float] = {}
        """Predictions by all that is certified now."""
        self._answer: Run | None = None
        if outlook.reference is not None:
            with contextlib.suppress(EpsilondError):  # it may need more noise than is offered, and the answer not
                self._correct(outlook.reference, outlook.certified_noise(outlook.reference))

    def choose(self, within: float) -> Run:
        """The rule, as the module has it."""
        self._certify_until(self._next_best, trials=BEST_TRIALS)
        self._certify_until(lambda: self._next_smallest(within), trials=MOST_TRIALS)
        limit = (1.0 + within) * self._found[self._best].risk
        self._answer = min((run for run, found in self._found.items() if found.risk <= limit), key=_size)
        return self._answer

    def _certify_until(self, following: Callable[[], Run | None], *, trials: int) -> None:
        """One run after another, until there is none or so many were dear."""
        run = following()
        while run is not None and trials > 0:
            self._certify(run)
            trials -= not self._outlook.cheap(run)
            run = following()

    def _next_best(self) -> Run | None:
        """The run that is predicted to be best, None where one that is certified is as good up to a hair."""
        run = self._best_predicted()
        known = self._found and self._predicted(run) * (1.0 + HAIR) >= self._found[self._best].risk
        return None if known else run

    def _next_smallest(self, within: float) -> Run | None:
        """The smallest run that may well be good enough, None where that is certified."""
        limit = (1.0 + within) * self._found[self._best].risk
        run = next(
            run
            for run in self._runs
            if self._at_least(run) <= self._tolerated(run, limit)
            and self._predicted(run) <= self._tolerated(run, limit)
        )
        return None if run in self._found else run

    def choose_thriftily(self, within: float) -> Run:
        """Certifies one run after another, the smallest that is predicted to pass first, until one does."""
        for _ in range(THRIFTY_TRIALS):
            limit = (1.0 + within) * min(map(self._predicted, self._runs))
            self._answer = next(run for run in self._runs if self._predicted(run) <= limit)
            if self._answer in self._found:
                return self._answer
            self._certify(self._answer)
            if self._found[self._answer].risk <= (1.0 + within) * min(map(self._predicted, self._runs)):
                return self._answer
        self._answer = self._best
        return self._answer

    @property
    def _best(self) -> Run:
        return min(self._found, key=lambda run: self._found[run].risk)

    def _tolerated(self, run: Run, limit: float) -> float:
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
        """The likely noise, corrected straight between the certified runs that are next to this one in rarity."""
        noise = self._noises.get(run)
        if noise is None:
            noise = self._noises[run] = self._likely[run] * math.exp(self._correction(run))
        return noise

    def _correction(self, run: Run) -> float:
        """Of the log of the likely noise."""
        if not self._corrected:
            return 0.0
        rarity, known = self._rarity[run], self._known_rarities
        after = bisect.bisect_left(known, rarity)
        if after < len(known) and known[after] == rarity:
            return self._nearest(rarity, run)
        if after in (0, len(known)):
            return self._nearest(known[max(after - 1, 0)], run)
        low, high = known[after - 1], known[after]
        below, above = self._nearest(low, run), self._nearest(high, run)
        return below + (above - below) * (rarity - low) / (high - low)

    def _nearest(self, rarity: float, run: Run) -> float:
        """The correction of the nearest of the certified runs of this rarity."""
        return min(self._corrections[rarity], key=lambda known: _distance(known[0], run))[1]

    def _predicted(self, run: Run) -> float:
        """The bound where it is certified, else about what it will be."""
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
        near = min(self._found, key=lambda other: _distance(other, run), default=None)
        return self._seen[run][1] * (1.0 if near is None else self._found[near].risk_ratio)

    def _at_least(self, run: Run) -> float:
        """About the least that the prediction of a run can be: bounds rise with the noise, at most with its square."""
        if run in self._found or run in self._foreseen or run not in self._seen:
            return self._predicted(run)
        noise, risk = self._seen[run]
        return risk * min(1.0, self._noise(run) / noise) ** 2 * self._least_ratio * (1.0 - HAIR)

    def _best_predicted(self) -> Run:
        """The first of the runs that are predicted to be best; only those that may be are predicted."""
        best, least = self._runs[0], math.inf
        for bound, place in sorted((self._at_least(run), place) for place, run in enumerate(self._runs)):
            if bound > least:
                break
            predicted = self._predicted(self._runs[place])
            if predicted < least or (predicted == least and _size(self._runs[place]) < _size(best)):
                best, least = self._runs[place], predicted
        return best

    @property
    def _least_ratio(self) -> float:
        return min((found.risk_ratio for found in self._found.values()), default=1.0)

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
        made = [self._shown(run, traffic) for run in runs]
        answer = made[0]
        made = [one for one in made if not _dominates(one, answer)]
        kept = [one for one in made if not any(_dominates(other, one) for other in made)]
        return tuple(sorted(kept, key=lambda one: (one.rounds, one.batch_size)))

    def _shorter(self, traffic: Traffic) -> Run | None:
        """Return the best predicted run within `SHORT_ROUNDS` if the answer is a long run, else None."""
        assert self._answer is not None
        if not is_long(self._answer.rounds, traffic.bits_per_client * self._answer.rounds):
            return None
        most_rounds = min(SHORT_ROUNDS, max(1, LONG_BITS // traffic.bits_per_client))
        runs = [run for run in self._runs if run.rounds <= most_rounds]
        return min(runs, key=self._predicted, default=None)

    def _between(self) -> Iterator[Run]:
        """The best batch at rounds spread evenly by their logarithm, from the fewest to those of the best run."""
        best_at: dict[int, Run] = {}
        for run in self._runs:
            other = best_at.get(run.rounds)
            if other is None or (
                self._at_least(run) < self._predicted(other) and self._predicted(run) < self._predicted(other)
            ):
                best_at[run.rounds] = run
        best = self._best_predicted()
        offered = [rounds for rounds in best_at if rounds <= max(best.rounds, self._best.rounds)]
        least, most = offered[0], offered[-1]
        for place in range(SHOWN):
            wanted = least * (most / least) ** (place / (SHOWN - 1))
            yield best_at[min(offered, key=lambda rounds: abs(math.log(rounds / wanted)))]

    def _shown(self, run: Run, traffic: Traffic) -> FrontierRun:
        found = self._found.get(run)
        noise = self._noise(run) if found is None else found.noise
        return FrontierRun(
            rounds=run.rounds,
            batch_size=run.batch_size,
            risk=self._outlook.risk(run, noise) if found is None else found.risk,
            noise_std=noise,
            certified=found is not None,
            chosen=run == self._answer,
            bits_per_client=traffic.bits_per_client * run.rounds,
            total_bits=traffic.bits_per_round * run.rounds,
        )


def _distance(one: Run, other: Run) -> float:
    """Of two runs, by the logarithms of rounds and batch size."""
    return math.hypot(math.log(one.rounds / other.rounds), math.log(one.batch_size / other.batch_size))


def _ratio(risk: float, expected: float) -> float:
    return risk / expected if 0.0 < expected < math.inf and risk < math.inf else 1.0


def _dominates(one: FrontierRun, other: FrontierRun) -> bool:
    """At least as good in rounds, batch size and bound, and better in one of them."""
    sides = [(one.rounds, other.rounds), (one.batch_size, other.batch_size), (one.risk, other.risk)]
    return all(left <= right for left, right in sides) and any(left < right for left, right in sides)
