from typing import Literal

PrintedReadingReading = Literal[
    "complete", "corrected", "experimental", "informal", "lipschitz", "proof", "smooth", "statement", "strongly-convex"
]

PRINTED_READING_READING_VALUES: set[PrintedReadingReading] = {
    "complete",
    "corrected",
    "experimental",
    "informal",
    "lipschitz",
    "proof",
    "smooth",
    "statement",
    "strongly-convex",
}


def check_printed_reading_reading(value: str) -> PrintedReadingReading:
    if value in PRINTED_READING_READING_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {PRINTED_READING_READING_VALUES!r}")
