"""`epsilond jobs`: long computations of a service, which continue when the client has left."""

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
from epsilond.commands.service import Service, exit_unanswered, refuse

if TYPE_CHECKING:
    from rich.progress import Progress

PATH = "/v1/jobs"
HELD = 2
"""Longest time in seconds that the service delays its answer about a job that has not ended."""
ID = re.compile(r"[A-Za-z0-9_-]{1,64}")
LARGE = ("request", "result", "problem", "links")
"""Members of a job that its table leaves out."""

Url = Annotated[
    str,
    typer.Option("--service", metavar="URL", envvar="EPSILOND_URL", help="URL of the service"),
]
KeyFile = Annotated[
    Path | None,
    typer.Option(metavar="FILE", envvar="EPSILOND_KEY_FILE", help="file with the API key, if the service needs one"),
]
Id = Annotated[str, typer.Argument(metavar="ID", help="the job")]
HERE = "http://127.0.0.1:8000"

group = CommandLine(no_args_is_help=True, help="Show, wait for and cancel the long computations of a running service.")


def add(main: typer.Typer) -> None:
    """Add the group of commands `epsilond jobs` to the command line.

    Args:
        main: the command line.
    """
    main.add_typer(group, name="jobs")


@group.command("list")
def list_jobs(
    state: Annotated[str | None, typer.Option(metavar="WORD", help="only queued, running, done, failed, …")] = None,
    kind: Annotated[str | None, typer.Option(metavar="WORD", help="only calibration, plan, simulation, …")] = None,
    limit: Annotated[
        int | None, typer.Option(metavar="COUNT", min=1, max=100, help="largest number of jobs · default 20")
    ] = None,
    cursor: Annotated[
        str | None, typer.Option(metavar="TEXT", help="continue after the end of an earlier page")
    ] = None,
    service: Url = HERE,
    key_file: KeyFile = None,
    as_body: AsJson = False,
) -> None:
    """List jobs, newest first.

    \f

    Args:
        state: state of the listed jobs, such as running; None for any.
        kind: kind of the listed jobs, such as simulation; None for any.
        limit: largest number of jobs, 1 to 100; None for 20.
        cursor: end of an earlier page, after which the list continues.
        service: URL of the service.
        key_file: file with the API key of the service; None reads the key, if any, from EPSILOND_API_KEY.
        as_body: whether to print JSON as the service answers it; otherwise a table is printed.

    Raises:
        typer.Exit: the service rejects the request or does not answer; the reason was printed.
    """
    with exit_codes():
        filters = {"state": state, "kind": kind, "limit": limit, "cursor": cursor}
        query = urlencode({name: value for name, value in filters.items() if value is not None})
        path = f"{PATH}?{query}" if query else PATH
        page = Service.at(service, key_file).ask(path).document()
        if as_body:
            print_body(page)
            return
        from epsilond.terminal.parts import table  # noqa: PLC0415  help shows no table

        show(table("Jobs", map(_table_row, page["jobs"])))
        # The URL of the next page contains the cursor.
        next_cursor = re.search(r"[?&]cursor=(\w+)", page.get("next", ""))
        if next_cursor:
            typer.echo(f"older ones: --cursor {next_cursor[1]}")


@group.command("show")
def show_job(job: Id, service: Url = HERE, key_file: KeyFile = None, as_body: AsJson = False) -> None:
    """Show a job: its question, its state and its progress.

    \f

    Args:
        job: id of the job.
        service: URL of the service.
        key_file: file with the API key of the service; None reads the key, if any, from EPSILOND_API_KEY.
        as_body: whether to print JSON as the service answers it; otherwise a table is printed.

    Raises:
        typer.Exit: the service rejects the request or does not answer; the reason was printed.
    """
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
    """Wait until a job ends. Ctrl-C ends the wait, and the job goes on.

    \f

    Args:
        job: id of the job.
        timeout: longest wait in seconds; None waits until the job ends.
        service: URL of the service.
        key_file: file with the API key of the service; None reads the key, if any, from EPSILOND_API_KEY.
        as_body: whether to print JSON as the service answers it; otherwise a table is printed.

    Raises:
        typer.Exit: the job has no result, or the service rejects the request or does not answer; the reason was
            printed.
    """
    with exit_codes():
        last = _wait_for_end(Service.at(service, key_file), _path(job), timeout)
        _show(last, as_body=as_body)
        _require_done(last)


@group.command()
def result(
    job: Id,
    out: Annotated[Path | None, typer.Option(metavar="FILE", help="file of the answer; absent: it is printed")] = None,
    service: Url = HERE,
    key_file: KeyFile = None,
) -> None:
    """Print the answer of a job that is done: the same as that to its request without a job.

    \f

    Args:
        job: id of the job.
        out: file of the answer; None prints it.
        service: URL of the service.
        key_file: file with the API key of the service; None reads the key, if any, from EPSILOND_API_KEY.

    Raises:
        typer.Exit: the service rejects the request or does not answer; the reason was printed.
    """
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
    """Cancel a job; one that has ended stays as it is.

    \f

    Args:
        job: id of the job.
        service: URL of the service.
        key_file: file with the API key of the service; None reads the key, if any, from EPSILOND_API_KEY.

    Raises:
        typer.Exit: the service rejects the request or does not answer; the reason was printed.
    """
    with exit_codes():
        server = Service.at(service, key_file)
        current = server.ask(_path(job)).document()
        if _is_over(current):
            typer.echo(f"{job} has ended: {current['state']}")
            return
        answer = server.ask(_path(job), method="DELETE")
        # A job that ended after the first request is deleted, and the answer is then empty.
        state = answer.document()["state"] if answer.content else "had ended, and is forgotten"
        typer.echo(f"{job}: {state}")


def _path(job: str) -> str:
    """Return the URL path of a job at the service, after a check that the id cannot change the rest of the URL.

    Args:
        job: id of the job.

    Raises:
        InvalidInput: the text does not have the form of a job's id.
    """
    if not ID.fullmatch(job):
        raise InvalidInput.at("/id", "ID must be the id of a job, as `epsilond jobs list` shows it")
    return f"{PATH}/{job}"


def _wait_for_end(service: Service, path: str, timeout: float | None) -> JsonRecord:
    """Wait until a job ends, and show a progress bar if standard error is a terminal.

    Args:
        service: the service that runs the job.
        path: URL path of the job.
        timeout: longest wait [s]; None for no limit.

    Returns:
        The JSON object of the job in its final state.

    Raises:
        typer.Exit: the job has not ended within `timeout`.
    """
    from rich.console import Console  # noqa: PLC0415  few commands wait
    from rich.progress import (  # noqa: PLC0415
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeElapsedColumn,
    )

    deadline = float("inf") if timeout is None else time.monotonic() + timeout
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), disable=not sys.stderr.isatty()) as bar:
        job = service.ask(path).document()
        update_bar = _add_to_bar(bar, job)
        while not _is_over(job):
            if time.monotonic() >= deadline:
                exit_unanswered(f"the job is {job['state']}, and goes on")
            asked_at = time.monotonic()
            job = service.ask(path, wait=HELD).document()
            update_bar(job)
            # A service that answers without delay must not get a flood of requests.
            was_held = time.monotonic() - asked_at >= HELD / 2
            if not was_held and not _is_over(job):
                time.sleep(HELD / 2)
    return job


def _add_to_bar(bar: Progress, job: JsonObject) -> Callable[[JsonObject], None]:
    """Add a job to a progress bar.

    Args:
        bar: the progress bar.
        job: JSON object of the job in its present state.

    Returns:
        A function from the JSON object of a later state, which moves the bar to its progress.
    """
    task = bar.add_task(f"{job['kind']} {job['name']}", total=None)

    def update_bar(state: JsonObject) -> None:
        """Move the bar to the progress of a state of the job."""
        progress = state.get("progress", {"done": 0, "of": 1})
        total = progress["of"] if progress["of"] > 1 else None  # a single step has no measurable progress
        bar.update(task, completed=progress["done"], total=total)

    update_bar(job)
    return update_bar


def _is_over(job: Mapping[str, object]) -> bool:
    """Return whether a job has ended, that is, is neither queued nor running."""
    return job["state"] not in ("queued", "running")


def _require_done(job: JsonObject) -> None:
    """Print the reason and exit with an error code if a job has ended without a result.

    Args:
        job: JSON object of the job, which has the member `problem` if the job failed.

    Raises:
        typer.Exit: the job failed or was cancelled.
    """
    if "problem" in job:
        refuse(job["problem"])
    if job["state"] != "done":
        exit_unanswered(f"the job was {job['state']}")


def _show(job: JsonObject, *, as_body: bool) -> None:
    """Print a job as JSON, or as a table without its request and its result, which may be large.

    Args:
        job: JSON object of the job, as the service sends it.
        as_body: whether to print JSON.
    """
    if as_body:
        print_body(job)
        return
    from epsilond.terminal.parts import pairs  # noqa: PLC0415  help shows no table

    members = {name: value for name, value in job.items() if name not in ("id", *LARGE)}
    show(pairs(job["id"], members))


def _table_row(job: JsonObject) -> dict[str, str]:
    """Return the row of a job in the table of jobs: the text of each column by its heading.

    Args:
        job: JSON object of the job.
    """
    progress = job.get("progress", {})
    seconds = progress.get("seconds_spent")
    has_parts = progress.get("of", 1) > 1
    return {
        "job": job["id"],
        "kind": job["kind"],
        "of": job["name"],
        "state": job["state"],
        "done": f"{progress['done']} of {progress['of']}" if has_parts else "",
        "seconds": "" if seconds is None else f"{seconds:.0f}",
        "created": job["created"],
    }
