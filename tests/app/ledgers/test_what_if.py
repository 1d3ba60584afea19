"""A what-if writes nothing: it is given up with its client, and asked again roughly when it takes too long."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from functools import partial
from types import SimpleNamespace
from typing import Any

import anyio
import pytest

from epsilond.accountants import specs
from epsilond.app.http.problems import Problem
from epsilond.app.workers.work import RenderedAnswer
from epsilond.ledgers.http.service import Ledgers
from epsilond.ledgers.mathematics.what_if import what_if
from tests.ledgers.mathematics.setups import gaussian_slot, job, ledger, step

STATE = ledger(gaussian_slot())
ASKED = SimpleNamespace(job={"spec": job(steps=20), "slot": "gdp"})
CALLER = SimpleNamespace(organisation="", name="t", identity="t")


class Stayed:
    """A request whose client waits, or leaves once it is told to."""

    def __init__(self) -> None:
        self.leaves = anyio.Event()

    async def receive(self) -> dict[str, str]:
        await self.leaves.wait()
        return {"type": "http.disconnect"}


class Alone(Ledgers):
    """Without a store: the state is given, and what a worker does is told."""

    def __init__(self, in_worker: Callable[..., Any]) -> None:
        self._settings = SimpleNamespace(deadline_seconds=4.0)  # type: ignore[assignment]
        self._book = SimpleNamespace(asked_of=None)  # type: ignore[assignment]
        self._in_worker = in_worker  # type: ignore[method-assign]

    async def call(self, *_: Any, **__: Any) -> Any:
        return STATE


def test_one_that_takes_too_long_is_answered_roughly() -> None:
    asked: list[float] = []

    async def late_at_first(computation: partial[RenderedAnswer], _: str, seconds: float) -> RenderedAnswer:
        asked.append(seconds)
        if len(asked) == 1:
            raise Problem("deadline-exceeded", "It did not end.")
        return computation()

    async def course() -> Any:
        return await Alone(late_at_first).what_if(Stayed(), CALLER, "l", ASKED)  # type: ignore[arg-type]

    found = anyio.run(course)
    exact = what_if(STATE, **ASKED.job)
    assert asked == [2.0, 2.0]
    assert found.fits
    assert exact.charge.parts["mu_squared"] <= found.charge.parts["mu_squared"]  # type: ignore[union-attr]
    assert float(found.charge.parts["mu_squared"]) <= 1.02 * float(exact.charge.parts["mu_squared"])  # type: ignore[union-attr]


def test_one_is_given_up_when_its_client_leaves() -> None:
    ended: list[str] = []

    async def course() -> None:
        request = Stayed()

        async def forever(*_: Any) -> RenderedAnswer:
            request.leaves.set()
            try:
                await anyio.sleep_forever()
            finally:
                ended.append("stopped")
            return RenderedAnswer(pickle.dumps(None))

        await Alone(forever).what_if(request, CALLER, "l", ASKED)  # type: ignore[arg-type]

    with pytest.raises(Problem) as gone:
        anyio.run(course)
    assert gone.value.kind.slug == "client-closed-request"
    assert ended == ["stopped"]


def test_a_rough_refusal_does_not_look_for_what_fits() -> None:
    loud = {"spec": specs.Repeated(times=10**5, mechanism=step(0.1, 1.0)), "slot": "gdp"}
    found = what_if(STATE, **loud, rough=True)  # type: ignore[arg-type]
    assert not found.fits
    assert not found.nearest
