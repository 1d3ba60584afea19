"""The explicit bound of `accelerated_bound.py` for clients that differ, and for a random number of participants.

The derivation uses two properties of a round's gradient: it is unbiased for the mean of the weighted losses, and its
mean squared error is at most V². Client i has n_i records and draws K_i of them. Its weighted losses are L_i-Lipschitz,
and its noise has standard deviation σ_i. Given their number M_r, the participants are a uniform set. Let w_i² be the
variance within client i, and s² the variance of the clients' means. Then:

    V² = mean_i(a_i w_i²)/M + c s² + d mean_i(σ_i²)/M,    M = 1/E[1/M_r],    c = (1 − (M − 1)/(N − 1))/M.

Here a_i = (n_i − K_i)/((n_i − 1)K_i) if batches of the same data are drawn in every round, and a_i = 1/K_i if every
record is used once. At every point w_i² ≤ L_i² and mean_i(w_i²) + s² ≤ mean_i(L_i²). The statistics Φ̂ or φ, and v̂ or
v, are further bounds. `largest_variance` gives the largest V² under all these constraints.

The weights p_i N average to 1. The mean of the weighted losses is β-smooth if every loss is, and μ-strongly convex. On
the envelope, the mean of μ_i b/(μ_i + b) with μ_i = p_i N μ is at least μb/(μ_max + b), and the gap is
mean_i(L_i²)/(2b).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any

from epsilond.accountants.federation import ClientGroup
from epsilond.accountants.quantities import (
    GRADIENT_STD,
    HETEROGENEITY,
    INITIAL_DISTANCE,
    INITIAL_GAP,
    Diameter,
    request,
)
from epsilond.accountants.theorem import Condition, Outputs, Sides, Source, Status, Theorem
from epsilond.accountants.theorems.risk.lowy_razaviyayn.accelerated_bound import (
    ACCELERATED_RISK_BOUND,
    OBJECTIVE,
    accelerated_risk,
    best_envelope_smoothness,
)
from epsilond.accountants.theorems.risk.lowy_razaviyayn.envelope import envelope_strong_convexity
from epsilond.accountants.theorems.risk.lowy_razaviyayn.lemmas.round_variance import Variance
from epsilond.accountants.theorems.risk.lowy_razaviyayn.runs.accelerated_run import AcceleratedProblem, AcceleratedRisk
from epsilond.accountants.theorems.risk.lowy_razaviyayn.runs.sgd_bound import Objective
from epsilond.accountants.theorems.risk.lowy_razaviyayn.unequal_clients import (
    EXACT_PROXIMAL_STEP,
    FEDERATED_RISK,
    FederatedRun,
)
from epsilond.accountants.theorems.risk.lowy_razaviyayn.unequal_problem import unequal_variance


@dataclass(frozen=True, kw_only=True)
class UnequalAcceleratedProblem(AcceleratedProblem):
    """A run of noisy accelerated descent and its loss, with clients that differ in records, batches and losses.

    The inherited fields for equal clients hold the smallest numbers of records, and the root mean square L of the
    clients' Lipschitz constants L_i. The statistics are those of the weighted losses, averaged over clients with equal
    weights.

    Attributes:
        groups: the clients, with the Lipschitz constants L_i of their weighted losses.
        heaviest: largest factor p_i N by which the weight p_i of a client multiplies its losses.
    """

    groups: tuple[ClientGroup, ...]
    heaviest: float

    @classmethod
    def of_groups(cls, groups: Sequence[ClientGroup], **fields: Any) -> UnequalAcceleratedProblem:
        """Return the run of accelerated descent of a federation with several groups of equal clients.

        The fields for equal clients get the fewest records and the smallest batch of a group. Their Lipschitz constant
        is the root mean square over clients.

        Args:
            groups: the groups of clients; the `lipschitz` of a group is that of its weighted losses.
            fields: the fields of the problem that do not follow from the groups, by name.

        Returns:
            The problem that describes all clients.
        """
        clients = sum(group.clients for group in groups)
        squared_contributions = [group.clients / clients * group.lipschitz**2 for group in groups]
        fewest_samples = min(group.samples_per_client for group in groups)
        smallest_batch = min(group.batch_size for group in groups)
        return cls(
            groups=tuple(groups),
            clients=clients,
            samples_per_client=fewest_samples,
            batch_size=smallest_batch,
            lipschitz=math.sqrt(math.fsum(squared_contributions)),
            **fields,
        )

    def envelope_convexity(self, envelope_smoothness: float) -> float:
        """Return a lower bound on the strong convexity of the mean of the clients' Moreau envelopes of smoothness b.

        A Moreau envelope is a smooth approximation of a loss. The weighted loss of client i has strong convexity μ_i,
        with mean μ and maximum μ_max. Its envelope has μ_i b/(μ_i + b) ≥ μ_i b/(μ_max + b). The mean over clients is at
        least μb/(μ_max + b).

        Args:
            envelope_smoothness: smoothness b > 0 of the envelopes.

        Returns:
            The bound, 0 if the loss is only convex.
        """
        largest_convexity = self.heaviest * self.strong_convexity  # μ_max
        convexity = envelope_strong_convexity(
            strong_convexity=largest_convexity, envelope_smoothness=envelope_smoothness
        )
        return convexity / self.heaviest

    def variance(self, noise_std: float) -> Variance:
        """Return an upper bound on the variance of one round's averaged noisy gradient, split by its causes.

        The causes are the sampling of records, the sampling of clients, and the noise. A statistic of the gradients
        that is not given is replaced by infinity. The Lipschitz constants then limit its summand.

        Args:
            noise_std: root mean square over clients of the noise's standard deviation per coordinate, at least 0.

        Returns:
            The variance due to sampled records, to sampled clients, and to noise, in squared gradient units.
        """
        gradient_variance = _square_or_infinity(self.gradient_std)

        # `gradient_std` is the deviation from the client's mean gradient if records are used once, otherwise from that
        # of all clients.
        used_once = self.objective == "population"
        largest_within, largest_total = gradient_variance, math.inf
        if not used_once:
            largest_within, largest_total = math.inf, gradient_variance

        return unequal_variance(
            self.groups,
            participants=self.participants,
            dimension=self.dimension,
            noise_std=noise_std,
            used_once=used_once,
            largest_within=largest_within,
            largest_between=_square_or_infinity(self.heterogeneity),
            largest_total=largest_total,
        )


def _square_or_infinity(std: float | None) -> float:
    """Return the square of a standard deviation; infinity if it is not given."""
    if std is None:
        return math.inf
    return std * std


@request
class FederatedAcceleratedInputs(FederatedRun):
    """A run of accelerated descent (Algorithm 2 of Lowy and Razaviyayn) with clients that may differ.

    With the objective `population`, `gradient_std` is the standard deviation of a record's gradient about its client's
    expected one. With `empirical`, it is about the mean gradient of all records at hand. It is the root mean square
    over clients of their own values. `heterogeneity` is the standard deviation of the clients' mean gradients. Both are
    of the weighted losses.

    If absent, these two have their largest values, `initial_distance` is the diameter D, and `initial_gap` is LD for
    the mean Lipschitz constant L. A loss that is not smooth is replaced by its Moreau envelope, a smooth approximation.
    If absent, the smoothness of the envelope is one that nearly minimises the bound.
    """

    diameter: Diameter
    initial_distance: Annotated[float | None, INITIAL_DISTANCE] = None
    initial_gap: Annotated[float | None, INITIAL_GAP] = None
    gradient_std: Annotated[float | None, GRADIENT_STD] = None
    heterogeneity: Annotated[float | None, HETEROGENEITY] = None
    objective: Annotated[Objective, OBJECTIVE] = "population"

    def problem_on(self, envelope_smoothness: float | None) -> UnequalAcceleratedProblem:
        """Return the clients and the loss that accelerated descent minimises, which may be a Moreau envelope.

        The envelope is a smooth approximation of a loss that is not smooth. Absent values of the first iterate are
        replaced by upper bounds. Its distance from the minimiser is at most the diameter D of the domain. Its excess
        risk is at most the mean Lipschitz constant times D.

        Args:
            envelope_smoothness: smoothness b of the Moreau envelope of the loss, or None for the loss itself.

        Returns:
            The problem, except for the noise and the number of rounds.
        """
        groups = self.groups
        clients = sum(group.clients for group in groups)
        mean_lipschitz = math.fsum(group.clients / clients * group.lipschitz for group in groups)
        largest_gap = mean_lipschitz * self.diameter
        return UnequalAcceleratedProblem.of_groups(
            groups,
            heaviest=max(self.scales),
            participants=self.mean_participants,
            dimension=self.dimension,
            smoothness=self.smoothness or 0.0,
            strong_convexity=self.strong_convexity,
            initial_distance=self.initial_distance or self.diameter,
            diameter=self.diameter,
            initial_gap=self.initial_gap or largest_gap,
            gradient_std=self.gradient_std,
            heterogeneity=self.heterogeneity,
            objective=self.objective,
            envelope_smoothness=envelope_smoothness,
        )

    @property
    def envelope(self) -> float | None:
        """Smoothness b of the Moreau envelope on which the run descends; None for a smooth loss.

        If neither the loss nor the request has a smoothness, b nearly minimises the bound.
        """
        if self.smoothness is not None or self.envelope_smoothness is not None:
            return self.envelope_smoothness
        return best_envelope_smoothness(self.problem_on(None), noise_std=self.noise_std, rounds=self.rounds)

    def risk(self, envelope_smoothness: float | None) -> AcceleratedRisk:
        """Return the bound on the excess risk of the run, with its terms and stages.

        Args:
            envelope_smoothness: smoothness b of the Moreau envelope of the loss, or None for the loss itself.
        """
        problem = self.problem_on(envelope_smoothness)
        return accelerated_risk(problem, noise_std=self.noise_std, rounds=self.rounds)


def bound(inputs: FederatedAcceleratedInputs) -> Outputs:
    """Return the bound on the excess risk of accelerated descent, its terms, and the stages that attain it.

    Args:
        inputs: the clients, the loss, the noise and the number of rounds.

    Returns:
        The bound and its terms in loss units, and the stages. If the run minimises a Moreau envelope (a smooth
        approximation of the loss), `envelope_smoothness` is its smoothness.
    """
    envelope = inputs.envelope
    outputs = inputs.risk(envelope).outputs
    if envelope is None:
        return outputs
    return outputs | {"envelope_smoothness": envelope}


def _one_pass_sides(inputs: FederatedAcceleratedInputs) -> Sides:
    """Return both sides of the condition that no client uses more records than it has, K_i R/n_i ≤ 1.

    The population risk requires one pass, in which each record is used at most once. The empirical risk re-uses records
    without a limit, so both sides are then equal.

    Args:
        inputs: the clients, with n_i records and batches of K_i, and the number R of rounds.

    Returns:
        The largest share K_i R/n_i on the left; 1, or this share for the empirical risk, on the right.
    """
    shares = [group.batch_size * inputs.rounds / group.samples_per_client for group in inputs.client_groups]
    largest_share = max(shares)
    limit = 1.0 if inputs.objective == "population" else largest_share
    return Sides.at_most(largest_share, limit)


_SHARED_CONDITIONS = tuple(
    condition
    for condition in ACCELERATED_RISK_BOUND.conditions
    if condition.id in ("closed-convex-domain", "last-output")
)
_CLIENTS = {name: FEDERATED_RISK.examples[0][name] for name in ("client_groups", "participation")}
FEDERATED_ACCELERATED_RISK = Theorem(
    id="epsilond.federated-accelerated-sgd-excess-risk",
    title="Excess risk of accelerated noisy mini-batch SGD for clients that differ, smooth or not",
    statement=(
        "The bound is that of epsilond.accelerated-sgd-excess-risk with another V². Here V² is the largest "
        "mean_i(a_i w_i²)/M + c s² + d mean_i(σ_i²)/M, with M = 1/E[1/M_r]. The variance within client i is w_i², "
        "and the variance of the clients' means is s². They satisfy w_i ≤ L_i, mean_i(w_i²) + s² ≤ mean_i(L_i²) and "
        "the given statistics. Without smoothness, the bound is for the Moreau envelope and has mean_i(L_i²)/(2b) "
        "more. The L_i are those of the weighted losses"
    ),
    source=Source("epsilond", "derivation in accountants/theorems/risk/lowy_razaviyayn/accelerated_unequal.py"),
    status=Status.PROVED,
    conditions=(
        Condition(
            "one-pass",
            (
                "for the population risk, every client i has the records for R rounds of K_i, K_i R ≤ n_i (the "
                "right side is 1)"
            ),
            _one_pass_sides,
        ),
        *_SHARED_CONDITIONS,
        Condition(
            "loss",
            (
                "every record's loss is μ-strongly convex (convex if μ = 0) and L_i-Lipschitz on the domain, and "
                "β-smooth where a smoothness is given"
            ),
        ),
        Condition(
            "unbiased-gradients",
            (
                "Given their number, the clients of a round are a uniformly random set. For the population risk, "
                "batches are disjoint and of independent records. For the empirical risk, each batch is drawn "
                "afresh without replacement"
            ),
        ),
        EXACT_PROXIMAL_STEP,
    ),
    inputs=FederatedAcceleratedInputs,
    formula=bound,
    examples=(
        {
            **_CLIENTS,
            "rounds": 200,
            "dimension": 20,
            "diameter": 1.0,
            "objective": "empirical",
        },
        {
            "client_groups": [
                {"clients": 30, "samples_per_client": 10_000, "batch_size": 50, "noise_std": 0.1, "lipschitz": 1.0},
                {"clients": 20, "samples_per_client": 40_000, "batch_size": 200, "noise_std": 0.03, "lipschitz": 2.0},
            ],
            "participation": [{"participants": 40, "probability": 1.0}],
            "rounds": 200,
            "dimension": 20,
            "smoothness": 2.0,
            "strong_convexity": 0.1,
            "diameter": 2.0,
            "gradient_std": 0.5,
            "heterogeneity": 0.1,
        },
    ),
)

THEOREMS: tuple[Theorem, ...] = (FEDERATED_ACCELERATED_RISK,)
