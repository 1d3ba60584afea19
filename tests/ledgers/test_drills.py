"""Every drill passes on both databases, and fails where the protection that it is about does nothing."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from uuid import uuid4

import psycopg
import pytest
from typer.testing import CliRunner

from epsilond.accountants.errors import InvalidInput
from epsilond.commands.exits import BAD_INPUT, UNEXPECTED
from epsilond.commands.line import line
from epsilond.ledgers.book.continuity import KnownHeads
from epsilond.ledgers.cosigning.folder import WitnessFolder
from epsilond.ledgers.drills import running, stores
from epsilond.ledgers.drills.names import DrillName
from epsilond.ledgers.drills.reports import DrillReport
from epsilond.ledgers.drills.running import DRILLS, run_drill, run_drills
from epsilond.ledgers.log import key_files, receipts
from epsilond.ledgers.log.signing import SigningKeys
from epsilond.ledgers.store.balances import Balances
from epsilond.ledgers.store.migrations import guards
from epsilond.storage.file import WatchedFile
from tests.app.postgresql import postgresql_server  # noqa: F401 (a fixture)

NAMES = tuple(DrillName)
ROOT = Path(__file__).parents[2]


@pytest.fixture(params=["file", "postgresql"])
def server(request: pytest.FixtureRequest) -> str | None:
    """The URL of a real server; None for SQLite files."""
    return None if request.param == "file" else request.getfixturevalue("postgresql_server")


def databases(server: str, marker: str) -> list[str]:
    """Names of the databases of a server that contain a text."""
    with psycopg.connect(f"{server}/postgres") as connection:
        return [name for (name,) in connection.execute("SELECT datname FROM pg_database") if marker in name]


def only_report(name: DrillName, server: str | None) -> DrillReport:
    (report,) = run_drills([name], server)
    return report


def failed(report: DrillReport) -> list[str]:
    return [check.done for check in report.checks if not check.passed]


def test_the_list_of_drills_is_that_of_their_names() -> None:
    assert tuple(DRILLS) == NAMES


@pytest.mark.parametrize("name", NAMES)
def test_every_drill_passes(name: DrillName, server: str | None) -> None:
    report = only_report(name, server)
    assert failed(report) == []
    assert report.passed
    assert any(check.happened.startswith(("Refused", "Not verified")) for check in report.checks)


Patch = Callable[[pytest.MonkeyPatch], None]


def without_heads(patch: pytest.MonkeyPatch) -> None:
    """No head is compared, and nobody notices that a file was replaced."""
    patch.setattr(KnownHeads, "trouble", lambda *_: None)
    patch.setattr(WatchedFile, "require_there", lambda _: None)
    patch.setattr(WatchedFile, "require_unwritten", lambda _: None)


def without_balances(patch: pytest.MonkeyPatch) -> None:
    """No ledger is compared with its newest entry."""
    patch.setattr(Balances, "wrong", lambda *_: {})


def without_consistency(patch: pytest.MonkeyPatch) -> None:
    """The witness has forgotten each head before the next one is shown."""
    patch.setattr(WitnessFolder, "head", lambda *_: None)


def without_triggers(patch: pytest.MonkeyPatch) -> None:
    """No trigger keeps amounts of slots from being changed."""
    patch.setattr(guards, "ONE_WAY", {name: wrong for name, wrong in guards.ONE_WAY.items() if name != "ledger_slots"})


def without_signatures(patch: pytest.MonkeyPatch) -> None:
    """Every receipt is good."""
    patch.setattr(receipts, "verify", lambda *_: None)


def without_loss(patch: pytest.MonkeyPatch) -> None:
    """A new key takes the place of a private key that is missing."""
    own = key_files._read_own_private

    def made(folder: Path, name: str, kid: str) -> object:
        return own(folder, name, kid) if key_files.has_private(folder, kid) else key_files._make_private(folder, name)

    patch.setattr(key_files, "_read_own_private", made)


def without_memory(patch: pytest.MonkeyPatch) -> None:
    """A rotation publishes the new key alone."""
    patch.setattr(SigningKeys, "following", classmethod(lambda cls, _, signing, at: cls.new(signing, at)))


def without_rotation(patch: pytest.MonkeyPatch) -> None:
    """A rotation changes nothing."""
    patch.setattr(key_files, "rotate", lambda *_: None)


@pytest.mark.parametrize(
    ("name", "disable", "step"),
    [
        (DrillName.BACKUP_AND_RESTORE, without_heads, "A run is committed."),
        (DrillName.ROLLBACK, without_heads, "The process commits a run."),
        (DrillName.LAGGING_STANDBY, without_heads, "A run is committed."),
        (DrillName.LOST_KEYS, without_heads, "makes new keys"),
        (DrillName.LOST_KEYS, without_signatures, "verified with the new keys"),
        (DrillName.LOST_KEYS, without_loss, "The private key is gone"),
        (DrillName.KEY_ROTATION, without_signatures, "verified with the earlier public keys"),
        (DrillName.KEY_ROTATION, without_memory, "The earlier receipt"),
        (DrillName.KEY_ROTATION, without_rotation, "the earlier private key"),
        (DrillName.CHANGED_ROW, without_triggers, "The capacity of a slot"),
        (DrillName.CHANGED_ROW, without_balances, "the use of a slot"),
        (DrillName.WITNESS, without_consistency, "the last 3 runs is restored"),
        (DrillName.WITNESS, without_consistency, "without the witness"),
    ],
)
def test_a_drill_fails_where_its_protection_does_nothing(
    monkeypatch: pytest.MonkeyPatch, server: str | None, name: DrillName, disable: Patch, step: str
) -> None:
    disable(monkeypatch)
    report = only_report(name, server)
    assert not report.passed
    assert any(step in done for done in failed(report)), failed(report)


def test_a_drill_without_checks_does_not_pass(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(running, "DRILLS", {DrillName.ROLLBACK: lambda *_: None})
    assert not run_drill(DrillName.ROLLBACK, stores.SqliteStore(tmp_path)).passed


def test_databases_of_a_drill_are_dropped_also_where_it_is_interrupted(
    postgresql_server: str,  # noqa: F811
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    marker = uuid4().hex
    monkeypatch.setattr(stores, "uuid4", lambda: SimpleNamespace(hex=marker))

    def interrupt(*_: object) -> None:
        assert len(databases(postgresql_server, marker)) == 1
        raise KeyboardInterrupt

    monkeypatch.setattr(running, "DRILLS", {DrillName.ROLLBACK: interrupt})
    with pytest.raises(KeyboardInterrupt):
        next(run_drills(server=postgresql_server))
    assert databases(postgresql_server, marker) == []


@pytest.mark.parametrize("server", ["no URL", "sqlite:///file", "mysql://host/base"])
def test_other_stores_are_refused(server: str) -> None:
    with pytest.raises(InvalidInput, match="not a URL of a PostgreSQL server"):
        next(run_drills((), server))


def test_a_server_that_does_not_answer_is_named_without_its_password() -> None:
    with pytest.raises(InvalidInput) as refused:
        next(run_drills((), "postgresql://me:secret@127.0.0.1:1/base"))
    assert refused.value.faults[0].pointer == "/store"
    assert "secret" not in str(refused.value)


@pytest.fixture
def run() -> Any:
    def run(*arguments: str, code: int = 0) -> Any:
        answer = CliRunner().invoke(line, ["ledger", "drill", *arguments])
        assert answer.exit_code == code, answer.output
        return answer

    return run


def test_the_command_reports_every_check(run: Any) -> None:
    body = json.loads(run("--only", "changed-row", "--json").stdout)
    assert (body["passed"], body["store"]) == (True, "SQLite")
    (drill,) = body["drills"]
    assert drill["name"] == "changed-row"
    shown = run("--only", "changed-row").stdout
    for check in drill["checks"]:
        assert {*check["done"].split(), *check["expected"].split()} <= {*shown.split()}


def test_the_command_exits_with_1_where_a_drill_fails(run: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    without_balances(monkeypatch)
    answer = run("--only", "changed-row", code=UNEXPECTED)
    assert "FAILED" in answer.stdout
    assert "a drill failed" in answer.stderr
    assert not json.loads(run("--only", "changed-row", "--json", code=UNEXPECTED).stdout)["passed"]


def test_the_command_names_what_it_refuses(run: Any) -> None:
    assert "--only" in run("--only", "nothing", code=BAD_INPUT).stderr
    assert "--store" in run("--store", "sqlite:///file", code=BAD_INPUT).stderr


@pytest.mark.parametrize("name", NAMES)
def test_the_guide_has_every_drill(name: DrillName) -> None:
    assert f"| `{name}` |" in (ROOT / "docs/deployment.md").read_text(encoding="utf-8")
