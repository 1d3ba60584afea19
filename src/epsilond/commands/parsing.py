"""Commands that report every fault of their options at once, and list required options first in their help."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import typer
from typer.core import TyperCommand, TyperGroup

from epsilond.accountants.errors import Fault, InvalidInput
from epsilond.spelling import suggest

REQUIRED, OPTIONAL, COMMON = "Required", "Optional", "General"
"""Titles of the help's panels; panels with titles that begin with the first come before the others."""
MOST_FAULTS = 32
"""Number of faults after which the parser stops looking for more."""
_HELD = "epsilond.option_faults"
_USAGE_ERROR: Any = typer.BadParameter.__bases__[0]


class Command(TyperCommand):
    """A command that collects the faults of its options before it rejects them together."""

    runs_with_faults = False
    """True if the callback reads the faults itself, by `option_faults`, to report those of the request with them."""

    def get_params(self, ctx: Any) -> list[Any]:
        """Return the parameters, required options first, each in a titled panel."""
        params: list[Any] = super().get_params(ctx)
        for param in params:
            if _is_option(param) and not getattr(param, "rich_help_panel", None):
                param.rich_help_panel = COMMON if "--help" in param.opts else REQUIRED if param.required else OPTIONAL
        return sorted(params, key=lambda param: _is_option(param) and not param.rich_help_panel.startswith(REQUIRED))

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Parse the arguments, and report all faults together.

        After each fault, its cause is removed from the arguments and the rest is parsed again. If `runs_with_faults`,
        the faults are stored for `option_faults` instead of being printed.

        Raises:
            Exit: there are faults; they were printed.
        """
        faults: list[Fault] = []
        remaining = list(args)
        for _ in range(MOST_FAULTS):
            try:
                rest: list[str] = super().parse_args(ctx, list(remaining))
            except _USAGE_ERROR as error:
                fault, remaining, goes_on = _remove_fault(error, remaining, self.params)
                if fault is None:
                    raise
                faults.append(fault)
                if not goes_on:
                    break
            else:
                if not faults or self.runs_with_faults:
                    ctx.meta[_HELD] = tuple(faults)
                    return rest
                break
        reject(ctx, faults)
        raise AssertionError


class RequestCommand(Command):
    """A command with a callback that reports the faults of its options together with those of its request."""

    runs_with_faults = True


def option_faults(context: typer.Context) -> InvalidInput:
    """Return the faults that were met while the options were parsed; there may be none."""
    return InvalidInput(*context.meta.get(_HELD, ()))


class CommandLine(typer.Typer):
    """A group of commands of the class `Command`."""

    def command(self, name: str | None = None, *, cls: Any = Command, **settings: Any) -> Callable[[Any], Any]:
        """Return a decorator that adds a command."""
        return super().command(name, cls=cls, **settings)


class LazyGroup(TyperGroup):
    """A group that makes its commands when they are needed. Subclasses define `list_commands` and `get_command`."""

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Return the command that the arguments name.

        Raises:
            UsageError: there is no such command; similar names are suggested once.
        """
        name = args[0] if args else ""
        if name and not name.startswith("-") and name not in self.list_commands(ctx):
            ctx.fail(f"No such command {name!r}{suggest(name, self.list_commands(ctx)) or '.'}")
        return super().resolve_command(ctx, args)


def reject(ctx: Any, faults: Iterable[Fault]) -> None:
    """Print faults and a hint at the help, and exit.

    Raises:
        Exit: always, with the code of bad input.
    """
    from epsilond.commands.exits import BAD_INPUT, complaint  # noqa: PLC0415  that file imports this one's neighbours

    for fault in faults:
        typer.echo(complaint(fault), err=True)
    typer.echo(f"Try '{ctx.command_path} --help' for help.", err=True)
    raise typer.Exit(BAD_INPUT)


def _is_option(param: Any) -> bool:
    return bool(param.param_type_name == "option")


def _remove_fault(error: Any, args: list[str], params: list[Any]) -> tuple[Fault | None, list[str], bool]:
    """Turn an error of the parser into a fault, and remove its cause so that parsing can go on.

    A required parameter that is missing or invalid is made optional, by changing it in place.

    Args:
        error: the first error of the parser.
        args: the arguments that were parsed.
        params: the parameters of the command.

    Returns:
        The fault, the arguments without its cause, and whether they can be parsed again.
    """
    param = getattr(error, "param", None)
    name = getattr(error, "option_name", None)
    if name is not None:
        options = [option for param in params if _is_option(param) for option in param.opts]
        place = _place(args, name)
        if name in options:
            fault = Fault(_pointer(name), "needs a value")
        else:
            fault = Fault(_pointer(name), f"is not an option of this command{_suggest_option(name, options)}")
        return fault, _without(args, place, takes_value=name not in options), place is not None
    if param is None:
        return Fault("/arguments", error.format_message().rstrip(".")), args, False
    if error.__class__.__name__ == "MissingParameter":
        param.required = False  # the command was made for this call only
        return Fault(_pointer_of(param), "is required"), args, True
    fault = Fault(_pointer_of(param), f"is not valid: {error.message.rstrip('.')}")
    place = next((place for place in (_place(args, option) for option in param.opts) if place is not None), None)
    param.required = False
    return fault, _without(args, place, takes_value=True), place is not None


def _suggest_option(name: str, options: Iterable[str]) -> str:
    """Return similar options; the dashes, which all options share, do not count."""
    similar: str = suggest(name.lstrip("-"), (option.lstrip("-") for option in options))
    return similar.replace("mean ", "mean --").replace(" or ", " or --")


def _place(args: list[str], option: str) -> int | None:
    """Return where an option is among the arguments."""
    places = (place for place, each in enumerate(args) if each == option or each.startswith(f"{option}="))
    return next(places, None)


def _without(args: list[str], place: int | None, *, takes_value: bool) -> list[str]:
    """Return the arguments without the option at a place, and without its value if the next argument can be one."""
    if place is None:
        return args
    following = args[place + 1 : place + 2]
    is_value = takes_value and "=" not in args[place] and bool(following) and not following[0].startswith("--")
    return args[:place] + args[place + 1 + is_value :]


def _pointer(option: str) -> str:
    return "/" + option.lstrip("-").replace("-", "_")


def _pointer_of(param: Any) -> str:
    if _is_option(param):
        return _pointer(max(param.opts, key=len))
    return "/" + str(param.metavar or param.name).strip("[]").upper()
