"""Run, prescription and conditions shared by Theorems 2.1 and 2.2 of Lowy and Razaviyayn.

Both theorems prescribe the number R of rounds through ξ, which itself grows with R. The smallest R ≥ 1 that meets the
prescription is used.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from epsilond.accountants.federation import Federation
from epsilond.accountants.json_types import Fields
from epsilond.accountants.quantities import request
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
    smallest_round_count,
)


@dataclass(frozen=True, kw_only=True)
class DescentRun:
    """The federation and the loss. The smoothness β is infinite for a loss that need not be smooth."""

    federation: Federation
    dimension: int
    lipschitz: float
    diameter: float
    strong_convexity: float = 0.0
    smoothness: float = math.inf

    @property
    def is_smooth(self) -> bool:
        """True if β is finite."""
        return math.isfinite(self.smoothness)

    def rate(self, totals: Aggregates) -> float:
        """Return ν = max{1/√n_min, √(d Ξ~)}, the larger of the statistical and the privacy cost."""
        return math.sqrt(max(1.0 / self.federation.fewest_samples, self.dimension * totals.xi))

    def logarithm_argument(self, totals: Aggregates) -> float:
        """Return β μ D² M*/(d Ψ~), with Ψ~ = L² Ξ~ and M* = M' or M."""
        curvatures = self.smoothness * self.strong_convexity
        privacy = self.dimension * self.lipschitz * self.lipschitz * totals.xi
        return curvatures * self.diameter * self.diameter * totals.plain_participants / privacy

    @property
    def informal_scale(self) -> float:
        """Order of the risk of the informal statements for equal clients, in loss units.

        It is LD/√M (1/√n + √(d ln(1/δ))/(εn)), or L²/(μM) (1/n + d ln(1/δ)/(εn)²) if μ > 0.
        """
        (group,) = self.federation.groups
        participants, n = self.federation.participation.mean, group.samples_per_client
        privacy = self.dimension * -group.log_delta / (group.epsilon * n) ** 2
        if self.strong_convexity > 0.0:
            return self.lipschitz * self.lipschitz / (self.strong_convexity * participants) * (1.0 / n + privacy)
        return self.lipschitz * self.diameter / math.sqrt(participants) * (math.sqrt(1.0 / n) + math.sqrt(privacy))


@dataclass(frozen=True, kw_only=True)
class Prescription:
    """The run that a reading of Theorem 2.1 or 2.2 prescribes, and the excess risk that it claims.

    `prescribed_rounds` is the right side of R ≥ …, a real number, at the R that is run. The output is the average of
    the iterates, with weights that grow by the factor `averaging_ratio` ≥ 1 from one iterate to the next. `excess_risk`
    is in loss units; if `constants` is "hidden", it is an order of magnitude. An informal reading has no step size.
    Theorem 2.2 adds the smoothness b of the envelope, and the printed convex bound with √M~ where the text has √M.
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
        """Sum of the terms in the proof of a complete statement: (27), or Lemma E.9 and the stability; plus the gap."""
        gap = self.terms.get("smoothing_gap", 0.0)
        if "master" in self.terms:
            return self.terms["master"] + gap
        return self.terms["empirical"] + self.terms["stability"] + gap


def effective_samples(*, samples_per_client: int, epsilon: float, dimension: int) -> float:
    """Return min{n, ε² n²/d}, the effective number of records under privacy.

    Args:
        samples_per_client: number n of records of a client.
        epsilon: ε.
        dimension: number d of coordinates.
    """
    return min(float(samples_per_client), (epsilon * samples_per_client) ** 2 / dimension)


def contraction_rounds(smoothness: float, strong_convexity: float, argument: float) -> float:
    """Return 8β/μ · ln(argument), −∞ where the argument vanishes.

    Args:
        smoothness: β.
        strong_convexity: μ > 0.
        argument: ratio of the initial error to the final one, ≥ 0.
    """
    return 8.0 * smoothness / strong_convexity * math.log(argument) if argument > 0.0 else -math.inf


def informal(run: DescentRun, *, rounds: int | None = None) -> Prescription:
    """Evaluate the informal statement for equal clients: (4) and (5) if the loss is smooth, (6) and (7) if not.

    Let e = min{n, ε²n²/d}. Smooth losses: R = max{βD√M/L · √e, e/K} if μ = 0; otherwise
    R = max{8β/μ · ln(βD²μMε²n²/(dL²)), e/K}. Otherwise R = Me, times ln(D²μ²M²ε²n³/(dL²)) if μ > 0. A logarithm's
    argument must exceed 1. The risk is a scale, the same with and without smoothness.
    """
    (group,) = run.federation.groups
    participants, n, mu = run.federation.participation.mean, group.samples_per_client, run.strong_convexity
    effective = effective_samples(samples_per_client=n, epsilon=group.epsilon, dimension=run.dimension)
    terms = {}
    if run.is_smooth:
        required = run.smoothness * run.diameter / run.lipschitz * math.sqrt(participants * effective)
        if mu > 0.0:
            inside = participants * (group.epsilon * n) ** 2 / run.dimension
            reach = run.smoothness * run.diameter * run.diameter * mu / (run.lipschitz * run.lipschitz)
            terms["logarithm_argument"] = reach * inside
            required = contraction_rounds(run.smoothness, mu, terms["logarithm_argument"])
        required = max(required, effective / group.batch_size)
    else:
        required = participants * effective
        if mu > 0.0:
            reach = run.diameter * mu / run.lipschitz * participants * group.epsilon * n
            argument = reach * reach * n / run.dimension
            terms["logarithm_argument"] = argument
            required *= math.log(argument) if argument > 0.0 else -math.inf
    return Prescription(
        rounds=rounds if rounds is not None else smallest_round_count(lambda _: required),
        prescribed_rounds=required,
        excess_risk=run.informal_scale,
        constants="hidden",
        terms=terms,
    )


@request
class DescentInputs(UnlikeClientsInputs, ABC):
    """A federation and a loss, for which a theorem prescribes a run of Algorithm 1."""

    @abstractmethod
    def run(self, reading: Reading, /) -> DescentRun:
        """Return the federation and the loss in a reading."""

    @abstractmethod
    def complete(self, reading: Reading, /) -> Prescription:
        """Return the prescription of the complete statement in a reading."""

    def prescription(self, reading: Reading) -> Prescription:
        """Return the prescription of the variant in a reading."""
        return informal(self.run(reading), rounds=self.rounds) if self.variant == "informal" else self.complete(reading)


def prescribed_outputs(inputs: DescentInputs, reading: Reading = "printed") -> Fields:
    """Return the prescription of Theorem 2.1 or 2.2, and the risk that it claims.

    Args:
        inputs: the federation and the loss.
        reading: "printed" or "corrected".

    Returns:
        `excess_risk` is the complete convex bound; if the constant is hidden, the figure is `excess_risk_scale`
        instead. The printed bound of Theorem 2.2 has the plain M; `excess_risk_at_effective_participants` is the same
        with M~ as the text defines it. Each `…_term` is a term of the master inequality (27). For strongly convex
        losses, these are the empirical bound and the stability. The envelope's gap is added. `proof_excess_risk` is
        their sum. `mean_participants` is M, `rms_participants` M', `effective_participants` M~. `average_xi` and
        `average_psi` are Ξ and Ψ, `xi` and `psi` Ξ~ and Ψ~. Each of `groups` has its own noise.
    """
    prescription = inputs.prescription(reading)
    outputs: Fields = {
        "rounds": prescription.rounds,
        "prescribed_rounds": prescription.prescribed_rounds,
        **noise_outputs(inputs, prescription.rounds, reading),
        "excess_risk" if prescription.constants == "explicit" else "excess_risk_scale": prescription.excess_risk,
    }
    for name in ("step_size", "averaging_ratio", "envelope_smoothness", "excess_risk_at_effective_participants"):
        if (value := getattr(prescription, name)) is not None:
            outputs[name] = value
    if prescription.aggregates is not None:
        outputs |= aggregate_outputs(inputs, prescription.aggregates, reading)
        outputs["proof_excess_risk"] = prescription.proof_excess_risk
    return outputs | {f"{name}_term": value for name, value in prescription.terms.items()}


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
