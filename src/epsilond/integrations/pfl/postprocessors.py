"""What pfl's postprocessors do to the sensitivity, as warnings. No pfl is imported."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

from epsilond.integrations.pfl.runs import PflPrivacyWarning

AFTER = (
    "{weighting} stands after {mechanism}: it multiplies an update that is clipped already by the number of examples of"
    " its user, so that one user moves the sum by that many clipping bounds"
)
BEFORE = (
    "{weighting} weighs users by their examples: the sum of the weights, by which the noisy sum is divided, gets no"
    " noise and tells how many examples there are. Use WeightByUser"
)
GENERATOR = (
    "{mechanism}: its noise comes from the framework's generator, which is no cryptographic one and may be seeded;"
    " floating-point Gaussian noise besides shows more than the Gaussian mechanism does"
)


def check_postprocessors(postprocessors: Sequence[Any]) -> list[str]:
    """Warn of a list of pfl's postprocessors, in the order in which users apply them; what was warned of."""
    found: list[str] = []
    mechanism: str | None = None
    for each in postprocessors:
        names = {base.__name__ for base in type(each).__mro__}
        name = type(each).__name__
        if "PrivacyMechanism" in names:
            mechanism = name
            found.append(GENERATOR.format(mechanism=name))
        elif "WeightByDatapoints" in names:
            told = BEFORE if mechanism is None else AFTER
            found.append(told.format(weighting=name, mechanism=mechanism))
    if mechanism is None:  # nothing is promised, so nothing is broken
        return []
    for message in found:
        warnings.warn(message, PflPrivacyWarning, stacklevel=2)
    return found
