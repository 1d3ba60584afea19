"""The random choice of the clients of a round of DP-FedAvg, and tests of this choice."""

from __future__ import annotations

from collections.abc import Collection
from typing import Final

from epsilond.accountants.specs import Spec, Subsampled
from epsilond.integrations.federated import of_cohorts
from epsilond.mechanisms.randomness import RandomSource
from epsilond.runs.batch_sizes import BatchSizes
from epsilond.runs.cohort_draws import CohortDraws
from epsilond.runs.evidence import Evidence
from epsilond.runs.premises import COHORT

FIX_DRAW: Final = "Let each round draw its clients anew, from a generator that is not reset."


def draw_cohort(step: Spec, nodes: list[int], source: RandomSource) -> list[int]:
    """Choose at random the nodes (clients) that take part in one round.

    Args:
        step: mechanism of the round, with its sampling. Without subsampling, all nodes take part.
        nodes: the connected nodes. For sampling without replacement, they must be the whole population.
        source: source of random bits.

    Returns:
        The chosen nodes, in the order of `nodes` for Poisson sampling, which may choose none.
    """
    if not isinstance(step, Subsampled):
        return nodes
    # The assertions are for type checkers: `Subsampled` requires these fields for its kind of sampling.
    if step.sampling == "poisson":
        assert step.rate is not None
        flips = source.flips(step.rate, (len(nodes),))
        return [node for node, is_drawn in zip(nodes, flips, strict=True) if is_drawn]
    assert step.population is not None
    assert step.batch_size is not None
    return [nodes[index] for index in source.subsets((), step.population, step.batch_size)]


class CohortWatch:
    """Statistical tests of whether the clients of each round are chosen as the privacy account assumes.

    Sampling amplifies privacy only if it is random. One test is for the sizes of Poisson samples, the other for the
    choice of the clients.

    Args:
        evidence: record of the conditions of the theorem, to which rejections of the tests are added.
    """

    def __init__(self, evidence: Evidence) -> None:
        self._evidence = evidence
        self._sizes, self._draws = BatchSizes(), CohortDraws()

    def observe(self, cohort: Collection[int], nodes: Collection[int], *, step: Spec) -> bool:
        """Add the clients of the next round to the tests, and record a rejection of the assumed sampling.

        Args:
            cohort: the clients that were chosen.
            nodes: the clients that were connected.
            step: mechanism of the round, with its sampling. Nothing is tested without subsampling.

        Returns:
            True if no test has rejected the sampling so far.
        """
        if not isinstance(step, Subsampled):
            return True
        if step.sampling == "poisson" and nodes:
            assert step.rate is not None  # Poisson sampling has a rate
            self._sizes.observe(len(cohort), records=len(nodes), rate=step.rate)
        self._draws.observe(cohort, nodes)
        alarm = self._draws.alarm
        if alarm is None and self._sizes.alarm is not None:
            alarm = of_cohorts(self._sizes.alarm)
        if alarm is not None:
            self._evidence.contradict(COHORT, alarm, remedy=FIX_DRAW, declarable=False)
        return alarm is None
