from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar

from attrs import define as _attrs_define

from ..types import UNSET, Unset

T = TypeVar("T", bound="Target")


@_attrs_define
class Target:
    """An ε that was claimed at the audit's δ.

    Attributes:
        epsilon (float): privacy loss bound ε of (ε, δ), natural logs
        delta (float | Unset): Depends on the object:

            - failure probability δ of (ε, δ)
            - absent where it is below every double
        log10_delta (float | Unset): base-10 logarithm of δ, for a δ below any double
        advantage (float | Unset): the target, if this was the target
        true_positive_rate (float | Unset): the target, if this was the target
        false_positive_rate (float | Unset): false positive rate of the target
        gaussian_dp_mu (float | Unset): the target, if this was the target
        rho (float | Unset): the target, if this was the target
    """

    epsilon: float
    delta: float | Unset = UNSET
    log10_delta: float | Unset = UNSET
    advantage: float | Unset = UNSET
    true_positive_rate: float | Unset = UNSET
    false_positive_rate: float | Unset = UNSET
    gaussian_dp_mu: float | Unset = UNSET
    rho: float | Unset = UNSET

    def to_dict(self) -> dict[str, Any]:
        epsilon = self.epsilon

        delta = self.delta

        log10_delta = self.log10_delta

        advantage = self.advantage

        true_positive_rate = self.true_positive_rate

        false_positive_rate = self.false_positive_rate

        gaussian_dp_mu = self.gaussian_dp_mu

        rho = self.rho

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "epsilon": epsilon,
            }
        )
        if delta is not UNSET:
            field_dict["delta"] = delta
        if log10_delta is not UNSET:
            field_dict["log10_delta"] = log10_delta
        if advantage is not UNSET:
            field_dict["advantage"] = advantage
        if true_positive_rate is not UNSET:
            field_dict["true_positive_rate"] = true_positive_rate
        if false_positive_rate is not UNSET:
            field_dict["false_positive_rate"] = false_positive_rate
        if gaussian_dp_mu is not UNSET:
            field_dict["gaussian_dp_mu"] = gaussian_dp_mu
        if rho is not UNSET:
            field_dict["rho"] = rho

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        epsilon = d.pop("epsilon")

        delta = d.pop("delta", UNSET)

        log10_delta = d.pop("log10_delta", UNSET)

        advantage = d.pop("advantage", UNSET)

        true_positive_rate = d.pop("true_positive_rate", UNSET)

        false_positive_rate = d.pop("false_positive_rate", UNSET)

        gaussian_dp_mu = d.pop("gaussian_dp_mu", UNSET)

        rho = d.pop("rho", UNSET)

        target = cls(
            epsilon=epsilon,
            delta=delta,
            log10_delta=log10_delta,
            advantage=advantage,
            true_positive_rate=true_positive_rate,
            false_positive_rate=false_positive_rate,
            gaussian_dp_mu=gaussian_dp_mu,
            rho=rho,
        )

        return target
