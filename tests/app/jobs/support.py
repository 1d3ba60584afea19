"""Jobs as tests post and watch them: simulations of the toys, and busy questions with a diary."""

from __future__ import annotations

import json
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx

from epsilond.app.workers.work import render
from tests.app import toy_simulations as toys
from tests.app.conftest import wait_until
from tests.app.toys import may_end

PATH = "/v1/simulations"
JOBS = "/v1/jobs"
BUSY = "/v1/calibrations/busy"
WAIT = {"prefer": "wait=600"}
AT_ONCE = {"prefer": "respond-async"}
LONG: dict[str, Any] = {"kind": "dice", "seconds": 60.0, "way": "spin"}
"""A simulation whose blocks spin for a minute each."""


def expected(body: dict[str, Any]) -> Any:
    """A simulation's result, from the functions of its kind called one after another."""
    kind = next(kind for kind in toys.KINDS if kind.example["kind"] == body["kind"])
    request = kind.request(**body)
    resolved = kind.prepare(request)
    blocks = [kind.run_block(resolved, index) for index in range(kind.plan(request).blocks)]
    return json.loads(render(kind.assemble(request, resolved, blocks)))


def finished(client: httpx.Client, body: dict[str, Any], **headers: str) -> dict[str, Any]:
    """Return the job of a simulation, once it has ended."""
    response = client.post(PATH, json=body, headers=WAIT | headers)
    assert response.status_code == 200, response.text
    document: dict[str, Any] = response.json()
    return document


def running(client: httpx.Client, body: dict[str, Any], diary: Path) -> str:
    """The address of a simulation whose first block has begun."""
    taken = client.post(PATH, json=body | {"diary": str(diary)})
    assert taken.status_code == 202, taken.text
    wait_until(lambda: has_begun(diary))
    return taken.headers["location"]


def asked(client: httpx.Client, diary: Path, **more: Any) -> httpx.Response:
    """A busy question that became a job at once, and has begun. It ends when the file beside its diary is there."""
    body = {"seconds": 100.0, "diary": str(diary)} | more
    taken = client.post(BUSY, json=body, headers=AT_ONCE)
    assert taken.status_code == 202, taken.text
    wait_until(lambda: has_begun(diary))
    return taken


@contextmanager
def held(client: httpx.Client, diary: Path) -> Iterator[None]:
    """Within this, the one worker of questions has something to do, so that whoever does not wait gets a job."""
    with ThreadPoolExecutor(1) as pool:
        holding = pool.submit(client.post, BUSY, json={"seconds": 100.0, "diary": str(diary)}, headers=WAIT)
        wait_until(lambda: has_begun(diary))
        try:
            yield
        finally:
            may_end(diary).touch()
            assert holding.result().status_code == 200


def has_begun(diary: Path) -> bool:
    """Whether there is a line in the diary."""
    return diary.exists() and diary.read_text().endswith("\n")


def process_of(diary: Path) -> int:
    """The worker that wrote last."""
    return int(diary.read_text().splitlines()[-1].split()[1])


def done(client: httpx.Client, path: str) -> dict[str, Any]:
    """The job, once it has ended, wherever it runs."""
    found: dict[str, Any] = {}

    def ended() -> bool:
        found.update(answered(client.get(path, headers=WAIT)))
        return found["state"] not in ("queued", "running")

    wait_until(ended)
    return found


def answered(response: httpx.Response) -> dict[str, Any]:
    """What a 200 holds."""
    assert response.status_code == 200, response.text
    body: dict[str, Any] = response.json()
    return body


def events(response: httpx.Response) -> list[tuple[str, str, dict[str, Any]]]:
    """(event, id, data) of a stream that has ended."""
    found = []
    for block in response.text.strip().split("\n\n"):
        members = dict(line.split(": ", 1) for line in block.splitlines())
        if "event" in members:
            found.append((members["event"], members["id"], json.loads(members["data"])))
    return found
