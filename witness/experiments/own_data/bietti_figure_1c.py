"""Figure 1c of Bietti et al.: linear models of handwritten digits, by 1,000 writers in 20 passes.

The noises of the figure's plots are not in the text. Here are all twelve of Appendix A. `bietti_users` has the choices.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from epsilond.witness.cells import CellAnswer
from epsilond.witness.experiment import Cell, Finding, Preset
from epsilond.witness.experiments.own_data import bietti_users as users
from epsilond.witness.experiments.ppsgd_synthetic import personalization_name
from epsilond.witness.findings import judge_pairs


def cells(repetitions: int, seed: int) -> tuple[Cell, ...]:
    """Return the simulations for Figure 1c of Bietti et al.: one for each noise, personalization and share of rounds.

    Personalization is the weight of the model that all users share.

    Args:
        repetitions: number of trials of each simulation, with different randomness.
        seed: seed of all randomness.

    Returns:
        For each combination of the three values, the values and the simulation.
    """
    return users.figure_cells(users.EMNIST, repetitions, seed)


def judge(answers: Sequence[CellAnswer]) -> tuple[Finding, ...]:
    """Judge the claims that Bietti et al. make in Section 6 about federated EMNIST.

    Personalization is the weight of the model that all users share, between users' own models only and one model for
    all.

    Args:
        answers: results of the experiment, one for each noise multiplier, personalization and share of the rounds.

    Returns:
        For two claims, whether the measured accuracies support them: on users' own models without noise, and on how the
        best personalization changes with the noise.
    """
    last = users.SHARES[-1]
    noiseless = users.select_accuracies(answers, noise_multiplier=0.0, share=last)
    local = personalization_name(users.LOCAL)
    return (
        judge_pairs(
            "Without noise models of one's own only are less accurate than all with a shared model.",
            [(score, noiseless[local]) for name, score in noiseless.items() if name != local],
            names=("those with a shared model", "models of one's own only"),
            quantity=users.QUANTITY,
            lower_is_better=False,
        ),
        users.judge_less_with_noise({"federated EMNIST": users.points_by_noise(users.EMNIST, answers, share=last)}),
    )


PRESET: Final = Preset(
    name="bietti-figure-1c",
    title="PPSGD on digits by writer, linear models: accuracy over the rounds",
    summary="1,000 writers of digits: 9 personalizations at 12 noises, each with the best of 7 steps, in 20 passes",
    source="Bietti et al., Figure 1c and Appendix A",
    stands_in_for="Reproduces Figure 1c on federated EMNIST with its 1,000 users, 20 passes and grids. The clipping "
    "norm of the figure is not in the text; here it is 10. The certified ε is that of the user with most batches, "
    "without a gain from sampling.",
    across=users.SHARE_AXIS,
    lines=users.PERSONALIZATION_AXIS,
    panels=users.NOISE_AXIS,
    measure=users.MEASURE,
    repetitions=users.TRIALS,
    cells=cells,
    data=(users.EMNIST,),
    judge=judge,
)
