"""Calls of the compiled kernel, which comes before the engines in Python if it is built.

It follows docs/engine-certificate.md with the same errors charged as the contour engine; kernel/src/kernel.h explains
why these cover its arithmetic. Every function returns None if the kernel rejects the laws or is not built. It raises
`NoLineDecays` if the contour engine is very likely to reject them too.
"""

from __future__ import annotations

import functools
import math
from collections import Counter
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias

import numpy as np

from epsilond.accountants.curve.enclosure import Interval
from epsilond.accountants.curve.facts import (
    DrawnGaussianLaw,
    GaussianLaw,
    SampledGaussianLaw,
)
from epsilond.accountants.curve.near_tests import BestTest, BestTests
from epsilond.accountants.engine.kernel_steps import as_steps, sort_steps
from epsilond.accountants.numerics import compiled

if TYPE_CHECKING:
    from collections.abc import Sequence

    from epsilond.accountants.curve.facts import Law
    from epsilond.accountants.numerics.compiled import KernelAnswer, KernelSum
    from epsilond.accountants.numerics.special import FloatArray

load_kernel = compiled.load_kernel
_STORED_COMPOSITIONS = 8
"""Number of compositions that are stored with their intermediate results: a few MB for a thousand kinds of steps."""

Unknown: TypeAlias = Literal["shift", "count", "rate"]
_UNKNOWNS: tuple[Unknown, ...] = ("shift", "count", "rate")
"""Unknowns in the order of their numbers in the kernel."""


class NoLineDecays(ArithmeticError):
    """The error that the transform of the total loss decays on no line of integration.

    The numerical inversion of the transform needs too many frequencies on every line. Neither the compiled kernel nor
    the slower integral in Python (module `contour`) can then bound δ.
    """


class KernelEnclosure(NamedTuple):
    """The compiled kernel's enclosure of log δ or of ε.

    Attributes:
        bounds: lower and upper bound on log δ at an ε, or on the smallest ε at a δ.
        width: distance of the two bounds on δ at this ε, relative to δ.
    """

    bounds: Interval
    width: float


class KernelTest(NamedTuple):
    """The compiled kernel's test that rejects if the total loss S exceeds ε, with about a given false positive rate.

    Attributes:
        epsilon: approximate ε, in nats.
        width: distance of the kernel's two bounds on δ at this ε, relative to δ.
        steepness: estimate of |d log Q(S > ε)/dε| at this ε, for the false positive rate Q(S > ε).
    """

    epsilon: float
    width: float
    steepness: float


def log_delta(laws: Sequence[tuple[Law, int]], epsilon: float) -> KernelEnclosure | None:
    """Enclose log δ(ε) of a composition by the compiled kernel.

    Args:
        laws: distributions of the privacy loss of one step, each with its number of steps.
        epsilon: ε in nats, of any sign.

    Returns:
        The lower and the upper bound with their width; None if the kernel has no answer.

    Raises:
        NoLineDecays: numerical inversion fails, because the transform of the total loss decays too slowly.
    """
    composed = _compiled_sum(tuple(laws))
    if composed is None:
        return None
    return _enclosure(laws, composed.log_delta(epsilon))


def upper_log_delta(laws: Sequence[tuple[Law, int]], epsilon: float) -> float | None:
    """Return a Chernoff bound on log δ(ε) of a composition, by the compiled kernel.

    Args:
        laws: distributions of the privacy loss of one step, each with its number of steps.
        epsilon: ε in nats, of any sign.

    Returns:
        The upper bound; None if the kernel has no answer.
    """
    composed = _compiled_sum(tuple(laws))
    if composed is None:
        return None
    return composed.upper_log_delta(epsilon)


def epsilon(laws: Sequence[tuple[Law, int]], log_delta: float, slack: float) -> KernelEnclosure | None:
    """Enclose the smallest ε ≥ 0 at which a composition has log δ(ε) ≤ `log_delta`, by the compiled kernel.

    Args:
        laws: distributions of the privacy loss of one step, each with its number of steps.
        log_delta: log of the target δ.
        slack: distance ≥ 0 in log δ that both bounds have from the target.

    Returns:
        The lower and the upper bound with their width; None if the kernel has no answer.

    Raises:
        NoLineDecays: numerical inversion fails, because the transform of the total loss decays too slowly.
    """
    composed = _compiled_sum(tuple(laws))
    if composed is None:
        return None
    return _enclosure(laws, composed.epsilon(log_delta, slack))


def threshold(laws: Sequence[tuple[Law, int]], log_size: float) -> KernelTest | None:
    """Find the test S > ε of the total loss S with a given false positive rate Q(S > ε), with ε of any sign.

    Args:
        laws: distributions of the losses between P and Q, with their counts.
        log_size: log of the false positive rate.

    Returns:
        The test; None if the compiled kernel has no answer.

    Raises:
        NoLineDecays: numerical inversion fails, because the transform of the total loss decays too slowly.
    """
    composed = _compiled_sum(tuple(laws))
    if composed is None:
        return None
    numbers = _numbers(laws, composed.threshold(log_size))
    return None if numbers is None else KernelTest(*numbers)


def best_tests(laws: Sequence[tuple[Law, int]], rates: Sequence[float], rounding: float) -> BestTests | None:
    """Enclose the true positive rate of the most powerful test at each false positive rate, by the compiled kernel.

    Args:
        laws: distributions of the privacy loss of one step, each with its number of steps.
        rates: false positive rates, in (0, 1). The others use the quadrature nodes of the first one if these suit them.
        rounding: share of 1 + |log δ| by which bounds of log δ are moved outward.

    Returns:
        For each rate, bounds on the true positive rate of the best test, with bounds on log δ(0). None if the kernel
        has no answer.
    """
    composed = _compiled_sum(tuple(laws))
    if composed is None:
        return None
    answer = composed.best_tests(tuple(rates), rounding)
    if answer is None:
        return None
    tests, log_delta_at_zero = answer
    # The kernel returns one tuple of numbers per rate, in the order of the rates.
    by_rate = {rate: _as_best_test(test) for rate, test in zip(rates, tests, strict=True)}
    return BestTests(by_rate, Interval(*log_delta_at_zero))


def _as_best_test(numbers: tuple[float, float, float] | None) -> BestTest | None:
    """Convert three numbers of the compiled kernel to the most powerful test at a false positive rate.

    Args:
        numbers: lower and upper bound on the true positive rate, and the threshold ε of the loss in nats. None if the
            kernel has no answer.

    Returns:
        The bounds on the true positive rate with the threshold; None if the kernel has no answer.
    """
    if numbers is None:
        return None
    lower, upper, epsilon = numbers
    return BestTest(Interval(lower, upper), epsilon)


def upper_log_deltas(laws: Sequence[tuple[Law, int]], epsilons: Sequence[float]) -> tuple[float, ...] | None:
    """Return upper bounds on log δ at several ε, all from the quadrature nodes that suit the first ε.

    Args:
        laws: distributions of the privacy loss of one step, each with its number of steps.
        epsilons: values of ε in nats, at least one.

    Returns:
        One bound for each ε; None if the kernel has no answer.
    """
    composed = _compiled_sum(tuple(laws))
    if composed is None:
        return None
    return composed.upper_log_deltas(tuple(epsilons))


def search(
    directions: Sequence[tuple[SampledGaussianLaw | DrawnGaussianLaw, int]],
    unknown: Unknown,
    epsilon: float,
    log_delta: float,
    guess: float,
) -> float | None:
    """Estimate the shift, the count or the rate at which a run has δ(ε) equal to a target, without error bounds.

    Args:
        directions: distribution of one step's loss and number of steps, in one or both directions, of which the larger
            δ counts. The value of the unknown in them is ignored.
        unknown: the quantity to find.
        epsilon: ε, in nats.
        log_delta: log of the target δ.
        guess: initial estimate of the unknown.

    Returns:
        The estimate; None if the kernel is not built, or if it has no answer.
    """
    # The kernel may be absent: then there is no estimate.
    make = load_kernel()
    if make is None:
        return None
    # Convert the steps, and name the unknown by its number in the kernel.
    steps = tuple(as_steps(law, count) for law, count in directions)
    try:
        return make.search(steps, _UNKNOWNS.index(unknown), epsilon, log_delta, guess)
    # A number is out of the range of the kernel.
    except (OverflowError, ValueError):
        return None


def convolve(steps: Sequence[tuple[FloatArray, int]], points: int) -> FloatArray | None:
    """Return the probabilities of a sum of independent steps on a circle of lattice points, by the compiled kernel.

    Args:
        steps: probabilities of one step's loss on the lattice, from the first lattice point on, and the number of such
            steps.
        points: number of lattice points, a power of two. Sums that differ by this number are one point.

    Returns:
        The probability of each point; None if the kernel is not built.
    """
    make = load_kernel()
    if make is None:
        return None
    return np.frombuffer(make.convolve(points.bit_length() - 1, tuple(steps)), dtype=np.float64)


def answers(laws: Sequence[tuple[Law, int]]) -> bool:
    """Return whether the compiled kernel is built and accepts these distributions.

    Args:
        laws: distributions of the privacy loss of one step, each with its number of steps.
    """
    return _compiled_sum(tuple(laws)) is not None


def forget() -> None:
    """Clear the loaded kernel and all stored results."""
    load_kernel.cache_clear()
    _compiled_sum.cache_clear()


def _enclosure(laws: Sequence[tuple[Law, int]], answer: KernelAnswer) -> KernelEnclosure | None:
    """Convert the compiled kernel's answer to an enclosure, that is, to two bounds and their width.

    If the kernel has no answer, the slower integral in Python may have one. Then the result is None. If Python would
    have none either, an error is raised.

    Args:
        laws: distributions of the privacy loss of one step, each with its number of steps.
        answer: two bounds and their width; None, or the reason that no line decays, if the kernel has no answer.

    Returns:
        The two bounds with their width; None if the kernel has no answer.

    Raises:
        NoLineDecays: the integral in Python would have no answer either (`_numbers`).
    """
    numbers = _numbers(laws, answer)
    if numbers is None:
        return None
    lower, upper, width = numbers
    return KernelEnclosure(Interval(lower, upper), width)


def _numbers(laws: Sequence[tuple[Law, int]], answer: KernelAnswer) -> tuple[float, float, float] | None:
    """Return the three numbers of a kernel's answer, such as two bounds and their width.

    The result is None if the kernel has no answer, but the slower integral in Python (module `contour`) may have one.

    Args:
        laws: distributions of the privacy loss of one step, each with its number of steps.
        answer: the numbers; None if the kernel has no answer; otherwise the kernel's reason, that no line decays.

    Returns:
        The three numbers; None if the kernel has no answer.

    Raises:
        NoLineDecays: the transform of the total loss decays too slowly for numerical inversion, so that the integral
            in Python would fail too. This is not concluded for batches of a fixed size, for Laplace losses, or if
            the noise is large.
    """
    if isinstance(answer, tuple):
        return answer
    # Python may have an answer that the kernel lacks, in particular if the noise is large.
    if answer is None or not _has_little_noise(laws):
        return None
    # The kernel named the reason that no line decays. For these steps Python would find none either.
    if all(isinstance(law, GaussianLaw | SampledGaussianLaw) for law, _ in laws):
        raise NoLineDecays
    return None


def _has_little_noise(laws: Sequence[tuple[Law, int]]) -> bool:
    """Return whether the shift of any subsampled Gaussian step is above one standard deviation of the noise.

    With a smaller shift, numerical inversion in Python may have an answer although the kernel has none. Of 349 random
    compositions, this made the bounds of two narrower, with shifts of 0.37 and 0.55.

    Args:
        laws: distributions of the privacy loss of one step, each with its number of steps.

    Returns:
        True if the sensitivity of at least one subsampled step exceeds the standard deviation of its noise.
    """
    return any(isinstance(law, SampledGaussianLaw) and law.shift > 1.0 for law, _ in laws)


@functools.lru_cache(maxsize=_STORED_COMPOSITIONS)
def _compiled_sum(laws: tuple[tuple[Law, int], ...]) -> KernelSum | None:
    """Return the compiled kernel's object for the total loss of a composition.

    Equal distributions are counted together. All Gaussian steps without sampling become one step. The latest
    `_STORED_COMPOSITIONS` results are stored.

    Args:
        laws: distributions of the privacy loss of one step, each with its number of steps.

    Returns:
        The object; None if every loss is zero, if the kernel is not used, or if it refuses the steps. It refuses too
        many kinds of steps, and numbers out of its range.
    """
    make = load_kernel()
    if make is None:
        return None
    # Count equal distributions together, and leave out those without a loss.
    counts: Counter[Law] = Counter()
    for law, count in laws:
        counts[law] += count
    steps_with_loss = [(law, count) for law, count in counts.items() if count > 0 and not law.is_silent]
    kinds = sort_steps(steps_with_loss)
    try:
        return make(tuple(kinds.normal), math.fsum(kinds.gaussian_squares), tuple(kinds.laplace))
    # A number is out of the range of the kernel, or every loss is zero.
    except (OverflowError, ValueError):
        return None
