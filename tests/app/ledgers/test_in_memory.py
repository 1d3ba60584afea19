"""A service whose store forgets: it has no ledgers unless it is told to, and then says so in each answer."""

from __future__ import annotations

import json
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import httpx
import pytest

import epsilond
from epsilond.ledgers.http.examples import QUERY
from tests.app.conftest import PATIENT, application, problem, serving
from tests.app.ledgers.support import LEDGERS, RESERVATIONS, body, key

FORGETFUL = PATIENT.model_copy(update={"ledgers_in_memory": False})
CODE = "ledgers-in-memory"


@pytest.fixture(scope="module")
def without(quiet: None) -> Iterator[httpx.Client]:
    """A service with a store in memory, which was not told to keep ledgers there."""
    with serving(FORGETFUL) as client:
        yield client


@pytest.mark.parametrize(
    ("method", "path", "asked"),
    [
        ("POST", LEDGERS, body()),
        ("GET", LEDGERS, None),
        ("GET", f"{LEDGERS}/ledger_a", None),
        ("GET", f"{LEDGERS}/ledger_a/entries", None),
        ("GET", f"{LEDGERS}/ledger_a/report", None),
        ("POST", f"{LEDGERS}/ledger_a/what-if", {"spec": QUERY, "slot": "gdp"}),
        ("POST", f"{LEDGERS}/ledger_a/reservations", {"spec": QUERY, "slot": "gdp"}),
        ("GET", f"{RESERVATIONS}/reservation_a", None),
        ("POST", f"{RESERVATIONS}/reservation_a/commits", {}),
        ("DELETE", f"{RESERVATIONS}/reservation_a", None),
        ("GET", "/v1/log/checkpoint", None),
        ("GET", "/v1/log/proofs?entry=0", None),
        ("GET", "/v1/keys", None),
    ],
)
def test_every_call_is_refused(without: httpx.Client, method: str, path: str, asked: Any) -> None:
    refused = problem(without.request(method, path, json=asked, headers=key()), 503, "ledgers-not-durable")
    assert "EPSILOND_STORE_PATH is :memory:" in refused["detail"]
    assert "EPSILOND_LEDGERS_IN_MEMORY=yes" in refused["detail"]


def test_the_library_says_why(without: httpx.Client) -> None:
    books = epsilond.ledger(str(without.base_url))
    with pytest.raises(Exception, match="EPSILOND_LEDGERS_IN_MEMORY=yes") as refused:
        books.ledgers()
    assert type(refused.value).__name__ == "Unanswered"


def test_every_answer_warns(client: httpx.Client) -> None:
    def asked(method: str, path: str, asked: Any = None) -> dict[str, Any]:
        response = client.request(method, path, json=asked, headers=key())
        assert response.is_success, response.text
        answer: dict[str, Any] = response.json()
        assert [each["code"] for each in answer["warnings"]] == [CODE], path
        return answer

    ledger = asked("POST", LEDGERS, body())["id"]
    one = f"{LEDGERS}/{ledger}"
    asked("GET", LEDGERS)
    asked("GET", one)
    asked("POST", f"{one}/what-if", {"spec": QUERY, "slot": "gdp"})
    asked("POST", f"{one}/calibrations/gaussian", {"fields": {"sampling": "full", "rounds": 5}, "slot": "gdp"})
    held = asked("POST", f"{one}/reservations", {"item": "train", "count": 3})["id"]
    receipt = asked("POST", f"{RESERVATIONS}/{held}/commits", {"count": 1})
    asked("GET", f"{RESERVATIONS}/{held}")
    asked("DELETE", f"{RESERVATIONS}/{held}")
    entries = asked("GET", f"{one}/entries")["entries"]
    assert all("warnings" not in each for each in entries)
    assert "warnings" not in receipt["entry"]
    asked("GET", "/v1/log/checkpoint")
    asked("GET", f"/v1/log/proofs?entry={entries[0]['seq']}")
    asked("GET", "/v1/log/proofs?from=1")
    asked("POST", f"{one}/close")
    record = client.get(f"{one}/report", headers={"accept": "application/json"}).json()["report"]
    assert [each["code"] for each in record["ledger"]["warnings"]] == [CODE]
    assert CODE in client.get(f"{one}/report", headers={"accept": "text/html"}).text


def test_the_command_prints_the_warning(client: httpx.Client, monkeypatch: pytest.MonkeyPatch) -> None:
    from typer.testing import CliRunner

    from epsilond.commands.line import line

    monkeypatch.setenv("EPSILOND_LEDGER", str(client.base_url))
    ledger = client.post(LEDGERS, json=body()).json()["id"]
    for arguments in (["list"], ["show", ledger], ["reserve", ledger, "train", "--count", "1"]):
        answer = CliRunner().invoke(line, ["ledger", *arguments])
        assert answer.exit_code == 0, answer.output
        assert answer.stderr.startswith("warning: The ledgers of this service are in memory")


@pytest.mark.parametrize("allowed", [True, False])
def test_the_log_says_so(quiet: None, allowed: bool) -> None:
    lines: list[tuple[str, str, dict[str, Any]]] = []
    log = SimpleNamespace(
        warning=lambda text, **named: lines.append(("warning", text, named)),
        error=lambda text, **named: lines.append(("error", text, named)),
    )
    settings = PATIENT.model_copy(update={"ledgers_in_memory": allowed})
    app = application(settings)
    app.state.ledgers._log = log
    with serving(settings, app) as client:
        if not allowed:
            problem(client.get(LEDGERS), 503, "ledgers-not-durable")
            assert [(level, text) for level, text, _ in lines] == [
                ("warning", "ledgers are refused: the store is in memory")
            ]
            return
        made = client.post(LEDGERS, json=body()).json()
    (start, first), (level, text) = [(level, text) for level, text, _ in lines]
    assert (start, level) == ("error", "warning")
    assert "lost when the service stops" in first
    assert "opened in memory" in text
    assert lines[1][2] == {"ledger": made["id"]}


def test_a_durable_service_warns_of_nothing(quiet: None, tmp_path: Any) -> None:
    settings = FORGETFUL.model_copy(update={"store_path": str(tmp_path / "jobs.sqlite")})
    with serving(settings) as client:
        made = client.post(LEDGERS, json=body()).json()
        assert made["warnings"] == []
        for path in (LEDGERS, f"{LEDGERS}/{made['id']}/entries", "/v1/log/checkpoint"):
            assert "warnings" not in client.get(path).json()
        assert CODE not in json.dumps(client.get(f"{LEDGERS}/{made['id']}").json())
