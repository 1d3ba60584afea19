"""Settings come from the environment and are checked there."""

from __future__ import annotations

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
    ],
)
def test_what_cannot_be_read_is_named_and_not_repeated(name: str, text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(f"EPSILOND_{name}", text)
    with pytest.raises(ValueError, match=f"EPSILOND_{name}") as refused:
        Settings.from_environment()
    assert len(text) < 4 or text not in str(refused.value)
