"""mb-sgd: the figures of Algorithm 1, printed and certified, and the runs it refuses."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import pytest

from epsilond.accountants.account import account
from epsilond.accountants.errors import ConditionViolated, InvalidInput
from epsilond.accountants.federation import ParticipationCount
from epsilond.accountants.specs import Gaussian, Repeated, Subsampled
from epsilond.accountants.theorems.risk.lowy_razaviyayn.nonsmooth_losses import THEOREM_2_2, NonsmoothInputs
from epsilond.accountants.theorems.risk.lowy_razaviyayn.unequal_clients import FEDERATED_RISK, FederatedInputs, GroupRun
from epsilond.accountants.verdict import Verdict
from epsilond.calibrators.answer import Calibration
from epsilond.calibrators.mb_sgd.calibrator import CALIBRATOR
from epsilond.calibrators.mb_sgd.members import contribution_norm, members_of, spec_of
from epsilond.calibrators.mb_sgd.problem import MbSgdProblem, Run
from tests.answers import codes, remembered

GOLDEN = Path(__file__).parents[1] / "golden" / "lowy.json"
BASE: dict[str, Any] = {
    "epsilon": 1.0,
    "delta": 1e-5,
    "samples_per_client": 1000,
    "clients": 10,
    "dimension": 20,
    "lipschitz": 1.0,
    "diameter": 2.0,
    "smoothness": 1.0,
    "batch_size": 100,
    "rounds": 100,
    "relation": "replace-one",
    "unit": "record",
    "observer": "server",
}


@remembered
def solved(**changes: Any) -> Calibration:
    fields = {**BASE, **changes}
    return CALIBRATOR.solve(MbSgdProblem(**{name: value for name, value in fields.items() if value is not None}))


@pytest.mark.parametrize(
    ("run", "printed", "true_epsilon", "at_most"),
    [
        ({}, 230.71, 0.0233, 8.234),
        (
            {"samples_per_client": 60_000, "batch_size": 25, "rounds": 10_000, "delta": 1e-8},
            15.573,
            0.0243,
            1.518,
        ),
    ],
)
def test_the_printed_noise_and_the_certified(
    run: dict[str, Any], printed: float, true_epsilon: float, at_most: float
) -> None:
    answer = solved(**run)
    informal = answer.readings[0]
    assert informal.parameters["noise_multiplier"] == pytest.approx(printed, rel=3e-5)
    assert informal.true is not None
    assert informal.true.epsilon.lower <= true_epsilon * 1.01
    assert informal.true.epsilon.upper == pytest.approx(true_epsilon, rel=5e-3)
    assert answer.parameters.noise_multiplier <= at_most
    assert answer.guarantee.epsilon.upper <= 1.0
    assert answer.guarantee.minimal == "proved"


def brackets() -> list[Any]:
    cases = json.loads(GOLDEN.read_text(encoding="utf-8"))["intervals"]
    return [pytest.param(case, id=case["id"]) for case in cases]


@pytest.mark.parametrize("case", brackets())
def test_true_epsilon_agrees_with_the_independent_brackets(case: dict[str, Any]) -> None:
    """Both enclose the same number, so they overlap; z of the file is over the sensitivity, half of ours."""
    at, known = case["inputs"], case["outputs"]
    epsilon = at.get("eps0", at.get("eps"))
    delta = at.get("delta0", at.get("delta"))
    assert epsilon > 0
    spec = Repeated(
        times=at["R"],
        mechanism=Subsampled(
            sampling="without-replacement",
            batch_size=at["K"],
            population=at["n"],
            mechanism=Gaussian(noise_multiplier=2 * at["z"]),
        ),
    )
    ours = account(spec, relation="replace-one").guarantee.curve.epsilon(math.log(delta))
    assert ours.lower <= known["wor_up"] * (1 + 1e-9)
    assert known["wor_lo"] <= ours.upper * (1 + 1e-9)
    # Theirs rounds up coarsely; ours is nowhere looser.
    assert ours.upper <= known["wor_up"] * (1 + 1e-5)


def test_a_batch_below_the_minimum_is_answered_with_both_sides_and_the_true_epsilon() -> None:
    answer = solved(batch_size=1, rounds=1, delta=1e-6)
    informal = answer.readings[0]
    batch = next(one for one in informal.conditions if one.id == "minimal-batch-size")
    assert batch.holds == "no"
    assert batch.left == 1.0
    assert batch.right == pytest.approx(46.4, rel=1e-2)
    assert informal.true is not None
    assert informal.true.epsilon.lower == pytest.approx(55.2137, rel=1e-4)
    assert {"printed-condition-fails", "printed-noise-not-private", "printed-noise-below-certified"} <= codes(answer)
    assert answer.guarantee.epsilon.upper <= 1.0
    proof = answer.readings[2]
    inner = next(one for one in proof.conditions if one.id == "inner-epsilon")
    assert (inner.holds, inner.right, proof.status) == ("no", 1.0, "unproved")
    assert inner.left == pytest.approx(batch.right)


def test_an_epsilon_beyond_the_range_is_answered_with_both_sides() -> None:
    answer = solved(epsilon=30.0, batch_size=1000)
    informal, complete, *_ = answer.readings
    for reading, factor in ((informal, 2.0), (complete, 1.0)):
        limit = next(one for one in reading.conditions if one.id == "epsilon-range")
        assert limit.holds == "no"
        assert limit.left == 30.0
        assert limit.right == pytest.approx(factor * math.log(2e5), rel=1e-12)
    assert "printed-condition-fails" in codes(answer)


def test_a_full_batch_is_exactly_gaussian() -> None:
    answer = solved(sampling="full", batch_size=1000)
    assert answer.guarantee.tight == "proved"
    assert answer.guarantee.epsilon.lower == pytest.approx(1.0, rel=1e-6)
    assert answer.numerical.relative_width < 1e-10
    # Golden case gauss-04: 3.73063163481594 sensitivities for one release; √100 of them, sensitivity 2C.
    assert answer.parameters.noise_multiplier == pytest.approx(2 * 10 * 3.73063163481594, rel=1e-6)


def test_the_relation_sets_the_sensitivity() -> None:
    replaced, added = solved(sampling="poisson"), solved(sampling="poisson", relation="add-or-remove-one")
    assert replaced.guarantee.sensitivity == 2 * added.guarantee.sensitivity == 2 / 100
    assert added.parameters.noise_multiplier < replaced.parameters.noise_multiplier


def test_fixed_size_batches_under_add_or_remove_are_refused_with_reasons() -> None:
    with pytest.raises(ConditionViolated, match="no valid pair is known"):
        solved(relation="add-or-remove-one")


def test_a_client_is_one_contribution_and_draws_no_amplification() -> None:
    answer = solved(unit="client", batch_size=10)
    assert answer.guarantee.unit == "client"
    assert answer.readings == ()
    assert answer.parameters.noise_multiplier == pytest.approx(2 * 10 * 3.73063163481594, rel=1e-6)
    assert answer.parameters.noise_std == pytest.approx(answer.parameters.noise_multiplier, rel=1e-12)


def test_with_replacement_needs_more_noise_and_says_why() -> None:
    drawn, apart = solved(sampling="with-replacement", rounds=10), solved(rounds=10)
    assert drawn.parameters.noise_multiplier > apart.parameters.noise_multiplier
    assert {"printed-proof-invalid", "no-risk-for-this-sampling"} <= codes(drawn)
    for reading in drawn.readings[:3]:
        once = next(one for one in reading.conditions if one.id == "drawn-once")
        assert (once.holds, once.left, once.right, reading.status) == ("no", 100, 1, "unproved")
    assert drawn.risk is None


def test_open_schedules_are_chosen_within_the_budgets() -> None:
    answer = solved(batch_size=None, rounds=None, max_gradients=20_000)
    assert answer.parameters.batch_size * answer.parameters.rounds <= 20_000
    assert answer.risk is not None
    assert answer.risk.upper is not None
    fixed = solved(batch_size=100, rounds=200, max_gradients=20_000)
    assert fixed.risk is not None
    assert fixed.risk.upper is not None
    assert answer.risk.upper.value <= 1.1 * 1.002 * fixed.risk.upper.value
    tight = solved(batch_size=None, rounds=None, communication_budget=32 * 20 * 10 * 7)
    assert tight.parameters.rounds <= 7
    assert tight.communication is not None
    assert tight.communication.total_bits <= 32 * 20 * 10 * 7


def test_a_budget_below_one_round_is_refused() -> None:
    with pytest.raises(InvalidInput, match="does not pay for the rounds"):
        solved(batch_size=None, rounds=None, communication_budget=100)


def test_readings_can_be_chosen() -> None:
    assert [one.reading for one in solved(readings=("complete",)).readings] == ["complete"]
    assert solved(readings=()).readings == ()


def test_the_complete_reading_claims_the_explicit_risk() -> None:
    complete = solved().readings[1]
    assert complete.claims.excess_risk is not None
    assert complete.claims.excess_risk > 10  # 272 L D ν/√M: explicit, and far above the bound at the certified noise


def test_strong_convexity_averages_geometrically() -> None:
    answer = solved(strong_convexity=0.5)
    assert answer.parameters.averaging is not None
    assert answer.parameters.averaging.kind == "geometric"
    assert answer.parameters.averaging.ratio > 1
    plain = solved()
    assert answer.risk is not None
    assert plain.risk is not None
    assert answer.risk.upper is not None
    assert plain.risk.upper is not None
    assert answer.risk.upper.value < plain.risk.upper.value


def test_without_smoothness_the_run_is_on_the_envelope() -> None:
    answer, smooth = solved(smoothness=None), solved()
    assert answer.risk is not None
    assert answer.risk.upper is not None
    assert answer.risk.upper.theorem == "epsilond.federated-sgd-excess-risk"
    assert "assumed-exact-proximal-steps" in codes(answer)
    assert "exact-proximal-step" in {one.id for one in answer.all_declared}
    assert answer.parameters.noise_multiplier == smooth.parameters.noise_multiplier
    b, step = answer.parameters.envelope_smoothness, answer.parameters.step_size
    assert answer.risk.upper.terms["smoothing"] == pytest.approx(1.0 / (2.0 * b))
    found = FEDERATED_RISK.evaluate(
        FederatedInputs(
            client_groups=(
                GroupRun(
                    clients=10,
                    samples_per_client=1000,
                    batch_size=100,
                    noise_std=answer.parameters.noise_std,
                    lipschitz=1.0,
                ),
            ),
            participation=(ParticipationCount(participants=10, probability=1.0),),
            rounds=100,
            dimension=20,
            initial_distance=2.0,
            envelope_smoothness=b,
            step_size=step,
        )
    ).outputs
    assert answer.risk.upper.value == pytest.approx(found["excess_risk"], rel=1e-12)


def test_the_readings_without_smoothness_are_of_theorem_2_2() -> None:
    answer = solved(smoothness=None, rounds=2500)
    assert [one.theorem for one in answer.readings] == ["lowy.2.2"] * 3 + ["lowy.appendix-h", "lowy.2.2"]
    inputs = {**THEOREM_2_2.examples[0], "diameter": 2.0, "rounds": 2500}
    for shown, reading in ((answer.readings[1], "printed"), (answer.readings[4], "corrected")):
        expected = THEOREM_2_2.evaluate(NonsmoothInputs(**inputs), reading).outputs  # type: ignore[arg-type]
        assert shown.claims.excess_risk == expected["excess_risk"]
        for name in ("noise_std", "step_size", "envelope_smoothness", "rounds"):
            assert shown.parameters[name] == expected[name]
        assert all(condition.holds == "yes" for condition in shown.conditions)


def test_the_proof_closes_where_rounds_are_many_and_not_where_they_are_few() -> None:
    """E-01: near ε = 2 ln(2/δ) the printed composition needs R ≥ 0.317 ln(2/δ); the claim itself holds."""
    for rounds, closes in ((2, False), (5, True)):
        answer = solved(epsilon=24.0, batch_size=1000, rounds=rounds, readings=("proof",))
        (proof,) = answer.readings
        composition = next(one for one in proof.conditions if one.id == "composition-closes")
        assert composition.holds == Verdict.of(closes)
        assert (proof.status == "proved") is closes
        assert proof.true is not None
        assert proof.true.epsilon.upper <= 24.0
        assert proof.claims.excess_risk is not None


def test_the_experimental_reading_is_refuted_with_its_true_epsilon() -> None:
    answer = solved(
        epsilon=18.0, delta=1238**-2.0, samples_per_client=1238, batch_size=443, rounds=35, readings=("experimental",)
    )
    (reading,) = answer.readings
    assert (reading.theorem, reading.status) == ("lowy.appendix-h", "refuted")
    assert reading.parameters["batch_size"] == 444
    assert reading.true is not None
    assert 37.3 < reading.true.epsilon.lower <= reading.true.epsilon.upper < 39.2
    assert {"printed-noise-not-private", "printed-noise-below-certified"} <= codes(answer)
    assert {one.id: one.holds for one in reading.conditions} == {
        "batch-of-records": "yes",
        "side-condition": "undecidable",
    }
    few = solved(epsilon=5.0, rounds=1, batch_size=1000, readings=("experimental",)).readings[0]
    assert few.parameters["batch_size"] == 1000
    assert few.conditions[0].holds == "no"


def test_a_chosen_run_stands_beside_the_prescribed_one() -> None:
    answer = solved(rounds=None, batch_size=500)
    assert answer.risk is not None
    assert answer.risk.upper is not None
    beside = answer.risk.as_prescribed
    assert beside is not None
    assert (beside.theorem, beside.batch_size, beside.within_budget) == ("lowy.2.1", 500, True)
    again = solved(rounds=beside.rounds, batch_size=500)
    assert again.risk is not None
    assert again.risk.upper is not None
    assert again.risk.as_prescribed is None
    # At the prescribed rounds our own step does no worse than the prescribed one.
    assert again.risk.upper.value <= beside.certified_noise * (1 + 1e-9)
    assert beside.ratio == pytest.approx(beside.certified_noise / answer.risk.upper.value)
    assert 1.0 < beside.ratio < beside.printed_noise / answer.risk.upper.value
    assert answer.risk.upper.value <= 1.1 * 1.002 * again.risk.upper.value
    corrected = next(one for one in answer.readings if one.reading == "corrected")
    assert corrected.parameters["rounds"] == beside.rounds
    assert corrected.parameters["step_size"] == beside.step_size


def test_a_prescription_beyond_the_budget_is_said_to_be() -> None:
    answer = solved(rounds=None, batch_size=500, communication_budget=32 * 20 * 10 * 7)
    assert answer.risk is not None
    assert answer.risk.as_prescribed is not None
    assert answer.risk.as_prescribed.within_budget is False
    assert answer.risk.as_prescribed.rounds > 7 >= answer.parameters.rounds


def test_a_delta_below_every_double() -> None:
    answer = solved(delta=None, log10_delta=-400.0, sampling="full", batch_size=1000)
    assert answer.guarantee.target.delta is None
    assert answer.guarantee.log10_delta.upper <= -400.0
    assert answer.guarantee.log10_delta.lower == pytest.approx(-400.0, rel=1e-6)


def test_a_record_hardly_ever_drawn_needs_no_noise_and_the_answer_warns() -> None:
    answer = solved(batch_size=1, rounds=1, samples_per_client=10**6, delta=1e-5)
    assert "sampling-alone-suffices" in codes(answer)


@pytest.mark.parametrize(
    ("changes", "pointer"),
    [
        ({"participants": 11}, "/participants"),
        ({"batch_size": 1001}, "/batch_size"),
        ({"sampling": "full"}, "/batch_size"),
        ({"strong_convexity": 1.5}, "/strong_convexity"),
        ({"strong_convexity": 0.9, "diameter": 10.0}, "/strong_convexity"),
        ({"initial_distance": 3.0}, "/initial_distance"),
        ({"heterogeneity": 0.5}, "/heterogeneity"),
        ({"max_gradients": 99}, "/max_gradients"),
        ({"communication_budget": 1}, "/communication_budget"),
        ({"batch_size": None, "rounds": 10**9}, "/max_gradients"),
        ({"delta": None}, "/delta"),
        ({"log10_delta": -5.0}, "/delta"),
        ({"epsilon": -1e-9}, "/epsilon"),
        ({"delta": 1.0}, "/delta"),
        ({"readings": ("poetic",)}, "/readings"),
        ({"lipschitz": 1e170}, "/lipschitz"),
        ({"diameter": 1e-170}, "/diameter"),
        ({"client_groups": [{"clients": 10, "samples_per_client": 9, "weight": 1e-170}]}, "/client_groups/0/weight"),
    ],
)
def test_problems_that_no_run_can_have(changes: dict[str, Any], pointer: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        solved(**changes)
    assert pointer in {fault.pointer for fault in caught.value.faults}


def test_the_family_states_what_one_client_releases() -> None:
    problem, run = MbSgdProblem(**BASE), Run(batch_size=100, rounds=100)
    (member,) = members_of(problem, run)
    spec = spec_of(problem, member, 2.0)
    assert spec == Repeated(
        times=100,
        mechanism=Subsampled(
            sampling="without-replacement",
            batch_size=100,
            population=1000,
            mechanism=Gaussian(noise_multiplier=2.0),
        ),
    )
    assert contribution_norm(problem, member) == 0.01
