"""The fields of every calibrated release: the answer's guarantee, and what a program does not satisfy of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from epsilond.accountants.errors import InvalidInput

REAL_NUMBERS = (
    "the guarantee is of real numbers; noise and sums here are doubles, of which some occur under one data set and not "
    "under its neighbour. No ε is proved for that difference; on_grid() has noise on integers instead"
)
SUMS = (
    "every contribution is clipped, but their sum is rounded. One contribution may move it by more than its norm "
    "bound: by about n 2^-53 of the sum's size for n contributions"
)
COUNTED = (
    "the guarantee is for all rounds of the answer together, on batches drawn as it states. This object does not "
    "count releases and does not draw batches"
)
CANCELLED_NO_CURVE = (
    "the calibrated guarantee is for continuous noise and is not carried over. The guarantee proved for discrete "
    "Gaussian noise is zero-concentrated privacy, ρ = Σ Δ²/(2σ_N²) over the releases from a record's own on, in steps"
)
CANCELLATION = "earlier noise is taken back up to rounding, which is not random"
NO_CURVE = (
    "the calibrated guarantee is for continuous noise and is not carried over. The guarantee proved for discrete "
    "Gaussian noise is zero-concentrated privacy, ρ = Δ²/(2σ²) for each release, Δ and σ in steps"
)


@dataclass(frozen=True, kw_only=True)
class Release:
    """A mechanism with the parameters of a calibrator's answer, and the guarantee that it carries.

    Attributes:
        algorithm: name of the calibrated algorithm.
        guarantee: guarantee of the answer, unchanged; None if it does not hold for this mechanism.
        declared_conditions: conditions of the answer that only the caller can check, unchanged.
        left_open: gaps between the guarantee and the computation, one sentence each.
    """

    algorithm: str
    guarantee: object
    declared_conditions: Any
    left_open: tuple[str, ...]


def demand_batch(count: int, most: int | None) -> None:
    """Reject more contributions than a random batch has in the guarantee, which would not hold for them.

    Args:
        count: number of contributions.
        most: largest number that the guarantee allows; None for no limit.

    Raises:
        InvalidInput: `count` is above `most`.
    """
    if most is not None and count > most:
        message = "are more than the batch of the random draw in the guarantee"
        raise InvalidInput.at("/contributions", message, allowed=f"at most {most}")
