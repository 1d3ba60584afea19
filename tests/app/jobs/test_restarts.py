"""What a restart leaves: every result, and everything that had not ended in the queue again, to the same result."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from itertools import groupby
from pathlib import Path
from threading import Event
from typing import Any

import httpx
import pytest

from epsilond.app.settings import Settings
from tests.app.conftest import PATIENCE, PATIENT, problem, sample_of, serving, wait_until
from tests.app.jobs.services import apart
from tests.app.jobs.support import (
    AT_ONCE,
    BUSY,
    JOBS,
    LONG,
    PATH,
    WAIT,
    asked,
    done,
    events,
    expected,
    has_begun,
    held,
    process_of,
    running,
)
from tests.app.processes import gone
from tests.app.toys import may_end

SLOW = "/v1/calibrations/slow-toy"
KEY = {"idempotency-key": "k"}


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    """Of services that follow one another over one file."""
    return PATIENT.model_copy(update={"store_path": str(tmp_path / "jobs.sqlite")})


def begun(client: httpx.Client, diary: Path) -> tuple[dict[str, Any], str, str]:
    """One simulation that is done, one that runs, whose blocks take two seconds each, and one that waits."""
    ended = client.post(PATH, json={"kind": "dice", "seed": 3}, headers=WAIT | KEY).json()
    assert ended["state"] == "done"
    runs = running(client, {"kind": "dice", "seed": 7, "seconds": 2.0, "blocks": 2}, diary)
    return ended, runs, client.post(PATH, json={"kind": "coin", "seed": 4}).headers["location"]


def require_kept(client: httpx.Client, ended: dict[str, Any], runs: str, waits: str) -> None:
    """Fail unless what was done is as it was, and the others come to the results of single runs."""
    assert client.get(ended["links"]["self"]).json() == ended
    assert client.post(PATH, json={"kind": "dice", "seed": 3}, headers=KEY).json() == ended
    for each, body in ((runs, {"kind": "dice", "seed": 7, "blocks": 2}), (waits, {"kind": "coin", "seed": 4})):
        document = done(client, each)
        assert (document["state"], document["result"]) == ("done", expected(body))
        assert [event for event, _, _ in events(client.get(f"{each}/events"))] == ["done"]


def followed(url: str, begun: Event) -> list[str]:
    """The kinds of events told until the stream ends, each once in a row; `begun` is set once the first can come."""
    with httpx.stream("GET", url, timeout=PATIENCE) as response:
        begun.set()
        response.read()
        return [kind for kind, _ in groupby(kind for kind, _, _ in events(response))]


def test_a_stop_puts_back_what_has_not_ended(settings: Settings, tmp_path: Path) -> None:
    with ThreadPoolExecutor(2) as pool, serving(settings) as client:
        ended, runs, waits = begun(client, tmp_path / "diary")
        url, listening = str(client.base_url), Event()
        following = pool.submit(followed, f"{url}{runs}/events", listening)
        body = {"kind": "coin", "seed": 5}
        waiting = pool.submit(httpx.post, f"{url}{PATH}", json=body, headers=WAIT, timeout=2 * PATIENCE)
        wait_until(lambda: len(client.get(JOBS).json()["jobs"]) == 4)
        assert listening.wait(PATIENCE)
    wait_until(lambda: gone(process_of(tmp_path / "diary")))
    assert following.result()[0] == "progress"
    assert following.result()[-1] in ("progress", "done")  # it may have ended meanwhile, but it is never interrupted
    told = waiting.result()
    assert told.status_code in (200, 202)
    with serving(settings) as client:
        require_kept(client, ended, runs, waits)
        assert done(client, told.headers["location"])["result"] == expected(body)


def test_a_store_in_memory_is_forgotten_and_says_so(tmp_path: Path) -> None:
    with ThreadPoolExecutor(2) as pool, serving(PATIENT) as client:
        runs = running(client, LONG, tmp_path / "diary")
        url, listening = str(client.base_url), Event()
        following = pool.submit(followed, f"{url}{runs}/events", listening)
        waiting = pool.submit(httpx.get, f"{url}{runs}", headers=WAIT, timeout=2 * PATIENCE)
        assert listening.wait(PATIENCE)
        wait_until(lambda: sample_of(client, "epsilond_job_waits") == 1)
    assert following.result() == ["progress", "interrupted"]
    assert waiting.result().json()["state"] in ("running", "interrupted")
    wait_until(lambda: gone(process_of(tmp_path / "diary")))


def test_a_kill_loses_nothing_and_leaves_no_process(settings: Settings, tmp_path: Path) -> None:
    with apart(store_path=settings.store_path) as served:
        ended, runs, waits = begun(served.client, tmp_path / "diary")
        children = served.children()
        assert process_of(tmp_path / "diary") in children
        served.kill()
    wait_until(lambda: all(map(gone, children)))
    with serving(settings) as client:
        require_kept(client, ended, runs, waits)


def test_questions_are_answered_after_a_kill(settings: Settings, tmp_path: Path) -> None:
    diary, key = tmp_path / "diary", {"idempotency-key": "question"}
    body = {"seconds": 100.0, "diary": str(diary)}
    with apart(store_path=settings.store_path) as served:
        location = served.client.post(BUSY, json=body, headers=AT_ONCE | key).headers["location"]
        wait_until(lambda: has_begun(diary))
        with held(served.client, tmp_path / "held"):
            refused = served.client.post(SLOW, json={"epsilon": 401, "clients": 1}, headers=AT_ONCE)
        assert done(served.client, refused.headers["location"])["state"] == "failed"
        served.kill()
    may_end(diary).touch()
    with serving(settings) as client:
        job = done(client, location)
        assert (job["state"], job["request"]) == ("done", body)
        same = client.post(BUSY, json=body, headers=key)
        assert (same.status_code, same.content) == (200, client.get(job["links"]["result"]).content)
        direct = problem(client.post(SLOW, json={"epsilon": 401, "clients": 1}), 409, "condition-violated")
        assert client.get(refused.headers["location"]).json()["problem"] == direct
        again = client.get(f"{refused.headers['location']}/result")
        assert problem(again, 409, "condition-violated") == direct


def test_a_question_under_way_at_the_end_is_answered_later(settings: Settings, tmp_path: Path) -> None:
    diary = tmp_path / "diary"
    body = {"seconds": 100.0, "diary": str(diary), "way": "spin"}
    with ThreadPoolExecutor(1) as pool:
        with apart(store_path=settings.store_path, drain_seconds=0.5, deadline_seconds=PATIENCE) as served:
            url = str(served.client.base_url)
            waiting = pool.submit(httpx.post, f"{url}{BUSY}", json=body, timeout=PATIENCE)
            wait_until(lambda: has_begun(diary))
            served.stop()
        taken = waiting.result()
    assert taken.status_code == 202, taken.text
    assert (taken.json()["state"], taken.json()["kind"]) == ("queued", "calibration")
    assert int(taken.headers["retry-after"]) > 0
    wait_until(lambda: gone(process_of(diary)))
    may_end(diary).touch()
    with serving(settings) as client:
        assert done(client, taken.headers["location"])["result"]["algorithm"] == "busy"


@pytest.mark.parametrize(("store", "drain"), [("jobs.sqlite", PATIENCE), (":memory:", 0.0)])
def test_a_question_may_end_while_the_service_drains(store: str, drain: float, tmp_path: Path) -> None:
    diary = tmp_path / "diary"  # where jobs are not kept, the deadline counts instead of the time to drain
    path = store if store == ":memory:" else str(tmp_path / store)
    with ThreadPoolExecutor(2) as pool, apart(store_path=path, drain_seconds=drain, deadline_seconds=300.0) as served:
        url, body = str(served.client.base_url), {"seconds": 100.0, "diary": str(diary)}
        waiting = pool.submit(httpx.post, f"{url}{BUSY}", json=body, timeout=PATIENCE)
        wait_until(lambda: has_begun(diary))
        stopping = pool.submit(served.stop)
        wait_until(lambda: refuses(url))
        may_end(diary).touch()
        assert waiting.result().status_code == 200, waiting.result().text
        stopping.result()


def refuses(url: str) -> bool:
    """Whether a service takes no connection any more."""
    try:
        httpx.get(f"{url}/healthz", timeout=PATIENCE)
    except httpx.TransportError:
        return True
    return False


def test_a_job_that_was_cancelled_stays_cancelled(settings: Settings, tmp_path: Path) -> None:
    with serving(settings) as client:
        job = asked(client, tmp_path / "diary").headers["location"]
        cancelled = client.delete(job).json()
        assert cancelled["state"] == "cancelled"
    with serving(settings) as client:
        assert client.get(job).json() == cancelled
        problem(client.get(f"{job}/result"), 409, "no-result")
        assert client.delete(job).status_code == 204
        assert client.get(JOBS).json() == {"jobs": []}
