from enum import StrEnum


class Definition(StrEnum):
    CENTRAL = "central"
    JOINT = "joint"
    LOCAL = "local"
    SHUFFLE = "shuffle"

    def __str__(self) -> str:
        return str(self.value)
