from enum import StrEnum


class SpecKind(StrEnum):
    APPROXIMATE = "approximate"
    COMPOSED = "composed"
    DISCRETE_GAUSSIAN = "discrete_gaussian"
    DISCRETE_LAPLACE = "discrete_laplace"
    EXPONENTIAL = "exponential"
    GAUSSIAN = "gaussian"
    GAUSSIAN_MIXTURE = "gaussian_mixture"
    LAPLACE = "laplace"
    PERMUTE_AND_FLIP = "permute_and_flip"
    POISSON_BINOMIAL = "poisson_binomial"
    PROFILE = "profile"
    PROJECTED_SGD = "projected_sgd"
    RANDOMIZED_RESPONSE = "randomized_response"
    RANDOM_ALLOCATION = "random_allocation"
    RDP = "rdp"
    REPEATED = "repeated"
    REPORT_NOISY_MAX = "report_noisy_max"
    SELECT_BEST = "select_best"
    SHUFFLED = "shuffled"
    SKELLAM = "skellam"
    SPARSE_VECTOR = "sparse_vector"
    SUBSAMPLED = "subsampled"
    TRUNCATED_DISCRETE_LAPLACE = "truncated_discrete_laplace"
    ZCDP = "zcdp"

    def __str__(self) -> str:
        return str(self.value)
