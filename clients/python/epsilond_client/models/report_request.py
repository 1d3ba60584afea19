from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar

from attrs import define as _attrs_define

from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.json_object import JsonObject


T = TypeVar("T", bound="ReportRequest")


@_attrs_define
class ReportRequest:
    """The question whose answer is reported, and the date of the report.

    Attributes:
        kind (str): kind of the answer that is reported: a calibration or an account
        request (JsonObject): any JSON object
        algorithm (str | Unset): algorithm of the calibration; absent for an account
        date (str | Unset): date printed on the report, YYYY-MM-DD; absent: no date
    """

    kind: str
    request: JsonObject
    algorithm: str | Unset = UNSET
    date: str | Unset = UNSET

    def to_dict(self) -> dict[str, Any]:
        kind = self.kind

        request = self.request.to_dict()

        algorithm = self.algorithm

        date = self.date

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "kind": kind,
                "request": request,
            }
        )
        if algorithm is not UNSET:
            field_dict["algorithm"] = algorithm
        if date is not UNSET:
            field_dict["date"] = date

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.json_object import JsonObject

        d = dict(src_dict)
        kind = d.pop("kind")

        request = JsonObject.from_dict(d.pop("request"))

        algorithm = d.pop("algorithm", UNSET)

        date = d.pop("date", UNSET)

        report_request = cls(
            kind=kind,
            request=request,
            algorithm=algorithm,
            date=date,
        )

        return report_request
