"""A load balancer is told the truth: whether the service should get requests, and if not, why."""

from __future__ import annotations

import httpx
import pytest

from epsilond.accountants import ENGINE_VERSION, VERSION
from epsilond.app.health import STOPPING, Health
from tests.app.conftest import PATIENT, application, problem, serving


def test_reasons_are_those_of_the_parts_in_their_order() -> None:
    health, store = Health(), ["The store cannot be reached."]
    health.register("workers", lambda: None)
    health.register("store", lambda: store[0] if store else None)
    health.register("jobs", lambda: "It is full.")
    assert health.reasons() == ("The store cannot be reached.", "It is full.")
    store.clear()
    health.register("jobs", lambda: None)
    assert health.reasons() == ()
    health.stop()
    assert health.reasons() == (STOPPING,)


def test_a_service_says_why_it_should_get_no_requests() -> None:
    app = application(PATIENT)
    health, wrong = app.state.health, list[str]()
    health.register("something else", lambda: wrong[0] if wrong else None)

    def refused(client: httpx.Client) -> str:
        answer = client.get("/readyz")
        assert int(answer.headers["retry-after"]) > 0
        return problem(answer, 503, "unavailable")["detail"]

    with serving(PATIENT, app) as client:
        assert client.get("/readyz").text == "ready\n"
        wrong.append("It is too hot.")
        assert refused(client) == "It is too hot."
        assert client.get("/healthz").text == "ok\n"
        health.stop()
        assert refused(client) == STOPPING
        assert client.get("/healthz").status_code == 200


def test_it_says_which_engine_answers(monkeypatch: pytest.MonkeyPatch) -> None:
    with serving(PATIENT, application(PATIENT)) as client:
        told = client.get("/healthz?verbose").text
        assert told.startswith(f"ok\nversion: {VERSION}\nengine: {ENGINE_VERSION}")
        monkeypatch.setenv("EPSILOND_KERNEL", "off")
        assert client.get("/healthz", params={"verbose": 1}).text.endswith(
            "(the compiled kernel is turned off by EPSILOND_KERNEL)\n"
        )


def test_it_is_not_ready_before_a_worker_is_warm() -> None:
    assert application(PATIENT).state.health.reasons() == ("No worker is warm yet.",)
