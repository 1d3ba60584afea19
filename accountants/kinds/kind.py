"""Facts about a kind of mechanism that are not theorems."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from epsilond.accountants.specs.mechanisms import Mechanism


@dataclass(frozen=True, kw_only=True)
class MechanismKind:
    """How a mechanism of the kind is described, and what more noise means for it.

    Attributes:
        sentence: the phrase that says what was run. Its argument has every given field of a spec as text.
        at_noise: the spec with a given amount of noise. More noise never raises δ at any ε.
    """

    sentence: Callable[[Mapping[str, str]], str]
    at_noise: Callable[[float], Mechanism]
