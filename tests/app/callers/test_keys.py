"""API keys: made, kept as digests, asked for, limited; and simulations that belong to whoever posted them."""

from __future__ import annotations

import hmac
import json
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from typer.testing import CliRunner

from epsilond.app.callers import keyring, keys
from epsilond.app.callers.caller import Budgets
from epsilond.app.callers.limits import CallerLimits
from epsilond.app.callers.scopes import LEGACY_SCOPES
from epsilond.app.main import create_app
from epsilond.app.metrics import Metrics
from epsilond.app.settings import Settings
from epsilond.commands.line import line as command_line
from tests.app import toys
from tests.app.conftest import PATIENT, problem, serving

KEYS = {name: keys.new(name, limits, LEGACY_SCOPES) for name, limits in (
    ("ada", CallerLimits()),
    ("bob", CallerLimits()),
    ("often", CallerLimits(requests_per_minute=2)),
    ("one", CallerLimits(concurrent_computations=1, jobs=1)),
)}  # fmt: skip
TOY = f"/v1/calibrations/{toys.CALIBRATORS[0].name}"
SIMULATIONS = "/v1/simulations"


def bearer(name: str) -> dict[str, str]:
    return {"authorization": f"Bearer {KEYS[name][0]}"}


def file_of(folder: Path, *lines: keys.KeyLine) -> Path:
    """A file of keys."""
    file = folder / "keys.jsonl"
    file.write_text("# who may ask\n\n" + "".join(f"{line.text}\n" for line in lines))
    return file


def ring(file: Path, settings: Settings = PATIENT) -> keyring.Keyring:
    """A keyring that nobody shares."""
    return keyring.Keyring(file, Budgets(settings, Metrics()))


@pytest.fixture(scope="module")
def locked(tmp_path_factory: pytest.TempPathFactory) -> Iterator[httpx.Client]:
    """A client without a key, of a server that asks for one."""
    file = file_of(tmp_path_factory.mktemp("keys"), *(line for _, line in KEYS.values()))
    chosen = PATIENT.model_copy(update={"workers": 2, "api_keys_file": str(file)})
    with serving(chosen) as served:
        yield served


@pytest.mark.parametrize(
    "path", ["/", "/ledgers", "/healthz", "/readyz", "/openapi.json", "/docs", "/docs/swagger-ui.css", "/problems"]
)
def test_what_says_nothing_of_anybody_is_open(locked: httpx.Client, path: str) -> None:
    assert locked.get(path).status_code == 200


@pytest.mark.parametrize(
    ("header", "challenge"),
    [
        (None, 'Bearer realm="epsilond"'),
        ("Basic YTpi", 'Bearer realm="epsilond"'),
        ("Bearer", 'Bearer realm="epsilond"'),
        ("Bearer epsk_unknown", 'Bearer realm="epsilond", error="invalid_token"'),
        ("Bearer \xe9\xff", 'Bearer realm="epsilond", error="invalid_token"'),
    ],
)
@pytest.mark.parametrize(
    "path", ["/v1/algorithms", "/v1/simulations", "/metrics", "/v1/none", "/docsx", "/v1/%2e%2e/healthz"]
)
def test_everything_else_is_refused_without_a_key(
    locked: httpx.Client, path: str, header: str | None, challenge: str
) -> None:
    headers = {} if header is None else {"authorization": header.encode("latin-1")}
    refused = locked.get(path, headers=headers)
    problem(refused, 401, "unauthorized")
    assert refused.headers["www-authenticate"] == challenge


def test_two_credentials_are_none(locked: httpx.Client) -> None:
    both = [("authorization", f"Bearer {KEYS[name][0]}") for name in ("ada", "bob")]
    problem(locked.get("/v1/algorithms", headers=both), 401, "unauthorized")


def test_a_refused_body_is_not_read(locked: httpx.Client) -> None:
    problem(locked.post(TOY, content=b"{", headers={"content-type": "application/json"}), 401, "unauthorized")


@pytest.mark.parametrize("scheme", ["Bearer", "bearer", "BEARER"])
def test_a_key_opens(locked: httpx.Client, scheme: str) -> None:
    for path in ("/v1/algorithms", "/metrics", "/v1/jobs"):
        assert locked.get(path, headers={"authorization": f"{scheme} {KEYS['ada'][0]}"}).status_code == 200
    problem(locked.get("/v1/none", headers=bearer("ada")), 404, "not-found")


def test_a_key_that_asks_too_often_waits_and_others_do_not(locked: httpx.Client) -> None:
    answers = [locked.get("/v1/algorithms", headers=bearer("often")) for _ in range(3)]
    assert [each.status_code for each in answers[:2]] == [200, 200]
    problem(answers[2], 429, "rate-limited")
    assert 1 <= int(answers[2].headers["retry-after"]) <= 60
    assert locked.get("/v1/algorithms", headers=bearer("ada")).status_code == 200
    assert locked.get("/healthz", headers=bearer("often")).status_code == 200


def test_metrics_may_be_open(tmp_path: Path) -> None:
    file = tmp_path / "keys.jsonl"
    file.write_text(KEYS["ada"][1].text)
    chosen = Settings(
        workers=1, spare_workers=0, port=0, store_path=":memory:", api_keys_file=str(file), metrics_open=True
    )
    with serving(chosen) as served:
        assert served.get("/metrics").status_code == 200
        problem(served.get("/v1/algorithms"), 401, "unauthorized")


def test_without_a_file_nobody_is_asked(client: httpx.Client) -> None:
    assert client.get("/v1/algorithms").status_code == 200
    assert client.get("/v1/algorithms", headers={"authorization": "Basic YTpi"}).status_code == 200


def test_every_digest_is_compared_in_constant_time(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    compared = []

    def counted(one: str, other: str, compare: Any = hmac.compare_digest) -> bool:
        compared.append((one, other))
        return bool(compare(one, other))

    known = ring(file_of(tmp_path, *(line for _, line in KEYS.values())))
    monkeypatch.setattr(keyring.hmac, "compare_digest", counted)  # type: ignore[attr-defined]
    found = known.caller(KEYS["ada"][0])
    assert found is not None
    assert found.name == "ada"
    assert [one for one, _ in compared] == [line.sha256 for _, line in KEYS.values()]
    assert known.caller(KEYS["ada"][0] + "x") is None
    assert known.caller("") is None


def test_two_keys_of_one_name_are_one_owner(tmp_path: Path) -> None:
    old, new = (keys.new("ada", CallerLimits(jobs=3)) for _ in range(2))
    known = ring(file_of(tmp_path, old[1], new[1]))
    first, second = known.caller(old[0]), known.caller(new[0])
    assert (first.name, first.identity) == (second.name, second.identity) == ("ada", "key:ada")
    assert first.account is second.account


LINE = KEYS["ada"][1].text
BAD = {
    "": "no keys",
    "# nobody\n": "no keys",
    "{": "line 1 of .* is invalid: the line",
    LINE + "\n" + LINE: "line 2 of .* has the key of an earlier line",
    LINE + "\n" + keys.new("ada", CallerLimits(jobs=1))[1].text: "line 2 of .* has other limits",
    keys.new("eve", CallerLimits(), {"ledger"}, organisation="a")[1].text
    + "\n"
    + keys.new("eve", CallerLimits(), {"ledger"}, organisation="b")[1].text: "line 2 of .* has another organisation",
    keys.new("eve", CallerLimits(), {"ledger"}, organisation="a")[1].text
    + "\n"
    + keys.new("max", CallerLimits(), {"ledger"})[1].text: "max has the scope ledger without an organisation",
    LINE.replace("}", ',"organisation":"a b"}'): "line 1 of .* is invalid: organisation",
    LINE.replace("}", ',"roles":["boss"]}'): "line 1 of .* is invalid: roles",
    LINE.replace('"name"', '"nam"'): "line 1 of .* is invalid: nam",
    LINE.replace('"ada"', '"a da"'): "line 1 of .* is invalid: name",
    LINE.replace("sha256", "sha1"): "line 1 of .* is invalid: sha",
    json.dumps({"name": "x", "sha256": KEYS["ada"][0]}): "line 1 of .* is invalid: sha256",
    LINE.replace("}", ',"limits":{"jobs":0}}'): "line 1 of .* is invalid: limits/jobs",
    LINE.replace("}", ',"limits":{"job":1}}'): "line 1 of .* is invalid: limits/job",
}


@pytest.mark.parametrize("text", BAD, ids=range(len(BAD)))
def test_a_file_that_cannot_be_is_told_at_start_and_never_repeated(tmp_path: Path, text: str) -> None:
    file = tmp_path / "keys.jsonl"
    file.write_text(text)
    with pytest.raises(ValueError, match=f"EPSILOND_API_KEYS_FILE: .*{BAD[text]}") as told:
        create_app(settings=Settings(api_keys_file=str(file), store_path=":memory:"))
    assert KEYS["ada"][0] not in str(told.value)


def test_a_file_that_is_not_there_is_told_at_start(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"EPSILOND_API_KEYS_FILE: .* cannot be read: FileNotFoundError"):
        create_app(settings=Settings(api_keys_file=str(tmp_path / "none"), store_path=":memory:"))


def test_the_command_prints_a_key_once_and_its_line(tmp_path: Path) -> None:
    file = tmp_path / "keys.jsonl"
    printed = CliRunner().invoke(command_line, ["keys", "new", "ada", "--jobs", "3", "--requests-per-minute", "60"])
    assert printed.exit_code == 0
    key, line = printed.stdout.split()
    assert json.loads(line) == {
        "name": "ada", "sha256": keys.digest(key), "scopes": ["calibrate", "simulate"], "limits": {"requests_per_minute": 60, "jobs": 3}
    }  # fmt: skip
    file.write_text(line)
    added = CliRunner().invoke(command_line, ["keys", "new", "bob", "--file", str(file)])
    assert added.exit_code == 0
    known = ring(file)
    assert known.caller(key).name == "ada"  # type: ignore[union-attr]
    assert known.caller(added.stdout.strip()).name == "bob"  # type: ignore[union-attr]
    assert added.stdout.strip() not in file.read_text()
    assert key != added.stdout.strip()


def test_a_file_made_by_the_command_is_its_owners_alone(tmp_path: Path) -> None:
    file = tmp_path / "keys.jsonl"
    assert CliRunner().invoke(command_line, ["keys", "new", "ada", "--file", str(file)]).exit_code == 0
    assert stat.S_IMODE(file.stat().st_mode) == 0o600


@pytest.mark.parametrize("arguments", [["a b"], ["ada", "--file", "/none/keys.jsonl"], ["ada", "--jobs", "0"]])
def test_a_command_that_cannot_be_is_refused(arguments: list[str]) -> None:
    assert CliRunner().invoke(command_line, ["keys", "new", *arguments]).exit_code == 2


def test_a_line_that_is_refused_is_not_written(tmp_path: Path) -> None:
    file = tmp_path / "keys"
    first = CliRunner().invoke(command_line, ["keys", "new", "research", "--file", str(file), "--jobs", "3"])
    assert first.exit_code == 0
    before = file.read_text()
    second = CliRunner().invoke(command_line, ["keys", "new", "research", "--file", str(file)])
    assert second.exit_code == 2
    assert "other limits" in second.stderr
    assert file.read_text() == before
