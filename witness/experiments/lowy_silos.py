"""Lowy and Razaviyayn's experiments on handwritten digits and on linear regression, as presets.

A silo is a client with many records. `lowy_silo_grid` has the algorithms and the claims that are compared.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Literal

from epsilond.accountants.theorems.papers.lowy_razaviyayn.experiments import SETTINGS
from epsilond.simulators.problems.data_sets import PAIRS, DataSetProblem
from epsilond.witness.experiment import Axis, Preset
from epsilond.witness.experiments.lowy_printed_noise import loss_lipschitz, twice_the_largest_norm
from epsilond.witness.experiments.lowy_silo_grid import (
    CLASSIFICATION_STEPS,
    ESSENTIALLY_AS_WELL,
    OUTPERFORMS,
    REGRESSION_STEPS,
    Silos,
)

LARGER_EPSILONS, REGRESSION_REPETITIONS = (6.0, 12.0), 50
"""Values of ε beyond the paper's, at which fewer records than the paper's separate the algorithms. Repetitions."""
HELD_OUT = 0.2
"""Fraction of each silo's records that is held out for tests."""
MNIST, INSURANCE = SETTINGS["mnist"], SETTINGS["insurance"]
DIGITS = (
    "The paper has 25 silos of 1238 images of MNIST (50 principal components), one odd and one even digit in each. "
    "Used instead are 25 silos of 54 of scikit-learn's digits (64 pixels), split in the same "
    "way, with a fifth of each held out. Rounds, batch sizes and δ = n⁻² follow its formulas at these sizes. So does "
    "the printed noise for the logistic loss, with the paper's L = 2 max‖x‖. With a twentieth of the records, noise "
    "has more effect at the same ε. The paper's claims on order can be tested here, but its figures cannot. The "
    "protected unit is a record, against a server that sees every message."
)
"""Data in place of the paper's, the same for all experiments on digits."""


LOGISTIC_SOURCE = "Lowy and Razaviyayn 2023, Figures 3 and 6"
SOFTMAX_SOURCE = "Lowy and Razaviyayn 2023, after Figures 3 and 6"
LOGISTIC_STANDS_FOR = (
    "Stand-in for Figures 3 and 6: test error of logistic regression over ε, by how many silos are in a round. It "
    "tests the claims that private mini-batch SGD predicts better than private local SGD, and from ε = 12 on than "
    "local SGD without noise. Figure 5 has silos with identically distributed records: `lowy-mnist` runs it. "
)
SOFTMAX_STANDS_FOR = (
    "Stand-in for Figures 3 and 6 with all ten digits; it corresponds to no single figure. It tests the claims of "
    "these figures (odd against even digits) by softmax regression. The paper prints no noise for it. All silos take "
    "part in each round. "
)


def _digits(loss: Literal["logistic", "softmax"], participants: Sequence[int], epsilons: Sequence[float]) -> Silos:
    """Return the experiment on handwritten digits, which replaces MNIST in Lowy and Razaviyayn's paper of 2023.

    Logistic regression is the paper's task, and softmax regression a variant of it. Models stay in a ball of diameter
    20. The step sizes of the grid are around 4 for the logistic and 2 for the softmax loss, about 1/β for the
    smoothness β.

    Args:
        loss: loss of the regression.
        participants: numbers of silos (clients with many records) that take part in a round, one panel for each.
        epsilons: values of ε.

    Returns:
        The definition of the experiment: its problem, step sizes, measured score, and the paper's claims.
    """
    problem = DataSetProblem(
        data_set="digits",
        loss=loss,
        clients=PAIRS,
        split="odd-even-pairs",
        held_out=HELD_OUT,
        diameter=20.0,
    )
    # The paper prints a noise for the logistic loss, and none for the softmax loss.
    source, stands_in_for, step = LOGISTIC_SOURCE, LOGISTIC_STANDS_FOR, 4.0
    printed_lipschitz: Callable[[DataSetProblem], float] | None = twice_the_largest_norm
    if loss == "softmax":
        source, stands_in_for, step = SOFTMAX_SOURCE, SOFTMAX_STANDS_FOR, 2.0
        printed_lipschitz = None
    return Silos(
        panel=Axis(name="participants", title="silos in a round"),
        problems=dict.fromkeys(participants, problem),
        participants=lambda count: count,
        epsilons=tuple(epsilons),
        largest_printed=max(epsilons),
        rounds=MNIST["rounds"],
        measure="test_error",
        quantity="test error",
        step=step,
        steps=CLASSIFICATION_STEPS,
        printed_lipschitz=printed_lipschitz,
        claims=OUTPERFORMS,
        source=source,
        stands_in_for=stands_in_for + DIGITS,
    )


def _regression(silos: Sequence[int], epsilons: Sequence[float]) -> Silos:
    """Return the experiment on linear regression, with records sorted by their target and split among the silos.

    A silo is a client with many records. Models stay in a ball of diameter 2. The step sizes of the grid are around 1,
    about 1/β for the smoothness β.

    Args:
        silos: numbers of silos, one panel of the figure for each.
        epsilons: the paper's values of ε, to which larger ones are added.

    Returns:
        The definition of the experiment: its problems, step sizes, measured score, and the paper's claims.
    """
    problems = {
        count: DataSetProblem(data_set="diabetes", clients=count, split="by-label", held_out=HELD_OUT, diameter=2.0)
        for count in silos
    }
    return Silos(
        panel=Axis(name="silos", title="silos"),
        problems=problems,
        participants=int,
        epsilons=(*epsilons, *LARGER_EPSILONS),
        largest_printed=max(epsilons),
        rounds=INSURANCE["rounds"],
        measure="test_rrmse",
        quantity="RRMSE",
        step=1.0,
        steps=REGRESSION_STEPS,
        printed_lipschitz=loss_lipschitz,
        claims=ESSENTIALLY_AS_WELL,
        source="Lowy and Razaviyayn 2023, Figures 4, 7 and 8",
        stands_in_for="Stand-in for Figures 4, 7 and 8: relative root mean square error (RRMSE) of linear regression "
        "over ε. It tests the claims that private mini-batch SGD predicts better than private local SGD, and from ε = "
        "2 on as well as local SGD without noise. The paper has 1338 records of medical costs with 7 features. Used "
        "instead are 442 of scikit-learn's diabetes with 10. They are sorted by their target and split in that order "
        "among 3, 5 and 10 silos, with a fifth of each silo's held out. The model is the same. The mean of the "
        "training targets reaches an RRMSE of 1. A silo has a third of the records, so that at small ε a model with "
        "certified noise is hardly better. Therefore two ε follow that are larger than the paper's. The paper tunes a "
        "clipping threshold. Here the loss has a Lipschitz constant on the ball, which replaces the threshold in the "
        "printed noise. The protected unit is a record, against a server that sees every message.",
    )


LOGISTIC = _digits("logistic", sorted(MNIST["participants"]), MNIST["epsilons"]).preset(
    "lowy-logistic", "Odd against even digits: private mini-batch SGD and local SGD", repetitions=MNIST["trials"]
)
SOFTMAX = _digits("softmax", [PAIRS], MNIST["epsilons"]).preset(
    "lowy-softmax", "Ten digits by softmax: private mini-batch SGD and local SGD", repetitions=MNIST["trials"]
)
REGRESSION = _regression((3, 5, 10), INSURANCE["epsilons"]).preset(
    "lowy-regression", "Linear regression: private mini-batch SGD and local SGD", repetitions=REGRESSION_REPETITIONS
)
SHORT = _digits("logistic", [PAIRS], (MNIST["epsilons"][0], MNIST["epsilons"][-1])).preset(
    "lowy-logistic-short", "Odd against even digits at two values of ε: a first look", repetitions=5
)
PRESETS: tuple[Preset, ...] = (LOGISTIC, SOFTMAX, REGRESSION, SHORT)
