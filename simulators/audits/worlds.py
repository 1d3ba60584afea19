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
"""Indices of the data sets, which are called worlds: two neighbours, and the data set without the victim."""
PARTICIPANT_SEEN = frozenset({"server"})
"""Observers who see which clients participate, because they receive their messages."""
LOSS_DECIMALS = 9
"""Decimals of a loss that are kept, so that equal outputs have equal losses in any order of summation."""


@dataclass(frozen=True, kw_only=True)
class AttackSetting:
    """Setting of an attack: neighbouring relation, protected unit, observer, and attacked implementation.

    The victim is the record or client that differs between the two neighbouring data sets.

    Attributes:
        relation: relation of the two data sets: replace-one, zero-out-one or add-or-remove-one.
        unit: protected unit, a record or a client.
        observer: party with the observations that are attacked, such as the server.
        attack: "mathematical" to sample the noise from its formula; "implemented" to run the code that clients run.
        within_clients: True if clients have been drawn already, so that further subsampling without a stated unit
            selects their records.
        zero_others: True if all other records contribute nothing to the output. The output without the victim (the
            world ABSENT) then has a known distribution for batches of fixed size too.
    """

    relation: Relation
    unit: Unit = "record"
    observer: Observer = "server"
    attack: Attack = "mathematical"
    within_clients: bool = False
    zero_others: bool = False


class AttackedMechanism(Protocol):
    """A mechanism on the neighbouring data sets that an attacker can distinguish most easily.

    The code calls these data sets worlds. FIRST and SECOND differ in one client or record, the victim. In ABSENT the
    victim does not participate.
    """

    @property
    def worlds(self) -> int:
        """Number of data sets ("worlds"): 2, or 3 if the outputs in ABSENT have a known distribution."""

    @property
    def work(self) -> float:
        """Cost of one output, in units of Gaussian noise on one number."""

    def draw(self, generator: np.random.Generator, world: Integers) -> Floats:
        """Run the mechanism several times, and return the log density of each output on every data set ("world").

        Args:
            generator: source of randomness.
            world: index of the data set of each run, (n,), for n runs.

        Returns:
            Log densities of each output in every world, (worlds, n), up to a term that all worlds share; −inf if the
            output is impossible. The log density in the world from which an output was drawn is finite.
        """


class AuditTarget(Protocol):
    """An attacked mechanism with one number for each output, the statistic of the attacker.

    The statistic is larger if the output speaks for the first of two neighbouring data sets, for example the privacy
    loss. Thresholds on it are tests, and their error rates give lower bounds on ε.
    """

    @property
    def work(self) -> float:
        """Cost of one output, in units of Gaussian noise on one number."""

    def statistics(self, generator: np.random.Generator, count: int, world: int) -> Floats:
        """Return the statistics of independent runs on one data set.

        Args:
            generator: source of randomness.
            count: number of runs.
            world: FIRST or SECOND, the data set on which the mechanism is run.

        Returns:
            Statistics, (count,). ±inf means that the output is impossible on the other data set.
        """


@dataclass(frozen=True)
class LogLikelihoodRatio:
    """The best statistic to distinguish two data sets: log P(output on FIRST) − log P(output on SECOND).

    By the lemma of Neyman and Pearson, no other test has a larger true positive rate at the same false positive rate.

    Attributes:
        mechanism: the mechanism that is attacked, with the log densities of its outputs on both data sets.
    """

    mechanism: AttackedMechanism

    @property
    def work(self) -> float:
        """Cost of one output of the mechanism."""
        return self.mechanism.work

    def statistics(self, generator: np.random.Generator, count: int, world: int) -> Floats:
        """Run the mechanism several times on one data set, and return the privacy losses of the outputs.

        FIRST and SECOND are the indices 0 and 1 of two neighbouring data sets. The privacy loss of an output is
        log P(output on FIRST) − log P(output on SECOND), rounded to nine decimals.

        Args:
            generator: source of randomness.
            count: number of outputs, at least 0.
            world: FIRST or SECOND, the data set on which the mechanism runs.

        Returns:
            The privacy losses, (count,).
        """
        logs = self.mechanism.draw(generator, np.full(count, world, dtype=np.int64))
        # Rounded, so that equal outputs have equal losses in any order of summation.
        return np.asarray(np.round(logs[FIRST] - logs[SECOND], LOSS_DECIMALS))


def mix_log_densities(weight: float, included: Floats, otherwise: Floats) -> Floats:
    """Return the log density of outputs in which a record takes part with probability q.

    It is that of a mixture, log(q e^included + (1 − q) e^otherwise).

    Args:
        weight: probability q > 0 with which the record is included.
        included: log densities if the record is included.
        otherwise: log densities if it is not.

    Returns:
        Log densities of the mixture, one for each output.
    """
    if weight >= 1.0:
        return included
    return np.asarray(np.logaddexp(np.log(weight) + included, np.log1p(-weight) + otherwise))
