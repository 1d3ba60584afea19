"""Conversions of (ε, δ) guarantees: group privacy, from records to clients, and from deletion to replacement.

k neighbouring steps give (kε, (1 + e^ε + … + e^{(k−1)ε}) δ). The sum is (e^{kε} − 1)/(e^ε − 1). The papers bound it by
k e^{(k−1)ε}. All functions take and return ln δ, because δ may be below 1e-1000000. A δ of 1 or more is vacuous, and
the condition `delta-below-one` then fails.
"""

from __future__ import annotations

import math

from epsilond.accountants.formula import formula
from epsilond.accountants.numerics.outward import product_up
from epsilond.accountants.numerics.special import UNIT_ROUNDOFF
from epsilond.accountants.quantities import Epsilon, GivenLogDelta, GroupSize, SamplesPerClient, delta_outputs
from epsilond.accountants.theorem import Erratum, Grade, Outputs, Reading, Source, Status, Theorem
from epsilond.accountants.theorems.vacuous import delta_below_one


def log_group_factor(*, epsilon: float, group_size: int, reading: Reading = "corrected") -> float:
    """Compute the logarithm of the factor by which δ increases from one record to a group of k records.

    Group privacy applies the guarantee k times, from one data set to the next. The factor is 1 + e^ε + … + e^{(k−1)ε}.

    Args:
        epsilon: privacy parameter ε > 0 of one record.
        group_size: number k ≥ 1 of records.
        reading: version of the factor. "printed" is the bound k e^{(k−1)ε} of Lowy and Razaviyayn (formulas F-61 and
            F-68 of docs/catalogue). "corrected" is the sum itself, (e^{kε} − 1)/(e^ε − 1), which is not larger.

    Returns:
        The natural logarithm of the factor, at least 0.
    """
    log_last_term = (group_size - 1) * epsilon
    if reading == "printed":
        return math.log(group_size) + log_last_term

    # The exact sum, as e^{(k−1)ε} (1 − e^{−kε})/(1 − e^{−ε}), in which nothing overflows.
    log_numerator = math.log(-math.expm1(-group_size * epsilon))
    log_denominator = math.log(-math.expm1(-epsilon))
    return log_last_term + log_numerator - log_denominator


def group_log_delta(*, epsilon: float, log_delta: float, group_size: int, reading: Reading = "corrected") -> float:
    """Compute ln δ of a group of k records at kε, for a mechanism that is (ε, δ)-private for one record.

    Args:
        epsilon: privacy parameter ε > 0 of one record.
        log_delta: natural logarithm of δ of one record.
        group_size: number k ≥ 1 of records.
        reading: version of the factor of δ. "printed" is the paper's k e^{(k−1)ε}; "corrected" is the exact sum, which
            is not larger.

    Returns:
        The natural logarithm. A result of 0 or more says nothing, as δ is at most 1.
    """
    return log_delta + log_group_factor(epsilon=epsilon, group_size=group_size, reading=reading)


def record_log_delta(*, epsilon: float, log_delta: float, samples_per_client: int, reading: Reading) -> float:
    """Compute ln δ₀ of the (ε/n, δ₀)-privacy of a record at which a client with n records has (ε, δ).

    Group privacy over the n records gives the client's guarantee.

    Args:
        epsilon: ε > 0 of the client.
        log_delta: ln δ of the client.
        samples_per_client: number n of records of the client.
        reading: `printed` is the paper's δ₀ = δ/n (formula F-69 of docs/catalogue), with which the client has more
            than δ (erratum E-18). `corrected` is δ (e^{ε/n} − 1)/(e^ε − 1).

    Returns:
        The natural logarithm of δ₀.
    """
    if reading == "printed":
        return log_delta - math.log(samples_per_client)
    record_epsilon = epsilon / samples_per_client
    return group_log_delta_inverse(epsilon=record_epsilon, log_delta=log_delta, group_size=samples_per_client)


def group_log_delta_inverse(*, epsilon: float, log_delta: float, group_size: int) -> float:
    """Compute ln δ of one record at ε, from ln δ of a group of k records at kε, as the inverse of `group_log_delta`.

    Args:
        epsilon: privacy parameter ε > 0 of one record.
        log_delta: natural logarithm of δ of the group.
        group_size: number k ≥ 1 of records.

    Returns:
        The natural logarithm of the δ of one record with which the group has the given δ.
    """
    return log_delta - log_group_factor(epsilon=epsilon, group_size=group_size)


def replacement_log_delta(*, epsilon: float, log_delta: float) -> float:
    """Compute ln((1 + e^ε) δ), the logarithm of δ at 2ε for replacing a record (Lemma F.4 of Lowy and Razaviyayn).

    A replacement is a deletion followed by an insertion, so it is group privacy for two steps.

    Args:
        epsilon: privacy parameter ε ≥ 0 of adding or removing one record.
        log_delta: natural logarithm of δ of adding or removing one record.

    Returns:
        The natural logarithm. A result of 0 or more says nothing, as δ is at most 1.
    """
    return log_delta + math.log1p(math.exp(-epsilon)) + epsilon


@formula(given="A guarantee for one record, and how many records shall be protected at once.", bounded=False)
def group(
    *, epsilon: Epsilon, log_delta: GivenLogDelta, group_size: GroupSize, reading: Reading = "printed"
) -> Outputs:
    """Compute the guarantee (kε, δ_k) of a group of k records by group privacy, both rounded up.

    Args:
        epsilon: ε of one record.
        log_delta: ln δ of one record.
        group_size: number k of records.
        reading: δ_k is k e^{(k−1)ε} δ as `printed` by Lowy and Razaviyayn, or the smaller `corrected` δ (e^{kε} −
            1)/(e^ε − 1).

    Returns:
        `epsilon` in nats, and δ_k with its decimal logarithm. A δ_k of 1 or more guarantees nothing.
    """
    log_delta_of_group = group_log_delta(epsilon=epsilon, log_delta=log_delta, group_size=group_size, reading=reading)
    # The rounding is in proportion to the absolute values of the terms of ln δ_k.
    sum_of_terms = abs(log_delta) + group_size * epsilon + math.log(group_size) + 2.0 * abs(math.log(epsilon))
    rounding = 8 * UNIT_ROUNDOFF * (1.0 + sum_of_terms)
    return {"epsilon": product_up(group_size, epsilon), **delta_outputs(log_delta_of_group + rounding)}


@formula(
    given="A guarantee for one record (or the target for a client), and how many records the client has.", bounded=False
)
def client(
    *, epsilon: Epsilon, log_delta: GivenLogDelta, samples_per_client: SamplesPerClient, reading: Reading = "printed"
) -> Outputs:
    """Compute the guarantee (nε, δ_n) for replacing all n records of a client, by group privacy.

    The client is a group of n records, so the guarantee is that of `group`.

    Args:
        epsilon: ε of one record.
        log_delta: ln δ of one record.
        samples_per_client: number n of records of a client.
        reading: the formula for δ_n: `printed` as in Lowy and Razaviyayn, or the smaller `corrected` one.

    Returns:
        `epsilon` in nats, and δ_n with its decimal logarithm, both rounded up.
    """
    return group(epsilon=epsilon, log_delta=log_delta, group_size=samples_per_client, reading=reading)


@formula(
    given="A guarantee for one record (or the target for a client), and how many records the client has.", bounded=False
)
def record_target(
    *, epsilon: Epsilon, log_delta: GivenLogDelta, samples_per_client: SamplesPerClient, reading: Reading = "printed"
) -> Outputs:
    """Compute the guarantee (ε/n, δ₀) for a record at which a client with n records has a target (ε, δ).

    The conversion is by group privacy.

    Args:
        epsilon: ε of the client.
        log_delta: ln δ of the client.
        samples_per_client: number n of records of a client.
        reading: version of the formula for δ₀. `printed` is δ/n of Lowy and Razaviyayn, `corrected` a smaller one.

    Returns:
        `epsilon` and `delta`: ε/n and δ₀ of a record.
        `client_delta`: the δ that the client then has, by the exact sum of group privacy for both versions.
    """
    record_epsilon = epsilon / samples_per_client
    log_delta_of_record = record_log_delta(
        epsilon=epsilon, log_delta=log_delta, samples_per_client=samples_per_client, reading=reading
    )
    # The δ that the client has if each of its records has this guarantee.
    log_delta_of_client = group_log_delta(
        epsilon=record_epsilon, log_delta=log_delta_of_record, group_size=samples_per_client
    )
    return {
        "epsilon": record_epsilon,
        **delta_outputs(log_delta_of_record),
        **delta_outputs(log_delta_of_client, "client_delta"),
    }


@formula(given="A guarantee for adding or removing one record.", bounded=False)
def deletion(*, epsilon: Epsilon, log_delta: GivenLogDelta) -> Outputs:
    """Compute the guarantee (2ε, (1 + e^ε) δ) for replacing a record, rounded up.

    A replacement is a deletion and an insertion, so group privacy over two steps gives the guarantee (Lemma F.4 of Lowy
    and Razaviyayn).

    Args:
        epsilon: ε of adding or removing one record.
        log_delta: ln δ of adding or removing one record.

    Returns:
        `epsilon` in nats, and δ with its decimal logarithm.
    """
    log_delta_of_replacement = replacement_log_delta(epsilon=epsilon, log_delta=log_delta)
    # A bound on the rounding error of ln((1 + e^ε) δ), relative to the size of its terms.
    rounding = 8 * UNIT_ROUNDOFF * (1.0 + abs(log_delta) + epsilon)
    return {"epsilon": 2.0 * epsilon, **delta_outputs(log_delta_of_replacement + rounding)}


_TESTS = "tests/theorems/papers/lowy_razaviyayn/test_conversions.py"
MISPRINTED_PAIR = Erratum(
    "E-29",
    grade=Grade.MISPRINT,
    place="Appendix D.2, first sentence",
    printed=(
        "The sentence states that an algorithm that is locally (ε₀, δ₀)-private for each record is "
        "(nε, n e^{(n−1)ε} δ)-private for a user of n records."
    ),
    truth="The pair must be (nε₀, n e^{(n−1)ε₀} δ₀), as Section 1 states it.",
    charitable="If ε and δ are read as ε₀ and δ₀, the statement holds by group privacy.",
    test=f"{_TESTS}::test_a_client_pays_for_each_of_its_records",
)
SHARE_OF_DELTA = Erratum(
    "E-18",
    grade=Grade.UNCLEAR,
    place="Appendix G.1, after the first sentence",
    printed=(
        "For a target (ε, δ) of every client with n records, the text takes ε₀ = ε/n and δ₀ = δ/n for each record. It "
        "then applies group privacy to obtain upper bounds on the risk for both notions of privacy. It does not say "
        "which δ the client has."
    ),
    truth=(
        "These values give the client δ (e^ε − 1)/(n(e^{ε/n} − 1)). At ε = 1 and n = 100 this is 1.7 δ. The client has "
        "δ itself if δ₀ = δ (e^{ε/n} − 1)/(e^ε − 1)."
    ),
    charitable=(
        "If the client's δ is meant up to a factor of e^ε, group privacy as in Appendix D gives it. For bounded ε the "
        "bounds on the risk keep their order, since δ enters them through logarithms only."
    ),
    test=f"{_TESTS}::test_an_equal_share_of_delta_is_too_much",
)

GROUP_PRIVACY = Theorem(
    id="lowy.lemma-f.2",
    title="Group privacy",
    statement=(
        "A mechanism that is (ε, δ)-private for one record is (kε, k e^{(k−1)ε} δ)-private for k records. The exact "
        "guarantee is (kε, δ (e^{kε} − 1)/(e^ε − 1))"
    ),
    source=Source("lowy2023", "Lemma F.2"),
    status=Status.PROVED,
    conditions=(delta_below_one(),),
    formula=group,
    examples=({"epsilon": 0.1, "delta": 1e-9, "group_size": 5},),
)
CLIENT_PRIVACY = Theorem(
    id="lowy.lemma-d.2",
    title="From a record to its client",
    statement=(
        "An algorithm that is (ε₀, δ₀)-private for each record of a client of n is (nε₀, n e^{(n−1)ε₀} δ₀)-private for "
        "the client as a whole"
    ),
    source=Source("lowy2023", "Appendix D.2"),
    status=Status.PROVED,
    conditions=(delta_below_one(),),
    errata=(MISPRINTED_PAIR,),
    formula=client,
    examples=({"epsilon": 0.05, "delta": 1e-9, "samples_per_client": 20},),
)
HYBRID = Theorem(
    id="lowy.appendix-g.1",
    title="The record-level target that protects a client",
    statement=(
        "An algorithm that is (ε/n, δ/n)-private for each record of a client of n is (ε, δ(e^ε − 1)/(n(e^{ε/n} − 1)))"
        "-private for the client. With δ (e^{ε/n} − 1)/(e^ε − 1) for δ/n it is (ε, δ)-private for the client"
    ),
    source=Source("lowy2023", "Appendix G.1"),
    status=Status.PROVED,
    conditions=(delta_below_one("client_delta"),),
    errata=(SHARE_OF_DELTA,),
    formula=record_target,
    examples=({"epsilon": 1.0, "delta": 1e-6, "samples_per_client": 100},),
)
DELETION_TO_REPLACEMENT = Theorem(
    id="lowy.lemma-f.4",
    title="From deletion to replacement",
    statement=(
        "Let every report of a client be (ε, δ)-indistinguishable from one reference distribution. Any two reports are "
        "then (2ε, (1 + e^ε) δ)-indistinguishable. Thus a mechanism that is (ε, δ)-private for adding or removing a "
        "record is so for replacing one. For reports with δ = 0 within total variation δ, see lowy.lemma-f.5"
    ),
    source=Source("lowy2023", "Lemma F.4"),
    status=Status.PROVED,
    conditions=(delta_below_one(),),
    formula=deletion,
    examples=({"epsilon": 0.5, "delta": 1e-6},),
)

THEOREMS: tuple[Theorem, ...] = (GROUP_PRIVACY, CLIENT_PRIVACY, HYBRID, DELETION_TO_REPLACEMENT)
