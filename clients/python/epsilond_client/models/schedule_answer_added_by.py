from typing import Literal

ScheduleAnswerAddedBy = Literal["client", "server"]

SCHEDULE_ANSWER_ADDED_BY_VALUES: set[ScheduleAnswerAddedBy] = {
    "client",
    "server",
}


def check_schedule_answer_added_by(value: str) -> ScheduleAnswerAddedBy:
    if value in SCHEDULE_ANSWER_ADDED_BY_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {SCHEDULE_ANSWER_ADDED_BY_VALUES!r}")
