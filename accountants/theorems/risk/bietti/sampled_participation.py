"""The generalisation bounds with clients drawn at random: Theorems 5.2 (Algorithm 2) and B.4 (Algorithm 3).

Same step and constants as Theorem 4.5, at another smoothness and variance. With b_i whether client i is drawn, D_i the
difference of its message to that at the optimum, W the total weight and ω the largest message (W = N, ω = 1 for
`clients`; W = Σ m_i, ω = m_max for `samples`),

    E‖Σ b_i D_i/(qW)‖² ≤ ‖Σ D_i/W‖² + κ/(qW²) Σ‖D_i‖²,

with κ = 1 − q for independent draws, where it is an equality, and κ = (1 − q) N/(N − 1) for a fixed number Q = qN: two
clients are then both drawn with probability q² − q(1 − q)/(N − 1), and −Σ_{i≠j}⟨D_i, D_j⟩ ≤ Σ‖D_i‖². Hence the
smoothness L max{α + ακω/(qW), ω/(qW)} and, at the optimum, where the weighted sum of all ∇_w f_i is 0, the term
κ Σ‖∇_w f_i‖²/(qW²) of the variance. Printed, both have q in other places (E-B5, E-B6). The last theorem is ours: the
corrected bounds, and the same for a fixed number of participants, which the paper's experiments use and its theorems
leave out.
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
from epsilond.accountants.theorem import Condition, Erratum, Grade, Outputs, Reading, Sides, Source, Status, Theorem
from epsilond.accountants.theorems.papers.bietti.sampled_noise import (
    ClientSampling,
    DrawnClients,
    EqualClients,
    check_groups,
    participants_of,
)
from epsilond.accountants.theorems.risk.bietti.full_participation import (
    CONVEX_SMOOTH,
    FRESH,
    UNCLIPPED,
    WeightedOptimum,
    bound_outputs,
)

_TESTS = "tests/theorems/risk/bietti/test_sampled_participation.py"


# Clients that are drawn, and their gradients ------------------------------------------------------------------------
Draw = Literal["independent", "fixed-number"]


@request
class GroupOfUsers(EqualClients):
    """Clients that are alike: how many, the records of a batch, and what is known of their gradients at the optimum.

    The standard deviations are those of one record's gradient; a batch of m has them over √m.
    """

    batch_size: BatchSize = field()  # to be given here
    shared_gradient_std: Annotated[float, SHARED_GRADIENT_STD]
    local_gradient_std: Annotated[float, LOCAL_GRADIENT_STD]
    shared_gradient_norm: Annotated[float, SHARED_GRADIENT_NORM] = 0.0


@dataclass(frozen=True, kw_only=True)
class Variances:
    """σ̄²_w, σ̃²_w and σ̄²_θ of (13) and (35), as the bound adds them up, over one round with every client drawn."""

    shared: float
    selection: float
    local: float


@dataclass(frozen=True, kw_only=True)
class DrawnGradients(DrawnClients):
    """All clients with their gradients, and how they are drawn: each on its own, or a fixed number of them."""

    groups: tuple[GroupOfUsers, ...]
    draw: Draw = "independent"

    @property
    def selection(self) -> float:
        """κ of the text above."""
        absent = 1.0 - self.rate
        if self.draw == "independent" or absent == 0.0:
            return absent
        return absent * self.clients / (self.clients - 1)

    def mean(self, value: Callable[[GroupOfUsers], float]) -> float:
        """Σ_i of a client's value, over W."""
        return math.fsum(group.clients * value(group) for group in self.groups) / self.weight

    def smoothness_factors(self, reading: Reading | Literal["proof"] = "corrected") -> tuple[float, float]:
        """(a, b) with smoothness L max{αa, b} as in the statement, its proof, or corrected."""
        local = self.largest_message / (self.rate * self.weight)
        if reading == "printed":
            whole = self.largest_message / self.weight
            return 1.0 + whole, whole
        return 1.0 + (local if reading == "proof" else self.selection * local), local

    def variances(self, reading: Reading = "corrected") -> Variances:
        """The three variances, (13) and (35). Printed, the second has a q too many (E-B6)."""
        kappa = self.rate * (1.0 - self.rate) if reading == "printed" else self.selection
        if self.weighting == "clients":
            return Variances(
                shared=self.mean(lambda group: group.shared_gradient_std**2 / group.batch_size),
                selection=kappa * self.mean(lambda group: group.shared_gradient_norm**2),
                local=self.mean(lambda group: group.local_gradient_std**2 / group.batch_size),
            )
        return Variances(
            shared=self.mean(lambda group: group.batch_size * group.shared_gradient_std**2),
            selection=kappa * self.mean(lambda group: (group.batch_size * group.shared_gradient_norm) ** 2),
            local=self.mean(lambda group: group.batch_size * group.local_gradient_std**2),
        )

    def variance_factors(
        self, *, noise_std: float, dimension: int, reading: Reading = "corrected"
    ) -> tuple[float, float]:
        """(A, B) with σ²_{m,α} = αA + B."""
        found, drawn = self.variances(reading), self.rate * self.weight
        return (found.shared + found.selection) / drawn + dimension * noise_std * noise_std, found.local / drawn

    def coarser_variance(
        self, *, alpha: float, noise_std: float, dimension: int, reading: Reading = "corrected"
    ) -> float:
        """(36): the variance with every batch taken to be the smallest, m_min; for `clients` only."""
        drawn = self.rate * self.weight
        shared = self.mean(lambda group: group.shared_gradient_std**2)
        local = self.mean(lambda group: group.local_gradient_std**2)
        sampled = (alpha * shared + local) / (drawn * min(group.batch_size for group in self.groups))
        return sampled + alpha * self.variances(reading).selection / drawn + alpha * dimension * noise_std * noise_std


# Requests -----------------------------------------------------------------------------------------------------------
@request
class _Sampled(WeightedOptimum):
    client_groups: Annotated[tuple[GroupOfUsers, ...], CLIENT_GROUPS]
    rounds: Rounds
    smoothness: Smoothness
    personalization: Annotated[float, FINITE_PERSONALIZATION]
    shared_dimension: SharedDimension
    noise_std: Annotated[float, SHARED_NOISE_STD]

    def check(self) -> None:
        """From 1 to 1000 groups, each with the fields of one."""
        read_members(self, "client_groups", GroupOfUsers)
        check_groups(self.client_groups)


@request
class SampledInputs(_Sampled):
    """Clients drawn independently at rate q, at a finite α."""

    participation_rate: Rate


@request
class DrawnInputs(_Sampled):
    """Clients drawn as `sampling` says, at a finite α."""

    sampling: Annotated[ClientSampling, SAMPLING]
    participation_rate: Rate = 1.0
    weighting: Annotated[Weighting, WEIGHTING] = "clients"

    def check(self) -> None:
        """And a rate that this sampling can have."""
        super().check()
        clients = sum(group.clients for group in self.client_groups)
        participants_of(self.sampling, rate=self.participation_rate, clients=clients)


# Formulas -----------------------------------------------------------------------------------------------------------
def _bound(inputs: _Sampled, federation: DrawnGradients, reading: Reading) -> dict[str, object]:
    alpha = inputs.personalization
    shared, local = federation.smoothness_factors(reading)
    steep, flat = federation.variance_factors(
        noise_std=inputs.noise_std, dimension=inputs.shared_dimension, reading=reading
    )
    variances = federation.variances(reading)
    return {
        **bound_outputs(
            smoothness=inputs.smoothness * max(alpha * shared, local),
            norm=inputs.norm,
            variance=alpha * steep + flat,
            rounds=inputs.rounds,
        ),
        "shared_variance": variances.shared,
        "selection_variance": variances.selection,
        "local_variance": variances.local,
    }


def _federation(inputs: SampledInputs, weighting: Weighting) -> DrawnGradients:
    return DrawnGradients(groups=inputs.client_groups, weighting=weighting, rate=inputs.participation_rate)


def _proof_smoothness(inputs: SampledInputs, federation: DrawnGradients) -> float:
    shared, local = federation.smoothness_factors("proof")
    return inputs.smoothness * max(inputs.personalization * shared, local)


@in_doubles
def weighted_by_samples(inputs: SampledInputs, reading: Reading = "printed") -> Outputs:
    """L_{m,α}, the variances of (13), the step and the bound. Printed: as in the statement (E-B5, E-B6)."""
    federation = _federation(inputs, "samples")
    return {
        **_bound(inputs, federation, reading),
        "proof_weighted_smoothness": _proof_smoothness(inputs, federation),
        "clipping_multiplier": federation.largest_message,
        "heterogeneity_cost": federation.heterogeneity_cost,
    }


@in_doubles
def weighted_by_clients(inputs: SampledInputs, reading: Reading = "printed") -> Outputs:
    """L_α, the variances of (35), the step and the bound; (36) beside. Printed: as in the statement (E-B5, E-B6)."""
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
def drawn(inputs: DrawnInputs) -> Outputs:
    """The bound, corrected, for any way of drawing clients."""
    federation = DrawnGradients(
        groups=inputs.client_groups,
        weighting=inputs.weighting,
        rate=inputs.participation_rate,
        draw="fixed-number" if inputs.sampling == "without-replacement" else "independent",
    )
    return _bound(inputs, federation, "corrected")


# Theorems -----------------------------------------------------------------------------------------------------------
def _drawn_or_all(inputs: SampledInputs) -> Sides:
    return Sides.at_least(inputs.participation_rate, 1.0)


def _selection_vanishes(inputs: SampledInputs) -> Sides:
    most = max(group.shared_gradient_norm for group in inputs.client_groups)
    return Sides.at_most((1.0 - inputs.participation_rate) * most, 0.0)


PRINTED_SMOOTHNESS = Condition(
    "statement-smoothness", "q = 1, as the smoothness of the statement leaves q out (E-B5)", _drawn_or_all
)
PRINTED_VARIANCE = Condition(
    "statement-variance",
    "(1 − q) max‖∇_w f_i‖ = 0, as the variance of the statement has one q too many (E-B6)",
    _selection_vanishes,
)
NO_RATE = Erratum(
    "E-B5",
    grade=Grade.PROVED_WRONG,
    printed="L_{m,α} = L max{α + α m_max/M, m_max/M}; in B.4, L_α = L max{α + α/N, 1/N}",
    truth="L max{α + α(1 − q) m_max/(qM), m_max/(qM)}; in B.4, L max{α + α(1 − q)/(qN), 1/(qN)}",
    test=f"{_TESTS}::test_the_printed_smoothness_lets_the_run_diverge",
)
RATE_TOO_MANY = Erratum(
    "E-B6",
    grade=Grade.PROVED_WRONG,
    printed="σ̃²_{w,m} has the factor q(1 − q)",
    truth="1 − q: a 1/q is lost where the second moments of b_i/q are taken",
    test=f"{_TESTS}::test_the_printed_selection_variance_is_too_small",
)
SYMBOLS = Erratum(
    "E-B7",
    grade=Grade.MISPRINT,
    printed="σ̄_{w,m} twice in (13), ασ̄²_{θ,m} in the middle of (14), and no σ̃_{w,m} in (16)",
    truth="the second of (13) and the middle of (14) are σ̃_{w,m}; (16) holds where it vanishes, (36) keeps it",
    test=f"{_TESTS}::test_the_coarser_variance_keeps_the_selection",
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
        "E f(z̄_T) − f* ≤ 4L_{m,α}‖z*‖²_α/T + 3σ_{m,α}‖z*‖_α/√T with σ²_{m,α} = (ασ̄²_w + ασ̃²_w + σ̄²_θ)/(qM) + αd_wσ_ζ²; "
        "L_{m,α} and σ̃ as corrected"
    ),
    source=Source("bietti2022", "Theorem 5.2, (13) and (14)"),
    status=Status.REFUTED,
    conditions=(PRINTED_SMOOTHNESS, PRINTED_VARIANCE, CONVEX_SMOOTH, FRESH, UNCLIPPED),
    errata=(NO_RATE, RATE_TOO_MANY, SYMBOLS),
    inputs=SampledInputs,
    formula=weighted_by_samples,
    examples=({**EXAMPLE, "participation_rate": 0.25},),
)
THEOREM_B_4 = Theorem(
    id="bietti.b.4",
    title="Generalisation of PPSGD, clients drawn independently and weighed alike",
    statement=(
        "E f(z̄_T) − f* ≤ 4L_α‖z*‖²_α/T + 3σ_{m,α}‖z*‖_α/√T with σ²_{m,α} = (ασ̄²_w + ασ̃²_w + σ̄²_θ)/(qN) + αd_wσ_ζ²; "
        "L_α and σ̃ as corrected"
    ),
    source=Source("bietti2022", "Theorem B.4, (15), (16), (35) and (36)"),
    status=Status.REFUTED,
    conditions=(PRINTED_SMOOTHNESS, PRINTED_VARIANCE, CONVEX_SMOOTH, FRESH, UNCLIPPED),
    errata=(NO_RATE, RATE_TOO_MANY, SYMBOLS),
    inputs=SampledInputs,
    formula=weighted_by_clients,
    examples=({**EXAMPLE, "participation_rate": 0.25},),
)
PERSONALIZED_RISK = Theorem(
    id="epsilond.personalized-sgd-excess-risk",
    title="Generalisation of PPSGD, however its clients are drawn",
    statement=(
        "Theorems 5.2 and B.4 with L max{α + ακω/(qW), ω/(qW)} and σ̃² = κΣ‖ω_i∇_w f_i‖²/W: κ = 1 − q for clients drawn "
        "independently, (1 − q) N/(N − 1) for a fixed number, ω_i the gradients added up in a message, W = Σω_i"
    ),
    source=Source("epsilond", "accountants/theorems/risk/bietti/sampled_participation.py"),
    status=Status.PROVED,
    conditions=(CONVEX_SMOOTH, FRESH, UNCLIPPED),
    inputs=DrawnInputs,
    formula=drawn,
    examples=({**EXAMPLE, "sampling": "without-replacement", "participation_rate": 0.25},),
)
THEOREMS: tuple[Theorem, ...] = (THEOREM_5_2, THEOREM_B_4, PERSONALIZED_RISK)
