from typing import Literal

ClientReportDescribed = Literal["average", "group", "most"]

CLIENT_REPORT_DESCRIBED_VALUES: set[ClientReportDescribed] = {
    "average",
    "group",
    "most",
}


def check_client_report_described(value: str) -> ClientReportDescribed:
    if value in CLIENT_REPORT_DESCRIBED_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {CLIENT_REPORT_DESCRIBED_VALUES!r}")
