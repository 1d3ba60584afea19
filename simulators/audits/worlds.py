"""Worlds of an attack: a data set or its neighbour, and the likelihood of an output under each.

There are three worlds. In FIRST the victim's contribution is that of the relation's first data set. In SECOND it is
that of the neighbour: another contribution, or none. In ABSENT the victim does not participate, because it was not
drawn. Under add-or-remove-one SECOND and ABSENT are equal. If only the effect of replacing a record is known, ABSENT
has no distribution.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, Protocol

import numpy as np
import numpy.typing as npt

from epsilond.accountants.quantities import Observer, Relation, Unit

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]
Attack = Literal["mathematical", "implemented"]

FIRST, SECOND, ABSENT = 0, 1, 2
PARTICIPANT_SEEN = frozenset({"server"})
SIGNIFICANT = 9
"""Decimals of a loss that are kept, so that equal outputs have equal losses in any order of summation."""


@dataclass(frozen=True, kw_only=True)
class AttackSetting:
    """Setting of an attack: relation, unit, observer, and the implementation that is attacked."""

    relation: Relation
    unit: Unit = "record"
    observer: Observer = "server"
    attack: Attack = "mathematical"
    within_clients: bool = False
    """True if clients have been drawn already, so that an open level means records of one client."""
    zero_others: bool = False
    """True if all others contribute nothing, so that ABSENT has a distribution for batches of fixed size too."""


class AttackedMechanism(Protocol):
    """A mechanism on the neighbours that are easiest to distinguish."""

    @property
    def worlds(self) -> int:
        """Number of worlds: 2, or 3 if ABSENT has a distribution."""

    @property
    def work(self) -> float:
        """Cost of one output, in units of Gaussian noise on one number."""

    def draw(self, generator: np.random.Generator, world: Integers) -> Floats:
        """Run the mechanism once for each entry of `world` (n,), on the data set of that world.

        Returns:
            Log densities of each output in every world, (worlds, n), up to a term that all worlds share; −inf if the
            output is impossible. The density in the world of the draw is finite.
        """


class AuditTarget(Protocol):
    """Source of a statistic that is larger if the first data set is more likely."""

    @property
    def work(self) -> float:
        """Cost of one output, in units of Gaussian noise on one number."""

    def statistics(self, generator: np.random.Generator, count: int, world: int) -> Floats:
        """Return the statistics of independent runs on one data set.

        Args:
            generator: source of randomness.
            count: number of runs.
            world: FIRST or SECOND.

        Returns:
            Statistics, (count,). ±inf means that the output is impossible on the other data set.
        """


@dataclass(frozen=True)
class LogLikelihoodRatio:
    """The optimal statistic: log P(output on FIRST) − log P(output on SECOND)."""

    mechanism: AttackedMechanism

    @property
    def work(self) -> float:
        """Cost of one output of the mechanism."""
        return self.mechanism.work

    def statistics(self, generator: np.random.Generator, count: int, world: int) -> Floats:
        """Return the exact privacy losses of independent outputs, to nine decimals.

        Args:
            generator: source of randomness.
            count: number of outputs.
            world: FIRST or SECOND.
        """
        logs = self.mechanism.draw(generator, np.full(count, world, dtype=np.int64))
        return np.asarray(np.round(logs[FIRST] - logs[SECOND], SIGNIFICANT))


def mix_log_densities(weight: float, included: Floats, otherwise: Floats) -> Floats:
    """Return log(q e^included + (1 − q) e^otherwise).

    Args:
        weight: probability q of inclusion.
        included: log densities if the victim is included.
        otherwise: log densities if it is not.
    """
    if weight >= 1.0:
        return included
    return np.asarray(np.logaddexp(np.log(weight) + included, np.log1p(-weight) + otherwise))
