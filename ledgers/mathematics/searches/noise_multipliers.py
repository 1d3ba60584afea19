"""Noise multipliers in the description of a mechanism: read, and replaced at any depth."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import Field, fields, is_dataclass, replace
from typing import ClassVar, Protocol, TypeVar


class DataclassInstance(Protocol):
    """An instance of a data class."""

    __dataclass_fields__: ClassVar[dict[str, Field[object]]]


Noisy = TypeVar("Noisy", bound=DataclassInstance)
_NOISE = ("noise_multiplier", "scale_multiplier")
"""Members of specs that hold a noise multiplier."""


def noise_of(spec: DataclassInstance) -> float | None:
    """Return the only noise multiplier in the description of a mechanism.

    A noise multiplier is the scale of the noise over the bound on the norm of one contribution. Searches that vary the
    noise need a mechanism with exactly one.

    Args:
        spec: the description, a data class that may contain descriptions of other mechanisms.

    Returns:
        The noise multiplier. None if the description has none, or several.
    """
    noises = _noises(spec)
    return noises[0] if len(noises) == 1 else None


def _noises(spec: DataclassInstance) -> list[float]:
    """Collect all noise multipliers in the description of a mechanism, at any depth.

    Args:
        spec: the description. A member may be another description, or a tuple of several.

    Returns:
        The noise multipliers, in the order of the members. Equal ones are listed as often as they occur.
    """
    noises: list[float] = []
    for member in fields(spec):
        value = getattr(spec, member.name)
        if member.name in _NOISE:
            noises.append(float(value))
            continue
        contained_values = value if isinstance(value, tuple) else (value,)
        for contained in contained_values:
            if is_dataclass(contained) and not isinstance(contained, type):
                noises += _noises(contained)
    return noises


def map_noise(spec: Noisy, noise: Callable[[float], float]) -> Noisy:
    """Return a copy of a mechanism's description in which every noise multiplier is replaced, at any depth.

    Searches for the least noise that fits use it to change only the noise.

    Args:
        spec: the description, a data class that may contain descriptions of other mechanisms.
        noise: function that returns the new noise multiplier for the present one.

    Returns:
        The copy. It is `spec` itself if it has neither noise multipliers nor other descriptions.
    """
    changed: dict[str, object] = {}
    for member in fields(spec):
        value = getattr(spec, member.name)
        is_list_of_specs = isinstance(value, tuple) and any(is_dataclass(contained) for contained in value)
        if member.name in _NOISE:
            changed[member.name] = noise(float(value))
        elif is_list_of_specs:
            changed[member.name] = tuple(map_noise(contained, noise) for contained in value)
        elif is_dataclass(value) and not isinstance(value, type):
            changed[member.name] = map_noise(value, noise)
    if not changed:
        return spec
    return replace(spec, **changed)
