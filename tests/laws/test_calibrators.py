"""Laws of every calibrator: certified on the upper end, and as small as its own bound allows."""

from __future__ import annotations

import dataclasses
import functools
import json
import math
import pickle

import pytest

from epsilond.accountants.theorem import Status
from epsilond.accountants.theorems import THEOREMS
from epsilond.calibrators import CALIBRATORS
from epsilond.calibrators.answer import Calibration, as_json
from epsilond.calibrators.calibration import Calibrator
from epsilond.reading import read
from tests.answers import BY_NAME, example_answer

each_calibrator = pytest.mark.parametrize("calibrator", CALIBRATORS, ids=lambda one: one.name)


EPSILONS = {"shuffled-mb-sgd": (1.0,), "norm-fedavg": (1.0,), "qtdl": (0.3,)}
"""Where the ends of the range take a minute."""


def anew(calibrator: Calibrator, **changes: object) -> Calibration:
    answer: Calibration = calibrator.solve(read(calibrator.problem, {**calibrator.example, **changes}))
    return answer


@functools.cache
def _kept(name: str, changes: frozenset[tuple[str, float]]) -> Calibration:
    return anew(BY_NAME[name], **dict(changes)) if changes else example_answer(name)


def solved(calibrator: Calibrator, **changes: float) -> Calibration:
    return _kept(calibrator.name, frozenset(changes.items()))


@each_calibrator
def test_the_target_is_met_on_the_upper_ends(calibrator: Calibrator) -> None:
    answer = solved(calibrator).guarantee
    assert answer.epsilon.upper <= answer.target.epsilon
    assert answer.log10_delta.upper <= answer.target.log10_delta
    assert answer.epsilon.lower <= answer.epsilon.upper
    assert answer.delta.lower <= answer.delta.upper


@each_calibrator
def test_minimality_is_proved(calibrator: Calibrator) -> None:
    assert solved(calibrator).guarantee.minimal == "proved"


@each_calibrator
def test_a_stricter_target_never_needs_less_noise(calibrator: Calibrator) -> None:
    looser, stricter = solved(calibrator), solved(calibrator, epsilon=0.9 * calibrator.example["epsilon"])
    assert getattr(stricter.parameters, calibrator.knob) > getattr(looser.parameters, calibrator.knob)


@each_calibrator
def test_printed_and_certified_never_disagree_without_a_warning(calibrator: Calibrator) -> None:
    for epsilon in EPSILONS.get(calibrator.name, (0.3, 1.0, 30.0)):
        answer = solved(calibrator, epsilon=epsilon)
        codes = {warning.code for warning in answer.warnings}
        for reading in answer.readings:
            if reading.parameters.get("noise_std", math.inf) < answer.parameters.noise_std:
                assert "printed-noise-below-certified" in codes
            if any(condition.holds == "no" for condition in reading.conditions):
                assert "printed-condition-fails" in codes


@each_calibrator
def test_answers_are_json_pickle_and_free_of_nan(calibrator: Calibrator) -> None:
    answer = solved(calibrator)
    json.dumps(as_json(answer), allow_nan=False)
    assert pickle.loads(pickle.dumps(answer)) == answer
    assert not any(math.isnan(value) for value in _numbers(answer))  # infinities are served as words


def _numbers(value: object) -> list[float]:
    if isinstance(value, float):
        return [value]
    if dataclasses.is_dataclass(value):
        return [n for field in dataclasses.fields(value) for n in _numbers(getattr(value, field.name))]
    if isinstance(value, tuple):
        return [n for item in value for n in _numbers(item)]
    return []


@each_calibrator
def test_the_same_problem_gives_the_same_numbers(calibrator: Calibrator) -> None:
    assert anew(calibrator) == solved(calibrator)


@each_calibrator
def test_no_guarantee_rests_on_a_theorem_that_is_refuted_or_unproved(calibrator: Calibrator) -> None:
    status = {each.id: each.status for each in THEOREMS}
    assert {status[step.theorem] for step in solved(calibrator).derivation} == {Status.PROVED}


@each_calibrator
def test_derivations_reach_registered_theorems_and_stand_in_order(calibrator: Calibrator) -> None:
    steps = solved(calibrator).derivation
    for place, step in enumerate(steps):
        assert all(premise < place for premise in step.premises)


@each_calibrator
def test_a_calibrator_has_the_methods_of_its_base_classes(calibrator: Calibrator) -> None:
    """A method under another name would be no part of the work."""
    own, *bases = type(calibrator).__mro__
    known = {name for base in bases for name in (*vars(base), *getattr(base, "__annotations__", {}))}
    assert [name for name in vars(own) if not name.startswith("_") and name not in known] == []
