from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar

from attrs import define as _attrs_define

from ..types import UNSET, Unset

T = TypeVar("T", bound="BlanketInputs")


@_attrs_define
class BlanketInputs:
    """A shuffled round of reports that share a part with all others."""

    clients: int
    """ clients in the federation """
    share: float
    """ share of every report that is the same for all inputs """
    delta: float | Unset = UNSET
    """ failure probability δ of (ε, δ) """
    log10_delta: float | Unset = UNSET
    """ base-10 logarithm of δ, for a δ below any double """

    def to_dict(self) -> dict[str, Any]:
        clients = self.clients

        share = self.share

        delta = self.delta

        log10_delta = self.log10_delta

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "clients": clients,
                "share": share,
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

        share = d.pop("share")

        delta = d.pop("delta", UNSET)

        log10_delta = d.pop("log10_delta", UNSET)

        blanket_inputs = cls(
            clients=clients,
            share=share,
            delta=delta,
            log10_delta=log10_delta,
        )

        return blanket_inputs
