"""The truncated discrete Laplace mechanism: the worst shift by exhausting all of them, products by enumeration."""

from __future__ import annotations

import dataclasses
import itertools
import json
import math
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from mpmath import mp, mpf

from epsilond.accountants.account import account
from epsilond.accountants.errors import InvalidInput
from epsilond.accountants.kinds.integers.truncated_discrete_laplace import (
    BY_L2,
    EXACT,
    Shift,
    largest_shift,
    log_survival_and_escape,
    worst_shift,
)
from epsilond.accountants.profiles.declared.concentrated_bound import concentrated_log_delta
from epsilond.accountants.specs import Repeated, Subsampled, TruncatedDiscreteLaplace
from tests.oracles.enclosure import log_of
from tests.oracles.finite import hockey_stick, joint, truncated_laplace
from tests.oracles.renyi_region import largest_delta

GOLDEN = Path(__file__).parents[2] / "golden" / "truncated_discrete_laplace.json"


def golden(name: str) -> dict[str, Any]:
    cases = json.loads(GOLDEN.read_text(encoding="utf-8"))["cases"]
    return next(case for case in cases if case["id"] == name)


def spec(**fields: Any) -> Any:
    basis = {"noise_levels": 4, "decay_rate": math.log(2.0), "dimension": 2, "l1_sensitivity": 3, "linf_sensitivity": 2}
    return TruncatedDiscreteLaplace(**{**basis, **fields})


@pytest.mark.parametrize("gamma", [Fraction(1), Fraction(3, 2), Fraction(3), Fraction(8), Fraction(20)])
def test_the_product_and_its_worst_shift_by_enumeration(gamma: Fraction) -> None:
    decay, levels = Fraction(1, 2), 4
    plain = joint([truncated_laplace(decay, levels)] * 2)
    by_shift = {
        shift: hockey_stick(plain, joint([truncated_laplace(decay, levels, k) for k in shift]), gamma)
        for shift in itertools.product(range(-2, 3), repeat=2)
        if sum(map(abs, shift)) <= 3
    }
    curve = account(spec(), relation="replace-one").guarantee.curve
    assert by_shift[2, 1] == max(by_shift.values())
    known, truth = curve.log_delta(math.log(gamma)), log_of(by_shift[2, 1])
    assert known.lower - 1e-12 <= truth <= known.upper + 1e-12
    assert known.upper - known.lower < 1e-4
    assert curve.tight


@pytest.mark.parametrize("dimension", [1, 2, 3])
def test_the_worst_shift_majorises_every_other(dimension: int) -> None:
    for l1, linf in itertools.product(range(7), range(5)):
        worst = largest_shift(dimension=dimension, l1=l1, linf=linf)
        ordered = sorted([worst.size] * worst.coordinates + [worst.remainder] + [0] * dimension, reverse=True)[
            :dimension
        ]
        for other in itertools.product(range(linf + 1), repeat=dimension):
            if sum(other) > l1:
                continue
            sums = itertools.accumulate(sorted(other, reverse=True))
            assert all(ours >= theirs for ours, theirs in zip(itertools.accumulate(ordered), sums, strict=True))


def test_the_largest_shift_within_an_l2_bound_is_one() -> None:
    for dimension, l1, linf, square in itertools.product((1, 3, 50), (0, 7, 90), (1, 4), (0, 1, 10, 33)):
        shift = largest_shift(dimension=dimension, l1=l1, linf=linf, square=square)
        assert shift.total <= l1
        assert shift.square <= square
        assert max(shift.size, shift.remainder) <= linf
        assert shift.coordinates + (shift.remainder > 0) <= dimension


def test_published_worst_shift_and_escape_probabilities() -> None:
    case = golden("ext-1")
    found = worst_shift(spec(dimension=case["d"], l1_sensitivity=case["D1"], linf_sensitivity=case["Dinf"]))
    assert [found.coordinates, found.size, found.remainder] == case["value"]
    for name in ("esc-1", "esc-k-2m", "esc-tiny", "dlt-full"):
        case = golden(name)
        one = spec(
            noise_levels=case["m"],
            decay_rate=case["alpha"],
            dimension=case.get("d", 1),
            l1_sensitivity=case["D1"],
            linf_sensitivity=case["Dinf"],
        )
        _, log_escape = log_survival_and_escape(one, worst_shift(one))
        assert log_escape / math.log(10) == pytest.approx(case["log10_delta"], rel=1e-12, abs=1e-13)


@pytest.mark.compares("epsilond.truncated-discrete-laplace")
def test_from_the_largest_common_loss_on_only_escapes_count() -> None:
    one = spec(dimension=5, l1_sensitivity=7.9, linf_sensitivity=2.5)
    curve, formula = account(one, relation="replace-one").guarantee.curve, EXACT.evaluate(one).outputs
    assert (formula["shifted_coordinates"], formula["shift"], formula["remainder"]) == (3, 2, 1)
    beyond = curve.log_delta(formula["epsilon"] * (1 + 1e-9))
    assert beyond.upper / math.log(10) == pytest.approx(formula["log10_delta"], rel=1e-10)
    esc = [sum(Fraction(1, 2) ** abs(y) for y in range(5 - k, 5)) / Fraction(23, 8) for k in (1, 2)]
    truth = 1 - (1 - esc[1]) ** 3 * (1 - esc[0])
    assert formula["log10_delta"] * math.log(10) == pytest.approx(log_of(truth), rel=1e-13)


def test_a_published_calibration_is_minimal() -> None:
    case = golden("hs-cal")
    fields = {
        "decay_rate": case["alpha"],
        "dimension": case["d"],
        "l1_sensitivity": case["D1"],
        "linf_sensitivity": case["Dinf"],
    }
    enough, fewer = (
        account(spec(noise_levels=levels, **fields), relation="replace-one").guarantee.curve.log_delta(case["eps"])
        for levels in (case["m"], case["m"] - 1)
    )
    assert enough.upper <= math.log(case["delta"]) < fewer.lower


def test_the_l2_bound_at_a_published_calibration() -> None:
    case = golden("c-cal-cifar20")
    one = spec(
        noise_levels=case["m"],
        decay_rate=case["alpha"],
        dimension=case["d"],
        l1_sensitivity=case["D1"],
        linf_sensitivity=case["Dinf"],
        l2_sensitivity=case["D2"],
    )
    guarantee = account(one, relation="replace-one").guarantee
    assert "epsilond.truncated-discrete-laplace-l2" in guarantee.theorems()
    assert math.exp(guarantee.curve.log_delta(case["eps"]).upper) == pytest.approx(case["value"], rel=1e-6)
    assert guarantee.tight == "witnessed"


def test_an_l2_bound_never_hurts_and_is_covered_by_enumeration() -> None:
    plain, bounded = spec(dimension=4, l1_sensitivity=4, linf_sensitivity=1), {"l2_sensitivity": math.sqrt(2.0) + 1e-9}
    loose = account(plain, relation="replace-one").guarantee.curve
    tight = account(
        spec(dimension=4, l1_sensitivity=4, linf_sensitivity=1, **bounded), relation="replace-one"
    ).guarantee.curve
    law, moved = truncated_laplace(Fraction(1, 2), 4), truncated_laplace(Fraction(1, 2), 4, 1)
    for gamma in (Fraction(1), Fraction(3, 2), Fraction(3)):
        truth = log_of(hockey_stick(joint([law, law]), joint([moved, moved]), gamma))
        known = tight.log_delta(math.log(gamma))
        assert known.upper <= loose.log_delta(math.log(gamma)).upper
        assert known.lower <= truth + 1e-12
        assert truth <= known.upper + 1e-12


def test_rounds_with_an_l2_bound_add_their_divergences() -> None:
    """Forty rounds of α²Δ₂²/2 = 2e-4 each are 8e-3-zCDP, far below what the ℓ1 and ℓ∞ norms alone give."""
    fields = {"noise_levels": 4000, "decay_rate": 0.01, "dimension": 400, "l1_sensitivity": 400, "linf_sensitivity": 1}
    rounds = Repeated(times=40, mechanism=spec(**fields, l2_sensitivity=2.0))
    known = account(rounds, relation="replace-one").guarantee.curve.log_delta(1.0)
    given = float(concentrated_log_delta(0.008, np.asarray(1.0)))
    assert given < known.upper < given + 0.2  # the rest is escapes
    assert known.lower <= known.upper
    without = Repeated(times=40, mechanism=spec(**fields))
    assert known.upper < account(without, relation="replace-one").guarantee.curve.log_delta(1.0).lower


def test_a_bound_below_one_step_moves_nothing() -> None:
    for fields in ({"linf_sensitivity": 0.9}, {"l1_sensitivity": 0.5}, {"l2_sensitivity": 0.99}):
        assert account(spec(**fields), relation="replace-one").guarantee.curve.log_delta(0.0).upper == -math.inf
    assert worst_shift(spec(l2_sensitivity=0.99)) == Shift(0, 0, 0)


def test_batches_amplify_both_bounds() -> None:
    base = spec(dimension=4, l1_sensitivity=4, linf_sensitivity=1, l2_sensitivity=1.5)
    drawn = Subsampled(sampling="without-replacement", batch_size=1, population=10, mechanism=base)
    inside, outside = (account(one, relation="replace-one").guarantee.curve.log_delta(0.2) for one in (drawn, base))
    assert inside.upper < outside.upper + math.log(0.1) + 1e-9


@pytest.mark.parametrize("fields", [{"noise_levels": 0}, {"dimension": 0}, {"l1_sensitivity": 0}, {"decay_rate": -1.0}])
def test_noise_that_no_run_can_have(fields: dict[str, float]) -> None:
    with pytest.raises(InvalidInput):
        spec(**fields)


# Formula of the ℓ2 bound ----------------------------------------------------------------------------------------------
@pytest.mark.compares("epsilond.truncated-discrete-laplace-l2")
@pytest.mark.parametrize(("rounds", "epsilon"), [(1, 0.8), (3, 1.5), (40, 6.0), (40, 30.0)])
def test_the_l2_bound_in_high_precision(rounds: int, epsilon: float) -> None:
    """1 − S^R + S^R δ at Rρ, S by summing the law, δ the least that the divergences of all orders allow.

    Far from ε = 0 it is the least over orders of Canonne, Kamath and Steinke's bound.
    """
    levels, alpha = 9, 0.125
    given = spec(
        noise_levels=levels, decay_rate=alpha, dimension=6, l1_sensitivity=6, linf_sensitivity=2, l2_sensitivity=2.5
    )
    outputs = BY_L2.evaluate(
        BY_L2.request(
            **{field.name: getattr(given, field.name) for field in dataclasses.fields(given) if field.name != "kind"},
            epsilon=epsilon,
            rounds=rounds,
        )
    ).outputs
    with mp.workdps(40):
        # Of squared norm 6 at most, and of coordinates at most 2: the worst by ℓ1 and ℓ∞ is (2, 2, 2).
        whole = sum((mp.exp(-mpf(alpha) * abs(y)) for y in range(-levels, levels + 1)), mpf(0))
        escape = sum((mp.exp(-mpf(alpha) * y) for y in (levels, levels - 1)), mpf(0)) / whole
        survival = (1 - escape) ** (3 * rounds)
        rho = rounds * mpf(alpha) ** 2 * 6 / 2

        def log_delta(order: mpf) -> mpf:
            return (order - 1) * (order * rho - epsilon) + order * mp.log(1 - 1 / order) - mp.log(order - 1)

        least = mp.findroot(lambda order: mp.diff(log_delta, order), mpf((epsilon + rho) / (2 * rho)) + 1)
        simple = 1 - survival + survival * mp.exp(log_delta(least))
    orders = np.concatenate(([1.0], 1.0 + np.geomspace(1e-4, 20.0 + 20.0 / math.sqrt(float(rho)), 1500)))
    allowed = largest_delta(epsilon, orders, float(rho) * orders)
    assert outputs["zcdp_rho"] == pytest.approx(float(rho), rel=1e-13)
    assert outputs["escape"] == pytest.approx(float(1 - survival), rel=1e-12)
    assert outputs["delta"] == pytest.approx(float(1 - survival + survival * allowed), rel=3e-4)
    assert mpf(outputs["delta"]) <= simple * (1 + mpf(10) ** -9)
    if epsilon > 20.0:
        assert mpf(outputs["delta"]) >= simple * (1 - mpf(10) ** -12)


NORMS = {"l1_sensitivity": 2.0, "linf_sensitivity": 1.0}
TWO_COORDINATES = {"noise_levels": 4, "decay_rate": math.log(2.0), "dimension": 2, **NORMS}


def test_the_formula_of_the_l2_bound_covers_two_rounds_by_enumeration() -> None:
    law, moved = truncated_laplace(Fraction(1, 2), 4), truncated_laplace(Fraction(1, 2), 4, 1)
    for gamma in (Fraction(3, 2), Fraction(2), Fraction(9)):
        truth = hockey_stick(joint([law] * 4), joint([moved] * 4), gamma)
        told = BY_L2.request(**TWO_COORDINATES, l2_sensitivity=1.5, epsilon=math.log(gamma), rounds=2)
        assert BY_L2.evaluate(told).outputs["delta"] >= float(truth)


def test_the_formula_of_the_l2_bound_needs_one() -> None:
    with pytest.raises(InvalidInput, match="is required by this bound"):
        BY_L2.evaluate(BY_L2.request(**TWO_COORDINATES, epsilon=1.0))
    none = BY_L2.evaluate(BY_L2.request(**TWO_COORDINATES, l2_sensitivity=0.5, epsilon=1.0)).outputs
    assert (none["delta"], none["zcdp_rho"]) == (0.0, 0.0)
