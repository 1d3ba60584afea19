"""A run of accelerated noisy descent with its loss, and the terms of its risk bound."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass

from epsilond.accountants.json_types import Fields
from epsilond.accountants.theorems.risk.lowy_razaviyayn.accelerated_descent import (
    DescentFacts,
    Stage,
)
from epsilond.accountants.theorems.risk.lowy_razaviyayn.envelope import (
    envelope_gap,
    envelope_strong_convexity,
)
from epsilond.accountants.theorems.risk.lowy_razaviyayn.lemmas.round_variance import (
    EqualClientsRound,
    Variance,
    client_factor,
)
from epsilond.accountants.theorems.risk.lowy_razaviyayn.runs.sgd_bound import Objective


@dataclass(frozen=True, kw_only=True)
class AcceleratedProblem(EqualClientsRound):
    """A run of noisy accelerated descent and its loss, except for the noise and the number of rounds.

    Attributes:
        lipschitz: Lipschitz constant L of the loss.
        smoothness: smoothness β of the loss; not used on an envelope.
        strong_convexity: strong convexity μ of the loss; 0 if it is only convex.
        initial_distance: distance of the first iterate from a minimiser.
        diameter: diameter D of the domain.
        initial_gap: bound on the excess risk of the first iterate.
        gradient_std: standard deviation φ of a record's gradient; if None, L, its largest value.
        heterogeneity: standard deviation v of the clients' expected gradients; if None, L. φ² + v² ≤ L² at every point.
        objective: loss of which the risk is bounded. With `population`, there is one pass over disjoint batches, and
            the statistics are those of the distributions. With `empirical`, random batches of the same records are
            drawn in every round, and the statistics are those of the data at hand.
        envelope_smoothness: smoothness b of the Moreau envelope that replaces a loss that is not smooth; otherwise
            None.
    """

    lipschitz: float
    smoothness: float
    strong_convexity: float
    initial_distance: float
    diameter: float
    initial_gap: float
    gradient_std: float | None = None
    heterogeneity: float | None = None
    objective: Objective
    envelope_smoothness: float | None = None

    @property
    def descent(self) -> DescentFacts:
        """Smoothness, strong convexity and distances of the function that the run minimises.

        This function is the loss or, for losses that are not smooth, its Moreau envelope, a smooth approximation. The
        error of the envelope is added to the gap of the loss at the start.
        """
        smoothness, strong_convexity = self.smoothness, self.strong_convexity
        initial_distance = self.initial_distance
        if self.envelope_smoothness is not None:
            smoothness = self.envelope_smoothness
            strong_convexity = self.envelope_convexity(smoothness)
            if strong_convexity > 0.0:
                # The minimiser of a strongly convex envelope may differ from that of the loss, and be anywhere.
                initial_distance = self.diameter
        return DescentFacts(
            smoothness=smoothness,
            strong_convexity=strong_convexity,
            initial_distance=initial_distance,
            diameter=self.diameter,
            initial_gap=self.initial_gap + self.smoothing_gap,
        )

    def envelope_convexity(self, envelope_smoothness: float) -> float:
        """Return the strong convexity μb/(μ + b) of the mean of the Moreau envelopes of smoothness b.

        Args:
            envelope_smoothness: smoothness b.
        """
        return envelope_strong_convexity(
            strong_convexity=self.strong_convexity, envelope_smoothness=envelope_smoothness
        )

    @property
    def smoothing_gap(self) -> float:
        """Largest difference L²/(2b) between the loss and its envelope, in loss units; 0 for a smooth loss."""
        if self.envelope_smoothness is None:
            return 0.0
        return envelope_gap(lipschitz=self.lipschitz, envelope_smoothness=self.envelope_smoothness)

    def variance(self, noise_std: float) -> Variance:
        """Return an upper bound on the variance of one round's averaged noisy gradient, split by its causes.

        The causes are the sampling of records, the sampling of clients, and the noise. A statistic of the gradients
        that is not given is replaced by its largest possible value.

        Args:
            noise_std: standard deviation σ of the noise of a client's message per coordinate, at least 0.

        Returns:
            The variance due to sampled records, to sampled clients, and to noise, in squared gradient units.
        """
        # For the population loss each record is used once, so batches are fresh samples of the distributions.
        if self.objective == "population":
            gradient_std, heterogeneity = self._worst_statistics()
            return self.fresh_variance(gradient_std=gradient_std, heterogeneity=heterogeneity, noise_std=noise_std)
        # For the empirical loss batches are drawn from the given records, repeatedly.
        gradient_std = self.lipschitz if self.gradient_std is None else self.gradient_std
        heterogeneity = gradient_std if self.heterogeneity is None else self.heterogeneity
        return self.reused_variance(gradient_std=gradient_std, heterogeneity=heterogeneity, noise_std=noise_std)

    def _worst_statistics(self) -> tuple[float, float]:
        """Return the standard deviations φ and v that maximise the variance of a round's mean gradient.

        φ is the standard deviation of a record's gradient, at most `gradient_std`. v is the standard deviation of the
        clients' expected gradients, at most `heterogeneity`. The Lipschitz constant L of the loss implies φ² + v² ≤ L².
        The variance is linear in φ² and v². It is therefore largest if the one with the larger factor is at its bound,
        and the other one has the remainder.

        Returns:
            The two standard deviations (φ, v), in gradient units.
        """
        largest_record_std = self.lipschitz if self.gradient_std is None else self.gradient_std
        largest_client_std = self.lipschitz if self.heterogeneity is None else self.heterogeneity
        factor_of_records = 1.0 / (self.participants * self.batch_size)
        factor_of_clients = client_factor(clients=self.clients, participants=self.participants)

        if factor_of_clients > factor_of_records:
            client_std = min(largest_client_std, self.lipschitz)
            record_std = min(largest_record_std, self._remaining_std(client_std))
            return record_std, client_std

        record_std = min(largest_record_std, self.lipschitz)
        client_std = min(largest_client_std, self._remaining_std(record_std))
        return record_std, client_std

    def _remaining_std(self, std: float) -> float:
        """Return the largest value of one of two standard deviations with squares that sum to at most L².

        L is the Lipschitz constant of the loss.

        Args:
            std: value s of the other standard deviation, in gradient units.

        Returns:
            √(L² − s²), rounded up; 0 if s is L or more.
        """
        remaining_variance = max(self.lipschitz * self.lipschitz - std * std, 0.0)
        # The margin exceeds the rounding errors of the difference and the root, unless s is very near L.
        rounding_margin = 1.0 + 2.0**-40
        return math.sqrt(remaining_variance) * rounding_margin


@dataclass(frozen=True, kw_only=True)
class AcceleratedRisk:
    """An upper bound on the expected excess risk of noisy accelerated descent, in loss units.

    Attributes:
        total: the bound.
        terms: summands of the bound by their causes: `optimisation`, `sampling` of records, `client_sampling`, `noise`,
            and `smoothing`, the gap between the loss and its Moreau envelope, on which the run may descend.
        stages: blocks of rounds with one step schedule each, with which the run attains the bound.
    """

    total: float
    terms: Mapping[str, float]
    stages: tuple[Stage, ...]

    @property
    def outputs(self) -> Fields:
        """The bound `excess_risk`, its terms as `…_term`, and `stages`, as the fields of a response."""
        terms = {f"{name}_term": value for name, value in self.terms.items()}
        return {"excess_risk": self.total, **terms, "stages": [asdict(stage) for stage in self.stages]}
