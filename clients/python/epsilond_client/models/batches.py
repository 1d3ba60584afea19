from enum import StrEnum


class Batches(StrEnum):
    CYCLIC = "cyclic"
    SHUFFLED = "shuffled"
    WITHOUT_REPLACEMENT = "without-replacement"

    def __str__(self) -> str:
        return str(self.value)
