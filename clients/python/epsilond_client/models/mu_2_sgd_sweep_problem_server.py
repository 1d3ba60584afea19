from typing import Literal

Mu2SgdSweepProblemServer = Literal["trusted", "untrusted"]

MU_2_SGD_SWEEP_PROBLEM_SERVER_VALUES: set[Mu2SgdSweepProblemServer] = {
    "trusted",
    "untrusted",
}


def check_mu_2_sgd_sweep_problem_server(value: str) -> Mu2SgdSweepProblemServer:
    if value in MU_2_SGD_SWEEP_PROBLEM_SERVER_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {MU_2_SGD_SWEEP_PROBLEM_SERVER_VALUES!r}")
