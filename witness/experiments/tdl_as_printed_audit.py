"""An attack on the integer noise that Theorem 1 of Das et al. prescribes, which refutes its claimed ε."""

from __future__ import annotations

from epsilond.witness.audits.family import printed_truncated_discrete_laplace
from epsilond.witness.experiment import Axis, Cell, Preset

EPSILONS = (0.5, 1.0, 2.0, 4.0)
SAMPLES_PER_REPETITION = 2000


def cells(repetitions: int, seed: int) -> tuple[Cell, ...]:
    """Return audits of the truncated discrete Laplace noise that Theorem 1 of Das et al. prescribes, one for each ε.

    An audit attacks the noise. Its success proves a lower bound on the true ε, which is compared with the ε that the
    theorem claims.

    Args:
        repetitions: number of times that `SAMPLES_PER_REPETITION` outputs are drawn on each data set of an audit.
        seed: seed of all randomness.
    """
    samples = SAMPLES_PER_REPETITION * repetitions
    audits = []
    for epsilon in EPSILONS:
        audit = printed_truncated_discrete_laplace(epsilon=epsilon, samples=samples, seed=seed)
        audits.append(Cell(place={"epsilon": epsilon}, simulation=audit))
    return tuple(audits)


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
