from enum import StrEnum


class ScheduleKind(StrEnum):
    CONSTANT = "constant"
    EXPLICIT = "explicit"
    INVERSE_TIME = "inverse-time"

    def __str__(self) -> str:
        return str(self.value)
