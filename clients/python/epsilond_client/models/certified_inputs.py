from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar

from attrs import define as _attrs_define

from ..types import UNSET, Unset

T = TypeVar("T", bound="CertifiedInputs")


@_attrs_define
class CertifiedInputs:
    """The noise of a run and its step size."""

    clients: int
    """ clients in the federation """
    participants: int
    """ clients that report in one round """
    rounds: int
    """ communication rounds """
    dimension: int
    """ coordinates of the model """
    lipschitz: float
    """ bound on the ℓ2 norm of one record's gradient """
    smoothness: float
    """ Lipschitz constant of the gradient, 0 for linear losses """
    diameter: float
    """ diameter of the domain """
    base_std: float
    """ σ of a client's first message; that of its N-th is √N times it """
    step_size: float
    """ step size """
    gradient_std: float | Unset = UNSET
    """ root mean square of ∇f(x; z) − ∇f_i(x), at its largest; absent: G """
    heterogeneity: float | Unset = UNSET
    """ root mean square over clients of ∇f_i − ∇f; absent: G """
    smoothness_std: float | Unset = UNSET
    """ Lipschitz constant of ∇f(x; z) − ∇f_i(x); absent: L """
    smoothness_heterogeneity: float | Unset = UNSET
    """ Lipschitz constant of ∇f_i − ∇f; absent: L """
    optimum_gradient_norm: float | Unset = UNSET
    """ norm of the gradient at the minimiser over the domain, 0 if it is an interior point; absent: G """

    def to_dict(self) -> dict[str, Any]:
        clients = self.clients

        participants = self.participants

        rounds = self.rounds

        dimension = self.dimension

        lipschitz = self.lipschitz

        smoothness = self.smoothness

        diameter = self.diameter

        base_std = self.base_std

        step_size = self.step_size

        gradient_std = self.gradient_std

        heterogeneity = self.heterogeneity

        smoothness_std = self.smoothness_std

        smoothness_heterogeneity = self.smoothness_heterogeneity

        optimum_gradient_norm = self.optimum_gradient_norm

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "clients": clients,
                "participants": participants,
                "rounds": rounds,
                "dimension": dimension,
                "lipschitz": lipschitz,
                "smoothness": smoothness,
                "diameter": diameter,
                "base_std": base_std,
                "step_size": step_size,
            }
        )
        if gradient_std is not UNSET:
            field_dict["gradient_std"] = gradient_std
        if heterogeneity is not UNSET:
            field_dict["heterogeneity"] = heterogeneity
        if smoothness_std is not UNSET:
            field_dict["smoothness_std"] = smoothness_std
        if smoothness_heterogeneity is not UNSET:
            field_dict["smoothness_heterogeneity"] = smoothness_heterogeneity
        if optimum_gradient_norm is not UNSET:
            field_dict["optimum_gradient_norm"] = optimum_gradient_norm

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        clients = d.pop("clients")

        participants = d.pop("participants")

        rounds = d.pop("rounds")

        dimension = d.pop("dimension")

        lipschitz = d.pop("lipschitz")

        smoothness = d.pop("smoothness")

        diameter = d.pop("diameter")

        base_std = d.pop("base_std")

        step_size = d.pop("step_size")

        gradient_std = d.pop("gradient_std", UNSET)

        heterogeneity = d.pop("heterogeneity", UNSET)

        smoothness_std = d.pop("smoothness_std", UNSET)

        smoothness_heterogeneity = d.pop("smoothness_heterogeneity", UNSET)

        optimum_gradient_norm = d.pop("optimum_gradient_norm", UNSET)

        certified_inputs = cls(
            clients=clients,
            participants=participants,
            rounds=rounds,
            dimension=dimension,
            lipschitz=lipschitz,
            smoothness=smoothness,
            diameter=diameter,
            base_std=base_std,
            step_size=step_size,
            gradient_std=gradient_std,
            heterogeneity=heterogeneity,
            smoothness_std=smoothness_std,
            smoothness_heterogeneity=smoothness_heterogeneity,
            optimum_gradient_norm=optimum_gradient_norm,
        )

        return certified_inputs
