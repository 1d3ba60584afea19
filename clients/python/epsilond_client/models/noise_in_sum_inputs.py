from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar

from attrs import define as _attrs_define

T = TypeVar("T", bound="NoiseInSumInputs")


@_attrs_define
class NoiseInSumInputs:
    """The schedule of Theorem 5.2 for a ρ, after t of T rounds."""

    clipping_norm: float
    """ bound on the ℓ2 norm of one weighted gradient difference s """
    gaussian_dp_mu: float
    """ parameter of Gaussian differential privacy, √(2ρ) of zCDP's ρ; never the latter """
    rounds: int
    """ communication rounds """
    round_: int
    """ communication rounds """
    dimension: int
    """ coordinates of the model """
    participants: int
    """ clients that report in one round """

    def to_dict(self) -> dict[str, Any]:
        clipping_norm = self.clipping_norm

        gaussian_dp_mu = self.gaussian_dp_mu

        rounds = self.rounds

        round_ = self.round_

        dimension = self.dimension

        participants = self.participants

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "clipping_norm": clipping_norm,
                "gaussian_dp_mu": gaussian_dp_mu,
                "rounds": rounds,
                "round": round_,
                "dimension": dimension,
                "participants": participants,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        clipping_norm = d.pop("clipping_norm")

        gaussian_dp_mu = d.pop("gaussian_dp_mu")

        rounds = d.pop("rounds")

        round_ = d.pop("round")

        dimension = d.pop("dimension")

        participants = d.pop("participants")

        noise_in_sum_inputs = cls(
            clipping_norm=clipping_norm,
            gaussian_dp_mu=gaussian_dp_mu,
            rounds=rounds,
            round_=round_,
            dimension=dimension,
            participants=participants,
        )

        return noise_in_sum_inputs
