"""Newton's iteration for the ε of a given δ, on the nodes of a profile."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from epsilond.accountants.engine.contour.profile import ContourProfile

_NEWTON_STEPS = 12
_ROOT = 1e-7
"""How near to a root Newton's iteration ends, in reaches of the nodes."""


def newton(near: ContourProfile, log_delta: float, guess: float | None = None) -> tuple[float, bool]:
    """Return the root of log δ(ε) = target by Newton's iteration, and whether it ends within reach or at ε = 0.

    Args:
        near: profile whose nodes are used.
        log_delta: the target, log δ.
        guess: where to start, if it is within reach of the nodes; otherwise the start is their centre.
    """
    known = guess is not None and abs(guess - near.centre) <= near.width
    root = max(guess if known and guess is not None else near.centre, 0.0)
    # A step of x leaves an error of about x² |f″/2f′|, with f″ ≈ −1/F″ and f′ ≈ −λ.
    place = near.nodes.place
    last = 0.1 * math.sqrt(2.0 * _ROOT * place.tilt * place.width**2 * near.width)
    for _ in range(_NEWTON_STEPS):
        value, slope = near.estimate(root)
        moved = max(root - (value - log_delta) / slope, 0.0)
        if abs(moved - near.centre) > near.width:
            return max(near.centre + math.copysign(2.0 * near.width, moved - near.centre), 0.0), False
        if abs(moved - root) <= max(last, _ROOT * near.width, 1e-14 * root):
            return moved, True
        root = moved
    return root, True
