from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar

from attrs import define as _attrs_define

from ..types import UNSET, Unset

T = TypeVar("T", bound="ClientInputs")


@_attrs_define
class ClientInputs:
    """A guarantee for one record (or the target for a client), and how many records the client has."""

    epsilon: float
    """ privacy loss bound ε of (ε, δ), natural logs """
    samples_per_client: int
    """ records of one client """
    delta: float | Unset = UNSET
    """ failure probability δ of (ε, δ) """
    log10_delta: float | Unset = UNSET
    """ base-10 logarithm of δ, for a δ below any double """

    def to_dict(self) -> dict[str, Any]:
        epsilon = self.epsilon

        samples_per_client = self.samples_per_client

        delta = self.delta

        log10_delta = self.log10_delta

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "epsilon": epsilon,
                "samples_per_client": samples_per_client,
            }
        )
        if delta is not UNSET:
            field_dict["delta"] = delta
        if log10_delta is not UNSET:
            field_dict["log10_delta"] = log10_delta

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        epsilon = d.pop("epsilon")

        samples_per_client = d.pop("samples_per_client")

        delta = d.pop("delta", UNSET)

        log10_delta = d.pop("log10_delta", UNSET)

        client_inputs = cls(
            epsilon=epsilon,
            samples_per_client=samples_per_client,
            delta=delta,
            log10_delta=log10_delta,
        )

        return client_inputs
