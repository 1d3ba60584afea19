from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar, cast

from attrs import define as _attrs_define

from ..types import UNSET, Unset

T = TypeVar("T", bound="RenyiInputs")


@_attrs_define
class RenyiInputs:
    """Rényi divergences of one mechanism that is run `times` over, and a δ. Give one of delta and log10_delta."""

    orders: list[float]
    """ orders, each above 1 """
    divergences: list[float]
    """ bound on the Rényi divergence of one run, at each order """
    times: int | Unset = 1
    """ how often the mechanism is run """
    delta: float | Unset = UNSET
    """ failure probability δ of (ε, δ) """
    log10_delta: float | Unset = UNSET
    """ base-10 logarithm of δ, for a δ below any double """

    def to_dict(self) -> dict[str, Any]:
        orders = self.orders

        divergences = self.divergences

        times = self.times

        delta = self.delta

        log10_delta = self.log10_delta

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "orders": orders,
                "divergences": divergences,
            }
        )
        if times is not UNSET:
            field_dict["times"] = times
        if delta is not UNSET:
            field_dict["delta"] = delta
        if log10_delta is not UNSET:
            field_dict["log10_delta"] = log10_delta

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        orders = cast(list[float], d.pop("orders"))

        divergences = cast(list[float], d.pop("divergences"))

        times = d.pop("times", UNSET)

        delta = d.pop("delta", UNSET)

        log10_delta = d.pop("log10_delta", UNSET)

        renyi_inputs = cls(
            orders=orders,
            divergences=divergences,
            times=times,
            delta=delta,
            log10_delta=log10_delta,
        )

        return renyi_inputs
