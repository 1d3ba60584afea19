"""What the simulate command does around a simulation: where the figure goes, and a progress bar."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Iterator
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


def figure_file(name: str | None) -> Path | None:
    """Where the figure is to be written; asked before the work, not after.

    Raises:
        InvalidInput: the name's ending is no format, or its folder is not there.
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
    """Print the list of experiments."""
    show(simulations.presets(PRESETS))


def run(
    asked: SimulationRequest | JsonObject | str,
    overrides: JsonObject,
    *,
    workers: int | None,
    executor: Executor | None = None,
    figure: str | None,
    as_body: bool,
) -> None:
    """Simulate, print the answer, and draw its figure into a file.

    Raises:
        InvalidInput: the request describes nothing that can be run, or the figure cannot be written.
        NoCertificate: noise is to be calibrated, and nothing can be certified.
    """
    request, path = simulation.simulation_request(asked, **overrides), figure_file(figure)
    answer = with_progress(request, workers, executor)
    # First the answer: whatever a figure may run into, minutes of work are not lost with it.
    print_answer(answer, simulations.simulation, as_body=as_body)
    if path is not None:
        write_figure(answer, path)
        if not as_body:
            typer.echo(f"\nfigure: {path}")


def with_progress(request: SimulationRequest, workers: int | None, executor: Executor | None = None) -> object:
    """The answer, with a bar on standard error while it is computed."""
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
    )
    console = Console(stderr=True)
    with (
        ended_like_ctrl_c(),
        Progress(*columns, console=console, transient=True, disable=not sys.stderr.isatty()) as bar,
    ):
        task = bar.add_task("preparing", total=None)

        def progress(done: int, total: int) -> None:
            bar.update(task, description="simulating", completed=done, total=total)

        processes = workers or os.cpu_count() or 1
        return simulation.simulate(request, workers=processes, executor=executor, progress=progress)


@contextmanager
def ended_like_ctrl_c() -> Iterator[None]:
    """SIGTERM ends the work as Ctrl-C does: workers are ended, and the terminal gets its cursor back."""

    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGTERM, interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def write_figure(answer: object, path: Path) -> None:
    """Draw the answer into a file.

    Raises:
        InvalidInput: the file cannot be written.
    """
    drawn = draw(as_json(answer), FORMATS[path.suffix])
    try:
        path.write_bytes(drawn)
    except OSError as error:
        raise InvalidInput.at("/out", f"cannot be written: {error.strerror}") from None
