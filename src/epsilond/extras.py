"""What an optional part of epsilond says when its packages are not installed."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager


class MissingExtra(ImportError):
    """A package that only an extra installs is not there; the message says how to install it."""


@contextmanager
def extra(name: str, what: str) -> Iterator[None]:
    """Around the imports of `what`, whose packages the extra `name` installs.

    Raises:
        MissingExtra: one of these packages is not installed.
    """
    try:
        yield
    except ModuleNotFoundError as error:
        package = (error.name or "epsilond").partition(".")[0]
        if package == "epsilond":
            raise
        message = f"{what} needs {package}, which is not installed: pip install 'epsilond[{name}]'"
        raise MissingExtra(message, name=package) from None
