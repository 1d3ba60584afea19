from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar

from attrs import define as _attrs_define

from ..types import UNSET, Unset

T = TypeVar("T", bound="RoundInputs")


@_attrs_define
class RoundInputs:
    """One shuffled round, and the δ of the bound without the reports' own δ₀."""

    clients: int
    """ clients in the federation """
    local_epsilon: float
    """ ε of what one client sends, to whoever sees it with its sender """
    delta: float | Unset = UNSET
    """ failure probability δ of (ε, δ) """
    log10_delta: float | Unset = UNSET
    """ base-10 logarithm of δ, for a δ below any double """
    samples_per_client: int | Unset = 1
    """ records of one client """
    local_delta: float | Unset = 0.0
    """ δ of what one client sends, beside its ε₀; 0 if pure """

    def to_dict(self) -> dict[str, Any]:
        clients = self.clients

        local_epsilon = self.local_epsilon

        delta = self.delta

        log10_delta = self.log10_delta

        samples_per_client = self.samples_per_client

        local_delta = self.local_delta

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "clients": clients,
                "local_epsilon": local_epsilon,
            }
        )
        if delta is not UNSET:
            field_dict["delta"] = delta
        if log10_delta is not UNSET:
            field_dict["log10_delta"] = log10_delta
        if samples_per_client is not UNSET:
            field_dict["samples_per_client"] = samples_per_client
        if local_delta is not UNSET:
            field_dict["local_delta"] = local_delta

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        clients = d.pop("clients")

        local_epsilon = d.pop("local_epsilon")

        delta = d.pop("delta", UNSET)

        log10_delta = d.pop("log10_delta", UNSET)

        samples_per_client = d.pop("samples_per_client", UNSET)

        local_delta = d.pop("local_delta", UNSET)

        round_inputs = cls(
            clients=clients,
            local_epsilon=local_epsilon,
            delta=delta,
            log10_delta=log10_delta,
            samples_per_client=samples_per_client,
            local_delta=local_delta,
        )

        return round_inputs
