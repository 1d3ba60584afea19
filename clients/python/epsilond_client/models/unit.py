from enum import StrEnum


class Unit(StrEnum):
    CLIENT = "client"
    RECORD = "record"

    def __str__(self) -> str:
        return str(self.value)
