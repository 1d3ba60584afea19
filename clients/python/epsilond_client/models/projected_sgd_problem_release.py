from typing import Literal

ProjectedSgdProblemRelease = Literal["last", "random-stop", "suffix"]

PROJECTED_SGD_PROBLEM_RELEASE_VALUES: set[ProjectedSgdProblemRelease] = {
    "last",
    "random-stop",
    "suffix",
}


def check_projected_sgd_problem_release(value: str) -> ProjectedSgdProblemRelease:
    if value in PROJECTED_SGD_PROBLEM_RELEASE_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {PROJECTED_SGD_PROBLEM_RELEASE_VALUES!r}")
