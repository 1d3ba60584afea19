"""Theorem 2.1 of Lowy and Razaviyayn: Algorithm 1 for smooth losses and identically distributed clients.

The main text has an informal statement, with hidden constants; the appendix has the complete statement. Both prescribe
the number R of rounds through ξ, which itself grows with R. The smallest R ≥ 1 that meets the prescription is used. The
noise and its proof are in `papers/lowy_razaviyayn/noise.py`, the bound at any other σ, R and step size in
`explicit_bound.py`.

Symbols: M_r of N clients take part in a round; M = 1/E[1/M_r] and M' are averages of their number (`Federation`).
n is the number of records of a client, K its batch size, d the dimension, and D the diameter of the domain. Losses are
L-Lipschitz, β-smooth and μ-strongly convex. η is the step size. Ξ, Ξ~, ξ_max and M~ are defined at `Aggregates`, ν at
`DescentRun.rate`; Ψ is L² Ξ. "printed" are the paper's formulas, "corrected" those without the errata of this file.
"""

from __future__ import annotations

import math

from epsilond.accountants.federation import Federation
from epsilond.accountants.quantities import Smoothness, request
from epsilond.accountants.theorem import Condition, Erratum, Grade, Outputs, Reading, Sides, Source, Status, Theorem
from epsilond.accountants.theorems.papers.lowy_razaviyayn.conditions import LOGARITHM_ABOVE_ONE
from epsilond.accountants.theorems.papers.lowy_razaviyayn.noise import (
    FRESH_NOISE,
    INSIDE_DOMAIN,
    PRIVACY_ERRATA,
    SIGN_IN_XI,
    Aggregates,
    aggregates,
)
from epsilond.accountants.theorems.papers.lowy_razaviyayn.run import TEN_CLIENTS, smallest_round_count
from epsilond.accountants.theorems.risk.lowy_razaviyayn.descent_prescriptions import (
    DATA_CONDITIONS,
    HIDDEN_CONSTANTS,
    RUN_CONDITIONS,
    DescentInputs,
    DescentRun,
    Prescription,
    contraction_rounds,
    effective_samples,
    prescribed_outputs,
)
from epsilond.accountants.theorems.risk.lowy_razaviyayn.lemmas.descent_lemmas import (
    recursion_bound,
    recursion_step_size,
)
from epsilond.accountants.theorems.risk.lowy_razaviyayn.lemmas.gradient_variance import NOT_HOMOGENEOUS
from epsilond.accountants.theorems.risk.lowy_razaviyayn.lemmas.noisy_descent import CONSTRAINED_MINIMUM

PRINTED_CONSTANT = 272.0
"""Constant of the complete convex bound, in units of L D ν/√M~. Our proof gives 174."""


def batch_divisor(federation: Federation, reading: Reading) -> int:
    """Return the divisor of 1/ν² in the prescribed number of rounds: the smallest batch size K, or 1.

    Args:
        federation: the clients and their batch sizes.
        reading: "printed" always gives K. "corrected" gives K if all clients participate, and 1 otherwise: clients are
            then sampled, and larger batches do not reduce the variance that this causes (erratum E-14).
    """
    return federation.smallest_batch if reading == "printed" or federation.all_participate else 1


def complete_convex(run: DescentRun, *, rounds: int | None = None, reading: Reading = "corrected") -> Prescription:
    """Return the run that Theorem 2.1 of Lowy and Razaviyayn prescribes for convex losses: E F(ŵ) − F* ≤ 272 L D ν/√M~.

    The theorem prescribes R = ⌈max{βD√M~/(Lν), 1/(ν²K)}⌉ rounds and the step size η = min{1/(4β), D√M~/(LRν)}. The
    output ŵ is the plain average of the iterates. ν is `run.rate`, the rate of the statistical error or of privacy. M~
    is an effective number of participants, and K the smallest batch.

    Args:
        run: the federation and the loss.
        rounds: number R of rounds; None for the prescribed one. The bound holds if R ≥ `prescribed_rounds`.
        reading: "printed" takes M~ to be √M' or √M (erratum E-06), and divides 1/ν² by K even if clients are sampled
            (E-14). "corrected" does neither.

    Returns:
        The run and its bound. `terms` are those of inequality (27) of the paper, from which the bound is derived:
        D²/(ηR) + ηL²[R(2/(M n_min) + 256 d min{Ξ/M', ξ_max/M}) + 8/(MK)], with the fewest records n_min of a client.
    """
    lipschitz, diameter = run.lipschitz, run.diameter
    divisor = batch_divisor(run.federation, reading)

    def required_rounds(count: int) -> float:
        """Return the prescribed number of rounds at the aggregates of `count` rounds."""
        totals = aggregates(run.federation, count, reading)
        nu = run.rate(totals)
        descent_rounds = run.smoothness * diameter * math.sqrt(totals.participants) / (lipschitz * nu)
        return max(descent_rounds, 1.0 / (nu * nu * divisor))

    chosen = rounds if rounds is not None else smallest_round_count(required_rounds)
    totals = aggregates(run.federation, chosen, reading)
    nu = run.rate(totals)
    # The step size at which the optimisation error and the cost of sampling and noise are of one order.
    balanced_step = diameter * math.sqrt(totals.participants) / (lipschitz * chosen * nu)
    step = min(0.25 / run.smoothness, balanced_step)
    risk_unit = lipschitz * diameter * nu / math.sqrt(totals.participants)
    terms = master_inequality(run, rounds=chosen, step_size=step, initial_distance=diameter)
    return Prescription(
        rounds=chosen,
        prescribed_rounds=required_rounds(chosen),
        excess_risk=PRINTED_CONSTANT * risk_unit,
        constants="explicit",
        step_size=step,
        averaging_ratio=1.0,
        aggregates=totals,
        terms={**terms, "balanced_step_size": balanced_step, "rate": nu, "unit": risk_unit},
    )


def master_inequality(run: DescentRun, *, rounds: int, step_size: float, initial_distance: float) -> dict[str, float]:
    """Bound the excess risk of noisy SGD on convex losses by inequality (27) of Lowy and Razaviyayn, as its terms.

    The inequality needs ∇F(w*) = 0 at the minimiser w*, which may fail if w* is on the boundary of the domain (erratum
    E-13). The noise is as in Theorem 2.1 for R rounds.

    Args:
        run: the federation and the loss.
        rounds: number R of rounds.
        step_size: step size η, at most 1/(4β).
        initial_distance: distance |w₀ − w*| of the first iterate from the minimiser.

    Returns:
        The terms by name, and their sum `master`, in loss units.
    """
    federation = run.federation
    participants, noise_ratio = federation.participation.mean, aggregates(federation, rounds).noise_ratio
    scale = step_size * run.lipschitz * run.lipschitz
    terms = {
        "optimisation": initial_distance * initial_distance / (step_size * rounds),
        "sampling": 8.0 * scale / (participants * federation.smallest_batch),
        "noise": 256.0 * scale * rounds * run.dimension * noise_ratio,
        "stability": 2.0 * scale * rounds / (participants * federation.fewest_samples),
    }
    return {**terms, "master": math.fsum(terms.values())}


def complete_strongly_convex(
    run: DescentRun, *, rounds: int | None = None, reading: Reading = "corrected"
) -> Prescription:
    """Return the run that Theorem 2.1 of Lowy and Razaviyayn prescribes for strongly convex losses, and its risk.

    By equation (12) it is L²/μ (1/(M n_min) + d min{Ξ/M', ξ_max/M}), up to a constant and a logarithm. `Aggregates`
    defines M, M', Ξ and ξ_max, averages over clients; n_min is the fewest records of a client. The rounds R are those
    of `_strongly_convex_rounds`. The step size is η = min{1/(4β), ln(max{2, μ²D²R²/c})/(μR)} with c of
    `_recursion_variance`. The output averages the iterates with weights that grow by the factor 1/(1 − μη).

    Args:
        run: the federation, and the loss with constants L, β and μ in d dimensions on a domain of diameter D.
        rounds: number R of rounds; None for the prescribed one.
        reading: "printed" has the noise twice in c (erratum E-16). "corrected" has it once, and divides by the batch
            size in R if all clients participate (E-10, E-14).

    Returns:
        The run and its risk. `terms` has two explicit bounds: `empirical`, D²/η (1 − μη)^R + cη, bounds the empirical
        excess risk (Lemma E.9). `stability`, 4L²/(μ(M n_min − 1)), bounds the effect of one record (Lemma E.2).
    """
    federation, mu, squared_lipschitz = run.federation, run.strong_convexity, run.lipschitz * run.lipschitz

    def required_rounds(count: int) -> float:
        """Return the prescribed number of rounds at the aggregates of `count` rounds."""
        return _strongly_convex_rounds(run, aggregates(federation, count), reading)

    chosen = rounds if rounds is not None else smallest_round_count(required_rounds)
    totals = aggregates(federation, chosen)
    recursion: dict[str, float] = {
        "contraction": mu,
        "variance": _recursion_variance(run, totals, rounds=chosen, reading=reading),
        "start": run.diameter * run.diameter,
    }
    step = recursion_step_size(curvature=4.0 * run.smoothness, rounds=chosen, **recursion)
    records = federation.participation.mean * federation.fewest_samples  # M n_min
    stability = 4.0 * squared_lipschitz / (mu * (records - 1.0)) if records > 1.0 else math.inf
    return Prescription(
        rounds=chosen,
        prescribed_rounds=required_rounds(chosen),
        excess_risk=squared_lipschitz / mu * (1.0 / records + run.dimension * totals.noise_ratio),
        constants="hidden",
        step_size=step,
        averaging_ratio=1.0 / (1.0 - mu * step),
        aggregates=totals,
        terms={
            "empirical": recursion_bound(step_size=step, averaged=chosen, **recursion),
            "stability": stability,
            "logarithm_argument": run.logarithm_argument(totals),
        },
    )


def _strongly_convex_rounds(run: DescentRun, totals: Aggregates, reading: Reading) -> float:
    """Return the rounds that Theorem 2.1 of Lowy and Razaviyayn prescribes if μ > 0, before rounding up.

    They are max{8β/μ · ln(βD²μM*/(dL²Ξ~)), 1/(dΞ~)}.

    Args:
        run: the federation and the loss.
        totals: averages: M* of the number of participants, and Ξ~ of the clients' noise variances, up to a factor.
        reading: "corrected" divides the second number by the batch size if all clients participate (E-10, E-14).
    """
    divisor = 1 if reading == "printed" else batch_divisor(run.federation, reading)
    contraction = contraction_rounds(run.smoothness, run.strong_convexity, run.logarithm_argument(totals))
    return max(contraction, 1.0 / (run.dimension * totals.xi * divisor))


def _recursion_variance(run: DescentRun, totals: Aggregates, *, rounds: int, reading: Reading) -> float:
    """Return c, the coefficient of η² in the recursion from which Lowy and Razaviyayn derive Theorem 2.1 for μ > 0.

    It is c = 8L²/(MK) + d min{Σ²/M', σ²_max/M}. The minimum is the variance of the averaged noise per coordinate, 256
    L² R min{Ξ/M', ξ_max/M}, and K the smallest batch. If only M < N clients participate, c leaves out the variance by
    sampling clients (erratum E-14); `explicit_bound.py` includes it.

    Args:
        run: the federation and the loss.
        totals: averages of ξ over the clients; `totals.noise_ratio` is min{Ξ/M', ξ_max/M}.
        rounds: number R of rounds.
        reading: "printed" has the noise twice (E-16), "corrected" once.
    """
    squared_lipschitz = run.lipschitz * run.lipschitz
    sampling = 8.0 * squared_lipschitz / (run.federation.participation.mean * run.federation.smallest_batch)
    noise = 256.0 * squared_lipschitz * rounds * run.dimension * totals.noise_ratio
    return sampling + (2.0 * noise if reading == "printed" else noise)


_TESTS = "tests/theorems/risk/lowy_razaviyayn/test_smooth_losses.py"


@request
class SmoothInputs(DescentInputs):
    """A federation with a smooth loss. Exactly one of delta and log10_delta is required.

    If absent, the number of rounds is the prescribed one, and all clients participate.
    """

    smoothness: Smoothness

    def run(self, reading: Reading, /) -> DescentRun:
        """Return the federation and the loss, with the smoothness β of the client with the largest weight."""
        return self.run_in(reading, DescentRun, smoothness=max(self.scales_of_losses) * self.smoothness)

    def complete(self, reading: Reading, /) -> Prescription:
        """Return the run that the appendix's statement prescribes, and its risk."""
        statement = complete_strongly_convex if self.strong_convexity > 0.0 else complete_convex
        return statement(self.run(reading), rounds=self.rounds, reading=reading)


# Conditions ---------------------------------------------------------------------------------------------------------
def _client_sampling(inputs: SmoothInputs, outputs: Outputs) -> Sides:
    """Compare the number of rounds with the number that averages out the sampling of clients.

    This number is 0 if every client participates. Otherwise it is 1/ν² with the rate ν of `DescentRun.rate`, or 1/(dΞ~)
    in the appendix for μ > 0, where the output `xi` is Ξ~, an average noise variance up to a factor.
    """
    federation = inputs.federation_in("printed")
    if federation.all_participate:
        least_rounds = 0.0
    elif inputs.variant == "informal":
        (group,) = federation.groups
        least_rounds = effective_samples(
            samples_per_client=group.samples_per_client, epsilon=group.epsilon, dimension=inputs.dimension
        )
    elif inputs.strong_convexity > 0.0:
        least_rounds = 1.0 / (inputs.dimension * outputs["xi"])
    else:
        least_rounds = 1.0 / outputs["rate_term"] ** 2
    return Sides.at_least(outputs["rounds"], least_rounds)


CONDITIONS = (
    *RUN_CONDITIONS,
    Condition(
        "client-sampling",
        "R ≥ 1/ν² rounds for the rate ν, or 1/(dΞ~) if μ > 0; the limit is 0 if all clients take part",
        _client_sampling,
        of_outputs=True,
    ),
    LOGARITHM_ABOVE_ONE,
    FRESH_NOISE,
    INSIDE_DOMAIN,
    Condition("loss", "every record's loss is convex (or μ-strongly convex), L-Lipschitz and β-smooth on the domain"),
    *DATA_CONDITIONS,
    HIDDEN_CONSTANTS,
)

# Errata -------------------------------------------------------------------------------------------------------------
DIAMETER = Erratum(
    "E-05",
    grade=Grade.UNCLEAR,
    printed=(
        "Section 1 states that D bounds the distance |w − w'| of any two points of the domain. Appendix E.3 states "
        "that D bounds the norm |w| of every point. The convex bound there has the constant 272."
    ),
    truth=(
        "The proof needs |w₀ − w*| ≤ D for the start w₀ and a minimiser w*. It bounds the risk by four terms, which "
        "we give in the unit of the printed bound. Each at its own worst step size, the terms add to 270, or to 282 "
        "if |w₀ − w*| may be 2D. No step size is the worst for all terms. Jointly they reach 267, or 270 if |w₀ − "
        "w*| may be 2D. Hence 272 is valid in either sense."
    ),
    test=f"{_TESTS}::test_the_constant_272_stands_for_diameter_and_radius",
    place="Section 1, after (1); Appendix E.3, complete version of Theorem 2.1, part 1",
    charitable=("If D is read as the diameter, or as the radius, the constant 272 bounds the sum of the four terms."),
)
PARTICIPANTS = Erratum(
    "E-06",
    grade=Grade.MISPRINT,
    printed=(
        "The text sets M~ := √M' or M~ := √M in Theorems 2.1 (convex), 2.2 and 2.4. Here M = 1/E[1/M_r] and M' = "
        "1/√E[1/M_r²] average the number M_r of participants of a round. In Theorem 2.4, M~ enters the smoothness of "
        "the envelope."
    ),
    truth=(
        "We find M~ := M' or M, as in the rounds of Theorem 2.4. With the root, the bound falls like M^(−1/4) and "
        "not like M^(−1/2), as (4) does."
    ),
    test=f"{_TESTS}::test_the_printed_participants_lose_a_square_root",
    place="Complete versions of Theorem 2.1, part 1, of Theorem 2.2 and of Theorem 2.4, in Appendices E.3 to E.5",
    charitable="If M~ is read as M' or M, the complete statements agree with (4) and with the rounds of Theorem 2.4.",
)
BATCH_IN_ROUNDS = Erratum(
    "E-10",
    grade=Grade.REFINEMENT,
    printed=(
        "For strongly convex losses the complete statement prescribes at least L²/(dΨ~) rounds, for the Lipschitz "
        "constant L and the dimension d. Ψ~ combines the clients' numbers of records and privacy parameters. The "
        "informal statement divides the corresponding number min{n, ε²n²/d} by the batch size K."
    ),
    truth="If all clients take part, the proof needs only the quotient by K. These are K times fewer rounds.",
    test=f"{_TESTS}::test_the_printed_rounds_forget_the_batch",
    place="Theorem 2.1, part 2, in Section 2.1 and in Appendix E.3",
    charitable="Read as printed, the larger number of rounds is sufficient too.",
)
CONSTANTS = Erratum(
    "E-16",
    grade=Grade.MISPRINT,
    printed=(
        "(26) has the noise term 4Rd min{Ψ/M', ψ_max/M} for R rounds and dimension d. The strongly convex step size "
        "contains 2(4L²/(MK) + d min{Ξ²/M', σ²_max/M}), for the Lipschitz constant L and the smallest batch K. "
        "M and M' average the participants, Ψ and Ξ the privacy parameters, and σ²_max is the largest noise variance."
    ),
    truth=(
        "We find 128Rd in (26). The step size contains c = 8L²/(MK) + d min{Σ²/M', σ²_max/M}, where Σ² averages the "
        "noise variance. The text has Ξ² for Σ², and doubles the noise."
    ),
    test=f"{_TESTS}::test_the_noise_in_the_printed_steps_of_the_proof",
    place="Appendix E.3, complete version of Theorem 2.1, part 2, step size; proof of Theorem 2.1, (26)",
    charitable=(
        "If Ξ² is read as Σ², the step sizes differ by at most a factor 2 inside a logarithm, which the hidden "
        "constant of (12) covers. (27) already has the right factor 256 = 2 · 128."
    ),
)

THEOREM_2_1 = Theorem(
    id="lowy.2.1",
    title="Noisy mini-batch SGD for smooth losses and identically distributed clients",
    statement=(
        "Let σ² = 256 L² R ln(2.5R/δ) ln(2/δ)/(nε)². Then Algorithm 1 is (ε, δ) for every record against "
        "everyone but its client. At the R and η prescribed, E F(ŵ) − F* ≤ 272 L D ν/√M~ with ν = max{1/√n_min, "
        "√(dΞ~)}. If μ-strongly convex, it is Õ(L²/μ (1/(M n_min) + d min{Ξ/M', ξ_max/M})), equation (12). Here n_min "
        "is the fewest records of a client. We read it with "
        "batches drawn without replacement, M~ = M, and the average of w_1, …, w_R, for which 174 replaces 272"
    ),
    source=Source("lowy2023", "Theorem 2.1"),
    status=Status.PROVED,
    conditions=CONDITIONS,
    errata=(
        *PRIVACY_ERRATA,
        SIGN_IN_XI,
        DIAMETER,
        PARTICIPANTS,
        BATCH_IN_ROUNDS,
        CONSTRAINED_MINIMUM,
        NOT_HOMOGENEOUS,
        CONSTANTS,
    ),
    inputs=SmoothInputs,
    formula=prescribed_outputs,
    examples=(
        {**TEN_CLIENTS, "smoothness": 2.0},
        {"variant": "informal", **TEN_CLIENTS, "batch_size": 1000, "smoothness": 2.0, "strong_convexity": 0.1},
        {
            "epsilon": 1.0,
            "delta": 1e-5,
            "samples_per_client": 1000,
            "clients": 4,
            "client_groups": [
                {"clients": 1, "samples_per_client": 1000},
                {"clients": 1, "samples_per_client": 500, "epsilon": 0.5, "delta": 1e-6, "lipschitz": 0.5},
                {"clients": 1, "samples_per_client": 2000, "epsilon": 2.0},
                {"clients": 1, "samples_per_client": 1000, "delta": 1e-7},
            ],
            "participation": [{"participants": 2, "probability": 0.5}, {"participants": 4, "probability": 0.5}],
            "batch_size": 100,
            "dimension": 5,
            "lipschitz": 1.0,
            "diameter": 2.0,
            "smoothness": 1.0,
        },
    ),
)

THEOREMS: tuple[Theorem, ...] = (THEOREM_2_1,)
