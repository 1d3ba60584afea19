"""Webhooks of ledgers, received in this process: what is sent, how it is signed, and what happens when nobody answers."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import queue
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import httpx
import pytest

from epsilond.app.settings import Settings
from epsilond.ledgers.http.webhooks import service
from epsilond.ledgers.http.webhooks.endpoints import SETTING, endpoints_of, key_of
from epsilond.ledgers.http.webhooks.sending import headers_of
from epsilond.ledgers.store.messages import MessageRow
from tests.app.conftest import PATIENCE, PATIENT, problem, sample_of, serving, wait_until
from tests.app.ledgers.support import LEDGERS, body, committed, key, opened, reserved

KEY = bytes(range(32))
SECRET = f"whsec_{base64.b64encode(KEY).decode()}"
TINY = 1e-9
"""A fraction that the first release of a slot passes."""


@dataclass(frozen=True)
class Received:
    """A delivery: its headers in lower case, and its body."""

    headers: dict[str, str]
    body: bytes

    @property
    def message(self) -> dict[str, Any]:
        """The body, once its signature was verified."""
        identifier, timestamp = self.headers["webhook-id"], self.headers["webhook-timestamp"]
        signed = b".".join((identifier.encode(), timestamp.encode(), self.body))
        version, _, signature = self.headers["webhook-signature"].partition(",")
        expected = hmac.new(KEY, signed, hashlib.sha256).digest()
        assert (version, base64.b64decode(signature)) == ("v1", expected)
        assert abs(time.time() - int(timestamp)) < PATIENCE
        found: dict[str, Any] = json.loads(self.body)
        assert found.keys() == {"type", "timestamp", "data"}
        return found


class Receiver:
    """A receiver that answers with the given statuses, then with 204."""

    def __init__(self, port: int = 0) -> None:
        self.statuses: queue.SimpleQueue[int] = queue.SimpleQueue()
        self._deliveries: queue.SimpleQueue[Received] = queue.SimpleQueue()
        receiver = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                sent = self.rfile.read(int(self.headers["content-length"]))
                receiver._deliveries.put(Received({name.lower(): text for name, text in self.headers.items()}, sent))
                status = 204 if receiver.statuses.empty() else receiver.statuses.get()
                self.send_response(status)
                if status == 302:
                    self.send_header("location", receiver.url)
                self.end_headers()

            def log_message(self, *_: object) -> None:
                """Write nothing."""

        self.server = ThreadingHTTPServer(("127.0.0.1", port), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}/a-secret-path"

    def next(self) -> Received:
        """Return the next delivery, once it is there."""
        return self._deliveries.get(timeout=PATIENCE)

    def close(self) -> None:
        """Let go of the port."""
        self.server.server_close()


@contextmanager
def listening(receiver: Receiver) -> Iterator[Receiver]:
    """A receiver that answers."""
    thread = Thread(target=receiver.server.serve_forever)
    thread.start()
    try:
        yield receiver
    finally:
        receiver.server.shutdown()
        thread.join()
        receiver.close()


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    """A receiver that answers."""
    with listening(Receiver()) as made:
        yield made


def settings_for(folder: Path, url: str, **more: Any) -> Settings:
    """The settings of a service with one webhook, and a store that stays."""
    file = folder / "webhooks.json"
    file.write_text(json.dumps({"webhooks": [{"url": url, "secret": SECRET, **more}]}))
    there = {"store_path": str(folder / "here" / "jobs.sqlite"), "ledger_checkpoint": str(folder / "there" / "head")}
    return PATIENT.model_copy(update={"ledger_webhooks": str(file), "ledgers_in_memory": False, **there})


def exhaust(client: httpx.Client, ledger: str) -> None:
    """Ask for more runs than a ledger has room for."""
    asked = {"item": "train", "count": 10**6}
    problem(client.post(f"{LEDGERS}/{ledger}/reservations", json=asked, headers=key()), 409, "ledger-exhausted")


def test_each_event_is_sent_once_and_names_no_data_set(tmp_path: Path, receiver: Receiver) -> None:
    with serving(settings_for(tmp_path, receiver.url, fractions=[TINY, 1.0])) as client:
        ledger = opened(client, dataset="patients of the north", name="a secret study")["id"]
        for _ in range(2):  # the second release passes nothing new
            committed(client, reserved(client, ledger)["id"])
        first = receiver.next()
        passed = first.message
        assert passed["type"] == "ledger.fraction_passed"
        assert passed["data"] | {"used": 0, "held": 0} == {
            "ledger": ledger,
            "slot": "gdp",
            "part": passed["data"]["part"],
            "fraction": TINY,
            "used": 0,
            "held": 0,
        }
        others = {passed["data"]["part"]}
        for _ in range(2):  # the second refusal is of the same version
            exhaust(client, ledger)
        deliveries = [first]
        while (delivery := receiver.next()).message["type"] == "ledger.fraction_passed":
            deliveries.append(delivery)
            assert delivery.message["data"]["part"] not in others
            others.add(delivery.message["data"]["part"])
        refused = delivery.message
        assert (refused["type"], refused["data"]) == ("ledger.exhausted", {"ledgers": [ledger], "item": "train"})
        held = reserved(client, ledger, item="train", count=3, expires_in=0.001)["id"]
        reserved(client, ledger)  # any move ends first what has expired
        expired = receiver.next()
        assert expired.message["type"] == "ledger.hold_expired"
        assert expired.message["data"] == {"ledger": ledger, "reservation": held, "count": 3}
        deliveries += [delivery, expired]
        assert len({each.headers["webhook-id"] for each in deliveries}) == len(deliveries)
        assert not any(b"north" in each.body or b"secret" in each.body for each in deliveries)
        sample = 'epsilond_webhook_deliveries_total{outcome="delivered"}'
        wait_until(lambda: sample_of(client, sample) == len(deliveries))


def test_a_delivery_that_fails_is_repeated_with_the_same_id(
    tmp_path: Path, receiver: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(service, "FIRST_PAUSE_SECONDS", 0.0)
    monkeypatch.setattr(service, "POLL_SECONDS", 0.01)
    for status in (503, 302, 400):
        receiver.statuses.put(status)
    with serving(settings_for(tmp_path, receiver.url, events=["exhausted"])) as client:
        exhaust(client, opened(client)["id"])
        deliveries = [receiver.next() for _ in range(4)]
        assert len({(each.headers["webhook-id"], each.body) for each in deliveries}) == 1
        assert {each.message["type"] for each in deliveries} == {"ledger.exhausted"}
        wait_until(lambda: sample_of(client, 'epsilond_webhook_deliveries_total{outcome="delivered"}') == 1.0)
        assert sample_of(client, 'epsilond_webhook_deliveries_total{outcome="failed"}') == 3.0
        receiver.statuses.put(410)
        exhaust(client, opened(client)["id"])
        assert receiver.next().message["type"] == "ledger.exhausted"
        wait_until(lambda: sample_of(client, 'epsilond_webhook_deliveries_total{outcome="dropped"}') == 1.0)
        wait_until(lambda: sample_of(client, "epsilond_webhook_messages_pending") == 0.0)


def test_a_message_outlives_the_service(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(service, "FIRST_PAUSE_SECONDS", 0.0)
    away = Receiver()
    port = away.server.server_port
    away.close()
    settings = settings_for(tmp_path, away.url, fractions=[TINY])
    with serving(settings) as client:
        ledger = opened(client)["id"]
        committed(client, reserved(client, ledger)["id"])
        wait_until(lambda: sample_of(client, 'epsilond_webhook_deliveries_total{outcome="failed"}') > 0.0)
        assert client.get("/readyz").status_code == 200
    with listening(Receiver(port)) as back, serving(settings):
        assert back.next().message["data"]["ledger"] == ledger


def test_a_log_that_does_not_continue_its_head_is_told(tmp_path: Path, receiver: Receiver) -> None:
    settings = settings_for(tmp_path, receiver.url, events=["head"])
    with serving(settings) as client:
        opened(client)
        Path(settings.ledger_checkpoint).unlink()
        problem(client.post(LEDGERS, json=body(), headers=key()), 503, "ledger-not-reconciled")
        told = receiver.next().message
        assert told["type"] == "ledger.head_not_continued"
        assert "checkpoint" in told["data"]["reason"]


def test_an_endpoint_of_an_organisation_gets_nothing_of_others(tmp_path: Path, receiver: Receiver) -> None:
    settings = settings_for(tmp_path, receiver.url, organisation="acme")
    (theirs,) = endpoints_of(settings.ledger_webhooks)
    assert theirs.gets("expired", "acme")
    assert theirs.gets("head", None)
    assert not theirs.gets("expired", "other")
    assert not theirs.gets("expired", "")


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"url": "http://example.org/"}, "url"),
        ({"url": "https://user:word@example.org/"}, "url"),
        ({"url": "ftp://example.org/"}, "url"),
        ({"secret": "whsec_c2hvcnQ="}, "secret"),
        ({"secret": SECRET.removeprefix("whsec_")}, "secret"),
        ({"secret": "whsec_***************************************"}, "secret"),
        ({"events": []}, "events"),
        ({"events": ["opened"]}, "events"),
        ({"fractions": [0.0]}, "fractions"),
        ({"fractions": [1.5]}, "fractions"),
        ({"colour": "red"}, "colour"),
    ],
)
def test_a_wrong_file_names_its_field_and_no_secret(tmp_path: Path, change: dict[str, Any], field: str) -> None:
    settings = settings_for(tmp_path, **({"url": "https://example.org/hook"} | change))
    file = Path(settings.ledger_webhooks)
    file.write_text(json.dumps({"webhooks": [{"url": "https://example.org/hook", "secret": SECRET, **change}]}))
    with pytest.raises(ValueError, match=rf"^{SETTING}: webhooks\.0\.{field}") as refused:
        endpoints_of(str(file))
    given = str(next(iter(change.values())))
    assert SECRET[6:] not in str(refused.value)
    assert len(given) < 12 or given not in str(refused.value)


def test_a_file_that_is_no_json_or_missing_or_has_an_endpoint_twice_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "webhooks.json"
    with pytest.raises(ValueError, match=SETTING):
        endpoints_of(str(file))
    once = {"url": "https://example.org/", "secret": SECRET}
    for text in ("", "[]", json.dumps({"webhooks": [once, once | {"events": ["head"]}]})):
        file.write_text(text)
        with pytest.raises(ValueError, match=SETTING):
            endpoints_of(str(file))
    assert endpoints_of("") == ()


def test_the_signature_is_that_of_the_published_vector() -> None:
    secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
    row = MessageRow(
        id="msg_p5jXN8AQM9LWM0D4loKWxJek", endpoint="e", kind="head", body='{"test": 2432232314}', created=0.0
    )
    headers = headers_of(row, key_of(secret), 1614265330)
    assert headers["webhook-signature"] == "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="


def test_two_replicas_send_each_message_once(tmp_path: Path, receiver: Receiver, postgresql_url: str) -> None:
    """Each wakes after every move, so that both look at the same entries and messages."""
    chosen = {"store_url": postgresql_url, "ledger_keys": str(tmp_path / "keys")}
    settings = settings_for(tmp_path, receiver.url, events=["exhausted", "expired"]).model_copy(update=chosen)
    with serving(settings) as first, serving(settings) as second:
        expected = set()
        for number, client in enumerate((first, second) * 5):
            ledger = opened(client)["id"]
            expected.add(("ledger.exhausted", ledger))
            exhaust((second, first)[number % 2], ledger)
            reserved(client, ledger, item="train", count=1, expires_in=0.001)
            reserved(client, ledger)  # any move ends first what has expired
            expected.add(("ledger.hold_expired", ledger))
        deliveries = [receiver.next() for _ in expected]
        wait_until(lambda: sample_of(first, "epsilond_webhook_messages_pending") == 0.0)
        sent = [each.message for each in deliveries]
        found = {(each["type"], each["data"].get("ledger") or each["data"]["ledgers"][0]) for each in sent}
        assert found == expected
        assert len({each.headers["webhook-id"] for each in deliveries}) == len(expected)
        sample = 'epsilond_webhook_deliveries_total{outcome="delivered"}'
        wait_until(lambda: sum(sample_of(each, sample) for each in (first, second)) == len(expected))
