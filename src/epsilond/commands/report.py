"""`epsilond report` and `epsilond verify`."""

from __future__ import annotations

import datetime as dt
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from epsilond.accountants.errors import InvalidInput
from epsilond.commands.exits import ANOTHER_ENGINE, BROKEN, DISAGREES, exit_codes
from epsilond.commands.output import print_body, show, show_progress
from epsilond.commands.parsing import CommandLine
from epsilond.commands.requests import structure_of

if TYPE_CHECKING:
    from epsilond.witness.reports.record import Kind

NONE = "none"
"""Text of --date for a page without a date."""
OWN = ("algorithm", "request", "out", "date")
"""Pointers of faults that are not about a field of the request."""
FAILURES = {"broken": BROKEN, "another-engine": ANOTHER_ENGINE}
"""Exit codes of some outcomes that do not confirm a report. The others have `DISAGREES`."""

Source = Annotated[
    str, typer.Option("--request", metavar="FILE", help="the JSON request: a file, - to read it, or the text itself")
]
Out = Annotated[str, typer.Option(metavar="FILE", help="file of the page; - prints it")]
Date = Annotated[
    str | None,
    typer.Option(metavar="YYYY-MM-DD", help="date of the page · default today, in UTC; `none` for no date"),
]
AsOutcome = Annotated[bool, typer.Option("--json", help="print the outcome as JSON")]


def add(main: typer.Typer) -> None:
    """Add both commands."""
    report = CommandLine(no_args_is_help=True, help="Write an answer as one page of HTML to be read and signed.")
    report.command("calibration")(calibration)
    report.command("account")(account)
    main.add_typer(report, name="report")
    main.command()(verify)


def calibration(
    algorithm: Annotated[str, typer.Argument(metavar="ALGORITHM", help="see `epsilond algorithms`")],
    request: Source,
    out: Out = "report.html",
    date: Date = None,
) -> None:
    """Report the parameters of an algorithm at a target.

    \f

    Args:
        algorithm: name of the calibrator.
        request: JSON request: path of a file, `-` for standard input, or the text itself.
        out: file of the page, in a folder that exists; `-` prints the page.
        date: date on the page, YYYY-MM-DD. None is today in UTC, and `none` leaves the date out.

    Raises:
        typer.Exit: the request is not valid, nothing can be certified, or the file cannot be written; the reason was
            printed.
    """
    _write("calibration", algorithm, request, out, date)


def account(request: Source, out: Out = "report.html", date: Date = None) -> None:
    """Report the guarantee of a run; the request is the body of /v1/accounts.

    \f

    Args:
        request: JSON request: path of a file, `-` for standard input, or the text itself.
        out: file of the page, in a folder that exists; `-` prints the page.
        date: date on the page, YYYY-MM-DD. None is today in UTC, and `none` leaves the date out.

    Raises:
        typer.Exit: the request is not valid, nothing can be certified, or the file cannot be written; the reason was
            printed.
    """
    _write("account", None, request, out, date)


def verify(
    report: Annotated[str, typer.Argument(metavar="REPORT", help="the page, or with a signature an answer in JSON")],
    signature: Annotated[
        Path | None, typer.Option(metavar="FILE", help="the response's Epsilond-Signature, or its headers")
    ] = None,
    keys: Annotated[
        Path | None,
        typer.Option(metavar="KEYS", help="the public keys that you trust: a file, or the folder of a service"),
    ] = None,
    request: Annotated[str | None, typer.Option(metavar="FILE", help="the request of an answer in JSON")] = None,
    as_outcome: AsOutcome = False,
) -> None:
    """Check that a report was not altered, and that today's engine gives the same answer.

    Answer and page are made anew from the request in the report, and compared with the whole file. If the report is of
    the engine's own version, every figure must agree, except for the last digits, which may differ on another
    processor. The date and the author of the report are not checked: a hash is not a signature. With a signature and
    keys that you trust, the signature is checked too, and the report may be an answer in JSON. A ledger's page contains
    its signature.

    Exit codes: 0 it agrees, or is signed and nothing was computed anew, 4 the report was altered or is incomplete, or
    the signature does not hold, 5 today's engine does not agree, 6 another version of the engine made the report: its
    figures are confirmed, its page is not.

    \f

    Args:
        report: path of the page, or with a signature of an answer in JSON.
        signature: file with the header Epsilond-Signature of the response, or with all its headers.
        keys: file of the public keys that the verifier trusts, or folder of a service's keys.
        request: request of an answer in JSON: path of a file, `-` for standard input, or the text itself.
        as_outcome: whether to print the outcome as JSON.

    Raises:
        typer.Exit: the report is not confirmed; the exit codes are listed above.
    """
    with exit_codes():
        from epsilond.questions import report as reporting  # noqa: PLC0415  it needs an extra, this list does not

        page = reporting.read_page(Path(report))
        token = body = None
        if signature is not None:
            token = _signature_text(signature)
        if request is not None:
            body = structure_of(request, at="/request")
        with show_progress("computing the answer anew"):
            result = reporting.verify(page, signature=token, keys=keys, request=body)
        if as_outcome:
            from epsilond.calibrators.answer import as_json  # noqa: PLC0415  only needed for JSON

            print_body({"agrees": result.agrees, **as_json(result)})
        else:
            from epsilond.terminal.accounts import verification  # noqa: PLC0415  only needed for tables

            show(verification(result))
    if not result.agrees and result.outcome != "signed":
        raise typer.Exit(FAILURES.get(result.outcome, DISAGREES))


def _signature_text(path: Path) -> str:
    """Read the file of a signature.

    Args:
        path: file with the header Epsilond-Signature of a response, or with all its headers.

    Returns:
        The whole text. Bytes that are not UTF-8 are replaced.

    Raises:
        InvalidInput: the file cannot be read.
    """
    try:
        return path.read_text(encoding="utf-8", errors="replace")
    except OSError as error:
        raise InvalidInput.at("/signature", f"cannot be read: {error.strerror}") from None


def _write(kind: Kind, algorithm: str | None, request: str, out: str, date: str | None) -> None:
    """Answer a request, and write its report to a file or to standard output.

    Args:
        kind: `calibration` or `account`.
        algorithm: name of the algorithm of a calibration; None for an account.
        request: the text of --request.
        out: the text of --out.
        date: the text of --date; None for today in UTC.
    """
    with exit_codes(_pointer_in_command):
        from epsilond.questions import report as reporting  # noqa: PLC0415  it needs an extra, help does not

        path = _path_of(out)
        body = structure_of(request, at="/request")
        day = _date_of(date)
        with show_progress(algorithm or kind):
            page = reporting.report(kind, algorithm, request=body, date=day)
        if path is None:
            typer.echo(page, nl=False)
            return
        try:
            path.write_text(page, encoding="utf-8", newline="\n")
        except OSError as error:
            raise InvalidInput.at("/out", f"cannot be written: {error.strerror}") from None
        typer.echo(f"report: {path}")


def _date_of(option: str | None) -> str | None:
    """Return the date that a page shows.

    Args:
        option: the text of --date.

    Returns:
        The date as YYYY-MM-DD; today in UTC without the option, and None for `none`.
    """
    if option == NONE:
        return None
    if option:
        return option
    return dt.datetime.now(tz=dt.UTC).date().isoformat()


def _pointer_in_command(pointer: str) -> str:
    """Convert the JSON pointer of a fault to a pointer that begins with the name of an option.

    For example, the field /epsilon of the request becomes /request/epsilon, and the option /date is unchanged.

    Args:
        pointer: JSON pointer of the fault.

    Returns:
        The pointer.
    """
    first_part, _, _ = pointer.removeprefix("/").partition("/")
    if first_part in OWN:
        return pointer
    return f"/request{pointer}"


def _path_of(out: str) -> Path | None:
    """Check that the folder of the file for the page exists, before any work starts, and return the file's path.

    Args:
        out: path of the file, or `-` for standard output.

    Returns:
        The path; None for standard output.

    Raises:
        InvalidInput: the folder does not exist.
    """
    if out == "-":
        return None
    if not Path(out).parent.is_dir():
        raise InvalidInput.at("/out", "is in a folder that does not exist")
    return Path(out)
