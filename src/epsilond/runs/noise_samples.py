"""Whether the noise of each step is standard Gaussian and independent of earlier noise, decided as the run goes on."""

from __future__ import annotations

import math
from typing import Final

import numpy as np
from numpy.typing import NDArray

from epsilond.runs.false_alarms import PER_TEST, log_threshold

_MEMORY: Final = 64
"""Number of first samples of the run, and of latest samples, with which each new sample is compared."""

_LARGEST_CHECKED: Final = 180
"""Largest number of values of a sample that is searched for equal values."""

_CLOSE: Final = 1e-5
"""Difference below which two values count as equal, above the rounding errors of single precision."""

_LEAST_REPEATS: Final = 17
"""Least number of equal neighbours in the ordered sample at which the hypothesis is rejected."""

_LAPLACE: Final = 0.5 * math.log(math.pi)
"""Logarithm of the ratio of the densities at 0: that of Laplace noise over that of Gaussian noise, of variance 1."""

_LEAST_RATIO: Final = 1e-12
"""Least ratio of squares that counts. Generators of single precision return exactly 0 once in 10^7 numbers."""

_WINDOW: Final = 8
"""Number of steps with squares that are also tested together, which detects a small tensor without noise."""


class NoiseSamples:
    """Sequential tests of the hypothesis that noise is independent standard Gaussian noise.

    Each training step gives a sample: its noise at some fixed coordinates, divided by the recorded standard deviation.
    Five tests may reject the hypothesis:

    * The variance of a group of coordinates, in one step or over up to 8 steps, is not 1. Chernoff's bound on the
      chi-squared distribution gives the level.
    * The variance over all steps is not 1. The test is a mixture of likelihood ratios (Ville's inequality).
    * A sample is correlated with an earlier one, or nearly equal to it, as after a reset of the random generator. The
      levels are the Gaussian tail and Chernoff's bound.
    * A sample has many equal values. Of 128 Gaussian variables, 0.05 pairs are within 1e-5 on average.
    * Laplace noise of the same variance is much more probable, over all steps (Ville's inequality).

    Attributes:
        alarm: sentence about the first rejection, for the caller; None if no test has rejected.
    """

    def __init__(self) -> None:
        """Start the tests without any sample of noise."""
        self.alarm: str | None = None
        # Over all steps: numbers of steps and of values, the sum of squares, and the log-likelihood ratio of Laplace
        # noise to Gaussian noise.
        self._steps = 0
        self._count = 0
        self._squares = 0.0
        self._log_ratio = 0.0

        # In the present window: the sum of squares of each group, and the number of steps.
        self._window_squares: NDArray[np.float64] = np.zeros(0)
        self._window_steps = 0

        # Earlier samples, divided by their norms, and these norms.
        self._earlier: NDArray[np.float32] = np.zeros((0, 0), dtype=np.float32)
        self._norms: NDArray[np.float64] = np.zeros(2 * _MEMORY)

    def observe(self, sample: NDArray[np.float64], groups: NDArray[np.intp]) -> None:
        """Test the noise of the next step, and set `alarm` at the first rejection.

        The hypothesis is that the noise consists of independent standard normal variables.

        Args:
            sample: noise at k coordinates, divided by its recorded standard deviation, shape (k,).
            groups: index in `sample` at which each of g groups begins, shape (g,). A group has the coordinates of one
                parameter tensor.
        """
        self._steps += 1
        total = float(sample @ sample)
        self._test_squares(sample, groups)
        self._test_all_squares(total, len(sample))
        self._test_products(sample, math.sqrt(total))
        self._test_shape(sample, total)

    def _test_squares(self, sample: NDArray[np.float64], groups: NDArray[np.intp]) -> None:
        """Test that the noise in each group of coordinates has variance 1, in this step and over the last steps.

        The steps are divided into windows of `_WINDOW` consecutive steps. The second test covers the steps of the
        present window so far. A new window also starts if the number of groups changes.

        Args:
            sample: noise at k coordinates, divided by its recorded standard deviation, shape (k,).
            groups: index in `sample` at which each of g groups of coordinates begins, shape (g,).
        """
        squares = np.add.reduceat(sample**2, groups)
        counts = np.empty(len(groups))
        counts[:-1] = groups[1:] - groups[:-1]
        counts[-1] = len(sample) - groups[-1]
        self._test_ratios(squares / counts, counts)

        # Start a new window if the present one is full, or if the groups have changed.
        is_full = self._window_steps == _WINDOW
        has_other_groups = len(squares) != len(self._window_squares)
        if is_full or has_other_groups:
            self._window_squares = np.zeros(len(squares))
            self._window_steps = 0

        # Test the window, unless it has this step only.
        self._window_squares += squares
        self._window_steps += 1
        if self._window_steps > 1:
            window_counts = counts * self._window_steps
            self._test_ratios(self._window_squares / window_counts, window_counts)

    def _test_ratios(self, ratios: NDArray[np.float64], counts: NDArray[np.float64]) -> None:
        """Set the alarm if the mean square of the noise in a group is too far from 1.

        By Chernoff's bound, the mean square of k standard normal variables is above r > 1 with probability at most
        exp(−k (r − 1 − log r)/2). The same bound holds for a mean square below r < 1. Each step makes at most two such
        tests, which share its level.

        Args:
            ratios: mean square of the noise in each of g groups, shape (g,).
            counts: number k of values in each group, shape (g,).
        """
        # The floor avoids log 0: a generator of single precision may return exactly 0.
        exponents = 0.5 * counts * (ratios - 1.0 - np.log(np.maximum(ratios, _LEAST_RATIO)))
        worst_group = int(exponents.argmax())
        # The two tests of a step have two sides each. A NaN is not below the threshold, so it raises the alarm too.
        is_plausible = exponents[worst_group] < log_threshold(self._steps, hypotheses=4 * len(counts))
        if not is_plausible:
            worst_ratio = ratios[worst_group]
            deviation = math.sqrt(worst_ratio) if worst_ratio >= 0.0 else math.nan
            self._raise_alarm(f"the noise that was added is {deviation:.3g} times the recorded one")

    def _test_all_squares(self, total: float, count: int) -> None:
        """Test that the variance of the noise of all steps is 1, by a likelihood ratio against other variances.

        The alternative is a random variance with the inverse-gamma distribution of shape ½ and scale ½. The alarm is
        raised if the ratio reaches 1/`PER_TEST`, where `PER_TEST` is the level of the test. For n values with sum of
        squares S, a = ½ + n/2 and b = ½ + S/2, the logarithm of the ratio is:

            ½ log ½ − log Γ(½) + log Γ(a) − a log b + S/2.

        Args:
            total: sum of squares of the sample of this step.
            count: number of values in this sample.
        """
        self._count += count
        self._squares += total

        shape = 0.5 + 0.5 * self._count  # a
        scale = 0.5 + 0.5 * self._squares  # b
        log_prior_factor = 0.5 * math.log(0.5) - math.lgamma(0.5)
        log_ratio = log_prior_factor + math.lgamma(shape) - shape * math.log(scale) + 0.5 * self._squares

        # A NaN is not below the threshold, so it raises the alarm too.
        if not log_ratio < -math.log(PER_TEST):
            deviation = math.sqrt(self._squares / self._count)
            self._raise_alarm(f"the noise of all steps is {deviation:.3g} times the recorded one")

    def _test_products(self, sample: NDArray[np.float64], norm: float) -> None:
        """Test that a sample is neither correlated with an earlier sample nor nearly equal to it or to its negative.

        Given an earlier sample, the inner product with it is normal with mean 0 and the squared norm of that sample as
        variance. The sum and the difference of the two samples have independent entries of variance 2. The new sample
        is compared with the first `_MEMORY` samples of the run and with the latest `_MEMORY` ones.

        Args:
            sample: noise at k coordinates, divided by its recorded standard deviation, shape (k,).
            norm: Euclidean norm of the sample.
        """
        if not len(self._earlier):
            self._earlier = np.zeros((2 * _MEMORY, len(sample)), dtype=np.float32)
        single_precision = sample.astype(np.float32)
        index = self._steps - 1
        number_of_earlier = min(index, 2 * _MEMORY)
        if number_of_earlier:
            # The remembered samples have norm 1.
            products = np.abs(self._earlier[:number_of_earlier] @ single_precision).astype(np.float64)
            exponent = self._repetition_exponent(products, norm, len(sample))
            # Two tests with two signs each are made for each remembered sample. A NaN raises the alarm, too.
            if not exponent < log_threshold(self._steps, hypotheses=4 * number_of_earlier):
                self._raise_alarm("the noise repeats the noise of an earlier step: its generator was reset")

        # The first `_MEMORY` rows are never replaced. The other rows are a ring buffer of the latest samples.
        row = index if index < _MEMORY else _MEMORY + (index - _MEMORY) % _MEMORY
        self._earlier[row] = single_precision / norm if norm > 0.0 else 0.0
        self._norms[row] = norm

    def _repetition_exponent(self, products: NDArray[np.float64], norm: float, count: int) -> float:
        """Return −log p [nat] for the smallest p-value of the tests whether a sample repeats a remembered one.

        Two bounds on p-values are used. By Chernoff's bound, the mean square of k standard normal variables is below
        r < 1 with probability at most exp(−k (r − 1 − log r)/2). A standard normal variable is above x in absolute
        value with probability at most 2 exp(−x²/2).

        Args:
            products: absolute inner products of the sample with the remembered samples, which are scaled to norm 1.
            norm: Euclidean norm of the sample.
            count: number k of values of the sample.

        Returns:
            The value −log p. The factor 2 for the two signs is not part of p; the caller's threshold allows for it.
        """
        norms = self._norms[: len(products)]
        # ‖x ∓ y‖² = ‖x‖² + ‖y‖² ∓ 2⟨x, y⟩, for the sign that makes it smaller.
        squared_distances = norm**2 + norms**2 - 2.0 * norms * products
        ratios = np.clip(squared_distances / (2.0 * count), _LEAST_RATIO, 1.0)
        distance_exponents = 0.5 * count * (ratios - 1.0 - np.log(ratios))
        correlation_exponent = 0.5 * float(products.max()) ** 2
        return max(float(distance_exponents.max()), correlation_exponent)

    def _test_shape(self, sample: NDArray[np.float64], total: float) -> None:
        """Test that a sample has no repeated values, and that the noise so far is not Laplace noise.

        Up to 180 Gaussian values have fewer than 0.1 pairs within 1e-5 on average, and more than 16 with probability
        below 1e-30. So this test may be repeated in any number of steps.

        Args:
            sample: noise at k coordinates, divided by its recorded standard deviation, shape (k,).
            total: sum of squares of the sample.
        """
        if len(sample) <= _LARGEST_CHECKED:
            ordered = np.sort(sample)
            gaps = ordered[1:] - ordered[:-1]
            if np.count_nonzero(gaps < _CLOSE) >= _LEAST_REPEATS:
                self._raise_alarm("many coordinates have the same noise in one step")

        # Log-densities per value x: −√2 |x| − ½ log 2 for Laplace noise, −x²/2 − ½ log 2π for Gaussian noise.
        absolute_sum = float(np.abs(sample).sum())
        self._log_ratio += _LAPLACE * len(sample) + 0.5 * total - math.sqrt(2.0) * absolute_sum

        # A NaN is not below the threshold, so it raises the alarm too.
        if not self._log_ratio < -math.log(PER_TEST):
            self._raise_alarm("the noise is not Gaussian: a Laplace distribution is more probable")

    def _raise_alarm(self, message: str) -> None:
        """Set the alarm, unless an earlier rejection has set it.

        Args:
            message: sentence about the rejection.
        """
        self.alarm = self.alarm or message
