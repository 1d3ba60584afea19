"""`epsilond simulate`."""

from __future__ import annotations

from collections.abc import Sequence
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
    words: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="PRESET|REQUEST.json",
            help="an experiment by its name, also after the word preset, or a request; - reads it",
        ),
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
    data: Annotated[
        list[str] | None,
        typer.Option("--data", metavar="NAME=FOLDER", help="folder of a data set, for example mnist=FOLDER"),
    ] = None,
    resume: Annotated[
        str | None, typer.Option(metavar="FILE", help="keep finished trials here, and go on from them")
    ] = None,
    as_body: AsJson = False,
) -> None:
    """Run an algorithm or attack a mechanism, and compare the measurement with the guarantee. Draws a figure.

    \f

    Args:
        words: name of a preset, also after the word `preset`, or path of a JSON request; `-` for standard input.
        listed: whether to only list the presets.
        repetitions: number of independent repetitions, 2 to 1000; None for the number in the preset or request.
        seed: seed of the random numbers, 0 to 2^53 − 1, which determines the answer. None for the one in the preset or
            request.
        workers: number of processes, at least 1; None for one per core. It does not change the answer.
        dask: address of the scheduler of a Dask cluster; None computes on this machine.
        out: file of the figure, .png or .svg. None names it after the preset, as .png, unless `as_body` is set.
        request: path of a JSON request, instead of an argument; `-` for standard input.
        data: NAME=FOLDER for each data set.
        resume: file in which finished trials are kept, and from which the run continues.
        as_body: whether to print JSON instead of a table.

    Raises:
        typer.Exit: the request is not valid, or nothing can be certified; the reason was printed.
    """
    with exit_codes():
        from epsilond import simulating  # noqa: PLC0415  it needs an extra, which the rest of the commands do not

        argument = choose_experiment(words or ())
        if argument is not None and request is not None:
            raise InvalidInput.at("/request", "and the argument both name an experiment: give one of them")
        source = argument if request is None else request
        if listed or source is None:
            simulating.show_presets()
            return

        # A source is the name of a preset, or that of a file with a request.
        reads_file = request is not None or source == "-" or source.endswith(".json")
        experiment = fields_of(source) if reads_file else source
        figure = out
        if figure is None and not as_body:
            name = Path(source).stem if reads_file else source
            figure = f"{name}.png"
        overrides = {"repetitions": repetitions, "seed": seed}
        with executor_at(dask) as executor:
            simulating.run(
                experiment,
                overrides,
                workers=workers,
                executor=executor,
                figure=figure,
                as_body=as_body,
                data=folders_of(data or ()),
                resume=resume,
            )


def choose_experiment(arguments: Sequence[str]) -> str | None:
    """Return the command's argument that names a preset or a request file. The word `preset` may precede it.

    Args:
        arguments: all arguments of the command.

    Returns:
        The name of the preset, the path of the file, or `-`. None if there are no arguments.

    Raises:
        InvalidInput: there are several arguments, or only the word `preset`.
    """
    if not arguments:
        return None
    names = arguments[1:] if arguments[0] == "preset" else arguments
    if len(names) != 1:
        raise InvalidInput.at("/PRESET", "must be one name, also after the word preset: see epsilond simulate --list")
    return names[0]


def folders_of(options: Sequence[str]) -> dict[str, str]:
    """Return the folder of each data set, by name, from options NAME=FOLDER.

    Args:
        options: texts of the option --data.

    Returns:
        The folders by the name of the data set. If a name is repeated, its last folder counts.

    Raises:
        InvalidInput: an option has no name or no folder.
    """
    folders = {}
    for option in options:
        name, _, folder = option.partition("=")
        if not name or not folder:
            raise InvalidInput.at("/data", f"{option!r} is not NAME=FOLDER")
        folders[name] = folder
    return folders
