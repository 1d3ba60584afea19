"""Risk bounds: which bounds for whom, at which noise, and what is hidden; laws over the list of them."""

from __future__ import annotations

import json
import math
import pickle
from typing import Any

import pytest

from epsilond.accountants.errors import InvalidInput
from epsilond.accountants.federation import ParticipationMoments
from epsilond.accountants.theorems import THEOREMS
from epsilond.accountants.theorems.papers.lowy_razaviyayn.noise import xi
from epsilond.calibrators import CALIBRATORS
from epsilond.calibrators.answer import as_json
from epsilond.calibrators.mb_sgd import calibrator as mb_sgd
from epsilond.calibrators.risk.answer import RiskBoundsAnswer
from epsilond.calibrators.risk.bounder import RISK_BOUNDS, RiskBounder
from epsilond.calibrators.risk.parts import RiskFields
from epsilond.reading import read
from tests.answers import codes

MINI_BATCH = [bounder for bounder in RISK_BOUNDS if issubclass(bounder.problem, RiskFields)]
MB_SGD, _, _, SHUFFLED = MINI_BATCH
each_bounder = pytest.mark.parametrize("bounder", RISK_BOUNDS, ids=lambda one: one.name)
each_mini_batch = pytest.mark.parametrize("bounder", MINI_BATCH, ids=lambda one: one.name)


def bounded(bounder: RiskBounder, **changes: Any) -> RiskBoundsAnswer:
    fields = {**bounder.example, **changes}
    return bounder.solve(read(bounder.problem, {name: value for name, value in fields.items() if value is not None}))


# Laws ---------------------------------------------------------------------------------------------------------------
def test_every_bounder_is_of_a_calibrator_and_rests_on_registered_theorems() -> None:
    names = [bounder.name for bounder in RISK_BOUNDS]
    assert names == [calibrator.name for calibrator in CALIBRATORS]
    ids = {theorem.id for theorem in THEOREMS}
    for bounder in RISK_BOUNDS:
        assert set(bounder.theorems) <= ids
        answer = bounded(bounder)
        used = {*(bound.theorem for bound in answer.upper), *(bound.theorem for bound in answer.lower)}
        if answer.reference is not None:
            used.add(answer.reference.theorem)
        assert used <= set(bounder.theorems)


@each_mini_batch
def test_hidden_constants_have_a_scale_and_never_a_value(bounder: RiskBounder) -> None:
    answer = bounded(bounder)
    for above in answer.upper:
        assert (above.value is None) == (above.constant == "hidden")
        assert (above.scale is None) == (above.constant == "explicit")
    assert all(below.constant == "hidden" for below in answer.lower)
    assert "hidden-constants" in codes(answer)
    assert answer.reference is not None
    assert answer.reference.free_privacy.holds == "undecidable"
    for below in answer.lower:
        vanishing = next(one for one in below.conditions if one.id == "vanishing-delta")
        assert vanishing.holds == "undecidable"


@each_bounder
def test_answers_are_json_pickle_and_the_same_again(bounder: RiskBounder) -> None:
    answer = bounded(bounder)
    json.dumps(as_json(answer), allow_nan=False)
    assert pickle.loads(pickle.dumps(answer)) == answer == bounded(bounder)
    without = {name: value for name, value in bounder.example.items() if name != "noise_std"}
    given, open_noise = (bounder.cost(bounder.problem(**fields)) for fields in (bounder.example, without))
    assert (given, open_noise) != ("search", "closed-form")
    if bounder.name in ("mb-sgd", "shuffled-mb-sgd"):
        assert (given, open_noise) == ("closed-form", "search")


@each_mini_batch
def test_the_explicit_bound_is_above_the_order_of_every_lower_one(bounder: RiskBounder) -> None:
    """No contradiction can be proved across hidden constants, but at constants of one none should appear here."""
    for trust in ("local", "shuffle", "central"):
        for objective in ("population", "empirical"):
            answer = bounded(bounder, trust=trust, problem=objective)
            (below,) = answer.lower
            assert (below.trust, below.problem) == (trust, objective)
            if not answer.upper:
                assert "no-upper-bound-for-this-objective" in codes(answer)
                continue
            explicit = answer.upper[0]
            assert explicit.value is not None
            assert explicit.value > below.scale > 0.0


@each_mini_batch
@pytest.mark.parametrize(
    "changes", [{"rounds": None}, {"batch_size": None}, {"gradient_std": 1.5}, {"compositionality": 0.5}]
)
def test_questions_that_cannot_be_are_refused(bounder: RiskBounder, changes: dict[str, Any]) -> None:
    with pytest.raises(InvalidInput):
        bounded(bounder, **changes)


# mb-sgd -------------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("trust", "objective", "theorem"),
    [
        (None, "population", "lowy.3.1"),
        ("local", "empirical", "lowy.f.4"),
        ("shuffle", "population", "lowy.f.3"),
        ("central", "empirical", "lowy.f.5"),
    ],
)
def test_trust_and_problem_choose_the_lower_bound(trust: str | None, objective: str, theorem: str) -> None:
    assert bounded(MB_SGD, trust=trust, problem=objective).lower[0].theorem == theorem


def test_the_upper_bounds_of_a_given_noise() -> None:
    answer = bounded(MB_SGD)
    assert (answer.run.noise_std, answer.run.noise_source) == (0.02, "given")
    explicit, complete, corrected, informal = answer.upper
    assert explicit.constant == complete.constant == corrected.constant == "explicit"
    assert informal.constant == "hidden"
    assert explicit.value == pytest.approx(math.fsum(explicit.terms.values()), rel=1e-9)
    fewer = next(one for one in corrected.conditions if one.id == "enough-rounds")
    assert fewer.holds == "no"
    assert {ratio.upper for ratio in answer.ratios} == {explicit.theorem}
    (ratio,) = answer.ratios
    assert explicit.value is not None
    assert ratio.value == pytest.approx(explicit.value / answer.lower[0].scale, rel=1e-12)
    assert "hidden" in ratio.statement


def test_a_bound_that_applies_is_compared_too() -> None:
    answer = bounded(MB_SGD, rounds=1000)
    assert {ratio.upper for ratio in answer.ratios} == {"epsilond.mini-batch-sgd-excess-risk", "lowy.2.1"}
    both_hidden = [ratio for ratio in answer.ratios if "both are" in ratio.statement]
    assert len(both_hidden) == 1


def test_a_step_size_that_is_given_is_used_and_is_no_better() -> None:
    best, given = bounded(MB_SGD), bounded(MB_SGD, step_size=0.1)
    assert given.run.step_size == 0.1
    assert given.upper[0].value > best.upper[0].value  # type: ignore[operator]
    beyond = bounded(MB_SGD, step_size=1.5).upper[0]
    assert beyond.value == math.inf
    assert beyond.conditions[0].holds == "no"
    json.dumps(as_json(beyond), allow_nan=False)


def test_without_a_noise_it_is_the_certified_one() -> None:
    answer = bounded(MB_SGD, noise_std=None)
    certified = mb_sgd.CALIBRATOR.solve(mb_sgd.CALIBRATOR.problem(**mb_sgd.CALIBRATOR.example))
    assert answer.run.noise_source == "certified"
    assert answer.run.noise_std == certified.parameters.noise_std
    assert certified.risk is not None
    assert certified.risk.upper is not None
    assert answer.upper[0].value == pytest.approx(certified.risk.upper.value, rel=1e-12)


def test_the_data_at_hand_costs_no_stability_and_has_no_printed_population_bound() -> None:
    answer = bounded(MB_SGD, problem="empirical")
    (explicit,) = answer.upper
    assert explicit.terms["stability"] == 0.0


def test_losses_without_smoothness_are_bounded_on_an_envelope() -> None:
    answer = bounded(MB_SGD, smoothness=None)
    assert answer.run.envelope_smoothness is not None
    assert {above.theorem for above in answer.upper} == {"epsilond.federated-sgd-excess-risk", "lowy.2.2"}
    slower = bounded(MB_SGD, smoothness=None, step_size=0.001)
    assert slower.upper[0].value > answer.upper[0].value  # type: ignore[operator]


def test_strongly_convex_losses() -> None:
    answer = bounded(MB_SGD, strong_convexity=0.5, trust="central", radius=1.0)
    assert answer.lower[0].scale == pytest.approx(0.25 / (0.5 * 50_000) + 20 / 50_000**2, rel=1e-12)
    assert [above.constant for above in answer.upper] == ["explicit", "hidden", "hidden", "hidden"]


def test_groups_and_random_participation_show_their_aggregates() -> None:
    groups = [
        {"clients": 400_000, "samples_per_client": 1000},
        {"clients": 600_000, "samples_per_client": 500, "epsilon": 0.5, "delta": 1e-6},
    ]
    shares = [{"participants": 2, "probability": 0.5}, {"participants": 4, "probability": 0.5}]
    answer = bounded(
        MB_SGD, clients=1_000_000, participants=None, client_groups=groups, participation=shares, noise_std=None
    )
    seen = answer.aggregates
    assert seen is not None
    moments = ParticipationMoments.of([(2, 0.5), (4, 0.5)])
    assert (seen.participants, seen.rms_participants) == (moments.mean, moments.rms)
    worst = xi(epsilon=0.5, log_delta=math.log(1e-6), samples_per_client=500, rounds=100)
    assert seen.largest_xi == pytest.approx(worst, rel=1e-12)
    assert seen.average_psi == pytest.approx(seen.average_xi, rel=1e-12)
    assert answer.lower[0].scale == pytest.approx(1.0 * 2.0 / math.sqrt(1e9) * 0.5 + 2.0 * 20**0.5 / 1e6, rel=1e-9)
    assert "lower-bound-for-equal-clients" in codes(answer)
    assert [above.reading for above in answer.upper] == ["corrected", "complete", "corrected"]


def test_batches_drawn_with_replacement_have_no_explicit_bound() -> None:
    answer = bounded(MB_SGD, sampling="with-replacement")
    assert [above.theorem for above in answer.upper] == ["lowy.2.1", "lowy.2.1", "lowy.2.1"]
    assert answer.run.step_size is None
    assert "no-risk-for-this-sampling" in codes(answer)


# shuffled-mb-sgd ----------------------------------------------------------------------------------------------------
def test_a_shuffler_is_compared_with_central_bounds() -> None:
    answer = bounded(SHUFFLED)
    explicit, statement = answer.upper
    assert answer.lower[0].theorem == "lowy.f.3"
    assert statement.theorem == "lowy.4.1"
    assert statement.scale == pytest.approx(math.fsum(statement.terms.values()), rel=1e-12)
    assert explicit.value is not None
    assert answer.aggregates is None
    assert [above.theorem for above in bounded(SHUFFLED, smoothness=None).upper] == [
        "epsilond.federated-sgd-excess-risk"
    ]


def test_where_the_shuffled_statement_has_no_logarithm_it_has_no_order() -> None:
    answer = bounded(SHUFFLED, clients=10**6, participants=1, rounds=1, delta=1e-3)
    statement = answer.upper[1]
    assert (statement.theorem, statement.scale, statement.terms) == ("lowy.4.1", None, {})
    assert [one.id for one in statement.conditions if one.holds == "no"].count("some-noise") == 1
    assert all(ratio.upper != "lowy.4.1" for ratio in answer.ratios)


def test_the_certified_noise_of_a_shuffled_run() -> None:
    answer = bounded(SHUFFLED, noise_std=None, epsilon=20.0, rounds=20)
    assert answer.run.noise_source == "certified"
    assert answer.run.noise_std < 2.0


# The accelerated algorithms ------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("name", "theorem"), [("accelerated-mb-sgd", "lowy.e.1"), ("one-pass-accelerated-mb-sgd", "lowy.2.3")]
)
def test_stages_are_bounded_explicitly_beside_the_printed_orders(name: str, theorem: str) -> None:
    bounder = next(one for one in RISK_BOUNDS if one.name == name)
    calibrator = next(one for one in CALIBRATORS if one.name == name)
    answer = bounded(bounder)
    explicit, *printed = answer.upper
    assert explicit.theorem == "epsilond.accelerated-sgd-excess-risk"
    assert {one.theorem for one in printed} == {theorem}
    assert all(one.scale is not None for one in printed)
    # At the certified noise it is the bound that the calibrator itself serves.
    solved = calibrator.solve(calibrator.problem(**calibrator.example))
    again = bounded(
        bounder,
        noise_std=solved.parameters.noise_std,
        batch_size=solved.parameters.batch_size,
        rounds=solved.parameters.rounds,
    )
    assert solved.risk is not None
    assert solved.risk.upper is not None
    assert again.upper[0].value == solved.risk.upper.value
    with pytest.raises(InvalidInput, match="step_size"):
        read(bounder.problem, {**bounder.example, "step_size": 0.1})


def test_the_bound_of_re_used_records_is_of_the_data_at_hand() -> None:
    bounder = next(one for one in RISK_BOUNDS if one.name == "accelerated-mb-sgd")
    answer = bounded(bounder, problem="population")
    assert answer.upper == ()
    assert answer.ratios == ()
    assert "no-upper-bound-for-this-objective" in codes(answer)
    assert answer.lower[0].problem == "population"
