from enum import StrEnum


class Status(StrEnum):
    PROVED = "proved"
    REFUTED = "refuted"
    UNPROVED = "unproved"

    def __str__(self) -> str:
        return str(self.value)
