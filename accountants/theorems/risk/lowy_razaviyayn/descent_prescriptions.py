"""What the statements of Theorems 2.1 and 2.2 of Lowy and Razaviyayn share: their run, prescription and conditions.

Both prescribe the rounds R through ξ, which itself grows with R: the smallest R ≥ 1 that meets the prescription is
taken.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from epsilond.accountants.federation import Federation
from epsilond.accountants.json_types import Fields
from epsilond.accountants.theorem import Condition, Reading
from epsilond.accountants.theorems.papers.lowy_razaviyayn.conditions import (
    DRAWN_ONCE,
    EQUAL_SHARES,
    MINIMAL_BATCH,
    PRESCRIBED_ROUNDS,
    epsilon_range,
)
from epsilond.accountants.theorems.papers.lowy_razaviyayn.noise import Aggregates
from epsilond.accountants.theorems.papers.lowy_razaviyayn.run import (
    UnlikeClientsInputs,
    aggregate_outputs,
    noise_outputs,
    of_same_fields,
    smallest_round_count,
)


@dataclass(frozen=True, kw_only=True)
class DescentRun:
    """The federation and the loss, which need not be smooth."""

    federation: Federation
    dimension: int
    lipschitz: float
    diameter: float
    strong_convexity: float = 0.0

    def rate(self, seen: Aggregates) -> float:
        """Return ν = max{1/√n_min, √(d Ξ~)}, the larger of the statistical and the privacy cost."""
        return math.sqrt(max(1.0 / self.federation.fewest_samples, self.dimension * seen.xi))

    @property
    def informal_scale(self) -> float:
        """Risk of the informal statements for equal clients, up to constants and logarithms, in loss units.

        LD/√M (1/√n + √(d ln(1/δ))/(εn)), or L²/(μM) (1/n + d ln(1/δ)/(εn)²) if μ > 0.
        """
        (group,) = self.federation.groups
        participants, n = self.federation.participation.mean, group.samples_per_client
        privacy = self.dimension * -group.log_delta / (group.epsilon * n) ** 2
        if self.strong_convexity > 0.0:
            return self.lipschitz * self.lipschitz / (self.strong_convexity * participants) * (1.0 / n + privacy)
        return self.lipschitz * self.diameter / math.sqrt(participants) * (math.sqrt(1.0 / n) + math.sqrt(privacy))


@dataclass(frozen=True, kw_only=True)
class SmoothDescentRun(DescentRun):
    """The federation and a β-smooth loss, or the b-smooth envelope of a loss."""

    smoothness: float

    @classmethod
    def on_envelope(cls, run: DescentRun, envelope_smoothness: float, **changes: float) -> SmoothDescentRun:
        """Return the same run on an envelope; `changes` are fields that differ."""
        return of_same_fields(cls, run, smoothness=envelope_smoothness, **changes)

    def logarithm_argument(self, seen: Aggregates) -> float:
        """Return β μ D² M*/(d Ψ~), with Ψ~ = L² Ξ~ and M* = M' or M."""
        curvatures = self.smoothness * self.strong_convexity
        privacy = self.dimension * self.lipschitz * self.lipschitz * seen.xi
        return curvatures * self.diameter * self.diameter * seen.plain_participants / privacy


@dataclass(frozen=True, kw_only=True)
class Prescription:
    """What a reading of Theorem 2.1 or 2.2 says to run, and the excess risk it claims for that.

    `prescribed_rounds` is the real right side of R ≥ … at the R that is run. The output is the average of the iterates
    with weights in the ratio `averaging_ratio` ≥ 1 from one to the next. `excess_risk` is in loss units; where
    `constants` is hidden it is a scale. An informal reading gives no step size. Theorem 2.2 adds the smoothness b of
    the envelope it runs on, and the printed convex bound with √M~ where the text has √M.
    """

    rounds: int
    prescribed_rounds: float
    excess_risk: float
    constants: Literal["explicit", "hidden"]
    step_size: float | None = None
    averaging_ratio: float | None = None
    aggregates: Aggregates | None = None
    terms: Mapping[str, float] = field(default_factory=dict)
    envelope_smoothness: float | None = None
    excess_risk_at_effective_participants: float | None = None

    @property
    def proof_excess_risk(self) -> float:
        """Sum of the terms in the proof of a complete statement: (27), or Lemma E.9 and the stability; and the gap."""
        gap = self.terms.get("smoothing_gap", 0.0)
        if "master" in self.terms:
            return self.terms["master"] + gap
        return self.terms["empirical"] + self.terms["stability"] + gap


def effective_samples(*, samples_per_client: int, epsilon: float, dimension: int) -> float:
    """Return min{n, ε² n²/d}, the number of records that privacy leaves of n."""
    return min(float(samples_per_client), (epsilon * samples_per_client) ** 2 / dimension)


def informal_prescription(
    run: DescentRun, prescribed_rounds: float, terms: Mapping[str, float], rounds: int | None
) -> Prescription:
    """Return an informal statement's prescription: rounds, and the scale of the risk.

    Args:
        run: the run of the request.
        prescribed_rounds: number of rounds by the statement, before rounding.
        terms: terms of the statement by name.
        rounds: number of rounds of the request, which is used instead; None if it gives none.
    """
    return Prescription(
        rounds=rounds if rounds is not None else smallest_round_count(lambda _: prescribed_rounds),
        prescribed_rounds=prescribed_rounds,
        excess_risk=run.informal_scale,
        constants="hidden",
        terms=terms,
    )


def contraction_rounds(smoothness: float, strong_convexity: float, argument: float) -> float:
    """Return 8β/μ · ln(argument), −∞ where the argument vanishes.

    Args:
        smoothness: β.
        strong_convexity: μ > 0.
        argument: ratio of the initial error to the final one, ≥ 0.
    """
    return 8.0 * smoothness / strong_convexity * math.log(argument) if argument > 0.0 else -math.inf


def prescribed_outputs(inputs: UnlikeClientsInputs, found: Prescription, reading: Reading) -> Fields:
    """Return what Theorems 2.1 and 2.2 prescribe."""
    outputs: Fields = {
        "rounds": found.rounds,
        "prescribed_rounds": found.prescribed_rounds,
        **noise_outputs(inputs, found.rounds, reading),
        "excess_risk" if found.constants == "explicit" else "excess_risk_scale": found.excess_risk,
    }
    if found.step_size is not None and found.averaging_ratio is not None:
        outputs |= {"step_size": found.step_size, "averaging_ratio": found.averaging_ratio}
    if found.aggregates is not None:
        outputs |= aggregate_outputs(inputs, found.aggregates, reading)
        outputs["proof_excess_risk"] = found.proof_excess_risk
    return outputs | {f"{name}_term": value for name, value in found.terms.items()}


RUN_CONDITIONS = (
    Condition("epsilon-range", "ε ≤ 2 ln(2/δ) in the main text, ε ≤ ln(2/δ) in the complete version", epsilon_range),
    MINIMAL_BATCH,
    DRAWN_ONCE,
    PRESCRIBED_ROUNDS,
    EQUAL_SHARES,
)
DATA_CONDITIONS = (
    Condition("identical-clients", "all records are independent and identically distributed, over all clients"),
    Condition("domain", "the domain is closed, convex, of diameter at most D, and holds the start"),
    Condition("averaged-output", "the output averages w_1, …, w_R (the printed w_0, …, w_{R−1} will not do)"),
)
HIDDEN_CONSTANTS = Condition(
    "hidden-constants", "constants and logarithms that the informal statement leaves out", undecidable=True
)
