"""Commits to one ledger over two services, of which one is killed three times: every answer is in the log, once."""

from __future__ import annotations

import signal
import threading
from collections import Counter
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from decimal import Decimal
from pathlib import Path
from typing import Any

import httpx
import pytest

from epsilond.ledgers.log import receipts
from epsilond.ledgers.log.receipts import Receipt
from epsilond.ledgers.log.signing import published_keys
from tests.app.chaos.replicas import Replica, running
from tests.app.ledgers.support import LEDGERS, RESERVATIONS, opened, slot_of
from tests.deploy.proxy import free_port

WRITERS = 6
RUNS = 40
"""Runs that each writer tries to commit."""
FITTING = 150
"""Runs that the slot has room for: fewer than the writers try to commit together."""
KILLS = (20, 60, 100)
"""Numbers of answered commits at which a service is killed."""
NOISE = 100.0
CAPACITY = {"mu_squared": f"{FITTING * 1e-4 + 5e-5:.6f}", "eta": "1e-7"}


class Answers:
    """The answers that writers got, by their idempotency keys."""

    def __init__(self) -> None:
        self.receipts: dict[str, dict[str, Any]] = {}
        self.refused: set[str] = set()
        self._changed = threading.Condition()

    def note(self, key: str, answer: dict[str, Any] | None) -> None:
        """Note a receipt, or that there was no room; a key that is answered twice is answered the same."""
        with self._changed:
            if answer is None:
                self.refused.add(key)
            else:
                assert self.receipts.setdefault(key, answer) == answer
            self._changed.notify_all()

    def wait_for(self, count: int) -> None:
        """Wait until so many commits were answered."""
        with self._changed:
            assert self._changed.wait_for(lambda: len(self.receipts) >= count, 300)


def post(urls: Sequence[str], first: int, path: str, body: Mapping[str, Any], key: str) -> httpx.Response:
    """Post until a service answers, to one after another."""
    for attempt in range(10_000):
        url = urls[(first + attempt) % len(urls)]
        try:
            answer = httpx.post(f"{url}{path}", json=body, headers={"Idempotency-Key": key}, timeout=60)
        except httpx.TransportError:
            continue
        if answer.status_code < 500:
            return answer
    raise AssertionError("no service answers")


def write(urls: Sequence[str], ledger: str, writer: int, answers: Answers) -> None:
    """Reserve and commit one run after another, at one service or the other."""
    query = {"spec": {"kind": "gaussian", "noise_multiplier": NOISE}, "slot": "gdp"}
    for run in range(RUNS):
        name = f"{writer}-{run}"
        held = post(urls, run, f"{LEDGERS}/{ledger}/reservations", query, f"reserve-{name}")
        if held.status_code == 409:
            answers.note(name, None)
            continue
        path = f"{RESERVATIONS}/{held.json()['id']}/commits"
        for place in range(2):  # sent again with its key, to the other service
            answer = post(urls, run + place, path, {}, name)
            assert answer.status_code == 201, answer.text
            answers.note(name, answer.json())


@pytest.mark.slow
def test_no_answered_commit_is_lost_and_none_is_made_twice(postgresql_url: str, tmp_path: Path) -> None:
    settings = {
        "EPSILOND_STORE_URL": postgresql_url.replace("postgresql://", "postgresql+psycopg://", 1),
        "EPSILOND_LEDGER_KEYS": str(tmp_path / "keys"),
        "EPSILOND_LEDGER_CHECKPOINT": str(tmp_path / "head"),
    }
    replicas = [Replica("", free_port(), settings) for _ in range(2)]
    urls, answers = [replica.url for replica in replicas], Answers()
    with running(replicas), ThreadPoolExecutor(WRITERS) as pool, httpx.Client(base_url=urls[1], timeout=60) as client:
        slots = [{"kind": "gdp", "capacity": CAPACITY}]
        ledger = opened(client, {"Idempotency-Key": "open"}, plan=[], slots=slots)["id"]
        writers = [pool.submit(write, urls, ledger, writer, answers) for writer in range(WRITERS)]
        for count in KILLS:
            answers.wait_for(count)
            replicas[0].end(signal.SIGKILL)
            replicas[0].start()
        for writer in writers:
            writer.result()
        used = slot_of(client, ledger)["used"]["mu_squared"]
        trusted = [each.key for each in published_keys(client.get("/v1/keys").json())]
        log = [entry for page in pages(client, f"{LEDGERS}/{ledger}/entries?limit=100") for entry in page]
    committed = Counter(entry["reservation"] for entry in log if entry["kind"] == "committed")
    answered = answers.receipts
    assert len(answered) + len(answers.refused) == WRITERS * RUNS
    assert set(committed.values()) == {1}
    assert {receipt["entry"]["reservation"] for receipt in answered.values()} == set(committed)
    assert len(committed) == FITTING
    assert used <= Decimal(CAPACITY["mu_squared"])
    for receipt in answered.values():
        head = receipts.verify(Receipt.of_record(receipt), trusted[0].name, trusted)
        assert receipt["entry"] == next(entry for entry in log if entry["seq"] == receipt["entry"]["seq"])
        assert head.size > receipt["entry"]["seq"]


def pages(client: httpx.Client, path: str | None) -> Any:
    """The pages of a list."""
    while path:
        page = client.get(path).json()
        yield page["entries"]
        path = page.get("next")
