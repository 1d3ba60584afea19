from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar

from attrs import define as _attrs_define

from ..types import UNSET, Unset

T = TypeVar("T", bound="ConvexDescentInputs")


@_attrs_define
class ConvexDescentInputs:
    """Algorithm 1 on a convex empirical loss, equal clients; gradient statistics on the data at hand."""

    initial_distance: float
    """ bound on the distance from the start to a minimiser """
    step_size: float
    """ step size """
    rounds: int
    """ communication rounds """
    clients: int
    """ clients in the federation """
    participants: int
    """ clients that report in one round """
    batch_size: int
    """ records of one client per round """
    dimension: int
    """ coordinates of the model """
    smoothness: float
    """ Lipschitz constant of the gradient """
    noise_std: float
    """ standard deviation per coordinate of the Gaussian noise added to what is sent """
    empirical_gradient_std: float
    """ root mean square over all records of |∇f − ∇F̂| on the data at hand, at its largest over the domain """
    empirical_heterogeneity: float | Unset = 0.0
    """ root mean square over clients of |∇F̂_i − ∇F̂| on the data at hand, at its largest over the domain """

    def to_dict(self) -> dict[str, Any]:
        initial_distance = self.initial_distance

        step_size = self.step_size

        rounds = self.rounds

        clients = self.clients

        participants = self.participants

        batch_size = self.batch_size

        dimension = self.dimension

        smoothness = self.smoothness

        noise_std = self.noise_std

        empirical_gradient_std = self.empirical_gradient_std

        empirical_heterogeneity = self.empirical_heterogeneity

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "initial_distance": initial_distance,
                "step_size": step_size,
                "rounds": rounds,
                "clients": clients,
                "participants": participants,
                "batch_size": batch_size,
                "dimension": dimension,
                "smoothness": smoothness,
                "noise_std": noise_std,
                "empirical_gradient_std": empirical_gradient_std,
            }
        )
        if empirical_heterogeneity is not UNSET:
            field_dict["empirical_heterogeneity"] = empirical_heterogeneity

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        initial_distance = d.pop("initial_distance")

        step_size = d.pop("step_size")

        rounds = d.pop("rounds")

        clients = d.pop("clients")

        participants = d.pop("participants")

        batch_size = d.pop("batch_size")

        dimension = d.pop("dimension")

        smoothness = d.pop("smoothness")

        noise_std = d.pop("noise_std")

        empirical_gradient_std = d.pop("empirical_gradient_std")

        empirical_heterogeneity = d.pop("empirical_heterogeneity", UNSET)

        convex_descent_inputs = cls(
            initial_distance=initial_distance,
            step_size=step_size,
            rounds=rounds,
            clients=clients,
            participants=participants,
            batch_size=batch_size,
            dimension=dimension,
            smoothness=smoothness,
            noise_std=noise_std,
            empirical_gradient_std=empirical_gradient_std,
            empirical_heterogeneity=empirical_heterogeneity,
        )

        return convex_descent_inputs
