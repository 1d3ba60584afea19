"""Statements of the main text on accelerated descent: Theorems E.1 and 2.4 of Lowy and Razaviyayn for equal clients.

Constants and some logarithms are hidden, so rounds and risks are orders of magnitude. The complete statements of the
appendix are in `accelerated_prescriptions.py`, which defines the symbols.
"""

from __future__ import annotations

import math

from epsilond.accountants.theorems.papers.lowy_razaviyayn.run import smallest_round_count
from epsilond.accountants.theorems.risk.lowy_razaviyayn.descent_prescriptions import log_or_minus_infinity
from epsilond.accountants.theorems.risk.lowy_razaviyayn.runs.reused_run import AcceleratedPrescription, ReusedRun


def informal_prescription(run: ReusedRun, *, rounds: int | None = None) -> AcceleratedPrescription:
    """Return the rounds and the excess risk of accelerated descent that Lowy and Razaviyayn state for equal clients.

    The informal statements leave out constants. They are equations (28) and (29) of Theorem E.1 for smooth losses, and
    equations (10) and (11) of Theorem 2.4 for other losses.

    Args:
        run: a federation of equal clients, and the loss.
        rounds: number R of rounds that is run; if None, the smallest number that the statement allows.

    Returns:
        The rounds that are run and that are required, the order of the excess risk in loss units, and the argument of
        the logarithm in the required rounds. The argument is infinite for a loss that is only convex, because its
        rounds contain no logarithm.
    """
    # The rounds must suffice both for the descent and for averaging out the sampled records.
    required_rounds = max(_informal_descent_rounds(run), _informal_sampling_rounds(run))
    if rounds is None:
        rounds = smallest_round_count(lambda _: required_rounds)
    argument = math.inf
    if run.strong_convexity > 0.0:
        argument = _informal_logarithm_argument(run)
    return AcceleratedPrescription(
        rounds=rounds,
        prescribed_rounds=required_rounds,
        excess_risk=_informal_excess_risk(run),
        logarithm_argument=argument,
    )


def _informal_logarithm_argument(run: ReusedRun) -> float:
    """Return DμMε²n²/(Ld), the argument of the logarithm in the main text's rounds for strongly convex losses.

    M clients with n records and privacy parameter ε each take part in a round. The loss in d dimensions has Lipschitz
    constant L and strong convexity μ, on a domain of diameter D.

    Args:
        run: a federation of equal clients (one group), and a strongly convex loss.

    Returns:
        The argument, a positive number. The statement is only meaningful if it exceeds 1.
    """
    (group,) = run.federation.groups
    effective_records = group.epsilon * group.samples_per_client  # εn
    scale = run.diameter * run.strong_convexity * run.federation.participation.mean
    return scale * effective_records * effective_records / (run.lipschitz * run.dimension)


def _informal_descent_rounds(run: ReusedRun) -> float:
    """Return the order of the rounds after which the optimisation error is at most the cost of privacy.

    The main text of Lowy and Razaviyayn states it without constants. M clients with n records each take part in a
    round, and their privacy target is (ε, δ). The loss in d dimensions has Lipschitz constant L, smoothness β and
    strong convexity μ, and D is the diameter of the domain. With l = ln(DμMε²n²/(Ld)), the order is:

        smooth, μ = 0:      √(βD√M εn/(L√d)),
        smooth, μ > 0:      √(β/μ) l,
        not smooth, μ = 0:  √M εn/√(d ln(1/δ)),
        not smooth, μ > 0:  √M εn/√(d ln(1/δ)) · l.

    Args:
        run: a federation of equal clients (one group), and the loss.

    Returns:
        The order of the number of rounds, not rounded. It is negative, or −∞, if the argument of the logarithm is below
        1.
    """
    (group,) = run.federation.groups
    participants = run.federation.participation.mean
    effective_records = group.epsilon * group.samples_per_client  # εn
    log_factor = 1.0
    if run.strong_convexity != 0.0:
        log_factor = log_or_minus_infinity(_informal_logarithm_argument(run))

    if not run.is_smooth:
        private_dimension = run.dimension * -group.log_delta  # d ln(1/δ)
        return math.sqrt(participants / private_dimension) * effective_records * log_factor
    if run.strong_convexity > 0.0:
        return math.sqrt(run.smoothness / run.strong_convexity) * log_factor
    scaled_curvature = run.smoothness * run.diameter * effective_records / run.lipschitz
    return math.sqrt(scaled_curvature * math.sqrt(participants / run.dimension))


def _informal_sampling_rounds(run: ReusedRun) -> float:
    """Return the rounds that Lowy and Razaviyayn require to average out the sampling of records, up to constants.

    The number is ε²n²Φ̂²/(K d ln(1/δ) L²). Each client has n records, batches of K and the target (ε, δ). The loss in d
    dimensions has Lipschitz constant L. Φ̂ is the standard deviation of a record's gradient, and L for a loss that is
    not smooth.

    Args:
        run: a federation of equal clients (one group), and the loss.

    Returns:
        The order of the number of rounds, not rounded to an integer. It is 0 if a round uses all records.
    """
    if not run.leaves_records_out("printed"):
        return 0.0
    (group,) = run.federation.groups
    effective_records = group.epsilon * group.samples_per_client  # εn
    relative_variance = 1.0  # (Φ̂/L)²
    if run.is_smooth:
        relative_variance = (run.empirical_gradient_std / run.lipschitz) ** 2
    private_dimension = run.dimension * -group.log_delta  # d ln(1/δ)
    return effective_records * effective_records * relative_variance / (group.batch_size * private_dimension)


def _informal_excess_risk(run: ReusedRun) -> float:
    """Return the order of the excess risk in the main text of Lowy and Razaviyayn, without constants.

    It is:

        LD √(c/M)/(εn) for strong convexity μ = 0,  and  L²c/(μ(εn)²M) for μ > 0,

    with c = d ln(2/δ) for smooth losses and c = d ln(1/δ) for others. M clients with n records and the target (ε, δ)
    each take part in a round. L is the Lipschitz constant, d the dimension, and D the diameter of the domain.

    Args:
        run: a federation of equal clients (one group), and the loss.

    Returns:
        The order of the excess risk, in loss units.
    """
    (group,) = run.federation.groups
    participants = run.federation.participation.mean
    effective_records = group.epsilon * group.samples_per_client  # εn
    log_numerator = math.log(2.0) if run.is_smooth else 0.0  # ln 2 or ln 1, of ln(2/δ) or ln(1/δ)
    privacy_factor = run.dimension * (log_numerator - group.log_delta)  # c
    if run.strong_convexity == 0.0:
        return run.lipschitz * run.diameter * math.sqrt(privacy_factor / participants) / effective_records
    divisor = run.strong_convexity * effective_records * effective_records * participants
    return run.lipschitz * run.lipschitz * privacy_factor / divisor


def speedup(run: ReusedRun) -> float:
    """Return the factor by which Theorem 2.4 of Lowy and Razaviyayn needs fewer rounds than earlier results.

    It is min{√M εn/√d, MK} for convex losses (equation (10)), without constants and logarithms. M equal clients take
    part in a round. Each has a batch of K of its n records and the privacy parameter ε. The model has d coordinates.

    Args:
        run: a federation of equal clients (one group), and the loss.

    Returns:
        The order of the factor, a positive number.
    """
    (group,) = run.federation.groups
    participants = run.federation.participation.mean
    effective_records = group.epsilon * group.samples_per_client  # εn
    by_privacy = math.sqrt(participants / run.dimension) * effective_records
    by_batches = participants * group.batch_size
    return min(by_privacy, by_batches)
