from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.calibration import Calibration
    from ..models.caution import Caution
    from ..models.charge_answer import ChargeAnswer
    from ..models.json_object import JsonObject


T = TypeVar("T", bound="WithinAnswer")


@_attrs_define
class WithinAnswer:
    """A calibration of a run within the remaining budget of a ledger. Nothing was changed or reserved.

    Attributes:
        algorithm (str):
        request (JsonObject): any JSON object
        spec (JsonObject): any JSON object
        count (int): number of runs to reserve for the spec
        charge (ChargeAnswer): Cost of a job: a number of runs of a planned item, or amounts of a slot of the privacy
            budget.
        calibration (Calibration): The answer to a calibration: the parameters to run with, their certified guarantee,
            and its proof.
        slack (float | Unset): fraction of the noise. With so much less noise the ledger provably rejects the run.
            Absent if no such fraction is known
        warnings (list[Caution] | Unset): warnings; absent if there are none
    """

    algorithm: str
    request: JsonObject
    spec: JsonObject
    count: int
    charge: ChargeAnswer
    calibration: Calibration
    slack: float | Unset = UNSET
    warnings: list[Caution] | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        algorithm = self.algorithm

        request = self.request.to_dict()

        spec = self.spec.to_dict()

        count = self.count

        charge = self.charge.to_dict()

        calibration = self.calibration.to_dict()

        slack = self.slack

        warnings: list[dict[str, Any]] | Unset = UNSET
        if not isinstance(self.warnings, Unset):
            warnings = []
            for warnings_item_data in self.warnings:
                warnings_item = warnings_item_data.to_dict()
                warnings.append(warnings_item)

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "algorithm": algorithm,
                "request": request,
                "spec": spec,
                "count": count,
                "charge": charge,
                "calibration": calibration,
            }
        )
        if slack is not UNSET:
            field_dict["slack"] = slack
        if warnings is not UNSET:
            field_dict["warnings"] = warnings

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.calibration import Calibration
        from ..models.caution import Caution
        from ..models.charge_answer import ChargeAnswer
        from ..models.json_object import JsonObject

        d = dict(src_dict)
        algorithm = d.pop("algorithm")

        request = JsonObject.from_dict(d.pop("request"))

        spec = JsonObject.from_dict(d.pop("spec"))

        count = d.pop("count")

        charge = ChargeAnswer.from_dict(d.pop("charge"))

        calibration = Calibration.from_dict(d.pop("calibration"))

        slack = d.pop("slack", UNSET)

        _warnings = d.pop("warnings", UNSET)
        warnings: list[Caution] | Unset = UNSET
        if _warnings is not UNSET:
            warnings = []
            for warnings_item_data in _warnings:
                warnings_item = Caution.from_dict(warnings_item_data)

                warnings.append(warnings_item)

        within_answer = cls(
            algorithm=algorithm,
            request=request,
            spec=spec,
            count=count,
            charge=charge,
            calibration=calibration,
            slack=slack,
            warnings=warnings,
        )

        within_answer.additional_properties = d
        return within_answer

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
