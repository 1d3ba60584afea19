"""Lowy and Razaviyayn's experiments: noisy mini-batch SGD and noisy local SGD, with and without a trusted server.

A silo is a client with n records. Both algorithms compute the same number of gradients in a round: a batch of K records
at once, or E local steps of K/E records each. Every ε, the number R of rounds, δ = n⁻² and K = n√ε/(2√R) are as in
their Appendix H, at the sizes of the data here. The printed noise uses the constant L of that appendix: 2 max‖x‖ for
classification, and the clipping threshold for regression.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from typing import Any

from epsilond.accountants.json_types import Fields
from epsilond.simulators.algorithms.local_sgd import LocalSgdRun
from epsilond.simulators.algorithms.mb_sgd import MbSgdRun
from epsilond.simulators.algorithms.shuffled_mb_sgd import ShuffledMbSgdRun
from epsilond.simulators.problems.data_sets import DataSetProblem
from epsilond.witness.cells import CellAnswer
from epsilond.witness.experiment import Axis, Cell, Claimed, Finding, Place, Preset
from epsilond.witness.experiments.lowy_printed_noise import printed_parameters
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
    """A claim of Lowy and Razaviyayn that private mini-batch SGD competes with local SGD without noise.

    Attributes:
        claim_on_local: the claim in words.
        least_epsilon: smallest ε for which the paper makes the claim.
        is_no_worse: whether private mini-batch SGD is only claimed to be as good. If False, it is claimed to be better.
    """

    claim_on_local: str
    least_epsilon: float
    is_no_worse: bool


OUTPERFORMS = SilosClaims(
    claim_on_local="From ε = 12 on, private mini-batch SGD predicts better than local SGD without noise.",
    least_epsilon=12.0,
    is_no_worse=False,
)
"""Statement of Section 5 on MNIST."""
ESSENTIALLY_AS_WELL = SilosClaims(
    claim_on_local="From ε = 2 on, private mini-batch SGD predicts essentially as well as local SGD without noise.",
    least_epsilon=2.0,
    is_no_worse=True,
)
"""Statement of Section 5 on the insurance records. It gives no margin, so that overlapping bands count as equal."""


@dataclass(frozen=True, kw_only=True)
class Silos:
    """One data set, divided among silos (clients with many records), over ε and a second axis.

    The second axis is the number of silos in a round, or the number of all silos. It has one panel of the figure for
    each value.

    Attributes:
        panel: the second axis.
        problems: data set problem for each value of the second axis.
        participants: function from a value of the second axis to the number of silos in a round.
        epsilons: values of ε for each record.
        largest_printed: largest ε of the paper, for which it prints a noise.
        rounds: number of communication rounds.
        measure: name of the measured score.
        quantity: the score in words.
        step: unit of the step sizes, about 1/β for the smoothness β of the loss.
        steps: grid of step sizes, in units of `step`.
        printed_lipschitz: function from a problem to the Lipschitz constant L that Appendix H puts into the printed
            noise; None for a loss that it does not treat.
        claims: statement of the paper that is judged.
        source: the paper's figures.
        stands_in_for: the paper's data, and those used in place of them.
    """

    panel: Axis
    problems: dict[int, DataSetProblem] = field(hash=False)
    participants: Callable[[int], int]
    epsilons: tuple[float, ...]
    largest_printed: float
    rounds: int
    measure: str
    quantity: str
    step: float
    steps: tuple[float, ...]
    printed_lipschitz: Callable[[DataSetProblem], float] | None
    claims: SilosClaims
    source: str
    stands_in_for: str

    @property
    def arms(self) -> tuple[str, ...]:
        """Names of the arms (algorithms with their noise). Without a printed noise for the loss, it has no arm."""
        return ARMS if self.printed_lipschitz is not None else ARMS[:-1]

    def cells(self, repetitions: int, seed: int) -> tuple[Cell, ...]:
        """Return the simulations of the experiment: one for each value of the second axis, arm, ε and step size.

        An arm is an algorithm with its noise. The arm with the paper's noise has only the values of ε for which the
        paper prints a noise.

        Args:
            repetitions: independent runs of each simulation.
            seed: seed of all runs.

        Returns:
            The simulations, each with its position on the grid.
        """
        cells = []
        for value, arm, epsilon in product(self.problems, self.arms, self.epsilons):
            is_simulated = arm != PRINTED or epsilon <= self.largest_printed
            if is_simulated:
                cells += [self._make_cell(value, arm, epsilon, step, repetitions, seed) for step in self.steps]
        return tuple(cells)

    def _make_cell(self, value: int, arm: str, epsilon: float, step: float, repetitions: int, seed: int) -> Cell:
        """Return the simulation of one algorithm with its noise, at one ε and one step size.

        The paper's own noise is taken as printed, with the ε that it claims. All other noise is calibrated.

        Args:
            value: value of the second axis, the number of silos or of silos in a round.
            arm: name of the algorithm with its noise, one of `arms`.
            epsilon: ε of each record.
            step: step size in units of the problem's own step.
            repetitions: independent runs.
            seed: seed of all runs.

        Returns:
            The simulation with its position on the grid, and with the paper's claim for the printed noise.
        """
        # δ, the batch size and the printed noise follow the paper's formulas, with n training records of a silo.
        problem = self.problems[value]
        records = problem.dealt - problem.tested
        delta = records**-2.0
        lipschitz = 1.0 if self.printed_lipschitz is None else self.printed_lipschitz(problem)
        batch, printed_std = printed_parameters(lipschitz, records, self.rounds, epsilon, delta)

        run = self._make_run(arm, self.participants(value), batch, step * self.step, printed_std)
        place: Place = {self.panel.name: value, "arm": arm, "epsilon": epsilon, "step": step}
        shared: Fields = {"problem": problem, "repetitions": repetitions, "seed": seed, "points": 1}
        if arm == PRINTED:
            simulation = RiskSimulation(run=run, alternatives=(), **shared)
            return Cell(place=place, simulation=simulation, claimed=Claimed(epsilon=epsilon, delta=delta))

        # The two algorithms of the paper also run without noise, for comparison.
        alternatives = ("non-private",) if arm in (MINI_BATCH, LOCAL) else ()
        simulation = RiskSimulation(run=run, epsilon=epsilon, delta=delta, alternatives=alternatives, **shared)
        return Cell(place=place, simulation=simulation)

    def _make_run(self, arm: str, participants: int, batch: int, step_size: float, printed_std: float) -> Any:
        """Return the parameters of a training by one algorithm.

        Only the arm with the printed noise has a given noise. That of the other arms is calibrated later.

        Args:
            arm: name of the algorithm with its noise, one of `arms`.
            participants: silos in a round.
            batch: records of a silo in a round; local SGD divides them among its steps.
            step_size: step size of a round; local SGD divides it among its steps, too.
            printed_std: standard deviation σ of the paper's noise.

        Returns:
            The algorithm with its parameters.
        """
        shape: Fields = {"rounds": self.rounds, "participants": participants}
        if arm == LOCAL:
            # The records of a round are divided evenly among the local steps, and so is the step size.
            steps = min(LOCAL_STEPS, batch)
            return LocalSgdRun(**shape, local_steps=steps, batch_size=batch // steps, step_size=step_size / steps)
        if arm == SHUFFLED:
            return ShuffledMbSgdRun(**shape, batch_size=batch, step_size=step_size)
        noise_std = printed_std if arm == PRINTED else None
        return MbSgdRun(**shape, batch_size=batch, step_size=step_size, noise_std=noise_std)

    def judge(self, cells: Sequence[CellAnswer]) -> tuple[Finding, ...]:
        """Judge the claims of Lowy and Razaviyayn on private mini-batch and local SGD by the measured scores.

        A setting is a panel and an ε. An arm is one algorithm with its noise. Each claim compares two arms at equal
        settings by the confidence bands of their mean scores.

        Args:
            cells: results of the experiment, one for each setting and arm.

        Returns:
            For each claim a verdict, such as confirmed or refuted, and the measured numbers in words.
        """
        private = self._measurements(cells, MINI_BATCH)
        local = self._measurements(cells, LOCAL)
        noiseless = self._measurements(cells, LOCAL, run="non-private")
        shuffled = self._measurements(cells, SHUFFLED)

        # Pair the scores of two arms at equal settings. The claim about local SGD without noise has a least ε.
        private_to_local = [(private[setting], local[setting]) for setting in private]
        private_to_noiseless = []
        for value, epsilon in private:
            if epsilon >= self.claims.least_epsilon:
                private_to_noiseless.append((private[value, epsilon], noiseless[value, epsilon]))
        shuffled_to_private = [(shuffled[setting], private[setting]) for setting in private]
        lines = [self._line_of_panel(private, value) for value in self.problems]
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
                no_worse=self.claims.is_no_worse,
            ),
            judge_trend("More privacy costs accuracy: the error falls as ε grows.", lines, quantity=self.quantity),
            *self._judge_printed_noise(cells),
            judge_pairs(
                "A shuffler that is trusted in place of the server buys accuracy.",
                shuffled_to_private,
                names=("shuffled mini-batch SGD", "mini-batch SGD without trust"),
                quantity=self.quantity,
            ),
        )

    def _judge_printed_noise(self, cells: Sequence[CellAnswer]) -> tuple[Finding, ...]:
        """Judge the paper's claim about the privacy of its noise. A loss without printed noise has no finding."""
        if self.printed_lipschitz is None:
            return ()
        return (judge_printed_noise(cells, "The printed noise of the experiments is private at the ε on their axes."),)

    def _measurements(self, cells: Sequence[CellAnswer], arm: str, run: str | None = None) -> dict[Setting, Measured]:
        """Return the measured scores of one algorithm with its noise, by the value of the second axis and ε.

        Args:
            cells: results of the experiment's simulations, with their positions on the grid.
            arm: name of the algorithm with its noise, one of `arms`.
            run: name of the comparison run to read; None reads the private run.

        Returns:
            Mean scores with their confidence bands.
        """
        read_score = private_score(self.measure) if run is None else comparison_score(run, self.measure)
        measurements = {}
        for cell in cells:
            score = read_score(cell)
            if cell.place["arm"] == arm and score is not None:
                measurements[cell.place[self.panel.name], float(cell.place["epsilon"])] = score
        return measurements

    def _line_of_panel(self, measurements: Mapping[Setting, Measured], value: int) -> list[Measured]:
        """Return the measured scores of one panel of the figure, by ascending ε."""
        return [measurements[value, epsilon] for epsilon in self.epsilons]

    def preset(self, name: str, title: str, *, repetitions: int) -> Preset:
        """Describe the experiment for the list of presets: its title, axes, measure, simulations and judgement.

        The noise of a line is the least that is proved to satisfy the privacy target (certified), or that of the
        paper's formula (printed).

        Args:
            name: name of the preset.
            title: title of the figure.
            repetitions: default number of independent runs of each simulation.

        Returns:
            The experiment as data, from which its simulations, table and figure follow.
        """
        summary = f"{self.quantity} of mini-batch and local SGD at certified noise, and shuffled"
        if PRINTED in self.arms:
            summary += ", and at the printed noise"
        return Preset(
            name=name,
            title=title,
            summary=summary,
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
