from typing import Literal

Status = Literal["proved", "refuted", "unproved"]

STATUS_VALUES: set[Status] = {
    "proved",
    "refuted",
    "unproved",
}


def check_status(value: str) -> Status:
    if value in STATUS_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {STATUS_VALUES!r}")
