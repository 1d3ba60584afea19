from enum import StrEnum


class SimulationRequestKind(StrEnum):
    AUDIT = "audit"
    MEMBERSHIP = "membership"
    PRESET = "preset"
    RISK = "risk"

    def __str__(self) -> str:
        return str(self.value)
