"""Generalisation bounds with randomly drawn clients: Theorems 5.2 (Algorithm 2) and B.4 (Algorithm 3) of Bietti et al.

Step size and constants are those of Theorem 4.5; smoothness and variance differ. Let b_i be 1 if client i is drawn and
0 otherwise. D_i is the difference of its message from that at the optimum. W is the total weight and ω the largest
message: W = N, ω = 1 for weighting by `clients`, and W = Σ m_i, ω = m_max for `samples`. Then:

    E‖Σ b_i D_i/(qW)‖² ≤ ‖Σ D_i/W‖² + κ/(qW²) Σ‖D_i‖².

For independent draws κ = 1 − q, and this is an equality. For a fixed number Q = qN of clients κ = (1 − q) N/(N − 1).
Indeed, two clients are then both drawn with probability q² − q(1 − q)/(N − 1), and −Σ_{i≠j}⟨D_i, D_j⟩ ≤ Σ‖D_i‖². Hence
the smoothness is L max{α + ακω/(qW), ω/(qW)}. At the optimum the weighted sum of all ∇_w f_i is 0, so the variance has
the term κ Σ‖∇_w f_i‖²/(qW²). The printed statements have q in other places (E-B5, E-B6). The last theorem is not from
the paper. It has the corrected bounds, also for a fixed number of participants, which the paper's experiments use and
its theorems do not cover.
"""

from __future__ import annotations

from typing import Annotated

from epsilond.accountants.federation import read_members
from epsilond.accountants.formula import in_doubles
from epsilond.accountants.quantities import CLIENT_GROUPS, SAMPLING, Rate, Rounds, Smoothness, request
from epsilond.accountants.quantities.algorithms import (
    FINITE_PERSONALIZATION,
    SHARED_NOISE_STD,
    WEIGHTING,
    SharedDimension,
    Weighting,
)
from epsilond.accountants.theorem import Condition, Outputs, Reading, Sides, Source, Status, Theorem
from epsilond.accountants.theorems.papers.bietti.sampled_noise import (
    ClientSampling,
    check_groups,
    participants_of,
)
from epsilond.accountants.theorems.risk.bietti.drawn_gradients import Draw, DrawnGradients, GroupOfUsers
from epsilond.accountants.theorems.risk.bietti.errata import NO_RATE, RATE_TOO_MANY, SYMBOLS
from epsilond.accountants.theorems.risk.bietti.full_participation import (
    CONVEX_SMOOTH,
    FRESH,
    UNCLIPPED,
    WeightedOptimum,
    bound_outputs,
)


# Requests -----------------------------------------------------------------------------------------------------------
@request
class _Sampled(WeightedOptimum):
    """A run with participants that are drawn in each round, at a finite weight α of the shared part."""

    client_groups: Annotated[tuple[GroupOfUsers, ...], CLIENT_GROUPS]
    rounds: Rounds
    smoothness: Smoothness
    personalization: Annotated[float, FINITE_PERSONALIZATION]
    shared_dimension: SharedDimension
    noise_std: Annotated[float, SHARED_NOISE_STD]

    def check(self) -> None:
        """Require 1 to 1000 groups of clients, each with the fields of a group."""
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
            InvalidInput: a group is wrong; the rate is not 1 although all clients take part; or the rate is not a
                multiple of 1/N although a fixed number of the N clients takes part.
        """
        super().check()
        clients = sum(group.clients for group in self.client_groups)
        participants_of(self.sampling, rate=self.participation_rate, clients=clients)


# Formulas -----------------------------------------------------------------------------------------------------------
def _bound(inputs: _Sampled, federation: DrawnGradients, reading: Reading) -> dict[str, object]:
    """Return the bound of Bietti et al. on the excess risk for randomly drawn clients, with its terms and variances.

    The bound is that of Theorem 4.5 for the smoothness L max{αa, b} and the variance αA + B of a step. The factors a
    and A belong to the shared part of a model, and b and B to the clients' own parts. They depend on how clients are
    drawn and weighted.

    Args:
        inputs: rounds, smoothness L of the losses, weight α of the shared part, and noise per shared coordinate.
        federation: the clients with their gradients, weights and the way in which they are drawn.
        reading: "printed" for the factors as the paper states them, with errors; "corrected" for errata E-B5 and E-B6.

    Returns:
        The bound with its summands and step size, as `bound_outputs` names them.
        `shared_variance`, `local_variance`: variances of the gradients in the shared part and in the own parts.
        `selection_variance`: variance due to the random choice of clients.
    """
    alpha = inputs.personalization
    shared_smoothness, local_smoothness = federation.smoothness_factors(reading)
    weighted_smoothness = inputs.smoothness * max(alpha * shared_smoothness, local_smoothness)
    shared_variance, local_variance = federation.variance_factors(
        noise_std=inputs.noise_std, dimension=inputs.shared_dimension, reading=reading
    )
    bound = bound_outputs(
        smoothness=weighted_smoothness,
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
    """Return the clients of a request with their weights in the mean.

    Args:
        inputs: groups of clients, and the probability that a client is drawn in a round.
        weighting: "clients" for equal weights, "samples" for weights by their numbers of records.
    """
    return DrawnGradients(groups=inputs.client_groups, weighting=weighting, rate=inputs.participation_rate)


def _proof_smoothness(inputs: SampledInputs, federation: DrawnGradients) -> float:
    """Return the smoothness L max{αa, b} with the factors a and b of the paper's proof, not those of its statement.

    Args:
        inputs: smoothness L of the losses, and the weight α of the shared part.
        federation: the clients, which determine the factors a and b.
    """
    shared, local = federation.smoothness_factors("proof")
    return inputs.smoothness * max(inputs.personalization * shared, local)


@in_doubles
def bound_by_samples(inputs: SampledInputs, reading: Reading = "printed") -> Outputs:
    """Bound the excess risk by Theorem 5.2 of Bietti et al., in which clients are weighted by their numbers of records.

    Args:
        inputs: the clients and the run.
        reading: "printed" for the statement; "corrected" for smoothness and variance (docs/errata.md, E-B5 and E-B6).

    Returns:
        The bound with its terms, and three variances: of the gradients in the shared part and in the clients' own
        parts, and of the random choice of clients. Further:
        `proof_weighted_smoothness`: the smoothness in the paper's proof, which differs from that in its statement.
        `clipping_multiplier`: number of gradients in the largest message.
        `heterogeneity_cost`: ratio of the noise to the noise with equal weights of the clients.
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
        The bound with its terms, and the three variances of `_bound`. Further:
        `proof_weighted_smoothness`: the smoothness in the paper's proof, which differs from that in its statement.
        `coarser_variance`: variance of a step as if all batches had the smallest size, equation (36).
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
    """Return the corrected bound of Bietti et al. on the excess risk, for each way in which clients may be drawn.

    The paper has only independent draws of the N clients. With a fixed number of clients, the terms that are due to the
    choice of clients are larger by the factor N/(N − 1). Errata E-B5 and E-B6 are corrected.

    Args:
        inputs: the clients, the run, and the sampling: independent draws, a fixed number, or all clients.

    Returns:
        The bound with its terms, and the three variances.
    """
    draw: Draw = "independent"
    if inputs.sampling == "without-replacement":
        draw = "fixed-number"
    federation = DrawnGradients(
        groups=inputs.client_groups, weighting=inputs.weighting, rate=inputs.participation_rate, draw=draw
    )
    return _bound(inputs, federation, "corrected")


# Theorems -----------------------------------------------------------------------------------------------------------
def _all_participate(inputs: SampledInputs) -> Sides:
    """Compare the probability q that a client is drawn in a round with 1; all clients take part if it is 1."""
    return Sides.at_least(inputs.participation_rate, 1.0)


def _selection_vanishes(inputs: SampledInputs) -> Sides:
    """Check that the random choice of clients adds no variance.

    This holds if all clients take part (q = 1), or if every client's shared gradient is 0 at the optimum.

    Args:
        inputs: probability q that a client is drawn, and the norms of the shared gradients.

    Returns:
        Both sides of the condition: (1 − q) times the largest norm, and 0.
    """
    largest_norm = max(group.shared_gradient_norm for group in inputs.client_groups)
    absence_rate = 1.0 - inputs.participation_rate
    return Sides.at_most(absence_rate * largest_norm, 0.0)


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
