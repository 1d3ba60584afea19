from typing import Literal

ProjectedSgdSweepProblemRelease = Literal["last", "random-stop", "suffix"]

PROJECTED_SGD_SWEEP_PROBLEM_RELEASE_VALUES: set[ProjectedSgdSweepProblemRelease] = {
    "last",
    "random-stop",
    "suffix",
}


def check_projected_sgd_sweep_problem_release(value: str) -> ProjectedSgdSweepProblemRelease:
    if value in PROJECTED_SGD_SWEEP_PROBLEM_RELEASE_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {PROJECTED_SGD_SWEEP_PROBLEM_RELEASE_VALUES!r}")
