from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..models.norm_fedavg_parameters_method import (
    NormFedavgParametersMethod,
    check_norm_fedavg_parameters_method,
)
from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.convergence_answer import ConvergenceAnswer


T = TypeVar("T", bound="NormFedavgParameters")


@_attrs_define
class NormFedavgParameters:
    """What to run with, per round."""

    noise_levels: int
    """ m: the largest absolute value of the integer noise """
    decay_rate: float
    """ α: the noise is y with probability proportional to e^(−α|y|) """
    noise_std: float
    """ standard deviation of the noise per coordinate, in units of the update """
    variance: float
    """ variance of the noise per coordinate, in squared units of the update """
    mean_squared_error: float
    """ of one message, rounding and noise together """
    quantization_levels: int
    """ s: grid steps per unit """
    method: NormFedavgParametersMethod
    l1_sensitivity: float
    """ Δ₁ in grid steps, as that proof uses it """
    linf_sensitivity: float
    """ Δ∞ in grid steps """
    rounds: int
    """ communication rounds K """
    participants: int
    """ clients of one round, r """
    local_steps: int
    """ full gradient steps of a client per round, E """
    local_step_size: float
    """ the clients' step η """
    server_step_size: float
    """ the server's step β, times the mean of the messages """
    compression: float
    """ γ: the mean squared error of one message """
    convergence: ConvergenceAnswer
    """ Bounds on the gradient norm of the clients' mean loss, in loss/length; none above what the start itself has.
    """
    l2_sensitivity: float | Unset = UNSET
    """ Δ₂ in grid steps """
    log10_failure_delta: float | Unset = UNSET
    """ log10 of the share of δ, in each round, that the rounding may move further """
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        noise_levels = self.noise_levels

        decay_rate = self.decay_rate

        noise_std = self.noise_std

        variance = self.variance

        mean_squared_error = self.mean_squared_error

        quantization_levels = self.quantization_levels

        method: str = self.method

        l1_sensitivity = self.l1_sensitivity

        linf_sensitivity = self.linf_sensitivity

        rounds = self.rounds

        participants = self.participants

        local_steps = self.local_steps

        local_step_size = self.local_step_size

        server_step_size = self.server_step_size

        compression = self.compression

        convergence = self.convergence.to_dict()

        l2_sensitivity = self.l2_sensitivity

        log10_failure_delta = self.log10_failure_delta

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "noise_levels": noise_levels,
                "decay_rate": decay_rate,
                "noise_std": noise_std,
                "variance": variance,
                "mean_squared_error": mean_squared_error,
                "quantization_levels": quantization_levels,
                "method": method,
                "l1_sensitivity": l1_sensitivity,
                "linf_sensitivity": linf_sensitivity,
                "rounds": rounds,
                "participants": participants,
                "local_steps": local_steps,
                "local_step_size": local_step_size,
                "server_step_size": server_step_size,
                "compression": compression,
                "convergence": convergence,
            }
        )
        if l2_sensitivity is not UNSET:
            field_dict["l2_sensitivity"] = l2_sensitivity
        if log10_failure_delta is not UNSET:
            field_dict["log10_failure_delta"] = log10_failure_delta

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.convergence_answer import ConvergenceAnswer

        d = dict(src_dict)
        noise_levels = d.pop("noise_levels")

        decay_rate = d.pop("decay_rate")

        noise_std = d.pop("noise_std")

        variance = d.pop("variance")

        mean_squared_error = d.pop("mean_squared_error")

        quantization_levels = d.pop("quantization_levels")

        method = check_norm_fedavg_parameters_method(d.pop("method"))

        l1_sensitivity = d.pop("l1_sensitivity")

        linf_sensitivity = d.pop("linf_sensitivity")

        rounds = d.pop("rounds")

        participants = d.pop("participants")

        local_steps = d.pop("local_steps")

        local_step_size = d.pop("local_step_size")

        server_step_size = d.pop("server_step_size")

        compression = d.pop("compression")

        convergence = ConvergenceAnswer.from_dict(d.pop("convergence"))

        l2_sensitivity = d.pop("l2_sensitivity", UNSET)

        log10_failure_delta = d.pop("log10_failure_delta", UNSET)

        norm_fedavg_parameters = cls(
            noise_levels=noise_levels,
            decay_rate=decay_rate,
            noise_std=noise_std,
            variance=variance,
            mean_squared_error=mean_squared_error,
            quantization_levels=quantization_levels,
            method=method,
            l1_sensitivity=l1_sensitivity,
            linf_sensitivity=linf_sensitivity,
            rounds=rounds,
            participants=participants,
            local_steps=local_steps,
            local_step_size=local_step_size,
            server_step_size=server_step_size,
            compression=compression,
            convergence=convergence,
            l2_sensitivity=l2_sensitivity,
            log10_failure_delta=log10_failure_delta,
        )

        norm_fedavg_parameters.additional_properties = d
        return norm_fedavg_parameters

    @property
    def additional_keys(self) -> list[str]:
        return list(self.additional_properties.keys())

    def __getitem__(self, key: str) -> Any:
        return self.additional_properties[key]

    def __setitem__(self, key: str, value: Any) -> None:
        self.additional_properties[key] = value

    def __delitem__(self, key: str) -> None:
        del self.additional_properties[key]

    def __contains__(self, key: str) -> bool:
        return key in self.additional_properties
