"""The history of an Opacus accountant, as a Spec."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Final, TypedDict

from epsilond.accountants.errors import InvalidInput
from epsilond.accountants.specs import Gaussian, Spec, Subsampled
from epsilond.integrations.counted import run_of
from epsilond.integrations.numbers import build, count, number
from epsilond.integrations.setting import StatedSetting

SETTING: Final[StatedSetting] = {
    "relation": "add-or-remove-one",
    "unit": "record",
    "observer": "released-models",
}
"""Setting of the guarantee of an Opacus run: its batches are of records, and a trusted curator adds the noise."""


class AccountantState(TypedDict):
    """State of an accountant of Opacus, as far as it is read here.

    Attributes:
        history: triples of noise multiplier, sampling rate and number of steps.
    """

    history: Iterable[Sequence[float]]


def spec_from_opacus_history(history: Iterable[Sequence[float]] | AccountantState) -> Spec:
    """Return the history of an Opacus accountant as a Spec, the description of a run for privacy accounting.

    Opacus adds Gaussian noise to the sum of a batch's clipped gradients. A batch contains every record independently
    with probability sample_rate. Opacus' neighbouring data sets differ by one record more or less, so account for the
    Spec under `relation="add-or-remove-one"`. The history does not show whether `poisson_sampling=False` was set. The
    guarantee does not hold for such a run.

    Args:
        history: `accountant.history`, triples of noise_multiplier, sample_rate and number of steps. The noise
            multiplier is the standard deviation of the noise divided by the clipping norm. Alternatively
            `accountant.state_dict()`, which contains the history.

    Returns:
        The Spec of all steps together.

    Example:
        >>> import epsilond
        >>> run = epsilond.spec_from_opacus_history([(1.0, 0.01, 1000)])
        >>> account = epsilond.account(
        ...     run, relation="add-or-remove-one", unit="record", observer="released-models"
        ... )
        >>> lower, upper = account.guarantee.curve.epsilon(delta=1e-5)
        >>> print(f"{lower:.4f} {upper:.4f}")
        1.8282 1.8282

    Raises:
        InvalidInput: an entry is not such a triple or is out of range, or the history has no steps.
    """
    if isinstance(history, Mapping):
        if "history" not in history:
            raise InvalidInput.at("/history", "is required")
        entries, at = history["history"], "/history"
    else:
        entries, at = history, ""
    run = run_of(_read_entry(entry, f"{at}/{index}") for index, entry in enumerate(entries))
    if run is None:
        raise InvalidInput.at(at, "holds no step: nothing has been run")
    return run


def _read_entry(entry: Sequence[float], at: str) -> tuple[Spec, int]:
    """Return the spec (description) of one step, and the number of equal steps, of an entry of the history.

    Args:
        entry: noise multiplier, sample rate and number of steps.
        at: JSON pointer of the entry, for errors.

    Returns:
        The spec of one step, and the number of steps, at least 0.

    Raises:
        InvalidInput: the entry is not such a triple, or is out of range.
    """
    try:
        noise_multiplier, sample_rate, steps = entry
    except (TypeError, ValueError):
        raise InvalidInput.at(at, "is not noise_multiplier, sample_rate, steps") from None
    noise, rate = number(noise_multiplier, f"{at}/0"), number(sample_rate, f"{at}/1")
    return step_of(noise, rate, at=at), count(steps, f"{at}/2")


def step_of(noise_multiplier: float, sample_rate: float, *, at: str = "") -> Spec:
    """Return the spec (description) of one step of DP-SGD: Gaussian noise, on a Poisson batch if the rate is below 1.

    Args:
        noise_multiplier: standard deviation of the noise divided by the clipping norm, above 0.
        sample_rate: probability of each record to be in the batch, in (0, 1].
        at: JSON pointer of the entry in the history, for errors.

    Returns:
        The Gaussian mechanism at a rate of 1, otherwise the Gaussian mechanism on a Poisson batch.

    Raises:
        InvalidInput: a number is out of range. The pointer ends with `/0` for the noise, and `/1` for the rate.
    """
    # An entry of the history is a list. Errors name the noise multiplier by its index 0, and the rate by its index 1.
    mechanism = build(Gaussian, at, {"noise_multiplier": "0"}, noise_multiplier=noise_multiplier)
    # The batch is built for a rate of 1 too, because this checks the rate.
    batch = build(Subsampled, at, {"rate": "1"}, sampling="poisson", rate=sample_rate, mechanism=mechanism)
    return mechanism if sample_rate == 1.0 else batch
