from typing import Literal

ProjectedSgdRelease = Literal["last", "random-stop", "suffix"]

PROJECTED_SGD_RELEASE_VALUES: set[ProjectedSgdRelease] = {
    "last",
    "random-stop",
    "suffix",
}


def check_projected_sgd_release(value: str) -> ProjectedSgdRelease:
    if value in PROJECTED_SGD_RELEASE_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {PROJECTED_SGD_RELEASE_VALUES!r}")
