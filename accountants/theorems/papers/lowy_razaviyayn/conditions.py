"""Conditions that the statements of Lowy and Razaviyayn share: the range of ε, batches, rounds and shares."""

from __future__ import annotations

import math
from collections.abc import Iterable
from fractions import Fraction

from epsilond.accountants.theorem import Condition, Outputs, Sides
from epsilond.accountants.theorems.papers.lowy_razaviyayn.noise import epsilon_limit, minimal_batch_size_real
from epsilond.accountants.theorems.papers.lowy_razaviyayn.run import BatchRunInputs
from epsilond.accountants.verdict import Verdict


def binding(every: Iterable[Sides]) -> Sides:
    """Of the same condition on several clients the one that fails most, or else comes closest to failing."""
    sides = list(every)
    failing = [one for one in sides if one.holds == Verdict.NO]

    def apart(one: Sides) -> float:
        return abs(one.left - one.right) / max(abs(one.left), abs(one.right), 1e-300)

    return max(failing, key=apart) if failing else min(sides, key=apart)


def epsilon_range(inputs: BatchRunInputs) -> Sides:
    """ε against the variant's limit."""
    return binding(
        Sides.at_most(kind.epsilon, epsilon_limit(log_delta=kind.log_delta, reading=inputs.variant))
        for kind in inputs.kinds
    )


def _large_enough_batch(inputs: BatchRunInputs, outputs: Outputs) -> Sides:
    """K against K_min at the rounds that are run; n is the client's own (E-04)."""
    return binding(
        Sides.at_least(kind.batch_size, minimal_batch_size_real(rounds=outputs["rounds"], **kind.records_and_target))
        for kind in inputs.kinds
    )


def _drawn_once(inputs: BatchRunInputs) -> Sides:
    """How often a record may be drawn into one batch, against once."""
    most = max(kind.batch_size for kind in inputs.kinds)
    return Sides.at_most(most if inputs.sampling == "with-replacement" else 1, 1)


def _shares(inputs: BatchRunInputs) -> Sides:
    """The least and the largest K_i/n_i, compared exactly."""
    shares = [Fraction(kind.batch_size, kind.samples_per_client) for kind in inputs.kinds]
    least, largest = min(shares), max(shares)
    return Sides(Verdict.of(least == largest or inputs.variant == "informal"), float(least), float(largest))


def _logarithm(*, outputs: Outputs) -> Sides:
    """The argument of the prescription's logarithm against 1; unbounded where there is none."""
    argument = outputs.get("logarithm_argument_term", math.inf)
    return Sides.above(argument, 1.0)


MINIMAL_BATCH = Condition(
    "minimal-batch-size", "K ≥ ε n/(4 √(2R ln(2/δ))), n the client's own", _large_enough_batch, of_outputs=True
)
DRAWN_ONCE = Condition("drawn-once", "no record is drawn into a batch more than once (times drawn ≤ 1)", _drawn_once)
PRESCRIBED_ROUNDS = Condition(
    "prescribed-rounds",
    "R is at least the prescribed number",
    lambda _inputs, outputs: Sides.at_least(outputs["rounds"], outputs["prescribed_rounds"]),
    of_outputs=True,
)
EQUAL_SHARES = Condition("equal-shares", "K_i/n_i is the same for all clients (least and largest)", _shares)
LOGARITHM_ABOVE_ONE = Condition(
    "logarithm", "the logarithm's argument exceeds 1 (unbounded if μ = 0)", _logarithm, of_outputs=True
)
