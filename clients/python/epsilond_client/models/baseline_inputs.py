from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar

from attrs import define as _attrs_define

T = TypeVar("T", bound="BaselineInputs")


@_attrs_define
class BaselineInputs:
    """Noisy SGD: each message a clipped gradient with noise N(0, (2G/ρ)²), one pass."""

    lipschitz: float
    """ bound on the ℓ2 norm of one record's gradient """
    diameter: float
    """ diameter of the domain """
    dimension: int
    """ coordinates of the model """
    participants: int
    """ clients that report in one round """
    rounds: int
    """ communication rounds """
    gaussian_dp_mu: float
    """ parameter of Gaussian differential privacy, √(2ρ) of zCDP's ρ; never the latter """

    def to_dict(self) -> dict[str, Any]:
        lipschitz = self.lipschitz

        diameter = self.diameter

        dimension = self.dimension

        participants = self.participants

        rounds = self.rounds

        gaussian_dp_mu = self.gaussian_dp_mu

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "lipschitz": lipschitz,
                "diameter": diameter,
                "dimension": dimension,
                "participants": participants,
                "rounds": rounds,
                "gaussian_dp_mu": gaussian_dp_mu,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        lipschitz = d.pop("lipschitz")

        diameter = d.pop("diameter")

        dimension = d.pop("dimension")

        participants = d.pop("participants")

        rounds = d.pop("rounds")

        gaussian_dp_mu = d.pop("gaussian_dp_mu")

        baseline_inputs = cls(
            lipschitz=lipschitz,
            diameter=diameter,
            dimension=dimension,
            participants=participants,
            rounds=rounds,
            gaussian_dp_mu=gaussian_dp_mu,
        )

        return baseline_inputs
