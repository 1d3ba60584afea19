"""Facts about a kind of mechanism that are not theorems."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from epsilond.accountants.specs.mechanisms import Mechanism


@dataclass(frozen=True, kw_only=True)
class MechanismKind:
    """Description of a kind of mechanism, and its spec at a given noise.

    Attributes:
        sentence: function that describes a spec in words. Its argument has every given field of the spec as text.
        at_noise: function from an amount of noise to a spec. More noise never increases δ at any ε.
    """

    sentence: Callable[[Mapping[str, str]], str]
    at_noise: Callable[[float], Mechanism]
