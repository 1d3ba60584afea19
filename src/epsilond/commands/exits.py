"""Exit codes of commands, and messages about the library's errors that name the option."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

import typer

from epsilond.accountants.errors import Fault, InvalidInput, NoCertificate, RunDiffers
from epsilond.options import option_name

UNEXPECTED, BAD_INPUT, NOT_CERTIFIED, BROKEN, DISAGREES, ANOTHER_ENGINE, NO_CLUSTER, UNANSWERED = range(1, 9)
# The usual exit code after Ctrl-C: 128 plus the number of the signal SIGINT.
INTERRUPTED = 130
MEANINGS = {
    0: "answered; of ledger verify: all is shown; of verify: the page is today's engine's, its figures are confirmed",
    UNEXPECTED: "unexpected: a fault of ours; of ledger verify: something does not hold; of ledger drill: one failed",
    BAD_INPUT: "bad input: the options or fields are named; of ledger verify: something is not shown",
    NOT_CERTIFIED: "nothing can be certified, or a ledger refuses: the failing condition and the nearest request are "
    "shown",
    BROKEN: "verify: the report was altered or is incomplete",
    DISAGREES: "verify: the report is whole, and today's engine does not agree",
    ANOTHER_ENGINE: "verify: another version of the engine made the report; today's proves its figures",
    NO_CLUSTER: "--dask: the cluster is away, was lost, or has another version of the engine",
    UNANSWERED: "jobs, ledger: the service does not answer, or a job has no result: it goes on, was cancelled, failed",
    INTERRUPTED: "stopped by Ctrl-C",
}
"""Meaning of each exit code, as the help of the command line prints it."""
ARGUMENTS = {
    "": "the request",
    "request": "the request",
    "arguments": "",
    "preset": "",
    "id": "",
    "spec": "SPEC",
    "report": "REPORT",
    "ledger": "LEDGER",
    "item": "ITEM",
    "bundle": "BUNDLE",
}
"""Names in messages for parameters that are not options, by field. Empty if the message itself has a name."""
SENTENCES = ("there is no such", "an audit has")
"""Beginnings of messages that are whole sentences, so that a colon precedes them."""
EPILOG = "Exit codes: " + "; ".join(f"{code} {meaning}" for code, meaning in MEANINGS.items()) + "."


@contextmanager
def exit_codes(
    to_option: Callable[[str], str] = lambda pointer: pointer, name_field: Callable[[str], str] = option_name
) -> Iterator[None]:
    """Print an error of the library within this context manager to standard error, and exit with its exit code.

    So scripts can distinguish an invalid request from one for which no guarantee can be certified.

    Args:
        to_option: for a JSON pointer into the request, returns the option to name in the message, as a pointer. It is
            for commands with options that are not named like the fields of the request.
        name_field: for a field of the request, returns the option with which it is given.

    Yields:
        None, once.

    Raises:
        typer.Exit: an error was printed. The exit code says whether the input or the certificate is at fault, or the
            cluster.
    """
    try:
        yield
    except InvalidInput as error:
        # Every fault is printed, so that the user can repair them all at once.
        for fault in error.faults:
            fault_of_option = Fault(to_option(fault.pointer), fault.message, fault.allowed)
            typer.echo(complaint(fault_of_option, name_field), err=True)
        raise typer.Exit(BAD_INPUT) from None
    except NoCertificate as error:
        for text in _explain_no_certificate(error):
            typer.echo(text, err=True)
        raise typer.Exit(NOT_CERTIFIED) from None
    except RuntimeError as error:
        if not isinstance(error, cluster_error()):
            raise
        typer.echo(f"error: --dask: {error}", err=True)
        raise typer.Exit(NO_CLUSTER) from None


def _explain_no_certificate(error: NoCertificate) -> Iterator[str]:
    """Yield the lines that explain why no guarantee can be certified for a request.

    After the message come the failing condition with both sides, and the observations of a run. The nearest values that
    can be certified, and the theorems that were tried, follow.

    Args:
        error: the error, with its condition, the nearest values and the theorems that were tried.

    Yields:
        One line; all lines after the first are indented.
    """
    yield f"not certified ({error.slug}): {error.message}"
    condition = error.condition
    if condition is not None:
        has_sides = condition.left is not None or condition.right is not None
        sides = f"; left {condition.left}, right {condition.right}" if has_sides else ""
        yield f"  condition {condition.id}: {condition.statement}{sides}"
    if isinstance(error, RunDiffers):
        yield from (f"  {observation}" for observation in error.observations)
    yield from (f"  nearest {name}: {value}" for name, value in error.nearest.items())
    yield from (f"  tried {attempt.theorem}: {attempt.reason}" for attempt in error.considered)


def cluster_error() -> type[Exception]:
    """Return the class of a cluster's errors."""
    from epsilond.executors import ClusterError  # noqa: PLC0415  help uses no cluster

    return ClusterError


def complaint(fault: Fault, name_field: Callable[[str], str] = option_name) -> str:
    """Return the message about a fault, such as `error: --clients is out of range`.

    It names the option or argument with the fault. A fault's message that is a sentence of its own follows a colon.

    Args:
        fault: the fault; its JSON pointer begins with the name of a field of the request, or of an argument.
        name_field: for a field of the request, returns the option with which it is given.

    Returns:
        The message in one line, which begins with "error:".
    """
    name, _, place_inside = fault.pointer.removeprefix("/").partition("/")
    if name.isupper():  # an argument, such as SPEC
        option = name
    elif name in ARGUMENTS:
        option = ARGUMENTS[name]
    else:
        option = name_field(name)
    subject = " at ".join(part for part in (option, place_inside) if part)
    if subject and fault.message.startswith(SENTENCES):  # the message is a sentence of its own
        subject += ":"
    allowed = f"(allowed: {fault.allowed})" if fault.allowed else ""
    return " ".join(part for part in ("error:", subject, fault.message, allowed) if part)
