"""Names that need a host, imported when they are first used."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module


def importer(package: str, homes: Mapping[str, str]) -> Callable[[str], object]:
    """Return a function for use as the `__getattr__` of a package, which imports the module of a requested name.

    Args:
        package: full name of the package.
        homes: module of the package that defines each name.

    Returns:
        The function from a name to the object of this name. It raises AttributeError for an unknown name.
    """

    def import_name(name: str) -> object:
        """Return the object of a name, after importing the module that defines it."""
        if name not in homes:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        return getattr(import_module(f"{package}.{homes[name]}"), name)

    return import_name
