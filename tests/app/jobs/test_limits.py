"""What is refused: what cannot be run, what is too long or too large, and one more than there is room for."""

from __future__ import annotations

from pathlib import Path
from threading import Event

import httpx
import pytest

from epsilond.accountants.errors import BeyondBudget
from epsilond.app.jobs.limits import SimulationLimits, require_within
from epsilond.app.settings import Settings
from epsilond.app.store import Store
from epsilond.questions.simulate import simulation_request
from epsilond.witness.risks.measurement import RISK
from tests.app.conftest import PATIENCE, PATIENT, problem, serving, wait_until
from tests.app.jobs.support import AT_ONCE, BUSY, JOBS, LONG, PATH, asked, done, finished
from tests.app.toys import may_end


def test_bodies_are_checked_like_any_other(client: httpx.Client) -> None:
    for body, pointer in (
        ({"kind": "die"}, "/kind"),
        ({"kind": "coin"}, "/seed"),
        ({"kind": "dice", "blocks": 0}, "/blocks"),
        ({"kind": "dice", "way": "never"}, "/way"),
    ):
        told = problem(client.post(PATH, json=body), 422, "invalid-input")
        assert [fault["pointer"] for fault in told["errors"]] == [pointer]
    problem(client.post(PATH, content=b"{", headers={"content-type": "application/json"}), 400, "malformed-json")


def test_what_is_too_long_is_refused_up_front(strict: httpx.Client) -> None:
    told = problem(strict.post(PATH, json={"kind": "dice", "blocks": 1000, "seconds": 1.0}), 409, "beyond-budget")
    assert told["condition"]["id"] == "service.job-seconds"
    assert (told["condition"]["left"], told["condition"]["right"]) == (1000.0, 100.0)
    assert told["nearest"] == {"blocks": 100}
    nearest = {"kind": "dice", "blocks": 100, "seconds": 1.0, "way": "fail"}
    assert strict.post(PATH, json=nearest).status_code == 202
    too_much = problem(strict.post(PATH, json={"kind": "coin", "seed": 10**10}), 409, "beyond-budget")
    assert too_much["condition"]["id"] == "service.job-memory"
    assert too_much["condition"]["left"] == 1e10
    assert "nearest" not in too_much
    assert "rounds" not in too_much["detail"]


def test_where_no_size_fits_the_rounds_are_named() -> None:
    run, problem_ = {"algorithm": "mb-sgd", "rounds": 10**6, "batch_size": 5, "step_size": 0.5, "noise_std": 0.1}, {
        "kind": "mean-estimation", "clients": 3, "samples_per_client": 30, "dimension": 2
    }  # fmt: skip
    request = simulation_request({"kind": "risk", "run": run, "problem": problem_, "repetitions": 4})
    limits = SimulationLimits.of(Settings(job_seconds=1e-6))
    with pytest.raises(BeyondBudget, match=r"No repetitions are few enough: ask for fewer rounds\.") as refused:
        require_within(limits, RISK, request, RISK.plan(request))
    assert refused.value.nearest == {}


def test_what_blocks_hold_is_bounded(strict: httpx.Client) -> None:
    failed = finished(strict, {"kind": "dice", "way": "fill", "blocks": 50})
    assert failed["problem"]["type"] == "/problems/beyond-budget"
    assert failed["progress"]["done"] < 50


def test_a_full_queue_says_when_to_come_back(strict: httpx.Client) -> None:
    taken = [strict.post(PATH, json=LONG | {"blocks": 1, "seed": seed}) for seed in range(2)]
    wait_until(lambda: len(strict.get(JOBS, params={"state": "running"}).json()["jobs"]) == 2)
    taken.append(strict.post(PATH, json={"kind": "coin", "seed": 1}))
    refused = strict.post(PATH, json={"kind": "coin", "seed": 1})
    problem(refused, 429, "too-many-requests")
    assert 1 <= int(refused.headers["retry-after"]) <= 60
    last = taken[-1].headers["location"]
    assert strict.get(last).json()["state"] == "queued"
    assert strict.get("/v1/algorithms").status_code == 200
    assert strict.post(BUSY, json={"seconds": 0.011}).status_code == 200
    late = strict.post(BUSY, json={"seconds": 50.0}, headers=AT_ONCE)
    problem(late, 429, "too-many-requests")
    assert int(late.headers["retry-after"]) >= 1
    assert [strict.delete(each.headers["location"]).json()["state"] for each in reversed(taken)] == ["cancelled"] * 3
    assert finished(strict, {"kind": "coin", "seed": 1})["state"] == "done"


def test_as_many_as_there_are_places_may_come_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    claim, begin = Store.claim, Event()
    monkeypatch.setattr(Store, "claim", lambda *given, **named: claim(*given, **named) if begin.is_set() else [])
    chosen = {"job_workers": 2, "job_queue": 1, "lease_seconds": 2.0}
    with serving(PATIENT.model_copy(update=chosen)) as client:
        taken = [client.post(PATH, json={"kind": "coin", "seed": seed}) for seed in range(3)]  # two places, one waits
        assert [each.status_code for each in taken] == [202] * 3
        problem(client.post(PATH, json={"kind": "coin", "seed": 3}), 429, "too-many-requests")
        begin.set()
        assert {done(client, each.headers["location"])["state"] for each in taken} == {"done"}


def test_a_caller_has_so_many_jobs(tmp_path: Path) -> None:
    with serving(PATIENT.model_copy(update={"caller_jobs": 2})) as client:
        diaries = [tmp_path / str(place) for place in range(2)]
        first = asked(client, diaries[0])
        second = client.post(PATH, json=LONG).headers["location"]
        for refused in (
            client.post(BUSY, json={"seconds": 50.0}, headers=AT_ONCE),
            client.post(PATH, json={"kind": "coin", "seed": 1}),
        ):
            problem(refused, 429, "rate-limited")
            assert int(refused.headers["retry-after"]) > 0
        assert len(client.get(JOBS).json()["jobs"]) == 2
        elsewhere = httpx.HTTPTransport(local_address="127.0.0.2")  # without keys, callers are told apart by address
        with httpx.Client(base_url=client.base_url, transport=elsewhere, timeout=PATIENCE) as other:
            third = other.post(PATH, json=LONG)
            assert third.status_code == 202, third.text
            assert other.delete(third.headers["location"]).status_code == 200
        assert client.delete(second).json()["state"] == "cancelled"
        may_end(diaries[0]).touch()
        assert done(client, first.headers["location"])["state"] == "done"
        assert finished(client, {"kind": "coin", "seed": 1})["state"] == "done"
