"""Theorem 2.1 of Lowy and Razaviyayn: Algorithm 1 for smooth losses and identically distributed clients."""

from __future__ import annotations

from typing import Any

from epsilond.accountants.quantities import Smoothness, request
from epsilond.accountants.theorem import Condition, Erratum, Outputs, Reading, Sides, Source, Status, Theorem
from epsilond.accountants.theorems.papers.lowy_razaviyayn.arithmetic import in_doubles
from epsilond.accountants.theorems.papers.lowy_razaviyayn.noise import (
    FRESH_NOISE,
    INSIDE_DOMAIN,
    PRIVACY_ERRATA,
)
from epsilond.accountants.theorems.papers.lowy_razaviyayn.run import (
    DRAWN_ONCE,
    MINIMAL_BATCH,
    PRESCRIBED_ROUNDS,
    epsilon_range,
)
from epsilond.accountants.theorems.risk.lowy_razaviyayn.convergence import CONSTRAINED_MINIMUM
from epsilond.accountants.theorems.risk.lowy_razaviyayn.smooth_prescription import (
    Prescription,
    complete_convex,
    complete_strongly_convex,
    effective_samples,
    informal,
    rate,
)
from epsilond.accountants.theorems.risk.lowy_razaviyayn.unequal_inputs import (
    EQUAL_SHARES,
    LOGARITHM_ABOVE_ONE,
    UnlikeClientsInputs,
    prescribed_outputs,
)
from epsilond.accountants.theorems.risk.lowy_razaviyayn.variance_lemmas import NOT_HOMOGENEOUS

_TESTS = "tests/theorems/risk/lowy_razaviyayn/test_smooth_losses.py"


@request
class SmoothInputs(UnlikeClientsInputs):
    """A smooth loss. Absent: rounds are as prescribed, participants all clients. Give one of delta and log10_delta."""

    smoothness: Smoothness

    def scales(self) -> tuple[str, ...]:
        """And β."""
        return (*super().scales(), "smoothness")

    def prescription(self, reading: Reading) -> Prescription:
        """What the variant prescribes in a reading."""
        run: dict[str, Any] = {
            "federation": self.federation_in(reading),
            "dimension": self.dimension,
            "lipschitz": self.largest_lipschitz,
            "diameter": self.diameter,
            "smoothness": max(self.scales_of_losses) * self.smoothness,
            "rounds": self.rounds,
        }
        mu = self.weighted_convexity
        if self.variant == "informal":
            return informal(strong_convexity=mu, **run)
        if mu > 0.0:
            return complete_strongly_convex(strong_convexity=mu, reading=reading, **run)
        return complete_convex(reading=reading, **run)


@in_doubles
def smooth(inputs: SmoothInputs, reading: Reading = "printed") -> Outputs:
    """Noise, batch and rounds; step size and averaging where the variant gives them; the risk it claims.

    `excess_risk` is the complete convex bound; where the constant is hidden the figure is `excess_risk_scale` instead.
    `…_term` are those of the master inequality (27), or the empirical bound and the stability if strongly convex;
    `proof_excess_risk` is their sum. `mean_participants` is M, `rms_participants` M', `effective_participants` M~;
    `average_xi` and `average_psi` are Ξ and Ψ, `xi` and `psi` Ξ~ and Ψ~. Each of `groups` has its own noise.
    """
    return prescribed_outputs(inputs, inputs.prescription(reading), reading)


# Conditions ---------------------------------------------------------------------------------------------------------
def _client_sampling(inputs: SmoothInputs, reading: Reading) -> Sides:
    """R against 1/ν², or against 0 where every client participates."""
    found, federation = inputs.prescription(reading), inputs.federation_in(reading)
    if federation.all_participate:
        return Sides.at_least(found.rounds, 0.0)
    if found.aggregates is None:
        (kind,) = federation.groups
        needed = effective_samples(
            samples_per_client=kind.samples_per_client, epsilon=kind.epsilon, dimension=inputs.dimension
        )
    elif inputs.strong_convexity > 0.0:
        needed = 1.0 / (inputs.dimension * found.aggregates.xi)
    else:
        fewest = federation.fewest_samples
        needed = 1.0 / rate(aggregates=found.aggregates, fewest_samples=fewest, dimension=inputs.dimension) ** 2
    return Sides.at_least(found.rounds, needed)


CONDITIONS = (
    Condition("epsilon-range", "ε ≤ 2 ln(2/δ) in the main text, ε ≤ ln(2/δ) in the complete version", epsilon_range),
    MINIMAL_BATCH,
    DRAWN_ONCE,
    PRESCRIBED_ROUNDS,
    EQUAL_SHARES,
    Condition(
        "client-sampling",
        "all clients participate (right side 0), or R ≥ 1/ν² (1/(dΞ~) if μ > 0)",
        _client_sampling,
        by_reading=True,
    ),
    LOGARITHM_ABOVE_ONE,
    FRESH_NOISE,
    INSIDE_DOMAIN,
    Condition("loss", "every record's loss is convex (or μ-strongly convex), L-Lipschitz and β-smooth on the domain"),
    Condition("identical-clients", "all records are independent and identically distributed, over all clients"),
    Condition("domain", "the domain is closed, convex, of diameter at most D, and holds the start"),
    Condition("averaged-output", "the output averages w_1, …, w_R (the printed w_0, …, w_{R−1} will not do)"),
    Condition("hidden-constants", "constants and logarithms that the informal statement leaves out", undecidable=True),
)

# Errata -------------------------------------------------------------------------------------------------------------
DIAMETER = Erratum(
    "E-05",
    printed="D bounds |w − w'| in the main text and |w| in the appendix; constant 272",
    truth=(
        "the proof needs |w₀ − w*| ≤ D. Its four parts, each at its own worst, add to 270 (282 if |w₀ − w*| may be "
        "2D); but no step size is worst for all, jointly they reach 267 (270): 272 stands in either sense"
    ),
    test=f"{_TESTS}::test_the_constant_272_stands_for_diameter_and_radius",
)
PARTICIPANTS = Erratum(
    "E-06",
    printed="M~ := √M' or √M",
    truth="M~ := M' or M: as printed the bound falls like M^(−1/4), against (4) and (6)",
    test=f"{_TESTS}::test_the_printed_participants_lose_a_square_root",
)
BATCH_IN_ROUNDS = Erratum(
    "E-10",
    printed="the complete strongly convex R has L²/(dΨ~), the informal one is divided by K",
    truth="the proof needs the quotient by K only, if all clients participate: K times fewer rounds",
    test=f"{_TESTS}::test_the_printed_rounds_forget_the_batch",
)
CONSTANTS = Erratum(
    "E-16",
    printed="4Rd in (26); c with Ξ² and the noise doubled in the strongly convex step size",
    truth="128Rd; c = 8L²/(MK) + d min{Σ²/M', σ²_max/M}",
    test=f"{_TESTS}::test_the_noise_in_the_printed_steps_of_the_proof",
)

THEOREM_2_1 = Theorem(
    id="lowy.2.1",
    title="Noisy mini-batch SGD for smooth losses and identically distributed clients",
    statement=(
        "With σ² = 256 L² R ln(2.5R/δ) ln(2/δ)/(nε)² Algorithm 1 is (ε, δ) for every record against everyone but its "
        "client, and E F(ŵ) − F* ≤ 272 L D ν/√M~, ν = max{1/√n, √(dΞ~)}, at the R and η prescribed; if μ-strongly "
        "convex Õ(L²/μ (1/(Mn) + d min{Ξ/M', ξ_max/M})). Read here: batches drawn without replacement, M~ = M, and the "
        "average of w_1, …, w_R, for which 174 replaces 272"
    ),
    source=Source("lowy2023", "Theorem 2.1"),
    status=Status.PROVED,
    conditions=CONDITIONS,
    errata=(*PRIVACY_ERRATA, DIAMETER, PARTICIPANTS, BATCH_IN_ROUNDS, CONSTRAINED_MINIMUM, NOT_HOMOGENEOUS, CONSTANTS),
    inputs=SmoothInputs,
    formula=smooth,
    examples=(
        {
            "epsilon": 1.0,
            "delta": 1e-5,
            "samples_per_client": 1000,
            "clients": 10,
            "participants": 10,
            "batch_size": 100,
            "dimension": 20,
            "lipschitz": 1.0,
            "diameter": 1.0,
            "smoothness": 2.0,
        },
        {
            "variant": "informal",
            "epsilon": 1.0,
            "delta": 1e-5,
            "samples_per_client": 1000,
            "clients": 10,
            "participants": 10,
            "batch_size": 1000,
            "dimension": 20,
            "lipschitz": 1.0,
            "diameter": 1.0,
            "smoothness": 2.0,
            "strong_convexity": 0.1,
        },
        {
            "epsilon": 1.0,
            "delta": 1e-5,
            "samples_per_client": 1000,
            "clients": 4,
            "client_groups": [
                {"clients": 1, "samples_per_client": 1000},
                {"clients": 1, "samples_per_client": 500, "epsilon": 0.5, "delta": 1e-6, "lipschitz": 0.5},
                {"clients": 1, "samples_per_client": 2000, "epsilon": 2.0},
                {"clients": 1, "samples_per_client": 1000, "delta": 1e-7},
            ],
            "participation": [{"participants": 2, "probability": 0.5}, {"participants": 4, "probability": 0.5}],
            "batch_size": 100,
            "dimension": 5,
            "lipschitz": 1.0,
            "diameter": 2.0,
            "smoothness": 1.0,
        },
    ),
)

THEOREMS: tuple[Theorem, ...] = (THEOREM_2_1,)
