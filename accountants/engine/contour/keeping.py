"""The last answers of a function, and its refusals, which are as dear to find out and asked for as often."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Generic, TypeVar

from epsilond.accountants.engine.contour.transforms.transform import ContourRefused

Value = TypeVar("Value")
_REFUSALS = 256
"""How many refusals are kept: they are small."""


class Kept(Generic[Value]):
    """A function of hashable arguments of which the last `most` values are kept, and more of its refusals.

    Law: it answers and refuses as the function itself does, whatever was asked before.
    """

    def __init__(self, make: Callable[..., Value], most: int) -> None:
        self._values = functools.lru_cache(maxsize=most)(make)
        self._refusals: dict[tuple[object, ...], ContourRefused] = {}

    def __call__(self, *asked: object) -> Value:
        """The function's value, or its refusal.

        Raises:
            Refused: as the function.
        """
        known = self._refusals.get(asked) if self._refusals else None
        if known is not None:
            raise ContourRefused(known.reason, known.detail)
        try:
            return self._values(*asked)
        except ContourRefused as refused:
            if len(self._refusals) >= _REFUSALS:
                self._refusals.clear()
            # Without the frames that the one raised holds.
            self._refusals[asked] = ContourRefused(refused.reason, refused.detail)
            raise

    def cache_clear(self) -> None:
        """Forget everything."""
        self._values.cache_clear()
        self._refusals.clear()


def kept(most: int) -> Callable[[Callable[..., Value]], Kept[Value]]:
    """Keep the last `most` values of a function of hashable arguments, and its refusals."""
    return lambda make: Kept(make, most)
