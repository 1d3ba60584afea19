from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..models.unbounded import Unbounded
from ..types import UNSET, Unset

T = TypeVar("T", bound="RunChoice")


@_attrs_define
class RunChoice:
    """A run with another number of rounds or batch size, with its noise, its risk and its traffic.

    Attributes:
        rounds (int):
        total_bits (int): Depends on the object:

            - largest possible number of bits that all clients together send
            - number of bits that all clients together send during the run
            - number of bits that all clients together send during the run; the expected number if the number of
            participants is random
        batch_size (int | Unset): number of records that a client uses in one round; absent if the algorithm does not
            choose it
        risk (float | Unbounded | Unset): a number; "unbounded" or "-unbounded" if it is infinite
        vacuous (bool | Unset): true: the bound is not below the baseline and carries no information
        noise_std (float | Unset): standard deviation of the noise per coordinate, root mean square over clients. If
            certified is false, it is an estimate: before such a run, calibrate at these rounds and this batch_size
        certified (bool | Unset): Depends on the object:

            - whether noise_std provably meets the target. If not, noise_std and risk are estimates
            - true: the noise of this run is certified to meet the target. false: it is an estimate
        chosen (bool | Unset): Depends on the object:

            - whether parameters of the answer describe this run
            - whether this is the run of the recommended entry
            - whether this is the run that the parameters of the answer describe
        bits_per_client (int | Unset): number of bits that a client sends if it takes part in every round
        total_bits_exact (str | Unset): total_bits with all its digits, as a decimal string; absent unless total_bits is
            2^53 or more
        remaining_share (float | Unbounded | Unset): a number; "unbounded" or "-unbounded" if it is infinite
        noise_to_signal (float | Unset): norm of the noise in the mean of one round, divided by a bound on the norm of
            the mean; absent if it is not known
        bytes_per_client (float | Unset): number of bytes that one client sends during the run; the expected number if
            clients are drawn at random
        noise_multiplier (float | Unset): noise multiplier of the sum of updates: standard deviation of its noise per
            coordinate, divided by clipping_norm
        noise_std_of_mean (float | Unset): standard deviation per coordinate of the noise in the mean of a round
        noise_norm_of_mean (float | Unset): norm of the noise in the mean of a round: noise_std_of_mean times the root
            of dimension. Compare it with clipping_norm
        reports_per_client (float | Unset): number of rounds in which one client takes part; the expected number if
            clients are drawn at random
    """

    rounds: int
    total_bits: int
    batch_size: int | Unset = UNSET
    risk: float | Unbounded | Unset = UNSET
    vacuous: bool | Unset = UNSET
    noise_std: float | Unset = UNSET
    certified: bool | Unset = UNSET
    chosen: bool | Unset = UNSET
    bits_per_client: int | Unset = UNSET
    total_bits_exact: str | Unset = UNSET
    remaining_share: float | Unbounded | Unset = UNSET
    noise_to_signal: float | Unset = UNSET
    bytes_per_client: float | Unset = UNSET
    noise_multiplier: float | Unset = UNSET
    noise_std_of_mean: float | Unset = UNSET
    noise_norm_of_mean: float | Unset = UNSET
    reports_per_client: float | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        rounds = self.rounds

        total_bits = self.total_bits

        batch_size = self.batch_size

        risk: float | str | Unset
        if isinstance(self.risk, Unset):
            risk = UNSET
        elif isinstance(self.risk, Unbounded):
            risk = self.risk.value
        else:
            risk = self.risk

        vacuous = self.vacuous

        noise_std = self.noise_std

        certified = self.certified

        chosen = self.chosen

        bits_per_client = self.bits_per_client

        total_bits_exact = self.total_bits_exact

        remaining_share: float | str | Unset
        if isinstance(self.remaining_share, Unset):
            remaining_share = UNSET
        elif isinstance(self.remaining_share, Unbounded):
            remaining_share = self.remaining_share.value
        else:
            remaining_share = self.remaining_share

        noise_to_signal = self.noise_to_signal

        bytes_per_client = self.bytes_per_client

        noise_multiplier = self.noise_multiplier

        noise_std_of_mean = self.noise_std_of_mean

        noise_norm_of_mean = self.noise_norm_of_mean

        reports_per_client = self.reports_per_client

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "rounds": rounds,
                "total_bits": total_bits,
            }
        )
        if batch_size is not UNSET:
            field_dict["batch_size"] = batch_size
        if risk is not UNSET:
            field_dict["risk"] = risk
        if vacuous is not UNSET:
            field_dict["vacuous"] = vacuous
        if noise_std is not UNSET:
            field_dict["noise_std"] = noise_std
        if certified is not UNSET:
            field_dict["certified"] = certified
        if chosen is not UNSET:
            field_dict["chosen"] = chosen
        if bits_per_client is not UNSET:
            field_dict["bits_per_client"] = bits_per_client
        if total_bits_exact is not UNSET:
            field_dict["total_bits_exact"] = total_bits_exact
        if remaining_share is not UNSET:
            field_dict["remaining_share"] = remaining_share
        if noise_to_signal is not UNSET:
            field_dict["noise_to_signal"] = noise_to_signal
        if bytes_per_client is not UNSET:
            field_dict["bytes_per_client"] = bytes_per_client
        if noise_multiplier is not UNSET:
            field_dict["noise_multiplier"] = noise_multiplier
        if noise_std_of_mean is not UNSET:
            field_dict["noise_std_of_mean"] = noise_std_of_mean
        if noise_norm_of_mean is not UNSET:
            field_dict["noise_norm_of_mean"] = noise_norm_of_mean
        if reports_per_client is not UNSET:
            field_dict["reports_per_client"] = reports_per_client

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        rounds = d.pop("rounds")

        total_bits = d.pop("total_bits")

        batch_size = d.pop("batch_size", UNSET)

        def _parse_risk(data: object) -> float | Unbounded | Unset:
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, str):
                    raise TypeError()
                componentsschemas_figure_type_1 = Unbounded(data)

                return componentsschemas_figure_type_1
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(float | Unbounded | Unset, data)

        risk = _parse_risk(d.pop("risk", UNSET))

        vacuous = d.pop("vacuous", UNSET)

        noise_std = d.pop("noise_std", UNSET)

        certified = d.pop("certified", UNSET)

        chosen = d.pop("chosen", UNSET)

        bits_per_client = d.pop("bits_per_client", UNSET)

        total_bits_exact = d.pop("total_bits_exact", UNSET)

        def _parse_remaining_share(data: object) -> float | Unbounded | Unset:
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, str):
                    raise TypeError()
                componentsschemas_figure_type_1 = Unbounded(data)

                return componentsschemas_figure_type_1
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(float | Unbounded | Unset, data)

        remaining_share = _parse_remaining_share(d.pop("remaining_share", UNSET))

        noise_to_signal = d.pop("noise_to_signal", UNSET)

        bytes_per_client = d.pop("bytes_per_client", UNSET)

        noise_multiplier = d.pop("noise_multiplier", UNSET)

        noise_std_of_mean = d.pop("noise_std_of_mean", UNSET)

        noise_norm_of_mean = d.pop("noise_norm_of_mean", UNSET)

        reports_per_client = d.pop("reports_per_client", UNSET)

        run_choice = cls(
            rounds=rounds,
            total_bits=total_bits,
            batch_size=batch_size,
            risk=risk,
            vacuous=vacuous,
            noise_std=noise_std,
            certified=certified,
            chosen=chosen,
            bits_per_client=bits_per_client,
            total_bits_exact=total_bits_exact,
            remaining_share=remaining_share,
            noise_to_signal=noise_to_signal,
            bytes_per_client=bytes_per_client,
            noise_multiplier=noise_multiplier,
            noise_std_of_mean=noise_std_of_mean,
            noise_norm_of_mean=noise_norm_of_mean,
            reports_per_client=reports_per_client,
        )

        run_choice.additional_properties = d
        return run_choice

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
