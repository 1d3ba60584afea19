"""qtdl: the tables of the errata, the printed bits, and every certified answer against enumeration."""

from __future__ import annotations

import itertools
import json
import math
from typing import Any

import pytest
from mpmath import exp, mp, mpf

from epsilond.accountants.errors import Infeasible, InvalidInput
from epsilond.accountants.numerics.truncated_laplace import variance
from epsilond.calibrators.answer import Calibration, as_json
from epsilond.calibrators.qtdl.calibrator import CALIBRATOR
from epsilond.calibrators.qtdl.problem import METHODS, QtdlProblem
from tests.answers import remembered
from tests.theorems.papers.das.test_truncated_noise import enumerated

SMALL: dict[str, Any] = {
    "epsilon": 0.8,
    "delta": 1e-3,
    "dimension": 2,
    "quantization_levels": 4,
    "l1_sensitivity": 3.0,
    "linf_sensitivity": 2.0,
    "relation": "replace-one",
    "unit": "record",
    "observer": "server",
}


def problem(**changes: Any) -> QtdlProblem:
    fields = {**SMALL, **changes}
    return QtdlProblem(**{name: value for name, value in fields.items() if value is not None})


@remembered
def solved(**changes: Any) -> Calibration:
    return CALIBRATOR.solve(problem(**changes))


def published(**changes: Any) -> dict[str, Any]:
    none = {"l1_sensitivity": None, "linf_sensitivity": None}
    return {**none, **changes}


def relative(dimension: int, s: int, epsilon: float, delta: float, **changes: Any) -> Calibration:
    rule = {"kind": "relative", "relative_movement": 0.1}
    fields = published(
        dimension=dimension, quantization_levels=s, epsilon=epsilon, delta=delta, sensitivity_rule=rule, **changes
    )
    return solved(**fields)


def unit(dimension: int, **changes: Any) -> Calibration:
    fields = published(
        dimension=dimension, quantization_levels=64, epsilon=0.3, delta=1e-6, sensitivity_rule={"kind": "unit-vector"}
    )
    return solved(**{**fields, **changes})


# (dimension, s, ε, δ): m, t and std of A, B, C, C+; printed m and t; log10(1 − δ) of the truth
EXPERIMENTS = [
    (328810, 64, (947389, 21, 1461), (23255, 16, 27.38), (12758, 15, 14.35), (737, 11, 0.9131), (9, 8), -19620),
    (328810, 4096, (1278820, 22, 30.81), (173920, 19, 3.547), (17427, 16, 0.3026), (5825, 15, 0.09848), (413, 14), -648),
    (2210410, 512, (6442495, 24, 1242), (156199, 19, 22.97), (35101, 17, 4.704), (3144, 13, 0.4509), (54, 11), -24540),
    (
        2210410, 2**20, (229728405, 29, 21.62), (36795396, 27, 2.963), (1310216, 23, 0.08188), (1293170, 23, 0.08007),
        (105205, 22), -458,
    ),
]  # fmt: skip
GAUSSIAN_ROWS = [
    (1, (2133, 13, 0.4879), (2133, 13, 0.4879), (2133, 13, 0.4879), (2124, 13, 0.4787)),
    (2, (3042, 13, 0.6996), (3042, 13, 0.6996), (3042, 13, 0.6996), (3007, 13, 0.6812)),
    (10, (7216, 14, 1.666), (7216, 14, 1.666), (7216, 14, 1.666), (6882, 14, 1.565)),
    (100, (28312, 16, 6.554), (28312, 16, 6.554), (13922, 15, 2.855), (10881, 15, 2.203)),
    (10000, (997994, 21, 231.2), (221360, 19, 43.29), (57452, 17, 10.07), (17257, 16, 3.054)),
    (1000000, (81490078, 28, 1.888e4), (2318209, 23, 390.9), (537515, 21, 82.26), (58528, 17, 9.655)),
]
TRIVIAL_ROWS = [
    (1, (5151, 14, 9.426), (5151, 14, 9.426), (5151, 14, 9.426)),
    (2, (10235, 15, 18.85), (10235, 15, 18.85), (7324, 14, 13.48)),
    (10, (50916, 17, 94.26), (50916, 17, 94.26), (16508, 16, 30.49)),
    (100, (508582, 20, 942.5), (229327, 19, 377.4), (26997, 16, 44.27)),
    (10000, (50851890, 27, 9.425e4), (2727928, 23, 3847), (52186, 17, 73.15)),
    (1000000, (5085182673, 34, 9.425e6), (31281374, 26, 3.826e4), (295641, 20, 361.9)),
]


def thin(rows: list[Any]) -> list[Any]:
    """The first row and the last; those between are slow."""
    return [rows[0], *(pytest.param(row, marks=pytest.mark.slow) for row in rows[1:-1]), rows[-1]]


def no_worse(answer: Calibration, column: tuple[int, int, float]) -> None:
    levels, bits, std = column
    assert answer.parameters.noise_levels <= levels
    assert answer.communication is not None
    assert answer.communication.bits_per_coordinate <= bits
    # The fewest levels may come with a share of δ for rounding that has a little more noise than the column's.
    assert answer.parameters.noise_std <= std * (1.0 + (5.1e-4 if answer.parameters.noise_levels == levels else 1e-2))
    assert answer.guarantee.log10_delta.upper <= answer.guarantee.target.log10_delta


@pytest.mark.parametrize("row", thin(EXPERIMENTS), ids=lambda row: f"{row[0]}-{row[1]}")
def test_the_experiments_of_the_paper(row: Any) -> None:
    dimension, s, a, b, c, c_plus, (printed_levels, printed_bits), truth = row
    best = relative(dimension, s, 10.0, 3e-6)
    for column in (a, b, c, c_plus):
        no_worse(best, column)
    for method, column in (("escape", a), ("hockey-stick", b), ("concentrated", c), ("concentrated-coupled", c_plus)):
        no_worse(relative(dimension, s, 10.0, 3e-6, method=method), column)
    printed = best.readings[0]
    assert (printed.theorem, printed.status) == ("das.1", "refuted")
    assert (printed.parameters["noise_levels"], printed.parameters["bits_per_coordinate"]) == (
        printed_levels,
        printed_bits,
    )
    assert printed.claims.log10_delta == pytest.approx(-dimension * math.log10(2.0), rel=1e-12)
    assert printed.true is not None
    assert printed.true.delta.lower > 1 - 1e-15
    assert printed.true.epsilon.lower == math.inf
    assert printed.true.log10_one_minus_delta == pytest.approx(truth, rel=2e-3)
    assert {"printed-theorem-refuted", "binomial-beyond-its-proof"} <= {one.code for one in best.warnings}


@pytest.mark.parametrize("row", thin(GAUSSIAN_ROWS), ids=lambda row: str(row[0]))
def test_a_tenth_of_relative_movement(row: Any) -> None:
    dimension, a, b, c, c_plus = row
    best = relative(dimension, 512, 0.3, 1e-6)
    for column in (a, b, c, c_plus):
        no_worse(best, column)
    no_worse(relative(dimension, 512, 0.3, 1e-6, method="escape"), a)
    no_worse(relative(dimension, 512, 0.3, 1e-6, method="hockey-stick"), b)


@pytest.mark.parametrize("row", thin(TRIVIAL_ROWS), ids=lambda row: str(row[0]))
def test_any_two_updates(row: Any) -> None:
    dimension, a, b, c = row
    no_worse(unit(dimension), c)
    for method, column in (("escape", a), ("hockey-stick", b)):
        no_worse(unit(dimension, sensitivity_rule={"kind": "trivial"}, method=method), column)


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"method": "escape"},
        {"method": "hockey-stick"},
        {"method": "concentrated", "l2_sensitivity": 2.3},
        {"epsilon": 0.1, "delta": 0.05, "method": "hockey-stick"},
    ],
)
def test_certified_noise_by_enumeration(changes: dict[str, Any]) -> None:
    """Every integer shift within the norms, from the definition."""
    answer = solved(**changes)
    asked = problem(**changes)
    rate, levels = answer.parameters.decay_rate, answer.parameters.noise_levels
    square = math.inf if asked.l2_sensitivity is None else asked.l2_sensitivity**2
    shifts = [
        shift
        for shift in itertools.product(range(3), repeat=2)
        if sum(shift) <= 3 and shift[0] >= shift[1] and sum(k * k for k in shift) <= square
    ]
    worst = max(enumerated(rate, levels, shift, asked.epsilon) for shift in shifts)
    assert worst <= asked.delta
    assert worst <= answer.guarantee.delta.upper * (1 + 1e-12)
    assert worst >= answer.guarantee.delta.lower * (1 - 1e-12)
    assert answer.parameters.noise_std == pytest.approx(math.sqrt(variance(rate, levels)) / 4, rel=1e-14)
    assert answer.guarantee.minimal == "proved"


@pytest.mark.parametrize("s", [16, 256])
def test_no_single_proof_needs_less_than_the_best(s: int) -> None:
    rule = {"kind": "relative", "relative_movement": 0.1}
    given = published(dimension=600, quantization_levels=s, epsilon=0.5, delta=1e-7, sensitivity_rule=rule)
    best, *each = (solved(**given, method=method).parameters for method in (None, *METHODS))
    assert (best.noise_levels, best.variance) == min((one.noise_levels, one.variance) for one in each)


def test_rounds_are_composed_not_added() -> None:
    one, many = solved(method="hockey-stick"), solved(method="hockey-stick", rounds=50)
    assert many.parameters.noise_levels < 50 * one.parameters.noise_levels
    escape = solved(method="escape", rounds=50)
    assert escape.parameters.decay_rate == pytest.approx(0.8 / 150, rel=1e-15)
    with mp.workdps(40):  # one minus the survival of the worst shift over all rounds
        m, rate = escape.parameters.noise_levels, mpf(escape.parameters.decay_rate)
        weights = {y: exp(-rate * abs(y)) for y in range(-m, m + 1)}
        total = sum(weights.values())
        kept = [1 - sum(weights[y] for y in range(m - k + 1, m + 1)) / total for k in (2, 1)]
        truth = 1 - (kept[0] * kept[1]) ** 50
        assert escape.guarantee.delta.lower * (1 - 1e-9) <= truth <= min(escape.guarantee.delta.upper, 1e-3)


@pytest.mark.parametrize("log10_delta", [-300.0, -3010.3, -301030.0])
def test_targets_below_every_double(log10_delta: float) -> None:
    answer = solved(
        delta=None,
        log10_delta=log10_delta,
        dimension=10**9,
        l1_sensitivity=128e9,
        linf_sensitivity=128.0,
        method="escape",
    )
    assert answer.guarantee.log10_delta.upper <= log10_delta
    assert answer.guarantee.minimal == "proved"
    assert answer.parameters.noise_levels > 2**53 or log10_delta > -1e5
    served = as_json(answer)
    json.dumps(served, allow_nan=False)
    if answer.parameters.noise_levels >= 2**53:
        assert int(served["parameters"]["noise_levels_exact"]) == answer.parameters.noise_levels


def test_communication_beside_other_encodings() -> None:
    answer = relative(10000, 512, 1.0, 1e-6, rounds=1, participants=7)
    sent = answer.communication
    assert sent is not None
    assert sent.beside is not None
    assert sent.total_bits == int(sent.bits_per_coordinate) * 10000 * 7
    assert sent.beside.float32_total_bits == 32 * 10000 * 7
    assert sent.beside.binomial_bits_per_coordinate is not None
    assert sent.beside.binomial_bits_per_coordinate > sent.bits_per_coordinate
    beyond = relative(10000, 512, 1.01, 1e-6).communication
    assert beyond is not None
    assert beyond.beside is not None
    assert beyond.beside.binomial_bits_per_coordinate is None


def test_rounding_may_spend_a_given_share() -> None:
    distances = {"update_l1": 10.0, "update_l2": 0.1, "update_linf": 0.1}
    fields = published(dimension=10000, quantization_levels=512, epsilon=1.0, delta=1e-6)
    likely = solved(**fields, sensitivity_rule={"kind": "hoeffding", "failure_delta": 1e-8, **distances})
    certain = solved(**fields, sensitivity_rule={"kind": "coupled", **distances})
    assert likely.parameters.log10_failure_delta == pytest.approx(-8.0)
    assert likely.guarantee.delta.upper <= 1e-6
    assert likely.parameters.noise_std < certain.parameters.noise_std
    assert certain.parameters.log10_failure_delta is None
    # Where rounding would spend all of δ, the certain distances are left.
    spent = {"kind": "hoeffding", "failure_delta": 1e-5, **distances}
    fallback = solved(**fields, sensitivity_rule=spent, method="concentrated-coupled")
    assert fallback.parameters.log10_failure_delta is None


def test_more_levels_than_are_offered() -> None:
    with pytest.raises(Infeasible):
        solved(
            delta=None,
            log10_delta=-1e9,
            epsilon=1e-9,
            dimension=10**9,
            l1_sensitivity=128e9,
            linf_sensitivity=128.0,
            method="escape",
        )


def test_printed_levels_that_are_not_defined() -> None:
    answer = solved(epsilon=1.3)
    printed = answer.readings[0]
    assert printed.parameters == {}
    assert printed.true is None
    assert {one.id for one in printed.conditions if one.holds == "no"} == {"epsilon-range", "levels-defined"}
    assert "printed-condition-fails" in {one.code for one in answer.warnings}
    assert solved(readings=()).readings == ()


def test_where_the_printed_theorem_happens_to_hold() -> None:
    one = solved(dimension=1, epsilon=0.3, l1_sensitivity=8.0, linf_sensitivity=8.0).readings[0]
    assert one.true is not None
    assert one.true.delta.upper == pytest.approx(0.362329854443123, rel=1e-9)
    assert one.true.epsilon.upper <= 0.3


def test_values_that_do_not_move_need_no_noise_to_speak_of() -> None:
    answer = solved(l1_sensitivity=0.5, linf_sensitivity=0.5)
    assert answer.parameters.noise_levels == 1
    assert answer.guarantee.delta.upper <= 1e-300


@pytest.mark.parametrize(
    ("changes", "pointer"),
    [
        ({"l1_sensitivity": None}, "/l1_sensitivity"),
        ({"l1_sensitivity": None, "linf_sensitivity": None}, "/l1_sensitivity"),
        ({"sensitivity_rule": {"kind": "trivial"}}, "/sensitivity_rule"),
        ({"method": "concentrated"}, "/method"),
        ({"method": "concentrated-coupled"}, "/method"),
        ({"observer": "final-model"}, "/observer"),
        ({"log10_delta": -3.0}, "/delta"),
        (published(sensitivity_rule={"kind": "coupled"}), "/sensitivity_rule/update_l1"),
        (
            published(sensitivity_rule={"kind": "trivial", "relative_movement": 0.1}),
            "/sensitivity_rule/relative_movement",
        ),
        (published(sensitivity_rule={"kind": "trivial", "failure_delta": 0.1}), "/sensitivity_rule/failure_delta"),
        (published(sensitivity_rule={"sort": "trivial"}), "/sensitivity_rule"),
    ],
)
def test_problems_that_no_run_can_have(changes: dict[str, Any], pointer: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        problem(**changes)
    assert pointer in {fault.pointer for fault in caught.value.faults}


def test_cost() -> None:
    assert CALIBRATOR.cost(problem(method="escape")) == "closed-form"
    assert CALIBRATOR.cost(QtdlProblem(**CALIBRATOR.example)) == "search"
