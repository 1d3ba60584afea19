from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..models.objective import Objective
from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.baseline import Baseline


T = TypeVar("T", bound="PrintedClaims")


@_attrs_define
class PrintedClaims:
    """What a printed theorem claims in all readings (interpretations) of this entry: ε, δ and the excess risk.

    Claims that repeat the rest of the answer are left out.

        Attributes:
            epsilon (float | Unset): ε that the statement claims; absent where it claims the target
            delta (float | Unset): δ that the statement claims; absent where it claims the target, or if δ is too small for
                a double
            log10_delta (float | Unset): base-10 logarithm of the δ that the statement claims; absent where it claims the
                target
            excess_risk (float | Unset): bound on the excess risk that the statement claims; absent if it claims none
            vacuous (bool | Unset): true: the bound is not below the baseline and carries no information
            objective (Objective | Unset):
            baseline (Baseline | Unset): A bound on the risk of the initial model, before any training, to compare other
                bounds with.
    """

    epsilon: float | Unset = UNSET
    delta: float | Unset = UNSET
    log10_delta: float | Unset = UNSET
    excess_risk: float | Unset = UNSET
    vacuous: bool | Unset = UNSET
    objective: Objective | Unset = UNSET
    baseline: Baseline | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        epsilon = self.epsilon

        delta = self.delta

        log10_delta = self.log10_delta

        excess_risk = self.excess_risk

        vacuous = self.vacuous

        objective: str | Unset = UNSET
        if not isinstance(self.objective, Unset):
            objective = self.objective.value

        baseline: dict[str, Any] | Unset = UNSET
        if not isinstance(self.baseline, Unset):
            baseline = self.baseline.to_dict()

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update({})
        if epsilon is not UNSET:
            field_dict["epsilon"] = epsilon
        if delta is not UNSET:
            field_dict["delta"] = delta
        if log10_delta is not UNSET:
            field_dict["log10_delta"] = log10_delta
        if excess_risk is not UNSET:
            field_dict["excess_risk"] = excess_risk
        if vacuous is not UNSET:
            field_dict["vacuous"] = vacuous
        if objective is not UNSET:
            field_dict["objective"] = objective
        if baseline is not UNSET:
            field_dict["baseline"] = baseline

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.baseline import Baseline

        d = dict(src_dict)
        epsilon = d.pop("epsilon", UNSET)

        delta = d.pop("delta", UNSET)

        log10_delta = d.pop("log10_delta", UNSET)

        excess_risk = d.pop("excess_risk", UNSET)

        vacuous = d.pop("vacuous", UNSET)

        _objective = d.pop("objective", UNSET)
        objective: Objective | Unset
        if isinstance(_objective, Unset):
            objective = UNSET
        else:
            objective = Objective(_objective)

        _baseline = d.pop("baseline", UNSET)
        baseline: Baseline | Unset
        if isinstance(_baseline, Unset):
            baseline = UNSET
        else:
            baseline = Baseline.from_dict(_baseline)

        printed_claims = cls(
            epsilon=epsilon,
            delta=delta,
            log10_delta=log10_delta,
            excess_risk=excess_risk,
            vacuous=vacuous,
            objective=objective,
            baseline=baseline,
        )

        printed_claims.additional_properties = d
        return printed_claims

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
