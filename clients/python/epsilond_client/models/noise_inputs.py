from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar

from attrs import define as _attrs_define

from ..models.noise_inputs_sampling import (
    NoiseInputsSampling,
    check_noise_inputs_sampling,
)
from ..types import UNSET, Unset

T = TypeVar("T", bound="NoiseInputs")


@_attrs_define
class NoiseInputs:
    """One client's run of Algorithm 1. Give one of delta and log10_delta."""

    epsilon: float
    """ privacy loss bound ε of (ε, δ), natural logs """
    samples_per_client: int
    """ records of one client """
    rounds: int
    """ communication rounds """
    batch_size: int
    """ records of one client per round """
    lipschitz: float
    """ bound on the ℓ2 norm of one record's gradient """
    delta: float | Unset = UNSET
    """ failure probability δ of (ε, δ) """
    log10_delta: float | Unset = UNSET
    """ base-10 logarithm of δ, for a δ below any double """
    sampling: NoiseInputsSampling | Unset = UNSET

    def to_dict(self) -> dict[str, Any]:
        epsilon = self.epsilon

        samples_per_client = self.samples_per_client

        rounds = self.rounds

        batch_size = self.batch_size

        lipschitz = self.lipschitz

        delta = self.delta

        log10_delta = self.log10_delta

        sampling: str | Unset = UNSET
        if not isinstance(self.sampling, Unset):
            sampling = self.sampling

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "epsilon": epsilon,
                "samples_per_client": samples_per_client,
                "rounds": rounds,
                "batch_size": batch_size,
                "lipschitz": lipschitz,
            }
        )
        if delta is not UNSET:
            field_dict["delta"] = delta
        if log10_delta is not UNSET:
            field_dict["log10_delta"] = log10_delta
        if sampling is not UNSET:
            field_dict["sampling"] = sampling

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        epsilon = d.pop("epsilon")

        samples_per_client = d.pop("samples_per_client")

        rounds = d.pop("rounds")

        batch_size = d.pop("batch_size")

        lipschitz = d.pop("lipschitz")

        delta = d.pop("delta", UNSET)

        log10_delta = d.pop("log10_delta", UNSET)

        _sampling = d.pop("sampling", UNSET)
        sampling: NoiseInputsSampling | Unset
        if isinstance(_sampling, Unset):
            sampling = UNSET
        else:
            sampling = check_noise_inputs_sampling(_sampling)

        noise_inputs = cls(
            epsilon=epsilon,
            samples_per_client=samples_per_client,
            rounds=rounds,
            batch_size=batch_size,
            lipschitz=lipschitz,
            delta=delta,
            log10_delta=log10_delta,
            sampling=sampling,
        )

        return noise_inputs
