"""What an operator may choose. None of it changes a number: only where, how fast and how much."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Self

PREFIX = "EPSILOND_"


def cores() -> int:
    """Cores this process may run on."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def state_file() -> str:
    """Where this user's programs keep what must outlive them: $XDG_STATE_HOME, else ~/.local/state."""
    home = os.environ.get("XDG_STATE_HOME", "")
    return str((Path(home) if home else Path("~/.local/state").expanduser()) / "epsilond" / "jobs.sqlite")


@dataclass(frozen=True, kw_only=True)
class Settings:
    """Read from EPSILOND_HOST, EPSILOND_PORT, …: each field's name in capitals."""

    host: str = "127.0.0.1"
    port: int = 8000
    deadline_seconds: float = 30.0
    """Longest a computation may take, its wait for a worker included; then it is killed and answered 503."""
    workers: int = field(default_factory=cores)
    """Worker processes; more than one per core only makes each slower."""
    spare_workers: int = 1
    """Warm workers beyond those that may run, so that one that was killed is missed by nobody."""
    queue: int = 64
    """Computations that may wait for a worker; one more is answered 429."""
    worker_memory_megabytes: int = 2048
    """Address space of a worker. What a worker really holds is far less; this stops a runaway."""
    cache_megabytes: int = 64
    """Room for answers already computed; 0 keeps none."""
    api_keys_file: str = ""
    """JSON lines {name, sha256, limits}, as `epsilond keys new` makes them; empty: nobody is asked for a key."""
    metrics_open: bool = False
    """Whether /metrics answers without a key where keys are asked for."""
    hsts_seconds: int = 0
    """Strict-Transport-Security for so long; 0 sends none. Only for a service that is reached by https alone."""
    connections: int = 1024
    """Connections at one time; on one more, everything but /healthz is answered 503."""
    event_streams: int = 256
    """Event streams at one time; one more is answered 429."""
    head_bytes: int = 32_768
    """Most that the head of a request may hold."""
    head_seconds: float = 10.0
    """Longest a request's head may take to arrive, and a connection may stay without a first one."""
    reader_seconds: float = 30.0
    """How long a client may take nothing of its answer before its connection is cut."""
    body_limit_bytes: int = 1_048_576
    body_seconds: float = 10.0
    """Longest a request's body may take to arrive."""
    job_workers: int = 1
    """Worker processes of simulations, beside those above and at lower priority."""
    job_queue: int = 32
    """Simulations that may wait for another to end; one more is answered 429."""
    job_seconds: float = 3600.0
    """Longest a simulation may take by its own estimate; a longer one is refused before it starts."""
    job_megabytes: int = 256
    """Most that the finished blocks of one simulation, and then its result, may hold."""
    job_wait_seconds: float = 60.0
    """Longest that `Prefer: wait` holds a request."""
    store_path: str = field(default_factory=state_file)
    """The SQLite file of simulations and their results; `:memory:` keeps them as long as the service lives."""
    store_url: str = ""
    """Another database, as SQLAlchemy writes its URL, instead of that file; of one service process alone."""
    store_days: float = 30.0
    """How long a simulation that has ended is kept."""
    store_jobs: int = 1000
    """How many simulations that have ended are kept; the oldest go first."""
    store_megabytes: int = 4096
    """How much the simulations that have ended may hold; the oldest go first."""
    log_level: str = "info"

    def __post_init__(self) -> None:
        positive = (
            *("deadline_seconds", "workers", "worker_memory_megabytes", "body_limit_bytes", "body_seconds"),
            *("connections", "event_streams", "head_bytes", "head_seconds", "reader_seconds"),
            *("job_workers", "job_seconds", "job_megabytes", "store_days", "store_jobs", "store_megabytes"),
        )
        for name in positive:
            if not getattr(self, name) > 0:
                raise ValueError(f"{PREFIX}{name.upper()} must be positive")
        may_be_none = ("queue", "spare_workers", "cache_megabytes", "port", "job_queue", "job_wait_seconds")
        for name in (*may_be_none, "hsts_seconds"):
            if getattr(self, name) < 0:
                raise ValueError(f"{PREFIX}{name.upper()} must not be negative")
        if self.log_level not in ("debug", "info", "warning", "error"):
            raise ValueError(f"{PREFIX}LOG_LEVEL must be debug, info, warning or error")
        if not (self.store_path or self.store_url):
            raise ValueError(f"{PREFIX}STORE_PATH must not be empty; :memory: keeps nothing")
        if self.store_megabytes < self.job_megabytes:
            raise ValueError(f"{PREFIX}STORE_MEGABYTES must not be below {PREFIX}JOB_MEGABYTES")

    @classmethod
    def from_environment(cls, environ: Mapping[str, str] = os.environ, **chosen: str | float | None) -> Self:
        """The settings of an environment; what is `chosen` and not None goes before it.

        Raises:
            ValueError: naming the variable that cannot be read.
        """
        values: dict[str, object] = {}
        readers: dict[str, Callable[[str], object]] = {"int": int, "float": float, "str": str, "bool": _truth}
        for item in fields(cls):
            text = environ.get(f"{PREFIX}{item.name.upper()}")
            if text is not None:
                try:
                    values[item.name] = readers[str(item.type)](text)
                except ValueError:
                    raise ValueError(f"{PREFIX}{item.name.upper()} is not of type {item.type}") from None
        values.update({name: value for name, value in chosen.items() if value is not None})
        return cls(**values)  # type: ignore[arg-type]


def _truth(text: str) -> bool:
    """Raises ValueError: the text is neither of them."""
    return bool(("false", "true").index(text.lower()))
