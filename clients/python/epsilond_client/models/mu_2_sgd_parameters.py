from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.client_report import ClientReport
    from ..models.conversion_answer import ConversionAnswer
    from ..models.schedule_answer import ScheduleAnswer


T = TypeVar("T", bound="Mu2SgdParameters")


@_attrs_define
class Mu2SgdParameters:
    """What to run with. Weights are those of Algorithm 1: α_t = t, and x_{t+1} is 2/(t + 2) of the way to w_{t+1}."""

    noise_std: float
    """ σ per coordinate of a client's first report; trusted: of each round's mean """
    noise_multiplier: float
    """ σ over the norm bound of one record's contribution to what it is added to """
    schedule: ScheduleAnswer
    """ The noise of every report, as a rule. """
    gaussian_dp_mu: float
    """ ρ of the most exposed record, rounded up """
    clipping_norm: float
    """ S = G + 2LD: a client scales s down to this norm before adding noise """
    rounds: int
    residual_noise_std: float
    """ σ per coordinate of the noise left in the server's mean after the last round, root mean square """
    conversion: ConversionAnswer
    """ ρ for the target and ε at the answer's ρ, three ways, and the noise that exactness saves. """
    client_reports: list[ClientReport]
    """ what each kind of client is and is not protected from """
    step_size: float | Unset = UNSET
    """ η; absent where no risk bound applies """
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        noise_std = self.noise_std

        noise_multiplier = self.noise_multiplier

        schedule = self.schedule.to_dict()

        gaussian_dp_mu = self.gaussian_dp_mu

        clipping_norm = self.clipping_norm

        rounds = self.rounds

        residual_noise_std = self.residual_noise_std

        conversion = self.conversion.to_dict()

        client_reports = []
        for client_reports_item_data in self.client_reports:
            client_reports_item = client_reports_item_data.to_dict()
            client_reports.append(client_reports_item)

        step_size = self.step_size

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "noise_std": noise_std,
                "noise_multiplier": noise_multiplier,
                "schedule": schedule,
                "gaussian_dp_mu": gaussian_dp_mu,
                "clipping_norm": clipping_norm,
                "rounds": rounds,
                "residual_noise_std": residual_noise_std,
                "conversion": conversion,
                "client_reports": client_reports,
            }
        )
        if step_size is not UNSET:
            field_dict["step_size"] = step_size

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.client_report import ClientReport
        from ..models.conversion_answer import ConversionAnswer
        from ..models.schedule_answer import ScheduleAnswer

        d = dict(src_dict)
        noise_std = d.pop("noise_std")

        noise_multiplier = d.pop("noise_multiplier")

        schedule = ScheduleAnswer.from_dict(d.pop("schedule"))

        gaussian_dp_mu = d.pop("gaussian_dp_mu")

        clipping_norm = d.pop("clipping_norm")

        rounds = d.pop("rounds")

        residual_noise_std = d.pop("residual_noise_std")

        conversion = ConversionAnswer.from_dict(d.pop("conversion"))

        client_reports = []
        _client_reports = d.pop("client_reports")
        for client_reports_item_data in _client_reports:
            client_reports_item = ClientReport.from_dict(client_reports_item_data)

            client_reports.append(client_reports_item)

        step_size = d.pop("step_size", UNSET)

        mu_2_sgd_parameters = cls(
            noise_std=noise_std,
            noise_multiplier=noise_multiplier,
            schedule=schedule,
            gaussian_dp_mu=gaussian_dp_mu,
            clipping_norm=clipping_norm,
            rounds=rounds,
            residual_noise_std=residual_noise_std,
            conversion=conversion,
            client_reports=client_reports,
            step_size=step_size,
        )

        mu_2_sgd_parameters.additional_properties = d
        return mu_2_sgd_parameters

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
