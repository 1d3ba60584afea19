from typing import Literal

ProjectedSgdRunRelease = Literal["last", "random-stop", "suffix"]

PROJECTED_SGD_RUN_RELEASE_VALUES: set[ProjectedSgdRunRelease] = {
    "last",
    "random-stop",
    "suffix",
}


def check_projected_sgd_run_release(value: str) -> ProjectedSgdRunRelease:
    if value in PROJECTED_SGD_RUN_RELEASE_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {PROJECTED_SGD_RUN_RELEASE_VALUES!r}")
