"""Laws of the fields of requests: the setting is required, defaults are even, and every optional field has a use."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping
from dataclasses import MISSING, Field, fields
from typing import Any, Literal, get_args, get_origin, get_type_hints

import pytest

from epsilond.accountants.errors import Fault, InvalidInput
from epsilond.accountants.quantities import OBSERVER, RELATION, UNIT, Quantity, quantity_of
from epsilond.app.questions import sweeps
from epsilond.calibrators import CALIBRATORS
from epsilond.calibrators.accounts import AccountProblem, AccountQuestion
from epsilond.calibrators.calibration import Calibrator
from epsilond.calibrators.planning.problem import PlanProblem
from epsilond.calibrators.risk.bounder import RISK_BOUNDS
from epsilond.ledgers.requests import OpenLedger
from epsilond.reading import read, read_body
from epsilond.simulators.memberships.training import CanaryTraining
from epsilond.witness.audits.request import AuditSimulation

NUMBERS = (0.5, 1, 2, 1e-3, 1e-9, 10, 100, 1000, 10**6, 10**12)
COUNTED = {"records": None, "rate": None, "sampling": "without-replacement", "batch_size": 10, "population": 1000}
NO_RULE = {"sensitivity_rule": None, "l1_sensitivity": 100, "linf_sensitivity": 1}
COMPANIONS: Mapping[str, Mapping[str, Any]] = {
    "advantage": {"epsilon": None},
    "false_positive_rate": {"epsilon": None, "true_positive_rate": 0.9},
    "rho": {"epsilon": None},
    "true_positive_rate": {"epsilon": None, "false_positive_rate": 1e-4},
    "batch_size": COUNTED,
    "growth_ratio": {"samples_per_client": 100},
    "heterogeneity": {"identically_distributed": False},
    "gaussian_dp_mu": {"epsilon": None},
    "l1_sensitivity": NO_RULE,
    "l2_sensitivity": NO_RULE,
    "linf_sensitivity": NO_RULE,
    "largest_batch": {"population": 10_000},
    "log10_delta": {"delta": None},
    "noise_multiplier": {"solve_for": "epsilon", "epsilon": None, "noise_std": None},
    "participation": {"participants": None},
    "population": COUNTED,
    "samples_per_client": {"growth_ratio": 2.0},
    "step_size": {"personalization": 1.0},
    "suffix_fraction": {"release": "suffix"},
}
"""Fields that are accepted only beside other values of others than the example has, and those values."""
WRITTEN: Mapping[str, tuple[Any, ...]] = {
    "client_groups": (
        [{"clients": 1, "samples_per_client": 100}, {"clients": 49, "samples_per_client": 1000}],
        [{"clients": 1000, "batch_size": 2}],
        [{"clients": 20, "samples_per_client": 100_000}, {"clients": 30, "samples_per_client": 200_000}],
    ),
    "step_schedule": ({"kind": "constant", "value": 0.1},),
    "noise_schedule": ({"kind": "constant", "value": 0.1},),
}
"""Values of fields that must fit the example."""


NO_DEFAULT = "required"
UNEVEN: Mapping[str, Mapping[str, str]] = {
    "diameter": {"dp-fedavg": "only its bound on the excess risk needs one"},
    "epsilon": {
        "qtdl": "the decay rate of its noise is proportional to ε, and no risk may be given instead",
        "norm-fedavg": "the decay rate of its noise is proportional to ε, and no risk may be given instead",
    },
    "initial_distance": {"norm-fedavg": "its domain has no diameter to bound the distance by"},
    "lipschitz": {
        "dp-fedavg": "only its bound on the excess risk needs one",
        "ppsgd": "the clipping norm bounds a gradient where no constant is known",
    },
    "participants": {"qtdl": "it is about single messages: one in each of one round"},
    "rounds": {
        "qtdl": "it is about single messages: one in each of one round",
        "norm-fedavg": "no rule chooses its rounds",
        "ppsgd": "no rule chooses its rounds",
        "mu2-sgd": "no rule chooses its rounds",
    },
    "samples_per_client": {"norm-fedavg": "only its printed Theorem 3 reads it"},
    "sampling": {
        "gaussian": "a bare mechanism has no usual sampling",
        "dp-fedavg": "it draws clients, usually independently",
        "ppsgd": "it draws clients; all of them take part unless another draw is named",
    },
    "smoothness": {
        "one-pass-accelerated-mb-sgd": "its step sizes are functions of it",
        "norm-fedavg": "its step sizes are functions of it",
        "mu2-sgd": "its noise is a function of it",
    },
    "solve_for": {"gaussian": "the noise that is solved for by default has another name there"},
}
"""Algorithms whose default of a field differs from that of the other algorithms, and why."""


def default_of(field: Field[Any]) -> str:
    has_none = field.default is MISSING and field.default_factory is MISSING
    return NO_DEFAULT if has_none else repr(field.default)


def defaults() -> dict[str, dict[str, str]]:
    """Return the default of every field in every algorithm that has the field."""
    table: dict[str, dict[str, str]] = {}
    for calibrator in CALIBRATORS:
        for field in fields(calibrator.problem):
            table.setdefault(field.name, {})[calibrator.name] = default_of(field)
    return table


@pytest.mark.parametrize("name", sorted(defaults()))
def test_a_field_has_the_same_default_in_all_algorithms(name: str) -> None:
    table, exceptions = defaults()[name], UNEVEN.get(name, {})
    assert exceptions.keys() <= table.keys()
    usual = {default for algorithm, default in table.items() if algorithm not in exceptions}
    assert len(usual) == 1, table
    # An exception whose default is the usual one is out of date.
    assert not [algorithm for algorithm in exceptions if table[algorithm] in usual]


def test_every_exception_is_about_a_field() -> None:
    assert UNEVEN.keys() <= defaults().keys()


QUESTIONS = [(f"calibrations/{each.name}", each.problem) for each in CALIBRATORS]
QUESTIONS += [(f"risk-bounds/{each.name}", each.problem) for each in RISK_BOUNDS]
QUESTIONS += [("accounts", AccountProblem), ("accounts without a query", AccountQuestion), ("ledgers", OpenLedger)]
QUESTIONS += [("audits", AuditSimulation)]
SETTING = {"relation": RELATION, "unit": UNIT, "observer": OBSERVER}


def words_of(annotation: object) -> tuple[object, ...]:
    """Return the words of a literal, or of the literal in a union of words and structures."""
    members = get_args(annotation)
    return next((get_args(member) for member in members if get_origin(member) is Literal), members)


@pytest.mark.parametrize(("place", "cls"), QUESTIONS, ids=[place for place, _ in QUESTIONS])
def test_the_setting_is_required_and_its_choices_are_described(place: str, cls: type) -> None:
    hints, own = get_type_hints(cls, include_extras=True), {field.name: field for field in fields(cls)}
    with pytest.raises(InvalidInput) as caught:
        read(cls, {})
    faults = {fault.pointer: fault for fault in caught.value.faults}
    served = {fault.pointer: fault for fault in errors_of(cls, {})}
    for name, quantity in SETTING.items():
        assert default_of(own[name]) == NO_DEFAULT
        bare, described = quantity_of(hints[name])
        assert described is not None
        assert [word for word, _ in described.choices] == list(words_of(bare))
        assert set(described.choices) <= set(quantity.choices)
        assert bool(described.reason) == (described.choices != quantity.choices)
        for fault in (faults[f"/{name}"], served[f"/{name}"]):
            assert fault.message == "is required"
            for word, sentence in described.choices:
                assert f"{word}: {sentence}" in str(fault.allowed)
                assert f"{word}: {sentence}" in str(fault)


def test_a_training_with_canaries_requires_its_unit() -> None:
    with pytest.raises(InvalidInput) as caught:
        read(CanaryTraining, {})
    required = Fault("/unit", "is required", UNIT.allowed)
    assert required in caught.value.faults
    assert required in errors_of(CanaryTraining, {})


@pytest.mark.parametrize("calibrator", CALIBRATORS, ids=lambda one: one.name)
def test_a_sweep_requires_the_same_with_the_same_words(calibrator: Calibrator) -> None:
    body = read_body(
        sweeps.body_type(calibrator.name, calibrator.problem), {"sweep": {"field": "delta", "values": [1e-5]}}
    )
    with pytest.raises(InvalidInput) as caught:
        sweeps.question_of(calibrator, body, pytest.fail)
    single = {fault.pointer: fault for fault in errors_of(calibrator.problem, {})}
    assert {fault.pointer: fault for fault in caught.value.faults} == single
    assert {f"/{name}" for name in SETTING} <= single.keys()


NARROW = [
    pytest.param(calibrator, name, word, id=f"{calibrator.name}-{word}")
    for calibrator in CALIBRATORS
    for name, quantity in SETTING.items()
    for word, _ in quantity.choices
    if word not in words_of(quantity_of(get_type_hints(calibrator.problem, include_extras=True)[name])[0])
]


@pytest.mark.parametrize(("calibrator", "name", "word"), NARROW)
def test_another_word_is_rejected_with_the_reason(calibrator: Calibrator, name: str, word: str) -> None:
    body = {**calibrator.example, name: word}
    _, quantity = quantity_of(get_type_hints(calibrator.problem, include_extras=True)[name])
    with pytest.raises(InvalidInput) as caught:
        read(calibrator.problem, body)
    served = errors_of(calibrator.problem, body)
    assert quantity is not None
    for faults in (caught.value.faults, served):
        assert [(fault.pointer, fault.message.endswith(quantity.reason)) for fault in faults] == [(f"/{name}", True)]


def test_a_plan_requires_its_relation_unit_and_observers() -> None:
    own = {field.name: default_of(field) for field in fields(PlanProblem)}
    assert {own[name] for name in ("relation", "unit", "observers")} == {NO_DEFAULT}


def errors_of(cls: type, body: Mapping[str, Any]) -> tuple[Fault, ...]:
    """Return the faults of a body of a request over HTTP."""
    try:
        read_body(cls, body)
    except InvalidInput as error:
        return error.faults
    return ()


def optional(cls: type) -> list[str]:
    return [one.name for one in fields(cls) if one.default is not MISSING or one.default_factory is not MISSING]


CLASSES = [(one.name, one.problem, one.example) for one in CALIBRATORS]
CLASSES += [(f"risk-bounds/{one.name}", one.problem, one.example) for one in RISK_BOUNDS]
CASES = [
    pytest.param(cls, example, name, id=f"{where}-{name}") for where, cls, example in CLASSES for name in optional(cls)
]


@pytest.mark.parametrize(("cls", "example", "name"), CASES)
def test_the_field_is_accepted_with_some_value(cls: type, example: Mapping[str, Any], name: str) -> None:
    refusals = set()
    drawn = candidates(get_type_hints(cls, include_extras=True)[name])
    for value in WRITTEN.get(name, drawn):
        for beside in ({}, COMPANIONS.get(name, {})):
            body = {**example, **beside, name: value}
            try:
                read(cls, {key: each for key, each in body.items() if each is not None})
            except InvalidInput as refusal:
                refusals.add(str(refusal))
            else:
                return
    pytest.fail(f"{name} is refused whatever its value: {sorted(refusals)[:5]}")


def candidates(annotation: Any) -> Iterator[Any]:
    """Values of a field's domain, in their JSON form; of nested ones, with their needed fields and each optional."""
    bare, quantity = quantity_of(annotation)
    if bare is bool:
        yield from (True, False)
    elif bare in (int, float):
        known = quantity or Quantity(description="")
        ends = [end for end in (known.ge, known.le, known.gt, known.lt) if end is not None]
        signs = [sign * number for number in NUMBERS for sign in (1, -1)]
        for value in [*signs, *ends]:
            fitting = int(value) if bare is int else float(value)
            if known.contains(fitting):
                yield fitting
    elif get_origin(bare) is Literal:
        yield from get_args(bare)
    elif get_origin(bare) is tuple:
        yield from ([value] for value in itertools.islice(candidates(get_args(bare)[0]), 200))
    elif isinstance(bare, type) and hasattr(bare, "__dataclass_fields__"):
        hints = get_type_hints(bare, include_extras=True)
        needed = [one.name for one in fields(bare) if one.name not in optional(bare)]
        for values in itertools.product(*(list(candidates(hints[one])) for one in needed)):
            yield dict(zip(needed, values, strict=True))
    else:
        for member in get_args(bare):
            yield from candidates(member)
