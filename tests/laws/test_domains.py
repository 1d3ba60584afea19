"""Every calibrator and every risk bound over its whole domain: it answers or refuses, and what it answers can be."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, event, given, settings
from hypothesis import strategies as st

from epsilond.accountants.errors import InvalidInput, NoCertificate
from epsilond.accountants.theorems import THEOREMS
from epsilond.calibrators import CALIBRATORS
from epsilond.calibrators.answer import as_json
from epsilond.calibrators.risk.bounder import RISK_BOUNDS
from epsilond.reading import read
from tests.laws import domains

ENTRIES = [("calibration", entry) for entry in CALIBRATORS] + [("risk bounds", entry) for entry in RISK_BOUNDS]
ROUNDING = 1e-12
"""A target is echoed as a decimal logarithm, and met in natural ones."""

each_entry = pytest.mark.parametrize(
    "entry", [pytest.param(entry, id=f"{kind} {entry.name}") for kind, entry in ENTRIES]
)
examples_of = settings(
    deadline=None, database=None, suppress_health_check=list(HealthCheck), phases=[Phase.explicit, Phase.generate]
)


def enclosures(value: Any, place: str = "") -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Every {lower, upper} of an answer, with its place."""
    if isinstance(value, Mapping):
        if {"lower", "upper"} == set(value) and not isinstance(value["lower"], Mapping | list):
            yield place, value
        for name, item in value.items():
            yield from enclosures(item, f"{place}/{name}")
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from enclosures(item, f"{place}/{index}")


def number(value: Any) -> float:
    """A served number; an infinite one is a word."""
    return float(value.replace("unbounded", "inf")) if isinstance(value, str) else float(value)


def faults(answer: Mapping[str, Any]) -> list[str]:
    """What cannot be in an answer: ends in the wrong order, negative ε, δ above 1, a target that is not met."""
    found = []
    for place, ends in enclosures(answer):
        lower, upper = number(ends["lower"]), number(ends["upper"])
        name = place.rpartition("/")[2]
        if not lower <= upper:
            found.append(f"{place}: {lower} > {upper}")
        if name in ("epsilon", "delta") and not lower >= 0:
            found.append(f"{place}: {lower} is negative")
        if (name == "delta" and not upper <= 1) or (name == "log10_delta" and not upper <= 0):
            found.append(f"{place}: {upper} is above 1")
    guarantee, parameters = answer.get("guarantee", {}), answer.get("parameters", {})
    for name in ("epsilon", "log10_delta"):
        wanted, got = guarantee.get("target", {}).get(name), guarantee.get(name, {}).get("upper")
        if wanted is not None and got is not None and number(got) > number(wanted) + ROUNDING * abs(number(wanted)):
            found.append(f"{name}: {got} is above its target {wanted}")
    for name, value in parameters.items():
        if isinstance(value, int | float) and not name.startswith("log10_") and value < 0:
            found.append(f"/parameters/{name}: {value} is negative")
    width = answer.get("numerical", {}).get("relative_width", 0)
    return [*found, *([] if number(width) >= 0 else [f"relative_width {width}"])]


def outcome(entry: Any, body: Mapping[str, Any]) -> str:
    """What became of a body. Anything but an answer or a refusal is an error of the test."""
    try:
        answer = as_json(entry.solve(read(entry.problem, body)))
    except InvalidInput:
        return "invalid"
    except NoCertificate as refusal:
        return refusal.slug
    json.dumps(answer, allow_nan=False)
    assert not faults(answer), (faults(answer), body)
    return "answered"


@each_entry
@settings(examples_of, max_examples=6, derandomize=True)
@given(data=st.data())
def test_it_answers_or_refuses(entry: Any, data: st.DataObject) -> None:
    event(outcome(entry, data.draw(domains.requests(entry.problem, entry.example))))


@pytest.mark.slow
@each_entry
@settings(examples_of, max_examples=400)
@given(data=st.data())
def test_it_answers_or_refuses_wherever_it_is_asked(entry: Any, data: st.DataObject) -> None:
    event(outcome(entry, data.draw(domains.requests(entry.problem, entry.example))))


@pytest.mark.parametrize("value", [5e-324, -1e-310, 2e-308])
def test_numbers_that_have_lost_their_digits_are_refused(value: float) -> None:
    entry = CALIBRATORS[0]
    with pytest.raises(InvalidInput, match="/strong_convexity: is"):
        read(entry.problem, {**entry.example, "strong_convexity": value})


def test_a_formula_that_leaves_the_doubles_is_a_refusal() -> None:
    def overflowing(inputs: object) -> Any:
        raise OverflowError

    theorem = replace(next(each for each in THEOREMS if each.formula is not None), formula=overflowing)
    with pytest.raises(InvalidInput, match="leaves the doubles"):
        theorem.evaluate(None)
