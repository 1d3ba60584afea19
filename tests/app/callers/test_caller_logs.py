"""Test what logs and metrics say of callers: name and kind of problem, no credential, and a bounded number of labels."""

from __future__ import annotations

import platform
from collections.abc import Iterator
from itertools import count
from pathlib import Path
from typing import Any

import httpx
import pytest
import structlog
from prometheus_client.parser import text_string_to_metric_families
from structlog.testing import LogCapture

from epsilond.accountants import ENGINE_VERSION, VERSION
from epsilond.app.callers import keys
from epsilond.app.callers.limits import CallerLimits
from epsilond.app.http.middleware import Observe
from epsilond.app.http.problem_kinds import KINDS
from tests.app.callers.test_keys import file_of
from tests.app.conftest import PATIENT, application, serving, wait_until

KEY, LINE = keys.new("ada", CallerLimits(), ("calibrate", "metrics"))
ASKED = "/v1/algorithms"
HEADERS = {"authorization": f"Bearer {KEY}"}


@pytest.fixture
def logged() -> LogCapture:
    return LogCapture()


@pytest.fixture
def service(tmp_path: Path, logged: LogCapture, monkeypatch: pytest.MonkeyPatch) -> Iterator[httpx.Client]:
    """A service that asks for keys, and whose lines are kept."""
    made = Observe.__init__

    def observed(self: Observe, *arguments: Any, **named: Any) -> None:
        made(self, *arguments, **named)
        self.log = structlog.wrap_logger(
            None, processors=[logged], wrapper_class=structlog.make_filtering_bound_logger(0)
        )

    monkeypatch.setattr(Observe, "__init__", observed)
    chosen = PATIENT.model_copy(update={"api_keys_file": str(file_of(tmp_path, LINE))})
    with serving(chosen, application(chosen)) as client:
        yield client


def test_a_line_says_who_asked_and_what_was_wrong(service: httpx.Client, logged: LogCapture) -> None:
    numbers = count()

    def line(path: str, **headers: str) -> dict[str, Any]:
        identifier = f"asked-{next(numbers)}"
        service.get(path, headers=headers | {"x-request-id": identifier})
        wait_until(lambda: any(entry.get("id") == identifier for entry in list(logged.entries)))
        return next(entry for entry in logged.entries if entry.get("id") == identifier)

    assert line(ASKED, **HEADERS)["caller"] == "ada"
    assert "problem" not in line(ASKED, **HEADERS)
    assert line("/v1/simulations", **HEADERS)["problem"] == "forbidden"
    assert line("/v1/simulations", **HEADERS)["caller"] == "ada"
    refused = line(ASKED, authorization="Bearer epsk_unknown")
    assert (refused["caller"], refused["problem"], refused["status"]) == ("127.0.0.1", "unauthorized", 401)
    assert line("/healthz")["caller"] == "127.0.0.1"
    assert line("/v1/theorems/none", **HEADERS)["problem"] == "not-found"
    assert not any(secret in repr(logged.entries) for secret in (KEY, LINE.sha256, "epsk_"))


def test_labels_are_bounded_whatever_is_sent(service: httpx.Client) -> None:
    for place in range(30):
        service.get(ASKED, headers={"authorization": f"Bearer made-up-{place}"})
        service.get(f"/v1/simulations/made-up-{place}", headers=HEADERS)
        service.get(f"/v1/made-up-{place}", headers={"x-forwarded-for": f"192.0.2.{place}"})
        service.request(f"MADE-UP-{place}", ASKED, headers=HEADERS)
    answer = service.get("/metrics", headers=HEADERS)
    assert answer.status_code == 200
    assert "made-up" not in answer.text.lower()
    assert "192.0.2" not in answer.text
    samples = [sample for family in text_string_to_metric_families(answer.text) for sample in family.samples]
    assert {sample.labels["caller"] for sample in samples if "caller" in sample.labels} == {"ada", "anonymous"}
    assert {sample.labels["problem"] for sample in samples if "problem" in sample.labels} <= set(KINDS)
    refused = {(sample.labels["problem"], sample.labels["caller"]): sample.value for sample in samples
               if sample.name == "epsilond_problems_total"}  # fmt: skip
    assert refused["unauthorized", "anonymous"] == 60
    assert refused["forbidden", "ada"] == 30


def test_metrics_say_what_is_running(client: httpx.Client) -> None:
    text = client.get("/metrics").text
    families = {family.name: family for family in text_string_to_metric_families(text)}
    (build,) = families["epsilond_build_info"].samples
    assert build.labels == {
        "version": VERSION, "engine_version": ENGINE_VERSION, "python": platform.python_version()
    }  # fmt: skip
    assert {"epsilond_event_loop_lag_seconds", "epsilond_cache_bytes", "epsilond_cache_entries"} <= families.keys()
