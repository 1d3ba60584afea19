"""Laws of every formula on random inputs: possible outputs, and monotone ones where more of an input is never less.

`outputs.py` has the demands: nothing negative, no probability above 1 without a failing condition, no lower bound above
its upper bound, and no lower bound on a risk above the largest possible excess.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from epsilond.accountants.errors import InvalidInput, NoCertificate
from epsilond.accountants.theorem import Evaluation, Theorem
from epsilond.reading import read
from tests.laws import domains
from tests.laws.outputs import LARGEST_EXCESS, applies, list_faults
from tests.laws.test_domains import examples_of
from tests.laws.test_extremes import FORMULAS, HEAVY, QUICK, each

SLOW = {"epsilond.levels-at-decay-rate", "epsilond.natural-pld-filter", "epsilond.spend-at-adaptive-stop"}
"""Formulas that take some tenths of a second."""
MONOTONE: tuple[tuple[str, str, int], ...] = (
    ("renyi_divergence", "order", 1),
    ("renyi_divergence", "distance", 1),
    ("renyi_divergence", "noise_std", -1),
    ("divergence", "epsilon", -1),
    ("theta", "epsilon", -1),
    ("theta", "noise_std", -1),
    ("epsilon", "delta", -1),
    ("epsilon", "local_delta", -1),
    ("epsilon", "slack_delta", -1),
    ("epsilon", "noise_multiplier", -1),
    ("epsilon", "noise_std", -1),
    ("epsilon", "rounds", 1),
    ("epsilon", "times", 1),
    ("epsilon", "rate", 1),
    ("gaussian_dp_mu", "noise_multiplier", -1),
    ("gaussian_dp_mu", "noise_std", -1),
    ("gaussian_dp_mu", "rounds", 1),
    ("log10_delta", "noise_std", -1),
    ("log10_delta", "rounds", 1),
    ("log10_delta", "times", 1),
    ("log10_delta", "lipschitz", 1),
    ("noise_std", "gaussian_dp_mu", -1),
    ("noise_std", "clipping_norm", 1),
    ("noise_std", "sensitivity", 1),
    ("excess_risk", "noise_std", 1),
    ("excess_risk", "lipschitz", 1),
    ("excess_risk", "diameter", 1),
    ("excess_risk", "dimension", 1),
    ("excess_risk", "strong_convexity", -1),
    ("excess_risk_scale", "epsilon", -1),
    ("excess_risk_scale", "lipschitz", 1),
    ("excess_risk_scale", "dimension", 1),
    ("excess_risk_scale", "samples_per_client", -1),
    ("excess_risk_scale", "strong_convexity", -1),
    ("stability", "lipschitz", 1),
    ("stability", "samples_per_client", -1),
)
"""Output, field, and the direction in which the output moves, or stays, as the field grows."""
NOT_MONOTONE = {
    ("lowy.e.1", "excess_risk_scale", "samples_per_client"),
    ("lowy.2.4", "excess_risk_scale", "samples_per_client"),
    ("lowy.lemma-e.4.strongly-convex", "excess_risk", "strong_convexity"),
    ("papernot-steinke-2022.lemma-7", "renyi_divergence", "order"),
}
"""Exceptions: a batch of all records has no sampling error, one more record has; a printed step size has a maximum;
a supremum is bounded on cells, with an excess that changes from order to order."""
ROUNDING = 1e-9
"""Relative tolerance of the monotone law: formulas state at most this error."""


def evaluate(theorem: Theorem, body: Mapping[str, Any], reading: Any) -> Evaluation | None:
    """Return the evaluation at a body, or None where the theorem rejects it."""
    try:
        return theorem.evaluate(read(theorem.inputs, body), reading)
    except (InvalidInput, NoCertificate):
        return None


def bodies_of(theorem: Theorem) -> st.SearchStrategy[dict[str, Any]]:
    """Return the strategy of bodies over the whole domain, and near the examples."""
    assert theorem.inputs is not None
    inputs = theorem.inputs
    near = st.one_of([domains.nearby(inputs, example) for example in theorem.examples])
    return st.one_of(near, near, domains.requests(inputs, theorem.examples[0]))


def check_outputs(theorem: Theorem, body: Mapping[str, Any]) -> None:
    """Demand of every reading that its outputs are possible."""
    for reading in theorem.readings:
        evaluation = evaluate(theorem, body, reading)
        faults = [] if evaluation is None else list(list_faults(theorem, body, evaluation))
        assert not faults, (theorem.id, reading, dict(body), faults)


def check_direction(theorem: Theorem, body: Mapping[str, Any], factor: float) -> None:
    """Demand that each output of `MONOTONE` moves in its direction if its field grows by the factor."""
    reading = theorem.readings[-1]
    before = evaluate(theorem, body, reading)
    if before is None or not applies(before):
        return
    for output, field, direction in MONOTONE:
        value, first = body.get(field), before.outputs.get(output)
        if not isinstance(value, int | float) or not isinstance(first, int | float):
            continue
        if (theorem.id, output, field) in NOT_MONOTONE:
            continue
        larger = math.ceil(value * factor) if isinstance(value, int) else value * factor
        after = evaluate(theorem, {**body, field: larger}, reading)
        if after is None or not applies(after):
            continue
        second = after.outputs.get(output)
        if isinstance(second, int | float):
            change = direction * (second - first) if second != first else 0.0
            assert change >= -ROUNDING * abs(first), (theorem.id, output, field, dict(body), factor, first, second)


@each([theorem for theorem in QUICK if theorem.id not in SLOW])
@settings(examples_of, max_examples=8, derandomize=True)
@given(data=st.data())
def test_outputs_are_possible(theorem: Theorem, data: st.DataObject) -> None:
    check_outputs(theorem, data.draw(bodies_of(theorem)))


@each([theorem for theorem in FORMULAS if theorem.id in SLOW])
@settings(examples_of, max_examples=3, derandomize=True)
@given(data=st.data())
def test_outputs_of_slow_formulas_are_possible(theorem: Theorem, data: st.DataObject) -> None:
    check_outputs(theorem, data.draw(bodies_of(theorem)))


@each([theorem for theorem in QUICK if theorem.id not in SLOW])
@settings(examples_of, max_examples=6, derandomize=True)
@given(data=st.data(), exponent=st.sampled_from((1e-6, 1e-2, 0.3, 2.0)))
def test_more_of_an_input_is_never_less(theorem: Theorem, data: st.DataObject, exponent: float) -> None:
    assert theorem.inputs is not None
    example = data.draw(st.sampled_from(theorem.examples))
    check_direction(theorem, data.draw(domains.nearby(theorem.inputs, example)), 10.0**exponent)


@pytest.mark.slow
@each(QUICK)
@settings(examples_of, max_examples=200)
@given(data=st.data())
def test_outputs_are_possible_everywhere(theorem: Theorem, data: st.DataObject) -> None:
    body = data.draw(bodies_of(theorem))
    check_outputs(theorem, body)
    check_direction(theorem, body, 1.0 + 10.0 ** data.draw(st.floats(-6.0, 3.0)))


@pytest.mark.slow
@each([theorem for theorem in FORMULAS if theorem.id in HEAVY])
@settings(examples_of, max_examples=5)
@given(data=st.data())
def test_outputs_of_curves_are_possible(theorem: Theorem, data: st.DataObject) -> None:
    assert theorem.inputs is not None
    example = data.draw(st.sampled_from(theorem.examples))
    check_outputs(theorem, data.draw(domains.nearby(theorem.inputs, example)))


def test_every_lower_bound_on_a_risk_is_compared_with_the_largest_excess() -> None:
    stated = {theorem.id for theorem in FORMULAS if "at least of order" in theorem.statement}
    assert stated <= set(LARGEST_EXCESS)
    assert set(LARGEST_EXCESS) <= {theorem.id for theorem in FORMULAS}
