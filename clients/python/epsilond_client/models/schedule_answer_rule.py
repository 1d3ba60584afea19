from typing import Literal

ScheduleAnswerRule = Literal["base_std", "base_std * sqrt(participations)"]

SCHEDULE_ANSWER_RULE_VALUES: set[ScheduleAnswerRule] = {
    "base_std",
    "base_std * sqrt(participations)",
}


def check_schedule_answer_rule(value: str) -> ScheduleAnswerRule:
    if value in SCHEDULE_ANSWER_RULE_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {SCHEDULE_ANSWER_RULE_VALUES!r}")
