"""Theorem 2.2 of Lowy and Razaviyayn: Algorithm 1 on the Moreau envelope of losses that need not be smooth.

The smoothness b of every record's envelope f_b (`envelope.py`) is prescribed too. It depends on ν and hence on R. The
excess risk of the loss itself is that of the envelope plus at most L²/(2b). The symbols, and the readings "printed" and
"corrected", are those of the module text of `smooth_losses.py`.
"""

from __future__ import annotations

import math
from dataclasses import replace

from epsilond.accountants.errors import InvalidInput
from epsilond.accountants.quantities import request
from epsilond.accountants.theorem import Condition, Erratum, Grade, Outputs, Reading, Sides, Source, Status, Theorem
from epsilond.accountants.theorems.papers.lowy_razaviyayn.conditions import LOGARITHM_ABOVE_ONE
from epsilond.accountants.theorems.papers.lowy_razaviyayn.noise import (
    FRESH_NOISE,
    PRIVACY_ERRATA,
    Aggregates,
    aggregates,
)
from epsilond.accountants.theorems.papers.lowy_razaviyayn.run import (
    TEN_CLIENTS,
    UNLIKE_CLIENTS,
    smallest_round_count,
)
from epsilond.accountants.theorems.risk.lowy_razaviyayn.descent_prescriptions import (
    DATA_CONDITIONS,
    HIDDEN_CONSTANTS,
    RUN_CONDITIONS,
    DescentInputs,
    DescentRun,
    Prescription,
    contraction_rounds,
    prescribed_outputs,
)
from epsilond.accountants.theorems.risk.lowy_razaviyayn.envelope import (
    ENVELOPE_LIPSCHITZ,
    envelope_gap,
    envelope_lipschitz,
    envelope_strong_convexity,
)
from epsilond.accountants.theorems.risk.lowy_razaviyayn.lemmas.noisy_descent import CONSTRAINED_MINIMUM
from epsilond.accountants.theorems.risk.lowy_razaviyayn.runs.prescribed_sgd import (
    PRINTED_CONSTANT,
    complete_convex,
    complete_strongly_convex,
)
from epsilond.accountants.theorems.risk.lowy_razaviyayn.smooth_losses import PARTICIPANTS


def complete_convex_envelope(
    run: DescentRun, *, rounds: int | None = None, reading: Reading = "corrected"
) -> Prescription:
    """Return the run that Theorem 2.2 of Lowy and Razaviyayn prescribes for convex losses, and its risk bound.

    The corrected statement of the appendix is E F(ŵ) − F* ≤ 272.5 L D ν/√M~. The left side is the expected excess risk
    of the output ŵ. L is the Lipschitz constant of the loss, and D the diameter of the domain. ν is `run.rate`, the
    larger one of the statistical error and of the cost of privacy. M~ is `Aggregates.participants`, an average number
    of participants in a round.

    The theorem prescribes a Moreau envelope, a smooth approximation of the loss, with smoothness b = L√M~/(Dν). It
    prescribes R = ⌈M~/ν²⌉ rounds, and the step size and the output of Theorem 2.1 for a loss of smoothness b. These
    rounds suffice for Theorem 2.1, too, because bD√M~/(Lν) = M~/ν² ≥ 1/ν². The envelope is at most L²/(2b) below the
    loss, which is half of L D ν/√M~.

    Args:
        run: the federation and the loss.
        rounds: number R of rounds; None for the smallest number that meets its own prescription.
        reading: "printed" has the constant 545 = 2 · 272 + 1, for an envelope that may be 2L-Lipschitz (erratum E-17).
            It has M~ = √M' or √M in R, b and the step size (E-06), and the mean number M of participants in the bound
            itself (E-34). M' is the other average in `Aggregates`.

    Returns:
        The run and its bound. As printed, `excess_risk_at_effective_participants` is the bound with M~ in place of M.
    """
    federation, lipschitz = run.federation, run.lipschitz

    def required_rounds(count: int) -> float:
        """Return the prescribed number of rounds at the aggregates of `count` rounds."""
        totals = aggregates(federation, count, reading)
        rate = run.rate(totals)  # ν
        return totals.participants / (rate * rate)

    chosen_rounds = rounds if rounds is not None else smallest_round_count(required_rounds)
    totals = aggregates(federation, chosen_rounds, reading)

    # The run is that of Theorem 2.1 on the envelope.
    smoothness = lipschitz * math.sqrt(totals.participants) / (run.diameter * run.rate(totals))
    smooth = complete_convex(replace(run, smoothness=smoothness), rounds=chosen_rounds, reading=reading)
    gap = envelope_gap(lipschitz=lipschitz, envelope_smoothness=smoothness)
    lipschitz_factor = envelope_lipschitz(lipschitz=lipschitz, reading=reading) / lipschitz

    # In units of L D ν/√M~, the gap L²/(2b) is 1/2. The printed constant 545 = 2 · 272 + 1 counts it twice.
    claimed_gap = 2.0 * gap if reading == "printed" else gap
    claim = PRINTED_CONSTANT * lipschitz_factor * smooth.terms["unit"] + claimed_gap
    enveloped = replace(
        smooth,
        envelope_smoothness=smoothness,
        prescribed_rounds=required_rounds(chosen_rounds),
        excess_risk=claim,
        terms={**smooth.terms, "smoothing_gap": gap},
    )
    if reading == "corrected":
        return enveloped
    printed_claim = claim * math.sqrt(totals.participants / federation.participation.mean)
    return replace(enveloped, excess_risk=printed_claim, excess_risk_at_effective_participants=claim)


def complete_strongly_convex_envelope(
    run: DescentRun, *, rounds: int | None = None, reading: Reading = "corrected"
) -> Prescription:
    """Return the run that Theorem 2.2 of Lowy and Razaviyayn prescribes for strongly convex losses, and its risk.

    The statement is equation (12) of the appendix. The excess risk L²/μ (1/(M n_min) + d min{Ξ/M', ξ_max/M}) is stated
    up to a constant and a logarithm. The theorem prescribes a Moreau envelope (a smooth approximation of the loss) of
    smoothness b = μM~/ν². It prescribes R = ⌈max{8b/μ · ln(bD²μM~/(dL²Ξ~)), 1/(dΞ~)}⌉ rounds. The step size η and the
    weights of the average are those of Theorem 2.1 for a loss of smoothness b.

    `Aggregates` defines the averages over clients. ξ_max, Ξ and Ξ~ are averages of a noise variance up to a factor. M,
    M' and M~ are average numbers of participants in a round. ν is `run.rate`, and n_min the fewest records of a client.

    Args:
        run: the federation and the loss in d dimensions, with Lipschitz constant L and strong convexity μ, on a domain
            of diameter D.
        rounds: number R of rounds; None for the smallest number that meets its own prescription.
        reading: "printed" computes η and the weights with μ (erratum E-17), and with the noise twice in the variance
            (E-16). It has M~ = √M' or √M in b (E-06), and M' for M~ in the logarithm (E-29). "corrected" computes η and
            the weights with the envelope's own strong convexity μb/(μ + b), and with the noise once.

    Returns:
        The run and its risk. `terms` has the terms of Theorem 2.1, the argument of the logarithm, and `smoothing_gap`,
        the largest difference L²/(2b) between the loss and its envelope.
    """
    federation, convexity = run.federation, run.strong_convexity

    def required_rounds(count: int) -> float:
        """Return the prescribed number of rounds at the aggregates of `count` rounds."""
        totals = aggregates(federation, count, reading)
        argument = _envelope_logarithm_argument(run, totals, reading)
        descent_rounds = contraction_rounds(_envelope_smoothness(run, totals), convexity, argument)
        sampling_rounds = 1.0 / (run.dimension * totals.xi)
        return max(descent_rounds, sampling_rounds)

    chosen_rounds = rounds if rounds is not None else smallest_round_count(required_rounds)
    totals = aggregates(federation, chosen_rounds, reading)

    # The run is that of Theorem 2.1 on the envelope, with the strong convexity μ or μb/(μ + b).
    smoothness = _envelope_smoothness(run, totals)
    run_convexity = convexity
    if reading == "corrected":
        run_convexity = envelope_strong_convexity(strong_convexity=convexity, envelope_smoothness=smoothness)
    enveloped = replace(run, smoothness=smoothness, strong_convexity=run_convexity)
    smooth = complete_strongly_convex(enveloped, rounds=chosen_rounds, reading=reading)

    per_record = 1.0 / (federation.participation.mean * federation.fewest_samples)  # 1/(M n_min)
    risk = run.lipschitz * run.lipschitz / convexity * (per_record + run.dimension * totals.noise_ratio)
    terms = {
        **smooth.terms,
        "logarithm_argument": _envelope_logarithm_argument(run, totals, reading),
        "smoothing_gap": envelope_gap(lipschitz=run.lipschitz, envelope_smoothness=smoothness),
    }
    return replace(
        smooth,
        envelope_smoothness=smoothness,
        aggregates=totals,
        prescribed_rounds=required_rounds(chosen_rounds),
        excess_risk=risk,
        terms=terms,
    )


def _envelope_smoothness(run: DescentRun, totals: Aggregates) -> float:
    """Return the smoothness b = μM~/ν² of the Moreau envelope that Theorem 2.2 prescribes for strongly convex losses.

    The envelope is a smooth function below the loss, on which the run descends.

    Args:
        run: the federation and the loss, with strong convexity μ. ν is `run.rate`, the larger one of the statistical
            error and of the cost of privacy.
        totals: averages over the clients. M~ is `totals.participants`, an average number of participants in a round.

    Returns:
        The smoothness b, in loss units per squared length.
    """
    rate = run.rate(totals)
    return run.strong_convexity * totals.participants / (rate * rate)


def _envelope_logarithm_argument(run: DescentRun, totals: Aggregates, reading: Reading) -> float:
    """Return the argument of the logarithm in the rounds of Theorem 2.2 of Lowy and Razaviyayn for μ > 0.

    It is bD²μM~/(dL²Ξ~).

    Args:
        run: the federation and the loss in d dimensions, with Lipschitz constant L and strong convexity μ, on a domain
            of diameter D. Its envelope has smoothness b.
        totals: averages over the clients. M~ is `totals.participants`, an average number of participants in a round,
            and Ξ~ is `totals.xi`, an average noise variance up to a factor.
        reading: "printed" has the root mean square M' of the number of participants for M~ (erratum E-29).

    Returns:
        The argument, a positive number. The statement is only meaningful if it exceeds 1.
    """
    participants = run.federation.participation.rms if reading == "printed" else totals.participants
    length = run.diameter / run.lipschitz
    relative_smoothness = _envelope_smoothness(run, totals) * length * length * run.strong_convexity  # bD²μ/L²
    return relative_smoothness * participants / (run.dimension * totals.xi)


_TESTS = "tests/theorems/risk/lowy_razaviyayn/test_nonsmooth_losses.py"


@request
class NonsmoothInputs(DescentInputs):
    """A federation with a Lipschitz loss that need not be smooth. Exactly one of delta and log10_delta is required.

    If absent, the number of rounds is the prescribed one, and all clients participate.
    """

    def check(self) -> None:
        """Check that the groups add up to the clients, and that a loss can have the given constants.

        On a domain of diameter D, an L-Lipschitz loss can only be μ-strongly convex if μD ≤ 2L.

        Raises:
            InvalidInput: the groups do not add up, or μD > 2L for the smallest Lipschitz constant L of a client.
        """
        super().check()
        # A group without a Lipschitz constant of its own has that of the request.
        groups = self.client_groups or (self,)
        constants = [self.lipschitz if group.lipschitz is None else group.lipschitz for group in groups]
        if self.strong_convexity * self.diameter > 2.0 * min(constants):
            raise InvalidInput.at(
                "/strong_convexity", "a strongly convex loss has lipschitz ≥ strong_convexity · diameter / 2"
            )

    def run(self, reading: Reading, /) -> DescentRun:
        """Return the federation and the loss."""
        return self.run_in(reading, DescentRun, smoothness=math.inf)

    def complete(self, reading: Reading, /) -> Prescription:
        """Return the run that the appendix's statement prescribes, and its risk."""
        if self.strong_convexity > 0.0:
            return complete_strongly_convex_envelope(self.run(reading), rounds=self.rounds, reading=reading)
        return complete_convex_envelope(self.run(reading), rounds=self.rounds, reading=reading)


# Conditions ---------------------------------------------------------------------------------------------------------
def _claim(_inputs: NonsmoothInputs, outputs: Outputs) -> Sides:
    """Compare the excess risk that a theorem states with the terms of its proof, added up.

    If the statement hides a constant, it has no number to compare with; the condition then holds.

    Args:
        _inputs: the request, which is not used.
        outputs: outputs of the theorem, with `proof_excess_risk` and perhaps `excess_risk`.

    Returns:
        The two sides of the condition that the sum of the terms is at most the stated risk.
    """
    if "excess_risk" not in outputs:
        return Sides.at_most(0.0, math.inf)
    return Sides.at_most(outputs["proof_excess_risk"], outputs["excess_risk"])


CONDITIONS = (
    *RUN_CONDITIONS,
    LOGARITHM_ABOVE_ONE,
    Condition(
        "claim-proved",
        "the terms of the proof add to at most the explicit bound, which is infinite if a constant is hidden",
        _claim,
        of_outputs=True,
    ),
    FRESH_NOISE,
    Condition(
        "inside-domain", "gradients of the envelope are evaluated inside the domain, where their norm is at most L"
    ),
    Condition("loss", "every record's loss is convex (or μ-strongly convex) and L-Lipschitz on the domain"),
    *DATA_CONDITIONS,
    Condition("exact-proximal-step", "the proximal point of a record's loss is found exactly"),
    HIDDEN_CONSTANTS,
)

# Errata -------------------------------------------------------------------------------------------------------------
CONSTANT = Erratum(
    "E-17",
    grade=Grade.REFINEMENT,
    printed=(
        "For L-Lipschitz convex losses, Theorem 2.2 has the constant 545, because Lemma E.10 states that the "
        "envelope is 2L-Lipschitz. The theorem nevertheless computes the noise σ from L."
    ),
    truth=(
        "The envelope is L-Lipschitz on the domain. Hence σ is right, and 272.5 replaces 545. Our own bound at the "
        "prescribed run is at most 174.5 L D ν/√M~. Here D is the diameter, ν the rate, and M~ the average number of "
        "participants."
    ),
    test=f"{_TESTS}::test_half_of_545_stands_and_174_and_a_half_is_proved",
    place="Appendix E.4, complete version of Theorem 2.2, part 1, and Lemma E.10",
    charitable="Read as printed, the constant 545 is valid wherever 272.5 is.",
)
PLAIN_PARTICIPANTS = Erratum(
    "E-34",
    grade=Grade.MISPRINT,
    printed=(
        "The convex bound is 545 L D ν/√M, with M = 1/E[1/M_r] for the number M_r of participants. L is the "
        "Lipschitz constant, D the size of the domain and ν the rate. The rounds, the envelope and the step size "
        "contain M~ := √M' or √M instead, with M' = 1/√E[1/M_r²]."
    ),
    truth=(
        "The proof gives √M~ in place of √M, with M~ = M' or M. Where M' is taken, the printed bound is smaller than "
        "the proved one by the factor √(M/M'). With the printed M~, the same bound would be larger by M^(1/4)."
    ),
    test=f"{_TESTS}::test_the_printed_bound_has_the_plain_number_of_participants",
    place="Appendix E.4, complete version of Theorem 2.2, part 1",
    charitable=(
        "If M is read as M~ with M~ = M' or M, the bound is the proved one. If the number of participants is "
        "constant, M and M' are equal."
    ),
)
STEP_SIZE = Erratum(
    "E-17",
    grade=Grade.UNCLEAR,
    printed=(
        "Theorem 2.2 takes the step size η and the averaging weights of Theorem 2.1. For strongly convex losses "
        "these contain the strong convexity μ, which Theorem 2.2 defines as that of the loss and not of its "
        "envelope."
    ),
    truth=(
        "The run descends on the envelope, whose strong convexity is μb/(μ + b) for its smoothness b. We find that η "
        "and the weights need this value in place of μ."
    ),
    test=f"{_TESTS}::test_the_steps_use_the_strong_convexity_of_the_envelope",
    place="Appendix E.4, complete version of Theorem 2.2, before part 1",
    charitable=(
        "If Theorem 2.1 is applied to the envelope with the envelope's parameters, its μ is μb/(μ + b), and η "
        "and the weights are right."
    ),
)
LOGARITHM = Erratum(
    "E-29",
    grade=Grade.MISPRINT,
    printed=(
        "The rounds for strongly convex losses contain ln(bD²μM'/(dL²Ξ~)), with M' = 1/√E[1/M_r²] for the number M_r "
        "of participants. Here b is the envelope's smoothness, D the size of the domain, μ the strong convexity and "
        "d the dimension. L is the Lipschitz constant, and Ξ~ is Ξ or ξ_max, an average or the maximum over clients."
    ),
    truth="We find ln(bD²μM~/(dL²Ξ~)), with M~ = M' or M. M' belongs to Ξ, and is not always the one chosen.",
    test=f"{_TESTS}::test_the_printed_logarithm_has_the_other_participants",
    place="Appendix E.4, complete version of Theorem 2.2, part 2",
    charitable=(
        "Where Ξ~ is Ξ, M~ is M' and the printed logarithm is right. If M' is read as M~, it is right in every case."
    ),
)

THEOREM_2_2 = Theorem(
    id="lowy.2.2",
    title="Noisy mini-batch SGD for losses that need not be smooth",
    statement=(
        "Algorithm 1 runs on the Moreau envelope with the σ of Theorem 2.1. Its parameter is b = L√M~/(Dν) "
        "(μM~/ν² if μ-strongly convex). The run is (ε, δ) for every record against everyone but its client. "
        "The risk is E F(ŵ) − F* ≤ 545 L D ν/√M at R = ⌈M~/ν²⌉. If μ-strongly convex, it is Õ(L²/μ (1/(M n_min) + d "
        "min{Ξ/M', ξ_max/M})) for the fewest records n_min of a client. "
        "We read it with batches drawn without replacement, and with the bound 272.5 L D "
        "ν/√M~ with M~ = M. The output is the average of w_1, …, w_R, for which 174.5 is sufficient"
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
    formula=prescribed_outputs,
    examples=(
        TEN_CLIENTS,
        {**TEN_CLIENTS, "strong_convexity": 0.1},
        {
            **UNLIKE_CLIENTS,
            "client_groups": [
                {"clients": 4, "samples_per_client": 1000, "weight": 2.0},
                {"clients": 6, "samples_per_client": 500, "epsilon": 2.0},
            ],
        },
    ),
)

THEOREMS: tuple[Theorem, ...] = (THEOREM_2_2,)
