"""A service somewhere else, as commands ask it: over urllib, so that the command line needs no more packages."""

from __future__ import annotations

import json
import os
import random
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn
from urllib.parse import urlsplit

import typer

from epsilond.accountants.errors import InvalidInput
from epsilond.accountants.json_types import JsonObject, JsonRecord
from epsilond.commands.exits import BAD_INPUT, NOT_CERTIFIED, UNANSWERED

if TYPE_CHECKING:
    from urllib.error import HTTPError

TRIES = 5
"""How often a request is sent that the service puts off."""
LONGEST_PAUSE = 120
"""Seconds; what is put off for longer is told at once."""
PATIENCE = 60.0
"""Seconds that a response may take beyond those for which the service is asked to hold it."""


@dataclass(frozen=True)
class ServiceAnswer:
    """What the service answered: a problem is no answer."""

    status: int
    media_type: str
    content: bytes

    def document(self) -> JsonRecord:
        """As JSON."""
        return dict(json.loads(self.content))


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
        """The answer to a request, which the service is asked to hold for `wait` seconds.

        What it puts off is sent again after the time it names, a few times.

        Raises:
            typer.Exit: it refuses, or does not answer; why was said.
        """
        from urllib.error import HTTPError, URLError  # noqa: PLC0415  help asks no service
        from urllib.request import Request, urlopen  # noqa: PLC0415

        headers = {"Accept": "*/*"} if self.key is None else {"Authorization": f"Bearer {self.key}"}
        headers |= {"Prefer": f"wait={wait}"} if wait else {}
        asked = Request(f"{self.url}{path}", method=method, headers=headers)  # noqa: S310  the scheme was looked at
        for tried in range(1, TRIES + 1):
            try:
                with urlopen(asked, timeout=wait + PATIENCE) as response:  # noqa: S310
                    return ServiceAnswer(response.status, response.headers.get_content_type(), response.read())
            except HTTPError as error:
                later = error.headers.get("Retry-After", "")
                put_off = error.code in (429, 503) and later.isdecimal() and int(later) <= LONGEST_PAUSE
                if not put_off or tried == TRIES:
                    refuse(_problem(error))
                time.sleep(int(later) + random.random())  # noqa: S311  no secret
            except (URLError, OSError) as error:
                reason = getattr(error, "reason", error)
                unanswered(f"the service at {self.url} does not answer: {reason}")
        raise AssertionError  # the last try answers, or is refused


def _problem(error: HTTPError) -> JsonRecord:
    """The problem that a refusal holds, or one made of its status."""
    try:
        found = json.loads(error.read())
    except ValueError:
        found = None
    plain = {"status": error.code, "title": f"{error.code} {error.reason}"}
    return plain | (found if isinstance(found, dict) else {})


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
