"""`epsilond keys`: make, list and revoke API keys. A running service follows its file within two seconds."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeVar

import typer

from epsilond.commands.exits import BAD_INPUT
from epsilond.commands.parsing import CommandLine
from epsilond.extras import extra

if TYPE_CHECKING:
    from epsilond.app.callers.keys import KeyLine

Name = TypeVar("Name", bound=str)
group = CommandLine(no_args_is_help=True, help="Make, list and revoke API keys for the service.")
File = Annotated[Path, typer.Argument(metavar="FILE", help="file of keys")]
DURATION = re.compile(r"([1-9][0-9]{0,5})([hdw])")
HOURS = {"h": 1, "d": 24, "w": 168}
COLUMNS = "{:<12}  {:<24}  {:<36}  {:<16}  {:<20}  {:<20}  {}"


@group.callback()
def keys() -> None:
    """Make, list and revoke API keys for the service."""


@group.command()
def new(
    name: Annotated[str, typer.Argument(metavar="NAME", help="owner of the key; jobs belong to this name")],
    file: Annotated[Path | None, typer.Option(help="file of keys that gets the line; absent: it is printed")] = None,
    scope: Annotated[
        list[str] | None,
        typer.Option(
            help="calibrate, simulate, ledger, metrics or admin; once for each; default: calibrate and simulate"
        ),
    ] = None,
    organisation: Annotated[
        str | None,
        typer.Option(
            metavar="NAME", help="owner of the data sets that the key may use; absent: shared by keys without one"
        ),
    ] = None,
    role: Annotated[
        list[str] | None,
        typer.Option(help="owner, analyst, approver or auditor of ledgers; once for each; default: owner and analyst"),
    ] = None,
    expires: Annotated[
        str | None, typer.Option(help="12h, 90d, 4w, or a date and time as RFC 3339 has it; absent: never")
    ] = None,
    requests_per_minute: Annotated[int | None, typer.Option(min=1, help="absent: no limit")] = None,
    concurrent_computations: Annotated[int | None, typer.Option(min=1, help="absent: no limit")] = None,
    jobs: Annotated[int | None, typer.Option(min=1, help="jobs that have not ended; absent: the service's")] = None,
    cpu_seconds_per_minute: Annotated[
        float | None, typer.Option(min=0.0, help="CPU time in the long run; absent: the service's")
    ] = None,
) -> None:
    """Make an API key and print it, this once only. The line for the file of keys has a digest and not the key.

    \f

    Args:
        name: owner of the key, to whom its jobs belong.
        file: file of keys to which the line is added; None prints the line.
        scope: scopes of the key: calibrate, simulate, ledger, metrics, admin. None gives calibrate and simulate.
        organisation: owner of the data sets that the key may use; None shares them with all keys without
            organisation.
        role: roles in ledgers: owner, analyst, approver, auditor. None gives owner and analyst.
        expires: duration such as 12h, 90d or 4w, or date and time of RFC 3339; None for never.
        requests_per_minute: largest number of requests per minute, at least 1; None for no limit.
        concurrent_computations: largest number of computations at a time, at least 1; None for no limit.
        jobs: largest number of jobs that have not ended, at least 1; None for the service's limit.
        cpu_seconds_per_minute: CPU seconds per minute in the long run, more than 0; None for the service's limit.

    Raises:
        typer.Exit: an option is not valid, or the file cannot be written; the reason was printed.
    """
    with _exit_on_error():
        from epsilond.app.callers import key_file, limits, scopes  # noqa: PLC0415  other commands need no framework
        from epsilond.app.callers import keys as api_keys  # noqa: PLC0415  other commands need no framework

        scope_names = _check_names("scope", scope or scopes.DEFAULT_SCOPES, scopes.SCOPES)
        roles = _check_names("role", role or (), scopes.ROLES)
        caller_limits = limits.CallerLimits(
            requests_per_minute=requests_per_minute,
            concurrent_computations=concurrent_computations,
            jobs=jobs,
            cpu_seconds_per_minute=cpu_seconds_per_minute,
        )
        until = moment_of(expires) if expires else None
        key, line = api_keys.new(name, caller_limits, scope_names, until, organisation=organisation, roles=roles)
        if file is not None:
            key_file.add(file, line)
    typer.echo(key)
    if file is None:
        typer.echo(line.text)


def _check_names(noun: str, requested: Collection[str], known: Collection[Name]) -> list[Name]:
    """Check that all requested names are known, and return them without repetitions.

    Args:
        noun: kind of the names, for the error message.
        requested: names that the caller gave.
        known: all valid names.

    Returns:
        The requested names, each once, in the order of `known`.

    Raises:
        ValueError: a requested name is unknown.
    """
    unknown = sorted(set(requested).difference(known))
    if unknown:
        raise ValueError(f"there is no {noun} {unknown[0]}; there are {', '.join(sorted(known))}")
    return [name for name in known if name in requested]


@group.command("list")
def list_keys(file: File) -> None:
    """List the keys of a file: id, name, scopes, organisation, roles, until when, and its state.

    \f

    Args:
        file: file of keys, with one line for each key.

    Raises:
        typer.Exit: the file cannot be read; the reason was printed.
    """
    with _exit_on_error():
        from epsilond.app.callers import keys as api_keys  # noqa: PLC0415  other commands need no framework

        lines = api_keys.read_keys(file)
    typer.echo(COLUMNS.format("id", "name", "scopes", "organisation", "roles", "expires", "state"))
    for line in lines:
        scopes = ",".join(sorted(line.allowed))
        organisation = line.organisation or "-"
        roles = ",".join(sorted(line.held_roles)) or "-"
        until = _format_moment(line.expires) if line.expires else "never"
        typer.echo(COLUMNS.format(line.id, line.name, scopes, organisation, roles, until, _describe_state(line)))


@group.command()
def revoke(
    file: File,
    which: Annotated[str, typer.Argument(metavar="ID|NAME", help="the key of this id, or every key of this name")],
) -> None:
    """Revoke a key. Its line stays, with the date; a running service refuses it within two seconds.

    \f

    Args:
        file: file of keys, with one line for each key.
        which: id of the key, or a name, which revokes every key of this name.

    Raises:
        typer.Exit: there is no such key, or the file cannot be changed; the reason was printed.
    """
    with _exit_on_error():
        from epsilond.app.callers import key_file  # noqa: PLC0415  other commands need no framework

        revoked = key_file.revoke(file, which, datetime.now(UTC).replace(microsecond=0))
        if not revoked:
            raise ValueError(f"{file} has no key of this id or name")
    for line in revoked:
        typer.echo(f"{line.id} {line.name} {_describe_state(line)}")


def moment_of(text: str) -> datetime:
    """Parse the option for the time at which a key expires.

    Args:
        text: duration from now in hours, days or weeks (12h, 90d, 4w), or date and time with an offset from UTC.

    Returns:
        The time, in UTC.

    Raises:
        ValueError: the text is neither a duration nor a date and time with an offset.
    """
    duration = DURATION.fullmatch(text)
    if duration:
        hours = int(duration[1]) * HOURS[duration[2]]
        return datetime.now(UTC).replace(microsecond=0) + timedelta(hours=hours)
    with suppress(ValueError):
        moment = datetime.fromisoformat(text)
        if moment.tzinfo is not None:
            return moment.astimezone(UTC)
    raise ValueError("--expires is 12h, 90d, 4w or the like, or a date and time such as 2027-01-31T12:00:00Z")


def _describe_state(line: KeyLine) -> str:
    """Return the present state of an API key as a text: "open", "expired", or "revoked" with the time.

    Args:
        line: the key's line in the file of keys.
    """
    if line.revoked is not None:
        return f"revoked {_format_moment(line.revoked)}"
    return "expired" if line.is_expired(datetime.now(UTC)) else "open"


def _format_moment(moment: datetime) -> str:
    """Return a moment as a text in the format of RFC 3339, in UTC and to the second."""
    return moment.astimezone(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")


@contextmanager
def _exit_on_error() -> Iterator[None]:
    """Print an error of a block as one line on standard error, and exit with `BAD_INPUT`, as a context manager.

    Yields:
        None, once.

    Raises:
        typer.Exit: the block raised ValueError, OSError or OverflowError.
    """
    try:
        with extra("service", "the service"):
            yield
    except (ValueError, OSError, OverflowError) as error:
        typer.echo(f"error: {error}", err=True)
        raise typer.Exit(BAD_INPUT) from None
