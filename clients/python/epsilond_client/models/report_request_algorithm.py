from typing import Literal

ReportRequestAlgorithm = Literal[
    "accelerated-mb-sgd",
    "gaussian",
    "mb-sgd",
    "mu2-sgd",
    "norm-fedavg",
    "one-pass-accelerated-mb-sgd",
    "ppsgd",
    "projected-sgd",
    "qtdl",
    "shuffled-mb-sgd",
]

REPORT_REQUEST_ALGORITHM_VALUES: set[ReportRequestAlgorithm] = {
    "accelerated-mb-sgd",
    "gaussian",
    "mb-sgd",
    "mu2-sgd",
    "norm-fedavg",
    "one-pass-accelerated-mb-sgd",
    "ppsgd",
    "projected-sgd",
    "qtdl",
    "shuffled-mb-sgd",
}


def check_report_request_algorithm(value: str) -> ReportRequestAlgorithm:
    if value in REPORT_REQUEST_ALGORITHM_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {REPORT_REQUEST_ALGORITHM_VALUES!r}")
