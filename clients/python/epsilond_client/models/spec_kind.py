from enum import StrEnum


class SpecKind(StrEnum):
    APPROXIMATE = "approximate"
    COMPOSED = "composed"
    DISCRETE_LAPLACE = "discrete_laplace"
    GAUSSIAN = "gaussian"
    LAPLACE = "laplace"
    PROJECTED_SGD = "projected_sgd"
    RANDOMIZED_RESPONSE = "randomized_response"
    REPEATED = "repeated"
    SHUFFLED = "shuffled"
    SUBSAMPLED = "subsampled"
    TRUNCATED_DISCRETE_LAPLACE = "truncated_discrete_laplace"

    def __str__(self) -> str:
        return str(self.value)
