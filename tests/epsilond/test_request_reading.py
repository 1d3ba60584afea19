"""Test that the library refuses what the service refuses, with pointers, and accepts the types that Python users hold."""

from dataclasses import FrozenInstanceError
from typing import Annotated, Literal

import numpy as np
import pytest

from epsilond.accountants.errors import InvalidInput
from epsilond.accountants.quantities import Clients, Quantity, Rate, request
from epsilond.accountants.specs import Composed, Gaussian, Repeated, Spec, Subsampled
from epsilond.reading import read, read_value

MODE = Quantity(description="a mode")
GROUPS = Quantity(description="groups")


@request
class Group:
    clients: Clients
    rate: Annotated[float | None, Quantity(description="rate", gt=0, le=1)] = None


@request
class Problem:
    clients: Clients
    rate: Rate = 0.5
    mode: Annotated[Literal["fast", "slow"], MODE] = "fast"
    flag: Annotated[bool, Quantity(description="a flag")] = True
    label: Annotated[str, Quantity(description="a label")] = ""
    bound: Annotated[float | Literal["unbounded"], Quantity(description="a bound")] = "unbounded"
    client_groups: Annotated[tuple[Group, ...] | None, GROUPS] = None


def faults(cls, **given):
    with pytest.raises(InvalidInput) as caught:
        read(cls, given)
    return {fault.pointer: fault for fault in caught.value.faults}


def test_reads_plain_values_and_structures():
    problem = read(Problem, {"clients": 7, "client_groups": [{"clients": 2}, Group(clients=5, rate=0.1)]})
    assert problem == Problem(clients=7, client_groups=(Group(clients=2), Group(clients=5, rate=0.1)))
    with pytest.raises(FrozenInstanceError):
        problem.clients = 8


def test_numpy_scalars_and_integral_floats_are_numbers():
    problem = read(Problem, {"clients": np.int64(7), "rate": np.float32(0.5)})
    assert problem == Problem(clients=7, rate=0.5)
    assert type(problem.clients) is int
    assert type(problem.rate) is float
    assert read(Problem, {"clients": 1e9}).clients == 10**9


def test_none_stands_for_an_absent_optional_field_only():
    assert read(Problem, {"clients": 7, "client_groups": None}) == Problem(clients=7)
    assert set(faults(Problem, clients=None)) == {"/clients"}
    assert set(faults(Problem, clients=7, rate=None)) == {"/rate"}
    assert faults(Problem, clients=None)["/clients"].message == "must not be null"
    assert faults(Problem, clients=7, rate=None)["/rate"].message == "must not be null; leave it out"


def test_every_unknown_and_missing_name_is_named_at_once():
    found = faults(Problem, client=7, rat=0.5, frobnicate=1)
    assert set(found) == {"/client", "/rat", "/clients", "/frobnicate"}
    assert "did you mean clients" in found["/client"].message
    assert found["/clients"].message == "is required"
    assert found["/clients"].allowed == "≥ 1 and ≤ 1e+15"
    assert found["/rat"].allowed is None, "the similar names are named once"
    assert "mode" in (found["/frobnicate"].allowed or "")


def test_values_out_of_range_are_named_with_the_unknown_and_missing_ones():
    found = faults(Problem, rat=0.5, rate=2.0, mode="middling", flag=1)
    assert set(found) == {"/rat", "/clients", "/rate", "/mode", "/flag"}
    assert found["/rate"].message == "is out of range"
    assert set(faults(Problem, clients=7.5, label=3)) == {"/clients", "/label"}


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("clients", "7"),
        ("clients", 1.5),
        ("clients", 0),
        ("clients", True),
        ("clients", [7]),
        ("rate", float("nan")),
        ("rate", float("inf")),
        ("rate", 2),
        ("mode", "middling"),
        ("mode", 1),
        ("flag", 1),
        ("flag", "true"),
        ("label", 3),
        ("bound", "bounded"),
        ("bound", True),
        ("client_groups", {"clients": 7}),
        ("client_groups", "text"),
    ],
)
def test_a_wrong_value_is_refused_at_its_pointer(name, value):
    assert set(faults(Problem, **({"clients": 7} | {name: value}))) == {f"/{name}"}


def test_faults_inside_structures_carry_the_whole_pointer():
    found = faults(Problem, clients=7, client_groups=[{"clients": 1}, {"clients": 0}, {"rate": 0.5}, 3])
    assert set(found) == {"/client_groups/1/clients", "/client_groups/2/clients", "/client_groups/3"}
    assert set(faults(Problem, clients=7, client_groups=[{"rate": 0.5}])) == {"/client_groups/0/clients"}
    assert set(faults(Problem, clients=7, client_groups=[3])) == {"/client_groups/0"}


def test_a_spec_is_read_by_its_kind():
    body = {
        "kind": "composed",
        "mechanisms": [
            {"kind": "repeated", "times": 1000.0, "mechanism": {"kind": "gaussian", "noise_multiplier": 2}},
            Subsampled(sampling="poisson", rate=0.1, mechanism=Gaussian(noise_multiplier=1.0)),
        ],
    }
    assert read_value(Spec, body, at="/spec") == Composed(
        mechanisms=(
            Repeated(times=1000, mechanism=Gaussian(noise_multiplier=2.0)),
            Subsampled(sampling="poisson", rate=0.1, mechanism=Gaussian(noise_multiplier=1.0)),
        )
    )


@pytest.mark.parametrize(
    ("body", "pointer"),
    [
        ({}, "/spec/kind"),
        (3, "/spec"),
        ({"kind": "gausian"}, "/spec/kind"),
        ({"kind": "gaussian"}, "/spec/noise_multiplier"),
        ({"kind": "gaussian", "noise_multiplier": 0}, "/spec/noise_multiplier"),
        ({"kind": "repeated", "times": 3, "mechanism": {"kind": "gaussian"}}, "/spec/mechanism/noise_multiplier"),
        ({"kind": "composed", "mechanisms": []}, "/spec/mechanisms"),
    ],
)
def test_a_spec_that_is_none_is_refused_at_its_pointer(body, pointer):
    with pytest.raises(InvalidInput) as caught:
        read_value(Spec, body, at="/spec")
    assert [fault.pointer for fault in caught.value.faults] == [pointer]


@pytest.mark.parametrize(
    ("bound", "told"),
    [
        (2**53 - 1, "≤ 9007199254740991"),
        (1_234_567, "≤ 1234567"),
        (0.123456789, "≤ 0.123456789"),
        (10**15, "≤ 1e+15"),
        (0.5, "≤ 0.5"),
    ],
)
def test_a_bound_is_told_as_it_is(bound, told):
    assert Quantity(description="a number", le=bound).allowed == told


def test_the_text_of_an_error_has_the_range_of_a_number():
    with pytest.raises(InvalidInput, match=r"/noise_multiplier: is out of range \(≥ 1e-06 and ≤ 1e\+15\)"):
        Gaussian(noise_multiplier=0.0)
