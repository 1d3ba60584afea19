"""A `PrivacyEngine` that accounts with certified ends, calibrates its noise to them, and warns of what goes wrong."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

from opacus import PrivacyEngine

from epsilond.integrations.opacus.accountant import MECHANISM, EpsilondAccountant, register
from epsilond.integrations.opacus.noise import get_noise_multiplier
from epsilond.integrations.opacus.pitfalls import DataDependentDenominator, NotPoisson, denominator, of_loader

if TYPE_CHECKING:
    from epsilond.integrations.budget import LedgerBudget


class EpsilondPrivacyEngine(PrivacyEngine):
    """Opacus' engine with the accountant `epsilond`. Its methods are theirs.

    With a budget every step is committed in a ledger before the model moves, and the optimizer's `step` raises
    `LedgerExhausted` where the ledger refuses. `public_size` declares that the number of records may be known: the
    denominator and the sample rate of Opacus are computed from it.
    """

    accountant: EpsilondAccountant

    def __init__(
        self, *, budget: LedgerBudget | None = None, public_size: bool = False, secure_mode: bool = False
    ) -> None:
        """With what pays for its steps, if anything does; `secure_mode` is that of Opacus."""
        register()
        super().__init__(accountant=MECHANISM, secure_mode=secure_mode)
        self.accountant.stop_by(budget)
        self._public_size = public_size

    def make_private(
        self, *, data_loader: Any, poisson_sampling: bool = True, loss_reduction: str = "mean", **arguments: Any
    ) -> Any:
        """As in Opacus; warns of a loader or a mean that the history knows nothing of."""
        quiet = self.accountant._watch.quiet  # noqa: SLF001  the two are one
        for kind, message in of_loader(data_loader, poisson_sampling=poisson_sampling):
            warnings.warn(message, kind, stacklevel=2)
        quiet.add(NotPoisson)  # it is told by now, or the loader becomes Opacus' own
        made = super().make_private(
            data_loader=data_loader,
            poisson_sampling=poisson_sampling,
            loss_reduction=loss_reduction,
            **arguments,
        )
        if loss_reduction == "mean" and not self._public_size:
            expected = getattr(made[1], "expected_batch_size", None)
            warnings.warn(denominator(expected, 1 / len(data_loader)), DataDependentDenominator, stacklevel=2)
        quiet.add(DataDependentDenominator)
        return made

    def make_private_with_epsilon(
        self,
        *,
        target_epsilon: float,
        target_delta: float,
        epochs: float,
        data_loader: Any,
        **arguments: Any,
    ) -> Any:
        """As in Opacus, with the least noise multiplier that is certified for the target."""
        if len(self.accountant):
            warnings.warn("the noise is for a run without earlier steps, and there were some", stacklevel=2)
        noise = get_noise_multiplier(
            target_epsilon=target_epsilon,
            target_delta=target_delta,
            sample_rate=1 / len(data_loader),
            epochs=epochs,
        )
        return self.make_private(data_loader=data_loader, noise_multiplier=noise, **arguments)
