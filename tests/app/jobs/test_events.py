"""Events of jobs: every step and the end, to slow, late and returning clients."""

from __future__ import annotations

import json
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import anyio
import httpx
import pytest

from epsilond.app.jobs.running import RunningQuestion, RunningSimulation
from epsilond.app.jobs.shelf import Shelf
from epsilond.app.jobs.waiting import Waiting
from epsilond.app.metrics import Metrics
from epsilond.app.questions.simulations import SimulationAsked
from epsilond.app.store import Store
from epsilond.app.store.record import Record
from tests.app import toy_simulations as toys
from tests.app.conftest import PATIENT, problem, sample_of, serving, wait_until
from tests.app.jobs.support import LONG, PATH, asked, events, running
from tests.app.store.samples import queued
from tests.app.toys import may_end


def test_events_tell_every_step_and_the_end(client: httpx.Client) -> None:
    location = client.post(PATH, json={"kind": "dice", "blocks": 4, "seconds": 0.2}).headers["location"]
    stream = client.get(f"{location}/events")
    assert stream.headers["content-type"].startswith("text/event-stream")
    told = events(stream)
    assert [event for event, _, _ in told] == ["progress"] * (len(told) - 1) + ["done"]
    assert len({identifier for _, identifier, _ in told}) == len(told)
    steps = [data["progress"]["done"] for _, _, data in told]
    assert steps == sorted(steps)
    assert {1, 2, 3, 4} <= set(steps)
    assert told[-1][2]["state"] == "done"
    assert all("result" not in data and data["links"]["self"] == location for _, _, data in told)
    # One who comes late is told the end at once; one who has seen it need not come again.
    assert events(client.get(f"{location}/events")) == [told[-1]]
    before_the_end = client.get(f"{location}/events", headers={"last-event-id": told[-2][1]})
    assert events(before_the_end) == [told[-1]]
    after = client.get(f"{location}/events", headers={"last-event-id": told[-1][1]})
    assert (after.status_code, after.content) == (204, b"")


def test_a_question_is_followed_in_words_of_jobs(client: httpx.Client, tmp_path: Path) -> None:
    job = asked(client, tmp_path / "diary")
    with client.stream("GET", job.json()["links"]["events"]) as stream:
        lines = stream.iter_lines()
        assert next(lines) == "event: progress"
        may_end(tmp_path / "diary").touch()
        rest = list(lines)
    assert [line for line in rest if line.startswith("event")][-1] == "event: done"
    last = json.loads([line for line in rest if line.startswith("data")][-1].removeprefix("data: "))
    assert (last["kind"], last["name"], last["state"]) == ("calibration", "busy", "done")
    assert (last["progress"]["done"], last["progress"]["of"]) == (1, 1)
    assert last["links"]["result"] == f"{job.headers['location']}/result"
    assert not {"request", "result", "problem"} & last.keys()


def test_a_long_block_counts_down(client: httpx.Client, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("epsilond.app.jobs.waiting.TELL_SECONDS", 0.2)
    location = running(client, LONG | {"blocks": 1}, tmp_path / "diary")
    with client.stream("GET", f"{location}/events") as stream:
        data = (json.loads(line.removeprefix("data: ")) for line in stream.iter_lines() if line.startswith("data: "))
        told = [next(data)["progress"] for _ in range(4)]
    client.delete(location)
    left = [each["seconds_left"] for each in told]
    assert all(earlier >= later for earlier, later in pairwise(left))
    assert left[0] <= 60.0
    assert {each["done"] for each in told} == {0}


def test_the_time_left_is_of_the_blocks_that_are_left(monkeypatch: pytest.MonkeyPatch) -> None:
    now = 100.0
    monkeypatch.setattr("epsilond.app.jobs.running.time", SimpleNamespace(monotonic=lambda: now))
    plan = toys.plan_dice(toys.Dice(blocks=4, seconds=10.0))
    record = Record(
        id="a", kind="simulation", name="dice", created=0.0, steps=4, seconds=40.0, engine_version="", fingerprint="",
        request=b"",
    )  # fmt: skip
    read = SimulationAsked(kind="dice", request=b"", rendered=b"", fingerprint="", plan=plan)

    async def taken() -> RunningSimulation:
        return RunningSimulation(record=record, simulation=read, concurrency=2)

    live = anyio.run(taken)
    assert live.seconds_left == 20.0
    live.begin_block(0)
    live.begin_block(1)
    now = 104.0
    assert live.seconds_left == 16.0
    now = 150.0  # both should have ended long ago: the two others are left
    assert live.seconds_left == 10.0
    anyio.run(measured, live)
    assert live.seconds_left == (3 * 50.0 - 50.0) / 2
    live.begun.clear()
    assert live.seconds_left == 75.0


def test_a_question_that_outlasts_its_estimate_has_none(monkeypatch: pytest.MonkeyPatch) -> None:
    now = 100.0
    monkeypatch.setattr("epsilond.app.jobs.running.time", SimpleNamespace(monotonic=lambda: now))
    record = Record(
        id="a", kind="sweep", name="mb-sgd", created=0.0, steps=4, seconds=40.0, engine_version="", fingerprint="",
        request=b"",
    )  # fmt: skip

    async def taken(record: Record, done: int) -> RunningQuestion:
        shared: Any = SimpleNamespace(parts_done=done)
        return RunningQuestion(record=record, shared=shared, began=100.0)

    whole, none_done, one_done = (
        anyio.run(taken, each, done) for each, done in ((replace(record, steps=1), 0), (record, 0), (record, 1))
    )
    now = 110.0
    assert [each.seconds_left for each in (whole, none_done, one_done)] == [30.0, 40.0, 30.0]
    now = 160.0  # a minute for what was to take forty seconds
    assert [each.seconds_left for each in (whole, none_done, one_done)] == [None, None, 180.0]
    assert whole.job.progress is not None
    assert whole.job.progress.seconds_left is None


async def measured(live: RunningSimulation) -> None:
    """Its second block is done."""
    assert live.end_block(1, b"") == 50.0


def test_events_of_one_that_is_cancelled(client: httpx.Client, tmp_path: Path) -> None:
    location = running(client, LONG, tmp_path / "diary")
    with client.stream("GET", f"{location}/events") as stream:
        lines = stream.iter_lines()
        assert next(lines) == "event: progress"
        client.delete(location)
        assert [line for line in lines if line.startswith("event")][-1] == "event: cancelled"


def test_quiet_streams_are_kept_alive(client: httpx.Client, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("fastapi.routing._PING_INTERVAL", 0.05)
    location = running(client, LONG, tmp_path / "diary")
    with client.stream("GET", f"{location}/events") as stream:
        assert any(line.startswith(":") for line in stream.iter_lines())
    client.delete(location)


def test_a_stream_is_over_where_its_store_is_gone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("epsilond.app.jobs.waiting.LOOK_SECONDS", 0.01)
    store = Store.open(PATIENT)
    queued(store, "a")

    async def told() -> list[str]:
        waiting, states = Waiting(Shelf(store, "me", Metrics().store_up), {}), []
        async for job in waiting.changes("", "a"):
            states.append(job.record.state)
            store.close()
        return states

    assert anyio.run(told) == ["queued"]


def test_so_many_streams_at_one_time(tmp_path: Path) -> None:
    with serving(PATIENT.model_copy(update={"event_streams": 1})) as client:
        location = running(client, LONG, tmp_path / "diary")
        with client.stream("GET", f"{location}/events") as stream:
            lines = stream.iter_lines()  # kept, since httpx closes the connection when its iterator goes
            assert next(lines) == "event: progress"
            refused = client.get(f"{location}/events")
            problem(refused, 429, "too-many-requests")
            assert int(refused.headers["retry-after"]) > 0
        wait_until(lambda: sample_of(client, "epsilond_event_streams") == 0)
        client.delete(location)
        assert [event for event, _, _ in events(client.get(f"{location}/events"))] == ["cancelled"]
