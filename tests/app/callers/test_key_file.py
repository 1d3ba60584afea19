"""Files of keys are changed whole or not at all, and by the commands."""

from __future__ import annotations

import json
import stat
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from epsilond.app.callers import key_file, keys
from epsilond.app.callers.limits import CallerLimits
from epsilond.commands.keys import moment_of
from epsilond.commands.line import line as command_line
from tests.app.callers.test_keys import file_of, ring

NOW = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)


def run(*arguments: object) -> Any:
    return CliRunner().invoke(command_line, ["keys", *map(str, arguments)])


def test_everything_else_of_the_file_stays(tmp_path: Path) -> None:
    first, second = (keys.new(name, CallerLimits(jobs=2))[1] for name in ("ada", "bob"))
    file = file_of(tmp_path, first, second)
    file.write_text(file.read_text().rstrip("\n"))
    file.chmod(0o640)
    link = tmp_path / "link"
    link.symlink_to(file)
    key_file.revoke(link, first.id, NOW)
    key_file.add(link, keys.new("eve", CallerLimits())[1])
    assert link.is_symlink()
    assert stat.S_IMODE(file.stat().st_mode) == 0o640
    texts = file.read_text().splitlines()
    assert texts[:2] == ["# who may ask", ""]
    assert json.loads(texts[2]) == {**json.loads(first.text), "revoked": "2026-01-02T03:04:05Z"}
    assert texts[3] == second.text
    assert [line.name for line in keys.read_keys(file)] == ["ada", "bob", "eve"]
    assert sorted(each.name for each in tmp_path.iterdir()) == ["keys.jsonl", "link"]


def test_a_change_that_fails_leaves_the_file_as_it_was(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = file_of(tmp_path, keys.new("ada", CallerLimits())[1])
    before = file.read_text()

    def fail(*_: object) -> None:
        raise OSError

    monkeypatch.setattr(Path, "replace", fail)
    with pytest.raises(OSError):
        key_file.revoke(file, "ada", NOW)
    assert file.read_text() == before
    assert list(tmp_path.iterdir()) == [file]


def test_many_who_change_it_at_one_time_lose_nothing(tmp_path: Path) -> None:
    file = file_of(tmp_path, keys.new("ada", CallerLimits())[1])
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda n: key_file.add(file, keys.new(f"n{n}", CallerLimits())[1]), range(40)))
    assert {line.name for line in keys.read_keys(file)} == {"ada", *(f"n{n}" for n in range(40))}


def test_a_name_revokes_all_its_keys_and_an_id_one(tmp_path: Path) -> None:
    first, second, other = (keys.new(name, CallerLimits())[1] for name in ("ada", "ada", "bob"))
    file = file_of(tmp_path, first, second, other)
    assert [line.id for line in key_file.revoke(file, first.id, NOW)] == [first.id]
    assert [line.revoked for line in keys.read_keys(file)] == [NOW, None, None]
    later = NOW + timedelta(days=1)
    assert [line.revoked for line in key_file.revoke(file, "ada", later)] == [NOW, later]
    assert [line.revoked for line in keys.read_keys(file)] == [NOW, later, None]
    assert key_file.revoke(file, "eve", NOW) == ()


def test_the_command_gives_an_organisation_and_roles(tmp_path: Path) -> None:
    file = tmp_path / "keys.jsonl"
    new = ("new", "--file", file, "--scope", "ledger", "--organisation", "Acme")
    made = run(*new, "ada", "--role", "auditor", "--role", "owner")
    assert made.exit_code == 0, made.output
    assert run(*new, "eve").exit_code == 0
    ada, eve = keys.read_keys(file)
    assert (ada.organisation, ada.belongs_to, ada.held_roles) == ("Acme", "acme", {"auditor", "owner"})
    assert eve.held_roles == {"owner", "analyst"}
    caller = ring(file).caller(made.stdout.strip())
    assert (caller.organisation, caller.roles) == ("acme", {"auditor", "owner"})
    assert "there is no role boss" in run(*new, "max", "--role", "boss").stderr
    assert "needs the scope ledger" in run("new", "--file", file, "max", "--role", "owner").stderr
    assert "without an organisation" in run("new", "--file", file, "max", "--scope", "ledger").stderr
    assert keys.read_keys(file) == (ada, eve)
    rows = [row.split()[:5] for row in run("list", file).stdout.splitlines()[1:]]
    assert rows == [
        [ada.id, "ada", "ledger", "Acme", "auditor,owner"],
        [eve.id, "eve", "ledger", "Acme", "analyst,owner"],
    ]


def test_the_commands_make_list_and_revoke(tmp_path: Path) -> None:
    file = tmp_path / "keys.jsonl"
    new = ("new", "--file", file, "ada", "--expires", "90d", "--scope", "simulate", "--scope", "admin")
    made = run(*new, "--cpu-seconds-per-minute", "30", "--jobs", "2")
    assert made.exit_code == 0, made.output
    key = made.stdout.strip()
    (line,) = keys.read_keys(file)
    assert line.sha256 == keys.digest(key)
    assert (line.scopes, line.limits) == (("admin", "simulate"), CallerLimits(jobs=2, cpu_seconds_per_minute=30.0))
    assert timedelta(days=89) < line.expires - datetime.now(UTC) <= timedelta(days=90)
    assert ring(file).caller(key).scopes == {"admin", "simulate"}

    listed = run("list", file)
    assert listed.exit_code == 0
    assert all(word in listed.stdout for word in (line.id, "ada", "admin,simulate", "open"))
    assert line.sha256 not in listed.stdout
    revoked = run("revoke", file, line.id)
    assert (revoked.exit_code, revoked.stdout.split()[:3]) == (0, [line.id, "ada", "revoked"])
    assert ring(file).caller(key) is None
    assert "revoked" in run("list", file).stdout


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("new", "ada", "--scope", "everything"), "no scope everything"),
        (("new", "ada", "--expires", "soon"), "--expires"),
        (("new", "ada", "--expires", "2027-01-01T00:00:00"), "--expires"),
        (("new", "ada", "--expires", "2020-01-01T00:00:00Z"), "expired already"),
        (("new", "ada", "--expires", "999999w"), "error"),
        (("new", "ada", "--cpu-seconds-per-minute", "0"), "cpu_seconds_per_minute"),
        (("list", "/none/keys.jsonl"), "cannot be read"),
        (("revoke", "/none/keys.jsonl", "ada"), "error"),
    ],
)
def test_what_cannot_be_is_refused_in_words(arguments: tuple[str, ...], said: str) -> None:
    refused = run(*arguments)
    assert refused.exit_code == 2
    assert said in refused.stderr


def test_a_key_that_is_not_there_cannot_be_revoked(tmp_path: Path) -> None:
    refused = run("revoke", file_of(tmp_path, keys.new("ada", CallerLimits())[1]), "bob")
    assert refused.exit_code == 2
    assert "no key of this id or name" in refused.stderr


def test_a_moment_is_said_with_its_offset() -> None:
    assert moment_of("2027-01-31T12:00:00+02:00") == datetime(2027, 1, 31, 10, tzinfo=UTC)
    for text, hours in (("12h", 12), ("3d", 72), ("2w", 336)):
        assert timedelta(hours=hours - 1) < moment_of(text) - datetime.now(UTC) <= timedelta(hours=hours)
