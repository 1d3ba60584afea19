from enum import StrEnum


class RepetitionsKind(StrEnum):
    GEOMETRIC = "geometric"
    NEGATIVE_BINOMIAL = "negative-binomial"
    POISSON = "poisson"

    def __str__(self) -> str:
        return str(self.value)
