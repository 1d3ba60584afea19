"""The printed noise of Theorem 2.1 of Lowy and Razaviyayn for the clients of a test."""

from epsilond.accountants.federation import Federation
from epsilond.accountants.theorems.papers.lowy_razaviyayn.noise import noise_std


def noise_stds(federation: Federation, *, lipschitz: float, rounds: int) -> tuple[float, ...]:
    """Return σ of each group, for the same Lipschitz constant."""
    return tuple(
        noise_std(lipschitz=lipschitz, rounds=rounds, **group.records_and_target) for group in federation.groups
    )
