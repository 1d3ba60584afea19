from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar

from attrs import define as _attrs_define

from ..types import UNSET, Unset

T = TypeVar("T", bound="ClonesInputs")


@_attrs_define
class ClonesInputs:
    """Reports that are ε₀-indistinguishable, and the δ at which the shuffled ε is asked for."""

    clients: int
    """ clients in the federation """
    local_epsilon: float
    """ ε of what one client sends, to whoever sees it with its sender """
    delta: float | Unset = UNSET
    """ failure probability δ of (ε, δ) """
    log10_delta: float | Unset = UNSET
    """ base-10 logarithm of δ, for a δ below any double """

    def to_dict(self) -> dict[str, Any]:
        clients = self.clients

        local_epsilon = self.local_epsilon

        delta = self.delta

        log10_delta = self.log10_delta

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

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        clients = d.pop("clients")

        local_epsilon = d.pop("local_epsilon")

        delta = d.pop("delta", UNSET)

        log10_delta = d.pop("log10_delta", UNSET)

        clones_inputs = cls(
            clients=clients,
            local_epsilon=local_epsilon,
            delta=delta,
            log10_delta=log10_delta,
        )

        return clones_inputs
