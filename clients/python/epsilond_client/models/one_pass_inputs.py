from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar

from attrs import define as _attrs_define

from ..types import UNSET, Unset

T = TypeVar("T", bound="OnePassInputs")


@_attrs_define
class OnePassInputs:
    """Equal clients, M of N in each round. Absent: batch_size is the prescribed one, φ is L, Δ is LD."""

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
    batch_size: int | Unset = UNSET
    """ records of one client per round """
    gradient_std: float | Unset = UNSET
    """ root mean square distance of a record's gradient from its client's expected one, at its largest """
    heterogeneity: float | Unset = 0.0
    """ root mean square over clients of |∇F_i − ∇F|, at its largest """
    initial_gap: float | Unset = UNSET
    """ bound on the excess risk of the start """

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

        batch_size = self.batch_size

        gradient_std = self.gradient_std

        heterogeneity = self.heterogeneity

        initial_gap = self.initial_gap

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
        if batch_size is not UNSET:
            field_dict["batch_size"] = batch_size
        if gradient_std is not UNSET:
            field_dict["gradient_std"] = gradient_std
        if heterogeneity is not UNSET:
            field_dict["heterogeneity"] = heterogeneity
        if initial_gap is not UNSET:
            field_dict["initial_gap"] = initial_gap

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

        batch_size = d.pop("batch_size", UNSET)

        gradient_std = d.pop("gradient_std", UNSET)

        heterogeneity = d.pop("heterogeneity", UNSET)

        initial_gap = d.pop("initial_gap", UNSET)

        one_pass_inputs = cls(
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
            batch_size=batch_size,
            gradient_std=gradient_std,
            heterogeneity=heterogeneity,
            initial_gap=initial_gap,
        )

        return one_pass_inputs
