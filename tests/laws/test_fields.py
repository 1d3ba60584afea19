"""Every optional field of every request is accepted with some value: none is offered only to be refused."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping
from dataclasses import MISSING, fields
from typing import Any, Literal, get_args, get_origin, get_type_hints

import pytest

from epsilond.accountants.errors import InvalidInput
from epsilond.accountants.quantities import Quantity, quantity_of
from epsilond.calibrators import CALIBRATORS
from epsilond.calibrators.risk.bounders import RISK_BOUNDS
from epsilond.reading import read

NUMBERS = (0.5, 1, 2, 1e-3, 1e-9, 10, 100, 1000, 10**6, 10**12)
COUNTED = {"rate": None, "sampling": "without-replacement", "batch_size": 10, "population": 1000}
NO_RULE = {"sensitivity_rule": None, "l1_sensitivity": 100, "linf_sensitivity": 1}
COMPANIONS: Mapping[str, Mapping[str, Any]] = {
    "batch_size": COUNTED,
    "growth_ratio": {"samples_per_client": 100},
    "heterogeneity": {"identically_distributed": False},
    "gaussian_dp_mu": {"epsilon": None},
    "l1_sensitivity": NO_RULE,
    "l2_sensitivity": NO_RULE,
    "linf_sensitivity": NO_RULE,
    "log10_delta": {"delta": None},
    "noise_multiplier": {"solve_for": "epsilon", "epsilon": None},
    "participation": {"participants": None},
    "population": COUNTED,
    "samples_per_client": {"growth_ratio": 2.0},
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
