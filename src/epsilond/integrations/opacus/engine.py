"""A `PrivacyEngine` that accounts with certified bounds, calibrates its noise to them, and warns of mistakes."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

from opacus import PrivacyEngine

from epsilond.integrations.opacus.accountant import MECHANISM, EpsilondAccountant, register
from epsilond.integrations.opacus.noise import get_noise_multiplier
from epsilond.integrations.opacus.pitfalls import DataDependentDenominator, describe_denominator, list_replaced_settings

if TYPE_CHECKING:
    from torch.utils.data import DataLoader

    from epsilond.integrations.budget import LedgerBudget


class EpsilondPrivacyEngine(PrivacyEngine):
    """Opacus' engine with the accountant `epsilond`. Its methods are those of Opacus.

    With a budget, every step is committed in a ledger before the model changes. If too little is left in the ledger,
    the optimizer's `step` raises `LedgerExhausted`. `public_size` declares that the number of records is public. Opacus
    computes the divisor of the gradients and the sample rate from this number.

    Attributes:
        accountant: the accountant that observes the steps of the run and computes the certified ε.
    """

    accountant: EpsilondAccountant

    def __init__(
        self, *, budget: LedgerBudget | None = None, public_size: bool = False, secure_mode: bool = False
    ) -> None:
        """Create an engine with the accountant `epsilond`.

        Args:
            budget: pays for each step; None for no budget.
            public_size: whether the number of records is public.
            secure_mode: whether Opacus uses a cryptographically secure random generator.
        """
        register()
        super().__init__(accountant=MECHANISM, secure_mode=secure_mode)
        self.accountant.stop_by(budget)
        self._public_size = public_size

    def make_private(
        self,
        *,
        data_loader: DataLoader,
        poisson_sampling: bool = True,
        loss_reduction: str = "mean",
        **arguments: object,
    ) -> tuple[object, ...]:
        """Wrap model, optimizer and loader as Opacus' `make_private` does, and warn of settings that may leak data.

        The warnings concern settings that cannot be detected later by observing the steps: a sampler that Poisson
        sampling replaces, and a divisor that reveals the number of records.

        Args:
            data_loader: loader of the records.
            poisson_sampling: whether to replace the loader by one that draws Poisson batches.
            loss_reduction: "mean" or "sum", the reduction of the loss over a batch.
            **arguments: further arguments of Opacus' `make_private`.

        Returns:
            The result of Opacus' `make_private`: model, optimizer and loader.

        Warns:
            SamplerReplaced: the loader has a sampler or `drop_last` that Poisson sampling ignores.
            DataDependentDenominator: the loss is a mean, and the number of records was not declared public.
        """
        if poisson_sampling:
            for kind, message in list_replaced_settings(data_loader):
                warnings.warn(message, kind, stacklevel=2)
        private_parts: tuple[object, ...] = super().make_private(
            data_loader=data_loader,
            poisson_sampling=poisson_sampling,
            loss_reduction=loss_reduction,
            **arguments,
        )
        # Opacus divides a mean by the expected batch size, which it computes from the number of records.
        if loss_reduction == "mean" and not self._public_size:
            _model, optimizer, *_rest = private_parts
            expected_batch_size = getattr(optimizer, "expected_batch_size", None)
            message = describe_denominator(expected_batch_size, 1 / len(data_loader))
            warnings.warn(message, DataDependentDenominator, stacklevel=2)
        # The accountant would give the second warning at its first step. It was given here, or is not needed.
        self.accountant._denominator_watch.quiet = True  # noqa: SLF001  the engine and its accountant are one component
        return private_parts

    def make_private_with_epsilon(
        self,
        *,
        target_epsilon: float,
        target_delta: float,
        epochs: float,
        data_loader: DataLoader,
        **arguments: Any,
    ) -> tuple[object, ...]:
        """Make a run private as Opacus does, with the least noise multiplier that provably meets a target (ε, δ).

        Args:
            target_epsilon: ε of the target [nat].
            target_delta: δ of the target, in (0, 1).
            epochs: number of epochs of the whole run. Earlier steps of the engine are not counted, with a warning.
            data_loader: loader of the records.
            arguments: further arguments of `make_private`.

        Returns:
            The result of `make_private`: model, optimizer and loader.

        Raises:
            Infeasible: no noise multiplier meets the target.
        """
        if len(self.accountant):
            warnings.warn("the noise is for a run without earlier steps, and there were some", stacklevel=2)
        noise = get_noise_multiplier(
            target_epsilon=target_epsilon,
            target_delta=target_delta,
            sample_rate=1 / len(data_loader),
            epochs=epochs,
        )
        return self.make_private(data_loader=data_loader, noise_multiplier=noise, **arguments)
