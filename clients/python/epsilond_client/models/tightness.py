from enum import StrEnum


class Tightness(StrEnum):
    PROVED = "proved"
    UNKNOWN = "unknown"
    WITNESSED = "witnessed"

    def __str__(self) -> str:
        return str(self.value)
