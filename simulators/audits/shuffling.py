"""Attacks on shuffled reports: the assignment of reports to clients is hidden, and only their multiset is seen."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from epsilond.simulators.audits.draws.sampling import log_mean_exp
from epsilond.simulators.audits.worlds import FIRST, SECOND, AttackedMechanism, Floats, Integers

CELLS = 500_000
"""Reports in memory at one time."""


@dataclass(frozen=True)
class ShuffledReports:
    """Attack on shuffled reports of clients, of which all except one have the same record.

    FIRST and SECOND are the two data sets. They differ in the record of one client, the victim. All other records equal
    the victim's record in SECOND. Every report is the victim's with equal probability. The density of the reports on
    FIRST is therefore their density on SECOND times the mean likelihood ratio of a report.

    Attributes:
        report: mechanism of one client's report.
        clients: number of clients, including the victim.
        worlds: number of data sets, 2.
    """

    report: AttackedMechanism
    clients: int
    worlds: int = 2

    @property
    def work(self) -> float:
        """Cost of every client's report and of their comparison."""
        return 1.5 * self.clients * max(self.report.work, 1.0)

    def draw(self, generator: np.random.Generator, world: Integers) -> Floats:
        """Draw shuffled reports, and return the log of their density divided by the density on the data set SECOND.

        FIRST and SECOND are the indices 0 and 1 of the two data sets, which differ in the record of one client.

        Args:
            generator: source of randomness.
            world: FIRST or SECOND for each run, the data set on which its reports are drawn.

        Returns:
            The log densities on FIRST and on SECOND, (2, runs). They are 0 and −∞ for an output that is impossible on
            SECOND.
        """
        if world.size == 0:
            return np.zeros((2, 0))
        # At most about `CELLS` reports are in memory at one time.
        runs_at_a_time = max(1, CELLS // self.clients)
        starts = range(0, world.size, runs_at_a_time)
        chunks = [self._chunk(generator, world[start : start + runs_at_a_time]) for start in starts]
        return np.concatenate(chunks, axis=1)

    def _chunk(self, generator: np.random.Generator, world: Integers) -> Floats:
        """Draw the shuffled reports of some runs, and return their log densities relative to the data set SECOND.

        On SECOND the relative log density is 0. On FIRST it is the logarithm of the mean likelihood ratio of the
        reports. An output with a report that is impossible on SECOND has −∞ there, and 0 on FIRST.

        Args:
            generator: source of randomness.
            world: index of the data set of each run, on which its reports are drawn.

        Returns:
            The log densities on FIRST and on SECOND, (2, runs).
        """
        # The victim has the record of the run's data set, all others have the record of SECOND.
        worlds = np.full((world.size, self.clients), SECOND, dtype=np.int64)
        worlds[:, 0] = world
        log_densities = self.report.draw(generator, worlds.ravel()).reshape(-1, world.size, self.clients)

        # An infinite likelihood ratio reveals the data set.
        log_ratio = log_densities[FIRST] - log_densities[SECOND]
        is_infinite = np.isposinf(log_ratio)
        is_revealed = is_infinite.any(axis=1)
        log_mean_ratio = log_mean_exp(np.where(is_infinite, 0.0, log_ratio))
        log_first = np.where(is_revealed, 0.0, log_mean_ratio)
        log_second = np.where(is_revealed, -math.inf, 0.0)
        return np.stack([log_first, log_second])


@dataclass(frozen=True)
class ShuffledResponses:
    """Attack on shuffled reports of randomized response, by the number of reports of each category.

    These counts are a sufficient statistic. The victim has category 0 in the data set FIRST and category 1 in SECOND.
    All other clients have category 2, so that their reports of 0 and 1 hide the victim's. With two categories they
    have category 1.

    Attributes:
        epsilon: ε of one report.
        categories: number of categories, at least 2.
        clients: number of clients, including the victim.
        worlds: number of data sets, 2.
        work: approximate cost of one output, in units of Gaussian noise on one number.
    """

    epsilon: float
    categories: int
    clients: int
    worlds: int = 2
    work: float = 3.0

    def draw(self, generator: np.random.Generator, world: Integers) -> Floats:
        """Draw how many clients report each category, and return the log densities of these numbers.

        The two data sets, FIRST and SECOND, differ in the category of one client. The changed client reports category r
        with probability v_r, and any other client with probability g_r. If h_r clients report r, the density is
        proportional to the sum of v_r h_r/g_r over all r. Categories with equal probabilities are one group.

        Args:
            generator: source of randomness.
            world: index of the data set of each run, on which its reports are drawn.

        Returns:
            The log densities, (2, runs), up to a term that both data sets share.
        """
        # Numbers of categories in each group: 0, 1 and, if there are more than two categories, 2 and all further ones.
        group_sizes, category_of_others = [1, 1], 1
        if self.categories > 2:
            group_sizes, category_of_others = [1, 1, 1, self.categories - 3], 2
        sizes = np.asarray(group_sizes, dtype=np.float64)
        probability_of_others = self._probabilities(category_of_others, sizes)
        probability_of_victim = np.stack([self._probabilities(FIRST, sizes), self._probabilities(SECOND, sizes)])

        reports = generator.multinomial(self.clients - 1, probability_of_others * sizes, size=world.size)
        counts = reports.astype(np.float64)

        # The victim's report is drawn by inversion, as the index of a group of categories.
        cumulative = np.cumsum(probability_of_victim * sizes, axis=1)[:, :-1]
        uniform = generator.random(world.size)[:, None]
        victim_report = (uniform >= cumulative[world]).sum(axis=1)
        counts[np.arange(world.size), victim_report] += 1.0

        likelihood_ratios = probability_of_victim / probability_of_others
        return np.asarray(np.log(likelihood_ratios @ counts.T))

    def _probabilities(self, category: int, sizes: Floats) -> Floats:
        """Return the probability that a client reports one given category of each group.

        The client uses k-ary randomised response: it reports its true category with e^ε times the probability of any
        other.

        Args:
            category: category of the client's record, 0, 1 or 2, which is also the index of its group.
            sizes: numbers of categories in the groups, (groups,).

        Returns:
            Probabilities, (groups,): of the true category for the group `category`, and of a single false one for the
            others.
        """
        # Equals 1/(e^ε + k − 1) for k categories, written so that e^ε cannot overflow.
        log_sum = math.log1p((self.categories - 1) * math.exp(-self.epsilon))
        false_report = math.exp(-self.epsilon - log_sum)
        probabilities = np.full(sizes.size, false_report)
        probabilities[category] = false_report * math.exp(self.epsilon)
        return probabilities
