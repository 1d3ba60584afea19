from enum import StrEnum


class Unbounded(StrEnum):
    UNBOUNDED = "unbounded"
    VALUE_1 = "-unbounded"

    def __str__(self) -> str:
        return str(self.value)
