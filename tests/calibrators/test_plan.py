"""Plans: every calibrator is in every plan, entries are single calibrations, and only like is ranked with like."""

from __future__ import annotations

import dataclasses
import functools
import json
import math
import pickle
from typing import Any

import pytest

import epsilond
from epsilond.accountants.errors import Infeasible, InvalidInput
from epsilond.calibrators import CALIBRATORS
from epsilond.calibrators.answer import as_json
from epsilond.calibrators.planning.answer import PlanAnswer, PlanEntry
from epsilond.calibrators.planning.drafts import Draft
from epsilond.calibrators.planning.planners import PLANNERS
from epsilond.calibrators.planning.problem import PlanProblem, RankBy, Reach
from epsilond.calibrators.planning.rankings import Undecided, answer_of, drafts, outcome_of_calibration, settle
from epsilond.calibrators.planning.recommendation import name_of

COMMON: dict[str, Any] = {
    "delta": 1e-5,
    "clients": 20,
    "samples_per_client": 400,
    "dimension": 5,
    "lipschitz": 1.0,
    "diameter": 2.0,
    "smoothness": 1.0,
    "relation": "replace-one",
    "unit": "record",
    "observers": ["server", "shuffled-server", "released-models", "final-model", "other-clients"],
}
PACED = COMMON | {"epsilon": 1.0, "rounds": 10, "batch_size": 400, "sampling": "full", "optimum_norm": 1.0}
QUICK = ("mb-sgd", "accelerated-mb-sgd", "mu2-sgd", "ppsgd", "gaussian", "projected-sgd")


@functools.cache
def planned(rank_by: RankBy = "risk") -> PlanAnswer:
    return epsilond.plan(**PACED, algorithms=QUICK, rank_by=rank_by)


def entries(answer: PlanAnswer) -> dict[str, PlanEntry]:
    return {name_of(entry): entry for entry in answer.entries}


def drafted(name: str, **changes: Any) -> Draft:
    unit = {"unit": "client"} if name == "ppsgd" else {}
    plan = PlanProblem(**{**PACED, **unit, **changes})
    return next(each for each in drafts(PLANNERS, plan) if each.name == name)


def pointers(each: Draft) -> set[str | None]:
    assert each.request is None
    return {reason.pointer for reason in each.why}


def test_every_calibrator_is_in_every_plan() -> None:
    names = sorted(calibrator.name for calibrator in CALIBRATORS)
    assert sorted(planner.name for planner in PLANNERS) == names
    least = PlanProblem(
        epsilon=1.0,
        delta=1e-5,
        clients=10,
        relation="replace-one",
        unit="record",
        observers=["server", "shuffled-server", "released-models", "final-model", "other-clients"],
    )
    assert {each.calibrator.name for each in drafts(PLANNERS, least)} == set(names)
    shown = answer_of(least, [(each, None) for each in drafts(PLANNERS, least)])
    assert {entry.algorithm for entry in shown.entries} == set(names)
    assert all(entry.why for entry in shown.entries if entry.request is None)


@pytest.mark.parametrize("planner", PLANNERS, ids=lambda one: one.name)
def test_adapters_speak_of_fields_that_there_are(planner: Any) -> None:
    plans = {field.name for field in dataclasses.fields(PlanProblem)}
    own = {field.name for field in dataclasses.fields(planner.problem)}
    for adapter in planner.plans:
        assert {*adapter.copied, *adapter.read, *adapter.renamed.values()} <= plans
        assert {*adapter.copied, *adapter.renamed} <= own
    assert len({adapter.variant for adapter in planner.plans}) == len(planner.plans)


def test_drafts_cross_a_process_boundary() -> None:
    for each in drafts(PLANNERS, PlanProblem(**PACED, quantization_levels=64)):
        plan = PlanProblem(**PACED)
        adapter, request = pickle.loads(pickle.dumps((each.adapter, each.request)))
        assert (adapter.variant, request) == (each.adapter.variant, each.request)
        assert adapter.computed(plan) == each.adapter.computed(plan)


def test_entries_are_single_calibrations_of_their_requests() -> None:
    applying = [entry for entry in planned().entries if entry.applies == "yes"]
    assert {entry.algorithm for entry in applying} == set(QUICK) - {"projected-sgd", "ppsgd"}
    for entry in applying:
        assert entry.request is not None
        alone = epsilond.calibrate(entry.algorithm, **entry.request)
        assert as_json(entry.calibration) == as_json(alone)
        assert entry.noise_std == getattr(alone.parameters, "noise_std", None)
        assert entry.bits == (alone.communication.total_bits if alone.communication else None)
        assert entry.guarantee.definition == alone.guarantee.definition
        assert entry.guarantee.observer == alone.guarantee.observer


@pytest.mark.parametrize("rank_by", ["risk", "noise", "bits", "rounds"])
def test_ranks_follow_the_figures_within_groups_of_one_guarantee(rank_by: RankBy) -> None:
    found = planned(rank_by)
    named = entries(found)
    figures = {
        "risk": lambda entry: entry.risk.value,
        "noise": lambda entry: entry.noise_std,
        "bits": lambda entry: entry.bits,
        "rounds": lambda entry: entry.rounds,
    }
    seen = []
    for group in found.groups:
        members = [named[name] for name in (*group.ranked, *group.unranked)]
        assert {entry.guarantee for entry in members} == {group.guarantee}
        if rank_by == "risk":
            assert len({entry.objective for entry in members}) == 1
        ranked = [figures[rank_by](named[name]) for name in group.ranked]
        assert ranked == sorted(ranked)
        assert [named[name].rank for name in group.ranked] == [1 + ranked.index(one) for one in ranked]
        assert all(named[name].rank is None for name in group.unranked)
        seen += [*group.ranked, *group.unranked]
    assert sorted(seen) == sorted(name for name, entry in named.items() if entry.applies == "yes")


def test_empirical_and_population_risk_are_not_ranked_together() -> None:
    groups = [group for group in planned().groups if group.guarantee.definition == "local"]
    assert ("accelerated-mb-sgd",) in [group.ranked for group in groups]
    assert any("mb-sgd" in group.ranked and "accelerated-mb-sgd" not in group.ranked for group in groups)


def test_an_order_with_a_hidden_constant_and_an_infinite_bound_are_not_ranked() -> None:
    each = drafted("mb-sgd")
    real = as_json(each.calibrator.solve(each.request))
    plan = PlanProblem(**PACED)

    def ranked(**changes: Any) -> PlanEntry:
        upper = real["risk"]["upper"] | changes
        found = outcome_of_calibration(real | {"risk": {"upper": upper}}, each.request)
        return answer_of(plan, [(each, found)]).entries[0]

    assert ranked().rank == 1
    assert ranked(constant="hidden").rank is None
    assert ranked(value="unbounded").rank is None


def test_what_is_undecided_stands_between_what_applies_and_what_does_not() -> None:
    one, other = drafted("mb-sgd"), drafted("mu2-sgd (trusted server)")
    third = drafted("mb-sgd", trust=("central",))
    found = outcome_of_calibration(one.calibrator.solve(one.request), one.request)
    answer = answer_of(PlanProblem(**PACED), [(third, None), (other, Undecided("deadline")), (one, found)])
    assert [entry.applies for entry in answer.entries] == ["yes", "undecidable", "no"]
    assert answer.entries[1].why[0].message == "deadline"
    json.dumps(as_json(answer), allow_nan=False)


def test_equal_figures_share_a_rank() -> None:
    found = planned("bits")
    shared = [group for group in found.groups if {"mb-sgd", "accelerated-mb-sgd"} <= set(group.ranked)]
    assert len(shared) == 1
    named = entries(found)
    assert named["mb-sgd"].bits == named["accelerated-mb-sgd"].bits
    assert named["mb-sgd"].rank == named["accelerated-mb-sgd"].rank == 1


def test_big_counts_survive_both_forms() -> None:
    each = drafted("mb-sgd", dimension=10**12, rounds=1000)
    answer = each.calibrator.solve(each.request)
    told = json.loads(json.dumps(as_json(answer)))
    assert as_json(told) == told
    plan = PlanProblem(**PACED)
    both = [answer_of(plan, [(each, outcome_of_calibration(form, each.request))]) for form in (answer, told)]
    assert both[0].entries[0].bits == both[1].entries[0].bits == 32 * 10**12 * 1000 * 20
    assert as_json(both[0]) == as_json(both[1])


@pytest.mark.parametrize(
    ("name", "changes", "pointer"),
    [
        ("mb-sgd", {"trust": ("shuffle", "central", "joint")}, "/trust"),
        ("shuffled-mb-sgd", {"trust": ("local",)}, "/trust"),
        ("mb-sgd", {"observers": ("final-model",)}, "/observers"),
        ("ppsgd", {"unit": "record"}, "/unit"),
        ("mu2-sgd (untrusted server)", {"unit": "client"}, "/unit"),
        ("mu2-sgd (untrusted server)", {"smoothness": None}, "/smoothness"),
        ("mu2-sgd (trusted server)", {"rounds": 401}, "/rounds"),
        ("one-pass-accelerated-mb-sgd", {"smoothness": None}, "/smoothness"),
        ("one-pass-accelerated-mb-sgd", {"rounds": 2}, "/sampling"),
        ("one-pass-accelerated-mb-sgd", {"sampling": None}, "/rounds"),
        ("shuffled-mb-sgd", {"identically_distributed": False}, "/identically_distributed"),
        ("shuffled-mb-sgd", {}, "/sampling"),
        ("mb-sgd", {"batch_size": 401}, "/batch_size"),
        ("mb-sgd", {"diameter": None}, "/diameter"),
        ("qtdl", {}, "/quantization_levels"),
        ("norm-fedavg (trusted server)", {"quantization_levels": 8, "rounds": None}, "/rounds"),
        ("norm-fedavg (trusted server)", {"quantization_levels": 8, "relation": "add-or-remove-one"}, "/relation"),
        ("norm-fedavg (untrusted server)", {"quantization_levels": 8, "diameter": None}, "/initial_distance"),
        ("projected-sgd", {"samples_per_client": 400}, "/samples_per_client"),
        ("projected-sgd", {"samples_per_client": 1, "batch_size": 1, "participants": 5}, "/rounds"),
        ("projected-sgd", {"samples_per_client": None, "rounds": None, "smoothness": None}, "/step_size"),
        ("projected-sgd", {"samples_per_client": None, "rounds": None, "diameter": None}, "/diameter"),
        ("ppsgd", {"clipping_norm": None, "lipschitz": None}, "/clipping_norm"),
        ("gaussian", {"rounds": None, "dimension": None}, "/rounds"),
        ("gaussian", {"samples_per_client": None}, "/samples_per_client"),
    ],
)
def test_each_condition_is_told_where_it_breaks(name: str, changes: dict[str, Any], pointer: str) -> None:
    assert pointer in pointers(drafted(name, **changes))


def test_conditions_that_break_have_both_sides() -> None:
    for each, sides in (
        (drafted("mu2-sgd (trusted server)", rounds=401), (401.0, 400.0)),
        (drafted("projected-sgd", samples_per_client=1, batch_size=1, participants=5), (10.0, 4.0)),
    ):
        conditions = [reason.condition for reason in each.why if reason.condition is not None]
        assert [(one.left, one.right) for one in conditions] == [sides]


def test_a_need_is_told_in_words_with_its_symbol() -> None:
    why = drafted("mu2-sgd (untrusted server)", smoothness=None).why
    assert any("needs smoothness (L)" in reason.message for reason in why)


def test_what_an_algorithm_takes_no_account_of_is_listed() -> None:
    assert "batch_size" in drafted("mu2-sgd (untrusted server)").unused
    assert "smoothness" in drafted("gaussian").unused
    assert drafted("mb-sgd", optimum_norm=None).unused == ()


def test_clients_that_are_drawn_and_clients_as_units() -> None:
    some = drafted("ppsgd", participants=5, client_sampling="poisson").request
    assert (some.sampling, some.participation_rate) == ("poisson", 0.25)
    assert drafted("ppsgd", participants=5).request.sampling == "without-replacement"
    assert drafted("ppsgd").request.sampling == "full"
    whole = drafted("gaussian", unit="client", participants=5).request
    assert (whole.sampling, whole.batch_size, whole.population) == ("without-replacement", 5, 20)
    records = drafted("gaussian", participants=5, sampling=None).request
    assert (records.sampling, records.batch_size, records.population) == ("without-replacement", 2000, 8000)


@pytest.mark.parametrize("name", ["ppsgd", "gaussian"])
@pytest.mark.parametrize("limit", [{}, {"max_rounds": 7}, {"max_reports_per_client": 7.5}], ids=str)
def test_rounds_that_nothing_else_chooses_are_chosen_by_the_noise_that_is_likely(name: str, limit: Any) -> None:
    each = drafted(name, rounds=None, dimension=1000, **limit)
    rounds = each.request.rounds
    assert 1 <= rounds <= (7 if limit else 2000)
    assert "/rounds" in {reason.pointer for reason in each.why}
    shares = {}
    for count in {1, max(rounds // 2, 1), rounds}:
        plan = PlanProblem(**{**PACED, "dimension": 1000, "rounds": count})
        given = drafted(name, rounds=count, dimension=1000)
        ratio = answer_of(plan, [(given, settle(given, plan))]).entries[0].noise_to_signal
        assert ratio is not None
        shares[count] = math.sqrt((1 + ratio**2) / count)
    assert shares[rounds] <= 1.15 * min(shares.values())


@pytest.mark.parametrize(
    ("changes", "pointer"),
    [
        ({"epsilon": None}, "/epsilon"),
        ({"delta": None}, "/delta"),
        ({"participants": 21}, "/participants"),
        ({"trust": ()}, "/trust"),
        ({"algorithms": ("sgd",)}, "/algorithms/0"),
        ({"reach": Reach(risk=0.1, solve_for="epsilon")}, "/epsilon"),
        ({"rank_by": "bits", "epsilon": None, "reach": Reach(risk=0.1, solve_for="epsilon")}, "/rank_by"),
    ],
)
def test_plans_that_cannot_be(changes: dict[str, Any], pointer: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        drafts(PLANNERS, PlanProblem(**{**PACED, **changes}))
    assert caught.value.faults[0].pointer == pointer


def test_a_risk_of_nothing_is_refused() -> None:
    with pytest.raises(InvalidInput):
        Reach(risk=0.0, solve_for="clients")


REACHES = {
    "epsilon": ("one-pass-accelerated-mb-sgd", 0.2, COMMON),
    "samples_per_client": ("mu2-sgd", 0.5, COMMON | {"epsilon": 1.0}),
    "participants": ("one-pass-accelerated-mb-sgd", 0.13, COMMON | {"epsilon": 1.0, "clients": 200}),
    "clients": ("mu2-sgd", 0.4, COMMON | {"epsilon": 2.0}),
}


@pytest.mark.parametrize("unknown", list(REACHES))
def test_the_smallest_value_reaches_the_risk_and_the_next_smaller_does_not(unknown: str) -> None:
    algorithm, risk, shape = REACHES[unknown]
    given = {name: value for name, value in shape.items() if name != unknown}
    found = epsilond.plan(**given, algorithms=[algorithm], reach={"risk": risk, "solve_for": unknown})
    reached = [entry for entry in found.entries if entry.applies == "yes"]
    assert reached
    for entry in reached:
        assert entry.reach is not None
        assert entry.request is not None
        assert entry.reach.below is not None
        low, high = entry.reach.below.value, entry.reach.value
        assert high - low == 1 if unknown != "epsilon" and high <= 10_000 else low < high <= low * 1.00101
        alone = epsilond.calibrate(algorithm, **entry.request)
        assert alone.risk is not None
        assert alone.risk.upper is not None
        assert alone.risk.upper.value == entry.reach.risk <= risk
        below = {name: value for name, value in given.items() if name != unknown} | {
            unknown: low,
            "relation": "replace-one",
            "unit": "record",
            "observers": ["server", "shuffled-server", "released-models", "final-model", "other-clients"],
        }
        smaller = entries(epsilond.plan(**below, algorithms=[algorithm]))[name_of(entry)]
        assert smaller.risk is not None
        assert smaller.risk.value == entry.reach.below.risk > risk


def test_what_reaches_a_risk_is_ranked_by_what_it_takes() -> None:
    given = {name: value for name, value in COMMON.items() if name != "samples_per_client"} | {"epsilon": 1.0}
    reach = {"risk": 0.5, "solve_for": "samples_per_client"}
    found = epsilond.plan(**given, algorithms=["mu2-sgd", "one-pass-accelerated-mb-sgd"], reach=reach)
    local = next(group for group in found.groups if group.guarantee.definition == "local")
    values = [entries(found)[name].reach.value for name in local.ranked]  # type: ignore[union-attr]
    assert len(values) == 2
    assert values == sorted(values)
    assert "samples_per_client" in local.compares


def test_a_risk_that_nothing_reaches_is_told_with_both_sides() -> None:
    reach = {"risk": 1e-6, "solve_for": "epsilon"}
    found = epsilond.plan(**COMMON, algorithms=["mu2-sgd", "gaussian"], reach=reach, rounds=5, batch_size=1)
    assert [entry.applies for entry in found.entries] == ["no"] * 3
    told = entries(found)["mu2-sgd (untrusted server)"].why[0]
    assert told.condition is not None
    assert told.condition.right == 1e-6 < (told.condition.left or math.nan)
    assert "bounds its risk" in entries(found)["gaussian"].why[0].message


def test_a_refusal_of_the_mathematics_is_an_entry_of_its_own() -> None:
    one = drafted("mb-sgd")
    shown = answer_of(PlanProblem(**PACED), [(one, Infeasible("nothing meets it", None, {"epsilon": 2.0}))]).entries[0]
    assert shown.applies == "no"
    assert shown.why[0].nearest == {"epsilon": 2.0}


def test_open_rounds_of_a_plan_are_the_smallest_that_are_good_enough() -> None:
    """What a plan recommends is what its algorithm answers: no run that is there because its bound falls by a hair."""
    names = ("mb-sgd", "accelerated-mb-sgd", "one-pass-accelerated-mb-sgd", "shuffled-mb-sgd")
    for name in names:
        paced = {"rounds": None, "batch_size": None, "sampling": None}
        default, best = (drafted(name, **paced, **changes).request for changes in ({}, {"within": 0.0}))
        assert (default.within, best.within) == (0.1, 0.0)
    open_ = {**COMMON, "epsilon": 1.0, "unit": "client", "algorithms": ["mb-sgd", "accelerated-mb-sgd"]}
    default, best = (
        epsilond.plan(**open_, max_gradients=20_000),
        epsilond.plan(**open_, max_gradients=20_000, within=0.0),
    )
    for name in ("mb-sgd", "accelerated-mb-sgd"):
        small, large = entries(default)[name], entries(best)[name]
        assert small.rounds is not None
        assert large.rounds is not None
        assert small.rounds < large.rounds
        assert small.risk is not None
        assert large.risk is not None
        assert small.risk.value <= 1.1 * large.risk.value
        assert small.calibration is not None
        assert small.calibration.frontier is not None


def test_a_plan_for_many_clients_of_few_records_asks_for_few_rounds() -> None:
    """Bounds that hardly fall any more once took 16 025 to 50 000 rounds here."""
    names = ("mb-sgd", "accelerated-mb-sgd", "one-pass-accelerated-mb-sgd")
    found = epsilond.plan(
        epsilon=2.0, delta=1e-8, clients=10**6, participants=10**4, samples_per_client=50, dimension=10**6,
        lipschitz=1.0, diameter=10.0, smoothness=1.0, algorithms=list(names), relation="replace-one", unit="record", observers=["server", "shuffled-server", "released-models", "final-model", "other-clients"],
    )  # fmt: skip
    for name in names:
        rounds = entries(found)[name].rounds
        assert rounds is not None
        assert rounds < 100
