from enum import StrEnum


class Sampling(StrEnum):
    FULL = "full"
    POISSON = "poisson"
    WITHOUT_REPLACEMENT = "without-replacement"
    WITH_REPLACEMENT = "with-replacement"

    def __str__(self) -> str:
        return str(self.value)
