"""The release of a run of noisy integers as a function of the noise, and the certified noise."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Literal

from epsilond.accountants.curve.curve import Curve
from epsilond.accountants.guarantee import Setting
from epsilond.accountants.kinds.integers.truncated_discrete_laplace import worst_shift
from epsilond.accountants.numerics.truncated_laplace import variance
from epsilond.accountants.specs import Repeated, TruncatedDiscreteLaplace
from epsilond.accountants.theorems.conversions.escape import escape_guarantee, with_failure
from epsilond.accountants.theorems.papers.das.sensitivity import Movement
from epsilond.calibrators.search import guarantee_of

if TYPE_CHECKING:
    from epsilond.accountants.guarantee import Guarantee
    from epsilond.accountants.rule import Effort
    from epsilond.accountants.specs import Spec
    from epsilond.calibrators.qtdl.problem import GridProblem, Method


LEAST_MOVE = 0.5
"""Sensitivity in place of 0, because sensitivities must be positive; integers within 1/2 are equal."""


@dataclass(frozen=True, kw_only=True)
class IntegerRelease:
    """The messages of all rounds of a run: integers with truncated discrete Laplace noise.

    Attributes:
        problem: the request, with the number of rounds and of coordinates.
        movement: bounds on the distances of the integers of two neighbours in a round, in grid steps.
    """

    problem: GridProblem
    movement: Movement

    def noise(self, rate: float, levels: int) -> TruncatedDiscreteLaplace:
        """Return the mechanism of one message: truncated discrete Laplace noise with decay rate α and m levels.

        The noise y has |y| ≤ m and a probability proportional to e^(−α|y|).

        Args:
            rate: decay rate α per grid step, above 0.
            levels: largest absolute value m of the noise, in grid steps; values below 1 count as 1.

        Returns:
            The specification, with bounds on the distance between the messages of two neighbours.
        """
        return TruncatedDiscreteLaplace(
            noise_levels=max(levels, 1),
            decay_rate=rate,
            dimension=self.problem.dimension,
            l1_sensitivity=self.movement.l1,
            linf_sensitivity=self.movement.linf,
            l2_sensitivity=self.movement.l2,
        )

    def guarantee(self, noise: TruncatedDiscreteLaplace) -> Guarantee:
        """Return the guarantee of all rounds. Its δ includes the probability that a rounding fails.

        A rounding fails if it moves two updates further apart than `movement`.

        Args:
            noise: the mechanism of one message.
        """
        return with_failure(self.run_guarantee(noise, "default"), self.log_failure)

    def spec(self, noise: TruncatedDiscreteLaplace) -> Spec:
        """Return the specification of all rounds, from which their privacy is computed.

        Args:
            noise: the mechanism of one message.
        """
        round_spec = self.problem.round_of(noise)
        if self.problem.rounds == 1:
            return round_spec
        return Repeated(times=self.problem.rounds, mechanism=round_spec)

    def run_guarantee(self, noise: TruncatedDiscreteLaplace, effort: Effort) -> Guarantee:
        """Return the guarantee of all rounds, under the assumption that no rounding exceeds the bounds `movement`."""
        return guarantee_of(self.problem, self.spec(noise), effort)

    def add_witness(self, guarantee: Guarantee, noise: TruncatedDiscreteLaplace) -> Guarantee:
        """Add lower bounds on δ to a guarantee, from two neighbouring updates that are multiples of the grid step.

        Rounding leaves such updates unchanged, so their distance is attained.

        Args:
            guarantee: the guarantee of all rounds.
            noise: the noise of one message.

        Returns:
            The guarantee with these lower bounds; unchanged if the problem has no such neighbours.
        """
        attained = self.problem.realised
        if attained is None:
            return guarantee
        attained_noise = replace(noise, l1_sensitivity=attained.l1, linf_sensitivity=attained.linf, l2_sensitivity=None)
        further_witnesses = self.run_guarantee(attained_noise, "default").curve.witnesses
        witnesses = (*guarantee.curve.witnesses, *further_witnesses)
        return replace(guarantee, curve=Curve(guarantee.curve.upper, witnesses))

    def escapes(self, noise: TruncatedDiscreteLaplace) -> Guarantee:
        """Return the guarantee of all rounds in which δ is the probability of an escape, a closed form.

        An escape is a message that only one of two neighbours can send. The guarantee is for the largest privacy loss ε
        of all other messages.

        Args:
            noise: the mechanism of one message.

        Returns:
            The guarantee. Its δ includes the probability that a rounding fails.
        """
        problem = self.problem
        setting = Setting.of(relation=problem.relation, unit=problem.unit, observer=problem.observer)
        return with_failure(escape_guarantee(noise, setting, problem.rounds), self.log_failure)

    def without_l2(self) -> IntegerRelease:
        """Return the release with the bounds in the other norms that the bound on the ℓ2 distance implies.

        For a vector x of d integers, ‖x‖₂ ≤ Δ₂ implies ‖x‖₁ ≤ ⌊√(d ⌊Δ₂²⌋)⌋ and ‖x‖∞ ≤ ⌊√⌊Δ₂²⌋⌋.

        Returns:
            A copy without the ℓ2 bound, and with the smaller of the given and the implied bounds. If this release has
            no ℓ2 bound, it is returned itself.
        """
        movement = self.movement
        if movement.l2 is None:
            return self
        squared_l2 = math.floor(Fraction(movement.l2) ** 2)
        implied_l1 = max(math.isqrt(self.problem.dimension * squared_l2), LEAST_MOVE)
        implied_linf = max(math.isqrt(squared_l2), LEAST_MOVE)
        l1 = min(movement.l1, implied_l1)
        linf = min(movement.linf, implied_linf)
        return replace(self, movement=Movement(l1, linf, None, movement.log_failure))

    @cached_property
    def log_failure(self) -> float:
        """Natural logarithm of a bound on the probability that a rounding fails in some round; −∞ if none can fail.

        A rounding fails if it moves two updates further apart than `movement`. The bound is the sum over the rounds.
        """
        return self.movement.log_failure + math.log(self.problem.rounds)

    @cached_property
    def parts(self) -> list[tuple[int, int]]:
        """Worst difference of two neighbours over all rounds, as pairs of a shift and its number of coordinates."""
        worst = worst_shift(self.noise(1.0, 1))  # the result does not depend on the rate and the number of levels
        return [(size, count * self.problem.rounds) for size, count in worst.parts]

    @cached_property
    def total(self) -> int:
        """ℓ1 norm of the worst difference of two neighbours over all rounds, in grid steps."""
        return sum(size * count for size, count in self.parts)


@dataclass(frozen=True, kw_only=True)
class CertifiedNoise:
    """A noise that provably meets the target.

    Attributes:
        method: name of the proof.
        release: the messages of all rounds.
        noise: the noise of one message.
        guarantee: the guarantee of all rounds.
        minimal: `proved` if one level less provably misses the target by the same bound, otherwise `searched`.
    """

    method: Method
    release: IntegerRelease
    noise: TruncatedDiscreteLaplace
    guarantee: Guarantee
    minimal: Literal["proved", "searched"]

    @property
    def order(self) -> tuple[int, float]:
        """Sort key: fewer levels are better, then less variance."""
        return self.noise.noise_levels, variance(self.noise.decay_rate, self.noise.noise_levels)
