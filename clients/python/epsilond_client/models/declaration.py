from enum import StrEnum


class Declaration(StrEnum):
    FUNCTIONS_OF_RELEASES = "functions-of-releases"
    INDEPENDENT_OF_OUTPUTS = "independent-of-outputs"
    MISSING_ENTRIES_ARE_ACCOUNTED_FOR = "missing-entries-are-accounted-for"
    NO_OUTPUT_OBSERVED = "no-output-observed"

    def __str__(self) -> str:
        return str(self.value)
