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
    """The problem of accelerated-mb-sgd for a smooth loss, where each record is used in at most one round.

    If `batch_size` or `rounds` is left out, it is chosen as in mb-sgd. Their product cannot exceed
    `samples_per_client`. The batch of a client group without a batch_size of its own is proportional to its records,
    rounded down, and at least 1. Every client needs records for every round.
    """

    smoothness: Smoothness = field()  # needed here: else the default of mb-sgd would be inherited
    sampling: Annotated[Literal["without-replacement"], SAMPLING] = "without-replacement"

    def check(self) -> None:
        """Check the fields, and that no record is used twice: R K ≤ n for R rounds, batch size K and n records.

        With client groups, the condition is checked for each group. An absent R or K counts as 1.

        Raises:
            InvalidInput: a field is invalid, or R K exceeds the n of a client.
        """
        super().check()
        run = Run(batch_size=self.batch_size or 1, rounds=self.rounds or 1)
        sizes = [(self.samples_per_client, run.batch_size)]
        if self.client_groups:
            sizes = [(group.samples_per_client, self.batch_of(group, run)) for group in self.client_groups]
        for samples, batch_size in sizes:
            if run.rounds * batch_size > samples:
                message = "times batch_size cannot exceed samples_per_client"
                raise InvalidInput.at("/rounds", message, allowed=f"≤ {samples}")

    def batch_of(self, group: ClientGroupRequest, run: Run) -> int:
        """Return the batch size K of a group's clients in a run.

        It is the group's own batch size if given. Otherwise it is proportional to the n records of each client of the
        group, and at least 1. It is rounded down, so that R K ≤ n still holds for R rounds, unless R > n.

        Args:
            group: a group of clients of the request.
            run: the run, of which the batch size is used.
        """
        if group.batch_size is not None:
            return group.batch_size
        return max(1, run.batch_size * group.samples_per_client // self.samples_per_client)
