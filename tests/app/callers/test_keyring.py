"""Keys of a running service follow their file: added, expired, revoked, and kept where the file is broken."""

from __future__ import annotations

import logging
import os
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import anyio
import httpx
import pytest
import structlog
from structlog.testing import LogCapture

from epsilond.app.callers import key_file, keys
from epsilond.app.callers.keyring import Keyring
from epsilond.app.callers.limits import CallerLimits
from tests.app.callers.test_keys import file_of, ring
from tests.app.conftest import PATIENT, problem, serving, wait_until

NOW = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
LISTED = "/v1/api-keys"
ASKED = "/v1/algorithms"


def bearer(key: str) -> dict[str, str]:
    return {"authorization": f"Bearer {key}"}


def looked(known: Keyring) -> list[Any]:
    """What is logged while the keyring looks at its file."""
    logged = LogCapture()
    known._log = structlog.wrap_logger(
        None, processors=[logged], wrapper_class=structlog.make_filtering_bound_logger(logging.DEBUG)
    )
    anyio.run(known.look)
    return [line["event"] for line in logged.entries]


def test_it_follows_the_file(tmp_path: Path) -> None:
    (first, line), (second, other) = keys.new("ada", CallerLimits()), keys.new("bob", CallerLimits())
    file = file_of(tmp_path, line)
    known = ring(file)
    assert known.caller(second) is None
    key_file.add(file, other)
    assert looked(known) == ["keys were read"]
    assert known.caller(second).name == "bob"
    assert looked(known) == []
    key_file.revoke(file, line.id, NOW)
    assert looked(known) == ["keys were read"]
    assert known.caller(first) is None
    assert known.caller(second).name == "bob"


def test_a_change_of_the_same_size_and_time_is_seen(tmp_path: Path) -> None:
    (first, line), (second, other) = keys.new("ada", CallerLimits()), keys.new("bob", CallerLimits())
    file = file_of(tmp_path, line)
    known = ring(file)
    looked(known)
    was = file.stat()
    file.write_text(file.read_text().replace(line.text, other.text))
    os.utime(file, ns=(was.st_atime_ns, was.st_mtime_ns))
    looked(known)
    assert known.caller(first) is None
    assert known.caller(second).name == "bob"


@pytest.mark.parametrize("broken", ["", "{", '{"name": "ada"}', None])
def test_a_broken_file_keeps_the_keys_of_before_and_is_told_once(tmp_path: Path, broken: str | None) -> None:
    key, line = keys.new("ada", CallerLimits())
    file = file_of(tmp_path, line)
    known = ring(file)
    whole = file.read_text()
    file.unlink() if broken is None else file.write_text(broken)
    assert looked(known) == ["keys could not be read, those of before are kept"]
    assert looked(known) == []
    assert known.caller(key).name == "ada"
    file.write_text(whole)
    assert looked(known) == []
    file.write_text("{")
    assert len(looked(known)) == 1


def test_a_key_that_has_expired_opens_nothing(tmp_path: Path) -> None:
    soon, past = (keys.new(name, CallerLimits())[1] for name in ("soon", "past"))
    key, line = keys.new("ada", CallerLimits())
    now = datetime.now(UTC)
    for expires, opens in ((now + timedelta(days=1), True), (now - timedelta(seconds=1), False)):
        known = ring(file_of(tmp_path, soon, replace(line, expires=expires), past))
        assert (known.caller(key) is not None) is opens


def test_a_key_may_be_replaced_by_one_with_other_limits(tmp_path: Path) -> None:
    old, new = keys.new("ada", CallerLimits())[1], keys.new("ada", CallerLimits(jobs=3))[1]
    file = file_of(tmp_path, old)
    with pytest.raises(ValueError, match="other limits"):
        key_file.add(file, new)
    key_file.revoke(file, "ada", NOW)
    key_file.add(file, new)
    assert [line.revoked for line in keys.read_keys(file)] == [NOW, None]


@pytest.fixture(scope="module")
def made() -> dict[str, tuple[str, keys.KeyLine]]:
    scopes = {"root": ("admin",), "asks": ("calibrate",), "runs": ("simulate",), "reads": ("metrics",), "ada": None}
    new = {name: keys.new(name, CallerLimits()) for name in scopes}
    return {name: (key, replace(line, scopes=scopes[name])) for name, (key, line) in new.items()}


@pytest.fixture
def file(tmp_path: Path, made: dict[str, tuple[str, keys.KeyLine]]) -> Path:
    return file_of(tmp_path, *(line for _, line in made.values()))


@pytest.fixture
def service(file: Path) -> Iterator[httpx.Client]:
    """A service of its own: its keys are changed while it runs."""
    with serving(PATIENT.model_copy(update={"api_keys_file": str(file)})) as client:
        yield client


def test_a_running_service_follows(
    service: httpx.Client, file: Path, made: dict[str, tuple[str, keys.KeyLine]]
) -> None:
    key, line = keys.new("late", CallerLimits())
    problem(service.get(ASKED, headers=bearer(key)), 401, "unauthorized")
    key_file.add(file, line)
    wait_until(lambda: service.get(ASKED, headers=bearer(key)).status_code == 200)
    key_file.revoke(file, "late", NOW)
    wait_until(lambda: service.get(ASKED, headers=bearer(key)).status_code == 401)
    assert service.get(ASKED, headers=bearer(made["ada"][0])).status_code == 200


def test_operators_list_and_revoke(
    service: httpx.Client, file: Path, made: dict[str, tuple[str, keys.KeyLine]]
) -> None:
    root, (used, line) = bearer(made["root"][0]), made["asks"]
    before = {each["name"]: each for each in service.get(LISTED, headers=root).json()["api_keys"]}
    assert before["asks"] == {"id": line.id, "name": "asks", "scopes": ["calibrate"]}
    assert before["ada"]["scopes"] == ["calibrate", "metrics", "simulate"]
    assert "last_used" in before["root"]
    assert service.get(ASKED, headers=bearer(used)).status_code == 200
    answer = service.delete(f"{LISTED}/{line.id}", headers=root)
    assert answer.status_code == 200
    assert answer.json().keys() == {"id", "name", "scopes", "revoked", "last_used"}
    problem(service.get(ASKED, headers=bearer(used)), 401, "unauthorized")
    assert next(each for each in keys.read_keys(file) if each.id == line.id).revoked is not None
    assert service.delete(f"{LISTED}/{line.id}", headers=root).json()["revoked"] == answer.json()["revoked"]
    problem(service.delete(f"{LISTED}/000000000000", headers=root), 404, "not-found")
    problem(service.delete(f"{LISTED}/none", headers=root), 422, "invalid-input")
    whole = service.get(LISTED, headers=root).text
    assert not any(line.sha256[12:] in whole or key in whole for key, line in made.values())


def test_a_file_that_cannot_be_changed_is_told_and_the_key_is_revoked_here(
    service: httpx.Client, file: Path, made: dict[str, tuple[str, keys.KeyLine]], monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise PermissionError

    monkeypatch.setattr(key_file, "replace_file", refuse)
    root, (used, line) = bearer(made["root"][0]), made["asks"]
    refused = service.delete(f"{LISTED}/{line.id}", headers=root)
    assert "file" in problem(refused, 503, "unavailable")["detail"]
    assert int(refused.headers["retry-after"]) > 0
    problem(service.get(ASKED, headers=bearer(used)), 401, "unauthorized")
    fresh, other = keys.new("late", CallerLimits())
    file.write_text(file.read_text() + other.text + "\n")
    wait_until(lambda: service.get(ASKED, headers=bearer(fresh)).status_code == 200)
    problem(service.get(ASKED, headers=bearer(used)), 401, "unauthorized")


ALLOWED = {
    ASKED: {"asks", "ada"},
    "/v1/none": {"asks", "ada"},
    "/v1/simulations": {"runs", "ada"},
    "/v1/simulations/none": {"runs", "ada"},
    "/v1/jobs": {"asks", "runs", "ada"},
    "/v1/ledgers": set(),
    "/v1/reservations/x": set(),
    "/v1/log/checkpoint": set(),
    "/metrics": {"reads", "root", "ada"},
    LISTED: {"root"},
}


def test_a_scope_opens_its_paths_and_no_others(
    service: httpx.Client, made: dict[str, tuple[str, keys.KeyLine]]
) -> None:
    for path, names in ALLOWED.items():
        for name, (key, _) in made.items():
            answer = service.get(path, headers=bearer(key))
            assert (answer.status_code != 403) is (name in names), (path, name)
            assert answer.status_code in (200, 403, 404, 405), (path, name)
    detail = problem(service.get("/v1/simulations", headers=bearer(made["asks"][0])), 403, "forbidden")["detail"]
    assert detail == "This needs the scope simulate."


def test_unknown_expired_and_revoked_are_refused_alike(tmp_path: Path) -> None:
    made = {name: keys.new(name, CallerLimits()) for name in ("gone", "over", "open")}
    lines = {name: line for name, (_, line) in made.items()}
    lines["gone"] = replace(lines["gone"], revoked=NOW)
    lines["over"] = replace(lines["over"], expires=NOW)
    with serving(PATIENT.model_copy(update={"api_keys_file": str(file_of(tmp_path, *lines.values()))})) as client:
        sent = ["epsk_unknown", made["gone"][0], made["over"][0]]
        answers = [client.get(ASKED, headers=bearer(key)) for key in sent]
        assert client.get(ASKED, headers=bearer(made["open"][0])).status_code == 200
    assert len({(answer.text, answer.headers["www-authenticate"]) for answer in answers}) == 1
    detail = problem(answers[0], 401, "unauthorized")["detail"]
    assert all(word in detail for word in ("unknown", "expired", "revoked"))


def test_without_credentials_nobody_is_an_operator(client: httpx.Client) -> None:
    problem(client.get(LISTED), 403, "forbidden")
    problem(client.delete(f"{LISTED}/000000000000"), 403, "forbidden")
