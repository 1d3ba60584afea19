"""Settings come from the environment and are checked there."""

from __future__ import annotations

from pathlib import Path

import pytest

from epsilond.app.settings import Settings


def test_from_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    environ = {"EPSILOND_PORT": "9000", "EPSILOND_DEADLINE_SECONDS": "2.5", "EPSILOND_HOST": "0.0.0.0", "PORT": "1"}
    for name, text in environ.items():
        monkeypatch.setenv(name, text)
    settings = Settings.from_environment()
    assert (settings.port, settings.deadline_seconds, settings.host) == (9000, 2.5, "0.0.0.0")
    assert settings.workers >= 1
    assert Settings.from_environment(port=1, host=None).port == 1


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("PORT", "tcp://10.0.0.1:8000"),
        ("PORT", "-1"),
        ("WORKERS", "0"),
        ("WORKERS", "1.5"),
        ("DEADLINE_SECONDS", "nan"),
        ("DEADLINE_SECONDS", "0"),
        ("LOG_LEVEL", "loud"),
        ("JOB_WORKERS", "0"),
        ("JOB_SECONDS", "-1"),
        ("JOB_QUEUE", "-1"),
        ("STORE_DAYS", "0"),
        ("STORE_PATH", ""),
        ("STORE_MEGABYTES", "1"),
        ("TRUSTED_PROXIES", "*"),
        ("TRUSTED_PROXIES", "10.0.0.1, proxy.example"),
        ("TRUSTED_PROXIES", "10.0.0.0/99"),
        ("DASK", "scheduler:8786"),
    ],
)
def test_what_cannot_be_read_is_named_and_not_repeated(name: str, text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(f"EPSILOND_{name}", text)
    with pytest.raises(ValueError, match=f"EPSILOND_{name}") as refused:
        Settings.from_environment()
    assert len(text) < 4 or text not in str(refused.value)


@pytest.mark.parametrize(
    ("name", "nearest"), [("EPSILOND_WORKER", "EPSILOND_WORKERS"), ("EPSILOND_DEADLINE", "EPSILOND_DEADLINE_SECONDS")]
)
def test_a_variable_that_is_no_setting_is_told_with_the_nearest(
    name: str, nearest: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(name, "secret")
    with pytest.raises(ValueError, match=rf"{name}: is not a setting; near it is {nearest}$"):
        Settings.from_environment()


def test_one_that_is_near_no_setting(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EPSILOND_XYZZY", "secret")
    with pytest.raises(ValueError, match=r"EPSILOND_XYZZY: is not a setting$"):
        Settings.from_environment()


@pytest.mark.parametrize(
    "name",
    [
        "EPSILOND_URL",
        "EPSILOND_API_KEY",
        "EPSILOND_PROXY_SERVICE_HOST",
        "EPSILOND_PROXY_SERVICE_PORT",
        "EPSILOND_PROXY_SERVICE_PORT_HTTP",
        "EPSILOND_PROXY_PORT",
        "EPSILOND_PROXY_PORT_80_TCP",
        "EPSILOND_PROXY_PORT_80_TCP_ADDR",
    ],
)
def test_what_clients_and_kubernetes_name_is_not_ours(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(name, "tcp://10.0.0.1:80")
    assert Settings.from_environment().workers >= 1


def test_trusted_proxies_are_addresses_and_networks() -> None:
    assert Settings().trusted_proxies == ""
    assert Settings(trusted_proxies="10.0.0.1, 10.1.0.0/16,,fd00::/8 ").trusted_proxies == (
        "10.0.0.1/32,10.1.0.0/16,fd00::/8"
    )


def test_the_password_of_the_store_may_be_a_file(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    file = tmp_path / "password"
    file.write_text("p@ss/word\n")
    monkeypatch.setenv("EPSILOND_STORE_PASSWORD_FILE", str(file))
    with pytest.raises(ValueError, match="EPSILOND_STORE_URL"):
        Settings.from_environment()
    monkeypatch.setenv("EPSILOND_STORE_URL", "postgresql+psycopg://epsilond@store/jobs")
    assert Settings.from_environment().store_url == "postgresql+psycopg://epsilond:p%40ss%2Fword@store/jobs"
    file.unlink()
    with pytest.raises(ValueError, match="EPSILOND_STORE_PASSWORD_FILE cannot be read"):
        Settings.from_environment()
