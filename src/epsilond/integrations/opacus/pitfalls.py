"""What goes wrong in a loop with Opacus without showing in its history, as warnings."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import Any

_LOOKS = 10
"""Batches of equal size before a loader is taken for one that does not draw Poisson batches."""


class OpacusPrivacyWarning(UserWarning):
    """Something that the certified ε rests on is not so, or not known to be."""


class DataDependentDenominator(OpacusPrivacyWarning):
    """Gradients are divided by a number that depends on how many records there are."""


class SamplerReplaced(OpacusPrivacyWarning):
    """The given loader drew records in a way that Poisson sampling replaces."""


class NotPoisson(OpacusPrivacyWarning):
    """Batches are not drawn as the history says, so that its ε is none of the run."""


class Watch:
    """Looks at each step of an optimizer, and warns once of each pitfall."""

    def __init__(self) -> None:
        self._sizes: list[int] = []
        self._told: set[type[OpacusPrivacyWarning]] = set()
        self.quiet: set[type[OpacusPrivacyWarning]] = set()
        """Kinds that were told, or are known to be in order, elsewhere."""

    def before_step(self, optimizer: Any, *, sample_rate: float, batches: int) -> None:
        """Look at an optimizer whose gradients are of so many batches."""
        if getattr(optimizer, "loss_reduction", None) == "mean":
            self._tell(DataDependentDenominator, denominator(optimizer.expected_batch_size, sample_rate))
        if hasattr(optimizer, "target_unclipped_quantile"):
            self._tell(
                OpacusPrivacyWarning,
                "adaptive clipping divides the count of unclipped gradients by the size of the very batch, which is "
                "not private, and its noise is enough for a count of ±1/2 for each record, which it is not: the ε of "
                "the history is too small",
            )
        if batches > 1:
            self._tell(
                NotPoisson,
                f"gradients of {batches} batches are summed before the noise: drawn independently, a record may be in "
                f"several of them, and then moves the sum by more than the clipping norm; the history says one Poisson "
                f"batch at rate {batches} · {sample_rate:g}",
            )
        self._look_at_size(optimizer, sample_rate)

    def _look_at_size(self, optimizer: Any, sample_rate: float) -> None:
        if len(self._sizes) >= _LOOKS or sample_rate == 1.0 or NotPoisson in self.quiet:
            return
        try:
            self._sizes.append(len(optimizer.grad_samples[0]))
        except (AttributeError, IndexError, TypeError, ValueError):  # ghost clipping keeps none
            return
        size = self._sizes[0]
        if len(self._sizes) == _LOOKS and set(self._sizes) == {size} and size > 1:
            self._tell(
                NotPoisson,
                f"each of the first {_LOOKS} batches had {size} records: Poisson batches differ in size. The history "
                "says Poisson; where poisson_sampling=False was set, its ε is none of the run",
            )

    def _tell(self, kind: type[OpacusPrivacyWarning], message: str) -> None:
        if kind not in self._told and kind not in self.quiet:
            self._told.add(kind)
            warnings.warn(message, kind, stacklevel=2)


def denominator(expected_batch_size: Any, sample_rate: float) -> str:
    """That the divisor and the rate are computed from the number of records."""
    return (
        f"gradients are divided by {expected_batch_size}, the number of records times the sample rate, and the sample "
        f"rate {sample_rate:g} is 1 over the number of batches: both tell how many records there are, which neighbours "
        "of add-or-remove-one differ in. It is in order only if that number is public: say so with public_size=True"
    )


def of_loader(data_loader: Any, *, poisson_sampling: bool) -> Iterator[tuple[type[OpacusPrivacyWarning], str]]:
    """What a data loader has that does not go with the history."""
    from torch.utils.data import BatchSampler, RandomSampler, SequentialSampler  # noqa: PLC0415  torch is a host's

    if not poisson_sampling:
        message = (
            "poisson_sampling=False: batches come as the loader makes them, and the history says Poisson all the same: "
            "its ε is none of the run"
        )
        yield NotPoisson, message
        return
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
