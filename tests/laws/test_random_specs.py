"""Random specs of every kind: an answer that cannot be faulted, or a refusal that says what is wrong."""

from __future__ import annotations

import json
import math
from typing import Any

import mpmath as mp
import pytest
from hypothesis import HealthCheck, Phase, example, given, settings
from hypothesis import strategies as st

from epsilond.accountants.account import account
from epsilond.accountants.curve.curve import Curve
from epsilond.accountants.errors import InvalidInput, NoCertificate
from epsilond.accountants.specs import Composed, RandomizedResponse, Repeated
from epsilond.calibrators.accounts import AccountProblem, answer
from epsilond.calibrators.answer import as_json
from epsilond.reading import read
from tests.laws import plain_bounds, specs
from tests.laws.specs import Body

ROUNDING = 1e-9
"""What the plain bounds may be off by, per unit of 1 + |log δ|."""
LEAST_LOG_DELTA = -230.0
"""log δ from which on the bound at the smallest ε found must reach the target; below, an estimate picks a loose one."""
CHECKED: dict[str, Any] = {
    "deadline": None,
    "database": None,
    "suppress_health_check": list(HealthCheck),
    "phases": (Phase.explicit, Phase.generate),  # an answer may take a second: shrinking one would take hours
}


def answered(body: Body, effort: Any = "default") -> tuple[AccountProblem, Curve] | None:
    """The problem and its curve; None where it is refused, with a fault or a reason."""
    try:
        problem = read(AccountProblem, body)
        known = account(
            problem.spec, relation=problem.relation, unit=problem.unit, observer=problem.observer, effort=effort
        )
    except InvalidInput as refused:
        assert refused.faults
        assert all(fault.message and (fault.pointer.startswith("/") or not fault.pointer) for fault in refused.faults)
        return None
    except NoCertificate as refused:
        assert len(refused.message) > 20
        assert refused.slug in {"infeasible", "condition-violated", "beyond-budget"}
        return None
    return problem, known.guarantee.curve


def refused_or(call: Any) -> Any:
    """What the call gives; None where the work was refused with its reason."""
    try:
        return call()
    except NoCertificate as refused:
        assert len(refused.message) > 20
        return None


def check(body: Body, effort: Any = "default") -> None:
    """Every law that holds of any answer, and the plain bounds on either side."""
    found = answered(body, effort)
    if found is None:
        return
    problem, curve = found
    log_delta = math.log(problem.query.delta or 0.0)
    epsilon = refused_or(lambda: curve.epsilon(log_delta))
    if epsilon is None:
        return
    assert 0.0 <= epsilon.lower <= epsilon.upper
    places = {0.0, *(min(end, 1e9) for end in epsilon)}
    known = [(place, curve.log_delta(place)) for place in sorted(places)]
    for _, ends in known:
        assert ends.lower <= ends.upper <= 0.0
    for (_, left), (_, right) in zip(known, known[1:], strict=False):
        assert right.lower <= left.upper
    if epsilon.upper in dict(known) and log_delta >= LEAST_LOG_DELTA:
        assert not_above(dict(known)[epsilon.upper].upper, log_delta)
    for place, ends in known:
        for witness in curve.witnesses:
            assert witness.log_delta_bounds(place).lower <= ends.upper
        compare_with_plain_bounds(problem, place, ends.lower, ends.upper)


def not_above(low: float, high: float) -> bool:
    """low ≤ high, but for rounding."""
    return low <= high or low <= high + ROUNDING * (1.0 + abs(high))


def compare_with_plain_bounds(problem: AccountProblem, epsilon: float, lower: float, upper: float) -> None:
    """For one record of a batch of records: a realised event below, the run without sampling above."""
    if problem.unit != "record" or epsilon > 1e6:
        return
    with mp.workdps(plain_bounds.DIGITS):
        least = plain_bounds.below(problem.spec, problem.relation, epsilon)
        is_rounding = least < -(plain_bounds.DIGITS - 5) * math.log(10.0)  # of a difference that is exactly 0
        assert is_rounding or not_above(least, upper)
        steps = plain_bounds.gaussian_steps(problem.spec)
        if steps is not None and len(steps) <= 30:
            most = plain_bounds.unsampled(steps, problem.relation, epsilon)
            assert not_above(lower, most)
            if all(rate == 1.0 for _, rate, _ in steps):
                assert not_above(most, upper)


def rare_batches() -> Body:
    """Millions of tiny batches without replacement: for their tilts the cells of the coarse budget are too wide."""
    gaussian = {"kind": "gaussian", "noise_multiplier": 3.8736815718972566}
    batch = {"kind": "subsampled", "sampling": "without-replacement", "batch_size": 2, "population": 49253}
    spec = {"kind": "repeated", "times": 39327689, "mechanism": {**batch, "mechanism": gaussian}}
    asked = {"relation": "zero-out-one", "observer": "server", "unit": "record", "query": {"delta": 1e-300}}
    return {"spec": spec, **asked}


def silent(**around: Any) -> Body:
    """Shuffled reports that say nothing: values so close that on the grid they are equal."""
    norms = {"l1_sensitivity": 1.0, "linf_sensitivity": 0.5}
    reports = {"kind": "truncated_discrete_laplace", "noise_levels": 1, "decay_rate": 1.0, "dimension": 1, **norms}
    spec = {"kind": "shuffled", "clients": 10**9, "dimension": 1, "mechanism": reports}
    asked = {"relation": "replace-one", "observer": "shuffled-server", "unit": "client", "query": {"delta": 1e-300}}
    return {"spec": {**around, "mechanism": spec} if around else spec, **asked}


@settings(max_examples=200, derandomize=True, **CHECKED)
@given(specs.problems())
@example(silent())
@example(silent(kind="repeated", times=134))
@example(rare_batches())
def test_any_spec_is_answered_soundly_or_refused_with_a_reason(body: Body) -> None:
    check(body, "coarse")


@pytest.mark.slow
@settings(max_examples=10_000, derandomize=True, **CHECKED)
@given(specs.problems())
def test_thousands_of_specs(body: Body) -> None:
    check(body)


@settings(max_examples=15, derandomize=True, **CHECKED)
@given(specs.problems())
def test_the_served_answer_holds_no_nan_and_ends_in_order(body: Body) -> None:
    check_served(body)


@pytest.mark.slow
@settings(max_examples=500, derandomize=True, **CHECKED)
@given(specs.problems())
def test_hundreds_of_served_answers(body: Body) -> None:
    check_served(body)


def check_served(body: Body) -> None:
    """The body of /v1/accounts with a claim, through to JSON."""
    claimed = body | {"claim": {"epsilon": 1.0, **body["query"]}, "unit": "record", "observer": "server"}
    try:
        served = as_json(answer(read(AccountProblem, claimed)))
    except (InvalidInput, NoCertificate):
        return
    json.dumps(served, allow_nan=False)
    for ends in _enclosures(served):
        lower, upper = (_number(ends[side]) for side in ("lower", "upper"))
        assert lower <= upper
    for ends in (served["guarantee"]["delta"], served["meaning"]["advantage"]):
        assert 0.0 <= ends["lower"] <= ends["upper"] <= 1.0
    for rate in served["meaning"]["true_positive_rates"]:
        assert rate["false_positive_rate"] * (1 - 1e-11) <= rate["true_positive_rate"]["lower"]
        assert rate["true_positive_rate"]["upper"] <= 1.0
    assert 0.0 <= served["numerical"]["relative_width"] <= 1.0
    assert served["derivation"]


def _number(value: Any) -> float:
    return {"unbounded": math.inf, "-unbounded": -math.inf}.get(value, value) if isinstance(value, str) else value


def _enclosures(value: Any) -> list[Any]:
    if isinstance(value, dict):
        inner = [found for member in value.values() for found in _enclosures(member)]
        return [value, *inner] if {"lower", "upper"} <= value.keys() else inner
    return [found for member in value for found in _enclosures(member)] if isinstance(value, list) else []


@settings(max_examples=10, derandomize=True, **CHECKED)
@given(st.floats(math.log(1e-3), math.log(20.0)).map(math.exp), st.integers(2, 4), st.integers(1, 16), st.floats(0, 1))
@example(1.0, 2, 10, 0.3)
@example(0.5, 2, 30, 0.2)
def test_randomized_response_repeated_is_the_list_and_encloses_the_exact_sum(
    local: float, categories: int, times: int, share: float
) -> None:
    response = RandomizedResponse(epsilon=local, categories=categories)
    repeated, listed = (
        account(several, relation="replace-one").guarantee.curve
        for several in (Repeated(times=times, mechanism=response), Composed(mechanisms=(response,) * times))
    )
    for epsilon in (0.0, share * times * local):
        ends = repeated.log_delta(epsilon)
        assert ends == listed.log_delta(epsilon)
        with mp.workdps(plain_bounds.DIGITS):
            exact = plain_bounds.responses(local, categories, times, epsilon)
        assert not_above(ends.lower, exact)
        assert not_above(exact, ends.upper)
    bound = repeated.epsilon(math.log(1e-9))
    assert bound.upper <= times * local * (1 + 1e-9)


@pytest.mark.parametrize("body", [silent(), silent(kind="repeated", times=134), rare_batches()])
def test_the_given_examples_are_answered(body: Body) -> None:
    assert answered(body, "coarse") is not None


@pytest.mark.parametrize("epsilon", [12.0, 15.9, 20.0])
def test_cells_that_are_too_wide_for_a_tilt_leave_the_bound_of_a_smaller_epsilon(epsilon: float) -> None:
    known = answered(rare_batches(), "coarse")
    assert known is not None
    assert known[1].log_delta(epsilon).upper < -300.0
