from enum import StrEnum


class Grade(StrEnum):
    MISPRINT = "misprint"
    PROVED_WRONG = "proved-wrong"
    REFINEMENT = "refinement"
    UNCLEAR = "unclear"
    WITHDRAWN = "withdrawn"

    def __str__(self) -> str:
        return str(self.value)
