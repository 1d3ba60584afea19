"""The requests of both accelerated algorithms: the fields of mb-sgd, and further properties of the loss."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Annotated

from epsilond.accountants.errors import Fault, InvalidInput
from epsilond.accountants.quantities import (
    EMPIRICAL_GRADIENT_STD,
    GRADIENT_STD,
    INITIAL_GAP,
    SQUARES,
    check_scales,
    request,
)
from epsilond.calibrators.mb_sgd.problem import MiniBatchProblem, Reading

READINGS: tuple[Reading, ...] = ("informal", "complete", "corrected")
"""Readings in which the theorems are printed."""


@request
class AcceleratedMbSgdProblem(MiniBatchProblem):
    """The problem of mb-sgd, with statistics of the gradients and the excess risk of the start.

    Absent `gradient_std` and `empirical_gradient_std` have the value of `lipschitz`. An absent `initial_gap` is
    `lipschitz` times `diameter`. Without `smoothness` the algorithm minimises the Moreau envelope, a smooth
    approximation of the loss, and `empirical_gradient_std` is that of the envelope's gradients. With client groups, the
    statistics are those of each client's loss times its weight, averaged equally over clients. The default of
    `initial_gap` then uses the mean Lipschitz constant of these losses.
    """

    gradient_std: Annotated[float | None, GRADIENT_STD] = None
    empirical_gradient_std: Annotated[float | None, EMPIRICAL_GRADIENT_STD] = None
    initial_gap: Annotated[float | None, INITIAL_GAP] = None

    def check(self) -> None:
        """Check that the fields are consistent.

        The initial gap may not exceed L · D, with the Lipschitz constant L and the diameter D. The squares of scales
        must be in the range of doubles.

        Raises:
            InvalidInput: a field contradicts another one, is out of range, or names an unknown interpretation
                ("reading") of a printed theorem.
        """
        super().check()
        check_scales(SQUARES, heterogeneity=self.heterogeneity, initial_gap=self.gap)
        faults = list(self._gradient_faults())
        if not set(self.readings or ()) <= set(READINGS):
            faults.insert(0, Fault("/readings", "has a reading that these theorems do not have", ", ".join(READINGS)))
        largest_gap = self.mean_lipschitz * self.diameter
        if self.initial_gap is not None and self.initial_gap > largest_gap:
            faults.append(Fault("/initial_gap", "cannot exceed lipschitz · diameter", f"≤ {largest_gap:g}"))
        if faults:
            raise InvalidInput(*faults)

    def _gradient_faults(self) -> Iterator[Fault]:
        """Yield a fault for each statistic of gradients that exceeds its largest value under the Lipschitz constant L.

        The largest value is L. For the data at hand and a loss that is not smooth it is 2L: the algorithm then uses
        gradients of the Moreau envelope, which may differ by 2L.

        Yields:
            Faults with the pointer to the field, the reason and the allowed values.
        """
        steepest = max(lipschitz for _, lipschitz in self.weighted_lipschitz)
        # Gradients of a Moreau envelope at two records may be opposite, of norm L each.
        empirical_factor = 1.0 if self.smoothness is not None else 2.0
        largest = {
            "gradient_std": steepest,
            "heterogeneity": steepest,
            "empirical_gradient_std": empirical_factor * steepest,
        }
        for name, bound in largest.items():
            if (getattr(self, name) or 0.0) > bound:
                yield Fault(f"/{name}", "cannot exceed what lipschitz allows", f"≤ {bound:g}")

    @property
    def gap(self) -> float:
        """Excess risk of the initial model; by default the mean Lipschitz constant times the diameter."""
        return self.mean_lipschitz * self.diameter if self.initial_gap is None else self.initial_gap

    @property
    def weighted_lipschitz(self) -> tuple[tuple[int, float], ...]:
        """Number of clients of each kind, with the Lipschitz constant of their weighted losses."""
        if self.client_groups is None:
            return ((self.clients, self.lipschitz),)
        return tuple(
            (group.clients, scale * (group.lipschitz or self.lipschitz))
            for group, scale in zip(self.client_groups, self.scales, strict=True)
        )

    @property
    def mean_lipschitz(self) -> float:
        """Mean over clients of the Lipschitz constants, which is a Lipschitz constant of the mean loss."""
        return math.fsum(count / self.clients * lipschitz for count, lipschitz in self.weighted_lipschitz)

    @property
    def quick(self) -> bool:
        """True if the best stages are found without a search over runs.

        Batch size and rounds are then given, and losses are not strongly convex, so that one stage is best.
        """
        return self.batch_size is not None and self.rounds is not None and self.strong_convexity == 0.0

    @property
    def spread(self) -> float:
        """Heterogeneity of the clients: the bound of the request or, if absent, the largest Lipschitz constant.

        It is 0 if the clients are identically distributed and have equal weights.
        """
        if self.identically_distributed and len(set(self.scales)) == 1:
            return 0.0
        steepest = max(lipschitz for _, lipschitz in self.weighted_lipschitz)
        return steepest if self.heterogeneity is None else self.heterogeneity
