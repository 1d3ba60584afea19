"""Client of a service for commands, over urllib, so that the command line needs no further packages."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn
from urllib.parse import urlsplit

import typer

from epsilond.accountants.errors import InvalidInput
from epsilond.accountants.json_types import JsonObject
from epsilond.commands.exits import BAD_INPUT, NOT_CERTIFIED, UNANSWERED

if TYPE_CHECKING:
    from epsilond.connection import ServiceAnswer

LONGEST_PAUSE = 120
"""Longest time [s] until a request is repeated on demand of the service; a longer one is an error at once."""
PATIENCE = 60.0
"""Time [s] that a response may take in addition to the time for which the service holds it."""
CALLER_ERRORS = frozenset({400, 401, 403, 404, 413, 422})
"""HTTP statuses of requests that are at fault, and remain so if they are sent again."""


@dataclass(frozen=True)
class Service:
    """Service to which commands send requests.

    Attributes:
        url: URL of the service, without a slash at its end.
        key: API key of the caller; None without one.
    """

    url: str
    key: str | None = field(default=None, repr=False)

    @classmethod
    def at(cls, url: str, key_file: Path | None) -> Service:
        """Return the service at a URL, with the key in a file or in EPSILOND_API_KEY, if there is one.

        Args:
            url: URL with http or https and a host.
            key_file: file that contains only the key; None reads the environment variable.

        Returns:
            The service, to which nothing was sent yet. An empty variable gives no key.

        Raises:
            InvalidInput: the URL is invalid, or the file cannot be read. An empty key, and one with other characters
                than printable ASCII, is also rejected.
        """
        parts = urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise InvalidInput.at("/service", "must be a URL such as http://127.0.0.1:8000")
        if key_file is None:
            return cls(url.rstrip("/"), os.environ.get("EPSILOND_API_KEY") or None)
        try:
            key = key_file.read_text(encoding="utf-8").strip()
        except (OSError, UnicodeDecodeError) as error:
            raise InvalidInput.at("/key_file", f"cannot be read: {error}") from None
        # A header of HTTP can hold only printable ASCII characters.
        if not key or not key.isascii() or not key.isprintable():
            raise InvalidInput.at("/key_file", "must hold only a key")
        return cls(url.rstrip("/"), key)

    def ask(self, path: str, *, method: str = "GET", wait: int = 0) -> ServiceAnswer:
        """Send a request to the service, and return the answer.

        Args:
            path: path and query.
            method: HTTP method.
            wait: time [s] for which the service may delay its answer until there is news.

        Returns:
            The answer with its status, media type and content.

        Raises:
            typer.Exit: the service rejects the request or does not answer; the reason was printed.
        """
        from epsilond.connection import Connection, NoAnswer, ServiceProblem  # noqa: PLC0415  help asks no service

        # A request may have an effect, so it is not sent again after a lost answer. −1: an answer may have any length.
        service = Connection(
            self.url,
            self.key,
            timeout=wait + PATIENCE,
            longest_pause=LONGEST_PAUSE,
            longest_answer=-1,
            is_repeatable=False,
        )
        headers = {"Accept": "*/*"}
        if wait:
            headers["Prefer"] = f"wait={wait}"
        try:
            return service.send(method, path, lambda answer: answer, headers=headers)
        except ServiceProblem as error:
            refuse({"status": error.status, "title": f"{error.status} {error.reason}", **error.problem})
        except NoAnswer as error:
            exit_unanswered(str(error))


def refuse(problem: JsonObject) -> NoReturn:
    """Print a problem document of the service, and exit with the exit code for its HTTP status.

    Args:
        problem: the problem document (RFC 9457). Without a member `status`, it counts as a fault of the service.

    Raises:
        typer.Exit: always. The code is NOT_CERTIFIED if nothing can be certified or a ledger refuses, BAD_INPUT if the
            request is at fault, and UNANSWERED otherwise.
    """
    status = problem.get("status", 500)
    reason = problem.get("detail") or problem.get("title")
    slug = str(problem.get("type", "")).rpartition("/")[2]
    # The service answers 409 if nothing can be certified, but also if a job has no result.
    is_not_certified = status == 409 and slug != "no-result"
    if is_not_certified:
        typer.echo(f"not certified ({slug}): {reason}", err=True)
        for name, value in problem.get("nearest", {}).items():
            typer.echo(f"  nearest {name}: {value}", err=True)
        raise typer.Exit(NOT_CERTIFIED)
    typer.echo(f"error: {reason}", err=True)
    for fault in problem.get("errors", ()):
        typer.echo(f"  {fault.get('pointer') or fault.get('parameter')}: {fault.get('message')}", err=True)
    if status in CALLER_ERRORS:
        raise typer.Exit(BAD_INPUT)
    raise typer.Exit(UNANSWERED)


def exit_unanswered(message: str) -> NoReturn:
    """Print the reason why a service gave no answer or no result, and exit.

    Args:
        message: the reason, without the prefix "error:".

    Raises:
        typer.Exit: always, with the exit code UNANSWERED.
    """
    typer.echo(f"error: {message}", err=True)
    raise typer.Exit(UNANSWERED)
