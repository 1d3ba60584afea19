from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..models.claims_objective import ClaimsObjective, check_claims_objective
from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.baseline import Baseline


T = TypeVar("T", bound="Claims")


@_attrs_define
class Claims:
    """What the printed statement promises at its parameters. The last three stand where it claims a risk."""

    epsilon: float
    log10_delta: float
    delta: float | Unset = UNSET
    """ absent where it is below every double """
    excess_risk: float | Unset = UNSET
    """ excess-risk bound the statement claims """
    objective: ClaimsObjective | Unset = UNSET
    baseline: Baseline | Unset = UNSET
    """ What doing nothing gives: a bound that holds for the start itself, before any training. """
    vacuous: bool | Unset = UNSET
    """ whether the bound is no better than the baseline, and so says nothing """
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        epsilon = self.epsilon

        log10_delta = self.log10_delta

        delta = self.delta

        excess_risk = self.excess_risk

        objective: str | Unset = UNSET
        if not isinstance(self.objective, Unset):
            objective = self.objective

        baseline: dict[str, Any] | Unset = UNSET
        if not isinstance(self.baseline, Unset):
            baseline = self.baseline.to_dict()

        vacuous = self.vacuous

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "epsilon": epsilon,
                "log10_delta": log10_delta,
            }
        )
        if delta is not UNSET:
            field_dict["delta"] = delta
        if excess_risk is not UNSET:
            field_dict["excess_risk"] = excess_risk
        if objective is not UNSET:
            field_dict["objective"] = objective
        if baseline is not UNSET:
            field_dict["baseline"] = baseline
        if vacuous is not UNSET:
            field_dict["vacuous"] = vacuous

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.baseline import Baseline

        d = dict(src_dict)
        epsilon = d.pop("epsilon")

        log10_delta = d.pop("log10_delta")

        delta = d.pop("delta", UNSET)

        excess_risk = d.pop("excess_risk", UNSET)

        _objective = d.pop("objective", UNSET)
        objective: ClaimsObjective | Unset
        if isinstance(_objective, Unset):
            objective = UNSET
        else:
            objective = check_claims_objective(_objective)

        _baseline = d.pop("baseline", UNSET)
        baseline: Baseline | Unset
        if isinstance(_baseline, Unset):
            baseline = UNSET
        else:
            baseline = Baseline.from_dict(_baseline)

        vacuous = d.pop("vacuous", UNSET)

        claims = cls(
            epsilon=epsilon,
            log10_delta=log10_delta,
            delta=delta,
            excess_risk=excess_risk,
            objective=objective,
            baseline=baseline,
            vacuous=vacuous,
        )

        claims.additional_properties = d
        return claims

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
