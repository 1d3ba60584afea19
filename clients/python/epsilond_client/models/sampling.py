from typing import Literal

Sampling = Literal["full", "poisson", "with-replacement", "without-replacement"]

SAMPLING_VALUES: set[Sampling] = {
    "full",
    "poisson",
    "with-replacement",
    "without-replacement",
}


def check_sampling(value: str) -> Sampling:
    if value in SAMPLING_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {SAMPLING_VALUES!r}")
