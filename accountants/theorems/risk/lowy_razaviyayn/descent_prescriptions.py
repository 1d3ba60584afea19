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
from epsilond.accountants.theorems.papers.lowy_razaviyayn.run import UnlikeClientsInputs, smallest_round_count
from epsilond.accountants.theorems.papers.lowy_razaviyayn.run_outputs import aggregate_outputs, noise_outputs


@dataclass(frozen=True, kw_only=True)
class DescentRun:
    """A federation that runs noisy gradient descent, and the constants of the loss on its domain.

    Attributes:
        federation: the clients, their privacy targets, and the number of participants of a round.
        dimension: number d of coordinates.
        lipschitz: Lipschitz constant L of the loss.
        diameter: diameter D of the domain.
        strong_convexity: strong convexity μ of the loss; 0 if it is only convex.
        smoothness: smoothness β of the loss; infinite if the loss need not be smooth.
    """

    federation: Federation
    dimension: int
    lipschitz: float
    diameter: float
    strong_convexity: float = 0.0
    smoothness: float = math.inf

    @property
    def is_smooth(self) -> bool:
        """True if the smoothness β is finite."""
        return math.isfinite(self.smoothness)

    def rate(self, totals: Aggregates) -> float:
        """Return the larger of the statistical error and the cost of privacy, ν = max{1/√n_min, √(d Ξ~)}.

        Args:
            totals: averages over the clients. `totals.xi` is Ξ~, a mean noise variance up to a factor. d is the
                dimension, and n_min the fewest records of a client.

        Returns:
            The rate ν > 0, without a unit.
        """
        statistical = 1.0 / self.federation.fewest_samples
        privacy = self.dimension * totals.xi
        return math.sqrt(max(statistical, privacy))

    def logarithm_argument(self, totals: Aggregates) -> float:
        """Return the argument of the logarithm in the prescribed rounds for strongly convex losses.

        It is β μ D² M*/(d L² Ξ~), the order of the ratio of initial to final error. The loss in d dimensions has
        Lipschitz constant L, smoothness β and strong convexity μ on a domain of diameter D.

        Args:
            totals: averages over the clients. M* is `totals.plain_participants`, an average number of participants, and
                Ξ~ is `totals.xi`, a mean noise variance up to a factor.

        Returns:
            The argument, a number without a unit.
        """
        curvatures = self.smoothness * self.strong_convexity
        privacy = self.dimension * self.lipschitz * self.lipschitz * totals.xi
        return curvatures * self.diameter * self.diameter * totals.plain_participants / privacy

    @property
    def informal_scale(self) -> float:
        """Order of the excess risk in the main text of Lowy and Razaviyayn, for equal clients, in loss units.

        It is:

            LD/√M · (1/√n + √(d ln(1/δ))/(εn)) if μ = 0,  and  L²/(μM) · (1/n + d ln(1/δ)/(εn)²) if μ > 0.

        M clients with n records each take part in a round, and d is the dimension. The loss has Lipschitz constant L
        and strong convexity μ, on a domain of diameter D.
        """
        (group,) = self.federation.groups
        participants = self.federation.participation.mean
        sampling = 1.0 / group.samples_per_client
        effective_records = group.epsilon * group.samples_per_client  # εn
        privacy = self.dimension * -group.log_delta / effective_records**2
        if self.strong_convexity > 0.0:
            scale = self.lipschitz * self.lipschitz / (self.strong_convexity * participants)
            return scale * (sampling + privacy)
        scale = self.lipschitz * self.diameter / math.sqrt(participants)
        return scale * (math.sqrt(sampling) + math.sqrt(privacy))


@dataclass(frozen=True, kw_only=True)
class Prescription:
    """The run of gradient descent that Theorem 2.1 or 2.2 of Lowy and Razaviyayn prescribes, and its risk.

    The informal statements of the main text prescribe neither a step size nor averaging; both are then None.

    Attributes:
        rounds: number R of rounds that is run. The theorem requires R ≥ `prescribed_rounds`.
        prescribed_rounds: required number of rounds, a real number that depends on R.
        excess_risk: claimed excess risk in loss units.
        constants: "explicit" if `excess_risk` is a bound, "hidden" if it is an order of magnitude.
        step_size: step size of the descent.
        averaging_ratio: the output averages the iterates, with weights that grow by this factor ≥ 1 from one iterate to
            the next.
        aggregates: averages over the clients that the statement uses; None for an informal statement.
        terms: terms of the bound and auxiliary numbers of the statement, by name.
        envelope_smoothness: smoothness b of the Moreau envelope in Theorem 2.2; None for other statements.
        excess_risk_at_effective_participants: bound of Theorem 2.2 for convex losses, with the effective number M~ of
            participants in place of the mean number M; None for other statements.
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
        """Upper bound on the excess risk by the terms of the proof in the appendix, in loss units.

        For convex losses the terms are in inequality (27) of the paper. For strongly convex losses they are the
        empirical bound of Lemma E.9 and the stability. A run on an envelope adds the gap between loss and envelope.
        """
        gap = self.terms.get("smoothing_gap", 0.0)
        if "master" in self.terms:
            return self.terms["master"] + gap
        return self.terms["empirical"] + self.terms["stability"] + gap


def effective_samples(*, samples_per_client: int, epsilon: float, dimension: int) -> float:
    """Return the effective number of a client's records in a private run, min{n, ε² n²/d}.

    If it is below n, the cost of privacy √d/(εn) exceeds the statistical error 1/√n.

    Args:
        samples_per_client: number n of records of a client, at least 1.
        epsilon: ε > 0 of the client's privacy target.
        dimension: number d of coordinates of the model, at least 1.

    Returns:
        The number, which need not be an integer.
    """
    return min(float(samples_per_client), (epsilon * samples_per_client) ** 2 / dimension)


def log_or_minus_infinity(argument: float) -> float:
    """Return the natural logarithm of an argument ≥ 0; −∞ if it underflowed to 0."""
    if argument > 0.0:
        return math.log(argument)
    return -math.inf


def contraction_rounds(smoothness: float, strong_convexity: float, argument: float) -> float:
    """Return the rounds 8β/μ · ln(argument) that reduce the initial error by the factor `argument`; −∞ if it is 0.

    Args:
        smoothness: smoothness β of the loss.
        strong_convexity: strong convexity μ > 0 of the loss.
        argument: ratio of the initial error to the final one, ≥ 0.
    """
    return 8.0 * smoothness / strong_convexity * log_or_minus_infinity(argument)


def informal(run: DescentRun, *, rounds: int | None = None) -> Prescription:
    """Return the rounds and the excess risk of gradient descent that Lowy and Razaviyayn state for equal clients.

    The informal statements leave out constants. They are equations (4) and (5) of Theorem 2.1 for smooth losses, and
    equations (6) and (7) of Theorem 2.2 for other losses.

    Args:
        run: a federation of equal clients, and the loss.
        rounds: number R of rounds; None for the smallest number that the statement allows.

    Returns:
        The run, and the order of its risk, which does not depend on smoothness. For strongly convex losses, the terms
        have `logarithm_argument`, which the statement requires to exceed 1.
    """
    required_rounds = _informal_rounds(run)
    if rounds is None:
        rounds = smallest_round_count(lambda _: required_rounds)
    terms = {}
    if run.strong_convexity > 0.0:
        terms["logarithm_argument"] = _informal_logarithm_argument(run)
    return Prescription(
        rounds=rounds,
        prescribed_rounds=required_rounds,
        excess_risk=run.informal_scale,
        constants="hidden",
        terms=terms,
    )


def _informal_rounds(run: DescentRun) -> float:
    """Return the number of rounds that the main text of Lowy and Razaviyayn prescribes, before rounding up.

    Let n be the records of a client, K its batch, M the participants, d the dimension, and e = min{n, ε²n²/d}. The loss
    has Lipschitz constant L, smoothness β and strong convexity μ on a domain of diameter D. With the argument a of
    `_informal_logarithm_argument`, the number is:

        smooth, μ = 0:      max{βD√M/L · √e, e/K},
        smooth, μ > 0:      max{8β/μ · ln(a), e/K},
        not smooth, μ = 0:  Me,
        not smooth, μ > 0:  Me ln(a).

    Args:
        run: a federation of equal clients (one group), and the loss.

    Returns:
        The number of rounds, a real number. It may be negative, or −∞, if the loss is not smooth and a is below 1.
    """
    (group,) = run.federation.groups
    participants = run.federation.participation.mean
    effective = effective_samples(
        samples_per_client=group.samples_per_client, epsilon=group.epsilon, dimension=run.dimension
    )

    if not run.is_smooth:
        if run.strong_convexity == 0.0:
            return participants * effective
        return participants * effective * log_or_minus_infinity(_informal_logarithm_argument(run))

    if run.strong_convexity > 0.0:
        descent = contraction_rounds(run.smoothness, run.strong_convexity, _informal_logarithm_argument(run))
    else:
        descent = run.smoothness * run.diameter / run.lipschitz * math.sqrt(participants * effective)
    return max(descent, effective / group.batch_size)


def _informal_logarithm_argument(run: DescentRun) -> float:
    """Return the argument of the logarithm in the number of rounds of Lowy and Razaviyayn's main text, if μ > 0.

    It is βD²μMε²n²/(dL²) for a smooth loss, and D²μ²M²ε²n³/(dL²) otherwise. M equal clients with n records and privacy
    parameter ε each take part in a round. The loss in d dimensions has Lipschitz constant L, smoothness β and strong
    convexity μ, and D is the diameter of the domain.

    Args:
        run: a federation of equal clients (one group), and a strongly convex loss.

    Returns:
        The argument, a positive number. The statement is only meaningful if it exceeds 1.
    """
    (group,) = run.federation.groups
    participants, convexity = run.federation.participation.mean, run.strong_convexity
    records = group.samples_per_client  # n
    if run.is_smooth:
        squared_lipschitz = run.lipschitz * run.lipschitz
        loss_factor = run.smoothness * run.diameter * run.diameter * convexity / squared_lipschitz
        return loss_factor * (participants * (group.epsilon * records) ** 2 / run.dimension)
    scale = run.diameter * convexity / run.lipschitz * participants * group.epsilon * records
    return scale * scale * records / run.dimension


@request
class DescentInputs(UnlikeClientsInputs, ABC):
    """A federation and a loss, for which a theorem prescribes a run of noisy mini-batch SGD (Algorithm 1)."""

    @abstractmethod
    def run(self, reading: Reading, /) -> DescentRun:
        """Return the federation and the loss, for the printed or the corrected formulas."""

    @abstractmethod
    def complete(self, reading: Reading, /) -> Prescription:
        """Return the prescription of the appendix's statement, by its printed or its corrected formulas."""

    def prescription(self, reading: Reading) -> Prescription:
        """Return the prescription of the requested statement, which is in the main text or in the appendix."""
        if self.variant == "informal":
            return informal(self.run(reading), rounds=self.rounds)
        return self.complete(reading)


def prescribed_outputs(inputs: DescentInputs, reading: Reading = "printed") -> Fields:
    """Return the run that Theorem 2.1 or 2.2 of Lowy and Razaviyayn prescribes, and the risk bound that it states.

    Args:
        inputs: the federation and the loss.
        reading: "printed" evaluates the paper's formulas as they are; "corrected" removes the errors that the errata of
            the theorem list.

    Returns:
        `rounds`, `prescribed_rounds`: number of rounds that is run, and number of the theorem, before rounding up.
        `excess_risk`: the stated bound, or `excess_risk_scale`: its order, if the theorem hides the constant.
        The outputs of `noise_outputs` describe the noise.

        The statement of the appendix adds `step_size`, `averaging_ratio` and the averages over the clients of
        `aggregate_outputs`. The output averages the iterates with weights that grow by `averaging_ratio`.
        `proof_excess_risk` is the bound of the proof, `Prescription.proof_excess_risk`. Outputs with names that end in
        `_term` are its terms and auxiliary numbers. Theorem 2.2 adds the smoothness of the Moreau envelope on which it
        descends. `excess_risk_at_effective_participants` is its printed bound with the number M~ of `Aggregates` for M.
    """
    prescription = inputs.prescription(reading)
    risk_name = "excess_risk" if prescription.constants == "explicit" else "excess_risk_scale"
    outputs: Fields = {
        "rounds": prescription.rounds,
        "prescribed_rounds": prescription.prescribed_rounds,
        **noise_outputs(inputs, prescription.rounds, reading),
        risk_name: prescription.excess_risk,
    }

    # Only some statements have these numbers.
    for name in ("step_size", "averaging_ratio", "envelope_smoothness", "excess_risk_at_effective_participants"):
        value = getattr(prescription, name)
        if value is not None:
            outputs[name] = value
    if prescription.aggregates is not None:
        outputs |= aggregate_outputs(inputs, prescription.aggregates, reading)
        outputs["proof_excess_risk"] = prescription.proof_excess_risk

    named_terms = {f"{name}_term": value for name, value in prescription.terms.items()}
    return outputs | named_terms


RUN_CONDITIONS = (
    Condition(
        "epsilon-range",
        "ε ≤ 2 ln(2/δ) for every client; in the complete version of the statement, ε ≤ ln(2/δ)",
        epsilon_range,
    ),
    MINIMAL_BATCH,
    DRAWN_ONCE,
    PRESCRIBED_ROUNDS,
    EQUAL_SHARES,
)
DATA_CONDITIONS = (
    Condition("identical-clients", "the records of all clients are independent and identically distributed"),
    Condition("domain", "the domain is closed and convex, has a diameter of at most D, and contains the start"),
    Condition("averaged-output", "the output averages the iterates w_1, …, w_R, and not w_0, …, w_{R−1} as printed"),
)
HIDDEN_CONSTANTS = Condition(
    "hidden-constants",
    "the risk is stated up to constants and logarithms, which the informal statement leaves out",
    undecidable=True,
)
