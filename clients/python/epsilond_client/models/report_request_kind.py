from typing import Literal

ReportRequestKind = Literal["account", "calibration"]

REPORT_REQUEST_KIND_VALUES: set[ReportRequestKind] = {
    "account",
    "calibration",
}


def check_report_request_kind(value: str) -> ReportRequestKind:
    if value in REPORT_REQUEST_KIND_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {REPORT_REQUEST_KIND_VALUES!r}")
