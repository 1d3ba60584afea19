"""The compiled kernel as it was installed; every test that needs it is skipped where there is none."""

from __future__ import annotations

import functools
import importlib
import sys
from collections.abc import Iterator
from types import ModuleType

import pytest

from epsilond.accountants.engine import kernel

NAME = "epsilond._kernel"
OF_CLASSES = {"epsilond.accountants.formula"}
"""Modules that cache classes: another class of the same name would not be equal to the first."""


@pytest.fixture(scope="session")
def module() -> ModuleType:
    """The extension module."""
    try:
        return importlib.import_module(NAME)
    except ImportError as error:
        pytest.skip(f"the kernel was not built: {error}")


@pytest.fixture
def use() -> Iterator[pytest.MonkeyPatch]:
    """Lets a test choose what the engine asks first, and forgets it afterwards: other tests ask what is installed."""
    forget_all()
    with pytest.MonkeyPatch.context() as patch:
        yield patch
    forget_all()


def forget_all() -> None:
    """Clear every cache of numbers: whatever was computed with the kernel may differ in its last digits."""
    for cache in _find_caches():
        module = str(cache.__module__)
        if module.startswith("epsilond.") and module not in OF_CLASSES:
            cache.cache_clear()


def _find_caches() -> Iterator[functools._lru_cache_wrapper[object]]:
    """Yield the cached functions of modules, and those of their classes."""
    for module in [module for name, module in sys.modules.items() if name.startswith("epsilond.")]:
        for value in vars(module).values():
            for member in vars(value).values() if isinstance(value, type) else (value,):
                function = getattr(member, "__func__", member)
                if isinstance(function, functools._lru_cache_wrapper):
                    yield function


@pytest.fixture
def on(module: ModuleType, use: pytest.MonkeyPatch) -> None:
    """The engine asks the kernel first."""
    use.setattr(kernel, "load_kernel", lambda: module.Composition)
