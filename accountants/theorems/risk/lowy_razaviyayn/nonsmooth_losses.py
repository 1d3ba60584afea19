"""Theorem 2.2 of Lowy and Razaviyayn: Algorithm 1 on the Moreau envelope of losses that need not be smooth."""

from __future__ import annotations

import math
from typing import Any

from epsilond.accountants.errors import InvalidInput
from epsilond.accountants.quantities import request
from epsilond.accountants.theorem import Condition, Erratum, Outputs, Reading, Sides, Source, Status, Theorem
from epsilond.accountants.theorems.papers.lowy_razaviyayn.arithmetic import in_doubles
from epsilond.accountants.theorems.papers.lowy_razaviyayn.noise import FRESH_NOISE, PRIVACY_ERRATA
from epsilond.accountants.theorems.papers.lowy_razaviyayn.run import (
    DRAWN_ONCE,
    MINIMAL_BATCH,
    PRESCRIBED_ROUNDS,
    epsilon_range,
)
from epsilond.accountants.theorems.risk.lowy_razaviyayn.convergence import CONSTRAINED_MINIMUM
from epsilond.accountants.theorems.risk.lowy_razaviyayn.envelope import ENVELOPE_LIPSCHITZ
from epsilond.accountants.theorems.risk.lowy_razaviyayn.nonsmooth_prescription import (
    EnvelopePrescription,
    complete_convex_envelope,
    complete_strongly_convex_envelope,
    informal_envelope,
)
from epsilond.accountants.theorems.risk.lowy_razaviyayn.smooth_losses import PARTICIPANTS
from epsilond.accountants.theorems.risk.lowy_razaviyayn.unequal_inputs import (
    EQUAL_SHARES,
    LOGARITHM_ABOVE_ONE,
    UnlikeClientsInputs,
    prescribed_outputs,
    proof_excess_risk,
)

_TESTS = "tests/theorems/risk/lowy_razaviyayn/test_nonsmooth_losses.py"


@request
class NonsmoothInputs(UnlikeClientsInputs):
    """A Lipschitz loss. Absent: rounds as prescribed, participants all clients. Give one of delta and log10_delta."""

    def check(self) -> None:
        """And μD ≤ 2L."""
        super().check()
        least = min(
            (self.lipschitz if one.lipschitz is None else one.lipschitz) for one in self.client_groups or (self,)
        )
        if self.strong_convexity * self.diameter > 2.0 * least:
            raise InvalidInput.at(
                "/strong_convexity", "a strongly convex loss has lipschitz ≥ strong_convexity · diameter / 2"
            )

    def prescription(self, reading: Reading) -> EnvelopePrescription:
        """What the variant prescribes in a reading."""
        run: dict[str, Any] = {
            "federation": self.federation_in(reading),
            "dimension": self.dimension,
            "lipschitz": self.largest_lipschitz,
            "diameter": self.diameter,
            "rounds": self.rounds,
        }
        mu = self.weighted_convexity
        if self.variant == "informal":
            return informal_envelope(strong_convexity=mu, **run)
        if mu > 0.0:
            return complete_strongly_convex_envelope(strong_convexity=mu, reading=reading, **run)
        return complete_convex_envelope(reading=reading, **run)


@in_doubles
def nonsmooth(inputs: NonsmoothInputs, reading: Reading = "printed") -> Outputs:
    """Noise, batch and rounds; envelope, step size and averaging where the variant gives them; the risk it claims.

    `excess_risk` is the complete convex bound; where the constant is hidden the figure is `excess_risk_scale` instead.
    Printed it has the plain M, and `excess_risk_at_effective_participants` is the same with M~ as the text defines it.
    `…_term` are those of the smooth statement on the envelope, and the envelope's gap; `proof_excess_risk` is their
    sum. Participants, Ξ and Ψ are named as in `lowy.2.1`. Each of `groups` has its own noise.
    """
    found = inputs.prescription(reading)
    outputs = prescribed_outputs(inputs, found, reading)
    if found.envelope_smoothness is not None:
        outputs["envelope_smoothness"] = found.envelope_smoothness
    if found.excess_risk_at_effective_participants is not None:
        outputs["excess_risk_at_effective_participants"] = found.excess_risk_at_effective_participants
    return outputs


# Conditions ---------------------------------------------------------------------------------------------------------
def _claim(inputs: NonsmoothInputs, reading: Reading) -> Sides:
    """What the proof sums up at the run against the explicit claim, unbounded where the constant is hidden."""
    found = inputs.prescription(reading)
    if found.constants == "hidden":
        return Sides.at_most(0.0, math.inf)
    return Sides.at_most(proof_excess_risk(found), found.excess_risk)


CONDITIONS = (
    Condition("epsilon-range", "ε ≤ 2 ln(2/δ) in the main text, ε ≤ ln(2/δ) in the complete version", epsilon_range),
    MINIMAL_BATCH,
    DRAWN_ONCE,
    PRESCRIBED_ROUNDS,
    EQUAL_SHARES,
    LOGARITHM_ABOVE_ONE,
    Condition(
        "claim-proved",
        "what the proof sums up at this run is at most the explicit bound (unbounded where a constant is hidden)",
        _claim,
        by_reading=True,
    ),
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
PLAIN_PARTICIPANTS = Erratum(
    "E-34",
    printed="545 L D ν/√M with the plain M, beside M~ := √M' or √M in R, b and η",
    truth=(
        "the proof gives √M~ with M~ = M' or M: where M' is taken, the plain M claims √(M/M') less than is proved; and "
        "with the printed M~ the same bound would be M^(1/4) larger"
    ),
    test=f"{_TESTS}::test_the_printed_bound_has_the_plain_number_of_participants",
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
        "is (ε, δ) for every record against everyone but its client, and E F(ŵ) − F* ≤ 545 L D ν/√M at "
        "R = ⌈M~/ν²⌉; if μ-strongly convex Õ(L²/μ (1/(Mn) + d min{Ξ/M', ξ_max/M})). Read here: batches drawn without "
        "replacement, 272.5 L D ν/√M~ with M~ = M, and the average of w_1, …, w_R, for which 174.5 will do"
    ),
    source=Source("lowy2023", "Theorem 2.2"),
    status=Status.PROVED,
    conditions=CONDITIONS,
    errata=(
        *PRIVACY_ERRATA,
        PARTICIPANTS,
        PLAIN_PARTICIPANTS,
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
        {
            "epsilon": 1.0,
            "delta": 1e-5,
            "samples_per_client": 1000,
            "clients": 10,
            "client_groups": [
                {"clients": 4, "samples_per_client": 1000, "weight": 2.0},
                {"clients": 6, "samples_per_client": 500, "epsilon": 2.0},
            ],
            "participation": [{"participants": 5, "probability": 0.5}, {"participants": 10, "probability": 0.5}],
            "batch_size": 100,
            "dimension": 20,
            "lipschitz": 1.0,
            "diameter": 1.0,
        },
    ),
)

THEOREMS: tuple[Theorem, ...] = (THEOREM_2_2,)
