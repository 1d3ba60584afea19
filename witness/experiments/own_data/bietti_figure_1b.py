"""Figure 1b of Bietti et al.: tags of Stack Overflow predicted from words, by 500 users in one pass.

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
    """Return the simulations for Figure 1b of Bietti et al.: one for each noise, personalization and share of rounds.

    Personalization is the weight of the model that all users share.

    Args:
        repetitions: number of trials of each simulation, with different randomness.
        seed: seed of all randomness.

    Returns:
        For each combination of the three values, the values and the simulation.
    """
    return users.figure_cells(users.STACK_OVERFLOW, repetitions, seed)


def judge(answers: Sequence[CellAnswer]) -> tuple[Finding, ...]:
    """Judge the claims that Bietti et al. make in Section 6 about Stack Overflow.

    Personalization is the weight of the model that all users share, between users' own models only and one model for
    all.

    Args:
        answers: results of the experiment, one for each noise multiplier, personalization and share of the rounds.

    Returns:
        For two claims, whether the measured accuracies support them: on the best personalization without noise, and on
        how the best one changes with the noise.
    """
    last_share = users.SHARES[-1]
    noiseless = users.select_accuracies(answers, noise_multiplier=0.0, share=last_share)
    best = users.find_best_between(noiseless)
    extremes = [noiseless[personalization_name(value)] for value in (users.SHARED, users.LOCAL)]
    points = users.points_by_noise(users.STACK_OVERFLOW, answers, share=last_share)
    return (
        judge_pairs(
            "Without noise a personalization in between is best.",
            [(best, extreme) for extreme in extremes],
            names=("the best in between", "one model for all, and no shared model"),
            quantity=users.QUANTITY,
            lower_is_better=False,
        ),
        users.judge_less_with_noise({"Stack Overflow": points}),
    )


PRESET: Final = Preset(
    name="bietti-figure-1b",
    title="PPSGD on tags of Stack Overflow: accuracy over the rounds",
    summary="500 users predict 80 tags from 5,000 words: 9 personalizations, 12 noises, each with the best of 9 steps",
    source="Bietti et al., Figure 1b and Appendix A",
    stands_in_for="Reproduces Figure 1b on Stack Overflow with its 500 users, 5,000 words, 80 tags and grids. The "
    "clipping norm of the figure is not in the text; here it is 0.01. The certified ε is that of the user with most "
    "batches, without a gain from sampling.",
    across=users.SHARE_AXIS,
    lines=users.PERSONALIZATION_AXIS,
    panels=users.NOISE_AXIS,
    measure=users.MEASURE,
    repetitions=users.TRIALS,
    cells=cells,
    data=(users.STACK_OVERFLOW,),
    judge=judge,
)
