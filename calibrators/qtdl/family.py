"""The release of a run of noisy integers as a function of the noise, and the certified noise."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Literal

from epsilond.accountants.curve.curve import Curve
from epsilond.accountants.guarantee import Setting
from epsilond.accountants.kinds.truncated_discrete_laplace import worst_shift
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
"""Sensitivity that represents no integer movement, because sensitivities must be positive."""


@dataclass(frozen=True, kw_only=True)
class IntegerRelease:
    """All rounds of noisy integers that a problem is about, where neighbours are at most `movement` apart."""

    problem: GridProblem
    movement: Movement

    def noise(self, rate: float, levels: int) -> TruncatedDiscreteLaplace:
        """Return the message of a client at a rate and a number of levels."""
        return TruncatedDiscreteLaplace(
            noise_levels=max(levels, 1),
            decay_rate=rate,
            dimension=self.problem.dimension,
            l1_sensitivity=self.movement.l1,
            linf_sensitivity=self.movement.linf,
            l2_sensitivity=self.movement.l2,
        )

    def guarantee(self, noise: TruncatedDiscreteLaplace) -> Guarantee:
        """Return the guarantee of all rounds, with the probability that rounding fails added to δ.

        Rounding fails in a round if it moves two updates further apart than `movement`.
        """
        return with_failure(self.run_guarantee(noise, "default"), self.log_failure)

    def spec(self, noise: TruncatedDiscreteLaplace) -> Spec:
        """Return the spec of all rounds."""
        round_spec = self.problem.round_of(noise)
        return Repeated(times=self.problem.rounds, mechanism=round_spec) if self.problem.rounds > 1 else round_spec

    def run_guarantee(self, noise: TruncatedDiscreteLaplace, effort: Effort) -> Guarantee:
        """Return the guarantee of all rounds, if no rounding moves further than `movement`."""
        return guarantee_of(self.problem, self.spec(noise), effort)

    def add_witness(self, guarantee: Guarantee, noise: TruncatedDiscreteLaplace) -> Guarantee:
        """Add the lower bounds on δ of two neighbours on the grid, which rounding leaves unchanged, to a guarantee.

        The guarantee is returned unchanged if the problem has no such neighbours.
        """
        realised = self.problem.realised
        if realised is None:
            return guarantee
        values = replace(noise, l1_sensitivity=realised.l1, linf_sensitivity=realised.linf, l2_sensitivity=None)
        seen = self.run_guarantee(values, "default").curve.witnesses
        return replace(guarantee, curve=Curve(guarantee.curve.upper, (*guarantee.curve.witnesses, *seen)))

    def escapes(self, noise: TruncatedDiscreteLaplace) -> Guarantee:
        """Return the guarantee of all rounds in closed form, for ε that no privacy loss exceeds except by an escape.

        An escape is a message that only one of two neighbours can send.
        """
        problem = self.problem
        setting = Setting(relation=problem.relation, unit=problem.unit, observer=problem.observer)
        return with_failure(escape_guarantee(noise, setting, problem.rounds), self.log_failure)

    def without_l2(self) -> IntegerRelease:
        """Return the release with the ℓ2 bound replaced by its consequences for the other norms."""
        movement = self.movement
        if movement.l2 is None:
            return self
        square = math.floor(Fraction(movement.l2) ** 2)
        l1 = min(movement.l1, max(math.isqrt(self.problem.dimension * square), LEAST_MOVE))
        linf = min(movement.linf, max(math.isqrt(square), LEAST_MOVE))
        return replace(self, movement=Movement(l1, linf, None, movement.log_failure))

    @cached_property
    def log_failure(self) -> float:
        """Log of the probability that the rounding of some round moves further than `movement`."""
        return self.movement.log_failure + math.log(self.problem.rounds)

    @cached_property
    def parts(self) -> list[tuple[int, int]]:
        """Sizes of the worst shift, with counts over the rounds."""
        return [(size, count * self.problem.rounds) for size, count in worst_shift(self.noise(1.0, 1)).parts]

    @cached_property
    def total(self) -> int:
        """The ℓ1 norm of the worst shift over the rounds."""
        return sum(size * count for size, count in self.parts)


@dataclass(frozen=True, kw_only=True)
class CertifiedNoise:
    """Noise certified by `method`. If `minimal` is proved, one level less misses the target by the same bound."""

    method: Method
    release: IntegerRelease
    noise: TruncatedDiscreteLaplace
    guarantee: Guarantee
    minimal: Literal["proved", "searched"]

    @property
    def order(self) -> tuple[int, float]:
        """Sort key: fewer levels are better, then less variance."""
        return self.noise.noise_levels, variance(self.noise.decay_rate, self.noise.noise_levels)
