"""Estimated noise of runs, corrected by the certified noise of similar runs."""

from __future__ import annotations

import bisect
import math
from collections.abc import Callable, Iterable

from epsilond.calibrators.mb_sgd.problem import Run


class NoiseEstimates:
    """Estimates of the noise that runs need, which improve with every certified run.

    Each certified run gives a correction: the logarithm of its certified noise over the estimate. The correction of
    another run is interpolated in its rarity, a number that orders runs by the error of the estimate.
    """

    def __init__(
        self, runs: Iterable[Run], *, likely_noise: Callable[[Run], float], rarity: Callable[[Run], float]
    ) -> None:
        """Estimate the noise of every run, without corrections.

        Args:
            runs: runs to estimate.
            likely_noise: function that estimates the noise of a run, before any correction.
            rarity: function from a run to a number, such that runs with close numbers have estimates with similar
                relative errors.
        """
        self._likely_noise = likely_noise
        self._rarity_of = rarity
        self._likely = {run: likely_noise(run) for run in runs}  # estimates without corrections
        self._rarity = {run: rarity(run) for run in self._likely}
        # By rarity: the certified runs, each with the log of its certified noise over the estimate.
        self._corrections: dict[float, list[tuple[Run, float]]] = {}
        self._known_rarities: list[float] = []  # keys of the corrections, ascending
        self._is_corrected = False  # whether any correction is not 0
        self._noises: dict[Run, float] = {}  # estimates with the current corrections

    def correct(self, run: Run, noise: float) -> None:
        """Store the error of the estimate for a certified run, by which later estimates are corrected.

        Args:
            run: the certified run, which need not be one of the estimated runs.
            noise: its certified noise, above 0.
        """
        likely = self._likely[run] if run in self._likely else self._likely_noise(run)
        correction = math.log(noise / likely)
        self._corrections.setdefault(self._rarity_of(run), []).append((run, correction))
        self._known_rarities = sorted(self._corrections)
        self._is_corrected = self._is_corrected or correction != 0.0
        self._noises.clear()

    def noise(self, run: Run) -> float:
        """Return the estimated noise of a run, corrected by the errors of the estimates for similar certified runs.

        Runs are similar if they have adjacent rarities, numbers that order runs by the error of the estimate.

        Args:
            run: one of the runs that were given at the start.

        Returns:
            The noise, in the unit of the uncorrected estimates. It is cached until the next correction.
        """
        noise = self._noises.get(run)
        if noise is None:
            noise = self._noises[run] = self._likely[run] * math.exp(self._correction(run))
        return noise

    def _correction(self, run: Run) -> float:
        """Predict the logarithm of a run's certified noise over its estimate, from the runs that are certified.

        The prediction is interpolated linearly in the rarity, a number that orders runs by the error of the estimate.
        At the rarity of certified runs, it is the correction of the nearest of them. Beyond these rarities it is
        constant.

        Args:
            run: one of the runs that were given at the start.

        Returns:
            The correction of log noise; 0 if no run is certified yet.
        """
        if not self._is_corrected:
            return 0.0
        rarity = self._rarity[run]
        rarities = self._known_rarities
        index = bisect.bisect_left(rarities, rarity)  # of the first known rarity that is not smaller
        if index < len(rarities) and rarities[index] == rarity:
            return self._nearest_correction(rarity, run)

        if index == 0:
            return self._nearest_correction(rarities[0], run)
        if index == len(rarities):
            return self._nearest_correction(rarities[-1], run)

        below, above = rarities[index - 1], rarities[index]
        correction_below = self._nearest_correction(below, run)
        correction_above = self._nearest_correction(above, run)
        weight = (rarity - below) / (above - below)
        return correction_below + (correction_above - correction_below) * weight

    def _nearest_correction(self, rarity: float, run: Run) -> float:
        """Return the correction of the certified run that is closest to a run, among those with a given rarity.

        Args:
            rarity: rarity of at least one certified run.
            run: the run. The distance is that of the logarithms of rounds and batch size.

        Returns:
            The correction log(certified noise / estimated noise) of this certified run.
        """
        candidates = self._corrections[rarity]
        _, correction = min(candidates, key=lambda candidate: distance(candidate[0], run))
        return correction


def distance(left: Run, right: Run) -> float:
    """Return the Euclidean distance of two runs in the logarithms of rounds and batch size."""
    log_rounds_ratio = math.log(left.rounds / right.rounds)
    log_batch_ratio = math.log(left.batch_size / right.batch_size)
    return math.hypot(log_rounds_ratio, log_batch_ratio)
