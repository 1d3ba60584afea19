"""Warnings about settings of Opacus that no step shows to be wrong."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from opacus.optimizers import DPOptimizer
    from torch.utils.data import DataLoader


class OpacusPrivacyWarning(UserWarning):
    """A premise of the certified ε does not hold, or is not known to hold."""


class DataDependentDenominator(OpacusPrivacyWarning):
    """Gradients are divided by a number that depends on the number of records."""


class SamplerReplaced(OpacusPrivacyWarning):
    """Poisson sampling replaces the sampling of the given loader."""


class LargeDelta(OpacusPrivacyWarning):
    """The target δ is so large that a release of whole records would meet it."""


class Watch:
    """Check of each step of an optimizer, with one warning about a divisor that depends on the number of records."""

    def __init__(self) -> None:
        self.quiet = False
        """True once the divisor is known to be in order, or after a warning."""

    def before_step(self, optimizer: DPOptimizer, *, sample_rate: float) -> None:
        """Check the divisor of an optimizer."""
        if not self.quiet and getattr(optimizer, "loss_reduction", None) == "mean":
            self.quiet = True
            message = denominator(optimizer.expected_batch_size, sample_rate)
            warnings.warn(message, DataDependentDenominator, stacklevel=2)


def denominator(expected_batch_size: object, sample_rate: float) -> str:
    """Return the warning that the divisor and the rate are computed from the number of records."""
    return (
        f"gradients are divided by {expected_batch_size}, the number of records times the sample rate, and the "
        f"sample rate {sample_rate:g} is 1 over the number of batches. Both reveal the number of records, in which "
        "neighbours of add-or-remove-one differ. This is correct only if that number is public: declare it with "
        "public_size=True"
    )


def of_loader(data_loader: DataLoader) -> Iterator[tuple[type[OpacusPrivacyWarning], str]]:
    """Return the settings of a data loader that Poisson sampling replaces."""
    from torch.utils.data import BatchSampler, RandomSampler, SequentialSampler  # noqa: PLC0415  torch is a host's

    sampler, batches = data_loader.sampler, data_loader.batch_sampler
    plain = type(sampler) in {RandomSampler, SequentialSampler} and type(batches) in {BatchSampler, type(None)}
    if not plain or getattr(sampler, "replacement", False) or getattr(sampler, "_num_samples", None) is not None:
        name = type(sampler).__name__ if type(batches) in {BatchSampler, type(None)} else type(batches).__name__
        message = (
            f"the loader's {name} is replaced by Poisson sampling of the whole data set: its weights, its subset or "
            "its order are not used. Give a data set of the records that are meant"
        )
        yield SamplerReplaced, message
    if data_loader.drop_last:
        yield SamplerReplaced, "drop_last means nothing under Poisson sampling: every record may be drawn"
