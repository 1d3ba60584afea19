"""calibrate, account and evaluate, for every calibrator and theorem in the lists."""

from typing import get_args

import pytest

import epsilond
from epsilond.accountants.specs import Spec
from epsilond.accountants.theorems import THEOREMS
from epsilond.calibrators import CALIBRATORS
from tests.answers import BY_NAME, example_answer

FORMULAS = [(theorem, example) for theorem in THEOREMS if theorem.formula is not None for example in theorem.examples]


@pytest.fixture(scope="module", params=sorted(BY_NAME))
def answered(request):
    calibrator = BY_NAME[request.param]
    return calibrator, example_answer(calibrator.name)


def test_every_example_is_calibrated_and_certified(answered):
    calibrator, answer = answered
    assert answer.algorithm == calibrator.name
    assert answer.guarantee.epsilon.upper <= answer.guarantee.target.epsilon
    assert answer.guarantee.log10_delta.upper <= answer.guarantee.target.log10_delta
    assert answer.engine_version == epsilond.ENGINE_VERSION


def test_an_answer_is_json(answered):
    assert epsilond.as_json(answered[1])["algorithm"] == answered[0].name


@pytest.mark.parametrize("calibrator", CALIBRATORS, ids=lambda each: each.name)
def test_unknown_and_missing_fields_are_named_not_type_errors(calibrator):
    with pytest.raises(epsilond.InvalidInput) as caught:
        epsilond.calibrate(calibrator.name, epsilonn=1.0)
    faults = {fault.pointer: fault.message for fault in caught.value.faults}
    assert "did you mean epsilon" in faults["/epsilonn"]
    assert "is required" in faults.values()


@pytest.mark.parametrize("calibrator", CALIBRATORS, ids=lambda each: each.name)
def test_a_value_out_of_range_is_named_with_what_is_allowed(calibrator):
    with pytest.raises(epsilond.InvalidInput) as caught:
        epsilond.calibrate(calibrator.name, **{**calibrator.example, "epsilon": -1.0})
    (fault,) = caught.value.faults
    least = "> 0" if calibrator.name in ("qtdl", "norm-fedavg") else "≥ 0"
    assert (fault.pointer, fault.allowed) == ("/epsilon", f"{least} and ≤ 1e+09")


def test_an_unknown_algorithm_is_answered_with_near_names():
    with pytest.raises(epsilond.InvalidInput, match="did you mean mb-sgd"):
        epsilond.calibrate("mb-sdg")
    with pytest.raises(epsilond.InvalidInput) as caught:
        epsilond.calibrate("zzz")
    assert set(BY_NAME) <= set((caught.value.faults[0].allowed or "").split(", "))


def test_an_account_takes_a_spec_or_its_json():
    spec = epsilond.Repeated(times=4, mechanism=epsilond.Gaussian(noise_multiplier=8.0))
    body = {"kind": "repeated", "times": 4, "mechanism": {"kind": "gaussian", "noise_multiplier": 8}}
    asked, posted = (
        epsilond.account(each, relation="add-or-remove-one", unit="record", observer="server") for each in (spec, body)
    )
    ends = asked.guarantee.curve.epsilon(delta=1e-5)
    assert ends == posted.guarantee.curve.epsilon(delta=1e-5)
    assert 0 < ends.lower <= ends.upper < 2


@pytest.mark.parametrize("name", ["relation", "unit", "observer", "effort"])
def test_an_account_refuses_a_setting_it_does_not_know(name):
    with pytest.raises(epsilond.InvalidInput) as caught:
        epsilond.account(
            epsilond.Gaussian(noise_multiplier=1.0),
            **{"relation": "replace-one", "unit": "record", "observer": "server", name: "replace"},
        )
    (fault,) = caught.value.faults
    assert fault.pointer == f"/{name}"
    assert fault.allowed


@pytest.mark.parametrize(("theorem", "example"), FORMULAS, ids=lambda each: getattr(each, "id", ""))
def test_every_example_of_a_formula_is_evaluated(theorem, example):
    answer = epsilond.evaluate(theorem.id, **example)
    assert answer.outputs
    assert answer.status is theorem.status


def test_evaluate_refuses_what_is_not_there():
    with pytest.raises(epsilond.InvalidInput, match=r"did you mean balle-wang-2018\.8"):
        epsilond.evaluate("balle-wang-2018.88")
    with pytest.raises(epsilond.InvalidInput) as caught:
        epsilond.evaluate(
            "balle-wang-2018.8", reading="corrected", epsilon=1, noise_multiplier=1, relation="replace-one"
        )
    assert caught.value.faults[0].pointer == "/reading"
    with pytest.raises(epsilond.InvalidInput) as caught:
        epsilond.evaluate("balle-wang-2018.8", epsilon=1, sigma=4)
    assert {fault.pointer for fault in caught.value.faults} == {"/sigma", "/noise_multiplier", "/relation"}


def test_a_rule_between_guarantees_has_no_formula():
    rule = next(theorem for theorem in THEOREMS if theorem.formula is None)
    with pytest.raises(epsilond.InvalidInput, match="no formula"):
        epsilond.evaluate(rule.id)


def test_every_kind_of_spec_is_on_the_public_face():
    kinds = get_args(get_args(Spec.__value__)[0])
    assert kinds
    assert tuple(getattr(epsilond, kind.__name__, None) for kind in kinds) == kinds
