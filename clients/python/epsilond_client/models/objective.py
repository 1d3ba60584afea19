from enum import StrEnum


class Objective(StrEnum):
    EMPIRICAL = "empirical"
    PERSONALIZED = "personalized"
    POPULATION = "population"

    def __str__(self) -> str:
        return str(self.value)
