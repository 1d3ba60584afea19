"""Error message of an optional part of epsilond without its packages."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager


class MissingExtra(ImportError):
    """A package of an extra is not installed; the message has the command that installs it."""


@contextmanager
def extra(name: str, feature: str) -> Iterator[None]:
    """Replace the error of a missing optional package in this context by one that says how to install it.

    Args:
        name: name of the extra, the group of optional dependencies to which the package belongs.
        feature: the part of epsilond that needs the package, for the message.

    Yields:
        Nothing. The block imports the packages.

    Raises:
        MissingExtra: a package that the block imports is not installed.
    """
    try:
        yield
    except ModuleNotFoundError as error:
        package = (error.name or "epsilond").partition(".")[0]
        # A missing module of epsilond itself is a fault of the installation, and no extra.
        if package == "epsilond":
            raise
        message = f"{feature} needs {package}, which is not installed: pip install 'epsilond[{name}]'"
        raise MissingExtra(message, name=package) from None
