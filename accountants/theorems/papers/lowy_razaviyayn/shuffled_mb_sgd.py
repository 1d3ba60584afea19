"""Theorem 4.1 of Lowy and Razaviyayn: Algorithm 1 with a trusted shuffler, as printed.

The paper does not give the constant C of the noise. With an assumed `noise_constant` the statement can be compared with
others. `shuffled_noise.py` has an explicit noise instead, and the calibrator `shuffled-mb-sgd` a certified noise.
"""

from __future__ import annotations

import math
from typing import Annotated

from epsilond.accountants.quantities import ROUNDS, Quantity, Smoothness, request
from epsilond.accountants.theorem import Condition, Outputs, Sides, Source, Status, Theorem
from epsilond.accountants.theorems.papers.lowy_razaviyayn.errata import NO_CONSTANT, TOO_FEW_PARTICIPANTS
from epsilond.accountants.theorems.papers.lowy_razaviyayn.noise import INSIDE_DOMAIN
from epsilond.accountants.theorems.papers.lowy_razaviyayn.run import EqualClientsInputs, smallest_round_count
from epsilond.accountants.theorems.papers.lowy_razaviyayn.shuffled_rounds import TRUSTED_SHUFFLER
from epsilond.accountants.theorems.sampling.two_level import FRESH_SELECTION
from epsilond.accountants.theorems.shuffling.batches import FRESH_BATCHES

LN2 = math.log(2.0)
NOISE_CONSTANT = Quantity(
    symbol="C",
    gt=0,
    le=1e12,
    description="constant factor in the noise of Theorem 4.1 of Lowy and Razaviyayn, which the paper does not specify",
)


@request
class ShuffledInputs(EqualClientsInputs):
    """A run of shuffled mini-batch SGD: M of N equal clients report in each round, through a trusted shuffler.

    If absent, the rounds are the prescribed ones. Exactly one of `delta` and `log10_delta` is required.
    """

    smoothness: Smoothness
    rounds: Annotated[int | None, ROUNDS] = None
    noise_constant: Annotated[float | None, NOISE_CONSTANT] = None

    @property
    def records(self) -> float:
        """Number of records of all clients, nN."""
        return float(self.samples_per_client) * self.clients

    @property
    def prescribed_rounds(self) -> float:
        """Prescribed number of rounds, before rounding up.

        It is the largest of (εnN)²/M, N/M, and the number of rounds that the excess risk requires.
        """
        effective_records = self.epsilon * self.records
        privacy_rounds = effective_records * effective_records / self.participants
        return max(self._rounds_of_loss, privacy_rounds, self.clients / self.participants)

    @property
    def logarithm_argument(self) -> float:
        """βD²μ(εnN)²/(dL²), the argument of the logarithm in the prescribed rounds; infinite if μ = 0."""
        if self.strong_convexity == 0.0:
            return math.inf
        curved = self.smoothness * self.strong_convexity * (self.diameter / self.lipschitz) ** 2
        return curved * (self.epsilon * self.records) ** 2 / self.dimension

    @property
    def _rounds_of_loss(self) -> float:
        """The number of rounds that the excess risk of shuffled mini-batch SGD requires, before rounding up.

        M of N clients report in a round, each from n records, on models of d coordinates. For convex losses it is:

            max{min{n, (εnN)²/(dM)}, βD/L · min{√(nM), εnN/√d}}

        for the Lipschitz constant L, the smoothness β and the diameter D of the domain. For μ-strongly convex losses
        the second number is 8β/μ · ln(a), where a is `logarithm_argument`, or 0 if a < 1.
        """
        effective_records = self.epsilon * self.records  # εnN
        by_privacy = effective_records * effective_records / (self.dimension * self.participants)
        sampling_rounds = min(float(self.samples_per_client), by_privacy)
        if self.strong_convexity > 0.0:
            logarithm = max(math.log(self.logarithm_argument), 0.0)
            descent_rounds = 8.0 * self.smoothness / self.strong_convexity * logarithm
        else:
            without_privacy = math.sqrt(float(self.samples_per_client) * self.participants)
            with_privacy = effective_records / math.sqrt(self.dimension)
            inverse_rate = min(without_privacy, with_privacy)
            descent_rounds = self.smoothness * self.diameter / self.lipschitz * inverse_rate
        return max(sampling_rounds, descent_rounds)

    @property
    def rounds_run(self) -> int:
        """Rounds of the request, or the prescribed rounds if absent."""
        if self.rounds is not None:
            return self.rounds
        return smallest_round_count(lambda _: self.prescribed_rounds)

    @property
    def log_pairs(self) -> float:
        """ln(RM²/(Nδ)), a factor of the printed noise variance, for R rounds and M of N clients in each.

        If it is at most 0, the theorem prescribes no noise.
        """
        return math.log(self.rounds_run) + 2.0 * math.log(self.participants) - math.log(self.clients) - self.log_delta

    @property
    def logarithms(self) -> float:
        """ln(RM²/(Nδ)) ln(R/δ) ln(1/δ), which has the sign of the first factor."""
        return self.log_pairs * (math.log(self.rounds_run) - self.log_delta) * -self.log_delta

    def least_participants(self, *, printed: bool) -> float:
        """Return the least number of participants in a round for Theorem 4.1 of Lowy and Razaviyayn.

        M of N clients report in each of R rounds, and each client has n records. The anonymity of a shuffled report
        needs enough other reports.

        Args:
            printed: whether to use the printed 16 ln(18RM²/(Nδ)). Otherwise it is 16e ln(36RM²/(nNδ)), which the proof
                needs (erratum E-21).

        Returns:
            The bound as a real number, which may be below 1.
        """
        log_ratio = self.log_pairs  # ln(RM²/(Nδ))
        if printed:
            return 16.0 * (math.log(18.0) + log_ratio)
        return 16.0 * math.e * (math.log(36.0) + log_ratio - math.log(self.samples_per_client))


def noise_std_over_root_constant(inputs: ShuffledInputs) -> float:
    """Compute the noise of Theorem 4.1 of Lowy and Razaviyayn without its unknown constant C.

        σ/√C = L √(RM ln(RM²/(Nδ)) ln(R/δ) ln(1/δ))/(nNε)

    The first logarithm is positive only if RM² > Nδ, which the caller must ensure.

    Args:
        inputs: R rounds, M of N clients with n records each, the target (ε, δ), and the Lipschitz constant L.

    Returns:
        σ/√C, in the unit of L.
    """
    scaled_variance = inputs.rounds_run * float(inputs.participants) * inputs.logarithms
    return inputs.lipschitz * math.sqrt(scaled_variance) / (inputs.records * inputs.epsilon)


def excess_risk_scale(inputs: ShuffledInputs) -> tuple[float, float]:
    """Compute the statistical and the privacy term of the excess risk in Theorem 4.1 of Lowy and Razaviyayn.

    With the cost of privacy p = d l/(εnN)², where l is the product `logarithms`, the terms are:

        LD/√(nM) and LD√p        for convex losses (equation (46)),
        L²/(μnM) and L²p/μ       for strongly convex losses (equation (47)).

    The bound is the sum of both terms, times a constant that the paper does not give. It requires RM² > Nδ.

    Args:
        inputs: R rounds, M of N clients with n records each, the target (ε, δ), and d coordinates. The loss has
            Lipschitz constant L and strong convexity μ, and D is the diameter of the domain.

    Returns:
        The statistical and the privacy term, in units of the loss.
    """
    records_of_participants = inputs.samples_per_client * float(inputs.participants)  # nM
    cost_of_privacy = inputs.dimension * inputs.logarithms / (inputs.epsilon * inputs.records) ** 2  # p
    if inputs.strong_convexity > 0.0:
        unit = inputs.lipschitz * inputs.lipschitz / inputs.strong_convexity
        return unit / records_of_participants, unit * cost_of_privacy
    unit = inputs.lipschitz * inputs.diameter
    return unit / math.sqrt(records_of_participants), unit * math.sqrt(cost_of_privacy)


def step_size(inputs: ShuffledInputs) -> float | None:
    """Compute the step size η of shuffled mini-batch SGD for convex losses (Theorem 4.1 of Lowy and Razaviyayn).

        η = min{1/(4β), D√M/(LR) min{√n, εnN/√(dM l)}}

    Here l is the product `logarithms`. It is positive only if RM² > Nδ, which the caller must ensure.

    Args:
        inputs: R rounds, M of N clients with n records each, the target (ε, δ), and d coordinates. The loss has
            Lipschitz constant L and smoothness β, and D is the diameter of the domain.

    Returns:
        η, or None for strongly convex losses.
    """
    if inputs.strong_convexity > 0.0:
        return None
    participants = float(inputs.participants)
    without_privacy = math.sqrt(inputs.samples_per_client)
    with_privacy = inputs.epsilon * inputs.records / math.sqrt(inputs.dimension * participants * inputs.logarithms)
    scale = inputs.diameter * math.sqrt(participants) / (inputs.lipschitz * inputs.rounds_run)
    return min(0.25 / inputs.smoothness, scale * min(without_privacy, with_privacy))


def shuffled_run(inputs: ShuffledInputs) -> Outputs:
    """Compute the rounds, noise, step size and risk of shuffled mini-batch SGD by Theorem 4.1 of Lowy and Razaviyayn.

    Args:
        inputs: the clients, the privacy target, the loss, and optionally the number of rounds and the constant of the
            noise.

    Returns:
        `rounds` and `prescribed_rounds`: the rounds R of the run, and those that the theorem prescribes.
        `least_participants` and `printed_least_participants`: the least M that the proof needs, and that of the paper.
        `noise_std_over_root_constant`: σ/√C, where the paper does not give the factor C of σ².
        `noise_std`: σ, if the request has C as `noise_constant`.
        `step_size`: the step size, if the theorem gives one.
        `excess_risk_scale`: the order of the excess risk, `statistical_term` plus `privacy_term`.
        The last five are absent if RM² ≤ Nδ, for M of N participants. The condition `some-noise` then fails.
    """
    rounds = {"rounds": inputs.rounds_run, "prescribed_rounds": inputs.prescribed_rounds}
    participants = {
        "least_participants": inputs.least_participants(printed=False),
        "printed_least_participants": inputs.least_participants(printed=True),
    }
    # The printed noise is not defined for RM² ≤ Nδ.
    if inputs.log_pairs <= 0.0:
        return rounds | participants

    std_over_root_constant = noise_std_over_root_constant(inputs)
    statistical, privacy = excess_risk_scale(inputs)
    step = step_size(inputs)
    outputs: dict[str, float] = {**rounds, "noise_std_over_root_constant": std_over_root_constant}
    if inputs.noise_constant is not None:
        outputs["noise_std"] = math.sqrt(inputs.noise_constant) * std_over_root_constant
    if step is not None:
        outputs["step_size"] = step

    outputs |= {
        "excess_risk_scale": statistical + privacy,
        "statistical_term": statistical,
        "privacy_term": privacy,
    }
    return outputs | participants


def _compare_logarithm(inputs: ShuffledInputs) -> Sides:
    """Compare the argument of the logarithm in the prescribed rounds with 1."""
    return Sides.above(inputs.logarithm_argument, 1.0)


def _compare_rounds(inputs: ShuffledInputs) -> Sides:
    """Compare the number R of rounds with (nNε)²/M."""
    return Sides.at_least(inputs.rounds_run, (inputs.epsilon * inputs.records) ** 2 / inputs.participants)


def _compare_noise(inputs: ShuffledInputs) -> Sides:
    """Compare ln(RM²/(Nδ)) with 0."""
    return Sides.above(inputs.log_pairs, 0.0)


EPSILON_RANGE = Condition(
    "epsilon-range",
    "the target (ε, δ) satisfies ε ≤ ln(2/δ)",
    lambda inputs: Sides.at_most(inputs.epsilon, LN2 - inputs.log_delta),
)
PRINTED_PARTICIPANTS = Condition(
    "printed-enough-participants",
    "of N clients, M ≥ 16 ln(18RM²/(Nδ)) take part in each of R rounds, as printed",
    lambda inputs: Sides.at_least(inputs.participants, inputs.least_participants(printed=True)),
)
ENOUGH_PARTICIPANTS = Condition(
    "enough-participants",
    "of N clients with n records, M ≥ 16e ln(36RM²/(nNδ)) take part in each of R rounds, as the proof needs",
    lambda inputs: Sides.at_least(inputs.participants, inputs.least_participants(printed=False)),
)
ROUNDS_FOR_ALL = Condition(
    "enough-rounds-for-all",
    "there are R ≥ N/M rounds, in each of which M of N clients take part",
    lambda inputs: Sides.at_least(inputs.rounds_run, inputs.clients / inputs.participants),
)
PRESCRIBED_ROUNDS = Condition(
    "prescribed-rounds",
    "the number R of rounds is at least the one prescribed for the risk",
    lambda inputs: Sides.at_least(inputs.rounds_run, inputs.prescribed_rounds),
)
UNSPECIFIED = Condition(
    "unspecified-constant", "the constant C of the noise, whose value is not given, is large enough", undecidable=True
)
CONDITIONS = (
    EPSILON_RANGE,
    PRINTED_PARTICIPANTS,
    ENOUGH_PARTICIPANTS,
    ROUNDS_FOR_ALL,
    Condition(
        "enough-rounds-for-privacy",
        "there are R ≥ (nNε)²/M rounds, in each of which M of N clients with n records take part",
        _compare_rounds,
    ),
    PRESCRIBED_ROUNDS,
    Condition(
        "some-noise",
        "ln(RM²/(Nδ)) is above 0, since otherwise the statement prescribes no noise and no risk",
        _compare_noise,
    ),
    Condition(
        "logarithm",
        "the argument of the logarithm in the prescription exceeds 1 (it is unbounded without strong convexity)",
        _compare_logarithm,
    ),
    UNSPECIFIED,
    Condition("one-record", "every report is on one record (K = 1), since the proof covers no other batch size"),
    INSIDE_DOMAIN,
    FRESH_SELECTION,
    FRESH_BATCHES,
    TRUSTED_SHUFFLER,
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
    errata=(NO_CONSTANT, TOO_FEW_PARTICIPANTS),
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
