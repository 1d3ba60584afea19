from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar, cast

from attrs import define as _attrs_define

from ..types import UNSET, Unset

T = TypeVar("T", bound="Query")


@_attrs_define
class Query:
    """Exactly one of these: at which ε or δ to read the curve.

    Attributes:
        epsilon (float | Unset): privacy loss bound ε of (ε, δ), natural logs
        delta (float | Unset): failure probability δ of (ε, δ)
        log10_delta (float | Unset): base-10 logarithm of δ, for a δ below any double
        epsilons (list[float] | Unset): several ε, at most 1000
        deltas (list[float] | Unset): several δ, at most 1000
        log10_deltas (list[float] | Unset): several log10 δ, at most 1000
    """

    epsilon: float | Unset = UNSET
    delta: float | Unset = UNSET
    log10_delta: float | Unset = UNSET
    epsilons: list[float] | Unset = UNSET
    deltas: list[float] | Unset = UNSET
    log10_deltas: list[float] | Unset = UNSET

    def to_dict(self) -> dict[str, Any]:
        epsilon = self.epsilon

        delta = self.delta

        log10_delta = self.log10_delta

        epsilons: list[float] | Unset = UNSET
        if not isinstance(self.epsilons, Unset):
            epsilons = self.epsilons

        deltas: list[float] | Unset = UNSET
        if not isinstance(self.deltas, Unset):
            deltas = self.deltas

        log10_deltas: list[float] | Unset = UNSET
        if not isinstance(self.log10_deltas, Unset):
            log10_deltas = self.log10_deltas

        field_dict: dict[str, Any] = {}

        field_dict.update({})
        if epsilon is not UNSET:
            field_dict["epsilon"] = epsilon
        if delta is not UNSET:
            field_dict["delta"] = delta
        if log10_delta is not UNSET:
            field_dict["log10_delta"] = log10_delta
        if epsilons is not UNSET:
            field_dict["epsilons"] = epsilons
        if deltas is not UNSET:
            field_dict["deltas"] = deltas
        if log10_deltas is not UNSET:
            field_dict["log10_deltas"] = log10_deltas

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        epsilon = d.pop("epsilon", UNSET)

        delta = d.pop("delta", UNSET)

        log10_delta = d.pop("log10_delta", UNSET)

        epsilons = cast(list[float], d.pop("epsilons", UNSET))

        deltas = cast(list[float], d.pop("deltas", UNSET))

        log10_deltas = cast(list[float], d.pop("log10_deltas", UNSET))

        query = cls(
            epsilon=epsilon,
            delta=delta,
            log10_delta=log10_delta,
            epsilons=epsilons,
            deltas=deltas,
            log10_deltas=log10_deltas,
        )

        return query
