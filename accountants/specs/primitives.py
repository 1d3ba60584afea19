"""The primitives of mechanisms, which theorems and attacks refer to.

The property `primitive` of a spec is one of these. A statement about a primitive holds for every kind that has it.
"""

from __future__ import annotations

import math
from typing import Literal, NamedTuple

from epsilond.accountants.quantities import Quantity
from epsilond.accountants.specs.selection.threshold_crossings import ThresholdNoise

KIND = Quantity(description="name of the kind of mechanism")
"""The quantity of the field that names the kind of a spec."""


class NoisySum(NamedTuple):
    """Noise on a sum of contributions of bounded norm.

    The sensitivity of the sum follows from the neighbouring relation: twice the bound for replace-one, and the bound
    otherwise. A contribution may be zero.

    Attributes:
        distribution: distribution of the noise. The norm is ℓ2 for Gaussian noise and ℓ1 for Laplace noise.
        multiplier: standard deviation or Laplace scale, divided by the bound on the norm of one contribution.
    """

    distribution: Literal["gaussian", "laplace"]
    multiplier: float


class RandomSum(NamedTuple):
    """Gaussian noise on a sum of contributions of random size, which is drawn anew and independently in every release.

    Attributes:
        sensitivities: bounds on the ℓ2 norm of a contribution, in units of the norm bound of one contribution.
        probabilities: probability of each of them; the largest is 1 minus the others.
        multiplier: standard deviation of the noise, in the same unit.
    """

    sensitivities: tuple[float, ...]
    probabilities: tuple[float, ...]
    multiplier: float


class IntegerShift(NamedTuple):
    """Bounds on the difference of the integer vectors of two neighbouring data sets.

    Attributes:
        l1: bound on the ℓ1 norm, in grid steps.
        linf: bound on the ℓ∞ norm, in grid steps.
        l2: bound on the ℓ2 norm, in grid steps; None if there is none.
        dimension: number of coordinates; None if it is not known.
    """

    l1: float
    linf: float
    l2: float | None = None
    dimension: int | None = None

    @classmethod
    def within(cls, l2: float, *, dimension: int, l1: float = math.inf) -> IntegerShift:
        """Derive all bounds from a bound on the ℓ2 norm of the difference of two integer vectors.

        Integers satisfy |x| ≤ x², so the ℓ1 norm is at most the squared ℓ2 norm. It is also at most √d times the ℓ2
        norm for d coordinates. The ℓ∞ norm is at most the ℓ2 norm.

        Args:
            l2: bound on the ℓ2 norm in grid steps, at least 0.
            dimension: number d of coordinates, at least 1.
            l1: known bound on the ℓ1 norm in grid steps; infinite if there is none.
        """
        least_l1 = min(l1, l2 * l2, math.sqrt(dimension) * l2)
        return cls(l1=least_l1, linf=l2, l2=l2, dimension=dimension)

    @property
    def fits_one_axis(self) -> bool:
        """True if the bounds allow a difference in a single coordinate by the whole bound on the ℓ1 norm."""
        return self.linf >= self.l1 and (self.l2 is None or self.l2 >= self.l1)


class NoisyIntegers(NamedTuple):
    """Two-sided geometric noise, P(y) ∝ e^(−decay_rate·|y|), on each coordinate of an integer vector.

    Attributes:
        decay_rate: decay rate of the probabilities, per grid step.
        shift: bounds on the difference of the vectors of two neighbouring data sets.
        noise_levels: largest |y| of truncated noise; None if the noise is not truncated.
    """

    decay_rate: float
    shift: IntegerShift
    noise_levels: int | None = None


class CategoryReport(NamedTuple):
    """A report of a record's category by randomized response, under the record's name.

    Attributes:
        epsilon: log ratio of the probabilities of the true category and of another one, in nats.
        categories: number of categories.
    """

    epsilon: float
    categories: int


class BlackBox(NamedTuple):
    """A mechanism of which only an (ε, δ) guarantee is known, in the request's relation.

    Attributes:
        epsilon: ε, in nats.
        delta: δ, a probability.
    """

    epsilon: float
    delta: float


class DeclaredBounds(NamedTuple):
    """A mechanism of which only bounds are known that the caller declares, in the request's relation.

    The attributes describe the mechanism with the largest privacy losses that satisfies the declared bounds.

    Attributes:
        epsilon: ε of this mechanism, in nats.
        delta: δ of this mechanism, a probability.
    """

    epsilon: float
    delta: float


class ShiftedIntegers(NamedTuple):
    """Symmetric log-concave noise on each coordinate of an integer vector.

    Attributes:
        distribution: distribution of the noise.
        scale: scale σ of discrete Gaussian noise, or variance of Skellam noise.
        shift: bounds on the difference of the vectors of two neighbouring data sets.
    """

    distribution: Literal["discrete-gaussian", "skellam"]
    scale: float
    shift: IntegerShift


ScoreNoise = Literal["laplace", "gumbel", "exponential"]


class ScoredChoice(NamedTuple):
    """A choice of the candidate with the largest score, after independent noise of scale 2/ε on each score.

    A score changes by at most 1 between neighbours in the request's relation.

    Attributes:
        epsilon: ε, the pure privacy parameter of the choice, in nats.
        noise: distribution of the noise. Gumbel noise gives the exponential mechanism, and exponential noise gives
            permute-and-flip.
    """

    epsilon: float
    noise: ScoreNoise


class ThresholdAnswers(NamedTuple):
    """Answers whether queries of sensitivity 1 are above a noisy threshold, by the sparse vector technique.

    Attributes:
        noise: the noise on the threshold and on the queries.
    """

    noise: ThresholdNoise


class SummedTrials(NamedTuple):
    """Sums over clients of binomial variables with success probabilities that depend on the clients' values.

    Attributes:
        trials: number of trials of one client for one coordinate.
        theta: largest distance of a success probability from 1/2.
        dimension: number of coordinates.
        clients: number of clients in a sum.
    """

    trials: int
    theta: float
    dimension: int
    clients: int


Primitive = (
    NoisySum
    | RandomSum
    | NoisyIntegers
    | CategoryReport
    | BlackBox
    | DeclaredBounds
    | ScoredChoice
    | ShiftedIntegers
    | SummedTrials
    | ThresholdAnswers
)
