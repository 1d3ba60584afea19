from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.ends import Ends


T = TypeVar("T", bound="ClientReport")


@_attrs_define
class ClientReport:
    """The protection of clients that take part equally often. A report is the message of a client in one round.

    If participants are drawn uniformly, one answer is for a client that reports most often, another for an average one.

        Attributes:
            described (str): clients that are described. group: a group of the request. most: a client with the largest
                allowed number of reports. average: a client with the average number of reports
            clients (int): number of clients that are described; for `most` and `average` the number of all clients
            participations (int): number of rounds in which each of these clients reports
            gaussian_dp_mu (float): parameter μ of Gaussian differential privacy for each record of such a client, at the
                answer's noise, rounded up
            epsilon (Ends): A lower and an upper bound, between which the true value is.
            protected (list[str]):
            not_protected (list[str]):
            last_record_gaussian_dp_mu (float | Unset): parameter μ of Gaussian differential privacy for the record of the
                client's last report, which only the last noise protects. Absent with a trusted server
            whole_client_gaussian_dp_mu (float | Unset): parameter μ of Gaussian differential privacy if all records of the
                client change at once. The noise is not calibrated for it. Absent with a trusted server
            last_noise_std (float | Unset): standard deviation per coordinate of the noise of the client's last report,
                which stays in the server's sum. Absent with a trusted server
            least_noise_std (float | Unset): noise_std that would suffice if no client reported more often than these
                clients. Absent with a trusted server
            first_round (int | Unset): first round in which the client reports; absent unless the rounds of the reports are
                given
            last_round (int | Unset): last round in which the client reports; absent unless the rounds of the reports are
                given
            longest_gap (int | Unset): largest difference between the rounds of two consecutive reports of the client;
                absent unless the rounds of the reports are given
            uncancelled_rounds (int | Unset): number of rounds after the client's last report, in which its last noise stays
                in the sum. Absent with a trusted server, or unless the rounds are given
    """

    described: str
    clients: int
    participations: int
    gaussian_dp_mu: float
    epsilon: Ends
    protected: list[str]
    not_protected: list[str]
    last_record_gaussian_dp_mu: float | Unset = UNSET
    whole_client_gaussian_dp_mu: float | Unset = UNSET
    last_noise_std: float | Unset = UNSET
    least_noise_std: float | Unset = UNSET
    first_round: int | Unset = UNSET
    last_round: int | Unset = UNSET
    longest_gap: int | Unset = UNSET
    uncancelled_rounds: int | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        described = self.described

        clients = self.clients

        participations = self.participations

        gaussian_dp_mu = self.gaussian_dp_mu

        epsilon = self.epsilon.to_dict()

        protected = self.protected

        not_protected = self.not_protected

        last_record_gaussian_dp_mu = self.last_record_gaussian_dp_mu

        whole_client_gaussian_dp_mu = self.whole_client_gaussian_dp_mu

        last_noise_std = self.last_noise_std

        least_noise_std = self.least_noise_std

        first_round = self.first_round

        last_round = self.last_round

        longest_gap = self.longest_gap

        uncancelled_rounds = self.uncancelled_rounds

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "described": described,
                "clients": clients,
                "participations": participations,
                "gaussian_dp_mu": gaussian_dp_mu,
                "epsilon": epsilon,
                "protected": protected,
                "not_protected": not_protected,
            }
        )
        if last_record_gaussian_dp_mu is not UNSET:
            field_dict["last_record_gaussian_dp_mu"] = last_record_gaussian_dp_mu
        if whole_client_gaussian_dp_mu is not UNSET:
            field_dict["whole_client_gaussian_dp_mu"] = whole_client_gaussian_dp_mu
        if last_noise_std is not UNSET:
            field_dict["last_noise_std"] = last_noise_std
        if least_noise_std is not UNSET:
            field_dict["least_noise_std"] = least_noise_std
        if first_round is not UNSET:
            field_dict["first_round"] = first_round
        if last_round is not UNSET:
            field_dict["last_round"] = last_round
        if longest_gap is not UNSET:
            field_dict["longest_gap"] = longest_gap
        if uncancelled_rounds is not UNSET:
            field_dict["uncancelled_rounds"] = uncancelled_rounds

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.ends import Ends

        d = dict(src_dict)
        described = d.pop("described")

        clients = d.pop("clients")

        participations = d.pop("participations")

        gaussian_dp_mu = d.pop("gaussian_dp_mu")

        epsilon = Ends.from_dict(d.pop("epsilon"))

        protected = cast(list[str], d.pop("protected"))

        not_protected = cast(list[str], d.pop("not_protected"))

        last_record_gaussian_dp_mu = d.pop("last_record_gaussian_dp_mu", UNSET)

        whole_client_gaussian_dp_mu = d.pop("whole_client_gaussian_dp_mu", UNSET)

        last_noise_std = d.pop("last_noise_std", UNSET)

        least_noise_std = d.pop("least_noise_std", UNSET)

        first_round = d.pop("first_round", UNSET)

        last_round = d.pop("last_round", UNSET)

        longest_gap = d.pop("longest_gap", UNSET)

        uncancelled_rounds = d.pop("uncancelled_rounds", UNSET)

        client_report = cls(
            described=described,
            clients=clients,
            participations=participations,
            gaussian_dp_mu=gaussian_dp_mu,
            epsilon=epsilon,
            protected=protected,
            not_protected=not_protected,
            last_record_gaussian_dp_mu=last_record_gaussian_dp_mu,
            whole_client_gaussian_dp_mu=whole_client_gaussian_dp_mu,
            last_noise_std=last_noise_std,
            least_noise_std=least_noise_std,
            first_round=first_round,
            last_round=last_round,
            longest_gap=longest_gap,
            uncancelled_rounds=uncancelled_rounds,
        )

        client_report.additional_properties = d
        return client_report

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
