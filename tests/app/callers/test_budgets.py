"""CPU time is counted for each caller: lately used for the order, and an allowance that is a limit."""

from __future__ import annotations

import pytest

from epsilond.app.callers import caller as module
from epsilond.app.callers.caller import Budgets, Caller
from epsilond.app.callers.limits import CallerLimits
from epsilond.app.callers.scopes import DEFAULT_SCOPES
from epsilond.app.http.problems import Problem
from epsilond.app.metrics import Metrics
from epsilond.app.settings import Settings


class Clock:
    """A clock that moves when it is told to."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


def budgets(clock: Clock, **settings: object) -> Budgets:
    return Budgets(Settings(store_path=":memory:", **settings), Metrics(), clock)


def key(name: str, kept: Budgets, **limits: object) -> Caller:
    return Caller(
        name=name,
        identity=f"key:{name}",
        shown=name,
        scopes=DEFAULT_SCOPES,
        limits=CallerLimits(**limits),
        budgets=kept,
    )


def refused(caller: Caller) -> int:
    """Seconds after which a caller may ask again."""
    with pytest.raises(Problem) as raised:
        caller.require_cpu()
    assert raised.value.kind.slug == "rate-limited"
    return int(raised.value.headers["Retry-After"])


def test_what_was_used_is_halved_every_minute(clock: Clock) -> None:
    kept = budgets(clock)
    kept.charge("address:192.0.2.1", 8.0)
    clock.now += 60.0
    kept.charge("address:192.0.2.2", 5.0)
    assert kept.cpu_seconds_used("address:192.0.2.1") == pytest.approx(4.0)
    assert kept.cpu_seconds_used("address:192.0.2.1") < kept.cpu_seconds_used("address:192.0.2.2")
    clock.now += 120.0
    assert kept.cpu_seconds_used("address:192.0.2.1") == pytest.approx(1.0)
    assert kept.cpu_seconds_used("nobody") == 0.0


def test_an_allowance_is_ten_minutes_worth_and_fills_again(clock: Clock) -> None:
    kept = budgets(clock, workers=2, caller_cpu_seconds_per_minute=None)
    caller = Caller.at("192.0.2.1", kept)
    kept.charge(caller.identity, 899.0)
    caller.require_cpu()
    kept.charge(caller.identity, 31.0)
    assert refused(caller) == 20  # 30 s below nothing, at 90 s a minute
    with pytest.raises(Problem), caller.computation():
        pass
    with pytest.raises(Problem):
        caller.require_job(0)
    Caller.at("192.0.2.2", kept).require_cpu()
    clock.now += 19.0
    assert refused(caller) == 1
    clock.now += 1.5
    caller.require_cpu()
    clock.now += 1e6
    kept.charge(caller.identity, 901.0)
    assert refused(caller) >= 1


def test_a_key_may_have_a_limit_of_its_own(clock: Clock) -> None:
    kept = budgets(clock, caller_cpu_seconds_per_minute=1000.0)
    small, other = key("small", kept, cpu_seconds_per_minute=1.5), key("other", kept)
    for caller in (small, other):
        caller.require_cpu()
        kept.charge(caller.identity, 20.0)
    assert refused(small) == 200
    other.require_cpu()


def test_a_limit_that_was_changed_holds_from_then_on(clock: Clock) -> None:
    kept = budgets(clock, caller_cpu_seconds_per_minute=0.0)
    before = key("ada", kept)
    before.require_cpu()
    after = key("ada", kept, cpu_seconds_per_minute=6.0)
    after.require_cpu()
    kept.charge("key:ada", 61.0)
    assert refused(after) > 0
    key("ada", kept).require_cpu()


def test_nothing_is_limited_where_the_setting_is_0(clock: Clock) -> None:
    kept = budgets(clock, caller_cpu_seconds_per_minute=0.0)
    caller = Caller.at("192.0.2.1", kept)
    kept.charge(caller.identity, 1e9)
    caller.require_cpu()


def test_so_many_callers_are_remembered_and_those_that_compute_are_not_forgotten(
    clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "MOST_IDENTITIES", 3)
    kept = budgets(clock)
    busy = Caller.at("192.0.2.0", kept)
    with busy.computation():
        for last in range(1, 9):
            kept.charge(f"address:192.0.2.{last}", 1.0)
            assert len(kept) <= 3
        assert busy.account is kept.account(busy.identity)
    assert [last for last in range(9) if kept.cpu_seconds_used(f"address:192.0.2.{last}")] == [7, 8]


def test_jobs_of_one_caller_are_limited_without_a_key_too(clock: Clock) -> None:
    kept = budgets(clock, caller_jobs=2)
    anybody, few = Caller.at("192.0.2.1", kept), key("few", kept, jobs=1)
    anybody.require_job(1)
    few.require_job(0)
    for caller, live in ((anybody, 2), (few, 1)):
        with pytest.raises(Problem) as raised:
            caller.require_job(live)
        assert raised.value.kind.slug == "rate-limited"
        assert int(raised.value.headers["Retry-After"]) > 0


def test_a_label_is_a_keys_name_or_one_of_two_words(clock: Clock) -> None:
    kept = budgets(clock)
    identities = ["key:ada", *(f"token:{n}" for n in range(50)), "token-sha256:0", *(f"address:{n}" for n in range(50))]
    for identity in identities:
        kept.charge(identity, 0.5)
    samples = [sample for metric in kept.metrics.registry.collect() for sample in metric.samples]
    charged = {
        sample.labels["caller"]: sample.value
        for sample in samples
        if sample.name == "epsilond_caller_cpu_seconds_total"
    }
    assert charged == {"ada": 0.5, "token": 25.5, "anonymous": 25.0}
