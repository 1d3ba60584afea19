"""`epsilond simulate`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from epsilond import simulating, simulation_tables, tables
from epsilond.commands.exits import exit_codes
from epsilond.commands.output import AsJson, print_answer
from epsilond.commands.requests import fields_of
from epsilond.questions.simulate import simulation_request as request_of
from epsilond.witness.presets import PRESETS


def add(main: typer.Typer) -> None:
    """Add the command."""
    main.command()(simulate)


def simulate(
    asked: Annotated[
        str | None,
        typer.Argument(metavar="[PRESET|REQUEST.json]", help="an experiment by its name, or a request; - reads it"),
    ] = None,
    listed: Annotated[bool, typer.Option("--list", help="list the presets")] = False,
    repetitions: Annotated[
        int | None, typer.Option(metavar="COUNT", help="else those of the preset or request")
    ] = None,
    seed: Annotated[int | None, typer.Option(metavar="COUNT", help="the same seed gives the same answer")] = None,
    workers: Annotated[
        int | None, typer.Option(metavar="COUNT", min=1, help="processes; default: one per core, to the same answer")
    ] = None,
    out: Annotated[
        str | None, typer.Option(metavar="FILE", help="the figure, .png or .svg; default: the preset's name, .png")
    ] = None,
    as_body: AsJson = False,
) -> None:
    """Run an algorithm or attack a mechanism, and measure beside what is promised. Draws a figure."""
    with exit_codes():
        if listed or asked is None:
            tables.show(simulation_tables.presets(PRESETS))
            return
        preset = not (asked == "-" or asked.endswith(".json"))
        request = request_of(asked if preset else fields_of(asked), repetitions=repetitions, seed=seed)
        stem = asked if preset else Path(asked).stem
        target = simulating.figure_file(out if out is not None or as_body else f"{stem}.png")
        answer = simulating.with_progress(request, workers)
        # First the answer: whatever a figure may run into, minutes of work are not lost with it.
        print_answer(answer, simulation_tables.simulation, as_body=as_body)
        if target is not None:
            simulating.write_figure(answer, target)
            if not as_body:
                typer.echo(f"\nfigure: {target}")
