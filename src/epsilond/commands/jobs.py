"""`epsilond jobs`: the long questions of a service, which compute on without whoever asked."""

from __future__ import annotations

import re
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated
from urllib.parse import urlencode

import typer

from epsilond.accountants.errors import InvalidInput
from epsilond.accountants.json_types import JsonObject, JsonRecord
from epsilond.commands.exits import exit_codes
from epsilond.commands.output import AsJson, print_body, show
from epsilond.commands.parsing import CommandLine
from epsilond.commands.service import Service, refuse, unanswered

if TYPE_CHECKING:
    from rich.progress import Progress

PATH = "/v1/jobs"
HELD = 2
"""Seconds for which the service is asked to hold a look at a job: so often the bar moves."""
ID = re.compile(r"[A-Za-z0-9_-]{1,64}")
LARGE = ("request", "result", "problem", "links")

Url = Annotated[
    str,
    typer.Option("--service", metavar="URL", envvar="EPSILOND_URL", help="where the service is"),
]
KeyFile = Annotated[
    Path | None,
    typer.Option(metavar="FILE", envvar="EPSILOND_KEY_FILE", help="holds the key, where the service asks for one"),
]
Id = Annotated[str, typer.Argument(metavar="ID", help="the job")]
HERE = "http://127.0.0.1:8000"

group = CommandLine(no_args_is_help=True, help="See, wait for and cancel the long questions of a running service.")


def add(main: typer.Typer) -> None:
    """Add the group."""
    main.add_typer(group, name="jobs")


@group.command("list")
def listed(
    state: Annotated[str | None, typer.Option(metavar="WORD", help="only queued, running, done, failed, …")] = None,
    kind: Annotated[str | None, typer.Option(metavar="WORD", help="only calibration, plan, simulation, …")] = None,
    limit: Annotated[int | None, typer.Option(metavar="COUNT", min=1, max=100, help="at most so many · 20")] = None,
    cursor: Annotated[str | None, typer.Option(metavar="TEXT", help="where a page before ended")] = None,
    service: Url = HERE,
    key_file: KeyFile = None,
    as_body: AsJson = False,
) -> None:
    """List jobs, newest first."""
    with exit_codes():
        asked = {"state": state, "kind": kind, "limit": limit, "cursor": cursor}
        query = urlencode({name: value for name, value in asked.items() if value is not None})
        page = Service.at(service, key_file).ask(f"{PATH}?{query}" if query else PATH).document()
        if as_body:
            print_body(page)
            return
        from epsilond.terminal.parts import table  # noqa: PLC0415  help shows no table

        show(table("Jobs", map(_row, page["jobs"])))
        if cut := re.search(r"[?&]cursor=(\w+)", page.get("next", "")):
            typer.echo(f"older ones: --cursor {cut[1]}")


@group.command("show")
def shown(job: Id, service: Url = HERE, key_file: KeyFile = None, as_body: AsJson = False) -> None:
    """Show a job: what it computes, and how far it is."""
    with exit_codes():
        _show(Service.at(service, key_file).ask(_path(job)).document(), as_body=as_body)


@group.command()
def wait(
    job: Id,
    timeout: Annotated[float | None, typer.Option(metavar="SECONDS", min=0.0, help="absent: until it ends")] = None,
    service: Url = HERE,
    key_file: KeyFile = None,
    as_body: AsJson = False,
) -> None:
    """Wait until a job ends. Ctrl-C ends the wait, and the job goes on."""
    with exit_codes():
        ended = _waited(Service.at(service, key_file), _path(job), timeout)
        _show(ended, as_body=as_body)
        _require_done(ended)


@group.command()
def result(
    job: Id,
    out: Annotated[Path | None, typer.Option(metavar="FILE", help="write it there; else it is printed")] = None,
    service: Url = HERE,
    key_file: KeyFile = None,
) -> None:
    """Print the answer of a job, as it would have come at once."""
    with exit_codes():
        answer = Service.at(service, key_file).ask(f"{_path(job)}/result").content
        if out is None:
            sys.stdout.write(answer.decode().rstrip("\n") + "\n")
            return
        try:
            out.write_bytes(answer)
        except OSError as error:
            raise InvalidInput.at("/out", f"cannot be written: {error.strerror}") from None


@group.command()
def cancel(job: Id, service: Url = HERE, key_file: KeyFile = None) -> None:
    """Cancel a job; one that has ended stays as it is."""
    with exit_codes():
        asked = Service.at(service, key_file)
        before = asked.ask(_path(job)).document()
        if _is_over(before):
            typer.echo(f"{job} has ended: {before['state']}")
            return
        answer = asked.ask(_path(job), method="DELETE")
        typer.echo(f"{job}: {answer.document()['state'] if answer.content else 'had ended, and is forgotten'}")


def _path(job: str) -> str:
    """Where a job is served.

    Raises:
        InvalidInput: that is no id.
    """
    if not ID.fullmatch(job):
        raise InvalidInput.at("/id", "ID must be that of a job, such as `epsilond jobs list` shows")
    return f"{PATH}/{job}"


def _waited(service: Service, path: str, timeout: float | None) -> JsonRecord:
    """The job when it has ended, with a bar on a terminal while it has not."""
    from rich.console import Console  # noqa: PLC0415  few commands wait
    from rich.progress import (  # noqa: PLC0415
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeElapsedColumn,
    )

    until = float("inf") if timeout is None else time.monotonic() + timeout
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), disable=not sys.stderr.isatty()) as bar:
        found = service.ask(path).document()
        move = _mover(bar, found)
        while not _is_over(found):
            if time.monotonic() >= until:
                unanswered(f"the job is {found['state']}, and goes on")
            began = time.monotonic()
            found = service.ask(path, wait=HELD).document()
            move(found)
            if not _is_over(found) and time.monotonic() - began < HELD / 2:
                time.sleep(HELD / 2)  # it was not held
    return found


def _mover(bar: Progress, job: JsonObject) -> Callable[[JsonObject], None]:
    task = bar.add_task(f"{job['kind']} {job['name']}", total=None)

    def move(found: JsonObject) -> None:
        done = found.get("progress", {"done": 0, "of": 1})
        bar.update(task, completed=done["done"], total=done["of"] if done["of"] > 1 else None)

    move(job)
    return move


def _is_over(job: Mapping[str, object]) -> bool:
    return job["state"] not in ("queued", "running")


def _require_done(job: JsonObject) -> None:
    """Leave with another exit code than 0 if it failed or was given up."""
    if "problem" in job:
        refuse(job["problem"])
    if job["state"] != "done":
        unanswered(f"the job was {job['state']}")


def _show(job: JsonObject, *, as_body: bool) -> None:
    if as_body:
        print_body(job)
    else:
        from epsilond.terminal.parts import pairs  # noqa: PLC0415  as above

        show(pairs(job["id"], {name: value for name, value in job.items() if name not in ("id", *LARGE)}))


def _row(job: JsonObject) -> dict[str, str]:
    """A job in a line."""
    progress = job.get("progress", {})
    spent = progress.get("seconds_spent")
    return {
        "job": job["id"],
        "kind": job["kind"],
        "of": job["name"],
        "state": job["state"],
        "done": f"{progress['done']} of {progress['of']}" if progress.get("of", 1) > 1 else "",
        "seconds": "" if spent is None else f"{spent:.0f}",
        "created": job["created"],
    }
