"""Every spec has words: they name its kinds, and every number in it stands in them in full."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import fields
from typing import Any, get_args

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from epsilond.accountants.kinds import NAMES
from epsilond.accountants.quantities import quantity_of
from epsilond.accountants.specs import Spec
from epsilond.reading import read_value
from epsilond.witness.reports.numbers import full
from epsilond.witness.reports.spec_words import _DESCRIPTIONS, describe_spec
from tests.laws import specs

KINDS = {
    next(field.default for field in fields(each) if field.name == "kind"): each
    for each in get_args(quantity_of(Spec.__value__)[0])
}
UNSEEN = {("projected_sgd", "strong_convexity")}
"""What is not said where it is 0."""
few = settings(max_examples=30, derandomize=True, deadline=None, suppress_health_check=list(HealthCheck))


def numbers_of(spec: Any) -> Iterator[Any]:
    """Every number in a spec, with what it is shown as."""
    if isinstance(spec, Mapping):
        for name, item in spec.items():
            if (spec.get("kind"), name) not in UNSEEN or item:
                yield from numbers_of(item)
    elif isinstance(spec, list):
        for item in spec:
            yield from numbers_of(item)
    elif isinstance(spec, int | float) and not isinstance(spec, bool):
        yield spec


def test_every_kind_has_words_and_no_other() -> None:
    assert set(_DESCRIPTIONS) | set(NAMES) == set(KINDS)


DRAWN = {
    **specs.MECHANISMS,
    "subsampled": st.one_of(specs.sampled(specs.NESTED), specs.shuffled_epochs(specs.RELEASES)),
    "random_allocation": specs.random_allocation(),
    "shuffled": specs.shuffled(),
    "repeated": specs.repeated(specs.NESTED),
    "composed": specs.composed(specs.NESTED),
    "projected_sgd": specs.projected_sgd(),
    "select_best": specs.selections(specs.NESTED),
}


@pytest.mark.parametrize("kind", KINDS)
@few
@given(data=st.data(), unit=st.sampled_from(("record", "client")))
def test_words_hold_every_number_and_no_key(kind: str, data: st.DataObject, unit: str) -> None:
    body = data.draw(DRAWN[kind])
    said = describe_spec(body, unit)
    assert not re.search(r"[a-z]_[a-z]", said)
    assert not said.endswith((" ", ".", ";"))
    for value in numbers_of(body):
        assert full(value) in said, (value, said)


def test_a_largest_batch_and_the_records_of_one_client_are_said() -> None:
    step = {"kind": "gaussian", "noise_multiplier": 1.5}
    drawn = {"kind": "subsampled", "sampling": "poisson", "rate": 0.25, "mechanism": step}
    truncated = describe_spec({**drawn, "population": 900, "largest_batch": 310}, "record")
    assert "with probability 0.25 (a population of 900, of more than 310 records a uniform subset of this" in truncated
    few = {"level": "records", "records_of_one_client": 7}
    assert "every record drawn independently" in describe_spec({**drawn, **few}, "client")
    fixed = {**drawn, **few, "sampling": "without-replacement", "batch_size": 3, "population": 40}
    del fixed["rate"]
    for said in (describe_spec({**drawn, **few}, "client"), describe_spec(fixed, "client")):
        assert "(at most 7 records of one client, one contribution each); Gaussian noise" in said


def test_a_list_of_steps_is_said_in_full() -> None:
    run = {"kind": "projected_sgd", "clients": 60, "participants": 2, "lipschitz": 1.0, "radius": 3.0}
    steps = {"kind": "explicit", "values": [0.25, 0.125]}
    said = describe_spec(
        {**run, "step_schedule": steps, "noise_schedule": {"kind": "inverse-time", "scale": 0.5}}, "record"
    )
    assert "as listed, 0.25, 0.125," in said
    assert "0.5/t at step t" in said


@pytest.mark.parametrize(
    "name", [name for name, kind in KINDS.items() if "mechanism" in {f.name for f in fields(kind)}]
)
def test_what_is_inside_is_said_inside(name: str) -> None:
    inner = {"kind": "gaussian", "noise_multiplier": 1.2}
    allocated = {"steps": 8, "times_chosen": 2, "kept": False, "epochs": 3}
    outer = {
        "kind": name,
        "times": 7,
        "clients": 9,
        "sampling": "poisson",
        "rate": 0.3,
        "mechanism": inner,
        **allocated,
    }
    assert describe_spec(inner, "record") in describe_spec(outer, "record")
    twice = {"kind": "composed", "mechanisms": [outer, inner]}
    assert describe_spec(outer, "record") in describe_spec(twice, "record")
    assert describe_spec(twice, "record").endswith(f"(2) {describe_spec(inner, 'record')}")


@pytest.mark.parametrize(
    ("spec", "unit", "said"),
    [
        (
            {
                "kind": "repeated",
                "times": 2000,
                "mechanism": {
                    "kind": "subsampled",
                    "sampling": "poisson",
                    "rate": 0.01,
                    "mechanism": {"kind": "gaussian", "noise_multiplier": 1.2},
                },
            },
            "client",
            (
                "2000 rounds, in each: every client drawn independently with probability 0.01; Gaussian noise of noise"
                " multiplier 1.2 (standard deviation per coordinate over the bound on the ℓ2 norm of one contribution)"
            ),
        ),
        (
            {
                "kind": "subsampled",
                "sampling": "without-replacement",
                "batch_size": 1,
                "population": 10,
                "level": "records",
                "mechanism": {"kind": "approximate", "epsilon": 0.5, "delta": 0.0},
            },
            "client",
            (
                "a batch of 1 record drawn uniformly out of 10, none twice; a mechanism of which nothing is known but its"
                " guarantee, ε = 0.5 and δ = 0.0"
            ),
        ),
    ],
)
def test_words_are_these(spec: dict[str, Any], unit: str, said: str) -> None:
    assert read_value(Spec, spec, at="").kind == spec["kind"]
    assert describe_spec(spec, unit) == said
