from typing import Literal

Mu2SgdProblemServer = Literal["trusted", "untrusted"]

MU_2_SGD_PROBLEM_SERVER_VALUES: set[Mu2SgdProblemServer] = {
    "trusted",
    "untrusted",
}


def check_mu_2_sgd_problem_server(value: str) -> Mu2SgdProblemServer:
    if value in MU_2_SGD_PROBLEM_SERVER_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {MU_2_SGD_PROBLEM_SERVER_VALUES!r}")
