from enum import StrEnum


class Verdict(StrEnum):
    NO = "no"
    UNDECIDABLE = "undecidable"
    YES = "yes"

    def __str__(self) -> str:
        return str(self.value)
