"""The question that one-pass-accelerated-mb-sgd answers."""

from __future__ import annotations

from dataclasses import field
from typing import Annotated, Literal

from epsilond.accountants.errors import InvalidInput
from epsilond.accountants.quantities import SAMPLING, Smoothness, request
from epsilond.calibrators.accelerated.problem import AcceleratedMbSgdProblem


@request
class OnePassProblem(AcceleratedMbSgdProblem):
    """The problem of accelerated-mb-sgd for a smooth loss, each record being dealt to at most one round.

    Give `batch_size` or `rounds` or both, with batch_size · rounds ≤ samples_per_client, or neither: what is left out
    is chosen as in mb-sgd.
    """

    smoothness: Smoothness = field()  # needed here: else the default of mb-sgd would be inherited
    sampling: Annotated[Literal["without-replacement"], SAMPLING] = "without-replacement"

    def check(self) -> None:
        """And no record used twice."""
        super().check()
        n = self.samples_per_client
        if (self.rounds or 1) * (self.batch_size or 1) > n:
            raise InvalidInput.at("/rounds", "times batch_size cannot exceed samples_per_client", allowed=f"≤ {n}")
