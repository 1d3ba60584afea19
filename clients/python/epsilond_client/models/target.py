from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar

from attrs import define as _attrs_define

from ..types import UNSET, Unset

T = TypeVar("T", bound="Target")


@_attrs_define
class Target:
    """An ε with its δ, or a risk in place of ε. A δ that is too small for a double is given only as `log10_delta`.

    Attributes:
        epsilon (float | Unset): ε of the (ε, δ) guarantee
        delta (float | Unset): Depends on the object:

            - δ of the (ε, δ) guarantee
            - target δ; absent if it is too small for a double
        log10_delta (float | Unset): log₁₀ δ in place of delta; δ may be below every double
        advantage (float | Unset): Depends on the object:

            - requested bound on the advantage of an attacker; absent unless the target is an advantage
            - in place of epsilon: largest true minus false positive rate of an attacker
        true_positive_rate (float | Unset): Depends on the object:

            - requested bound on the true positive rate of an attacker; absent unless the target is a true positive rate
            - in place of epsilon: largest true positive rate of an attacker at false_positive_rate
        false_positive_rate (float | Unset): Depends on the object:

            - false positive rate at which the target bounds the true positive rate; absent unless the target is a true
            positive rate
            - false positive rate at which true_positive_rate is bounded
        gaussian_dp_mu (float | Unset): Depends on the object:

            - requested parameter μ of Gaussian differential privacy; absent unless the target is μ
            - in place of epsilon: parameter μ of Gaussian differential privacy; not the ρ of zCDP, for which μ = √(2ρ)
        rho (float | Unset): Depends on the object:

            - requested parameter ρ of zero-concentrated differential privacy; absent unless the target is ρ
            - in place of epsilon: parameter ρ of zero-concentrated differential privacy
    """

    epsilon: float | Unset = UNSET
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

        field_dict.update({})
        if epsilon is not UNSET:
            field_dict["epsilon"] = epsilon
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
        epsilon = d.pop("epsilon", UNSET)

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
