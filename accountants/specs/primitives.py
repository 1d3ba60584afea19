"""The primitives of mechanisms, which theorems and attacks refer to.

The property `primitive` of a spec is one of these. A statement about a primitive holds for every kind that has it.
"""

from __future__ import annotations

from typing import Literal, NamedTuple

from epsilond.accountants.quantities import Quantity

KIND = Quantity(description="which mechanism this is")
"""The quantity of the field that names the kind of a spec."""


class NoisySum(NamedTuple):
    """Noise on a sum of contributions of bounded norm.

    The relation gives the sensitivity, and zero is a contribution.

    Attributes:
        distribution: of the noise. The norm is ℓ2 for Gaussian noise and ℓ1 for Laplace noise.
        multiplier: standard deviation or Laplace scale, over the bound on the norm of one contribution.
    """

    distribution: Literal["gaussian", "laplace"]
    multiplier: float


class IntegerShift(NamedTuple):
    """Bounds on the difference of two integer vectors, for neighbours in the request's relation.

    Attributes:
        l1: bound on the ℓ1 norm.
        linf: bound on the ℓ∞ norm.
        l2: bound on the ℓ2 norm, if there is one.
        dimension: number of coordinates; None if it is not known.
    """

    l1: float
    linf: float
    l2: float | None = None
    dimension: int | None = None

    @property
    def fits_one_axis(self) -> bool:
        """True if a single coordinate may differ by the whole ℓ1 norm."""
        return self.linf >= self.l1 and (self.l2 is None or self.l2 >= self.l1)


class NoisyIntegers(NamedTuple):
    """Two-sided geometric noise, P(y) ∝ e^(−decay_rate·|y|), on each coordinate of an integer vector.

    Attributes:
        decay_rate: rate of the noise, per grid step.
        shift: bounds on the difference of two neighbours' vectors.
        noise_levels: largest |y|; None if there is no bound.
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
    """A mechanism of which only an (ε, δ) guarantee is known, in the request's relation."""

    epsilon: float
    delta: float


Primitive = NoisySum | NoisyIntegers | CategoryReport | BlackBox
