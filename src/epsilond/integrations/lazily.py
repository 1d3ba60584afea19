"""Names that need a host, imported when they are first used."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module


def importer(package: str, homes: Mapping[str, str]) -> Callable[[str], object]:
    """The `__getattr__` of a package: each of these names is that of the module beside it."""

    def found(name: str) -> object:
        if name not in homes:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        return getattr(import_module(f"{package}.{homes[name]}"), name)

    return found
