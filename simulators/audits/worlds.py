"""What is attacked: one data set or its neighbour, and how likely an output is under each.

Three worlds. In FIRST the victim's contribution is what the relation's first data set has. In SECOND it is what the
neighbour has: another contribution, or nothing. In ABSENT the victim takes no part, because it was not drawn. Under
add-or-remove-one SECOND and ABSENT are the same. A mechanism of which nothing is known but what replacing does has no
law for ABSENT.
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
"""Decimals of a loss that are kept: equal outputs have equal losses, in whatever order these were summed."""


@dataclass(frozen=True, kw_only=True)
class AttackSetting:
    """Whom the attack is on, and what the attacker sees."""

    relation: Relation
    unit: Unit = "record"
    observer: Observer = "server"
    attack: Attack = "mathematical"
    within_clients: bool = False
    """Clients have been drawn already: what a spec leaves open is drawn among the records of one."""
    zero_others: bool = False
    """Everyone else contributes nothing, so that ABSENT has a law for batches of fixed size too."""


class Attacked(Protocol):
    """A mechanism on the neighbours that its spec's definition makes easiest to tell apart."""

    @property
    def worlds(self) -> int:
        """2, or 3 where ABSENT has a law."""

    @property
    def work(self) -> float:
        """Cost of one output, about, in units of that of Gaussian noise on one number."""

    def draw(self, generator: np.random.Generator, world: Integers) -> Floats:
        """Runs the mechanism once for each entry of `world` (n,), on the data set of that world.

        Returns (worlds, n): the log density of each output in every world, up to a term that is common to them; −inf
        where the output is impossible. That of the world it was drawn in is finite.
        """


class AuditTarget(Protocol):
    """Anything that an attacker can turn into one number, larger where it believes in the first data set."""

    @property
    def work(self) -> float:
        """Cost of one output, about, in units of that of Gaussian noise on one number."""

    def statistics(self, generator: np.random.Generator, count: int, world: int) -> Floats:
        """`count` independent runs on FIRST or SECOND: (count,). ±inf is an output impossible on the other one."""


@dataclass(frozen=True)
class LogLikelihoodRatio:
    """The best attack of all: log P(output on FIRST) − log P(output on SECOND)."""

    attacked: Attacked

    @property
    def work(self) -> float:
        """That of the mechanism."""
        return self.attacked.work

    def statistics(self, generator: np.random.Generator, count: int, world: int) -> Floats:
        """The exact privacy losses of `count` outputs, to nine decimals."""
        logs = self.attacked.draw(generator, np.full(count, world, dtype=np.int64))
        return np.asarray(np.round(logs[FIRST] - logs[SECOND], SIGNIFICANT))


def mixed(weight: float, drawn: Floats, otherwise: Floats) -> Floats:
    """log(q e^drawn + (1 − q) e^otherwise)."""
    if weight >= 1.0:
        return drawn
    return np.asarray(np.logaddexp(np.log(weight) + drawn, np.log1p(-weight) + otherwise))
