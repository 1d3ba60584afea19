"""Error message of an optional part of epsilond without its packages."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager


class MissingExtra(ImportError):
    """A package of an extra is not installed; the message has the command that installs it."""


@contextmanager
def extra(name: str, feature: str) -> Iterator[None]:
    """Import packages of an extra (a group of optional dependencies) within this context.

    Args:
        name: name of the extra.
        feature: the part of epsilond that needs the packages, for the message.

    Yields:
        None, once, for the imports.

    Raises:
        MissingExtra: one of these packages is not installed.
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
