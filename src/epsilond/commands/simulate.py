"""`epsilond simulate`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from epsilond.accountants.errors import InvalidInput
from epsilond.commands.cluster import OnDask, executor_at
from epsilond.commands.exits import exit_codes
from epsilond.commands.output import AsJson
from epsilond.commands.requests import fields_of


def add(main: typer.Typer) -> None:
    """Add the command."""
    main.command()(simulate)


def simulate(
    asked: Annotated[
        str | None,
        typer.Argument(metavar="PRESET|REQUEST.json", help="an experiment by its name, or a request; - reads it"),
    ] = None,
    listed: Annotated[bool, typer.Option("--list", help="list the presets")] = False,
    repetitions: Annotated[
        int | None, typer.Option(metavar="COUNT", help="default: those of the preset or request")
    ] = None,
    seed: Annotated[int | None, typer.Option(metavar="COUNT", help="the same seed gives the same answer")] = None,
    workers: Annotated[
        int | None, typer.Option(metavar="COUNT", min=1, help="processes; default: one per core, to the same answer")
    ] = None,
    dask: OnDask = None,
    out: Annotated[
        str | None, typer.Option(metavar="FILE", help="the figure, .png or .svg; default: the preset's name, .png")
    ] = None,
    request: Annotated[
        str | None, typer.Option("--request", metavar="FILE", help="a JSON request, - for standard input")
    ] = None,
    as_body: AsJson = False,
) -> None:
    """Run an algorithm or attack a mechanism, and compare the measurement with the guarantee. Draws a figure."""
    with exit_codes():
        from epsilond import simulating  # noqa: PLC0415  it needs an extra, which the rest of the commands do not

        if asked is not None and request is not None:
            raise InvalidInput.at("/request", "and the argument both name an experiment: give one of them")
        source = asked if request is None else request
        if listed or source is None:
            simulating.show_presets()
            return
        reads_file = request is not None or source == "-" or source.endswith(".json")
        experiment = fields_of(source) if reads_file else source
        figure = out if out is not None or as_body else f"{Path(source).stem if reads_file else source}.png"
        overrides = {"repetitions": repetitions, "seed": seed}
        with executor_at(dask) as executor:
            simulating.run(experiment, overrides, workers=workers, executor=executor, figure=figure, as_body=as_body)
