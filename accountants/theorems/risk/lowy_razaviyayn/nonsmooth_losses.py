"""Theorem 2.2 of Lowy and Razaviyayn: Algorithm 1 on the Moreau envelope of losses that need not be smooth.

The smoothness b of every record's envelope f_b (`envelope.py`) is prescribed too, through ν and so through R. The
excess risk of the loss itself is that of the envelope plus at most L²/(2b).
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

from epsilond.accountants.errors import InvalidInput
from epsilond.accountants.federation import Federation
from epsilond.accountants.quantities import request
from epsilond.accountants.theorem import Condition, Erratum, Outputs, Reading, Sides, Source, Status, Theorem
from epsilond.accountants.theorems.papers.lowy_razaviyayn.noise import (
    FRESH_NOISE,
    PRIVACY_ERRATA,
    Aggregates,
    aggregates,
)
from epsilond.accountants.theorems.papers.lowy_razaviyayn.run import (
    DRAWN_ONCE,
    EQUAL_SHARES,
    LOGARITHM_ABOVE_ONE,
    MINIMAL_BATCH,
    PRESCRIBED_ROUNDS,
    Prescription,
    UnlikeClientsInputs,
    epsilon_range,
    prescribed_outputs,
    smallest_round_count,
)
from epsilond.accountants.theorems.risk.lowy_razaviyayn.envelope import (
    ENVELOPE_LIPSCHITZ,
    envelope_gap,
    envelope_lipschitz,
    envelope_strong_convexity,
)
from epsilond.accountants.theorems.risk.lowy_razaviyayn.noisy_descent import CONSTRAINED_MINIMUM
from epsilond.accountants.theorems.risk.lowy_razaviyayn.smooth_losses import (
    PARTICIPANTS,
    PRINTED_CONSTANT,
    complete_convex,
    complete_strongly_convex,
    effective_samples,
    informal,
    rate,
)


def informal_envelope(
    *,
    federation: Federation,
    dimension: int,
    lipschitz: float,
    diameter: float,
    strong_convexity: float = 0.0,
    rounds: int | None = None,
) -> Prescription:
    """The informal statement for equal clients: (6) if μ = 0, (7) if μ > 0.

    R = M min{n, ε²n²/d}, times ln(D²μ²M²ε²n³/(dL²)) if μ > 0, which needs the logarithm's argument above 1. The risk is
    the scale of (4) or (5): what smoothness is missing costs rounds only.
    """
    (group,) = federation.groups
    participants, n = federation.participation.mean, group.samples_per_client
    prescribed = participants * effective_samples(samples_per_client=n, epsilon=group.epsilon, dimension=dimension)
    terms = {}
    if strong_convexity > 0.0:
        reach = diameter * strong_convexity / lipschitz * participants * group.epsilon * n
        argument = reach * reach * n / dimension
        prescribed *= math.log(argument) if argument > 0.0 else -math.inf
        terms = {"logarithm_argument": argument}
    chosen = rounds if rounds is not None else smallest_round_count(lambda _: prescribed)
    scale = informal(
        federation=federation,
        dimension=dimension,
        lipschitz=lipschitz,
        diameter=diameter,
        smoothness=max(strong_convexity, lipschitz / diameter),  # the scale does not depend on it
        strong_convexity=strong_convexity,
        rounds=chosen,
    )
    return replace(scale, prescribed_rounds=prescribed, terms=terms)


def complete_convex_envelope(
    *,
    federation: Federation,
    dimension: int,
    lipschitz: float,
    diameter: float,
    rounds: int | None = None,
    reading: Reading = "corrected",
) -> Prescription:
    """The complete convex statement: E F(ŵ) − F* ≤ 272.5 L D ν/√M~, printed as 545 L D ν/√M (E-17, E-34).

    b = L√M~/(Dν) and R = ⌈M~/ν²⌉, or the `rounds` given; η and the average are those of the smooth statement at β = b,
    which asks for no more rounds: bD√M~/(Lν) = M~/ν² ≥ 1/ν². So does client sampling (E-14). The gap L²/(2b) is half
    of L D ν/√M~. The printed constant is twice 272 and 1, for an envelope that might be 2L-Lipschitz. Printed reading:
    M~ = √M' or √M in R, b and η (E-06), and the plain M in the bound itself (E-34).
    """

    def prescribed(count: int) -> float:
        seen = aggregates(federation, count, reading)
        nu = rate(aggregates=seen, fewest_samples=federation.fewest_samples, dimension=dimension)
        return seen.participants / (nu * nu)

    chosen = rounds if rounds is not None else smallest_round_count(prescribed)
    seen = aggregates(federation, chosen, reading)
    nu = rate(aggregates=seen, fewest_samples=federation.fewest_samples, dimension=dimension)
    smoothness = lipschitz * math.sqrt(seen.participants) / (diameter * nu)
    found = complete_convex(
        federation=federation,
        dimension=dimension,
        lipschitz=lipschitz,
        diameter=diameter,
        smoothness=smoothness,
        rounds=chosen,
        reading=reading,
    )
    unit, gap = found.terms["unit"], envelope_gap(lipschitz=lipschitz, envelope_smoothness=smoothness)
    doubled = envelope_lipschitz(lipschitz=lipschitz, reading=reading) / lipschitz
    claimed = PRINTED_CONSTANT * doubled * unit + (2.0 * gap if reading == "printed" else gap)
    enveloped = replace(
        found,
        envelope_smoothness=smoothness,
        prescribed_rounds=prescribed(chosen),
        excess_risk=claimed,
        terms={**found.terms, "smoothing_gap": gap},
    )
    if reading == "corrected":
        return enveloped
    plain = claimed * math.sqrt(seen.participants / federation.participation.mean)
    return replace(enveloped, excess_risk=plain, excess_risk_at_effective_participants=claimed)


def complete_strongly_convex_envelope(
    *,
    federation: Federation,
    dimension: int,
    lipschitz: float,
    diameter: float,
    strong_convexity: float,
    rounds: int | None = None,
    reading: Reading = "corrected",
) -> Prescription:
    """The complete strongly convex statement: a scale, (12), at explicit b, R, η and geometric average.

    b = μM~/ν² and R = ⌈max{8b/μ · ln(bD²μM~/(dL²Ξ~)), 1/(dΞ~)}⌉; M' stands for M~ in the printed logarithm (E-29).
    η and the weights use the envelope's own strong convexity μb/(μ + b) in the corrected reading, μ in the printed one
    (E-17). `terms` adds the gap L²/(2b) to those of the smooth statement.
    """
    fewest = federation.fewest_samples

    def at(count: int) -> tuple[Aggregates, float, float]:
        """The aggregates, b and the logarithm's argument."""
        seen = aggregates(federation, count, reading)
        nu = rate(aggregates=seen, fewest_samples=fewest, dimension=dimension)
        smoothness = strong_convexity * seen.participants / (nu * nu)
        participants = federation.participation.rms if reading == "printed" else seen.participants
        length = diameter / lipschitz
        argument = smoothness * length * length * strong_convexity * participants / (dimension * seen.xi)
        return seen, smoothness, argument

    def prescribed(count: int) -> float:
        seen, smoothness, argument = at(count)
        contraction = 8.0 * smoothness / strong_convexity * math.log(argument) if argument > 0.0 else -math.inf
        return max(contraction, 1.0 / (dimension * seen.xi))

    chosen = rounds if rounds is not None else smallest_round_count(prescribed)
    _, smoothness, argument = at(chosen)
    kept = envelope_strong_convexity(strong_convexity=strong_convexity, envelope_smoothness=smoothness)
    found = complete_strongly_convex(
        federation=federation,
        dimension=dimension,
        lipschitz=lipschitz,
        diameter=diameter,
        smoothness=smoothness,
        strong_convexity=strong_convexity if reading == "printed" else kept,
        rounds=chosen,
        reading=reading,
    )
    moments, seen = federation.participation, found.aggregates
    assert seen is not None
    scale = lipschitz * lipschitz / strong_convexity
    gap = envelope_gap(lipschitz=lipschitz, envelope_smoothness=smoothness)
    return replace(
        found,
        envelope_smoothness=smoothness,
        prescribed_rounds=prescribed(chosen),
        excess_risk=scale * (1.0 / (moments.mean * fewest) + dimension * seen.noise_ratio),
        terms={**found.terms, "logarithm_argument": argument, "smoothing_gap": gap},
    )


_TESTS = "tests/theorems/risk/lowy_razaviyayn/test_nonsmooth_losses.py"


@request
class NonsmoothInputs(UnlikeClientsInputs):
    """A Lipschitz loss. Absent: rounds as prescribed, participants all clients. Give one of delta and log10_delta."""

    def check(self) -> None:
        """And groups that add up, and μD ≤ 2L."""
        super().check()
        least = min(
            (self.lipschitz if one.lipschitz is None else one.lipschitz) for one in self.client_groups or (self,)
        )
        if self.strong_convexity * self.diameter > 2.0 * least:
            raise InvalidInput.at(
                "/strong_convexity", "a strongly convex loss has lipschitz ≥ strong_convexity · diameter / 2"
            )

    def prescription(self, reading: Reading) -> Prescription:
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
def _claim(_inputs: NonsmoothInputs, outputs: Outputs) -> Sides:
    """What the proof sums up at the run against the explicit claim, unbounded where the constant is hidden."""
    if "excess_risk" not in outputs:
        return Sides.at_most(0.0, math.inf)
    return Sides.at_most(outputs["proof_excess_risk"], outputs["excess_risk"])


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
        of_outputs=True,
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
