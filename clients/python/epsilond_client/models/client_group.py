from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar

from attrs import define as _attrs_define

from ..types import UNSET, Unset

T = TypeVar("T", bound="ClientGroup")


@_attrs_define
class ClientGroup:
    """A group of equal clients: their number, and the values in which they differ from the rest of the request.

    Its own target is an `epsilon` of at least 0, or a risk such as `advantage`. Without one it has that of the request.
    If `batch_size` is absent, it is the same fraction of the group's records as in the rest of the request. It is
    rounded to the nearest whole record, at least one. The published theorems require equal fractions. `weight` is that
    of one client's loss, relative to those of other groups.

        Attributes:
            clients (int): number of clients in the federation
            advantage (float | Unset): in place of epsilon: largest true minus false positive rate of an attacker
            true_positive_rate (float | Unset): in place of epsilon: largest true positive rate of an attacker at
                false_positive_rate
            false_positive_rate (float | Unset): false positive rate at which true_positive_rate is bounded
            gaussian_dp_mu (float | Unset): in place of epsilon: parameter μ of Gaussian differential privacy; not the ρ of
                zCDP, for which μ = √(2ρ)
            rho (float | Unset): in place of epsilon: parameter ρ of zero-concentrated differential privacy
            samples_per_client (int | Unset): number of records of one client
            batch_size (int | Unset): number of records that a client uses in one round
            epsilon (float | Unset): ε of the (ε, δ) guarantee
            delta (float | Unset): δ of the (ε, δ) guarantee
            log10_delta (float | Unset): log₁₀ δ in place of delta; δ may be below every double
            lipschitz (float | Unset): bound on the ℓ2 norm of one record's gradient
            weight (float | Unset): weight of a client's loss in the average of the clients' losses. Only the ratio to the
                weights of other clients matters
            noise_std (float | Unset): standard deviation per coordinate of the Gaussian noise that is added to a message
    """

    clients: int
    advantage: float | Unset = UNSET
    true_positive_rate: float | Unset = UNSET
    false_positive_rate: float | Unset = UNSET
    gaussian_dp_mu: float | Unset = UNSET
    rho: float | Unset = UNSET
    samples_per_client: int | Unset = UNSET
    batch_size: int | Unset = UNSET
    epsilon: float | Unset = UNSET
    delta: float | Unset = UNSET
    log10_delta: float | Unset = UNSET
    lipschitz: float | Unset = UNSET
    weight: float | Unset = UNSET
    noise_std: float | Unset = UNSET

    def to_dict(self) -> dict[str, Any]:
        clients = self.clients

        advantage = self.advantage

        true_positive_rate = self.true_positive_rate

        false_positive_rate = self.false_positive_rate

        gaussian_dp_mu = self.gaussian_dp_mu

        rho = self.rho

        samples_per_client = self.samples_per_client

        batch_size = self.batch_size

        epsilon = self.epsilon

        delta = self.delta

        log10_delta = self.log10_delta

        lipschitz = self.lipschitz

        weight = self.weight

        noise_std = self.noise_std

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "clients": clients,
            }
        )
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
        if samples_per_client is not UNSET:
            field_dict["samples_per_client"] = samples_per_client
        if batch_size is not UNSET:
            field_dict["batch_size"] = batch_size
        if epsilon is not UNSET:
            field_dict["epsilon"] = epsilon
        if delta is not UNSET:
            field_dict["delta"] = delta
        if log10_delta is not UNSET:
            field_dict["log10_delta"] = log10_delta
        if lipschitz is not UNSET:
            field_dict["lipschitz"] = lipschitz
        if weight is not UNSET:
            field_dict["weight"] = weight
        if noise_std is not UNSET:
            field_dict["noise_std"] = noise_std

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        clients = d.pop("clients")

        advantage = d.pop("advantage", UNSET)

        true_positive_rate = d.pop("true_positive_rate", UNSET)

        false_positive_rate = d.pop("false_positive_rate", UNSET)

        gaussian_dp_mu = d.pop("gaussian_dp_mu", UNSET)

        rho = d.pop("rho", UNSET)

        samples_per_client = d.pop("samples_per_client", UNSET)

        batch_size = d.pop("batch_size", UNSET)

        epsilon = d.pop("epsilon", UNSET)

        delta = d.pop("delta", UNSET)

        log10_delta = d.pop("log10_delta", UNSET)

        lipschitz = d.pop("lipschitz", UNSET)

        weight = d.pop("weight", UNSET)

        noise_std = d.pop("noise_std", UNSET)

        client_group = cls(
            clients=clients,
            advantage=advantage,
            true_positive_rate=true_positive_rate,
            false_positive_rate=false_positive_rate,
            gaussian_dp_mu=gaussian_dp_mu,
            rho=rho,
            samples_per_client=samples_per_client,
            batch_size=batch_size,
            epsilon=epsilon,
            delta=delta,
            log10_delta=log10_delta,
            lipschitz=lipschitz,
            weight=weight,
            noise_std=noise_std,
        )

        return client_group
