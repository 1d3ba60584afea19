from enum import StrEnum


class Release(StrEnum):
    LAST = "last"
    RANDOM_STOP = "random-stop"
    SUFFIX = "suffix"

    def __str__(self) -> str:
        return str(self.value)
