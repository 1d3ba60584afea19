"""Commands that report every fault of their options at once, and list required options first in their help."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, NoReturn

import typer
from typer.core import TyperCommand, TyperGroup

from epsilond.accountants.errors import Fault, InvalidInput
from epsilond.spelling import explain_missing_risk, suggest

REQUIRED, OPTIONAL, COMMON = "Required", "Optional", "General"
"""Titles of the help's panels. Options in panels with titles that begin with the first one are shown first."""
MOST_FAULTS = 32
"""Number of faults after which the parser stops looking for more."""
_FAULTS_KEY = "epsilond.option_faults"
"""Key of the parsed options' faults in the context of a command."""
_USAGE_ERROR: Any = typer.BadParameter.__bases__[0]
"""The parser's class of errors about arguments, which typer does not export."""


class Command(TyperCommand):
    """A command that collects the faults of its options before it rejects them together."""

    runs_with_faults = False
    """True if the callback gets the faults by `option_faults`, and reports them together with those of its request."""

    def __init__(self, *arguments: Any, **settings: Any) -> None:
        super().__init__(*arguments, **settings)
        # The parser ends the help at a form feed, but would show the blank lines before it.
        self.help = None if self.help is None else inspect.cleandoc(self.help).partition("\f")[0].rstrip()

    def get_params(self, ctx: Any) -> list[Any]:
        """Return the parameters in the order of the help, each option in a titled panel.

        Args:
            ctx: context of the command.

        Returns:
            The parameters as click describes them: arguments and required options, then the others.
        """
        params: list[Any] = super().get_params(ctx)
        for param in params:
            if _is_option(param) and not getattr(param, "rich_help_panel", None):
                param.rich_help_panel = _panel_of(param)
        # False sorts before True, so that arguments and required options come first.
        return sorted(params, key=lambda param: _is_option(param) and not param.rich_help_panel.startswith(REQUIRED))

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Parse the arguments, and report all faults together.

        After each fault, its cause is removed from the arguments and the rest is parsed again. If `runs_with_faults`,
        the faults are stored for `option_faults` instead of being printed.

        Args:
            ctx: context of the command, which gets the parameters.
            args: arguments of the command line.

        Returns:
            Arguments that belong to no parameter.

        Raises:
            Exit: there are faults; they were printed.
        """
        faults: list[Fault] = []
        remaining = list(args)
        for _ in range(MOST_FAULTS):
            try:
                unparsed: list[str] = super().parse_args(ctx, list(remaining))
            except _USAGE_ERROR as error:
                removal = _remove_fault(error, remaining, self.params)
                faults.append(removal.fault)
                remaining = removal.arguments
                if not removal.can_continue:
                    break
            else:
                if faults and not self.runs_with_faults:
                    break
                ctx.meta[_FAULTS_KEY] = tuple(faults)
                return unparsed
        reject(ctx, faults)
        raise AssertionError  # reject exits


class RequestCommand(Command):
    """A command with a callback that reports the faults of its options together with those of its request."""

    runs_with_faults = True


def option_faults(context: typer.Context) -> InvalidInput:
    """Return the faults that were found while the options were parsed; there may be none.

    Args:
        context: context of the command, in which the parser stored them.

    Returns:
        An error with these faults, which is not raised.
    """
    return InvalidInput(*context.meta.get(_FAULTS_KEY, ()))


class CommandLine(typer.Typer):
    """A group of commands of the class `Command`."""

    def command(self, name: str | None = None, *, cls: Any = Command, **settings: Any) -> Callable[[Any], Any]:
        """Return a decorator that adds a command."""
        return super().command(name, cls=cls, **settings)


class LazyGroup(TyperGroup):
    """A group of commands of the command line, each of which is made only if it is called.

    Subclasses define `list_commands`, the names of the commands, and `get_command`, which makes one of them.
    """

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Return the command that the arguments name.

        Args:
            ctx: context of the group of commands.
            args: arguments after the name of the group.

        Returns:
            The name, the command and the remaining arguments, as click returns them.

        Raises:
            UsageError: there is no such command. The message suggests similar names.
        """
        name = args[0] if args else ""
        if name and not name.startswith("-") and name not in self.list_commands(ctx):
            ctx.fail(f"No such command {name!r}{suggest(name, self.list_commands(ctx)) or '.'}")
        return super().resolve_command(ctx, args)


def reject(ctx: Any, faults: Iterable[Fault]) -> NoReturn:
    """Print the faults of a command's options and how its help is shown, and exit.

    Args:
        ctx: context of the command.
        faults: the faults, one line each.

    Raises:
        Exit: always, with the code of bad input.
    """
    from epsilond.commands.exits import BAD_INPUT, complaint  # noqa: PLC0415  avoids a circular import

    for fault in faults:
        typer.echo(complaint(fault), err=True)
    typer.echo(f"Try '{ctx.command_path} --help' for help.", err=True)
    raise typer.Exit(BAD_INPUT)


def _is_option(param: Any) -> bool:
    """Return whether a parameter of a command is an option, such as --delta, and not an argument.

    Args:
        param: option or argument, as click describes it.
    """
    return bool(param.param_type_name == "option")


def _panel_of(option: Any) -> str:
    """Return the title of the help's panel in which an option without a panel is shown: one of three.

    Args:
        option: the option, as click describes it.
    """
    if "--help" in option.opts:
        return COMMON
    return REQUIRED if option.required else OPTIONAL


@dataclass(frozen=True)
class _Removal:
    """One error in the arguments of a command, and the arguments that are left without its cause.

    Attributes:
        fault: the fault. Its pointer names the option or argument.
        arguments: the remaining arguments.
        can_continue: whether the remaining arguments can be parsed again, to find further faults.
    """

    fault: Fault
    arguments: list[str]
    can_continue: bool


def _remove_fault(error: Any, args: list[str], params: list[Any]) -> _Removal:
    """Turn an error of the parser into a fault, and remove its cause so that parsing can go on.

    A required parameter that is missing or invalid is made optional, by changing it in place.

    Args:
        error: the first error of the parser.
        args: the arguments that were parsed.
        params: the parameters of the command.

    Returns:
        The fault, the remaining arguments, and whether parsing can go on with them.
    """
    param = getattr(error, "param", None)
    option = getattr(error, "option_name", None)
    if option is not None:
        return _remove_option(option, args, params)
    if param is None:
        fault = Fault("/arguments", error.format_message().rstrip("."))
        return _Removal(fault, args, can_continue=False)
    param.required = False  # the command was made for this call only
    if error.__class__.__name__ == "MissingParameter":
        return _Removal(Fault(_pointer_of_parameter(param), "is required"), args, can_continue=True)

    # The value is not valid. An option may be written in several ways, such as -o and --option.
    fault = Fault(_pointer_of_parameter(param), f"is not valid: {error.message.rstrip('.')}")
    positions = [_index_of(args, name) for name in param.opts]
    indices = [index for index in positions if index is not None]
    if not indices:
        return _Removal(fault, args, can_continue=False)
    return _Removal(fault, _without(args, indices[0], takes_value=True), can_continue=True)


def _remove_option(option: str, args: list[str], params: list[Any]) -> _Removal:
    """Remove an option that has no value, or that the command does not have.

    The parser stops at its first error. Without the option, it can find the next one.

    Args:
        option: name of the option, with its dashes.
        args: the arguments that were parsed.
        params: the parameters of the command.

    Returns:
        The fault, the remaining arguments, and whether parsing can go on with them.
    """
    # A known option lacks its value. For an unknown one, the message suggests similar options.
    known_options = [name for param in params if _is_option(param) for name in param.opts]
    is_known = option in known_options
    if is_known:
        fault = Fault(_pointer_of_option(option), "needs a value")
    else:
        fields = {_pointer_of_option(name).removeprefix("/") for name in known_options}
        reason = explain_missing_risk(_pointer_of_option(option).removeprefix("/"), fields)
        message = reason or f"is not an option of this command{_suggest_option(option, known_options)}"
        fault = Fault(_pointer_of_option(option), message)

    index = _index_of(args, option)
    if index is None:
        return _Removal(fault, args, can_continue=False)
    return _Removal(fault, _without(args, index, takes_value=not is_known), can_continue=True)


def _suggest_option(name: str, options: Iterable[str]) -> str:
    """Return the end of an error message about an unknown option, which suggests similar options.

    The options are compared without their dashes.

    Args:
        name: the unknown option.
        options: the options that exist.

    Returns:
        The text; empty if no option is similar.
    """
    similar: str = suggest(name.lstrip("-"), (option.lstrip("-") for option in options))
    return similar.replace("mean ", "mean --").replace(" or ", " or --")


def _index_of(args: list[str], option: str) -> int | None:
    """Return the first position of an option among the arguments of a command.

    Args:
        args: arguments of the command.
        option: the option, such as `--delta`. It may be followed by `=` and its value.

    Returns:
        The index; None if the option is not among the arguments.
    """
    for index, argument in enumerate(args):
        if argument == option or argument.startswith(f"{option}="):
            return index
    return None


def _without(args: list[str], index: int, *, takes_value: bool) -> list[str]:
    """Return the arguments without the option at an index, and without its value.

    Args:
        args: the arguments.
        index: index of the option.
        takes_value: whether the option has a value. It follows an equals sign, or it is the next argument unless that
            is an option.

    Returns:
        A new list of the remaining arguments.
    """
    end = index + 1
    has_value_inside = "=" in args[index]
    # Options begin with two hyphens. A value may begin with one, as a negative number does.
    if takes_value and not has_value_inside and end < len(args) and not args[end].startswith("--"):
        end += 1
    return args[:index] + args[end:]


def _pointer_of_option(option: str) -> str:
    """Return the JSON pointer of an option's field, such as /batch_size for --batch-size."""
    return "/" + option.lstrip("-").replace("-", "_")


def _pointer_of_parameter(param: Any) -> str:
    """Return the JSON pointer for faults of a parameter: an option's field, or an argument's name in capitals.

    Args:
        param: option or argument, as click describes it.

    Returns:
        The pointer, such as /epsilon or /SPEC.
    """
    if _is_option(param):
        return _pointer_of_option(max(param.opts, key=len))
    return "/" + str(param.metavar or param.name).strip("[]").upper()
