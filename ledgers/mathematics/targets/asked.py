"""The target of a ledger in the request that opens it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from epsilond.accountants.errors import InvalidInput
from epsilond.accountants.quantities import request
from epsilond.accountants.quantities.risks import TargetFields
from epsilond.ledgers.mathematics.targets.risks import ledger_target

if TYPE_CHECKING:
    from epsilond.ledgers.mathematics.state import LedgerTarget


@request
class TargetAsked(TargetFields):
    """Privacy target for all runs that a ledger ever allows together: (ε*, δ*), or a risk that implies them.

    An `advantage` is δ at ε = 0, and a `true_positive_rate` at a `false_positive_rate` implies a δ at ε = 0. A request
    with such a risk may not have a δ. A `gaussian_dp_mu` or `rho` implies an ε at δ, which is 1e-5 by default.
    """

    def check(self) -> None:
        """Reject a δ next to a risk that determines its own δ: an advantage or a true positive rate.

        Raises:
            InvalidInput: δ or its logarithm is given next to such a risk.
        """
        if self.risk is None or self.risk.kind in ("gaussian_dp_mu", "rho"):
            return
        for name in ("delta", "log10_delta"):
            if getattr(self, name) is not None:
                message = f"has no part in the target {self.risk.kind}, which is a statement at ε = 0"
                raise InvalidInput.at(f"/{name}", message, allowed="left out")

    @property
    def of_ledger(self) -> LedgerTarget:
        """The requested target as a point (ε, δ), with the risk that implies it if a risk was requested."""
        return ledger_target(self.target)
