"""Settings of an operator. They never change a numerical result, only the place, speed and amount of work."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping
from ipaddress import ip_network
from pathlib import Path
from typing import Annotated, Literal, Self

from pydantic import Field, ValidationError, field_validator, model_validator
from pydantic_settings import BaseSettings, SettingsConfigDict
from sqlalchemy.engine import make_url
from sqlalchemy.exc import ArgumentError

from epsilond.accountants.json_types import JsonObject, JsonRecord
from epsilond.app.http.record import ServicePart
from epsilond.app.machine import cores, is_private_url, state_file
from epsilond.app.nearness import near
from epsilond.executors import ClusterError, place_of
from epsilond.ledgers.cosigning.remote import read_addresses

PREFIX = "EPSILOND_"
OF_CLIENTS = ("EPSILOND_API_KEY", "EPSILOND_KERNEL", "EPSILOND_KEY_FILE", "EPSILOND_URL")
"""Variables of the library and of other programs of the project, which may be in the same environment."""
OF_KUBERNETES = re.compile(r"_SERVICE_(HOST|PORT(_\w+)?)$|_PORT_\d+_(TCP|UDP|SCTP)(_(PROTO|PORT|ADDR))?$|_\w+_PORT$")
"""Variables by which Kubernetes describes services to containers; similar names of services give similar variables."""


SHARE_OF_A_MINUTE = 45.0
"""CPU seconds per minute and worker that one caller may use in the long run: three quarters of a worker's time."""


def unknown_variables(environment: Mapping[str, str], fields: Iterable[str]) -> Iterator[str]:
    """Yield a message for each variable with the service's prefix that is not a setting, which may be a misspelt one.

    Variables of the client programs and of Kubernetes are not reported. Values are not read.

    Args:
        environment: environment variables by name.
        fields: names of the settings, without the prefix.

    Yields:
        A message that names the variable and, if there is one, the most similar setting.
    """
    settings = [name.upper() for name in fields]
    for variable in sorted(map(str.upper, environment)):
        is_foreign = variable in OF_CLIENTS or OF_KUBERNETES.search(variable) is not None
        if is_foreign or not variable.startswith(PREFIX):
            continue
        name = variable.removeprefix(PREFIX)
        if name not in settings:
            similar_names = near(name, settings)
            hints = [f"; near it is {PREFIX}{similar}" for similar in similar_names]
            hint = next(iter(hints), "")  # the most similar name comes first
            yield f"{variable}: is not a setting{hint}"


Count = Annotated[int, Field(ge=0)]
Positive = Annotated[int, Field(gt=0)]
Seconds = Annotated[float, Field(gt=0.0, allow_inf_nan=False)]


class Settings(BaseSettings):
    """Settings of the service, read from EPSILOND_HOST, EPSILOND_PORT, …: each field's name in capitals."""

    model_config = SettingsConfigDict(
        env_prefix=PREFIX, frozen=True, extra="forbid", use_attribute_docstrings=True, hide_input_in_errors=True
    )

    host: str = "127.0.0.1"
    port: Annotated[int, Field(ge=0, le=65535)] = 8000
    deadline_seconds: Seconds = 30.0
    """Longest wait of a request that states no wait, in seconds; then a job takes its place: 202."""
    workers: Positive = Field(default_factory=cores)
    """Number of worker processes; more than one per core only makes each slower."""
    spare_workers: Count = 1
    """Number of warm workers beyond those that may run, so that a killed worker is replaced at once."""
    queue: Count = 64
    """Most computations that may wait for a worker; a further one is answered 429."""
    # The pool of worker processes
    caller_queue: Positive = 32
    """Most computations of one caller that may wait; a further one is answered 429."""
    drain_seconds: Annotated[float, Field(ge=0.0, allow_inf_nan=False)] = 10.0
    """Seconds for which questions may go on after the service begins to stop; then they are answered 202, and go on as
    jobs in another replica or after the next start. Without a store that outlives the service, until the deadline.
    """
    readers: Positive = 2
    """Number of additional worker processes for short tasks: reading large bodies, joining the parts of large answers,
    closed forms. One caller never has all of them.
    """
    abandoned_seconds: Seconds = 2.0
    """Seconds for which a computation may go on without waiting clients, unless another one waits for its worker."""
    job_processes: Count = Field(default_factory=lambda: 4 * cores())
    """Most questions that go on in the background at lower priority: those that others wait behind, and those past
    their deadline. One caller has at most half of them; a further one that others wait for begins anew as a job.
    """
    worker_memory_megabytes: Positive = 2048
    """Address space of a worker in megabytes. A worker uses far less; the limit stops runaway computations."""
    cache_megabytes: Count = 64
    """Memory for computed answers in megabytes; 0 keeps none."""
    data: str = ""
    """Path of the folder with a subfolder for each data set that simulations of the papers' experiments read. Empty:
    such simulations are refused.
    """
    # Callers and their credentials
    api_keys_file: str = ""
    """Path of the file of API keys: JSON lines, as `epsilond keys new` makes them, followed while the service runs.
    Empty: no key is required.
    """
    metrics_open: bool = False
    """True if /metrics needs no credentials even if the service requires them."""
    caller_jobs: Positive = 32
    """Most jobs of one caller that may wait or run, if their key has no other limit; a further one is answered 429."""
    caller_cpu_seconds_per_minute: Annotated[float, Field(ge=0.0, allow_inf_nan=False)] | None = None
    """CPU seconds per minute of each caller without a limit of their own; ten minutes' worth may be used at once. If
    unset, 45 for each of `workers`; 0: no limit. A caller who has used them up is answered 429; cached answers are
    free.
    """
    oidc_issuer: str = ""
    """URL of an OpenID Connect issuer; its tokens are accepted like API keys. Empty: none. Needs epsilond[oidc]."""
    oidc_audience: str = ""
    """Required value of `aud` in a token; it must be given if there is an issuer."""
    oidc_scope_claim: str = "scope"
    """Claim with a token's scopes: words with spaces between, or a list."""
    oidc_name_claim: str = "sub"
    """Claim that identifies the owner of jobs and budget; its values must never pass from one person to another."""
    oidc_organisation_claim: str = ""
    """Claim with the organisation of a token, which selects its data sets; empty: the organisation of keys that name
    none. A token that lacks the configured claim has no rights on ledgers.
    """
    oidc_roles_claim: str = ""
    """Claim with a token's roles on ledgers: owner, analyst, approver, auditor; empty: owner and analyst."""
    oidc_jwks_url: str = ""
    """URL of the issuer's keys; empty: as its /.well-known/openid-configuration says."""
    hsts_seconds: Count = 0
    """Duration of Strict-Transport-Security in seconds; 0 sends none. Only for a service reached by https only."""
    connections: Positive = 1024
    """Most connections at one time; beyond it, every path except /healthz is answered 503."""
    event_streams: Positive = 256
    """Most event streams at one time, of which one caller has at most half; a further one is answered 429."""
    job_waits: Positive = 512
    """Most requests that wait for jobs at one time, of which one caller has at most half; a further one is answered
    429.
    """
    head_bytes: Positive = 32_768
    """Largest head of a request in bytes."""
    head_seconds: Seconds = 10.0
    """Longest time in seconds for a request's head to arrive, and for a connection to stay without a first head."""
    reader_seconds: Seconds = 30.0
    """Seconds without progress of a client in reading its answer, after which its connection is cut."""
    # Proxies before the service
    trusted_proxies: str = ""
    """Addresses and networks of trusted proxies, with commas between; their X-Forwarded-For is believed."""

    body_limit_bytes: Positive = 1_048_576
    """Largest body of a request in bytes."""
    body_seconds: Seconds = 10.0
    """Longest time in seconds for a request's body to arrive."""
    job_workers: Positive = 1
    """Most jobs that run at one time, and the number of additional worker processes for them, at lower priority."""
    job_queue: Count = 32
    """Most jobs that may wait for another to end; a further one is answered 429. If `job_processes` is 0 too, a
    question that does not end within its turn or its deadline is answered 429.
    """
    job_seconds: Seconds = 3600.0
    """Longest duration of a job in seconds; a simulation with a longer estimate is rejected before it starts."""
    job_megabytes: Positive = 256
    """Largest size in megabytes of the finished blocks of one simulation, and then of its result."""
    job_wait_seconds: Annotated[float, Field(ge=0.0, allow_inf_nan=False)] = 60.0
    """Longest wait in seconds that `Prefer: wait` is granted."""
    lease_seconds: Annotated[float, Field(ge=2.0, allow_inf_nan=False)] = 20.0
    """Seconds for which a silent replica keeps its job, in a shared store."""
    store_path: str = Field(default_factory=state_file)
    """Path of the SQLite file of jobs and their results; `:memory:` keeps them as long as the service lives."""
    store_url: str = ""
    """URL of a PostgreSQL database in place of that file: postgresql://…; all replicas of a service share it."""
    store_days: Annotated[float, Field(gt=0.0, allow_inf_nan=False)] = 30.0
    """Days for which an ended job is kept."""
    store_jobs: Positive = 1000
    """Most ended jobs that are kept; the oldest are removed first."""
    store_megabytes: Positive = 4096
    """Largest size of the ended jobs in megabytes; the oldest are removed first."""
    # Ledgers
    ledgers_in_memory: bool = False
    """Permission for ledgers in memory, which are lost when the service stops; without it they are rejected."""
    ledger_keys: str = ""
    """Folder of the keys that sign the log of ledgers; empty: next to the file of EPSILOND_STORE_PATH. Replicas that
    share a store share it; without it a shared store has no ledgers.
    """
    ledger_key_file: str = ""
    """Path of a file with the private key that signs (Ed25519, PEM), if it comes as a secret; the folder then holds
    none.
    """
    ledger_origin: str = ""
    """Name of the log, as every verifier knows it; empty: a name that is made once, with the keys."""
    ledger_checkpoint: str = ""
    """Path of a file with the newest signed checkpoint, on other storage than the store's. After a restore that lacks
    entries, ledgers reject moves until they are reconciled.
    """
    ledger_witnesses: str = ""
    """Witnesses that cosign each head of the log before a move is answered: `URL VKEY` of each, on its line, or
    with commas between. Somebody else runs them: `epsilond ledger witness`.
    """
    ledger_witnesses_needed: Count = 0
    """Number of witnesses that must have cosigned before a move is answered; 0: all of them."""
    ledger_webhooks: str = ""
    """Path of a JSON file with the webhooks that get messages about ledgers; empty: none."""
    # Beyond one machine
    dask: str = ""
    """Address of the scheduler of a Dask cluster that runs steps of jobs, as tcp://10.0.0.1:8786; empty: none."""
    store_password_file: str = ""
    """Path of a file with the password of the database of EPSILOND_STORE_URL, which then contains no password."""
    log_level: Literal["debug", "info", "warning", "error"] = "info"
    """Lowest level of log lines that are written."""

    @model_validator(mode="before")
    @classmethod
    def _with_password(cls, values: JsonRecord) -> JsonRecord:
        """Insert the password from `store_password_file`, if it is given, into `store_url`.

        So the password need not be in an environment variable. Line breaks at the end of the file are removed.

        Args:
            values: settings by name before their validation.

        Returns:
            The settings with the complete URL; the given mapping is not changed.

        Raises:
            ValueError: a password file is given, but no valid URL, or the file cannot be read.
        """
        name = values.get("store_password_file")
        url = values.get("store_url")
        if not name:
            return values
        if not url:
            raise ValueError(f"{PREFIX}STORE_PASSWORD_FILE is for {PREFIX}STORE_URL, which is not given")
        try:
            password = Path(name).read_text(encoding="utf-8").rstrip("\r\n")
        except (OSError, UnicodeDecodeError):
            raise ValueError(f"{PREFIX}STORE_PASSWORD_FILE cannot be read") from None
        try:
            complete_url = make_url(url).set(password=password).render_as_string(hide_password=False)
        except ArgumentError:
            raise ValueError(f"{PREFIX}STORE_URL is not a URL of a database") from None
        return {**values, "store_url": complete_url}

    @field_validator("dask")
    @classmethod
    def _check_scheduler(cls, address: str) -> str:
        """Check the address of a Dask scheduler, and return it unchanged; it is empty without a cluster.

        Raises:
            ValueError: the text is not empty and is not an address.
        """
        if not address:
            return address
        try:
            place_of(address)
        except ClusterError as error:
            raise ValueError(str(error)) from None
        return address

    @field_validator("ledger_witnesses")
    @classmethod
    def _check_witnesses(cls, text: str) -> str:
        """Check the list of witnesses, and return it unchanged.

        Raises:
            ValueError: an entry is not a URL with a public key, or a key occurs twice.
        """
        read_addresses(text)
        return text

    @model_validator(mode="after")
    def _check_combinations(self) -> Self:
        """Check that settings do not contradict each other, and return them unchanged.

        Raises:
            ValueError: two settings contradict each other. The message names their environment variables.
        """
        if not (self.store_path or self.store_url):
            raise ValueError(f"{PREFIX}STORE_PATH must not be empty; :memory: keeps nothing")
        if self.store_megabytes < self.job_megabytes:
            raise ValueError(f"{PREFIX}STORE_MEGABYTES must not be below {PREFIX}JOB_MEGABYTES")
        if self.ledger_witnesses_needed > len(read_addresses(self.ledger_witnesses)):
            raise ValueError(f"{PREFIX}LEDGER_WITNESSES_NEEDED must not exceed the number of witnesses")
        self._require_callers_settings()
        return self

    def _require_callers_settings(self) -> None:
        """Check that the settings of the identity provider are complete and safe.

        Its URLs must be protected, because an attacker could otherwise replace the keys that are fetched from them.

        Raises:
            ValueError: a setting is missing or not safe. The message names its environment variable.
        """
        urls = {"OIDC_ISSUER": self.oidc_issuer, "OIDC_JWKS_URL": self.oidc_jwks_url}
        for variable, url in urls.items():
            if url and not is_private_url(url):
                raise ValueError(f"{PREFIX}{variable} must be a URL with https, or with http of this machine itself")
        if self.oidc_issuer and not self.oidc_audience:
            raise ValueError(f"{PREFIX}OIDC_AUDIENCE must be given with {PREFIX}OIDC_ISSUER")
        if self.oidc_jwks_url and not self.oidc_issuer:
            raise ValueError(f"{PREFIX}OIDC_ISSUER must be given with {PREFIX}OIDC_JWKS_URL")

    @property
    def cpu_seconds_of_each_caller(self) -> float:
        """The CPU seconds per minute of a caller without a limit of their own; 0 for no limit."""
        if self.caller_cpu_seconds_per_minute is None:
            return SHARE_OF_A_MINUTE * self.workers
        return self.caller_cpu_seconds_per_minute

    @field_validator("trusted_proxies")
    @classmethod
    def _canonical_networks(cls, text: str) -> str:
        """Return a list of addresses and networks, separated by commas, in canonical spelling.

        Raises:
            ValueError: an entry is neither an address nor a network.
        """
        entries = [part.strip() for part in text.split(",")]
        try:
            networks = [str(ip_network(entry, strict=False)) for entry in entries if entry]
        except ValueError:
            raise ValueError("must be addresses or networks, with commas between") from None
        return ",".join(networks)

    @classmethod
    def from_environment(cls, **chosen: str | float | None) -> Self:
        """Read the settings from environment variables.

        Args:
            **chosen: settings that take precedence over the environment; None leaves a setting unchanged.

        Returns:
            The validated settings.

        Raises:
            ValueError: variables are unknown or, if all are known, invalid. The message names them, but not their
                values, which may be secrets.
        """
        messages = list(unknown_variables(os.environ, cls.model_fields))
        if messages:
            raise ValueError("; ".join(messages))
        overrides = {name: value for name, value in chosen.items() if value is not None}
        try:
            return cls(**overrides)  # type: ignore[arg-type]
        except ValidationError as errors:
            sentences = [_describe_error(error) for error in errors.errors(include_input=False)]
            raise ValueError("; ".join(sentences)) from None


def _describe_error(error: JsonObject) -> str:
    """Build the message for a validation error, with the name of its environment variable but not its value.

    Args:
        error: an error of pydantic, with its message in `msg` and the name of the setting in `loc`.
    """
    message = str(error["msg"]).removeprefix("Value error, ")
    # An error of a combination of settings has no location.
    if not error["loc"]:
        return message
    name, *_ = error["loc"]
    return f"{PREFIX}{str(name).upper()}: {message}"


SETTINGS: ServicePart[Settings] = ServicePart("settings")
