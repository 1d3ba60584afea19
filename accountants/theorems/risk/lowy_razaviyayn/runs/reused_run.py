"""A federation with records that are re-used by accelerated descent, and the run that a theorem prescribes for it."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

from epsilond.accountants.theorem import Reading
from epsilond.accountants.theorems.papers.lowy_razaviyayn.noise import Aggregates, aggregates
from epsilond.accountants.theorems.risk.lowy_razaviyayn.descent_prescriptions import DescentRun
from epsilond.accountants.theorems.risk.lowy_razaviyayn.lemmas.round_variance import client_factor


@dataclass(frozen=True, kw_only=True)
class ReusedRun(DescentRun):
    """A federation that uses its records in every round, and its loss, for Theorems E.1 and 2.4 of Lowy and Razaviyayn.

    Theorem 2.4 replaces a loss that is not smooth by its Moreau envelope.

    Attributes:
        gap: excess risk Δ of the first iterate.
        empirical_gradient_std: Φ̂, the root mean square deviation of the gradients of the records at hand from their
            mean. It is of the envelope if there is one.
        empirical_heterogeneity: v̂, the root mean square of the deviations of the clients' mean gradients.
    """

    gap: float
    empirical_gradient_std: float
    empirical_heterogeneity: float = 0.0

    def leaves_records_out(self, reading: Reading) -> bool:
        """Decide whether a round uses only some of the records, so that sampling contributes to the variance.

        The printed test is MK < ñ, for the mean number M of participants, the smallest batch K, and the number ñ of
        records of all clients. It is also true if every client uses all of its records, but their numbers differ.

        Args:
            reading: "printed" for this test. If all clients participate, "corrected" compares each client's batch with
                its own records instead.
        """
        groups = self.federation.groups
        if reading == "corrected" and self.federation.all_participate:
            return any(group.batch_size < group.samples_per_client for group in groups)
        all_records = sum(group.clients * group.samples_per_client for group in groups)
        return self.records_of_smallest_batches < all_records

    @property
    def records_of_smallest_batches(self) -> float:
        """MK, the average number M = 1/E[1/M_r] of participants times the smallest batch size K."""
        return self.federation.participation.mean * self.federation.smallest_batch

    def sampled_records(self, reading: Reading) -> float:
        """Return the number of sampled records of a round, by which the variance of a record's gradient is divided.

        Args:
            reading: rule of `leaves_records_out` for the decision whether records are sampled.

        Returns:
            `records_of_smallest_batches`; infinite if a round uses all records, because sampling adds no variance then.
        """
        if not self.leaves_records_out(reading):
            return math.inf
        return self.records_of_smallest_batches

    @property
    def client_variance(self) -> float:
        """Variance of a round's gradient due to the sampling of M of N clients, in squared gradient units.

        It is (v²/M)(N − M)/(N − 1) for the standard deviation v of the clients' mean gradients. The printed theorems
        leave it out (erratum E-12).
        """
        if self.federation.all_participate:
            return 0.0
        squared_std = self.empirical_heterogeneity * self.empirical_heterogeneity
        mean_participants = self.federation.participation.mean
        factor = client_factor(clients=self.federation.clients, participants=mean_participants)
        return factor * squared_std

    def aggregates(self, rounds: int, reading: Reading) -> Aggregates:
        """Return averages over the clients of the variance of their noise, up to a factor, for R rounds.

        The effective number M~ of participants in a round is returned, too.

        Args:
            rounds: number R of rounds.
            reading: whether M~ is that "printed" by Lowy and Razaviyayn, or "corrected". For smooth losses it is always
                the corrected one, because the paper uses M~ only in Theorem 2.4, for other losses.
        """
        version = "corrected" if self.is_smooth else reading
        return aggregates(self.federation, rounds, version)

    def privacy(self, totals: Aggregates) -> float:
        """Return the cost of privacy d Ψ~ = d L² Ξ~, in squared gradient units, with the dimension d.

        Args:
            totals: averages over the clients, where `totals.xi` is Ξ~.
        """
        return self.dimension * self.lipschitz * self.lipschitz * totals.xi


@dataclass(frozen=True, kw_only=True)
class AcceleratedFigures:
    """Numbers of Theorem E.1 or 2.4 of Lowy and Razaviyayn in the appendix, in addition to the rounds and the risk.

    Attributes:
        terms: terms of the bound as a function of the rounds R, equation (30) or (32) of the paper.
        variance: variance V² of a round's averaged gradient at the printed noise.
        regularization: weight λ = V/(2D√R) of the quadratic regulariser, with the diameter D of the domain.
        aggregates: averages over the clients that the statement uses.
        envelope_smoothness: smoothness b of the Moreau envelope in Theorem 2.4; None for a smooth loss.
    """

    terms: Mapping[str, float]
    variance: float
    regularization: float
    aggregates: Aggregates
    envelope_smoothness: float | None


@dataclass(frozen=True, kw_only=True)
class AcceleratedPrescription:
    """The run that Theorem E.1 or 2.4 of Lowy and Razaviyayn prescribes, and the order of its excess risk.

    Attributes:
        rounds: number of rounds that is run. The theorem requires `rounds` ≥ `prescribed_rounds`.
        prescribed_rounds: required number of rounds, before rounding up. It depends on `rounds`. Informal statements
            leave out logarithms in it.
        excess_risk: order of the excess risk in loss units, up to constants and logarithms.
        logarithm_argument: argument of the logarithm in `prescribed_rounds`, which must exceed 1 if μ > 0.
        figures: further numbers of the appendix's statement; None for an informal statement.
    """

    rounds: int
    prescribed_rounds: float
    excess_risk: float
    logarithm_argument: float
    figures: AcceleratedFigures | None = None
