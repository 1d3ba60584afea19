"""What an operator may choose. None of it changes a number: only where, how fast and how much."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping
from ipaddress import ip_network
from pathlib import Path
from typing import Annotated, Literal, Self
from urllib.parse import urlsplit

from pydantic import Field, ValidationError, field_validator, model_validator
from pydantic_settings import BaseSettings, SettingsConfigDict
from sqlalchemy.engine import make_url
from sqlalchemy.exc import ArgumentError

from epsilond.accountants.json_types import JsonRecord
from epsilond.app.http.record import ServicePart
from epsilond.app.nearness import near
from epsilond.executors import ClusterError, place_of

PREFIX = "EPSILOND_"
OF_CLIENTS = ("EPSILOND_API_KEY", "EPSILOND_KERNEL", "EPSILOND_KEY_FILE", "EPSILOND_URL")
"""What the library and programs of ours beside the service read, and may stand in the same environment."""
OF_KUBERNETES = re.compile(r"_SERVICE_(HOST|PORT(_\w+)?)$|_PORT_\d+_(TCP|UDP|SCTP)(_(PROTO|PORT|ADDR))?$|_\w+_PORT$")
"""Kubernetes tells containers of every service beside them; one whose name begins with ours gives such variables."""


def cores() -> int:
    """Cores this process may run on."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def state_file() -> str:
    """Where this user's programs keep what must outlive them: $XDG_STATE_HOME, else ~/.local/state."""
    home = os.environ.get("XDG_STATE_HOME", "")
    return str((Path(home) if home else Path("~/.local/state").expanduser()) / "epsilond" / "jobs.sqlite")


def is_private_url(url: str) -> bool:
    """Whether nobody on the way can read or change what is at this URL: https, or http of the loopback."""
    try:
        parts = urlsplit(url)
        host = parts.hostname
    except ValueError:
        return False
    return bool(host) and (parts.scheme == "https" or (parts.scheme == "http" and host in LOOPBACK))


LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})
SHARE_OF_A_MINUTE = 45.0
"""CPU seconds a minute and worker that one caller may use in the long run: three quarters of all."""


def unknown_variables(environment: Mapping[str, str], fields: Iterable[str]) -> Iterator[str]:
    """A sentence for each variable with our prefix that is no setting. Their texts are not looked at."""
    settings = [name.upper() for name in fields]
    for upper in sorted(map(str.upper, environment)):
        name, known = upper.removeprefix(PREFIX), upper in OF_CLIENTS or OF_KUBERNETES.search(upper)
        if upper.startswith(PREFIX) and name not in settings and not known:
            nearest = near(name, settings)
            yield f"{upper}: is no setting" + (f"; near it is {PREFIX}{nearest[0]}" if nearest else "")


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
    """Longest that a request waits for its answer, if it does not say; then a job goes on with it: 202."""
    workers: Positive = Field(default_factory=cores)
    """Worker processes; more than one per core only makes each slower."""
    spare_workers: Count = 1
    """Warm workers beyond those that may run, so that one that was killed is replaced at once."""
    queue: Count = 64
    """Computations that may wait for a worker; one more is answered 429."""
    # Of the pool of worker processes.
    caller_queue: Positive = 32
    """Computations of one caller that may wait; one more of theirs is answered 429."""
    drain_seconds: Annotated[float, Field(ge=0.0, allow_inf_nan=False)] = 10.0
    """How long questions may go on once the service is told to end; then they are answered 202, and go on as jobs in
    another replica or after the next start. Without a store that outlives the service, until the deadline."""
    readers: Positive = 2
    """Worker processes for what takes moments, beside those that compute: reading large bodies, joining the parts of
    large answers, closed forms. One caller never has all of them."""
    abandoned_seconds: Seconds = 2.0
    """How long a computation may go on that nobody waits for any more, as long as nobody waits for its worker."""
    job_processes: Count = Field(default_factory=lambda: 4 * cores())
    """Questions that may go on in the background at one time, at lower priority: those that others wait behind, and
    those past their deadline. Half of them may be one caller's; one more that others wait for begins anew as a job."""
    worker_memory_megabytes: Positive = 2048
    """Address space of a worker. What a worker really holds is far less; this stops a runaway."""
    cache_megabytes: Count = 64
    """Room for answers already computed; 0 keeps none."""
    # who asks: app/callers
    api_keys_file: str = ""
    """JSON lines, as `epsilond keys new` makes them, followed while the service runs; empty: no key is asked for."""
    metrics_open: bool = False
    """Whether /metrics answers without credentials where they are asked for."""
    caller_jobs: Positive = 32
    """Jobs of one caller that may wait or run, where their key says nothing else; one more is answered 429."""
    caller_cpu_seconds_per_minute: Annotated[float, Field(ge=0.0, allow_inf_nan=False)] | None = None
    """CPU seconds a minute of each caller without a limit of their own, ten minutes' worth of them at once; if unset,
    45 for each of `workers`; 0: no limit. Whoever has used theirs up is answered 429; answers kept are free."""
    oidc_issuer: str = ""
    """URL of an OpenID Connect issuer whose tokens are taken like API keys; empty: none are. Needs epsilond[oidc]."""
    oidc_audience: str = ""
    """What `aud` of a token must have; it must be given if there is an issuer."""
    oidc_scope_claim: str = "scope"
    """The claim with a token's scopes: words with spaces between, or a list."""
    oidc_name_claim: str = "sub"
    """The claim that says whose jobs and budget they are; its values must never pass from one person to another."""
    oidc_organisation_claim: str = ""
    """The claim with the organisation whose data sets a token may use; empty: the one of keys that name none. A token
    without a configured claim has no rights on ledgers."""
    oidc_roles_claim: str = ""
    """The claim with a token's roles on ledgers: owner, analyst, approver, auditor; empty: owner and analyst."""
    oidc_jwks_url: str = ""
    """Where the issuer's keys are; empty: as its /.well-known/openid-configuration says."""
    hsts_seconds: Count = 0
    """Strict-Transport-Security for so long; 0 sends none. Only for a service that is reached by https alone."""
    connections: Positive = 1024
    """Connections at one time; on one more, everything but /healthz is answered 503."""
    event_streams: Positive = 256
    """Event streams at one time, half of them at most one caller's; one more is answered 429."""
    job_waits: Positive = 512
    """Requests that wait for jobs at one time, half of them at most one caller's; one more is answered 429."""
    head_bytes: Positive = 32_768
    """Most that the head of a request may hold."""
    head_seconds: Seconds = 10.0
    """Longest a request's head may take to arrive, and a connection may stay without a first one."""
    reader_seconds: Seconds = 30.0
    """How long a client may take nothing of its answer before its connection is cut."""
    # Proxies before the service
    trusted_proxies: str = ""
    """Addresses and networks, with commas between; what they say of the client (X-Forwarded-For) is believed."""

    body_limit_bytes: Positive = 1_048_576
    """Most that the body of a request may hold."""
    body_seconds: Seconds = 10.0
    """Longest a request's body may take to arrive."""
    job_workers: Positive = 1
    """Jobs that run at one time, and as many worker processes for them, beside those above and at lower priority."""
    job_queue: Count = 32
    """Jobs that may wait for another to end; one more is answered 429. If `job_processes` is 0 too, a question that
    does not end within its turn or its deadline is answered 429."""
    job_seconds: Seconds = 3600.0
    """Longest a job may take; a simulation whose own estimate is longer is refused before it starts."""
    job_megabytes: Positive = 256
    """Most that the finished blocks of one simulation, and then its result, may hold."""
    job_wait_seconds: Annotated[float, Field(ge=0.0, allow_inf_nan=False)] = 60.0
    """Longest that `Prefer: wait` holds a request."""
    lease_seconds: Annotated[float, Field(ge=2.0, allow_inf_nan=False)] = 20.0
    """How long a job of a replica that has gone silent is left to it, where the store is shared."""
    store_path: str = Field(default_factory=state_file)
    """The SQLite file of jobs and their results; `:memory:` keeps them as long as the service lives."""
    store_url: str = ""
    """A PostgreSQL database instead of that file: postgresql://…; all replicas of a service share it."""
    store_days: Annotated[float, Field(gt=0.0, allow_inf_nan=False)] = 30.0
    """How long a job that has ended is kept."""
    store_jobs: Positive = 1000
    """How many jobs that have ended are kept; the oldest go first."""
    store_megabytes: Positive = 4096
    """How much the jobs that have ended may hold; the oldest go first."""
    # Ledgers
    ledgers_in_memory: bool = False
    """Permission for ledgers in memory, which are lost when the service stops; without it they are refused."""
    ledger_keys: str = ""
    """Folder of the keys that sign the log of ledgers; empty: beside the file of EPSILOND_STORE_PATH. Replicas that
    share a store share it; without it a shared store has no ledgers."""
    ledger_key_file: str = ""
    """A file with the private key that signs (Ed25519, PEM), if it comes as a secret; the folder then holds none."""
    ledger_origin: str = ""
    """The name of the log, as everybody who verifies it knows it; empty: one that is made up once, with the keys."""
    ledger_checkpoint: str = ""
    """A file, on other storage than the store's, with the newest signed checkpoint: after a restore that lacks
    entries, ledgers refuse moves until they are reconciled."""
    # Beyond one machine
    dask: str = ""
    """A Dask cluster that runs steps of jobs, by the address of its scheduler, as tcp://10.0.0.1:8786; empty: none."""
    store_password_file: str = ""
    """A file with the password of the database of EPSILOND_STORE_URL, which then names a user and no password."""
    log_level: Literal["debug", "info", "warning", "error"] = "info"
    """From which level up log lines are written."""

    @model_validator(mode="before")
    @classmethod
    def _with_password(cls, given: JsonRecord) -> JsonRecord:
        """The database's URL with the password of the file, so that it need not stand in the environment."""
        name, url = given.get("store_password_file"), given.get("store_url")
        if not name:
            return given
        if not url:
            raise ValueError(f"{PREFIX}STORE_PASSWORD_FILE is for {PREFIX}STORE_URL, which is not given")
        try:
            password = Path(name).read_text(encoding="utf-8").rstrip("\r\n")
        except (OSError, UnicodeDecodeError):
            raise ValueError(f"{PREFIX}STORE_PASSWORD_FILE cannot be read") from None
        try:
            whole = make_url(url).set(password=password).render_as_string(hide_password=False)
        except ArgumentError:
            raise ValueError(f"{PREFIX}STORE_URL is no URL of a database") from None
        return {**given, "store_url": whole}

    @field_validator("dask")
    @classmethod
    def _names_a_scheduler(cls, address: str) -> str:
        try:
            if address:
                place_of(address)
        except ClusterError as error:
            raise ValueError(str(error)) from None
        return address

    @model_validator(mode="after")
    def _fits_together(self) -> Self:
        if not (self.store_path or self.store_url):
            raise ValueError(f"{PREFIX}STORE_PATH must not be empty; :memory: keeps nothing")
        if self.store_megabytes < self.job_megabytes:
            raise ValueError(f"{PREFIX}STORE_MEGABYTES must not be below {PREFIX}JOB_MEGABYTES")
        self._require_callers_settings()
        return self

    def _require_callers_settings(self) -> None:
        for name in ("oidc_issuer", "oidc_jwks_url"):
            if getattr(self, name) and not is_private_url(getattr(self, name)):
                raise ValueError(
                    f"{PREFIX}{name.upper()} must be a URL with https, or with http of this machine itself"
                )
        if self.oidc_issuer and not self.oidc_audience:
            raise ValueError(f"{PREFIX}OIDC_AUDIENCE must be given with {PREFIX}OIDC_ISSUER")
        if self.oidc_jwks_url and not self.oidc_issuer:
            raise ValueError(f"{PREFIX}OIDC_ISSUER must be given with {PREFIX}OIDC_JWKS_URL")

    @property
    def cpu_seconds_of_each_caller(self) -> float:
        """CPU seconds a minute of a caller without a limit of their own; 0: no limit."""
        given = self.caller_cpu_seconds_per_minute
        return SHARE_OF_A_MINUTE * self.workers if given is None else given

    @field_validator("trusted_proxies")
    @classmethod
    def _addresses(cls, text: str) -> str:
        try:
            networks = [str(ip_network(part.strip(), strict=False)) for part in text.split(",") if part.strip()]
        except ValueError:
            raise ValueError("must be addresses or networks, with commas between") from None
        return ",".join(networks)

    @classmethod
    def from_environment(cls, **chosen: str | float | None) -> Self:
        """The settings of the environment; what is `chosen` and not None goes before it.

        Raises:
            ValueError: naming each variable that cannot be used. Its text is not repeated: it may be a secret.
        """
        if misspelt := [*unknown_variables(os.environ, cls.model_fields)]:
            raise ValueError("; ".join(misspelt))
        try:
            return cls(**{name: value for name, value in chosen.items() if value is not None})  # type: ignore[arg-type]
        except ValidationError as errors:
            said = (
                f"{''.join(f'{PREFIX}{str(part).upper()}: ' for part in each['loc'][:1])}"
                f"{each['msg'].removeprefix('Value error, ')}"
                for each in errors.errors(include_input=False)
            )
            raise ValueError("; ".join(said)) from None


SETTINGS: ServicePart[Settings] = ServicePart("settings")
