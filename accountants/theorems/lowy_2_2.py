"""Theorem 2.2 of Lowy and Razaviyayn: Algorithm 1 on the Moreau envelope of losses that need not be smooth."""

from __future__ import annotations

import math

from accountants.errors import InvalidInput
from accountants.quantities import (
    request,
)
from accountants.theorem import Condition, Erratum, Outputs, Reading, Sides, Source, Status, Theorem
from accountants.theorems.lowy_2_1 import PARTICIPANTS
from accountants.theorems.lowy_arithmetic import in_doubles
from accountants.theorems.lowy_convergence import CONSTRAINED_MINIMUM
from accountants.theorems.lowy_envelope import ENVELOPE_LIPSCHITZ
from accountants.theorems.lowy_noise import (
    FRESH_NOISE,
    PRIVACY_ERRATA,
    epsilon_limit,
    minimal_batch_size,
)
from accountants.theorems.lowy_nonsmooth import (
    EnvelopePrescription,
    complete_convex_envelope,
    complete_strongly_convex_envelope,
    informal_envelope,
)
from accountants.theorems.lowy_run_inputs import (
    DRAWN_ONCE,
    MINIMAL_BATCH,
    PRESCRIBED_ROUNDS,
    BatchInputs,
)

_TESTS = "tests/theorems/test_lowy_2_2.py"


@request
class NonsmoothInputs(BatchInputs):
    """Equal clients, M of N in each round. Absent: rounds are as prescribed. Give one of delta and log10_delta."""

    def check(self) -> None:
        """And μD ≤ 2L."""
        super().check()
        if self.strong_convexity * self.diameter > 2.0 * self.lipschitz:
            raise InvalidInput.at(
                "/strong_convexity", "a strongly convex loss has lipschitz ≥ strong_convexity · diameter / 2"
            )

    def prescription(self, reading: Reading) -> EnvelopePrescription:
        """What the variant prescribes in a reading."""
        federation = self.federation
        if self.variant == "informal":
            return informal_envelope(
                federation=federation,
                dimension=self.dimension,
                lipschitz=self.lipschitz,
                diameter=self.diameter,
                strong_convexity=self.strong_convexity,
                rounds=self.rounds,
            )
        if self.strong_convexity > 0.0:
            return complete_strongly_convex_envelope(
                federation=federation,
                dimension=self.dimension,
                lipschitz=self.lipschitz,
                diameter=self.diameter,
                strong_convexity=self.strong_convexity,
                rounds=self.rounds,
                reading=reading,
            )
        return complete_convex_envelope(
            federation=federation,
            dimension=self.dimension,
            lipschitz=self.lipschitz,
            diameter=self.diameter,
            rounds=self.rounds,
            reading=reading,
        )


@in_doubles
def nonsmooth(inputs: NonsmoothInputs, reading: Reading = "printed") -> Outputs:
    """Noise, batch and rounds; envelope, step size and averaging where the variant gives them; the risk it claims.

    `excess_risk` is the complete convex bound; where the constant is hidden the figure is `excess_risk_scale` instead.
    `…_term` are those of the smooth statement on the envelope, and the envelope's gap.
    """
    found = inputs.prescription(reading)
    (std,) = found.noise_stds
    outputs: dict[str, float] = {
        "rounds": found.rounds,
        "prescribed_rounds": found.prescribed_rounds,
        "noise_std": std,
        "noise_multiplier": std * inputs.batch_size / inputs.lipschitz,
        "sensitivity": 2.0 * inputs.lipschitz / inputs.batch_size,
        "minimal_batch_size": minimal_batch_size(
            samples_per_client=inputs.samples_per_client,
            rounds=found.rounds,
            epsilon=inputs.epsilon,
            log_delta=inputs.log_delta,
        ),
        "epsilon_limit": epsilon_limit(log_delta=inputs.log_delta, reading=inputs.variant),
        "excess_risk" if found.constants == "explicit" else "excess_risk_scale": found.excess_risk,
    }
    if found.envelope_smoothness is not None:
        outputs["envelope_smoothness"] = found.envelope_smoothness
    if found.step_size is not None and found.averaging_ratio is not None:
        outputs |= {"step_size": found.step_size, "averaging_ratio": found.averaging_ratio}
    if found.aggregates is not None:
        outputs |= {"effective_participants": found.aggregates.participants, "xi": found.aggregates.xi}
    return outputs | {f"{name}_term": value for name, value in found.terms.items()}


# Conditions ---------------------------------------------------------------------------------------------------------
def _logarithm(inputs: NonsmoothInputs) -> Sides:
    argument = inputs.prescription("printed").terms.get("logarithm_argument", math.inf)
    return Sides(argument > 1.0, argument, 1.0)


CONDITIONS = (
    Condition(
        "epsilon-range",
        "ε ≤ 2 ln(2/δ) in the main text, ε ≤ ln(2/δ) in the complete version",
        lambda inputs: Sides.at_most(inputs.epsilon, epsilon_limit(log_delta=inputs.log_delta, reading=inputs.variant)),
    ),
    MINIMAL_BATCH,
    DRAWN_ONCE,
    PRESCRIBED_ROUNDS,
    Condition("logarithm", "the logarithm's argument exceeds 1 (unbounded if μ = 0)", _logarithm),
    FRESH_NOISE,
    Condition("inside-domain", "gradients of the envelope are evaluated inside the domain, where their norm is ≤ L"),
    Condition("loss", "every record's loss is convex (or μ-strongly convex) and L-Lipschitz on the domain"),
    Condition("identical-clients", "all records are independent and identically distributed, over all clients"),
    Condition("domain", "the domain is closed, convex, of diameter at most D, and holds the start"),
    Condition("averaged-output", "the output averages w_1, …, w_R (the printed w_0, …, w_{R−1} will not do)"),
    Condition("exact-proximal-step", "the proximal point of a record's loss is found exactly"),
    Condition("hidden-constants", "constants and logarithms that the informal statement leaves out", undecidable=True),
)

# Errata -------------------------------------------------------------------------------------------------------------
CONSTANT = Erratum(
    "E-17",
    printed="545 L D ν/√M~, as the envelope is 2L-Lipschitz; σ computed from L all the same",
    truth=(
        "the envelope is L-Lipschitz on the domain: σ is right and 272.5 replaces 545; our own bound at the prescribed "
        "run is at most 174.5 L D ν/√M~"
    ),
    test=f"{_TESTS}::test_half_of_545_stands_and_174_and_a_half_is_proved",
)
STEP_SIZE = Erratum(
    "E-17",
    printed="η and the weights of the strongly convex statement with μ",
    truth="with the envelope's μb/(μ + b)",
    test=f"{_TESTS}::test_the_steps_use_the_strong_convexity_of_the_envelope",
)
LOGARITHM = Erratum(
    "E-29",
    printed="ln(bD²μM'/(dL²Ξ~))",
    truth="ln(bD²μM~/(dL²Ξ~)): M' belongs to Ξ, and is not always the one chosen",
    test=f"{_TESTS}::test_the_printed_logarithm_has_the_other_participants",
)

THEOREM_2_2 = Theorem(
    id="lowy.2.2",
    title="Noisy mini-batch SGD for losses that need not be smooth",
    statement=(
        "Algorithm 1 on the Moreau envelope with b = L√M~/(Dν) (μM~/ν² if μ-strongly convex) and the σ of Theorem 2.1 "
        "is (ε, δ) for every record against everyone but its client, and E F(ŵ) − F* ≤ 545 L D ν/√M~ at "
        "R = ⌈M~/ν²⌉; if μ-strongly convex Õ(L²/μ (1/(Mn) + d min{Ξ/M', ξ_max/M})). Read here: batches drawn without "
        "replacement, M~ = M, 272.5 for 545, and the average of w_1, …, w_R, for which 174.5 will do"
    ),
    source=Source("lowy2023", "Theorem 2.2"),
    status=Status.PROVED,
    conditions=CONDITIONS,
    errata=(
        *PRIVACY_ERRATA,
        PARTICIPANTS,
        CONSTRAINED_MINIMUM,
        ENVELOPE_LIPSCHITZ,
        CONSTANT,
        STEP_SIZE,
        LOGARITHM,
    ),
    inputs=NonsmoothInputs,
    formula=nonsmooth,
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
        },
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
            "strong_convexity": 0.1,
        },
    ),
)

THEOREMS: tuple[Theorem, ...] = (THEOREM_2_2,)
