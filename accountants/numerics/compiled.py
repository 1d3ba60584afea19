"""The compiled kernel, module `epsilond._kernel`.

It is used if it was built, is not turned off, and computes correctly.

kernel/README.md explains how to build it. The environment variable EPSILOND_KERNEL=off turns it off. Only
`epsilond.accountants.engine.kernel` calls it.
"""

from __future__ import annotations

import functools
import importlib
import math
import os
from typing import TYPE_CHECKING, Literal, Protocol, TypeAlias, cast

if TYPE_CHECKING:
    from epsilond.accountants.numerics.special import FloatArray

INTERFACE = 8
"""Version of the kernel's interface. A kernel with another version is not used."""
NAME = "epsilond._kernel"


SampledSteps: TypeAlias = tuple[float, float, int, float]
"""Rate, shift, direction and count of steps of one kind."""
MixedSteps: TypeAlias = tuple[float, float, int, float, tuple[float, ...], tuple[float, ...]]
"""Rate, shift, direction and count of steps of a mixture, and the shifts and weights of its components.

Shifts are in increasing order.
"""
KernelAnswer: TypeAlias = tuple[float, float, float] | Literal["no decay"] | None
"""The kernel's answer to one request: three numbers, or the reason why it has none.

The reason is "no decay" if the integrand decays on no line of integration, and None for every other reason.
"""


class KernelSum(Protocol):
    """Interface of a composition in the compiled kernel.

    A composition has the total privacy loss S, the sum of the log likelihood ratios of its steps. P is the distribution
    of the outputs on one data set, and Q that on a neighbour. A result is None if the kernel has no answer.
    """

    def epsilon(self, log_delta: float, slack: float, /) -> KernelAnswer:
        """Return lower and upper bounds on ε at a log δ, and the width of the enclosures of log δ that give them.

        Args:
            log_delta: the target, log δ.
            slack: least distance ≥ 0 of log δ from the target, at either bound.

        Returns:
            The lower and the upper bound on ε in nats, and the width.
        """

    def log_delta(self, epsilon: float, /) -> KernelAnswer:
        """Return a lower and an upper bound on log δ(ε), and their difference.

        Args:
            epsilon: ε in nats, of any sign.

        Returns:
            The lower bound, the upper bound, and their difference.
        """

    def upper_log_delta(self, epsilon: float, /) -> float | None:
        """Return a Chernoff bound on log δ(ε), which is an upper bound.

        Args:
            epsilon: ε in nats, of any sign.
        """

    def threshold(self, log_size: float, /) -> KernelAnswer:
        """Estimate the ε of the test that rejects if S > ε, for a given false positive rate Q(S > ε).

        Args:
            log_size: log of the false positive rate.

        Returns:
            The ε, the width of the enclosure of log δ there, and |d log Q(S > ε)/dε|.
        """

    def best_tests(
        self, rates: tuple[float, ...], rounding: float, /
    ) -> tuple[tuple[tuple[float, float, float] | None, ...], tuple[float, float]] | None:
        """Return the most powerful test at each false positive rate, and bounds on log δ(0).

        Args:
            rates: the false positive rates, in (0, 1).
            rounding: fraction of 1 + |log δ| by which bounds on log δ are moved outward.

        Returns:
            First one entry for each rate: the lower and the upper bound on the true positive rate of its test, and the
            approximate threshold ε of the loss. Then the lower and the upper bound on log δ(0).
        """

    def upper_log_deltas(self, epsilons: tuple[float, ...], /) -> tuple[float, ...] | None:
        """Return upper bounds on log δ at several ε, all from quadrature nodes that are chosen for the first ε.

        Args:
            epsilons: values of ε in nats.

        Returns:
            One upper bound on log δ for each ε.
        """


class MakeSum(Protocol):
    """Interface of the compiled kernel: it makes compositions, and has a search and a convolution.

    A composition is the sum of the privacy losses of independent noisy steps. The privacy loss is the log likelihood
    ratio of the outputs on two neighbouring data sets. Shifts are distances of Gaussian or Laplace means in units of
    the noise.
    """

    def __call__(
        self, steps: tuple[SampledSteps | MixedSteps, ...], square: float, laplace: tuple[tuple[float, float], ...], /
    ) -> KernelSum:
        """Return the composition of sampled steps, one Gaussian step and Laplace steps.

        Args:
            steps: steps in which a record takes part at random, each kind with its count.
            square: square of the Gaussian shift of all steps without sampling, at least 0.
            laplace: Laplace shifts with their counts.

        Returns:
            The composition, which bounds ε at a δ and δ at an ε.
        """

    def search(
        self, directions: tuple[SampledSteps, ...], unknown: int, epsilon: float, log_delta: float, guess: float, /
    ) -> float | None:
        """Estimate the shift, count or rate of a run at which the larger δ(ε) of its directions meets a target.

        The estimate is not certified.

        Args:
            directions: the steps of the run in one direction or in both.
            unknown: 0 if the shift is unknown, 1 for the count, 2 for the rate.
            epsilon: ε, in nats.
            log_delta: the target, log δ.
            guess: initial estimate of the unknown.

        Returns:
            The estimate; None if the kernel has no answer.
        """

    def convolve(self, bits: int, steps: tuple[tuple[FloatArray, int], ...], /) -> bytes:
        """Return the probabilities of a sum of independent steps, on a circle of 2^`bits` lattice points.

        Args:
            bits: logarithm of the number of points, to base 2.
            steps: probabilities of one step on consecutive points, from the first point on, and the number of such
                steps.

        Returns:
            The probabilities of all points of the circle, as doubles of 8 bytes each.
        """


class _Module(Protocol):
    """Interface of the compiled module: the version of its interface, and its type of compositions."""

    INTERFACE: int
    Composition: MakeSum


_KNOWN: tuple[tuple[tuple[tuple[SampledSteps, ...], float, tuple[tuple[float, float], ...]], float], ...] = (
    ((((0.01, 1.0, 0, 1000.0),), 0.0, ()), 2.12451517112012),
    ((((0.01, 1.0, 1, 1000.0),), 0.0, ()), 1.58908876246488),
)
"""Compositions, and their ε at δ = 10^−6 (tests/golden/accounting.json for the first, the lattice engine for both)."""
_LOG_DELTA, _TOLERANCE = math.log(1e-6), 1e-11
"""Log δ at which the compositions are computed, and largest relative distance of a bound from the known ε."""


class KernelAbsent(Exception):
    """The error of a missing kernel. Its message gives the reason."""


@functools.cache
def load_kernel() -> MakeSum | None:
    """Load and check the compiled kernel, and return its type of compositions. The result is stored.

    Returns:
        The class of compositions, with the kernel's functions as methods; None if the kernel is not used.
    """
    try:
        return _load()
    except KernelAbsent:
        return None


def reason_for_absence() -> str | None:
    """Return the reason why the compiled kernel is not used, as a sentence; None if it is used."""
    try:
        _load()
    except KernelAbsent as absent:
        return str(absent)
    return None


def _load() -> MakeSum:
    """Import the compiled kernel and check it before its first use.

    The check computes known compositions, because another mathematical library could break the error bounds of the
    kernel.

    Returns:
        The class of compositions, which has the kernel's functions as methods.

    Raises:
        KernelAbsent: the kernel is turned off, was not built, is of another version, or computes wrong results.
    """
    if os.environ.get("EPSILOND_KERNEL", "").lower() == "off":
        raise KernelAbsent("the compiled kernel is turned off by EPSILOND_KERNEL")
    try:
        module = cast("_Module", importlib.import_module(NAME))
    except ImportError as error:
        raise KernelAbsent("the compiled kernel was not built") from error
    if module.INTERFACE != INTERFACE:
        raise KernelAbsent("the compiled kernel was built from other sources")
    if not agrees(module.Composition):
        raise KernelAbsent("the compiled kernel computes wrongly with this machine's mathematical library")
    return module.Composition


def agrees(make: MakeSum) -> bool:
    """Return whether a compiled kernel gives the known ε of a few compositions.

    It may not, because the mathematical library of this machine may differ from the one of the kernel's tests.

    Args:
        make: the kernel's type of compositions.

    Returns:
        True if for each composition the bounds on ε are in order, and within the tolerance of the known value.
    """
    for composition, known_epsilon in _KNOWN:
        answer = make(*composition).epsilon(_LOG_DELTA, 0.0)
        if not isinstance(answer, tuple):
            return False
        lower, upper, _ = answer
        least, largest = known_epsilon * (1.0 - _TOLERANCE), known_epsilon * (1.0 + _TOLERANCE)
        if not least <= lower <= upper <= largest:
            return False
    return True
