"""An explicit noise for shuffled mini-batch SGD with one record a report, in place of Theorem 4.1 of Lowy.

In each of R rounds M of N clients are drawn in secret. Each draws one of its n records. Its report is the record's
gradient (norm at most L) plus N(0, σ²) per coordinate. The reports are shuffled. With:

    q = M/(nN),   ε̃ = ε/(2√(2R ln(2/δ))),   g = (e^ε̃ − 1)/q,   δ_s = min{1/2, δ/(4Rq)},
    a = 8√(e ln(4/δ_s)/M) + 8e/M,   ε₀ = min{1, 2g/a},   δ₀ = δ/(8RqM(2 + min{g, aε₀/2})),

    σ² = 8L² ln(1.25/δ₀)/ε₀²,

the R rounds are (ε, δ) for every record, if ε ≤ 8 ln(2/δ) and M ≥ 16 e^ε₀ ln(2/δ_s).

Proof.
1. Two reports differ by at most 2L, and ε₀ ≤ 1. By Dwork and Roth, Theorem A.1, one report is (ε₀, δ₀) for all data
   that its client may hold.
2. By Theorem F.2 with N = M and n = 1 (its premise is the condition on M), the shuffled round is (ε^r, δ^r) for one
   whole report, e^{ε^r} − 1 = tanh(ε₀/2)(8√(e^ε₀ ln(4/δ_s)/M) + 8e^ε₀/M) ≤ (ε₀/2) a ≤ g, as e^ε₀ ≤ e and tanh x ≤ x,
   and δ^r = δ_s + (e^{ε^r} + 1) 2Mδ₀ (with E-20's factor), e^{ε^r} + 1 ≤ 2 + min{g, aε₀/2}.
3. The record is used with probability q, and both draws amplify (`epsilond.shuffled-batches-of-clients`): the round is
   (ln(1 + q(e^{ε^r} − 1)), qδ^r) for the record, and ln(1 + qg) = ε̃.
4. Over R rounds with slack δ/2 (Kairouz, Oh and Viswanath): √(2R ln(2/δ)) ε̃ + Rε̃ tanh(ε̃/2) ≤ ε/2 + Rε̃²/2 = ε/2 +
   ε²/(16 ln(2/δ)) ≤ ε. And δ/2 + Rq δ_s + Rq(e^{ε^r} + 1) 2Mδ₀ ≤ δ/2 + δ/4 + δ/4. ∎

For small ε₀ this is σ² of the order of Theorem 4.1's, L²RM/(nNε)² times three logarithms, with a constant near 2·10³.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Annotated, ClassVar

from epsilond.accountants.quantities import (
    PARTICIPANTS_AMONG_CLIENTS,
    SQUARES,
    BudgetFields,
    Checks,
    Clients,
    Epsilon,
    Lipschitz,
    Participants,
    Rounds,
    SamplesPerClient,
    request,
)
from epsilond.accountants.theorem import Condition, Outputs, Sides, Source, Status, Theorem
from epsilond.accountants.theorems.papers.lowy_razaviyayn.noise import INSIDE_DOMAIN
from epsilond.accountants.theorems.papers.lowy_razaviyayn.shuffled_rounds import TRUSTED_SHUFFLER
from epsilond.accountants.theorems.sampling.two_level import FRESH_SELECTION
from epsilond.accountants.theorems.shuffling.batches import FRESH_BATCHES

LN2, LN10 = math.log(2.0), math.log(10.0)


@dataclass(frozen=True, kw_only=True)
class ExplicitNoise:
    """The noise of a report in shuffled mini-batch SGD, and the quantities in its privacy proof.

    M of N clients report in each round, on one of their n records each.

    Attributes:
        noise_std: standard deviation σ of the noise per coordinate of a report.
        rate: probability q = M/(nN) that a record is used in a round.
        step_epsilon: ε that a record may spend in one round, with the sampling of records.
        log_shuffling_delta: ln δ_s, where δ_s is the δ of the shuffling theorem for one round.
        round_epsilon: ε of one shuffled round for a report, without the sampling of records.
        local_epsilon: ε₀ of a report.
        log_local_delta: ln δ₀ of a report.
    """

    noise_std: float
    rate: float
    step_epsilon: float
    log_shuffling_delta: float
    round_epsilon: float
    local_epsilon: float
    log_local_delta: float

    @property
    def least_participants(self) -> float:
        """Smallest number M of reports for which Theorem F.2 holds, 16 e^ε₀ ln(2/δ_s)."""
        return 16.0 * math.exp(self.local_epsilon) * (LN2 - self.log_shuffling_delta)


@request
class ExplicitNoiseInputs(BudgetFields):
    """Shuffled rounds in which a client reports the noisy gradient of one record.

    Exactly one of `delta` and `log10_delta` is required.
    """

    epsilon: Annotated[Epsilon, SQUARES]
    samples_per_client: SamplesPerClient
    clients: Clients
    participants: Participants
    rounds: Rounds
    lipschitz: Lipschitz

    checks: ClassVar[Checks] = (PARTICIPANTS_AMONG_CLIENTS,)

    @property
    def noise(self) -> ExplicitNoise:
        """The noise of a report in shuffled mini-batch SGD, with the steps of its privacy proof.

        In each of R rounds, M of N clients report the gradient of one of their n records. A report with the noise:

            σ² = 8L² ln(1.25/δ₀)/ε₀²

        is (ε₀, δ₀)-differentially private. A record is used with probability q = M/(nN), and may spend ε̃ in a round:

            ε̃ = ε/(2√(2R ln(2/δ))),                  g = (e^ε̃ − 1)/q,
            δ_s = min{1/2, δ/(4Rq)},                  a = 8√(e ln(4/δ_s)/M) + 8e/M,
            ε₀ = min{1, 2g/a},                        δ₀ = min{1/2, δ/(8RqM(2 + min{g, aε₀/2}))}.

        δ_s is the δ of shuffling. A shuffled round has an ε^r with e^{ε^r} − 1 ≤ aε₀/2 ≤ g. Sampling reduces it to at
        most ε̃. The proof needs M ≥ `least_participants` and ε ≤ 8 ln(2/δ).
        """
        participants, log_delta = self.participants, self.log_delta
        rate = participants / (float(self.samples_per_client) * self.clients)
        step_epsilon = self.epsilon / (2.0 * math.sqrt(2.0 * self.rounds * (LN2 - log_delta)))
        growth_limit = math.expm1(min(step_epsilon, 700.0)) / rate  # g; the minimum keeps it finite
        log_uses = math.log(self.rounds) + math.log(rate)  # log Rq
        log_shuffling_delta = min(-LN2, log_delta - math.log(4.0) - log_uses)

        e_over_m = math.e / participants
        factor = 8.0 * math.sqrt(e_over_m * (math.log(4.0) - log_shuffling_delta)) + 8.0 * e_over_m  # a
        local_epsilon = min(1.0, 2.0 * growth_limit / factor)
        round_growth = min(growth_limit, 0.5 * factor * local_epsilon)  # e^{ε^r} − 1

        log_local_delta = log_delta - math.log(8.0 * participants) - log_uses - math.log(2.0 + round_growth)
        # Theorem A.1, the Gaussian mechanism, is used with δ₀ ≤ 1/2. A smaller δ₀ is valid, and costs noise.
        log_local_delta = min(log_local_delta, -LN2)
        noise_std = self.lipschitz * math.sqrt(8.0 * (math.log(1.25) - log_local_delta)) / local_epsilon
        return ExplicitNoise(
            noise_std=noise_std,
            rate=rate,
            step_epsilon=step_epsilon,
            log_shuffling_delta=log_shuffling_delta,
            round_epsilon=math.log1p(round_growth),
            local_epsilon=local_epsilon,
            log_local_delta=log_local_delta,
        )


def noise(inputs: ExplicitNoiseInputs) -> Outputs:
    """Compute the noise σ of a report in shuffled mini-batch SGD, and the parameters of its privacy proof.

    Args:
        inputs: the target (ε, δ), M of N clients, which report one of their records, and the Lipschitz constant L.

    Returns:
        `noise_std`, `noise_multiplier`, `sensitivity`: σ, σ/L and 2L.
        `rate`: probability that a record is used in a round.
        `step_epsilon`: ε that a record may spend in a round.
        `round_epsilon`: ε of a shuffled round for a report, without the sampling of records.
        `local_epsilon` and `log10_local_delta`: ε₀ and log10 δ₀ of a report.
        `log10_shuffling_delta`: log10 of the δ of shuffling.
        `least_participants`: the least number of reporting clients for which the proof holds.
    """
    explicit = inputs.noise
    return {
        "noise_std": explicit.noise_std,
        "noise_multiplier": explicit.noise_std / inputs.lipschitz,
        "sensitivity": 2.0 * inputs.lipschitz,
        "rate": explicit.rate,
        "step_epsilon": explicit.step_epsilon,
        "round_epsilon": explicit.round_epsilon,
        "log10_shuffling_delta": explicit.log_shuffling_delta / LN10,
        "local_epsilon": explicit.local_epsilon,
        "log10_local_delta": explicit.log_local_delta / LN10,
        "least_participants": explicit.least_participants,
    }


ENOUGH_REPORTS = Condition(
    "enough-reports",
    "the number M of a round's reports is at least 16 e^ε₀ ln(2/δ_s), the premise of Theorem F.2 at δ = δ_s",
    lambda inputs: Sides.at_least(inputs.participants, inputs.noise.least_participants),
)
IN_RANGE = Condition(
    "epsilon-range",
    "the target (ε, δ) satisfies ε ≤ 8 ln(2/δ)",
    lambda inputs: Sides.at_most(inputs.epsilon, 8.0 * (LN2 - inputs.log_delta)),
)
EXPLICIT_NOISE = Theorem(
    id="epsilond.shuffled-sgd-noise",
    title="Explicit noise for shuffled SGD with one record a report",
    statement=(
        "With σ² = 8L² ln(1.25/δ₀)/ε₀², R shuffled rounds are (ε, δ) for every record. Here ε₀ = min{1, 2(e^ε̃ "
        "− 1)/(qa)}. Its terms are ε̃ = ε/(2√(2R ln(2/δ))), q = M/(nN) and a = 8√(e ln(4/δ_s)/M) + 8e/M. The "
        "probabilities are δ_s = min{1/2, δ/(4Rq)} and δ₀ = δ/(8RqM(2 + min{(e^ε̃ − 1)/q, aε₀/2}))"
    ),
    source=Source(
        "epsilond", "proof in accountants/theorems/papers/lowy_razaviyayn/shuffled_noise.py; for Theorem 4.1 of Lowy"
    ),
    status=Status.PROVED,
    conditions=(IN_RANGE, ENOUGH_REPORTS, INSIDE_DOMAIN, FRESH_SELECTION, FRESH_BATCHES, TRUSTED_SHUFFLER),
    inputs=ExplicitNoiseInputs,
    formula=noise,
    examples=(
        {
            "epsilon": 1.0,
            "delta": 1e-6,
            "samples_per_client": 10,
            "clients": 10_000,
            "participants": 2000,
            "rounds": 1000,
            "lipschitz": 1.0,
        },
    ),
)

THEOREMS: tuple[Theorem, ...] = (EXPLICIT_NOISE,)
