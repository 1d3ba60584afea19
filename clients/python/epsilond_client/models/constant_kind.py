from enum import StrEnum


class ConstantKind(StrEnum):
    EXPLICIT = "explicit"
    HIDDEN = "hidden"

    def __str__(self) -> str:
        return str(self.value)
