"""Warnings about settings of Opacus that no step shows to be wrong."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from opacus.optimizers import DPOptimizer
    from torch.utils.data import DataLoader


class OpacusPrivacyWarning(UserWarning):
    """A condition of the privacy guarantee does not hold, or is not known to hold."""


class DataDependentDenominator(OpacusPrivacyWarning):
    """Gradients are divided by a number that depends on the number of records."""


class SamplerReplaced(OpacusPrivacyWarning):
    """Poisson sampling replaces the sampling of the given loader."""


class LargeDelta(OpacusPrivacyWarning):
    """The target δ is so large that a mechanism may release whole records and still meet it."""


class DenominatorWatch:
    """A check of an optimizer that warns once if the divisor of its gradients reveals the number of records.

    Attributes:
        quiet: whether the check is over, because a warning was given or is not needed.
    """

    def __init__(self) -> None:
        self.quiet = False

    def before_step(self, optimizer: DPOptimizer, *, sample_rate: float) -> None:
        """Warn before a step if the divisor of the optimizer's gradients depends on the number of records.

        For a mean loss, Opacus divides by the expected batch size, which it computes from this number. No warning is
        given if `quiet` is set.

        Args:
            optimizer: the private optimizer, with its reduction of the loss and its expected batch size.
            sample_rate: probability of each record to be in a batch.

        Warns:
            DataDependentDenominator: the loss is a mean.
        """
        if not self.quiet and getattr(optimizer, "loss_reduction", None) == "mean":
            self.quiet = True
            message = describe_denominator(optimizer.expected_batch_size, sample_rate)
            warnings.warn(message, DataDependentDenominator, stacklevel=2)


def describe_denominator(expected_batch_size: object, sample_rate: float) -> str:
    """Return the text of the warning that the divisor and the sample rate reveal the number of records.

    Args:
        expected_batch_size: number by which gradients are divided.
        sample_rate: probability of each record to be in a batch.
    """
    return (
        f"gradients are divided by {expected_batch_size}, the number of records times the sample rate, and the "
        f"sample rate {sample_rate:g} is 1 over the number of batches. Both reveal the number of records, in which "
        "neighbours of add-or-remove-one differ. This is correct only if that number is public: declare it with "
        "public_size=True"
    )


def list_replaced_settings(data_loader: DataLoader) -> Iterator[tuple[type[OpacusPrivacyWarning], str]]:
    """Yield a warning for each setting of a data loader that `make_private` ignores.

    The private loader draws Poisson batches of the whole data set. Hence the loader's own sampler, such as a weighted
    one, and `drop_last` have no effect.

    Args:
        data_loader: the loader that is about to be replaced.

    Yields:
        The class and the message of each warning.
    """
    sampler = _find_special_sampler(data_loader)
    if sampler is not None:
        message = (
            f"the loader's {type(sampler).__name__} is replaced by Poisson sampling of the whole data set: its "
            "weights, its subset or its order are not used. Give a data set of the records that are meant"
        )
        yield SamplerReplaced, message
    if data_loader.drop_last:
        yield SamplerReplaced, "drop_last means nothing under Poisson sampling: every record may be drawn"


def _find_special_sampler(data_loader: DataLoader) -> object | None:
    """Return the sampler of a loader, unless it only puts all records in order or in a random order.

    Args:
        data_loader: a loader of torch.

    Returns:
        The sampler of batches, if it is not torch's `BatchSampler`. Otherwise the sampler of records, if it is neither
        torch's `SequentialSampler` nor `RandomSampler`, or if it draws with replacement or a given number of records.
        None if both samplers are plain.
    """
    from torch.utils.data import BatchSampler, RandomSampler, SequentialSampler  # noqa: PLC0415  torch may be absent

    sampler: object = data_loader.sampler
    batch_sampler: object = data_loader.batch_sampler
    if type(batch_sampler) not in {BatchSampler, type(None)}:
        return batch_sampler
    is_plain = type(sampler) in {RandomSampler, SequentialSampler}
    is_with_replacement = getattr(sampler, "replacement", False)
    is_limited = getattr(sampler, "_num_samples", None) is not None
    if is_plain and not is_with_replacement and not is_limited:
        return None
    return sampler
