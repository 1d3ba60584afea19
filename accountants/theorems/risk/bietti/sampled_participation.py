"""Generalisation bounds with randomly drawn clients: Theorems 5.2 (Algorithm 2) and B.4 (Algorithm 3) of Bietti et al.

Step size and constants are those of Theorem 4.5; smoothness and variance differ. Let b_i be 1 if client i is drawn and
0 otherwise. D_i is the difference of its message from that at the optimum. W is the total weight and ω the largest
message: W = N, ω = 1 for weighting by `clients`, and W = Σ m_i, ω = m_max for `samples`. Then

    E‖Σ b_i D_i/(qW)‖² ≤ ‖Σ D_i/W‖² + κ/(qW²) Σ‖D_i‖².

For independent draws κ = 1 − q, and this is an equality. For a fixed number Q = qN of clients κ = (1 − q) N/(N − 1).
Indeed, two clients are then both drawn with probability q² − q(1 − q)/(N − 1), and −Σ_{i≠j}⟨D_i, D_j⟩ ≤ Σ‖D_i‖². Hence
the smoothness is L max{α + ακω/(qW), ω/(qW)}. At the optimum the weighted sum of all ∇_w f_i is 0, so the variance has
the term κ Σ‖∇_w f_i‖²/(qW²). The printed statements have q in other places (E-B5, E-B6). The last theorem is not from
the paper. It has the corrected bounds, also for a fixed number of participants, which the paper's experiments use and
its theorems do not cover.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Annotated, Literal

from epsilond.accountants.federation import read_members
from epsilond.accountants.formula import in_doubles
from epsilond.accountants.quantities import CLIENT_GROUPS, SAMPLING, BatchSize, Rate, Rounds, Smoothness, request
from epsilond.accountants.quantities.algorithms import (
    FINITE_PERSONALIZATION,
    LOCAL_GRADIENT_STD,
    SHARED_GRADIENT_NORM,
    SHARED_GRADIENT_STD,
    SHARED_NOISE_STD,
    WEIGHTING,
    SharedDimension,
    Weighting,
)
from epsilond.accountants.theorem import Condition, Outputs, Reading, Sides, Source, Status, Theorem
from epsilond.accountants.theorems.papers.bietti.sampled_noise import (
    ClientSampling,
    DrawnClients,
    EqualClients,
    check_groups,
    participants_of,
)
from epsilond.accountants.theorems.risk.bietti.errata import NO_RATE, RATE_TOO_MANY, SYMBOLS
from epsilond.accountants.theorems.risk.bietti.full_participation import (
    CONVEX_SMOOTH,
    FRESH,
    UNCLIPPED,
    WeightedOptimum,
    bound_outputs,
)

# Clients that are drawn, and their gradients ------------------------------------------------------------------------
Draw = Literal["independent", "fixed-number"]


@request
class GroupOfUsers(EqualClients):
    """Clients of one kind: their number, the records of a batch, and the constants of their gradients at the optimum.

    The standard deviations are those of one record's gradient; those of a batch of m records are smaller by √m.
    """

    batch_size: BatchSize = field()  # required here
    shared_gradient_std: Annotated[float, SHARED_GRADIENT_STD]
    local_gradient_std: Annotated[float, LOCAL_GRADIENT_STD]
    shared_gradient_norm: Annotated[float, SHARED_GRADIENT_NORM] = 0.0


@dataclass(frozen=True, kw_only=True)
class Variances:
    """Variances of a round, averaged over clients: of shared gradients, by drawing clients, and of local gradients."""

    shared: float
    selection: float
    local: float


@dataclass(frozen=True, kw_only=True)
class DrawnGradients(DrawnClients):
    """All clients with their gradients, drawn independently or as a fixed number."""

    groups: tuple[GroupOfUsers, ...]
    draw: Draw = "independent"

    @property
    def selection(self) -> float:
        """κ, the factor of the variance by the draw: 1 − q if independent, (1 − q)N/(N − 1) for a fixed number."""
        absence = 1.0 - self.rate
        if self.draw == "independent" or absence == 0.0:
            return absence
        return absence * self.clients / (self.clients - 1)

    def mean(self, value: Callable[[GroupOfUsers], float]) -> float:
        """Return the sum over all clients of a value of each client, divided by their total weight W."""
        return math.fsum(group.clients * value(group) for group in self.groups) / self.weight

    def smoothness_factors(self, reading: Reading | Literal["proof"] = "corrected") -> tuple[float, float]:
        """Return the factors (a, b) of the smoothness L max{αa, b} in the bound, at the weight α of the shared part.

        L is the smoothness of the losses, and q the probability that a client is drawn. W is the total weight of the
        clients, and ω the largest number of gradients in a message (`largest_message`).

        Args:
            reading: "printed" has b = ω/W and a = 1 + b, as the theorem. "proof" has b = ω/(qW) and a = 1 + b, as its
                proof. "corrected" has the same b, and the true a = 1 + κb with κ of `selection` (erratum E-B5).
        """
        if reading == "printed":
            local = self.largest_message / self.weight
            return 1.0 + local, local
        local = self.largest_message / (self.rate * self.weight)
        selection = 1.0 if reading == "proof" else self.selection
        return 1.0 + selection * local, local

    def variances(self, reading: Reading = "corrected") -> Variances:
        """Return the variances in equations (13) and (35) of Bietti et al., averaged over clients by their weights.

        Args:
            reading: "printed" has the factor q(1 − q) in the variance by the draw of clients. "corrected" has the
                factor κ of `selection` (erratum E-B6).
        """
        kappa = self.rate * (1.0 - self.rate) if reading == "printed" else self.selection
        if self.weighting == "clients":
            shared = self.mean(lambda group: group.shared_gradient_std**2 / group.batch_size)
            selection = self.mean(lambda group: group.shared_gradient_norm**2)
            local = self.mean(lambda group: group.local_gradient_std**2 / group.batch_size)
        else:
            shared = self.mean(lambda group: group.batch_size * group.shared_gradient_std**2)
            selection = self.mean(lambda group: (group.batch_size * group.shared_gradient_norm) ** 2)
            local = self.mean(lambda group: group.batch_size * group.local_gradient_std**2)
        return Variances(shared=shared, selection=kappa * selection, local=local)

    def variance_factors(
        self, *, noise_std: float, dimension: int, reading: Reading = "corrected"
    ) -> tuple[float, float]:
        """Return the factors (A, B) of the variance αA + B of a step, at the weight α of the shared part.

        Args:
            noise_std: standard deviation σ_ζ of the noise per shared coordinate.
            dimension: number d_w of shared coordinates.
            reading: "printed" or "corrected" variances, as `variances` explains.
        """
        variances, expected_weight = self.variances(reading), self.rate * self.weight
        sampling_variance = (variances.shared + variances.selection) / expected_weight
        noise_variance = dimension * noise_std * noise_std
        return sampling_variance + noise_variance, variances.local / expected_weight

    def coarser_variance(
        self, *, alpha: float, noise_std: float, dimension: int, reading: Reading = "corrected"
    ) -> float:
        """Return the variance of a step as if all batches had the smallest size (equation (36) of Bietti et al.).

        It bounds the variance from above. Clients have equal weights.

        Args:
            alpha: weight α of the shared part, finite.
            noise_std: standard deviation σ_ζ of the noise per shared coordinate.
            dimension: number d_w of shared coordinates.
            reading: "printed" or "corrected" variances, as `variances` explains.
        """
        expected_weight = self.rate * self.weight
        shared = self.mean(lambda group: group.shared_gradient_std**2)
        local = self.mean(lambda group: group.local_gradient_std**2)
        smallest_batch = min(group.batch_size for group in self.groups)
        sampling_variance = (alpha * shared + local) / (expected_weight * smallest_batch)
        selection_variance = alpha * self.variances(reading).selection / expected_weight
        return sampling_variance + selection_variance + alpha * dimension * noise_std * noise_std


# Requests -----------------------------------------------------------------------------------------------------------
@request
class _Sampled(WeightedOptimum):
    """A run whose participants are drawn in each round, at a finite weight α of the shared part."""

    client_groups: Annotated[tuple[GroupOfUsers, ...], CLIENT_GROUPS]
    rounds: Rounds
    smoothness: Smoothness
    personalization: Annotated[float, FINITE_PERSONALIZATION]
    shared_dimension: SharedDimension
    noise_std: Annotated[float, SHARED_NOISE_STD]

    def check(self) -> None:
        """Check that there are 1 to 1000 groups, each with the fields of a group."""
        read_members(self, "client_groups", GroupOfUsers)
        check_groups(self.client_groups)


@request
class SampledInputs(_Sampled):
    """Clients drawn independently at rate q, at a finite α."""

    participation_rate: Rate


@request
class DrawnInputs(_Sampled):
    """Clients drawn according to `sampling`, at a finite α."""

    sampling: Annotated[ClientSampling, SAMPLING]
    participation_rate: Rate = 1.0
    weighting: Annotated[Weighting, WEIGHTING] = "clients"

    def check(self) -> None:
        """Check the groups, and that the sampling allows the rate.

        Raises:
            InvalidInput: a group is wrong, or the rate is not 1 for "full", or no multiple of 1/N for a fixed number.
        """
        super().check()
        clients = sum(group.clients for group in self.client_groups)
        participants_of(self.sampling, rate=self.participation_rate, clients=clients)


# Formulas -----------------------------------------------------------------------------------------------------------
def _bound(inputs: _Sampled, federation: DrawnGradients, reading: Reading) -> dict[str, object]:
    """Return the risk bound of Bietti et al. for sampled clients with its terms, and three variances, as outputs."""
    alpha = inputs.personalization
    shared_smoothness, local_smoothness = federation.smoothness_factors(reading)
    shared_variance, local_variance = federation.variance_factors(
        noise_std=inputs.noise_std, dimension=inputs.shared_dimension, reading=reading
    )
    bound = bound_outputs(
        smoothness=inputs.smoothness * max(alpha * shared_smoothness, local_smoothness),
        norm=inputs.norm,
        variance=alpha * shared_variance + local_variance,
        rounds=inputs.rounds,
    )
    variances = federation.variances(reading)
    return {
        **bound,
        "shared_variance": variances.shared,
        "selection_variance": variances.selection,
        "local_variance": variances.local,
    }


def _federation(inputs: SampledInputs, weighting: Weighting) -> DrawnGradients:
    """Return the clients of a request, weighted equally (`clients`) or by their records (`samples`)."""
    return DrawnGradients(groups=inputs.client_groups, weighting=weighting, rate=inputs.participation_rate)


def _proof_smoothness(inputs: SampledInputs, federation: DrawnGradients) -> float:
    """Return the smoothness in the α-norm that the printed proof gives, which differs from the printed statement."""
    shared, local = federation.smoothness_factors("proof")
    return inputs.smoothness * max(inputs.personalization * shared, local)


@in_doubles
def bound_by_samples(inputs: SampledInputs, reading: Reading = "printed") -> Outputs:
    """Bound the excess risk by Theorem 5.2 of Bietti et al., in which clients are weighted by their numbers of records.

    Args:
        inputs: the clients and the run.
        reading: "printed" for the statement; "corrected" for smoothness and variance by errata E-B5 and E-B6.

    Returns:
        The bound and the three variances. `proof_weighted_smoothness` is the smoothness in the printed proof.
        `clipping_multiplier` is the number of gradients in the largest message. `heterogeneity_cost` is the ratio of
        the noise to the noise with equal weights.
    """
    federation = _federation(inputs, "samples")
    return {
        **_bound(inputs, federation, reading),
        "proof_weighted_smoothness": _proof_smoothness(inputs, federation),
        "clipping_multiplier": federation.largest_message,
        "heterogeneity_cost": federation.heterogeneity_cost,
    }


@in_doubles
def bound_by_clients(inputs: SampledInputs, reading: Reading = "printed") -> Outputs:
    """Bound the excess risk by Theorem B.4 of Bietti et al., in which clients have equal weights.

    Args:
        inputs: the clients and the run.
        reading: "printed" for the statement; "corrected" for smoothness and variance by errata E-B5 and E-B6.

    Returns:
        The bound and the three variances. `proof_weighted_smoothness` is the smoothness in the printed proof, and
        `coarser_variance` a step's variance as if all batches had the smallest size, equation (36).
    """
    federation = _federation(inputs, "clients")
    coarser = federation.coarser_variance(
        alpha=inputs.personalization, noise_std=inputs.noise_std, dimension=inputs.shared_dimension
    )
    return {
        **_bound(inputs, federation, reading),
        "proof_weighted_smoothness": _proof_smoothness(inputs, federation),
        "coarser_variance": coarser,
    }


@in_doubles
def bound_for_sampling(inputs: DrawnInputs) -> Outputs:
    """Return the corrected bound on the excess risk for independent draws, a fixed number, or all clients."""
    federation = DrawnGradients(
        groups=inputs.client_groups,
        weighting=inputs.weighting,
        rate=inputs.participation_rate,
        draw="fixed-number" if inputs.sampling == "without-replacement" else "independent",
    )
    return _bound(inputs, federation, "corrected")


# Theorems -----------------------------------------------------------------------------------------------------------
def _all_participate(inputs: SampledInputs) -> Sides:
    """Compare the probability q that a client is drawn with 1."""
    return Sides.at_least(inputs.participation_rate, 1.0)


def _selection_vanishes(inputs: SampledInputs) -> Sides:
    """Compare (1 − q) times the largest norm of a shared gradient at the optimum with 0."""
    largest_norm = max(group.shared_gradient_norm for group in inputs.client_groups)
    return Sides.at_most((1.0 - inputs.participation_rate) * largest_norm, 0.0)


PRINTED_SMOOTHNESS = Condition(
    "statement-smoothness",
    (
        "All clients take part in every round (q = 1). The smoothness in the printed statement leaves the rate q out "
        "(E-B5)"
    ),
    _all_participate,
)
PRINTED_VARIANCE = Condition(
    "statement-variance",
    (
        "All clients take part (q = 1), or every shared gradient ∇_w f_i vanishes at the optimum. The variance in the "
        "printed statement has one factor q too many (E-B6)"
    ),
    _selection_vanishes,
)
EXAMPLE = {
    "client_groups": [
        {
            "clients": 90,
            "batch_size": 2,
            "shared_gradient_std": 1.0,
            "local_gradient_std": 0.5,
            "shared_gradient_norm": 0.2,
        },
        {"clients": 10, "batch_size": 8, "shared_gradient_std": 1.0, "local_gradient_std": 0.5},
    ],
    "rounds": 400,
    "smoothness": 2.0,
    "personalization": 0.3,
    "weighted_optimum_norm": 3.0,
    "shared_dimension": 5,
    "noise_std": 0.1,
}

THEOREM_5_2 = Theorem(
    id="bietti.5.2",
    title="Generalisation of PPSGD, clients drawn independently and weighed by their records",
    statement=(
        "E f(z̄_T) − f* ≤ 4L_{m,α}‖z*‖²_α/T + 3σ_{m,α}‖z*‖_α/√T for the mean model z̄_T of T rounds and the minimiser "
        "z*. Here σ²_{m,α} = (ασ̄²_w + ασ̃²_w + σ̄²_θ)/(qM) + αd_wσ_ζ², with M records in all batches and the rate q. "
        "The printed values of L_{m,α} and σ̃ fail, and the corrected ones hold (E-B5, E-B6)"
    ),
    source=Source("bietti2022", "Theorem 5.2, (13) and (14)"),
    status=Status.REFUTED,
    conditions=(PRINTED_SMOOTHNESS, PRINTED_VARIANCE, CONVEX_SMOOTH, FRESH, UNCLIPPED),
    errata=(NO_RATE, RATE_TOO_MANY, SYMBOLS),
    inputs=SampledInputs,
    formula=bound_by_samples,
    examples=({**EXAMPLE, "participation_rate": 0.25},),
)
THEOREM_B_4 = Theorem(
    id="bietti.b.4",
    title="Generalisation of PPSGD, clients drawn independently and weighed equally",
    statement=(
        "E f(z̄_T) − f* ≤ 4L_α‖z*‖²_α/T + 3σ_{m,α}‖z*‖_α/√T for the mean model z̄_T of T rounds and the minimiser z*. "
        "Here σ²_{m,α} = (ασ̄²_w + ασ̃²_w + σ̄²_θ)/(qN) + αd_wσ_ζ², with N clients and the rate q. The printed values "
        "of L_α and σ̃ fail, and the corrected ones hold (E-B5, E-B6)"
    ),
    source=Source("bietti2022", "Theorem B.4, (15), (16), (35) and (36)"),
    status=Status.REFUTED,
    conditions=(PRINTED_SMOOTHNESS, PRINTED_VARIANCE, CONVEX_SMOOTH, FRESH, UNCLIPPED),
    errata=(NO_RATE, RATE_TOO_MANY, SYMBOLS),
    inputs=SampledInputs,
    formula=bound_by_clients,
    examples=({**EXAMPLE, "participation_rate": 0.25},),
)
PERSONALIZED_RISK = Theorem(
    id="epsilond.personalized-sgd-excess-risk",
    title="Generalisation of PPSGD, however its clients are drawn",
    statement=(
        "Theorems 5.2 and B.4 hold with the smoothness L max{α + ακω/(qW), ω/(qW)} and with σ̃² = κΣ‖ω_i∇_w f_i‖²/W. "
        "For clients drawn independently at the rate q, κ = 1 − q. For a fixed number of clients, κ = (1 − q) N/(N − "
        "1). The message of client i adds up ω_i gradients. Their sum is W = Σω_i, and their maximum is ω"
    ),
    source=Source("epsilond", "accountants/theorems/risk/bietti/sampled_participation.py"),
    status=Status.PROVED,
    conditions=(CONVEX_SMOOTH, FRESH, UNCLIPPED),
    inputs=DrawnInputs,
    formula=bound_for_sampling,
    examples=({**EXAMPLE, "sampling": "without-replacement", "participation_rate": 0.25},),
)
THEOREMS: tuple[Theorem, ...] = (THEOREM_5_2, THEOREM_B_4, PERSONALIZED_RISK)
