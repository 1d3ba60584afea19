"""Theorem 4.1 of Lowy and Razaviyayn: Algorithm 1 with a trusted shuffler, as printed.

The paper does not give the constant C of the noise. With an assumed `noise_constant` the statement can be compared with
others. `shuffled_noise.py` has an explicit noise instead, and the calibrator `shuffled-mb-sgd` a certified noise.
"""

from __future__ import annotations

import math
from typing import Annotated

from epsilond.accountants.quantities import ROUNDS, Quantity, Smoothness, request
from epsilond.accountants.theorem import Condition, Erratum, Grade, Outputs, Sides, Source, Status, Theorem
from epsilond.accountants.theorems.papers.lowy_razaviyayn.noise import INSIDE_DOMAIN
from epsilond.accountants.theorems.papers.lowy_razaviyayn.run import EqualClientsInputs, smallest_round_count
from epsilond.accountants.theorems.papers.lowy_razaviyayn.shuffled_rounds import TRUSTED_SHUFFLER
from epsilond.accountants.theorems.sampling.two_level import FRESH_SELECTION
from epsilond.accountants.theorems.shuffling.batches import FRESH_BATCHES

_TESTS = "tests/theorems/papers/lowy_razaviyayn/test_shuffled_mb_sgd.py"
LN2 = math.log(2.0)
NOISE_CONSTANT = Quantity(
    symbol="C", gt=0, le=1e12, description="the constant of Theorem 4.1's noise, which the paper does not give"
)


@request
class ShuffledInputs(EqualClientsInputs):
    """M of N equal clients report in each round. Absent: rounds are as prescribed. Give one of delta, log10_delta."""

    smoothness: Smoothness
    rounds: Annotated[int | None, ROUNDS] = None
    noise_constant: Annotated[float | None, NOISE_CONSTANT] = None

    @property
    def records(self) -> float:
        """Number of records of all clients, nN."""
        return float(self.samples_per_client) * self.clients

    @property
    def prescribed_rounds(self) -> float:
        """Prescribed number of rounds, a real number."""
        privacy = self.epsilon * self.records
        return max(self._rounds_of_loss, privacy * privacy / self.participants, self.clients / self.participants)

    @property
    def logarithm_argument(self) -> float:
        """βD²μ(εnN)²/(dL²), the argument of the logarithm in the prescribed rounds; infinite if μ = 0."""
        if self.strong_convexity == 0.0:
            return math.inf
        curved = self.smoothness * self.strong_convexity * (self.diameter / self.lipschitz) ** 2
        return curved * (self.epsilon * self.records) ** 2 / self.dimension

    @property
    def _rounds_of_loss(self) -> float:
        """Number of rounds that the excess risk requires; it depends on whether the loss is strongly convex."""
        n, d = self.samples_per_client, self.dimension
        privacy = self.epsilon * self.records
        batches = min(float(n), privacy * privacy / (d * self.participants))
        if self.strong_convexity > 0.0:
            logarithm = max(math.log(self.logarithm_argument), 0.0)
            return max(batches, 8.0 * self.smoothness / self.strong_convexity * logarithm)
        root = min(math.sqrt(float(n) * self.participants), privacy / math.sqrt(d))
        return max(batches, self.smoothness * self.diameter / self.lipschitz * root)

    @property
    def rounds_run(self) -> int:
        """Rounds of the request, or the prescribed rounds if absent."""
        if self.rounds is not None:
            return self.rounds
        return smallest_round_count(lambda _: self.prescribed_rounds)

    @property
    def log_pairs(self) -> float:
        """ln(RM²/(Nδ)), a factor of the printed σ². If it is at most 0, the theorem prescribes no noise."""
        return math.log(self.rounds_run) + 2.0 * math.log(self.participants) - math.log(self.clients) - self.log_delta

    @property
    def logarithms(self) -> float:
        """ln(RM²/(Nδ)) ln(R/δ) ln(1/δ), which has the sign of the first factor."""
        return self.log_pairs * (math.log(self.rounds_run) - self.log_delta) * -self.log_delta

    def least_participants(self, *, printed: bool) -> float:
        """Return the smallest number of participants for which Theorem 4.1 holds, as a real number.

        Args:
            printed: if true, the printed 16 ln(18RM²/(Nδ)); otherwise 16e ln(36RM²/(nNδ)), which the proof needs
                (erratum E-21).
        """
        pairs = self.log_pairs
        if printed:
            return 16.0 * (math.log(18.0) + pairs)
        return 16.0 * math.e * (math.log(36.0) + pairs - math.log(self.samples_per_client))


def noise_std_over_root_constant(inputs: ShuffledInputs) -> float:
    """Compute the noise of Theorem 4.1 without its unknown constant C, for RM² > Nδ.

    It is σ/√C = L √(RM ln(RM²/(Nδ)) ln(R/δ) ln(1/δ))/(nNε).
    """
    scaled = inputs.rounds_run * float(inputs.participants) * inputs.logarithms
    return inputs.lipschitz * math.sqrt(scaled) / (inputs.records * inputs.epsilon)


def excess_risk_scale(inputs: ShuffledInputs) -> tuple[float, float]:
    """Compute the statistical and the privacy term of the excess risk in Theorem 4.1, for RM² > Nδ.

    The bound is their sum times a constant that the paper does not give. It is equation (46), or (47) for strongly
    convex losses.
    """
    n, m, d = inputs.samples_per_client, float(inputs.participants), inputs.dimension
    privacy = d * inputs.logarithms / (inputs.epsilon * inputs.records) ** 2
    if inputs.strong_convexity > 0.0:
        unit = inputs.lipschitz * inputs.lipschitz / inputs.strong_convexity
        return unit / (n * m), unit * privacy
    unit = inputs.lipschitz * inputs.diameter
    return unit / math.sqrt(n * m), unit * math.sqrt(privacy)


def step_size(inputs: ShuffledInputs) -> float | None:
    """Compute the step size η of Theorem 4.1 for convex losses, for RM² > Nδ.

    It is min{1/(4β), D√M/(LR) min{√n, εnN/√(dM · l)}}, where l is `logarithms`.

    Returns:
        η, or None for strongly convex losses.
    """
    if inputs.strong_convexity > 0.0:
        return None
    m = float(inputs.participants)
    private = inputs.epsilon * inputs.records / math.sqrt(inputs.dimension * m * inputs.logarithms)
    reach = inputs.diameter * math.sqrt(m) / (inputs.lipschitz * inputs.rounds_run)
    return min(0.25 / inputs.smoothness, reach * min(math.sqrt(inputs.samples_per_client), private))


def shuffled_run(inputs: ShuffledInputs) -> Outputs:
    """Compute the run of Theorem 4.1, and the order of its excess risk.

    Returns:
        The rounds, the noise, the step size, the order of the risk, and the smallest number of participants.
        `noise_std` is present only if the request has the constant C. If RM² ≤ Nδ, the statement has no noise, step
        size and risk: these outputs are absent, and the condition `some-noise` fails.
    """
    rounds = {"rounds": inputs.rounds_run, "prescribed_rounds": inputs.prescribed_rounds}
    participants = {
        "least_participants": inputs.least_participants(printed=False),
        "printed_least_participants": inputs.least_participants(printed=True),
    }
    if inputs.log_pairs <= 0.0:
        return rounds | participants
    unit = noise_std_over_root_constant(inputs)
    statistical, privacy = excess_risk_scale(inputs)
    step = step_size(inputs)
    outputs: dict[str, float] = {**rounds, "noise_std_over_root_constant": unit}
    if inputs.noise_constant is not None:
        outputs["noise_std"] = math.sqrt(inputs.noise_constant) * unit
    if step is not None:
        outputs["step_size"] = step
    outputs |= {
        "excess_risk_scale": statistical + privacy,
        "statistical_term": statistical,
        "privacy_term": privacy,
    }
    return outputs | participants


def _compare_logarithm(inputs: ShuffledInputs) -> Sides:
    """Compare the argument of the logarithm with 1."""
    return Sides.above(inputs.logarithm_argument, 1.0)


def _compare_rounds(inputs: ShuffledInputs) -> Sides:
    """Compare R with (nNε)²/M."""
    return Sides.at_least(inputs.rounds_run, (inputs.epsilon * inputs.records) ** 2 / inputs.participants)


def _compare_noise(inputs: ShuffledInputs) -> Sides:
    """Compare ln(RM²/(Nδ)) with 0."""
    return Sides.above(inputs.log_pairs, 0.0)


EPSILON_RANGE = Condition(
    "epsilon-range", "ε ≤ ln(2/δ)", lambda inputs: Sides.at_most(inputs.epsilon, LN2 - inputs.log_delta)
)
PRINTED_PARTICIPANTS = Condition(
    "printed-enough-participants",
    "M ≥ 16 ln(18RM²/(Nδ)), as printed",
    lambda inputs: Sides.at_least(inputs.participants, inputs.least_participants(printed=True)),
)
ENOUGH_PARTICIPANTS = Condition(
    "enough-participants",
    "M ≥ 16e ln(36RM²/(nNδ)), which the proof needs",
    lambda inputs: Sides.at_least(inputs.participants, inputs.least_participants(printed=False)),
)
ROUNDS_FOR_ALL = Condition(
    "enough-rounds-for-all",
    "R ≥ N/M",
    lambda inputs: Sides.at_least(inputs.rounds_run, inputs.clients / inputs.participants),
)
PRESCRIBED_ROUNDS = Condition(
    "prescribed-rounds",
    "R is at least the prescribed number (for the risk)",
    lambda inputs: Sides.at_least(inputs.rounds_run, inputs.prescribed_rounds),
)
UNSPECIFIED = Condition("unspecified-constant", "the C of the noise is large enough; it is not given", undecidable=True)
CONDITIONS = (
    EPSILON_RANGE,
    PRINTED_PARTICIPANTS,
    ENOUGH_PARTICIPANTS,
    ROUNDS_FOR_ALL,
    Condition("enough-rounds-for-privacy", "R ≥ (nNε)²/M", _compare_rounds),
    PRESCRIBED_ROUNDS,
    Condition(
        "some-noise", "ln(RM²/(Nδ)) > 0: otherwise the statement prescribes no noise and no risk", _compare_noise
    ),
    Condition("logarithm", "the logarithm's argument exceeds 1 (unbounded if μ = 0)", _compare_logarithm),
    UNSPECIFIED,
    Condition("one-record", "every report is on one record (K = 1): the proof covers no other"),
    INSIDE_DOMAIN,
    FRESH_SELECTION,
    FRESH_BATCHES,
    TRUSTED_SHUFFLER,
)
NO_CONSTANT = Erratum(
    "E-28",
    grade=Grade.MISPRINT,
    printed="σ² = C L²RM ln(RM²/(Nδ)) ln(R/δ) ln(1/δ)/(nNε)², C unspecified; the proof has σ² = 8L² ln(2/δ₀)/ε₀",
    truth=(
        "The proof needs ε₀², and ln(2/δ) for ln(1/δ) in its composition. It covers K = 1. C = 1 does not do: "
        "an explicit noise is that of epsilond.shuffled-sgd-noise"
    ),
    test=f"{_TESTS}::test_the_proofs_noise_lacks_a_square",
)
MISSING_POWER = Erratum(
    "E-21",
    grade=Grade.PROVED_WRONG,
    printed="M ≥ 16 ln(18RM²/(Nδ))",
    truth="Theorem F.2 at ε₀ = 1 needs e times as many; 16e ln(36RM²/(nNδ)) suffice",
    test=f"{_TESTS}::test_the_printed_number_of_participants_is_too_small",
)
THEOREM_4_1 = Theorem(
    id="lowy.4.1",
    title="Noisy mini-batch SGD with a trusted shuffler",
    statement=(
        "Let σ² = C L² RM ln(RM²/(Nδ)) ln(R/δ) ln(1/δ)/(nNε)², with C unspecified. Then shuffled Algorithm 1 "
        "is (ε, δ) for every record. At the R and η prescribed, the excess risk is of order LD(1/√(nM) + √(d · "
        "logarithms)/(εnN)). If strongly convex, it is of order L²/μ (1/(nM) + d · logarithms/(εnN)²)"
    ),
    source=Source("lowy2023", "Theorem 4.1"),
    status=Status.UNPROVED,
    constants="hidden",
    conditions=CONDITIONS,
    errata=(NO_CONSTANT, MISSING_POWER),
    inputs=ShuffledInputs,
    formula=shuffled_run,
    examples=(
        {
            "epsilon": 0.1,
            "delta": 1e-6,
            "samples_per_client": 10,
            "clients": 10_000,
            "participants": 2000,
            "dimension": 20,
            "lipschitz": 1.0,
            "diameter": 1.0,
            "smoothness": 2.0,
        },
    ),
)

THEOREMS: tuple[Theorem, ...] = (THEOREM_4_1,)
