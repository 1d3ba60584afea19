"""What an operator may choose. None of it changes a number: only where, how fast and how much."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated, Literal, Self

from pydantic import Field, ValidationError, model_validator
from pydantic_settings import BaseSettings, SettingsConfigDict

PREFIX = "EPSILOND_"


def cores() -> int:
    """Cores this process may run on."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def state_file() -> str:
    """Where this user's programs keep what must outlive them: $XDG_STATE_HOME, else ~/.local/state."""
    home = os.environ.get("XDG_STATE_HOME", "")
    return str((Path(home) if home else Path("~/.local/state").expanduser()) / "epsilond" / "jobs.sqlite")


Count = Annotated[int, Field(ge=0)]
Positive = Annotated[int, Field(gt=0)]
Seconds = Annotated[float, Field(gt=0.0, allow_inf_nan=False)]


class Settings(BaseSettings):
    """Read from EPSILOND_HOST, EPSILOND_PORT, …: each field's name in capitals."""

    model_config = SettingsConfigDict(
        env_prefix=PREFIX, frozen=True, extra="forbid", use_attribute_docstrings=True, hide_input_in_errors=True
    )

    host: str = "127.0.0.1"
    port: Annotated[int, Field(ge=0, le=65535)] = 8000
    deadline_seconds: Seconds = 30.0
    """Longest a computation may take, its wait for a worker included; then it is killed and answered 503."""
    workers: Positive = Field(default_factory=cores)
    """Worker processes; more than one per core only makes each slower."""
    spare_workers: Count = 1
    """Warm workers beyond those that may run, so that one that was killed is replaced at once."""
    queue: Count = 64
    """Computations that may wait for a worker; one more is answered 429."""
    worker_memory_megabytes: Positive = 2048
    """Address space of a worker. What a worker really holds is far less; this stops a runaway."""
    cache_megabytes: Count = 64
    """Room for answers already computed; 0 keeps none."""
    api_keys_file: str = ""
    """JSON lines {name, sha256, limits}, as `epsilond keys new` makes them; empty: no key is asked for."""
    metrics_open: bool = False
    """Whether /metrics answers without a key where keys are asked for."""
    hsts_seconds: Count = 0
    """Strict-Transport-Security for so long; 0 sends none. Only for a service that is reached by https alone."""
    connections: Positive = 1024
    """Connections at one time; on one more, everything but /healthz is answered 503."""
    event_streams: Positive = 256
    """Event streams at one time; one more is answered 429."""
    head_bytes: Positive = 32_768
    """Most that the head of a request may hold."""
    head_seconds: Seconds = 10.0
    """Longest a request's head may take to arrive, and a connection may stay without a first one."""
    reader_seconds: Seconds = 30.0
    """How long a client may take nothing of its answer before its connection is cut."""
    body_limit_bytes: Positive = 1_048_576
    """Most that the body of a request may hold."""
    body_seconds: Seconds = 10.0
    """Longest a request's body may take to arrive."""
    job_workers: Positive = 1
    """Worker processes of simulations, beside those above and at lower priority."""
    job_queue: Count = 32
    """Simulations that may wait for another to end; one more is answered 429."""
    job_seconds: Seconds = 3600.0
    """Longest a simulation may take by its own estimate; a longer one is refused before it starts."""
    job_megabytes: Positive = 256
    """Most that the finished blocks of one simulation, and then its result, may hold."""
    job_wait_seconds: Annotated[float, Field(ge=0.0, allow_inf_nan=False)] = 60.0
    """Longest that `Prefer: wait` holds a request."""
    store_path: str = Field(default_factory=state_file)
    """The SQLite file of simulations and their results; `:memory:` keeps them as long as the service lives."""
    store_url: str = ""
    """Another database, as SQLAlchemy writes its URL, instead of that file; of one service process alone."""
    store_days: Annotated[float, Field(gt=0.0, allow_inf_nan=False)] = 30.0
    """How long a simulation that has ended is kept."""
    store_jobs: Positive = 1000
    """How many simulations that have ended are kept; the oldest go first."""
    store_megabytes: Positive = 4096
    """How much the simulations that have ended may hold; the oldest go first."""
    log_level: Literal["debug", "info", "warning", "error"] = "info"
    """From which level up log lines are written."""

    @model_validator(mode="after")
    def _fits_together(self) -> Self:
        if not (self.store_path or self.store_url):
            raise ValueError(f"{PREFIX}STORE_PATH must not be empty; :memory: keeps nothing")
        if self.store_megabytes < self.job_megabytes:
            raise ValueError(f"{PREFIX}STORE_MEGABYTES must not be below {PREFIX}JOB_MEGABYTES")
        return self

    @classmethod
    def from_environment(cls, **chosen: str | float | None) -> Self:
        """The settings of the environment; what is `chosen` and not None goes before it.

        Raises:
            ValueError: naming each variable that cannot be used. Its text is not repeated: it may be a secret.
        """
        try:
            return cls(**{name: value for name, value in chosen.items() if value is not None})  # type: ignore[arg-type]
        except ValidationError as errors:
            said = (
                f"{''.join(f'{PREFIX}{str(part).upper()}: ' for part in each['loc'][:1])}"
                f"{each['msg'].removeprefix('Value error, ')}"
                for each in errors.errors(include_input=False)
            )
            raise ValueError("; ".join(said)) from None
