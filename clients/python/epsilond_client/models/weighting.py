from enum import StrEnum


class Weighting(StrEnum):
    CLIENTS = "clients"
    SAMPLES = "samples"

    def __str__(self) -> str:
        return str(self.value)
