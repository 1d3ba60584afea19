from enum import StrEnum


class QtdlMethod(StrEnum):
    CONCENTRATED = "concentrated"
    CONCENTRATED_COUPLED = "concentrated-coupled"
    ESCAPE = "escape"
    HOCKEY_STICK = "hockey-stick"

    def __str__(self) -> str:
        return str(self.value)
