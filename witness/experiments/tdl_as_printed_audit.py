"""An attack on the integer noise that Theorem 1 of Das et al. prescribes, which refutes its claimed ε."""

from __future__ import annotations

from epsilond.witness.audits.family import printed_truncated_discrete_laplace
from epsilond.witness.experiment import Axis, Cell, Preset

EPSILONS = (0.5, 1.0, 2.0, 4.0)
SAMPLES_PER_REPETITION = 2000


def cells(repetitions: int, seed: int) -> tuple[Cell, ...]:
    """Return audits of the truncated discrete Laplace noise that Theorem 1 of Das et al. prescribes, one for each ε.

    An audit attacks the noise, and its success proves a lower bound on the true ε. The audits are at values of ε that
    the theorem claims.

    Args:
        repetitions: number of blocks of `SAMPLES_PER_REPETITION` outputs in each audit.
        seed: seed of all randomness.

    Returns:
        One audit for each ε, with its position on the grid.
    """
    samples = SAMPLES_PER_REPETITION * repetitions
    table = []
    for epsilon in EPSILONS:
        audit = printed_truncated_discrete_laplace(epsilon=epsilon, samples=samples, seed=seed)
        table.append(Cell(place={"epsilon": epsilon}, simulation=audit))
    return tuple(table)


PRESET = Preset(
    name="tdl-as-printed-audit",
    title="Truncated discrete Laplace noise as printed: its claim, and the bound proved by an attack",
    summary="attacks the noise that the printed Theorem 1 prescribes, and disproves the ε that it claims"
    f" ({SAMPLES_PER_REPETITION} samples a repetition)",
    source="Das et al., Theorem 1",
    across=Axis(name="epsilon", title="ε that the printed theorem claims (nats)", scale="log"),
    repetitions=100,
    cells=cells,
)
