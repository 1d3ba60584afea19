"""The spec of a mechanism with known upper bounds on its privacy profile."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Annotated, Literal

from epsilond.accountants.errors import Fault, InvalidInput
from epsilond.accountants.quantities import Quantity, request
from epsilond.accountants.specs.primitives import KIND, DeclaredBounds

ProfilePoints = tuple[tuple[float, float], ...]
"""Pairs (ε, log10 δ)."""
POINTS = Quantity(
    description="upper bounds on δ for the outputs with the protected unit against those without it, as points "
    "[ε, log10 δ] with increasing ε. 0 ≤ ε ≤ 1e9 and −1e9 ≤ log10 δ ≤ 0. Without reverse they are "
    "for both directions"
)
REVERSE = Quantity(
    description="upper bounds on δ for the outputs without the protected unit against those with it, in the "
    "form of points. Absent: those of points"
)
MOST_POINTS = 2000
"""Largest number of points of a direction. More change δ between two points very little."""
LARGEST = 1e9
"""Largest ε and largest −log10 δ of a point, as everywhere in requests."""


@request
class DeclaredProfile:
    """A mechanism of which only upper bounds on its privacy profile are known, in the relation of the request.

    On any two neighbours, δ at each listed ε is at most the listed δ. Between points the bound is the line in e^ε.
    After the last point it is constant.

    Admits: every mechanism with these bounds, as `approximate` does.
    """

    kind: Annotated[Literal["profile"], KIND] = "profile"
    points: Annotated[ProfilePoints, POINTS]
    reverse: Annotated[ProfilePoints | None, REVERSE] = None

    def check(self) -> None:
        """Check that each list has a valid number of points, in increasing order of ε, and that all are in range.

        Raises:
            InvalidInput: a list is empty, too long or not in order, or an entry is no pair or out of range. The error
                lists all faults.
        """
        faults = list(_find_faults("/points", self.points))
        if self.reverse is not None:
            faults.extend(_find_faults("/reverse", self.reverse))
        if faults:
            raise InvalidInput(*faults)

    @property
    def primitive(self) -> DeclaredBounds:
        """A mechanism that satisfies the declared bounds: at every ε, its δ is the least δ of all points.

        The declared mechanism may be this one. So no smaller δ can be proved from the declared bounds.
        """
        all_points = self.points + (self.reverse or ())
        least_log10_delta = min(log10_delta for _, log10_delta in all_points)
        # This factor exceeds the error of the power, so that the result is neither above the least δ nor 1.
        rounded_down = 1.0 - 2.0**-40
        delta = min(10.0**least_log10_delta * rounded_down, rounded_down)
        return DeclaredBounds(0.0, delta)


def _find_faults(pointer: str, points: ProfilePoints) -> Iterator[Fault]:
    """Yield the faults of one list of points of a privacy profile, that is, of upper bounds on δ at several ε.

    Args:
        pointer: JSON pointer of the list in the request.
        points: pairs (ε, log10 δ), which should be in increasing order of ε.

    Yields:
        A fault for each violated rule, with the JSON pointer of the list or of the entry.
    """
    if not 1 <= len(points) <= MOST_POINTS:
        yield Fault(pointer, "has too few or too many points", f"1 to {MOST_POINTS} points")
    if any(len(point) != 2 for point in points):
        yield Fault(pointer, "has an entry that is not a pair [ε, log10 δ]")
        return  # order and range can be checked for pairs only

    if any(left >= right for (left, _), (right, _) in itertools.pairwise(points)):
        yield Fault(pointer, "must be in increasing order of ε")
    for index, (epsilon, log10_delta) in enumerate(points):
        if not 0.0 <= epsilon <= LARGEST:
            yield Fault(f"{pointer}/{index}/0", "is out of range", "≥ 0 and ≤ 1e+09")
        if not -LARGEST <= log10_delta <= 0.0:
            yield Fault(f"{pointer}/{index}/1", "is out of range", "≥ -1e+09 and ≤ 0")
