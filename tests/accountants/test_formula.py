"""Request classes made from the signatures of formulas, and what quantities say of scales and absent fields."""

from __future__ import annotations

import pickle
from typing import Annotated, ClassVar

import pytest

from epsilond.accountants.errors import InvalidInput
from epsilond.accountants.formula import formula, request_of
from epsilond.accountants.quantities import (
    ANY_SCALE,
    DIAMETER,
    INITIAL_DISTANCE,
    PARTICIPANTS_AMONG_CLIENTS,
    RATIOS,
    SQUARES,
    Clients,
    Diameter,
    Epsilon,
    GivenLogDelta,
    Lipschitz,
    ParticipantFields,
    Participants,
    assumptions,
    request,
    value_of,
)
from epsilond.accountants.theorem import Condition, Outputs, Reading, Sides, Source, Status, Theorem
from epsilond.reading import read


@formula(given="A guarantee and a federation.", checks=(PARTICIPANTS_AMONG_CLIENTS,))
def spread(
    *,
    epsilon: Epsilon,
    log_delta: GivenLogDelta,
    clients: Clients = 10,
    participants: Participants = 2,
    reading: Reading = "printed",
) -> Outputs:
    return {"value": epsilon * clients / participants, "log_delta": log_delta, "reading": reading}


@formula(given="A federation.")
def share(*, of: ParticipantFields, lipschitz: Lipschitz) -> Outputs:
    return {"value": lipschitz * of.participants / of.clients}


def _few(*, participants: int, clients: int) -> Sides:
    return Sides.at_most(2 * participants, clients)


SPREAD = Theorem(
    id="toy.spread",
    title="",
    statement="",
    source=Source("epsilond", ""),
    status=Status.PROVED,
    conditions=(Condition("few", "2M ≤ N", _few),),
    formula=spread,
)


def test_a_formula_is_asked_by_its_fields() -> None:
    inputs = SPREAD.request(epsilon=1.0, log10_delta=-5)
    assert type(inputs).__name__ == "SpreadInputs"
    assert type(inputs).__doc__ == "A guarantee and a federation."
    evaluation = SPREAD.evaluate(inputs, "corrected")
    assert evaluation.outputs == {"value": 5.0, "log_delta": inputs.log_delta, "reading": "corrected"}
    assert evaluation.conditions[0].holds == "yes"
    assert pickle.loads(pickle.dumps(inputs)) == inputs
    assert read(SPREAD.inputs, {"epsilon": 1.0, "log10_delta": -5}) == inputs


@pytest.mark.parametrize(
    ("fields", "pointer"),
    [
        ({"epsilon": 1.0}, "/delta"),
        ({"epsilon": 1.0, "delta": 0.1, "log10_delta": -1.0}, "/delta"),
        ({"epsilon": -1.0, "delta": 0.1}, "/epsilon"),
        ({"epsilon": 1.0, "delta": 0.1, "participants": 11}, "/participants"),
    ],
)
def test_requests_are_checked_as_written_ones_are(fields: dict[str, float], pointer: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        SPREAD.request(**fields)
    assert [fault.pointer for fault in caught.value.faults] == [pointer]


def test_a_group_of_fields_is_passed_as_one() -> None:
    theorem = Theorem(id="toy.share", title="", statement="", source=SPREAD.source, status=SPREAD.status, formula=share)
    assert theorem.evaluate(theorem.request(clients=10, participants=2, lipschitz=1.0)).outputs == {"value": 0.2}
    with pytest.raises(InvalidInput, match="exceeds the number of clients"):
        theorem.request(clients=10, participants=12, lipschitz=1.0)
    assert request_of(share) is theorem.inputs


@request
class Lengths:
    diameter: Diameter
    initial_distance: Annotated[
        float | None, INITIAL_DISTANCE.assume("the diameter", lambda record: record.diameter)
    ] = None
    wide: Annotated[float, DIAMETER, ANY_SCALE] = 1.0
    epsilon: Annotated[Epsilon, SQUARES] = 1.0


@request
class Ratios(Lengths):
    scale: ClassVar = RATIOS


def test_scales_belong_to_quantities() -> None:
    assert Lengths(diameter=1.0, wide=1e-150).wide == 1e-150
    for fields in ({"diameter": 1e-150}, {"diameter": 1.0, "epsilon": 1e-150}):
        with pytest.raises(InvalidInput, match="squares survive"):
            Lengths(**fields)
    assert Lengths(diameter=1e-70).diameter == 1e-70
    with pytest.raises(InvalidInput, match="squares survive"):
        Ratios(diameter=1e-70)


def test_an_absent_field_is_assumed_in_one_place() -> None:
    absent, given = Lengths(diameter=2.0), Lengths(diameter=2.0, initial_distance=1.0)
    assert (value_of(absent, "initial_distance"), value_of(given, "initial_distance")) == (2.0, 1.0)
    assert list(assumptions(absent)) == [
        ("assumed-initial-distance", "You did not give initial_distance; it was assumed to be the diameter")
    ]
    assert list(assumptions(given)) == []
