from enum import StrEnum


class SlotKind(StrEnum):
    GDP = "gdp"
    PURE = "pure"
    RDP = "rdp"
    ZCDP = "zcdp"

    def __str__(self) -> str:
        return str(self.value)
