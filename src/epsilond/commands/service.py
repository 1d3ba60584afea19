"""A service somewhere else, as commands ask it: over urllib, so that the command line needs no more packages."""

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
"""Seconds; what is put off for longer is told at once."""
PATIENCE = 60.0
"""Seconds that a response may take beyond those for which the service is asked to hold it."""


@dataclass(frozen=True)
class Service:
    """Where it is, and the key it is asked with."""

    url: str
    key: str | None = field(default=None, repr=False)

    @classmethod
    def at(cls, url: str, key_file: Path | None) -> Service:
        """The service at a URL, with the key that stands in a file, else in EPSILOND_API_KEY, else without one.

        Raises:
            InvalidInput: that is no URL of a service, or the file cannot be read or is empty.
        """
        if urlsplit(url).scheme not in ("http", "https") or not urlsplit(url).hostname:
            raise InvalidInput.at("/service", "must be a URL such as http://127.0.0.1:8000")
        if key_file is None:
            return cls(url.rstrip("/"), os.environ.get("EPSILOND_API_KEY") or None)
        try:
            key = key_file.read_text(encoding="utf-8").strip()
        except (OSError, UnicodeDecodeError) as error:
            raise InvalidInput.at("/key_file", f"cannot be read: {error}") from None
        if not key or not key.isascii() or not key.isprintable():
            raise InvalidInput.at("/key_file", "must hold a key, and nothing else")
        return cls(url.rstrip("/"), key)

    def ask(self, path: str, *, method: str = "GET", wait: int = 0) -> ServiceAnswer:
        """Send a request, which the service is asked to hold for `wait` seconds, and return the answer.

        Raises:
            typer.Exit: the service refuses, or does not answer; why was said.
        """
        from epsilond.connection import Connection, NoAnswer, ServiceProblem  # noqa: PLC0415  help asks no service

        service = Connection(
            self.url,
            self.key,
            timeout=wait + PATIENCE,
            longest_pause=LONGEST_PAUSE,
            longest_answer=-1,
            is_repeatable=False,
        )
        headers = {"Accept": "*/*"} | ({"Prefer": f"wait={wait}"} if wait else {})
        try:
            return service.send(method, path, lambda answer: answer, headers=headers)
        except ServiceProblem as error:
            refuse({"status": error.status, "title": f"{error.status} {error.reason}", **error.problem})
        except NoAnswer as error:
            unanswered(str(error))


def refuse(problem: JsonObject) -> NoReturn:
    """Say a problem of the service, and leave with the exit code of what it is about.

    Raises:
        typer.Exit: always.
    """
    status = problem.get("status", 500)
    said = problem.get("detail") or problem.get("title")
    slug = str(problem.get("type", "")).rpartition("/")[2]
    if status == 409 and slug != "no-result":
        typer.echo(f"not certified ({slug}): {said}", err=True)
        for name, value in problem.get("nearest", {}).items():
            typer.echo(f"  nearest {name}: {value}", err=True)
        raise typer.Exit(NOT_CERTIFIED)
    typer.echo(f"error: {said}", err=True)
    for fault in problem.get("errors", ()):
        typer.echo(f"  {fault.get('pointer') or fault.get('parameter')}: {fault.get('message')}", err=True)
    raise typer.Exit(BAD_INPUT if status in (400, 401, 403, 404, 413, 422) else UNANSWERED)


def unanswered(message: str) -> NoReturn:
    """Say why there is no answer.

    Raises:
        typer.Exit: always.
    """
    typer.echo(f"error: {message}", err=True)
    raise typer.Exit(UNANSWERED)
