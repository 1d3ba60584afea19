from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..models.objective import Objective
from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.baseline import Baseline
    from ..models.prescribed_risk import PrescribedRisk
    from ..models.risk_bound import RiskBound


T = TypeVar("T", bound="Risk")


@_attrs_define
class Risk:
    """Bounds on the excess risk of the run, its objective, and a bound for the initial model for comparison.

    Attributes:
        objective (Objective | Unset):
        baseline (Baseline | Unset): A bound on the risk of the initial model, before any training, to compare other
            bounds with.
        upper (RiskBound | Unset): An upper or lower bound on the excess risk by `theorem`, with the `terms` that it
            consists of. If `constant` is `hidden`, the theorem leaves a constant factor open, and the bound is only an
            order of growth.
        lower (RiskBound | Unset): An upper or lower bound on the excess risk by `theorem`, with the `terms` that it
            consists of. If `constant` is `hidden`, the theorem leaves a constant factor open, and the bound is only an
            order of growth.
        declared_conditions (list[str] | Unset): ids of conditions of the risk bound, beyond those of the guarantee,
            that the service cannot check. GET /v1/theorems/{theorem} has the statement of each
        as_prescribed (PrescribedRisk | Unset): A bound on the excess risk of the run that a theorem prescribes, with
            the theorem's known errors corrected.

            The prescribed run has the batch size of the answer.
    """

    objective: Objective | Unset = UNSET
    baseline: Baseline | Unset = UNSET
    upper: RiskBound | Unset = UNSET
    lower: RiskBound | Unset = UNSET
    declared_conditions: list[str] | Unset = UNSET
    as_prescribed: PrescribedRisk | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        objective: str | Unset = UNSET
        if not isinstance(self.objective, Unset):
            objective = self.objective.value

        baseline: dict[str, Any] | Unset = UNSET
        if not isinstance(self.baseline, Unset):
            baseline = self.baseline.to_dict()

        upper: dict[str, Any] | Unset = UNSET
        if not isinstance(self.upper, Unset):
            upper = self.upper.to_dict()

        lower: dict[str, Any] | Unset = UNSET
        if not isinstance(self.lower, Unset):
            lower = self.lower.to_dict()

        declared_conditions: list[str] | Unset = UNSET
        if not isinstance(self.declared_conditions, Unset):
            declared_conditions = self.declared_conditions

        as_prescribed: dict[str, Any] | Unset = UNSET
        if not isinstance(self.as_prescribed, Unset):
            as_prescribed = self.as_prescribed.to_dict()

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update({})
        if objective is not UNSET:
            field_dict["objective"] = objective
        if baseline is not UNSET:
            field_dict["baseline"] = baseline
        if upper is not UNSET:
            field_dict["upper"] = upper
        if lower is not UNSET:
            field_dict["lower"] = lower
        if declared_conditions is not UNSET:
            field_dict["declared_conditions"] = declared_conditions
        if as_prescribed is not UNSET:
            field_dict["as_prescribed"] = as_prescribed

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.baseline import Baseline
        from ..models.prescribed_risk import PrescribedRisk
        from ..models.risk_bound import RiskBound

        d = dict(src_dict)
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

        _upper = d.pop("upper", UNSET)
        upper: RiskBound | Unset
        if isinstance(_upper, Unset):
            upper = UNSET
        else:
            upper = RiskBound.from_dict(_upper)

        _lower = d.pop("lower", UNSET)
        lower: RiskBound | Unset
        if isinstance(_lower, Unset):
            lower = UNSET
        else:
            lower = RiskBound.from_dict(_lower)

        declared_conditions = cast(list[str], d.pop("declared_conditions", UNSET))

        _as_prescribed = d.pop("as_prescribed", UNSET)
        as_prescribed: PrescribedRisk | Unset
        if isinstance(_as_prescribed, Unset):
            as_prescribed = UNSET
        else:
            as_prescribed = PrescribedRisk.from_dict(_as_prescribed)

        risk = cls(
            objective=objective,
            baseline=baseline,
            upper=upper,
            lower=lower,
            declared_conditions=declared_conditions,
            as_prescribed=as_prescribed,
        )

        risk.additional_properties = d
        return risk

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
