from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..models.frontier_run_risk_type_0_type_1 import (
    FrontierRunRiskType0Type1,
    check_frontier_run_risk_type_0_type_1,
)
from ..models.frontier_run_risk_type_1 import (
    FrontierRunRiskType1,
    check_frontier_run_risk_type_1,
)
from ..types import UNSET, Unset

T = TypeVar("T", bound="FrontierRun")


@_attrs_define
class FrontierRun:
    """A run beside the answer: no other run listed is at least as good in rounds, batch size and risk."""

    rounds: int
    batch_size: int
    risk: float | FrontierRunRiskType0Type1 | FrontierRunRiskType1
    """ explicit upper bound on the excess risk at noise_std """
    noise_std: float
    """ σ per coordinate, root mean square over clients; an estimate unless certified, and then not to be run with:
    calibrate at these rounds and this batch_size """
    certified: bool
    """ whether noise_std, and with it the risk, is certified to meet the target """
    chosen: bool
    """ whether it is the run that is answered """
    bits_per_client: int
    """ of a client that reports in every round """
    total_bits: int
    """ of all clients, at most """
    vacuous: bool | Unset = UNSET
    """ whether the bound is no better than the baseline, and so says nothing """
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        rounds = self.rounds

        batch_size = self.batch_size

        risk: float | str
        if isinstance(self.risk, str) or isinstance(self.risk, str):
            risk = self.risk
        else:
            risk = self.risk

        noise_std = self.noise_std

        certified = self.certified

        chosen = self.chosen

        bits_per_client = self.bits_per_client

        total_bits = self.total_bits

        vacuous = self.vacuous

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "rounds": rounds,
                "batch_size": batch_size,
                "risk": risk,
                "noise_std": noise_std,
                "certified": certified,
                "chosen": chosen,
                "bits_per_client": bits_per_client,
                "total_bits": total_bits,
            }
        )
        if vacuous is not UNSET:
            field_dict["vacuous"] = vacuous

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        rounds = d.pop("rounds")

        batch_size = d.pop("batch_size")

        def _parse_risk(data: object) -> float | FrontierRunRiskType0Type1 | FrontierRunRiskType1:
            try:
                if not isinstance(data, str):
                    raise TypeError()
                risk_type_0_type_1 = check_frontier_run_risk_type_0_type_1(data)

                return risk_type_0_type_1
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            try:
                if not isinstance(data, str):
                    raise TypeError()
                risk_type_1 = check_frontier_run_risk_type_1(data)

                return risk_type_1
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(float | FrontierRunRiskType0Type1 | FrontierRunRiskType1, data)

        risk = _parse_risk(d.pop("risk"))

        noise_std = d.pop("noise_std")

        certified = d.pop("certified")

        chosen = d.pop("chosen")

        bits_per_client = d.pop("bits_per_client")

        total_bits = d.pop("total_bits")

        vacuous = d.pop("vacuous", UNSET)

        frontier_run = cls(
            rounds=rounds,
            batch_size=batch_size,
            risk=risk,
            noise_std=noise_std,
            certified=certified,
            chosen=chosen,
            bits_per_client=bits_per_client,
            total_bits=total_bits,
            vacuous=vacuous,
        )

        frontier_run.additional_properties = d
        return frontier_run

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
