"""Figures of ledgers at /metrics: what they say, what they do not say, and what they do while the database is away."""

from __future__ import annotations

import threading

import httpx
import pytest

from epsilond.app.settings import Settings
from epsilond.ledgers.book.reader import BookReader
from epsilond.ledgers.http import figures
from epsilond.storage.faults import StoreFault
from tests.app.conftest import PATIENCE, PATIENT, problem, sample_of, serving
from tests.app.ledgers.support import LEDGERS, QUERY, body, committed, key, opened, reserved, slot_of


@pytest.fixture
def uncached(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let every scrape read, and wait for what it reads."""
    monkeypatch.setattr(figures, "KEPT_SECONDS", 0.0)
    monkeypatch.setattr(figures, "WAIT_SECONDS", PATIENCE)


@pytest.fixture
def settings() -> Settings:
    """Of a service whose ledgers are in memory."""
    return PATIENT


def samples(client: httpx.Client) -> set[str]:
    """Return the names of the samples at /metrics."""
    lines = client.get("/metrics").text.splitlines()
    return {line.partition(" ")[0].partition("{")[0] for line in lines if not line.startswith("#")}


@pytest.mark.usefixtures("uncached")
def test_the_figures_are_those_of_the_ledgers(settings: Settings) -> None:
    with serving(settings) as client:
        assert sample_of(client, "epsilond_ledgers_open") == 0.0
        assert sample_of(client, "epsilond_ledger_oldest_hold_age_seconds") == 0.0
        assert "epsilond_ledger_log_age_seconds" not in samples(client)
        asked = body(dataset="patients of the north", block="a secret")
        ledger = client.post(LEDGERS, json=asked, headers=key()).json()["id"]
        held = reserved(client, ledger, spec=QUERY, slot="gdp", count=2)
        committed(client, held["id"], count=1)
        slot = slot_of(client, ledger)
        text = client.get("/metrics").text
        for name, taken in (("used", ("used",)), ("held", ("used", "reserved"))):
            shares = [sum(slot[each][part] for each in taken) / slot["capacity"][part] for part in slot["capacity"]]
            sample = f'epsilond_ledger_{name}_fraction{{ledger="{ledger}"}}'
            assert sample_of(client, sample) == pytest.approx(float(max(shares)))
        assert sample_of(client, "epsilond_ledgers_open") == 1.0
        assert sample_of(client, "epsilond_ledger_log_entries") == client.get("/v1/log/checkpoint").json()["size"]
        assert sample_of(client, "epsilond_ledger_oldest_hold_age_seconds") > 0.0
        assert sample_of(client, "epsilond_ledger_log_age_seconds") > 0.0
        assert "north" not in text
        assert "secret" not in text


def test_a_move_that_is_rejected_is_counted_by_the_kind_of_its_problem(settings: Settings) -> None:
    with serving(settings) as client:
        ledger = opened(client)["id"]
        too_many = {"item": "train", "count": 10**6}
        sample = 'epsilond_ledger_rejections_total{move="reserved",problem="ledger-exhausted"}'
        for count in (1.0, 2.0):
            refused = client.post(f"{LEDGERS}/{ledger}/reservations", json=too_many, headers=key())
            problem(refused, 409, "ledger-exhausted")
            assert sample_of(client, sample) == count
        reserved(client, ledger)
        assert sample_of(client, sample) == 2.0


def test_figures_are_read_once_in_some_seconds(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    calls, read = [], BookReader.figures

    def counting(book: BookReader, *, limit: int) -> object:
        calls.append(limit)
        return read(book, limit=limit)

    monkeypatch.setattr(BookReader, "figures", counting)
    monkeypatch.setattr(figures, "KEPT_SECONDS", 3600.0)
    with serving(settings) as client:
        for _ in range(5):
            assert client.get("/metrics").status_code == 200
    assert calls == [figures.FULLEST]


@pytest.mark.usefixtures("uncached")
def test_while_the_database_does_not_answer_the_last_figures_stay(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    answered, read = threading.Event(), BookReader.figures

    def failing(_: BookReader, *, limit: int) -> object:
        raise StoreFault(f"no {limit} ledgers are read")

    def hanging(book: BookReader, *, limit: int) -> object:
        answered.wait()
        return read(book, limit=limit)

    with serving(settings) as client:
        opened(client)
        assert sample_of(client, "epsilond_ledgers_open") == 1.0
        opened(client)
        monkeypatch.setattr(BookReader, "figures", failing)
        assert sample_of(client, "epsilond_ledgers_open") == 1.0
        age = sample_of(client, "epsilond_ledger_figures_age_seconds")
        monkeypatch.setattr(figures, "WAIT_SECONDS", 0.01)
        monkeypatch.setattr(BookReader, "figures", hanging)
        try:
            assert client.get("/healthz").status_code == 200
            assert sample_of(client, "epsilond_ledgers_open") == 1.0
            assert sample_of(client, "epsilond_ledger_figures_age_seconds") > age
        finally:
            answered.set()
        monkeypatch.setattr(figures, "WAIT_SECONDS", PATIENCE)
        monkeypatch.setattr(BookReader, "figures", read)
        assert sample_of(client, "epsilond_ledgers_open") == 2.0


def test_a_service_without_ledgers_has_no_figures(settings: Settings) -> None:
    with serving(settings.model_copy(update={"ledgers_in_memory": False})) as client:
        assert not {"epsilond_ledgers_open", "epsilond_ledger_log_entries"} & samples(client)
