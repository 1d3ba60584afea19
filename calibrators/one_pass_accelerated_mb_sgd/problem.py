"""The question that one-pass-accelerated-mb-sgd answers."""

from __future__ import annotations

from dataclasses import field
from typing import Annotated, Literal

from epsilond.accountants.errors import InvalidInput
from epsilond.accountants.federation import ClientGroupRequest
from epsilond.accountants.quantities import SAMPLING, Smoothness, request
from epsilond.calibrators.accelerated_mb_sgd.problem import AcceleratedMbSgdProblem
from epsilond.calibrators.mb_sgd.problem import Run


@request
class OnePassProblem(AcceleratedMbSgdProblem):
    """The problem of accelerated-mb-sgd for a smooth loss, each record being dealt to at most one round.

    Give `batch_size` or `rounds` or both, with batch_size · rounds ≤ samples_per_client, or neither: what is left out
    is chosen as in mb-sgd. A client group without a batch_size of its own takes its share rounded down, and every
    client needs records for every round.
    """

    smoothness: Smoothness = field()  # needed here: else the default of mb-sgd would be inherited
    sampling: Annotated[Literal["without-replacement"], SAMPLING] = "without-replacement"

    def check(self) -> None:
        """Check the fields, and that no record is used twice."""
        super().check()
        rounds, run = self.rounds or 1, Run(batch_size=self.batch_size or 1, rounds=self.rounds or 1)
        groups = [(group.samples_per_client, self.batch_of(group, run)) for group in self.client_groups or ()]
        for n, batch in groups or [(self.samples_per_client, run.batch_size)]:
            if rounds * batch > n:
                raise InvalidInput.at("/rounds", "times batch_size cannot exceed samples_per_client", allowed=f"≤ {n}")

    def batch_of(self, group: ClientGroupRequest, run: Run) -> int:
        """Return the batch size of a group: as given, or proportional to its records, rounded down so that KR ≤ n."""
        if group.batch_size is not None:
            return group.batch_size
        return max(1, run.batch_size * group.samples_per_client // self.samples_per_client)
