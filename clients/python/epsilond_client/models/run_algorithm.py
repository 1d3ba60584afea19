from enum import StrEnum


class RunAlgorithm(StrEnum):
    ACCELERATED_MB_SGD = "accelerated-mb-sgd"
    FEDAVG = "fedavg"
    GRID_FEDAVG = "grid-fedavg"
    LOCAL_SGD = "local-sgd"
    MB_SGD = "mb-sgd"
    MU2_SGD = "mu2-sgd"
    NORM_FEDAVG = "norm-fedavg"
    ONE_PASS_ACCELERATED_MB_SGD = "one-pass-accelerated-mb-sgd"
    PPSGD = "ppsgd"
    PROJECTED_SGD = "projected-sgd"
    SHUFFLED_MB_SGD = "shuffled-mb-sgd"

    def __str__(self) -> str:
        return str(self.value)
