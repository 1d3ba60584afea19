"""Laws of the list of kinds: what every file in `accountants/kinds` must have."""

from __future__ import annotations

import re
from pathlib import Path
from typing import get_args

import pytest

import epsilond
from epsilond.accountants.kinds import NAMES, kind_named
from epsilond.accountants.specs.mechanisms import Mechanism
from epsilond.accountants.specs.runs import Spec
from epsilond.accountants.theorems import RULES
from epsilond.reading import read_value
from epsilond.simulators.audits.build import attack_spec
from epsilond.simulators.audits.worlds import AttackSetting

each_kind = pytest.mark.parametrize("name", NAMES)


def test_every_kind_is_public() -> None:
    assert {spec.__name__ for spec in get_args(Mechanism)} <= set(epsilond.__all__)


@each_kind
def test_a_kind_has_specs_and_rules_of_its_name(name: str) -> None:
    spec = kind_named(name).at_noise(1.0)
    assert spec.kind == name
    assert name in {rule.kind for rule in RULES}


@each_kind
def test_a_kind_can_be_read_and_attacked(name: str) -> None:
    spec = kind_named(name).at_noise(1.0)
    body = {field: value for field, value in vars(spec).items() if value is not None}
    assert read_value(Spec, body, at="") == spec
    assert attack_spec(spec, AttackSetting(relation="replace-one")).worlds >= 2


def test_the_page_of_kinds_lists_every_kind() -> None:
    page = (Path(__file__).parents[2] / "docs" / "kinds.md").read_text(encoding="utf-8")
    listed = set(re.findall(r"`([a-z_]+) \{", page))
    union, _ = get_args(Spec.__value__)
    assert listed == {spec.kind for spec in get_args(union)}
