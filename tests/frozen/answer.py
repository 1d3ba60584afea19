"""Ask a source tree every frozen request: `python -P answer.py TREE`, requests on standard input, answers in a folder.

It runs in a process of its own with the tree on PYTHONPATH, and knows of the tree only what is promised to clients: that
there is an ASGI application, made by `create_app()` and set up by EPSILOND_ variables, and its paths and bodies.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import os
import sys
from collections.abc import Callable, Mapping
from importlib import import_module
from pathlib import Path
from typing import Any

import httpx

APPLICATIONS = ("epsilond.app.main", "app.main")
"""Where the application stands in the layouts there have been, newest first."""
TOGETHER = 2
HOURS = "36000"
SETTINGS: Mapping[str, str] = {
    "EPSILOND_WORKERS": str(TOGETHER),
    "EPSILOND_SPARE_WORKERS": "0",
    "EPSILOND_DEADLINE_SECONDS": HOURS,
    "EPSILOND_CACHE_MEGABYTES": "0",
    "EPSILOND_STORE_PATH": ":memory:",
    "EPSILOND_JOB_WAIT_SECONDS": HOURS,
    "EPSILOND_LOG_LEVEL": "error",
    **dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1"),
}
SIMULATIONS = "/v1/simulations"


def key_of(request: Mapping[str, Any]) -> str:
    """A name for what is asked, whatever the request is called."""
    question = [request["method"], request["path"], request["body"]]
    return hashlib.sha256(json.dumps(question, sort_keys=True).encode()).hexdigest()[:24]


def canonical(value: Any) -> str:
    """JSON with sorted keys; a float is written with the digits that give back the same float."""
    return json.dumps(value, sort_keys=True, ensure_ascii=False, separators=(",", ":"))


def application_maker(tree: Path) -> Callable[[], Any]:
    """The tree's `create_app`.

    Raises:
        ImportError: there is none, or it would be imported from another place than the tree.
    """
    for name in APPLICATIONS:
        try:
            module = import_module(name)
        except ModuleNotFoundError as error:
            if error.name is None or not (name == error.name or name.startswith(f"{error.name}.")):
                raise
            continue
        if tree not in Path(str(module.__file__)).resolve().parents:
            raise ImportError(f"{name} comes from {module.__file__}, not from {tree}")
        create: Callable[[], Any] = module.create_app
        return create
    raise ImportError(f"{tree} has none of {', '.join(APPLICATIONS)}")


async def answer_of(client: httpx.AsyncClient, request: Mapping[str, Any]) -> dict[str, Any]:
    """Send a request and return status and body; for a simulation, its state at the end and its result."""
    response = await client.request(request["method"], request["path"], json=request["body"])
    if request["path"] == SIMULATIONS and response.status_code == 202:
        while _state_of(document := response.json()) in ("queued", "waiting", "running"):
            await asyncio.sleep(0.2)
            response = await client.get(document["links"]["self"])
        return {"status": _state_of(document), "body": document.get("result", document)}
    kind = response.headers.get("content-type", "")
    return {"status": response.status_code, "body": response.json() if "json" in kind else response.text}


def _state_of(simulation: Mapping[str, Any]) -> str:
    """Return the state of a simulation; the base commit calls it `status`."""
    return str(simulation["state"] if "state" in simulation else simulation["status"])


async def answer_all(create: Callable[[], Any], requests: list[Mapping[str, Any]], folder: Path) -> None:
    """Ask them, a few at a time, and write each answer into the folder under its key."""
    application = create()
    places = asyncio.Semaphore(TOGETHER)

    async def ask(client: httpx.AsyncClient, request: Mapping[str, Any]) -> None:
        async with places:
            answer = await answer_of(client, request)
        target = folder / f"{key_of(request)}.json"
        partly = target.with_suffix(f".{os.getpid()}")
        partly.write_text(canonical(answer), encoding="utf-8")
        partly.replace(target)

    transport = httpx.ASGITransport(app=application)
    client = httpx.AsyncClient(transport=transport, base_url="http://epsilond", timeout=None)
    async with application.router.lifespan_context(application), client:
        await asyncio.gather(*(ask(client, request) for request in requests))


def main(tree: str, folder: str) -> None:
    """Answer what is asked on standard input, one request in a line."""
    os.environ.update(SETTINGS)
    requests = [json.loads(line) for line in sys.stdin]
    create = application_maker(Path(tree).resolve())
    asyncio.run(answer_all(create, requests, Path(folder)))


if __name__ == "__main__":
    main(*sys.argv[1:])
