"""The simulate command: its figure and its progress bar."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import Executor
from contextlib import contextmanager
from pathlib import Path
from typing import Literal

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

from epsilond.accountants.errors import InvalidInput
from epsilond.accountants.json_types import JsonObject
from epsilond.calibrators.answer import as_json
from epsilond.commands.output import print_answer
from epsilond.questions import simulate as simulation
from epsilond.terminal import simulations
from epsilond.terminal.parts import show
from epsilond.witness.figures import MEDIA_TYPES, draw
from epsilond.witness.presets import PRESETS
from epsilond.witness.requests import SimulationRequest

FORMATS: dict[str, Literal["png", "svg"]] = {".png": "png", ".svg": "svg"}
"""Format of a figure by the suffix of its file."""


def figure_file(name: str | None) -> Path | None:
    """Check the name of the file for the figure, and return its path.

    This is done before the simulation starts, because a long simulation would otherwise fail only at its end.

    Args:
        name: name of the file; None for no figure.

    Returns:
        The path of the file, which need not exist. None for no figure.

    Raises:
        InvalidInput: the suffix is not .png or .svg, or the folder does not exist.
    """
    if name is None:
        return None
    path = Path(name)
    if path.suffix not in FORMATS:
        raise InvalidInput.at("/out", "has no ending that says its format", allowed=", ".join(MEDIA_TYPES))
    if not path.parent.is_dir():
        raise InvalidInput.at("/out", "is in a folder that does not exist")
    return path


def show_presets() -> None:
    """Print the table of experiments that can be simulated by name, which are called presets."""
    show(simulations.presets(PRESETS))


def run(
    experiment: SimulationRequest | JsonObject | str,
    overrides: JsonObject,
    *,
    workers: int | None,
    executor: Executor | None = None,
    figure: str | None,
    as_body: bool,
    data: Mapping[str, str] | None = None,
    resume: str | None = None,
) -> None:
    """Simulate, print the answer, and draw its figure into a file.

    Args:
        experiment: a request, its JSON form, or the name of a preset.
        overrides: values that replace fields of the request; None leaves a field as it is.
        workers: number of processes; None for one per core.
        executor: runs the blocks of the simulation in place of these processes; None for the processes.
        figure: name of the file of the figure; None for no figure.
        as_body: whether to print JSON; otherwise tables are printed.
        data: folder of each data set, by name.
        resume: file of finished trials; None if trials are not stored.

    Raises:
        InvalidInput: the request has values out of range, or the figure cannot be written.
        NoCertificate: noise is to be calibrated, and nothing can be certified.
    """
    request = simulation.simulation_request(experiment, **overrides)
    path = figure_file(figure)
    answer = with_progress(request, workers, executor, data=data, resume=resume)
    # The answer is printed first, so that an error of the figure does not lose minutes of work.
    print_answer(answer, simulations.simulation, as_body=as_body)
    if path is not None:
        write_figure(answer, path)
        if not as_body:
            typer.echo(f"\nfigure: {path}")


def with_progress(
    request: SimulationRequest,
    workers: int | None,
    executor: Executor | None = None,
    *,
    data: Mapping[str, str] | None = None,
    resume: str | None = None,
) -> object:
    """Simulate with a progress bar on standard error, and return the answer.

    Args:
        request: request of the simulation.
        workers: number of processes; None for one per core.
        executor: runs the blocks of the simulation in place of these processes; None for the processes.
        data: folder of each data set, by name.
        resume: file of finished trials; None if trials are not stored.

    Returns:
        The answer of the simulation.

    Raises:
        KeyboardInterrupt: the simulation was interrupted. With `resume`, a message first says how many trials are kept.
    """
    with interrupt_on_sigterm(), _progress_bar() as bar:
        task = bar.add_task("preparing", total=None)
        # The numbers of finished blocks and of all blocks; empty before the first report. A block is a trial, if trials
        # are stored.
        counts: list[int] = []

        def progress(done: int, total: int) -> None:
            """Move the progress bar to the number of finished blocks."""
            counts[:] = done, total
            bar.update(task, description="simulating", completed=done, total=total)

        processes = workers or os.cpu_count() or 1
        try:
            return simulation.simulate(
                request, workers=processes, executor=executor, progress=progress, data=data, resume=resume
            )
        except KeyboardInterrupt:
            if resume is not None:
                bar.stop()
                typer.echo(stop_message(counts, resume), err=True)
            raise


def stop_message(counts: Sequence[int], resume: str) -> str:
    """Return the message that an experiment was interrupted, with the number of trials that are kept in a file.

    Args:
        counts: number of finished trials and number of all; empty if the interruption came before the first trial.
        resume: file of finished trials.

    Returns:
        The message, which also says how to go on.
    """
    if not counts:
        return f"stopped before the first trial; run the same command to start again with {resume}"
    done, total = counts
    return f"stopped; {done} of {total} trials are kept in {resume}; run the same command to go on"


def _progress_bar() -> Progress:
    """Return a progress bar on standard error, which is invisible unless that is a terminal.

    Returns:
        The progress bar, which is shown from the entry into its context to the end. It then disappears.
    """
    return Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
        console=Console(stderr=True),
        transient=True,
        disable=not sys.stderr.isatty(),
    )


@contextmanager
def interrupt_on_sigterm() -> Iterator[None]:
    """Handle SIGTERM like Ctrl-C within the context: workers end, and the terminal gets its cursor back.

    Yields:
        None, once. At the end, the earlier handler of SIGTERM is restored.
    """

    def interrupt(*_: object) -> None:
        """Raise the exception of Ctrl-C."""
        raise KeyboardInterrupt

    # Python's own handler would end the process at once.
    earlier_handler = signal.signal(signal.SIGTERM, interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, earlier_handler)


def write_figure(answer: object, path: Path) -> None:
    """Draw the figure of a simulation into a file.

    Args:
        answer: answer of the simulation.
        path: the file. Its suffix, .png or .svg, determines the format.

    Raises:
        InvalidInput: the file cannot be written.
    """
    image = draw(as_json(answer), FORMATS[path.suffix])
    try:
        path.write_bytes(image)
    except OSError as error:
        raise InvalidInput.at("/out", f"cannot be written: {error.strerror}") from None
