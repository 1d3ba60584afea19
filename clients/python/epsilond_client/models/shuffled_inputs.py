from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar

from attrs import define as _attrs_define

from ..types import UNSET, Unset

T = TypeVar("T", bound="ShuffledInputs")


@_attrs_define
class ShuffledInputs:
    """M of N equal clients report in each round. Absent: rounds are as prescribed. Give one of delta, log10_delta."""

    epsilon: float
    """ privacy loss bound ε of (ε, δ), natural logs """
    samples_per_client: int
    """ records of one client """
    clients: int
    """ clients in the federation """
    dimension: int
    """ coordinates of the model """
    lipschitz: float
    """ bound on the ℓ2 norm of one record's gradient """
    diameter: float
    """ diameter of the domain """
    participants: int
    """ clients that report in one round """
    smoothness: float
    """ Lipschitz constant of the gradient """
    delta: float | Unset = UNSET
    """ failure probability δ of (ε, δ) """
    log10_delta: float | Unset = UNSET
    """ base-10 logarithm of δ, for a δ below any double """
    strong_convexity: float | Unset = 0.0
    """ strong convexity, 0 if only convex """
    rounds: int | Unset = UNSET
    """ communication rounds """
    noise_constant: float | Unset = UNSET
    """ the constant of Theorem 4.1's noise, which the paper does not give """

    def to_dict(self) -> dict[str, Any]:
        epsilon = self.epsilon

        samples_per_client = self.samples_per_client

        clients = self.clients

        dimension = self.dimension

        lipschitz = self.lipschitz

        diameter = self.diameter

        participants = self.participants

        smoothness = self.smoothness

        delta = self.delta

        log10_delta = self.log10_delta

        strong_convexity = self.strong_convexity

        rounds = self.rounds

        noise_constant = self.noise_constant

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "epsilon": epsilon,
                "samples_per_client": samples_per_client,
                "clients": clients,
                "dimension": dimension,
                "lipschitz": lipschitz,
                "diameter": diameter,
                "participants": participants,
                "smoothness": smoothness,
            }
        )
        if delta is not UNSET:
            field_dict["delta"] = delta
        if log10_delta is not UNSET:
            field_dict["log10_delta"] = log10_delta
        if strong_convexity is not UNSET:
            field_dict["strong_convexity"] = strong_convexity
        if rounds is not UNSET:
            field_dict["rounds"] = rounds
        if noise_constant is not UNSET:
            field_dict["noise_constant"] = noise_constant

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        epsilon = d.pop("epsilon")

        samples_per_client = d.pop("samples_per_client")

        clients = d.pop("clients")

        dimension = d.pop("dimension")

        lipschitz = d.pop("lipschitz")

        diameter = d.pop("diameter")

        participants = d.pop("participants")

        smoothness = d.pop("smoothness")

        delta = d.pop("delta", UNSET)

        log10_delta = d.pop("log10_delta", UNSET)

        strong_convexity = d.pop("strong_convexity", UNSET)

        rounds = d.pop("rounds", UNSET)

        noise_constant = d.pop("noise_constant", UNSET)

        shuffled_inputs = cls(
            epsilon=epsilon,
            samples_per_client=samples_per_client,
            clients=clients,
            dimension=dimension,
            lipschitz=lipschitz,
            diameter=diameter,
            participants=participants,
            smoothness=smoothness,
            delta=delta,
            log10_delta=log10_delta,
            strong_convexity=strong_convexity,
            rounds=rounds,
            noise_constant=noise_constant,
        )

        return shuffled_inputs
