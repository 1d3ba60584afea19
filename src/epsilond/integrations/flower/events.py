"""Flower's privacy events as specs, read by the names of their attributes. Nothing is imported."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NotRequired, TypedDict

from epsilond.accountants.errors import InvalidInput
from epsilond.accountants.specs import Gaussian, Spec, Subsampled
from epsilond.integrations.counted import run_of
from epsilond.integrations.numbers import build, count, number

if TYPE_CHECKING:
    from flwr.serverapp import GaussianPrivacyEvent, SamplingMethod

SAMPLINGS = ("poisson", "without-replacement", "no-amplification")
"""The values of Flower's SamplingMethod."""


class Composition(TypedDict):
    """Privacy event in the state of an accountant, with the number of times that it was composed."""

    event: Mapping[str, object]
    count: int


class FlowerAccountantState(TypedDict):
    """State of a Flower accountant, as JSON values; only `EpsilondAccountant` has the last three fields.

    Attributes:
        schema_version: version of Flower's form of the state.
        backend: name of the accountant's method.
        config: settings of the accountant.
        compositions: composed events in their order.
        evidence: observations about the conditions of the privacy theorem.
        number: Flower's number of the last round.
        models: digests of the released models.
    """

    schema_version: int
    backend: str
    config: Mapping[str, object]
    compositions: Sequence[Composition]
    evidence: NotRequired[Mapping[str, object]]
    number: NotRequired[int]
    models: NotRequired[Sequence[str]]


def spec_of_event(event: GaussianPrivacyEvent, sampling: SamplingMethod | str, *, at: str = "") -> Spec:
    """Convert Flower's description of one release, a `GaussianPrivacyEvent`, to a mechanism for privacy accounting.

    Flower's wrappers add noise of standard deviation noise_multiplier · clipping_norm / m to a mean of m updates. That
    is noise_multiplier · clipping_norm on their sum, as in this library. The sensitivity of the sum depends on the
    relation: it is the clipping norm for `add-or-remove-one`, and twice that for `replace-one`. Flower's RdpAccountant
    takes noise_multiplier as noise over sensitivity, so its ε is too small for `replace-one`.

    Args:
        event: Flower's event.
        sampling: a `SamplingMethod` of Flower, or its value.
        at: JSON pointer of the event, for errors.

    Returns:
        The Gaussian mechanism, subsampled if the sampling amplifies privacy.

    Raises:
        InvalidInput: the sampling is unknown, or a number is out of range.
    """
    fields = {name: getattr(event, name) for name in ("noise_multiplier", "sample_size", "population_size")}
    return _step(fields, str(getattr(sampling, "value", sampling)), at)


def spec_from_flower_state(state: FlowerAccountantState) -> Spec:
    """Convert the `state_dict()` of an accountant to the composed mechanism of all its releases.

    Its privacy is to be computed for the relation in `state["config"]["neighboring_relation"]`, `unit="client"` and
    `observer="released-models"`.

    Args:
        state: state of Flower's RdpAccountant, or of `EpsilondAccountant`.

    Returns:
        The composition of all releases, for example for `epsilond.account`.

    Example:
        >>> import epsilond
        >>> from epsilond.integrations.flower import spec_from_flower_state
        >>> event = {"noise_multiplier": 1.0, "sample_size": 10, "population_size": 1000}
        >>> run = spec_from_flower_state(
        ...     {"config": {"sampling_method": "poisson"}, "compositions": [{"event": event, "count": 1000}]}
        ... )
        >>> account = epsilond.account(run, relation="add-or-remove-one", unit="client", observer="released-models")
        >>> print(f"{account.guarantee.curve.epsilon(delta=1e-5).upper:.4f}")
        1.8282

    Raises:
        InvalidInput: the state has another form, or nothing was released.
    """
    try:
        sampling = str(state["config"]["sampling_method"])
        entries = [(entry["event"], entry["count"]) for entry in state["compositions"]]
    except (KeyError, TypeError):
        raise InvalidInput.at("", "is not the state of a Flower accountant") from None

    parts = []
    for index, (event, times) in enumerate(entries):
        at = f"/compositions/{index}"
        parts.append((_step(event, sampling, f"{at}/event"), count(times, f"{at}/count")))
    run = run_of(parts)
    if run is None:
        raise InvalidInput.at("/compositions", "is empty: nothing has been released")
    return run


def _step(event: Mapping[str, object], sampling: str, at: str) -> Spec:
    """Return the mechanism of one release: the Gaussian mechanism, subsampled if that amplifies privacy.

    Args:
        event: `noise_multiplier`, `sample_size` and `population_size` of the release.
        sampling: value of Flower's `SamplingMethod`.
        at: JSON pointer of the event, for errors.

    Raises:
        InvalidInput: the sampling is unknown, or a number is out of range.
    """
    if sampling not in SAMPLINGS:
        raise InvalidInput.at("/sampling_method", "is none of Flower's", allowed=", ".join(SAMPLINGS))
    noise = number(event["noise_multiplier"], f"{at}/noise_multiplier")
    mechanism = build(Gaussian, at, {}, noise_multiplier=noise)
    size = count(event["sample_size"], f"{at}/sample_size")
    population = count(event["population_size"], f"{at}/population_size")
    if not 0 < size <= population:
        raise InvalidInput.at(f"{at}/sample_size", "is out of range", allowed="≥ 1 and ≤ population_size")
    # If all clients take part, sampling does not amplify privacy.
    if sampling == "no-amplification" or size == population:
        return mechanism
    if sampling == "poisson":
        return Subsampled(sampling="poisson", rate=size / population, mechanism=mechanism)
    return Subsampled(sampling="without-replacement", batch_size=size, population=population, mechanism=mechanism)
