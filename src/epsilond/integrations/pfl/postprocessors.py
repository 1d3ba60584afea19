"""Effects of pfl's postprocessors on the sensitivity. pfl is not imported."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from epsilond.integrations.pfl.runs import PflPrivacyWarning
from epsilond.runs.premises import DIVISOR, NOISE, UPDATES, Premise

if TYPE_CHECKING:
    from pfl.postprocessor.base import Postprocessor

AFTER = (
    "{weighting} stands after {mechanism}: it multiplies a clipped update by the number of examples of its user. One "
    "user then moves the sum by that many clipping bounds"
)
BEFORE = (
    "{weighting} weighs users by their examples. The noisy sum is divided by the sum of the weights, which gets no "
    "noise and reveals the number of examples. Use WeightByUser"
)
GENERATOR = (
    "{mechanism}: its noise comes from the framework's generator, which is not cryptographic and may be seeded. "
    "Floating-point Gaussian noise also reveals more than the Gaussian mechanism does"
)
FIX_WEIGHTING = "Use WeightByUser, before the mechanism."


@dataclass(frozen=True)
class PostprocessorFinding:
    """One finding about a list of postprocessors.

    Attributes:
        premise: the condition of the privacy theorem that it concerns.
        message: the finding as a sentence.
        remedy: a change that resolves the finding; empty if it may be harmless.
    """

    premise: Premise
    message: str
    remedy: str = ""


def findings(postprocessors: Sequence[Postprocessor]) -> list[PostprocessorFinding]:
    """Return reasons why a list of pfl's postprocessors may not give the planned privacy.

    They are the generator of the noise, and weights of users by their numbers of examples.

    Args:
        postprocessors: the postprocessors, in the order in which they are applied to users' updates.

    Returns:
        The findings; empty without a privacy mechanism, because then no privacy is claimed.
    """
    result: list[PostprocessorFinding] = []
    mechanism: str | None = None  # class name of the privacy mechanism, once it was reached
    for postprocessor in postprocessors:
        # Classes are recognised by their names, because pfl need not be installed.
        names = {base.__name__ for base in type(postprocessor).__mro__}
        name = type(postprocessor).__name__
        if "PrivacyMechanism" in names:
            mechanism = name
            result.append(PostprocessorFinding(NOISE, GENERATOR.format(mechanism=name)))
        elif "WeightByDatapoints" in names:
            if mechanism is None:
                finding = PostprocessorFinding(DIVISOR, BEFORE.format(weighting=name), FIX_WEIGHTING)
            else:
                message = AFTER.format(weighting=name, mechanism=mechanism)
                finding = PostprocessorFinding(UPDATES, message, FIX_WEIGHTING)
            result.append(finding)
    if mechanism is None:
        return []
    return result


def check_postprocessors(postprocessors: Sequence[Postprocessor]) -> list[str]:
    """Warn of reasons why pfl's postprocessors may not give the planned privacy.

    `EpsilondPrivacyAccountant.observe` uses the same reasons for the status of a run.

    Args:
        postprocessors: postprocessors of a training run.

    Returns:
        The messages of the warnings; empty if there are none.
    """
    messages = [finding.message for finding in findings(postprocessors)]
    for message in messages:
        warnings.warn(message, PflPrivacyWarning, stacklevel=2)
    return messages
