"""Theorem 2.3 of Lowy and Razaviyayn: one pass of accelerated SGD, for clients whose distributions differ.

Every client deals its n records into R = ⌊n/K⌋ disjoint batches before the run, and uses each once. So a record enters
one message only, and that message's Gaussian noise is all that its privacy needs: nothing is composed, nothing is
amplified. The price is that rounds and batch compete for the records. All risks here hide constants and logarithms; the
explicit bound is in `accelerated_bound.py`. ln(1/δ) is −`log_delta`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Annotated, ClassVar

from epsilond.accountants.federation import Participation
from epsilond.accountants.quantities import (
    BATCH_SIZE,
    BATCH_WITHIN_CLIENT,
    GRADIENT_STD,
    INITIAL_GAP,
    Checks,
    Heterogeneity,
    Smoothness,
    request,
)
from epsilond.accountants.theorem import Condition, Erratum, Outputs, Reading, Sides, Source, Status, Theorem
from epsilond.accountants.theorems.mechanisms.gaussian_calibration import gaussian_noise_std_ends
from epsilond.accountants.theorems.papers.lowy_razaviyayn.noise import INSIDE_DOMAIN
from epsilond.accountants.theorems.papers.lowy_razaviyayn.run import ParticipationInputs, of_same_fields
from epsilond.accountants.theorems.risk.lowy_razaviyayn.gradient_variance import Variance, client_factor

PRINTED_FACTOR, RISK_PROOF_FACTOR = 32.0, 8.0
"""Of L² ln(1.25/δ)/(εK)² in the statement, and in the proof of its risk (E-24)."""


def one_pass_noise_std(
    *, lipschitz: float, batch_size: int, epsilon: float, log_delta: float, factor: float = PRINTED_FACTOR
) -> float:
    """σ = √(32 L² ln(1.25/δ))/(εK), per coordinate of the client's mean gradient; for ε ≤ 8 ln(1/δ).

    It is the Gaussian mechanism of Bun and Steinke at sensitivity 2L/K, 1.05 to 3.3 times the least σ that does.
    """
    return math.sqrt(factor * (math.log(1.25) - log_delta)) * lipschitz / (epsilon * batch_size)


def one_pass_rounds(*, samples_per_client: int, batch_size: int) -> int:
    """⌊n/K⌋ disjoint batches."""
    return samples_per_client // batch_size


def one_pass_variance(
    *,
    clients: int,
    participants: float,
    batch_size: int,
    dimension: int,
    noise_std: float,
    gradient_std: float,
    heterogeneity: float,
) -> Variance:
    """V² = φ²/(MK) + (v²/M)(N − M)/(N − 1) + dσ²/M about the expected gradient, records being fresh."""
    return Variance(
        sampling=gradient_std * gradient_std / (participants * batch_size),
        clients=client_factor(clients=clients, participants=participants) * heterogeneity * heterogeneity,
        noise=dimension * noise_std * noise_std / participants,
    )


@dataclass(frozen=True, kw_only=True)
class OnePass:
    """Equal clients, M = 1/E[1/M_r] of N in each round, and what is known of the loss. `gap` is Δ, used if μ > 0."""

    epsilon: float
    log_delta: float
    samples_per_client: int
    clients: int
    participants: float
    dimension: int
    lipschitz: float
    diameter: float
    smoothness: float
    strong_convexity: float
    gradient_std: float
    heterogeneity: float
    gap: float

    @property
    def condition_number(self) -> float:
        """The condition number κ = β/μ."""
        return self.smoothness / self.strong_convexity

    @property
    def privacy(self) -> float:
        """d ln(1/δ), by which privacy enters every rate."""
        return self.dimension * -self.log_delta

    @property
    def records(self) -> float:
        """nM, the records of the clients that take part in a round."""
        return float(self.samples_per_client) * self.participants

    @property
    def left_out(self) -> float:
        """(N − M)/(N − 1), the share of v² that client sampling leaves; 0 for one client."""
        return self.participants * client_factor(clients=self.clients, participants=self.participants)

    @property
    def reach(self) -> float:
        """εn, the records of a client as far as privacy lets them count."""
        return self.epsilon * self.samples_per_client


def convex_batch(run: OnePass) -> float:
    """K = (L/(βD))^{2/5} n^{3/5} (d ln(1/δ))^{1/5}/(ε^{2/5} M^{1/5}), a real number, maybe outside [1, n]."""
    n = float(run.samples_per_client)
    slope = math.pow(run.lipschitz / (run.smoothness * run.diameter), 0.4)
    return slope * math.pow(n, 0.6) * math.pow(run.privacy / run.participants, 0.2) / math.pow(run.epsilon, 0.4)


def logarithm_argument(run: OnePass) -> float:
    """μΔ min{ε²n²M/(L² d ln(1/δ)), nM/φ²}, whose logarithm the strongly convex rule divides by."""
    private = run.reach * run.reach * run.participants / (run.lipschitz * run.lipschitz * run.privacy)
    variance = run.gradient_std * run.gradient_std
    statistical = run.records / variance if variance > 0.0 else math.inf
    return run.strong_convexity * run.gap * min(private, statistical)


def strongly_convex_batch(run: OnePass) -> float:
    """K = n/(√κ ln(…)); infinite where the logarithm's argument is at most 1: the rule gives nothing."""
    argument = logarithm_argument(run)
    if argument <= 1.0:
        return math.inf
    return run.samples_per_client / (math.sqrt(run.condition_number) * math.log(argument))


def prescribed_batch(run: OnePass) -> float:
    """The rule's K, a real number."""
    return strongly_convex_batch(run) if run.strong_convexity > 0.0 else convex_batch(run)


def whole_batch(real: float, *, samples_per_client: int) -> int:
    """A prescribed K as one that can be run: rounded down, within [1, n]."""
    return max(1, math.floor(min(real, samples_per_client)))


def convex_terms(run: OnePass, *, batch_size: int, reading: Reading = "corrected") -> dict[str, float]:
    """βD²K²/n² + φD/√(nM) + LD √(d ln(1/δ))/(ε√(KnM)) + √K vD/√(nM) · √((N − M)/(N − 1)).

    Printed: β² in the first term, which is no loss (E-07).
    """
    size = run.diameter * batch_size / run.samples_per_client
    power = 2 if reading == "printed" else 1
    root = math.sqrt(run.records)
    return {
        "optimisation": run.smoothness**power * size * size,
        "sampling": run.gradient_std * run.diameter / root,
        "privacy": run.lipschitz * run.diameter * math.sqrt(run.privacy / batch_size) / (run.epsilon * root),
        "heterogeneity": run.heterogeneity * run.diameter * math.sqrt(batch_size * run.left_out) / root,
    }


def strongly_convex_terms(run: OnePass, *, batch_size: int) -> dict[str, float]:
    """Δ e^{−n/(K√κ)} + φ²/(μnM) + v²K/(μnM) (N − M)/(N − 1) + L² d ln(1/δ)/(μKnε²M)."""
    scale = run.strong_convexity * run.records
    exponent = run.samples_per_client / (batch_size * math.sqrt(run.condition_number))
    return {
        "optimisation": run.gap * math.exp(-exponent),
        "sampling": run.gradient_std * run.gradient_std / scale,
        "heterogeneity": run.heterogeneity * run.heterogeneity * batch_size / scale * run.left_out,
        "privacy": run.lipschitz * run.lipschitz * run.privacy / (scale * batch_size * run.epsilon * run.epsilon),
    }


def balanced_convex_terms(run: OnePass) -> dict[str, float]:
    """(37): the convex terms at the prescribed real K, where the first and third are equal and counted once."""
    steep = math.pow(run.smoothness, 0.25) * run.lipschitz * math.pow(run.diameter, 1.5)
    base = steep * math.sqrt(run.privacy / run.participants)
    root = math.sqrt(run.records)
    batch = convex_batch(run)
    return {
        "sampling": run.gradient_std * run.diameter / root,
        "privacy": math.pow(base / run.reach, 0.8),
        "heterogeneity": run.heterogeneity * run.diameter * math.sqrt(batch * run.left_out) / root,
    }


def balanced_strongly_convex_terms(run: OnePass, *, reading: Reading = "corrected") -> dict[str, float]:
    """(38): φ²/(μnM) + L²√κ d ln(1/δ)/(με²n²M) + v²/(μ√κM) (N − M)/(N − 1).

    Printed: no μ in the first term (E-08).
    """
    mu, root = run.strong_convexity, math.sqrt(run.condition_number)
    squared = run.lipschitz * run.lipschitz
    return {
        "sampling": run.gradient_std * run.gradient_std / (run.records * (1.0 if reading == "printed" else mu)),
        "privacy": squared * root * run.privacy / (mu * run.reach * run.reach * run.participants),
        "heterogeneity": run.heterogeneity * run.heterogeneity / (mu * root * run.participants) * run.left_out,
    }


def informal_terms(run: OnePass, *, reading: Reading = "corrected") -> dict[str, float]:
    """(8) or (9), for M = N: the two terms of (37) or (38) without heterogeneity. Printed (9): E-08."""
    if run.strong_convexity == 0.0:
        found = balanced_convex_terms(run)
        return {name: found[name] for name in ("sampling", "privacy")}
    corrected = balanced_strongly_convex_terms(run)
    lost = run.strong_convexity if reading == "printed" else 1.0
    return {"sampling": corrected["sampling"], "privacy": corrected["privacy"] * lost}


def informal_rounds(run: OnePass) -> float:
    """((βDεn)² M/(L²d))^{1/5}, or √κ: the rounds of the informal statement, up to constants and logarithms."""
    if run.strong_convexity > 0.0:
        return math.sqrt(run.condition_number)
    drift = run.smoothness * run.diameter * run.reach / run.lipschitz
    return math.pow(drift * drift * run.participants / run.dimension, 0.2)


def heterogeneity_threshold(run: OnePass) -> float:
    """The v up to which client sampling costs no more than the other terms of (37) or (38).

    Up to constants; infinite where all clients take part.
    """
    if run.left_out == 0.0:
        return math.inf
    n = float(run.samples_per_client)
    if run.strong_convexity > 0.0:
        root = math.sqrt(run.condition_number)
        noise = root * (run.lipschitz / run.reach) ** 2 * run.privacy
        return math.sqrt(root * (run.gradient_std * run.gradient_std / n + noise) / run.left_out)
    steep = math.pow(run.lipschitz, 0.6) * math.pow(run.diameter * run.smoothness, 0.4)
    private = steep * math.pow(run.participants, 0.2) * math.pow(run.privacy, 0.3) / math.pow(run.reach, 0.6)
    drift = math.pow(run.smoothness * run.diameter / run.lipschitz, 0.2)
    sampled = run.gradient_std * drift * math.pow(run.epsilon**2 * run.participants / (n**3 * run.privacy), 0.1)
    return (private + sampled) / math.sqrt(run.left_out)


def clients_needed(run: OnePass, *, reading: Reading = "corrected") -> float:
    """Remark E.2: (8) with M for N needs M of the order (εn/√(d ln(1/δ)))³. Printed: no square root (E-25)."""
    return math.pow(run.reach / (run.privacy if reading == "printed" else math.sqrt(run.privacy)), 3.0)


def regularization(*, variance: float, diameter: float, rounds: int) -> float:
    """λ = V/(2D√R), the weight of (λ/2)|w|² that the convex case adds; V/(D√R) about w₀ in Lemma E.11 (E-29)."""
    return math.sqrt(variance) / (2.0 * diameter * math.sqrt(rounds))


_TESTS = "tests/theorems/risk/lowy_razaviyayn/test_one_pass.py"


@request
class OnePassInputs(ParticipationInputs):
    """Equal clients, a number of which take part that may be random: M = 1/E[1/M_r], which V² has.

    Absent: participants are all clients, batch_size is the prescribed one, φ is L, Δ is LD.
    """

    batch_size: Annotated[int | None, BATCH_SIZE] = None
    smoothness: Smoothness
    gradient_std: Annotated[float | None, GRADIENT_STD] = None
    heterogeneity: Heterogeneity = 0.0
    initial_gap: Annotated[float | None, INITIAL_GAP] = None

    checks: ClassVar[Checks] = (BATCH_WITHIN_CLIENT,)

    @property
    def run(self) -> OnePass:
        """The run as the formulas see it."""
        gap = self.lipschitz * self.diameter if self.initial_gap is None else self.initial_gap
        std = self.lipschitz if self.gradient_std is None else self.gradient_std
        participants = Participation.of(self.counts).mean
        return of_same_fields(OnePass, self, gap=gap, gradient_std=std, participants=participants)

    @property
    def batch(self) -> int:
        """The batch given, or the prescribed one."""
        if self.batch_size is not None:
            return self.batch_size
        return whole_batch(prescribed_batch(self.run), samples_per_client=self.samples_per_client)


def one_pass(inputs: OnePassInputs, reading: Reading = "printed") -> Outputs:
    """Noise, batch and rounds, and every risk of the statement as a scale: its constants and logarithms are hidden.

    `mean_participants` is M, 1/E[1/M_r] where the number is random.
    `batch_…` are the terms at the batch that is run; `balanced_…` those of (37), or (38) if μ > 0, at the real
    prescribed batch; `informal_…` those of (8) or (9), for M = N. `upper_exact_noise_std` is the least σ that does.
    """
    run, batch = inputs.run, inputs.batch
    rounds = one_pass_rounds(samples_per_client=inputs.samples_per_client, batch_size=batch)
    stds = {
        factor: one_pass_noise_std(
            lipschitz=inputs.lipschitz,
            batch_size=batch,
            epsilon=inputs.epsilon,
            log_delta=inputs.log_delta,
            factor=factor,
        )
        for factor in (PRINTED_FACTOR, RISK_PROOF_FACTOR)
    }
    std = stds[PRINTED_FACTOR]
    sensitivity = 2.0 * inputs.lipschitz / batch
    exact = gaussian_noise_std_ends(epsilon=inputs.epsilon, log_delta=inputs.log_delta, sensitivity=sensitivity)
    if inputs.strong_convexity > 0.0:
        at_batch = strongly_convex_terms(run, batch_size=batch)
        balanced = balanced_strongly_convex_terms(run, reading=reading)
    else:
        at_batch = convex_terms(run, batch_size=batch, reading=reading)
        balanced = balanced_convex_terms(run)
    variance = one_pass_variance(
        clients=run.clients,
        participants=run.participants,
        batch_size=batch,
        dimension=run.dimension,
        noise_std=std,
        gradient_std=run.gradient_std,
        heterogeneity=run.heterogeneity,
    ).total
    outputs: dict[str, float] = {
        "batch_size": batch,
        "prescribed_batch_size": prescribed_batch(run),
        "rounds": rounds,
        "informal_rounds_scale": informal_rounds(run),
        "noise_std": std,
        "noise_multiplier": std * batch / inputs.lipschitz,
        "sensitivity": sensitivity,
        "risk_proof_noise_std": stds[RISK_PROOF_FACTOR],
        "lower_exact_noise_std": exact.lower,
        "upper_exact_noise_std": exact.upper,
        "epsilon_limit": -8.0 * inputs.log_delta,
        "mean_participants": run.participants,
        "gradient_variance": variance,
        "regularization": regularization(variance=variance, diameter=inputs.diameter, rounds=rounds),
        "heterogeneity_threshold": heterogeneity_threshold(run),
        "clients_needed": clients_needed(run, reading=reading),
        "excess_risk_scale": math.fsum(at_batch.values()),
        "balanced_excess_risk_scale": math.fsum(balanced.values()),
        "informal_excess_risk_scale": math.fsum(informal_terms(run, reading=reading).values()),
    }
    outputs |= {f"batch_{name}_term": value for name, value in at_batch.items()}
    return outputs | {f"balanced_{name}_term": value for name, value in balanced.items()}


# Conditions ---------------------------------------------------------------------------------------------------------
def _epsilon_range(inputs: OnePassInputs) -> Sides:
    return Sides.at_most(inputs.epsilon, -8.0 * inputs.log_delta)


def _everyone(inputs: OnePassInputs) -> Sides:
    """The least M_r against N where the clients may differ, against itself where v = 0."""
    fewest = min(count for count, _ in inputs.counts)
    return Sides.at_least(fewest, inputs.clients if inputs.heterogeneity > 0.0 else fewest)


def _batch_at_least_one(inputs: OnePassInputs) -> Sides:
    return Sides.at_least(prescribed_batch(inputs.run), 1.0)


def _batch_at_most_all(inputs: OnePassInputs) -> Sides:
    return Sides.at_most(prescribed_batch(inputs.run), inputs.samples_per_client)


def _logarithm(inputs: OnePassInputs) -> Sides:
    argument = logarithm_argument(inputs.run) if inputs.strong_convexity > 0.0 else math.inf
    return Sides(argument > 1.0, argument, 1.0)


DISJOINT = Condition(
    "disjoint-batches", "each client's batches are disjoint and fixed before the run: a record is used at most once"
)
CONDITIONS = (
    Condition("epsilon-range", "ε ≤ 8 ln(1/δ)", _epsilon_range),
    Condition("informal-participation", "M = N, or v = 0, for the informal risks (right side M if v = 0)", _everyone),
    Condition("prescribed-batch-positive", "the prescribed batch is at least 1", _batch_at_least_one),
    Condition("prescribed-batch-available", "the prescribed batch is at most n", _batch_at_most_all),
    Condition("logarithm", "the logarithm's argument exceeds 1 (unbounded if μ = 0)", _logarithm),
    DISJOINT,
    Condition("fresh-noise", "fresh Gaussian noise in every message"),
    INSIDE_DOMAIN,
    Condition("loss", "every record's loss is convex (the objective μ-strongly convex), L-Lipschitz and β-smooth"),
    Condition("independent-records", "all records are independent, each from its own client's distribution"),
    Condition("hidden-constants", "constants and logarithms that the statement's risks leave out", undecidable=True),
)

# Errata -------------------------------------------------------------------------------------------------------------
SQUARED_SMOOTHNESS = Erratum(
    "E-07",
    printed="the convex bound at any K begins with β²D²K²/n²",
    truth="βD²K²/n²: as printed it is no loss, and does not balance the privacy term at the prescribed K",
    test=f"{_TESTS}::test_the_first_convex_term_balances_the_third_only_with_one_power_of_smoothness",
)
LOST_CONVEXITY = Erratum(
    "E-08",
    printed="φ²/(nM) in (38), and √κ L² d ln(1/δ)/(ε²n²N) in (9)",
    truth="both are divided by μ: as printed they are squared gradients, not losses",
    test=f"{_TESTS}::test_the_printed_strongly_convex_terms_are_not_losses",
)
TWO_NOISES = Erratum(
    "E-24",
    printed="σ² = 32 L² ln(1.25/δ)/(εK)² in the statement and its privacy proof, 8 L² … in the proof of its risk",
    truth="32 for ε ≤ 8 ln(1/δ); with 8 the true ε at δ = 1e-5 and ε = 10 is 10.39",
    test=f"{_TESTS}::test_the_noise_in_the_proof_of_the_risk_is_not_private",
)
REMARK = Erratum(
    "E-25",
    printed="Remark E.2: M ≳ (εn/(d ln(1/δ)))³",
    truth="(εn/√(d ln(1/δ)))³",
    test=f"{_TESTS}::test_the_clients_that_the_remark_needs",
)
REGULARIZATION = Erratum(
    "E-29",
    printed="λ = V/(2D√R) with (λ/2)|w|²; R = n/K; F̂ for F",
    truth="Lemma E.11 has (V/(2D√R))|w − w₀|², twice as much and about the start; R = ⌊n/K⌋",
    test=f"{_TESTS}::test_rounds_are_whole_and_the_rest_of_the_records_is_unused",
)

THEOREM_2_3 = Theorem(
    id="lowy.2.3",
    title="One-pass accelerated mini-batch SGD for clients that differ",
    statement=(
        "With σ² = 32 L² ln(1.25/δ)/(εK)², ε ≤ 8 ln(1/δ), and R = ⌊n/K⌋ disjoint batches, everything a client sends is "
        "(ε, δ) for each of its records. Õ excess risk: (37) φD/√(nM) + (β^{1/4}LD^{3/2}√(d ln(1/δ))/(εn√M))^{4/5} + "
        "√K vD√((N − M)/((N − 1)nM)); if μ-strongly convex (38) φ²/(μnM) + √κ L²d ln(1/δ)/(με²n²M) + "
        "v²(N − M)/(μ√κM(N − 1)); at the prescribed K"
    ),
    source=Source("lowy2023", "Theorem 2.3"),
    status=Status.PROVED,
    constants="hidden",
    conditions=CONDITIONS,
    errata=(SQUARED_SMOOTHNESS, LOST_CONVEXITY, TWO_NOISES, REMARK, REGULARIZATION),
    inputs=OnePassInputs,
    formula=one_pass,
    examples=(
        {
            "epsilon": 1.0,
            "delta": 1e-6,
            "samples_per_client": 100_000,
            "clients": 50,
            "participants": 40,
            "dimension": 10,
            "lipschitz": 1.0,
            "diameter": 2.0,
            "smoothness": 1.0,
            "gradient_std": 0.5,
            "heterogeneity": 0.1,
        },
        {
            "epsilon": 1.0,
            "delta": 1e-6,
            "samples_per_client": 100_000,
            "clients": 50,
            "participants": 50,
            "batch_size": 500,
            "dimension": 10,
            "lipschitz": 1.0,
            "diameter": 2.0,
            "smoothness": 10.0,
            "strong_convexity": 0.1,
        },
    ),
)

THEOREMS: tuple[Theorem, ...] = (THEOREM_2_3,)
