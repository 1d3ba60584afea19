from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar

from attrs import define as _attrs_define

from ..models.report_request_algorithm import (
    ReportRequestAlgorithm,
    check_report_request_algorithm,
)
from ..models.report_request_kind import ReportRequestKind, check_report_request_kind
from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.report_request_request import ReportRequestRequest


T = TypeVar("T", bound="ReportRequest")


@_attrs_define
class ReportRequest:
    """What the report is to be about."""

    kind: ReportRequestKind
    request: ReportRequestRequest
    """ the body that /v1/calibrations/{algorithm} or /v1/accounts would be sent """
    algorithm: ReportRequestAlgorithm | Unset = UNSET
    date: str | Unset = UNSET
    """ the date to stand on it, YYYY-MM-DD; absent: none """

    def to_dict(self) -> dict[str, Any]:
        kind: str = self.kind

        request = self.request.to_dict()

        algorithm: str | Unset = UNSET
        if not isinstance(self.algorithm, Unset):
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
        from ..models.report_request_request import ReportRequestRequest

        d = dict(src_dict)
        kind = check_report_request_kind(d.pop("kind"))

        request = ReportRequestRequest.from_dict(d.pop("request"))

        _algorithm = d.pop("algorithm", UNSET)
        algorithm: ReportRequestAlgorithm | Unset
        if isinstance(_algorithm, Unset):
            algorithm = UNSET
        else:
            algorithm = check_report_request_algorithm(_algorithm)

        date = d.pop("date", UNSET)

        report_request = cls(
            kind=kind,
            request=request,
            algorithm=algorithm,
            date=date,
        )

        return report_request
