"""What every calibrated release carries: the answer's guarantee, and what stands between it and a program."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from epsilond.accountants.errors import InvalidInput

REAL_NUMBERS = (
    "the guarantee is of real numbers; noise and sums here are doubles, of which some occur under one data set and not "
    "under its neighbour. No ε is proved for that difference; on_grid() has noise on integers instead"
)
SUMS = (
    "contributions are clipped certainly, but their sum is rounded: one contribution may move it by more than its norm "
    "bound, by about n 2^-53 of the sum's size for n contributions"
)
COUNTED = (
    "the guarantee is of the rounds of the answer together, on batches drawn as it says; nothing here counts how often "
    "a release is made, or draws its batch"
)
CANCELLED_NO_CURVE = (
    "the calibrated guarantee is of continuous noise and is not carried over: what is proved of discrete Gaussian "
    "noise is zero-concentrated privacy, ρ = Σ Δ²/(2σ_N²) over the releases from a record's own on, in steps"
)
CANCELLATION = "what is taken back of earlier noise is taken back up to rounding, which is not random"
NO_CURVE = (
    "the calibrated guarantee is of continuous noise and is not carried over: what is proved of discrete Gaussian "
    "noise is zero-concentrated privacy, ρ = Δ²/(2σ²) for each release, Δ and σ in steps"
)


@dataclass(frozen=True, kw_only=True)
class Release:
    """A mechanism with the parameters of an answer."""

    algorithm: str
    guarantee: object
    """As it stands in the answer; None where the answer's guarantee is not this mechanism's."""
    declared_conditions: Any
    """As they stand in the answer: what only the caller can vouch for."""
    left_open: tuple[str, ...]
    """What the guarantee does not cover of the computation here."""


def demand_batch(count: int, most: int | None) -> None:
    """Refuse more contributions than the batch that the guarantee is for: its amplification would be none.

    Raises:
        InvalidInput: there are more.
    """
    if most is not None and count > most:
        message = "are more than the batch whose random draw the guarantee is for"
        raise InvalidInput.at("/contributions", message, allowed=f"at most {most}")
