"""The theorem objects of these families: their conditions at the edge and beyond it, finite examples, a citation."""

import math
from collections.abc import Callable
from operator import eq, ge, gt, le, lt
from typing import Any

import pytest

from epsilond.accountants.bibliography import WORKS
from epsilond.accountants.errors import InvalidInput
from epsilond.accountants.formula import in_doubles
from epsilond.accountants.theorem import Theorem
from epsilond.accountants.theorems.composition import classical as classical_composition
from epsilond.accountants.theorems.conversions import groups as conversions
from epsilond.accountants.theorems.mechanisms import gaussian_calibration
from epsilond.accountants.theorems.papers.lowy_razaviyayn import noise
from epsilond.accountants.theorems.papers.lowy_razaviyayn.noise import epsilon_limit
from epsilond.accountants.theorems.risk.lowy_razaviyayn import explicit_bound, smooth_losses
from epsilond.accountants.theorems.risk.lowy_razaviyayn.lemmas import (
    descent_lemmas,
    gradient_variance,
    noisy_descent,
    stability,
)
from epsilond.accountants.verdict import Verdict

FAMILIES = (
    *(gaussian_calibration, classical_composition, conversions, noise, explicit_bound, smooth_losses),
    *(descent_lemmas, gradient_variance, noisy_descent, stability),
)
THEOREMS: dict[str, Theorem] = {theorem.id: theorem for family in FAMILIES for theorem in family.THEOREMS}

LOG_DELTA = math.log(1e-5)
CHAIN = {"samples_per_client": 64, "rounds": 8, "batch_size": 64, "lipschitz": 1.0, "log10_delta": -5.0}
EXAMPLES = {name: theorem.examples[0] for name, theorem in THEOREMS.items() if theorem.examples}
EXAMPLES["epsilond.mini-batch-sgd-noise"] = CHAIN
LIMIT = 8.0 * (math.log(2.0) + 5.0 * math.log(10.0))
COMPLETE = epsilon_limit(log_delta=LOG_DELTA, reading="complete")
INFORMAL = epsilon_limit(log_delta=LOG_DELTA, reading="informal")


def least_epsilon(batch: int) -> float:
    """ε at which K_min is `batch` of 64 records, R = 8."""
    return batch / 64 * 4.0 * math.sqrt(16.0 * (math.log(2.0) + 5.0 * math.log(10.0)))


def fraction_below(value: float) -> float:
    return value * (1.0 - 1e-12)


Sign = Callable[[float, float], bool]
JUST_ABOVE, JUST_BELOW = 1 + 2**-50, 1 - 2**-50
ONE_LARGE = {"clients": 5, "samples_per_client": 2000, "batch_size": 201}
EDGES: list[tuple[str, str, Sign, dict[str, Any], dict[str, Any], dict[str, Any]]] = [
    ("dwork-roth-2014.a.1", "epsilon-at-most-one", le, {}, {}, {"epsilon": 1.0 + 2**-52}),
    ("ullman-2017.amplification", "epsilon-at-most-one", le, {}, {}, {"epsilon": 1.0 + 2**-52}),
    (
        *("bun-steinke-2016.proposition-1.3", "epsilon-range", le, {}),
        *({"epsilon": -8.0 * LOG_DELTA}, {"epsilon": -8.0 * LOG_DELTA * JUST_ABOVE}),
    ),
    (
        *("lowy.corollary-f.1", "round-epsilon", le, {"deltas": (0.0, 0.0)}),
        *({"epsilons": (0.1, 1.2564)}, {"epsilons": (1.2565, 0.1)}),
    ),
    *(
        (
            *(name, "delta-below-one", lt, {"epsilons": (0.5,), "deltas": (0.25,), "times": 3}),
            *({"slack_delta": 0.2499}, {"slack_delta": 0.2501}),
        )
        for name in ("dwork-roth-2014.3.20", "kairouz-oh-viswanath-2015.3.5", "lowy.corollary-f.1")
    ),
    *(
        (name, "delta-below-one", lt, {}, {"delta": 0.999 * edge}, {"delta": 1.001 * edge})
        for name, edge in (
            ("lowy.lemma-f.4", 1.0 / (1.0 + math.exp(0.5))),
            ("lowy.appendix-g.1", 100.0 * math.expm1(0.01) / math.expm1(1.0)),
        )
    ),
    ("lowy.lemma-f.2", "delta-below-one", lt, {"epsilon": 1e-12, "group_size": 5}, {"delta": 0.1999}, {"delta": 0.2}),
    (
        *("lowy.lemma-d.2", "delta-below-one", lt, {"epsilon": 1e-12, "samples_per_client": 20}),
        *({"delta": 0.0499}, {"delta": 0.05}),
    ),
    (
        *("epsilond.mini-batch-sgd-noise", "epsilon-range", le, {}),
        *({"epsilon": fraction_below(LIMIT)}, {"epsilon": LIMIT * (1 + 1e-12)}),
    ),
    (
        *("epsilond.mini-batch-sgd-noise", "minimal-batch-size", ge, {"batch_size": 16}),
        *({"epsilon": fraction_below(least_epsilon(16))}, {"epsilon": least_epsilon(16) * (1 + 1e-12)}),
    ),
    (
        *("epsilond.mini-batch-sgd-noise", "drawn-once", le, {"epsilon": 1.0, "sampling": "with-replacement"}),
        *({"batch_size": 1}, {"batch_size": 2}),
    ),
    (
        *("lowy.2.1", "epsilon-range", le, {"batch_size": 1000}),
        *({"epsilon": COMPLETE}, {"epsilon": COMPLETE * (1 + 1e-12)}),
    ),
    (
        *("lowy.2.1", "epsilon-range", le, {"variant": "informal"}),
        *({"epsilon": INFORMAL}, {"epsilon": epsilon_limit(log_delta=LOG_DELTA) * (1 + 1e-12)}),
    ),
    ("lowy.2.1", "minimal-batch-size", ge, {"rounds": 2}, {"batch_size": 36}, {"batch_size": 35}),
    ("lowy.2.1", "drawn-once", le, {"sampling": "with-replacement"}, {"batch_size": 1}, {"batch_size": 2}),
    ("lowy.2.1", "prescribed-rounds", ge, {}, {"rounds": 57}, {"rounds": 56}),
    (
        *("lowy.2.1", "equal-shares", eq, {}),
        {"client_groups": [{"clients": 5, "samples_per_client": n} for n in (1000, 2000)]},
        {"client_groups": [{"clients": 5, "samples_per_client": 1000}, ONE_LARGE]},
    ),
    ("lowy.2.1", "client-sampling", ge, {"participants": 9}, {"rounds": 230}, {"rounds": 229}),
    ("lowy.2.1", "client-sampling", ge, {"participants": 9, "variant": "informal"}, {"rounds": 1000}, {"rounds": 999}),
    ("lowy.2.1", "client-sampling", ge, {"participants": 9, "strong_convexity": 1.0}, {"rounds": 230}, {"rounds": 229}),
    (
        *("lowy.2.1", "logarithm", gt, {"variant": "informal"}),
        *({"strong_convexity": 1.0001e-6}, {"strong_convexity": 0.9999e-6}),
    ),
    ("lowy.lemma-e.2", "several-records", gt, {"samples_per_client": 1}, {"participants": 2}, {"participants": 1}),
    *(
        (name, "step-size", le, {}, {"step_size": edge}, {"step_size": edge * JUST_ABOVE})
        for name, edge in (
            ("lowy.lemma-e.2", 0.5),
            ("lowy.lemma-e.3", 0.8),
            ("lowy.lemma-e.4", 0.125),
            ("lowy.lemma-e.4.strongly-convex", 0.125),
        )
    ),
    ("epsilond.mini-batch-sgd-excess-risk", "step-size", lt, {}, {"step_size": 0.5 * JUST_BELOW}, {"step_size": 0.5}),
    ("lowy.lemma-e.5-erm", "all-participate", ge, {}, {}, {"participants": 9}),
    ("lowy.lemma-e.9", "curvature", ge, {}, {"curvature": 0.1}, {"curvature": 0.1 * JUST_BELOW}),
]
"""Theorem, condition and its sign, changes of the example, and what holds at the edge and fails just beyond it."""


@pytest.mark.parametrize(
    ("name", "condition", "sign", "given", "holding", "failing"), EDGES, ids=[f"{row[0]}-{row[1]}" for row in EDGES]
)
def test_a_condition_holds_up_to_its_edge_and_fails_beyond(
    name: str, condition: str, sign: Sign, given: dict[str, Any], holding: dict[str, Any], failing: dict[str, Any]
) -> None:
    theorem = THEOREMS[name]
    assert theorem.inputs is not None
    for fields, holds in ((holding, True), (failing, False)):
        evaluation = theorem.evaluate(theorem.inputs(**{**EXAMPLES[name], **given, **fields}))
        (result,) = (one for one in evaluation.conditions if one.id == condition)
        assert result.holds == Verdict.of(holds)
        assert result.left is not None
        assert result.right is not None
        assert sign(result.left, result.right) is holds


def test_every_checked_condition_stands_in_the_table() -> None:
    checked = {(theorem.id, each.id) for theorem in THEOREMS.values() for each in theorem.conditions if each.checked}
    assert checked == {row[:2] for row in EDGES}


def test_what_cannot_be_checked_is_never_called_true() -> None:
    for theorem in THEOREMS.values():
        for condition in theorem.conditions:
            if not condition.checked:
                assert condition.at(None).holds == "undecidable"


@pytest.mark.parametrize(
    "theorem", [pytest.param(theorem, id=theorem.id) for theorem in THEOREMS.values() if theorem.formula]
)
def test_examples_evaluate_in_every_reading(theorem: Theorem) -> None:
    assert theorem.inputs is not None
    assert theorem.examples
    for fields in theorem.examples:
        for reading in theorem.readings:
            outputs = theorem.evaluate(theorem.inputs(**fields), reading).outputs
            assert outputs
            assert all(math.isfinite(value) for value in outputs.values() if not isinstance(value, list))
            assert all(math.isfinite(value) for group in outputs.get("groups", ()) for value in group.values())


def test_citations() -> None:
    assert WORKS["lowy2023"].citation == (
        "Andrew Lowy, Meisam Razaviyayn. Private Federated Learning Without a Trusted Server: Optimal Algorithms for "
        "Convex Losses. International Conference on Learning Representations, 2023, arXiv:2106.09779."
    )
    assert "arXiv" not in WORKS["ullman2017"].citation


def test_scales_whose_squares_are_no_doubles_are_refused() -> None:
    """A bound whose square underflowed would be 0, and none."""
    theorem = THEOREMS["epsilond.mini-batch-sgd-excess-risk"]
    assert theorem.inputs is not None
    for changes in ({"initial_distance": 1e-170}, {"noise_std": 1e160}, {"lipschitz": 1e-101}):
        with pytest.raises(InvalidInput) as raised:
            theorem.inputs(**{**theorem.examples[0], **changes})
        assert [fault.pointer for fault in raised.value.faults] == [f"/{name}" for name in changes]
    tiny = theorem.evaluate(theorem.inputs(**{**theorem.examples[0], "initial_distance": 1e-100})).outputs
    assert tiny["excess_risk"] > 0.0


def test_a_figure_beyond_the_doubles_is_refused_and_no_error() -> None:
    for broken in (lambda: {"x": 1.0 / float("0")}, lambda: {"x": math.exp(1e9)}, lambda: {"x": math.nan}):
        with pytest.raises(InvalidInput):
            in_doubles(broken)()
    assert in_doubles(lambda: {"x": math.inf})() == {"x": math.inf}
