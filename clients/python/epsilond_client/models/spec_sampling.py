from enum import StrEnum


class SpecSampling(StrEnum):
    FULL = "full"
    POISSON = "poisson"
    SHUFFLED_EPOCHS = "shuffled-epochs"
    WITHOUT_REPLACEMENT = "without-replacement"
    WITH_REPLACEMENT = "with-replacement"

    def __str__(self) -> str:
        return str(self.value)
