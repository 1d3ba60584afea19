"""The walk of POST /v1/calibrations/mb-sgd: files entered by the service and by its worker before the first theorem."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import CodeType, FrameType

import httpx
import pytest

from epsilond.app.main import create_app
from epsilond.app.settings import Settings
from epsilond.app.workers import process
from epsilond.app.workers.work import answer_to, frame
from epsilond.calibrators import CALIBRATORS

ROOT = Path(__file__).resolve().parents[2]
OUTSIDE = {".venv", "tests"}
MOST = 44
"""Files before the first theorem, at most. It was 35 before long files were split by their nouns."""
PERIODIC = {
    "app/http/lag.py",
    "app/jobs/upkeep.py",
    "app/jobs/shelf.py",
    "app/jobs/manager.py",
    "app/workers/forkserver.py",
}
"""Entered by tasks that run on their own, whether anything is asked or not."""


class Walk:
    """Our files in the order in which a profiler saw them entered."""

    def __init__(self) -> None:
        self.files: dict[str, None] = {}
        self._places: dict[CodeType, str | None] = {}

    def place(self, code: CodeType) -> str | None:
        """Return the file of a function, from the root of the project; None if it is not ours."""
        path = Path(code.co_filename).resolve()
        ours = path.is_relative_to(ROOT) and not OUTSIDE & set(path.parts) and not code.co_filename.startswith("<")
        return str(path.relative_to(ROOT)) if ours else None

    def __call__(self, frame: FrameType, event: str, _: object) -> None:
        """Note the file of a call."""
        if event != "call":
            return
        code = frame.f_code
        if code not in self._places:
            self._places[code] = self.place(code)
        if (here := self._places[code]) is not None and here not in PERIODIC:
            self.files.setdefault(here)

    @property
    def before_theorems(self) -> list[str]:
        """The files before the first one in a folder of theorems or of kinds of mechanism."""
        names = list(self.files)
        first = next(i for i, name in enumerate(names) if {"theorems", "kinds"} & set(Path(name).parts))
        return names[:first]


@contextmanager
def worker_at_hand(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Let what is sent to a worker be answered here, by the code of the worker, where the profiler sees it."""

    def start(here: process.Process, task: process.Task) -> None:
        here.task = task
        asyncio.get_running_loop().call_soon(here.data_received, frame(answer_to(task.message)))

    with monkeypatch.context() as patched:
        patched.setattr(process.Process, "start", start)
        yield


async def walk_of(algorithm: str, monkeypatch: pytest.MonkeyPatch) -> Walk:
    """Ask the service for a calibration under the profiler, after another one that warms it up."""
    body = dict(next(each for each in CALIBRATORS if each.name == algorithm).example)
    app = create_app(settings=Settings(workers=1, store_path=":memory:", deadline_seconds=600.0))
    walk = Walk()
    transport = httpx.ASGITransport(app)
    async with (
        app.router.lifespan_context(app),
        httpx.AsyncClient(transport=transport, base_url="http://walk", timeout=None) as client,
    ):
        while (await client.get("/readyz")).status_code != 200:  # noqa: ASYNC110  there is no event to wait for
            await asyncio.sleep(0.1)
        with worker_at_hand(monkeypatch):
            for epsilon, profiler in ((1.5, None), (1.25, walk)):
                sys.setprofile(profiler)
                response = await client.post(f"/v1/calibrations/{algorithm}", json={**body, "epsilon": epsilon})
                sys.setprofile(None)
                assert response.status_code == 200, response.text
    return walk


def test_few_files_are_entered_before_the_first_theorem(monkeypatch: pytest.MonkeyPatch) -> None:
    walk = asyncio.run(walk_of("mb-sgd", monkeypatch))
    assert len(walk.before_theorems) <= MOST, "\n".join(walk.before_theorems)
