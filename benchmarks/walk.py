"""The walk of one question through the code.

Run it with `python -m benchmarks.walk [mb-sgd | account]`.

Prints the files it enters, in order, on its way through the service: the application is asked in this process, and
what a worker would compute is computed here. Then how many files there are, how many stand before the first theorem
and before the engine, and which pairs of files call each other both ways.
"""

from __future__ import annotations

import asyncio
import sys
from collections import Counter
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

import httpx

ROOT = Path(__file__).resolve().parents[1]
QUESTIONS: dict[str, tuple[str, dict[str, Any]]] = {
    "mb-sgd": (
        "/v1/calibrations/mb-sgd",
        {
            "epsilon": 1.0,
            "delta": 1e-5,
            "samples_per_client": 1000,
            "clients": 50,
            "participants": 10,
            "dimension": 100,
            "lipschitz": 1.0,
            "diameter": 10.0,
            "smoothness": 1.0,
            "rounds": 100,
            "batch_size": 50,
        },
    ),
    "account": (
        "/v1/accounts",
        {
            "spec": {
                "kind": "repeated",
                "times": 1000,
                "mechanism": {
                    "kind": "subsampled",
                    "sampling": "poisson",
                    "rate": 0.01,
                    "mechanism": {"kind": "gaussian", "noise_multiplier": 1.0},
                },
            },
            "relation": "add-or-remove-one",
            "query": {"delta": 1e-6},
        },
    ),
}


class Walk:
    """What a profiler saw: our files in the order in which they were entered, and the calls between them."""

    def __init__(self) -> None:
        self.files: dict[str, None] = {}
        self.functions: set[tuple[str, str]] = set()
        self.calls: Counter[tuple[str, str]] = Counter()
        self._places: dict[CodeType, str | None] = {}

    def place(self, code: CodeType) -> str | None:
        """The file of a function, from the root of the project; None if it is not ours."""
        if code not in self._places:
            path = Path(code.co_filename).resolve()
            outside = {".venv", "benchmarks"} & set(path.parts) or code.co_filename.startswith("<")
            ours = path.is_relative_to(ROOT) and not outside
            self._places[code] = str(path.relative_to(ROOT)) if ours else None
        return self._places[code]

    def __call__(self, frame: FrameType, event: str, _: Any) -> None:
        """The profiler."""
        here = self.place(frame.f_code) if event == "call" else None
        if here is None:
            return
        self.files.setdefault(here)
        self.functions.add((here, frame.f_code.co_qualname))
        back = frame.f_back
        while back is not None and self.place(back.f_code) is None:
            back = back.f_back
        caller = here if back is None else self.place(back.f_code)
        if caller is not None and caller != here:
            self.calls[caller, here] += 1

    def before(self, folder: str) -> int:
        """How many files are entered before the first in a folder of this name."""
        names = list(self.files)
        return next((place for place, name in enumerate(names) if folder in Path(name).parts), len(names))

    def mutual(self) -> list[tuple[str, str]]:
        """Pairs of files that call each other both ways."""
        return sorted({(min(pair), max(pair)) for pair in self.calls if pair[::-1] in self.calls})


async def ask(path: str, body: dict[str, Any], walk: Walk) -> int:
    """Ask the application, once to warm up and once under the profiler; answers the status."""
    from epsilond.app.main import create_app
    from epsilond.app.settings import Settings
    from epsilond.app.workers.pool import Pool
    from epsilond.app.workers.task import Lane, Task
    from epsilond.app.workers.work import Computation, outcome_of

    def submit(_: Pool, work: Computation, *, caller: str, lane: Lane = "question") -> Task:
        """A task that has ended: what a worker would answer, answered here, where the profiler sees it."""
        task = Task(work=work, caller=caller, lane=lane)
        task.end(outcome_of(work))
        return task

    Pool.submit = submit  # type: ignore[method-assign,assignment]
    app = create_app(settings=Settings(cache_megabytes=0, store_path=":memory:", deadline_seconds=3600))
    async with (
        app.router.lifespan_context(app),
        httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://walk", timeout=None) as client,
    ):
        await client.post(path, json=body)
        sys.setprofile(walk)
        response = await client.post(path, json=body)
        sys.setprofile(None)
    return response.status_code


def main() -> None:
    """Print the walk of the question that is named, or of mb-sgd."""
    path, body = QUESTIONS[sys.argv[1] if len(sys.argv) > 1 else "mb-sgd"]
    walk = Walk()
    status = asyncio.run(ask(path, body, walk))
    print("\n".join(walk.files))
    print(f"\nPOST {path} answered {status}: {len(walk.files)} files, {len(walk.functions)} functions;", end=" ")
    print(f"{walk.before('theorems')} before the first theorem, {walk.before('engine')} before the engine;", end=" ")
    print(f"{len(walk.mutual())} pairs of files that call each other both ways")
    for one, other in walk.mutual():
        print(f"  {one} and {other}")


if __name__ == "__main__":
    main()
