from enum import StrEnum


class RankBy(StrEnum):
    BITS = "bits"
    NOISE = "noise"
    RISK = "risk"
    ROUNDS = "rounds"
    SIGNAL = "signal"

    def __str__(self) -> str:
        return str(self.value)
