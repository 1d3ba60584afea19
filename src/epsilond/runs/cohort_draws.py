"""Whether cohorts are uniformly random and independent of each other, decided while the run goes on."""

from __future__ import annotations

import math
from collections.abc import Collection, Hashable
from typing import Final

import numpy as np
from numpy.typing import NDArray

from epsilond.runs.false_alarms import PER_TEST, log_threshold

_LARGEST_LOG: Final = 500.0
"""Largest −log p [nat] that a bet uses, so that its exponential does not overflow."""

TURNS: Final = "clients are drawn again only after all others: cohorts that take turns are not independent draws"
"""Alarm of the bet on the clients that were drawn least often."""
SAME: Final = "the same clients are drawn again and again"
"""Alarm of the bet on the clients that were drawn most often."""
CYCLE: Final = "cohorts follow each other in the same order as before: the generator that draws them was reset"
"""Alarm of the bet on the cohort that followed the previous one before."""


class CohortDraws:
    """Two tests of the hypothesis that each cohort is a uniformly random subset, given its size.

    The hypothesis holds for Poisson sampling and for sampling without replacement. The first test rejects a client that
    is drawn too often or too rarely, by Chernoff's bound. The second bets on predictions of the next cohort: the
    clients that were drawn least often, those that were drawn most often, and the cohort that followed the previous
    one when it was last drawn. Under the hypothesis the wealth of a bet has an expectation of at most 1, so a large
    wealth is improbable (Ville's inequality).

    Attributes:
        alarm: the observation that rejects the hypothesis; None if there is none.
    """

    def __init__(self) -> None:
        """Start the tests of a run without any cohort so far. The wealth of each bet is 0 until the first step."""
        self.alarm: str | None = None
        self._steps = 0

        self._index: dict[Hashable, int] = {}
        # For each client: number of cohorts with it, expected number, and number of rounds in the population.
        self._drawn = np.zeros(0)
        self._expected = np.zeros(0)
        self._rounds = np.zeros(0)

        # Wealth of the bets on each kind of prediction, and the memory from which predictions are made.
        self._wealth = {TURNS: 0.0, SAME: 0.0, CYCLE: 0.0}
        self._followers: dict[int, int] = {}  # hash of the cohort that followed a cohort, by the hash of the latter
        self._previous: int | None = None

    def observe(self, cohort: Collection[Hashable], population: Collection[Hashable]) -> None:
        """Test the cohort (the clients) of the next round, and set `alarm` at the first rejection.

        Args:
            cohort: the clients of the round, each once.
            population: the clients from which the cohort was drawn; if there are none, nothing is tested.
        """
        if not population:
            return
        self._steps += 1
        population_indices = self._indices(population)
        members = self._indices(cohort)
        self._bet(members, population_indices, hash(frozenset(cohort)))
        self._drawn[members] += 1.0
        self._rounds[population_indices] += 1.0
        self._expected[population_indices] += len(members) / len(population_indices)
        self._test_counts(population_indices)

    def _indices(self, clients: Collection[Hashable]) -> NDArray[np.intp]:
        """Return the indices of clients in the arrays of counts, and extend the arrays for new clients.

        A client keeps its index for the whole run.

        Args:
            clients: ids of the clients.

        Returns:
            One index for each client, in the same order.
        """
        index_of = self._index
        indices = [index_of.setdefault(client, len(index_of)) for client in clients]
        new_clients = len(index_of) - len(self._drawn)
        if new_clients > 0:
            zeros = np.zeros(new_clients)
            self._drawn = np.concatenate([self._drawn, zeros])
            self._expected = np.concatenate([self._expected, zeros])
            self._rounds = np.concatenate([self._rounds, zeros])
        return np.asarray(indices, dtype=np.intp)

    def _test_counts(self, population_indices: NDArray[np.intp]) -> None:
        """Set the alarm if a client was drawn too often or too rarely.

        Let a client be drawn with mean probability p over t rounds. The share of rounds with the client is beyond x, on
        one side of p, with probability at most exp(−t KL(x, p)) (Chernoff's bound). KL is the Kullback–Leibler
        divergence of Bernoulli distributions.

        Args:
            population_indices: indices of the clients in the population.
        """
        rounds, drawn, expected = (
            self._rounds[population_indices],
            self._drawn[population_indices],
            self._expected[population_indices],
        )
        exponents = rounds * _divergence(drawn / rounds, expected / rounds)
        worst = int(np.argmax(exponents))
        # Each client has two tests, for each side of p.
        if exponents[worst] >= log_threshold(self._steps, hypotheses=2 * len(population_indices)):
            average = f"{expected[worst]:.1f} on average"
            self._raise_alarm(
                f"a client is in {drawn[worst]:.0f} of {rounds[worst]:.0f} cohorts where fresh draws give {average}"
            )

    def _bet(self, members: NDArray[np.intp], population_indices: NDArray[np.intp], cohort: int) -> None:
        """Test by betting whether cohorts are drawn at random, and raise the alarm if the bets win too much.

        There are three bets on the cohort of step t. Each predicts a set of cohorts, and stakes half of its wealth. If
        the cohort is in the set, it receives the stake divided by the probability of the set. Before step t each wealth
        grows by 1/(t (t + 1)), which sums to 1 over all t. Let α be the level `PER_TEST` of the test. By Ville's
        inequality the sum of the three wealths reaches 3/α with probability at most α.

        Args:
            members: indices of the clients in the cohort.
            population_indices: indices of the clients in the population.
            cohort: hash of the cohort.
        """
        log_total = _log_choices(len(population_indices), len(members))
        repeats_successor = self._previous is not None and self._followers.get(self._previous) == cohort
        # Logarithm of the number of cohorts that each bet predicts; None if this cohort is not one of them.
        log_predicted = {
            TURNS: self._log_predicted_cohorts(members, population_indices, sign=1.0),
            SAME: self._log_predicted_cohorts(members, population_indices, sign=-1.0),
            CYCLE: 0.0 if repeats_successor else None,
        }
        new_wealth = 1.0 / (self._steps * (self._steps + 1))
        for name, log_count in log_predicted.items():
            payoff = 0.0 if log_count is None else math.exp(min(log_total - log_count, _LARGEST_LOG))
            # Half of the wealth is kept, and the other half is multiplied by the payoff.
            self._wealth[name] = (self._wealth[name] + new_wealth) * (1.0 + payoff) / 2.0
        if self._previous is not None:
            self._followers[self._previous] = cohort
        self._previous = cohort
        if sum(self._wealth.values()) * PER_TEST >= len(self._wealth):
            self._raise_alarm(max(self._wealth, key=self._wealth.__getitem__))

    def _log_predicted_cohorts(
        self, members: NDArray[np.intp], population_indices: NDArray[np.intp], *, sign: float
    ) -> float | None:
        """Return the log of the number of cohorts that consist of the clients drawn least often, or most often.

        A cohort is the set of clients of a round. If several clients have been drawn equally often, several cohorts of
        the same size fit this prediction.

        Args:
            members: indices of the clients in the cohort.
            population_indices: indices of the clients in the population.
            sign: 1 to predict the clients that were drawn least often, −1 for those drawn most often.

        Returns:
            The natural logarithm of the number; None if the given cohort is not one of them.
        """
        size = len(members)
        if size in {0, len(population_indices)}:  # there is only one such cohort
            return 0.0
        counts = sign * self._drawn[population_indices]
        limit = np.partition(counts, size - 1)[size - 1]  # the size-th smallest count
        certain = int((counts < limit).sum())  # clients that each predicted cohort has
        ties = int((counts == limit).sum())  # clients of which the remaining members are chosen
        own_counts = sign * self._drawn[members]
        has_all_certain = int((own_counts < limit).sum()) == certain
        has_others = bool((own_counts > limit).any())
        if not has_all_certain or has_others:
            return None
        return _log_choices(ties, size - certain)

    def _raise_alarm(self, message: str) -> None:
        """Set the alarm, unless an earlier rejection has set it.

        Args:
            message: sentence about the rejection.
        """
        self.alarm = self.alarm or message


def _log_choices(count: int, size: int) -> float:
    """Return the logarithm of the binomial coefficient C(count, size), the number of subsets of a set.

    Args:
        count: number of elements of the set.
        size: number of elements of each subset, from 0 to `count`.

    Returns:
        The natural logarithm, by the logarithm of the gamma function, which does not overflow.
    """
    return math.lgamma(count + 1) - math.lgamma(size + 1) - math.lgamma(count - size + 1)


def _divergence(shares: NDArray[np.float64], rates: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the Kullback–Leibler divergence [nat] of Bernoulli(x) from Bernoulli(q), entry by entry.

    It is x log(x/q) + (1 − x) log((1 − x)/(1 − q)), where 0 log 0 is 0. Where x = q it is 0.

    Args:
        shares: shares x in [0, 1], any shape.
        rates: rates q in [0, 1], the same shape.

    Returns:
        The divergences, in the shape of `shares`; ∞ where a rate of 0 or 1 excludes the share.
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        term_of_one = np.where(shares > 0.0, shares * np.log(shares / rates), 0.0)
        term_of_zero = np.where(shares < 1.0, (1.0 - shares) * np.log((1.0 - shares) / (1.0 - rates)), 0.0)
    return np.where(shares == rates, 0.0, term_of_one + term_of_zero)
