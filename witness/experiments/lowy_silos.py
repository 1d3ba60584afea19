"""Lowy and Razaviyayn's experiments: noisy mini-batch SGD and noisy local SGD, with and without a trusted server.

A silo is a client with n records. Both algorithms compute the same number of gradients in a round: a batch of K records
at once, or E local steps of K/E records each. Every ε, the number R of rounds, δ = n⁻² and K = n√ε/(2√R) are as in
their Appendix H, at the sizes of the data here. The printed noise uses the constant L of that appendix: 2 max‖x‖ for
classification, and the clipping threshold for regression.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from epsilond.accountants.json_types import Fields
from epsilond.accountants.theorems.papers.lowy_razaviyayn.experiments import SETTINGS
from epsilond.simulators.algorithms.local_sgd import LocalSgdRun
from epsilond.simulators.algorithms.mb_sgd import MbSgdRun
from epsilond.simulators.algorithms.shuffled_mb_sgd import ShuffledMbSgdRun
from epsilond.simulators.problems.data_sets import PAIRS, DataSetProblem
from epsilond.witness.cells import CellAnswer
from epsilond.witness.experiment import Axis, Cell, Claimed, Finding, Place, Preset
from epsilond.witness.experiments.lowy_printed_noise import loss_lipschitz, printed_parameters, twice_the_largest_norm
from epsilond.witness.findings import comparison_score, judge_pairs, judge_printed_noise, judge_trend, private_score
from epsilond.witness.risks.answer import Measured
from epsilond.witness.risks.request import RiskSimulation

MINI_BATCH, LOCAL, SHUFFLED, PRINTED = (
    "mini-batch SGD",
    "local SGD",
    "mini-batch SGD, shuffled",
    "mini-batch SGD, printed noise",
)
ARMS = (MINI_BATCH, LOCAL, SHUFFLED, PRINTED)
LOCAL_STEPS = 5
CLASSIFICATION_STEPS = (0.016, 0.08, 0.4, 2.0, 10.0, 50.0, 250.0)
"""Step sizes in units of the problem's own: η of mini-batch SGD, and E times the step of local SGD."""
REGRESSION_STEPS = (0.00064, 0.0032, 0.016, 0.08, 0.4, 2.0, 10.0, 50.0, 250.0)
"""Step sizes of the regression, in the same units. Under much noise the first hardly leave the start, and the last
end anywhere in the ball."""
Setting = tuple[float | int | str, float]
"""A value of the panel's axis, and an ε."""


@dataclass(frozen=True, kw_only=True)
class SilosClaims:
    """Statement of the paper on private mini-batch SGD compared with local SGD without noise."""

    claim_on_local: str
    least_epsilon: float
    """Smallest ε of the statement."""
    as_well: bool
    """True for a statement that private mini-batch SGD is as good, False for one that it is better."""


OUTPERFORMS = SilosClaims(
    claim_on_local="From ε = 12 on, private mini-batch SGD predicts better than local SGD without noise.",
    least_epsilon=12.0,
    as_well=False,
)
"""Statement of Section 5 on MNIST."""
ESSENTIALLY_AS_WELL = SilosClaims(
    claim_on_local="From ε = 2 on, private mini-batch SGD predicts essentially as well as local SGD without noise.",
    least_epsilon=2.0,
    as_well=True,
)
"""Statement of Section 5 on the insurance records. It gives no margin, so that overlapping bands count as equal."""


@dataclass(frozen=True, kw_only=True)
class Silos:
    """One data set, divided among silos, over ε and a second axis: the silos of a round, or the number of silos."""

    panel: Axis
    problems: dict[int, DataSetProblem] = field(hash=False)
    """Data set problem for each value of the second axis."""
    participants: Callable[[int], int]
    epsilons: tuple[float, ...]
    largest_printed: float
    """Largest ε of the paper, for which it prints a noise."""
    rounds: int
    measure: str
    quantity: str
    step: float
    """Unit of the step sizes, about 1/β."""
    steps: tuple[float, ...]
    """Grid of step sizes, in units of `step`."""
    printed_lipschitz: Callable[[DataSetProblem], float] | None
    """Lipschitz constant L that Appendix H puts into the printed noise; None for a loss that it does not treat."""
    claims: SilosClaims
    source: str
    stands_in_for: str

    @property
    def arms(self) -> tuple[str, ...]:
        """Names of the arms; without a printed noise for the loss there is no arm for it."""
        return ARMS if self.printed_lipschitz is not None else ARMS[:-1]

    def cells(self, repetitions: int, seed: int) -> tuple[Cell, ...]:
        """Return the simulations of the experiment: one for each panel, arm, ε and step size.

        An arm is an algorithm with its noise. The arm with the paper's noise has only the values of ε for which the
        paper prints a noise.

        Args:
            repetitions: independent runs of each cell.
            seed: seed of all runs.
        """
        return tuple(
            self._cell(value, arm, epsilon, step, repetitions, seed)
            for value in self.problems
            for arm in self.arms
            for epsilon in self.epsilons
            if arm != PRINTED or epsilon <= self.largest_printed
            for step in self.steps
        )

    def _cell(self, value: int, arm: str, epsilon: float, step: float, repetitions: int, seed: int) -> Cell:
        """Return the simulation of one arm: an algorithm and its noise, at one ε and one step size.

        The paper's own noise is taken as printed, with the ε that it claims. All other noise is calibrated.

        Args:
            value: value of the second axis, the number of silos or of silos in a round.
            arm: one of `arms`.
            epsilon: ε of each record.
            step: step size in units of the problem's own step.
            repetitions: independent runs.
            seed: seed of all runs.
        """
        problem = self.problems[value]
        records = problem.dealt - problem.tested
        delta = records**-2.0
        lipschitz = 1.0 if self.printed_lipschitz is None else self.printed_lipschitz(problem)
        batch, std = printed_parameters(lipschitz, records, self.rounds, epsilon, delta)
        shared: Fields = {"problem": problem, "repetitions": repetitions, "seed": seed, "points": 1}
        run = self._run(arm, self.participants(value), batch, step * self.step, std)
        place: Place = {self.panel.name: value, "arm": arm, "epsilon": epsilon, "step": step}
        if arm == PRINTED:
            simulation = RiskSimulation(run=run, alternatives=(), **shared)
            return Cell(place=place, simulation=simulation, claimed=Claimed(epsilon=epsilon, delta=delta))
        alternatives = ("non-private",) if arm in (MINI_BATCH, LOCAL) else ()
        simulation = RiskSimulation(run=run, epsilon=epsilon, delta=delta, alternatives=alternatives, **shared)
        return Cell(place=place, simulation=simulation)

    def _run(self, arm: str, participants: int, batch: int, step_size: float, printed_std: float) -> Any:
        """Return the settings of a run of one arm.

        It has the paper's noise, or no noise yet if the noise is to be calibrated.

        Args:
            arm: one of `arms`.
            participants: silos in a round.
            batch: records of a silo in a round; local SGD divides them among its steps.
            step_size: step size of a round.
            printed_std: standard deviation σ of the paper's noise.
        """
        shape: Fields = {"rounds": self.rounds, "participants": participants}
        if arm == LOCAL:
            steps = min(LOCAL_STEPS, batch)
            return LocalSgdRun(**shape, local_steps=steps, batch_size=batch // steps, step_size=step_size / steps)
        if arm == SHUFFLED:
            return ShuffledMbSgdRun(**shape, batch_size=batch, step_size=step_size)
        return MbSgdRun(
            **shape, batch_size=batch, step_size=step_size, noise_std=printed_std if arm == PRINTED else None
        )

    def judge(self, cells: Sequence[CellAnswer]) -> tuple[Finding, ...]:
        """Judge each of the paper's claims by the measured scores, in the settings that the claim is about.

        A setting is a panel and an ε. An arm is one algorithm with its noise. Each claim compares two arms at equal
        settings by the confidence bands of their mean scores.

        Args:
            cells: table cells of the experiment, one for each setting and arm.

        Returns:
            One finding for each claim.
        """
        private = self._measurements(cells, MINI_BATCH)
        local = self._measurements(cells, LOCAL)
        noiseless = self._measurements(cells, LOCAL, run="non-private")
        shuffled = self._measurements(cells, SHUFFLED)
        # The comparison with noiseless local SGD is claimed from a least ε on.
        claimed = [setting for setting in private if setting[1] >= self.claims.least_epsilon]
        private_to_local = [(private[setting], local[setting]) for setting in private]
        private_to_noiseless = [(private[setting], noiseless[setting]) for setting in claimed]
        shuffled_to_private = [(shuffled[setting], private[setting]) for setting in private]
        lines = [self._line(private, value) for value in self.problems]
        return (
            judge_pairs(
                "Private mini-batch SGD predicts better than private local SGD at the same ε.",
                private_to_local,
                names=("mini-batch SGD", "local SGD"),
                quantity=self.quantity,
            ),
            judge_pairs(
                self.claims.claim_on_local,
                private_to_noiseless,
                names=("private mini-batch SGD", "local SGD without noise"),
                quantity=self.quantity,
                no_worse=self.claims.as_well,
            ),
            judge_trend("More privacy costs accuracy: the error falls as ε grows.", lines, quantity=self.quantity),
            *self._printed_noise(cells),
            judge_pairs(
                "A shuffler that is trusted in place of the server buys accuracy.",
                shuffled_to_private,
                names=("shuffled mini-batch SGD", "mini-batch SGD without trust"),
                quantity=self.quantity,
            ),
        )

    def _printed_noise(self, cells: Sequence[CellAnswer]) -> tuple[Finding, ...]:
        """Judge the paper's claim on the privacy of its noise; no finding for a loss without printed noise."""
        if self.printed_lipschitz is None:
            return ()
        return (judge_printed_noise(cells, "The printed noise of the experiments is private at the ε on their axes."),)

    def _measurements(self, cells: Sequence[CellAnswer], arm: str, run: str | None = None) -> dict[Setting, Measured]:
        """Return the scores of one arm, by pairs of the panel's value (a number of silos, in all or in a round) and ε.

        Args:
            cells: cells of the experiment.
            arm: one of `arms`.
            run: name of the comparison run to read; None reads the private run.
        """
        read = private_score(self.measure) if run is None else comparison_score(run, self.measure)
        measurements = {}
        for cell in cells:
            score = read(cell)
            if cell.place["arm"] == arm and score is not None:
                measurements[cell.place[self.panel.name], float(cell.place["epsilon"])] = score
        return measurements

    def _line(self, measurements: Mapping[Setting, Measured], value: int) -> list[Measured]:
        """Return the measurements of one panel by ascending ε."""
        return [measurements[value, epsilon] for epsilon in self.epsilons]

    def preset(self, name: str, title: str, *, repetitions: int) -> Preset:
        """Describe the experiment for the list of presets: its title, axes, measure, simulations and judgement.

        Args:
            name: name of the preset.
            title: title of the figure.
            repetitions: default number of independent runs of each cell.

        Returns:
            The experiment as data, from which its simulations, table and figure follow.
        """
        return Preset(
            name=name,
            title=title,
            summary=f"{self.quantity} of mini-batch and local SGD at certified noise, and shuffled"
            + (", and at the printed noise" if PRINTED in self.arms else ""),
            source=self.source,
            stands_in_for=self.stands_in_for,
            across=Axis(name="epsilon", title="ε of each record at δ = n⁻² (printed: claimed)", scale="log"),
            lines=Axis(name="arm", title="noise certified, unless said"),
            panels=self.panel,
            tuned=Axis(name="step", title="step size", scale="log"),
            measure=self.measure,
            repetitions=repetitions,
            cells=self.cells,
            judge=self.judge,
        )


LARGER_EPSILONS, REGRESSION_REPETITIONS = (6.0, 12.0), 50
"""Values of ε beyond the paper's, where a third of its records separates the algorithms, and repetitions."""
HELD_OUT = 0.2
"""Share of each silo's records that is held out."""
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
    """Return the experiment on handwritten digits, which stands in for MNIST in Lowy and Razaviyayn's paper of 2023.

    Logistic regression is the paper's task, and softmax regression a variant of it. Models stay in a ball of diameter
    20. The step sizes of the grid are around 4 for the logistic and 2 for the softmax loss, about 1/β for the
    smoothness β.

    Args:
        loss: loss of the regression.
        participants: numbers of silos that take part in a round, one panel for each.
        epsilons: values of ε.
    """
    problem = DataSetProblem(
        data_set="digits",
        loss=loss,
        clients=PAIRS,
        split="odd-even-pairs",
        held_out=HELD_OUT,
        diameter=20.0,
    )
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
        The settings, measure and claims of the experiment.
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
