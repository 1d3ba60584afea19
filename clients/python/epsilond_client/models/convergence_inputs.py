from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar

from attrs import define as _attrs_define

from ..types import UNSET, Unset

T = TypeVar("T", bound="ConvergenceInputs")


@_attrs_define
class ConvergenceInputs:
    """A run of DP-NormFedAvg. Absent: β/η as printed. γ = 0 is NormFedAvg, without rounding and noise."""

    smoothness: float
    """ Lipschitz constant of the gradient """
    quasar_convexity: float
    """ quasar-convexity of every client's loss, 1 if convex """
    initial_distance: float
    """ bound on the distance from the start to a minimiser """
    rounds: int
    """ communication rounds """
    local_steps: int
    """ gradient steps of one client per round """
    participants: int
    """ clients that report in one round """
    client_optimum_distance: float | Unset = 0.0
    """ distance of a client's own minimiser from the common one """
    step_ratio: float | Unset = UNSET
    """ step of the server over the clients' step """
    compression: float | Unset = 0.0
    """ mean squared error of one client's message """

    def to_dict(self) -> dict[str, Any]:
        smoothness = self.smoothness

        quasar_convexity = self.quasar_convexity

        initial_distance = self.initial_distance

        rounds = self.rounds

        local_steps = self.local_steps

        participants = self.participants

        client_optimum_distance = self.client_optimum_distance

        step_ratio = self.step_ratio

        compression = self.compression

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "smoothness": smoothness,
                "quasar_convexity": quasar_convexity,
                "initial_distance": initial_distance,
                "rounds": rounds,
                "local_steps": local_steps,
                "participants": participants,
            }
        )
        if client_optimum_distance is not UNSET:
            field_dict["client_optimum_distance"] = client_optimum_distance
        if step_ratio is not UNSET:
            field_dict["step_ratio"] = step_ratio
        if compression is not UNSET:
            field_dict["compression"] = compression

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        smoothness = d.pop("smoothness")

        quasar_convexity = d.pop("quasar_convexity")

        initial_distance = d.pop("initial_distance")

        rounds = d.pop("rounds")

        local_steps = d.pop("local_steps")

        participants = d.pop("participants")

        client_optimum_distance = d.pop("client_optimum_distance", UNSET)

        step_ratio = d.pop("step_ratio", UNSET)

        compression = d.pop("compression", UNSET)

        convergence_inputs = cls(
            smoothness=smoothness,
            quasar_convexity=quasar_convexity,
            initial_distance=initial_distance,
            rounds=rounds,
            local_steps=local_steps,
            participants=participants,
            client_optimum_distance=client_optimum_distance,
            step_ratio=step_ratio,
            compression=compression,
        )

        return convergence_inputs
