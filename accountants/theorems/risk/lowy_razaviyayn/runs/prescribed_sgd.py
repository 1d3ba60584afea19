"""Runs that Theorem 2.1 of Lowy and Razaviyayn prescribes for smooth losses, and their risk."""

from __future__ import annotations

import math

from epsilond.accountants.federation import Federation
from epsilond.accountants.theorem import Reading
from epsilond.accountants.theorems.papers.lowy_razaviyayn.noise import (
    Aggregates,
    aggregates,
)
from epsilond.accountants.theorems.papers.lowy_razaviyayn.run import smallest_round_count
from epsilond.accountants.theorems.risk.lowy_razaviyayn.descent_prescriptions import (
    DescentRun,
    Prescription,
    contraction_rounds,
)
from epsilond.accountants.theorems.risk.lowy_razaviyayn.lemmas.descent_lemmas import (
    recursion_bound,
    recursion_step_size,
)

PRINTED_CONSTANT = 272.0
"""Constant of the complete convex bound, in units of L D ν/√M~. Our proof gives 174."""


def batch_divisor(federation: Federation, reading: Reading) -> int:
    """Return the divisor in the number of rounds that Theorem 2.1 of Lowy and Razaviyayn prescribes.

    It is the smallest batch size K or 1. It divides 1/ν², where ν is the larger one of the statistical error and the
    cost of privacy.

    Args:
        federation: the clients and their batch sizes.
        reading: "printed" always gives K. "corrected" gives 1 if clients are sampled, because larger batches do not
            reduce the variance that this causes (erratum E-14), and K if all clients participate.
    """
    if reading == "printed" or federation.all_participate:
        return federation.smallest_batch
    return 1


def complete_convex(run: DescentRun, *, rounds: int | None = None, reading: Reading = "corrected") -> Prescription:
    """Return the run that Theorem 2.1 of Lowy and Razaviyayn prescribes for convex losses, and its risk bound.

    The theorem prescribes the number of rounds R and the step size η, and bounds the expected excess risk:

        R = ⌈max{βD√M~/(Lν), 1/(ν²K)}⌉,    η = min{1/(4β), D√M~/(LRν)},    E F(ŵ) − F* ≤ 272 L D ν/√M~.

    The output ŵ is the plain average of the iterates. L, β and D are the Lipschitz constant, the smoothness and the
    diameter. ν is the larger one of the statistical error and the cost of privacy (`run.rate`), M~ is an effective
    number of participants, and K the smallest batch.

    Args:
        run: the federation and the loss.
        rounds: number R of rounds; None for the prescribed one. The bound holds if R ≥ `prescribed_rounds`.
        reading: "printed" takes M~ to be √M' or √M (erratum E-06), and divides 1/ν² by K even if clients are sampled
            (E-14). "corrected" does neither.

    Returns:
        The run and its bound. `terms` are those of inequality (27) of the paper, from which the bound is derived.
    """
    lipschitz, diameter = run.lipschitz, run.diameter
    divisor = batch_divisor(run.federation, reading)

    def required_rounds(count: int) -> float:
        """Return the prescribed number of rounds at the aggregates of `count` rounds."""
        totals = aggregates(run.federation, count, reading)
        rate = run.rate(totals)  # ν
        descent_rounds = run.smoothness * diameter * math.sqrt(totals.participants) / (lipschitz * rate)
        return max(descent_rounds, 1.0 / (rate * rate * divisor))

    # The requirement depends on the number of rounds itself, because averages over the clients do.
    chosen_rounds = rounds if rounds is not None else smallest_round_count(required_rounds)
    totals = aggregates(run.federation, chosen_rounds, reading)
    rate = run.rate(totals)
    participants_root = math.sqrt(totals.participants)  # √M~

    # At this step size the optimisation error is of the same order as the cost of sampling and noise.
    balanced_step = diameter * participants_root / (lipschitz * chosen_rounds * rate)
    step = min(0.25 / run.smoothness, balanced_step)

    risk_unit = lipschitz * diameter * rate / participants_root  # LDν/√M~
    terms = master_inequality(run, rounds=chosen_rounds, step_size=step, initial_distance=diameter)
    return Prescription(
        rounds=chosen_rounds,
        prescribed_rounds=required_rounds(chosen_rounds),
        excess_risk=PRINTED_CONSTANT * risk_unit,
        constants="explicit",
        step_size=step,
        averaging_ratio=1.0,
        aggregates=totals,
        terms={**terms, "balanced_step_size": balanced_step, "rate": rate, "unit": risk_unit},
    )


def master_inequality(run: DescentRun, *, rounds: int, step_size: float, initial_distance: float) -> dict[str, float]:
    """Bound the excess risk of noisy SGD on convex losses by inequality (27) of Lowy and Razaviyayn.

    With the noise of Theorem 2.1 for R rounds, the bound is:

        |w₀ − w*|²/(ηR) + ηL²[8/(MK) + 256 R d min{Ξ/M', ξ_max/M} + 2R/(M n_min)].

    M is the mean number of participants, K the smallest batch, n_min the fewest records of a client, and the minimum is
    `noise_ratio` of the federation. The proof needs ∇F(w*) = 0 at the minimiser w*, which may fail on the boundary of
    the domain (erratum E-13).

    Args:
        run: the federation and the loss.
        rounds: number R of rounds.
        step_size: step size η, at most 1/(4β).
        initial_distance: distance |w₀ − w*| of the first iterate from the minimiser.

    Returns:
        The four terms by name, and their sum `master`, in loss units.
    """
    federation = run.federation
    participants = federation.participation.mean
    noise_ratio = aggregates(federation, rounds).noise_ratio
    step_cost = step_size * run.lipschitz * run.lipschitz  # ηL²
    terms = {
        "optimisation": initial_distance * initial_distance / (step_size * rounds),
        "sampling": 8.0 * step_cost / (participants * federation.smallest_batch),
        "noise": 256.0 * step_cost * rounds * run.dimension * noise_ratio,
        "stability": 2.0 * step_cost * rounds / (participants * federation.fewest_samples),
    }
    return {**terms, "master": math.fsum(terms.values())}


def complete_strongly_convex(
    run: DescentRun, *, rounds: int | None = None, reading: Reading = "corrected"
) -> Prescription:
    """Return the run that Theorem 2.1 of Lowy and Razaviyayn prescribes for strongly convex losses, and its risk.

    The step size η, and by equation (12) the risk up to a constant and a logarithm, are:

        η = min{1/(4β), ln(max{2, μ²D²R²/c})/(μR)},    L²/μ (1/(M n_min) + d min{Ξ/M', ξ_max/M}).

    c is the variance of `_recursion_variance`. M is the mean number of participants, n_min the fewest records of a
    client, and the minimum is the variance of the averaged noise up to a factor (`noise_ratio`). The output averages
    the iterates with weights that grow by the factor 1/(1 − μη) per round.

    Args:
        run: the federation, and the loss with constants L, β and μ in d dimensions on a domain of diameter D.
        rounds: number R of rounds; None for the prescribed one, `_strongly_convex_rounds`.
        reading: "printed" has the noise twice in c (erratum E-16). "corrected" has it once, and divides by the batch
            size in R if all clients participate (E-10, E-14).

    Returns:
        The prescribed run and its risk. The field `terms` has two explicit bounds:
        `empirical`: D²/η (1 − μη)^R + cη, on the empirical excess risk (Lemma E.9).
        `stability`: 4L²/(μ(M n_min − 1)), on the effect of one record (Lemma E.2).
    """
    federation, convexity = run.federation, run.strong_convexity
    squared_lipschitz = run.lipschitz * run.lipschitz

    def required_rounds(count: int) -> float:
        """Return the prescribed number of rounds at the aggregates of `count` rounds."""
        return _strongly_convex_rounds(run, aggregates(federation, count), reading)

    # The requirement depends on the number of rounds itself, because averages over the clients do.
    chosen_rounds = rounds if rounds is not None else smallest_round_count(required_rounds)
    totals = aggregates(federation, chosen_rounds)

    # Parameters of the recursion for the squared distance from the minimiser.
    recursion: dict[str, float] = {
        "contraction": convexity,
        "variance": _recursion_variance(run, totals, rounds=chosen_rounds, reading=reading),
        "start": run.diameter * run.diameter,
    }
    step = recursion_step_size(curvature=4.0 * run.smoothness, rounds=chosen_rounds, **recursion)

    records = federation.participation.mean * federation.fewest_samples  # M n_min
    stability = math.inf
    if records > 1.0:
        stability = 4.0 * squared_lipschitz / (convexity * (records - 1.0))
    terms = {
        "empirical": recursion_bound(step_size=step, averaged=chosen_rounds, **recursion),
        "stability": stability,
        "logarithm_argument": run.logarithm_argument(totals),
    }
    return Prescription(
        rounds=chosen_rounds,
        prescribed_rounds=required_rounds(chosen_rounds),
        excess_risk=squared_lipschitz / convexity * (1.0 / records + run.dimension * totals.noise_ratio),
        constants="hidden",
        step_size=step,
        averaging_ratio=1.0 / (1.0 - convexity * step),
        aggregates=totals,
        terms=terms,
    )


def _strongly_convex_rounds(run: DescentRun, totals: Aggregates, reading: Reading) -> float:
    """Return the rounds that Theorem 2.1 of Lowy and Razaviyayn prescribes for strongly convex losses.

        max{8β/μ · ln(βD²μM*/(dL²Ξ~)), 1/(dΞ~)}

    L, β, μ, d and D are the constants of the loss and its domain.

    Args:
        run: the federation and the loss.
        totals: averages M* of the number of participants and Ξ~ of the clients' noise variances, up to a factor.
        reading: "corrected" divides the second number by the batch size if all clients participate (E-10, E-14).

    Returns:
        The number of rounds before it is rounded up.
    """
    divisor = 1 if reading == "printed" else batch_divisor(run.federation, reading)
    contraction = contraction_rounds(run.smoothness, run.strong_convexity, run.logarithm_argument(totals))
    return max(contraction, 1.0 / (run.dimension * totals.xi * divisor))


def _recursion_variance(run: DescentRun, totals: Aggregates, *, rounds: int, reading: Reading) -> float:
    """Return the coefficient c of η² in the recursion from which Lowy and Razaviyayn derive Theorem 2.1 for μ > 0.

        c = 8L²/(MK) + 256 d L² R · noise_ratio

    L is the Lipschitz constant, M the mean number of participants, K the smallest batch, and d the dimension. The
    second term is the variance of the averaged noise. If only M < N clients participate, c leaves out the variance by
    sampling clients (erratum E-14); `explicit_bound.py` includes it.

    Args:
        run: the federation and the loss.
        totals: averages over the clients; `totals.noise_ratio` is the variance of the averaged noise up to a factor.
        rounds: number R of rounds.
        reading: "printed" has the second term twice (E-16), "corrected" once.

    Returns:
        The number c, in squared gradient units.
    """
    squared_lipschitz = run.lipschitz * run.lipschitz
    records = run.federation.participation.mean * run.federation.smallest_batch  # MK
    sampling = 8.0 * squared_lipschitz / records
    noise = 256.0 * squared_lipschitz * rounds * run.dimension * totals.noise_ratio
    if reading == "printed":
        return sampling + 2.0 * noise
    return sampling + noise
