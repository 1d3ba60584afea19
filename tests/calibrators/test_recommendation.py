"""A plan's recommendation: usable for three realistic problems, within limits, and never what says nothing."""

from __future__ import annotations

import functools
import itertools
import math
from typing import Any

import pytest

import epsilond
from epsilond.accountants.errors import InvalidInput
from epsilond.accountants.statements.settings import OBSERVERS
from epsilond.calibrators.planning.answer import PlanAnswer, PlanEntry
from epsilond.calibrators.planning.planners import PLANNERS
from epsilond.calibrators.planning.problem import LIMITS, PlanProblem
from epsilond.calibrators.planning.rankings import answer_of, drafts
from epsilond.calibrators.planning.recommendation import TRUST_RANKS, describe_bytes, name_of, share_of

LEARNING: dict[str, Any] = {
    "lipschitz": 1.0,
    "diameter": 10.0,
    "smoothness": 1.0,
    "observers": ["server", "shuffled-server", "released-models", "final-model", "other-clients"],
}
PROBLEMS: dict[str, dict[str, Any]] = {
    "devices": {
        "epsilon": 2.0,
        "delta": 1e-8,
        "clients": 10**6,
        "participants": 10**4,
        "samples_per_client": 50,
        "dimension": 10**6,
        "relation": "add-or-remove-one",
        "unit": "client",
    },
    "silos": {
        "epsilon": 2.0,
        "delta": 1e-6,
        "clients": 20,
        "samples_per_client": 5000,
        "dimension": 10**6,
        "relation": "replace-one",
        "unit": "record",
    },
    "personal": {
        "epsilon": 4.0,
        "delta": 1e-6,
        "clients": 10**5,
        "participants": 1000,
        "samples_per_client": 100,
        "dimension": 10**4,
        "objective": "personalized",
        "relation": "replace-one",
        "unit": "client",
    },
}
QUICK = ("mb-sgd", "accelerated-mb-sgd", "one-pass-accelerated-mb-sgd", "mu2-sgd", "ppsgd", "dp-fedavg", "gaussian")


@functools.cache
def _planned(name: str, changes: frozenset[tuple[str, Any]]) -> PlanAnswer:
    fields = {**LEARNING, **PROBLEMS[name], "algorithms": QUICK, **dict(changes)}
    return epsilond.plan(**{field: value for field, value in fields.items() if value is not None})


def planned(name: str, **changes: Any) -> PlanAnswer:
    return _planned(name, frozenset(changes.items()))


def chosen(answer: PlanAnswer) -> PlanEntry:
    return next(entry for entry in answer.entries if name_of(entry) == answer.recommended.entry)


@pytest.mark.parametrize(
    ("name", "algorithm", "definition", "unit"),
    [
        ("devices", "dp-fedavg", "central", "client"),
        ("silos", "mb-sgd", "local", "record"),
        ("personal", "ppsgd", "joint", "client"),
    ],
)
def test_realistic_problems_end_with_something_to_run(name: str, algorithm: str, definition: str, unit: str) -> None:
    answer = planned(name)
    best = chosen(answer)
    assert (best.algorithm, best.guarantee.definition, best.guarantee.unit) == (algorithm, definition, unit)
    assert best.applies == "yes"
    assert share_of(best) < 0.25
    assert best.rounds is not None
    assert best.rounds <= 2000
    assert str(best.rounds) in answer.recommended.why
    assert answer.recommended.why.startswith(algorithm)
    assert f" Neighbours: {best.guarantee.relation} (" in answer.recommended.why
    assert f" Against: {OBSERVERS[best.guarantee.observer]}." in answer.recommended.why


def test_a_million_devices_get_the_run_that_people_know() -> None:
    best = chosen(planned("devices"))
    assert best.calibration is not None
    assert best.calibration.parameters.noise_multiplier == pytest.approx(1.4212, rel=1e-4)
    assert (best.rounds, best.reports_per_client, best.bytes_per_client) == (2000, 20.0, 80e6)
    assert best.noise_norm == pytest.approx(0.14212, rel=1e-4)
    assert best.risk is not None
    assert best.remaining_share == best.risk.value / 10.0


def laws(answer: PlanAnswer, plan: dict[str, Any]) -> None:
    """What holds of every recommendation."""
    usable = [
        entry for entry in answer.entries if entry.applies == "yes" and share_of(entry) < 1.0 and not entry.exceeds
    ]
    assert (answer.recommended.entry is None) == (not usable)
    for price in answer.trusts:
        mine = [entry for entry in usable if entry.guarantee.definition == price.definition]
        assert (price.best is None) == (not mine)
        if price.best is not None and price.price is not None:
            assert price.price >= 1.0
            assert price.best in {name_of(entry) for entry in mine}
    if not usable:
        return
    assert min(price.price for price in answer.trusts if price.price is not None) == 1.0
    best = chosen(answer)
    assert not best.vacuous
    assert not best.exceeds
    wanted = [entry for entry in usable if entry.objective == plan.get("objective", entry.objective)] or usable
    proved = [entry for entry in wanted if entry.basis == "risk"] or wanted
    assert best in proved
    assert share_of(best) <= 1.1 * min(map(share_of, proved)) * (1 + 1e-12)
    less_trust = [
        one for one in proved if TRUST_RANKS[one.guarantee.definition] < TRUST_RANKS[best.guarantee.definition]
    ]
    assert all(share_of(one) > 1.1 * min(map(share_of, proved)) for one in less_trust)


@pytest.mark.parametrize("name", list(PROBLEMS))
@pytest.mark.parametrize(
    "changes",
    [{}, {"max_rounds": 30}, {"max_bytes_per_client": 10**7}, {"max_reports_per_client": 1.5}, {"dimension": 10**11}],
    ids=str,
)
def test_the_recommendation_keeps_its_own_rule_and_the_limits(name: str, changes: dict[str, Any]) -> None:
    answer = planned(name, **changes)
    laws(answer, PROBLEMS[name])
    if answer.recommended.entry is None:
        assert "No algorithm is proved" in answer.recommended.why or "limits" in answer.recommended.why
        return
    best = chosen(answer)
    assert best.rounds is not None
    assert best.rounds <= changes.get("max_rounds", math.inf)
    assert (best.bytes_per_client or 0.0) <= changes.get("max_bytes_per_client", math.inf)
    assert (best.reports_per_client or 0.0) <= changes.get("max_reports_per_client", math.inf)


def test_what_exceeds_a_limit_is_told_and_not_ranked() -> None:
    answer = planned("silos", rounds=100, max_bytes_per_client=4 * 10**6 * 99, batch_size=5000, sampling="full")
    over = [entry for entry in answer.entries if entry.exceeds]
    assert over
    for entry in over:
        assert entry.exceeds == ("max_bytes_per_client",)
        assert entry.rank is None
        assert any(reason.pointer == "/max_bytes_per_client" for reason in entry.why)
    ranked = set(itertools.chain.from_iterable(group.ranked for group in answer.groups))
    assert not ranked & {name_of(entry) for entry in over}
    laws(answer, {})


def test_limits_alone_are_no_unused_fields() -> None:
    setting: dict[str, Any] = {"relation": "replace-one", "unit": "record", "observers": ["server"]}
    plan = PlanProblem(epsilon=1.0, delta=1e-5, clients=10, **setting, **dict.fromkeys(LIMITS, 10**6))
    assert all(not set(each.unused) & set(LIMITS) for each in drafts(PLANNERS, plan))


def test_rounds_beyond_the_limit_cannot_be() -> None:
    with pytest.raises(InvalidInput) as caught:
        PlanProblem(
            epsilon=1.0,
            delta=1e-5,
            clients=10,
            rounds=11,
            max_rounds=10,
            relation="replace-one",
            unit="record",
            observers=["server", "shuffled-server", "released-models", "final-model", "other-clients"],
        )
    assert caught.value.faults[0].pointer == "/rounds"


def test_choices_are_the_frontier_of_the_algorithm() -> None:
    for name in ("devices", "silos"):
        answer = planned(name)
        best, choices = chosen(answer), answer.recommended.choices
        assert choices is not None
        (own,) = (one for one in choices if one.chosen)
        assert own.rounds == best.rounds
        assert own.total_bits == best.bits
        assert own.remaining_share == pytest.approx(share_of(best), rel=1e-9)
        assert own.bytes_per_client == best.bytes_per_client
        assert [one.rounds for one in choices] == sorted(one.rounds for one in choices)


@pytest.mark.parametrize("clipping_norm", [1.0, 4.0])
def test_choices_are_those_of_gradients_within_the_clipping_norm(clipping_norm: float) -> None:
    answer = planned("devices", clipping_norm=clipping_norm, algorithms=("dp-fedavg",))
    choices = answer.recommended.choices
    assert choices is not None
    for one in (choices[0], choices[-1]):
        alone = planned("devices", clipping_norm=clipping_norm, algorithms=("dp-fedavg",), rounds=one.rounds)
        assert one.remaining_share == pytest.approx(share_of(chosen(alone)), rel=1e-9)
        assert one.noise_to_signal == pytest.approx(chosen(alone).noise_to_signal, rel=1e-12)


def test_without_a_bound_the_noise_against_the_signal_decides() -> None:
    answer = planned("devices", lipschitz=None, diameter=None, algorithms=("dp-fedavg",))
    best = chosen(answer)
    assert (best.risk, best.basis) == (None, "noise")
    assert best.noise_to_signal == pytest.approx(0.14212, rel=1e-4)
    assert share_of(best) == pytest.approx(math.sqrt((1 + best.noise_to_signal**2) / 2000), rel=1e-12)
    assert "No bound on its risk is known" in answer.recommended.why


def test_rank_by_signal_ranks_the_noise_of_means() -> None:
    answer = planned("devices", rank_by="signal")
    for group in answer.groups:
        ratios = [entry.noise_to_signal for name in group.ranked for entry in answer.entries if name_of(entry) == name]
        assert None not in ratios
        assert ratios == sorted(ratios, key=float)


def test_relation_and_draw_of_the_plan_are_kept_where_it_says() -> None:
    def kinds(**changes: Any) -> dict[str, tuple[str, str]]:
        plan = PlanProblem(**{**LEARNING, **PROBLEMS["devices"], **changes})
        found = {each.name: each for each in drafts(PLANNERS, plan)}
        return {name: (found[name].guarantee.relation, found[name].request.sampling) for name in ("dp-fedavg", "ppsgd")}

    assert kinds() == {
        "dp-fedavg": ("add-or-remove-one", "poisson"),
        "ppsgd": ("add-or-remove-one", "without-replacement"),
    }
    assert kinds(client_sampling="without-replacement")["dp-fedavg"] == ("add-or-remove-one", "without-replacement")
    assert kinds(relation="replace-one")["dp-fedavg"] == ("replace-one", "poisson")
    assert kinds(client_sampling="poisson")["ppsgd"] == ("add-or-remove-one", "poisson")


def test_a_plan_with_nothing_to_go_on_says_what_is_missing() -> None:
    plan = PlanProblem(
        epsilon=1.0,
        delta=1e-5,
        clients=10,
        relation="replace-one",
        unit="record",
        observers=["server", "shuffled-server", "released-models", "final-model", "other-clients"],
    )
    answer = answer_of(plan, [(each, None) for each in drafts(PLANNERS, plan)])
    assert answer.recommended.entry is None
    assert "missing fields" in answer.recommended.why
    assert [price.definition for price in answer.trusts] == ["local", "shuffle", "central", "joint"]


@pytest.mark.parametrize(
    ("count", "words"),
    [
        (0.0, "0 bytes"),
        (999.4, "999 bytes"),
        (999.6, "1 kB"),
        (1234.0, "1.23 kB"),
        (999600.0, "1 MB"),
        (5e15, "5 PB"),
        (2e18, "2 EB"),
    ],
)
def test_bytes_have_no_exponent(count: float, words: str) -> None:
    assert describe_bytes(count) == words
