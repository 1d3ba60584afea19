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
    """Error for a composition if δ cannot be bounded by numerical inversion of the transform of its total loss.

    On every line of integration the transform decays so slowly that too many frequencies would be needed. So the
    slower integral in Python (module `contour`) fails, too.
    """


class KernelEnclosure(NamedTuple):
    """The compiled kernel's enclosure of log δ or of ε.

    Attributes:
        bounds: lower and upper bound on log δ at a given ε, or on the smallest ε for a given δ.
        width: distance of the kernel's two bounds on δ at this ε, relative to δ.
    """

    bounds: Interval
    width: float


class KernelTest(NamedTuple):
    """A test that rejects if the total loss S exceeds ε, with about a given false positive rate.

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
    return _to_enclosure(laws, composed.log_delta(epsilon))


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
    return _to_enclosure(laws, composed.epsilon(log_delta, slack))


def threshold(laws: Sequence[tuple[Law, int]], log_size: float) -> KernelTest | None:
    """Find the ε, of any sign, at which the test S > ε of the total loss S has a given false positive rate Q(S > ε).

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
    numbers = _three_numbers(laws, composed.threshold(log_size))
    return None if numbers is None else KernelTest(*numbers)


def best_tests(laws: Sequence[tuple[Law, int]], rates: Sequence[float], rounding: float) -> BestTests | None:
    """Enclose the true positive rate of the most powerful test at each false positive rate, by the compiled kernel.

    Args:
        laws: distributions of the privacy loss of one step, each with its number of steps.
        rates: false positive rates in (0, 1), at least one. The kernel chooses its quadrature nodes for the first one,
            and uses them for the others if they suit these.
        rounding: amount by which bounds on log δ are moved outward, as a fraction of 1 + |log δ|.

    Returns:
        For each rate bounds on the true positive rate of the best test, and bounds on log δ(0). None if the kernel has
        no answer.
    """
    composed = _compiled_sum(tuple(laws))
    if composed is None:
        return None
    answer = composed.best_tests(tuple(rates), rounding)
    if answer is None:
        return None
    tests, log_delta_at_zero = answer
    by_rate = {rate: _to_best_test(test) for rate, test in zip(rates, tests, strict=True)}
    return BestTests(by_rate, Interval(*log_delta_at_zero))


def _to_best_test(numbers: tuple[float, float, float] | None) -> BestTest | None:
    """Convert the compiled kernel's answer for one false positive rate to a `BestTest`.

    Args:
        numbers: lower and upper bound on the true positive rate, and the threshold ε of the loss in nats. None if the
            kernel has no answer, in which case the result is None.
    """
    if numbers is None:
        return None
    lower, upper, epsilon = numbers
    return BestTest(Interval(lower, upper), epsilon)


def upper_log_deltas(laws: Sequence[tuple[Law, int]], epsilons: Sequence[float]) -> tuple[float, ...] | None:
    """Return upper bounds on log δ at several ε from the compiled kernel, with the nodes that suit the first ε.

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
    """Estimate the shift, the number of steps or the rate at which δ(ε) of a run equals a target, without error bounds.

    Args:
        directions: distribution of one step's loss and number of steps, in one or both directions of the pair. The
            larger δ of both counts. The value of the unknown in them is ignored.
        unknown: the quantity to find: the shift, the number of steps ("count") or the rate.
        epsilon: ε, in nats.
        log_delta: log of the target δ.
        guess: initial estimate of the unknown.

    Returns:
        The estimate; None if the kernel is not built, or if it has no answer.
    """
    make = load_kernel()
    if make is None:
        return None
    steps = tuple(as_steps(law, count) for law, count in directions)
    try:
        return make.search(steps, _UNKNOWNS.index(unknown), epsilon, log_delta, guess)
    # A number is out of the range of the kernel.
    except (OverflowError, ValueError):
        return None


def convolve(steps: Sequence[tuple[FloatArray, int]], points: int) -> FloatArray | None:
    """Return the distribution of a sum of independent steps on a circle of lattice points, by the compiled kernel.

    Args:
        steps: probabilities of one step's loss on the lattice, from the first lattice point on, and the number of such
            steps.
        points: number of lattice points, a power of two. Sums that differ by a multiple of it are the same point.

    Returns:
        The probability of each point; None if the kernel is not built.
    """
    make = load_kernel()
    if make is None:
        return None
    log2_points = points.bit_length() - 1
    return np.frombuffer(make.convolve(log2_points, tuple(steps)), dtype=np.float64)


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


def _to_enclosure(laws: Sequence[tuple[Law, int]], answer: KernelAnswer) -> KernelEnclosure | None:
    """Convert the compiled kernel's answer to an enclosure, that is, to two bounds and their width.

    Args:
        laws: distributions of the privacy loss of one step, each with its number of steps.
        answer: two bounds and their width. If the kernel has no answer, None or its reason.

    Returns:
        The enclosure; None if the kernel has no answer, but the slower integral in Python may have one.

    Raises:
        NoLineDecays: the integral in Python would have no answer either.
    """
    numbers = _three_numbers(laws, answer)
    if numbers is None:
        return None
    lower, upper, width = numbers
    return KernelEnclosure(Interval(lower, upper), width)


def _three_numbers(laws: Sequence[tuple[Law, int]], answer: KernelAnswer) -> tuple[float, float, float] | None:
    """Return the three numbers of a kernel's answer, such as two bounds and their width.

    Args:
        laws: distributions of the privacy loss of one step, each with its number of steps.
        answer: the numbers. If the kernel has no answer, "no decay" if the reason is that the transform of the total
            loss decays too slowly, and otherwise None.

    Returns:
        The three numbers; None if the kernel has no answer, but the slower integral in Python may have one.

    Raises:
        NoLineDecays: the transform decays too slowly, and the integral in Python would fail for this reason, too. This
            is only concluded if all steps are Gaussian or Poisson-subsampled Gaussian, one of them with a large shift.
    """
    if isinstance(answer, tuple):
        return answer
    if answer is None or not _has_large_shift(laws):
        return None
    if all(isinstance(law, GaussianLaw | SampledGaussianLaw) for law, _ in laws):
        raise NoLineDecays
    return None


def _has_large_shift(laws: Sequence[tuple[Law, int]]) -> bool:
    """Return whether the sensitivity of any subsampled Gaussian step exceeds the standard deviation of its noise.

    This ratio is the `shift` of a step. For smaller shifts, numerical inversion in Python may have an answer although
    the compiled kernel has none.

    Args:
        laws: distributions of the privacy loss of one step, each with its number of steps.
    """
    return any(isinstance(law, SampledGaussianLaw) and law.shift > 1.0 for law, _ in laws)


@functools.lru_cache(maxsize=_STORED_COMPOSITIONS)
def _compiled_sum(laws: tuple[tuple[Law, int], ...]) -> KernelSum | None:
    """Return the compiled kernel's object for the total loss of a composition.

    Equal distributions are counted together, and all Gaussian steps without sampling become one step.

    Args:
        laws: distributions of the privacy loss of one step, each with its number of steps.

    Returns:
        The object. None if the kernel is not built, if every loss is zero, or if the kernel rejects the steps: too many
        kinds of steps, or numbers out of its range.
    """
    make = load_kernel()
    if make is None:
        return None
    counts: Counter[Law] = Counter()
    for law, count in laws:
        counts[law] += count
    steps_with_loss = [(law, count) for law, count in counts.items() if count > 0 and not law.is_silent]
    kinds = sort_steps(steps_with_loss)
    try:
        return make(tuple(kinds.random_gaussian), math.fsum(kinds.gaussian_squares), tuple(kinds.laplace))
    # The kernel rejects the steps, or every loss is zero.
    except (OverflowError, ValueError):
        return None
