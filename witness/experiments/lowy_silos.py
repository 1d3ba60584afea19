"""Lowy and Razaviyayn's experiments: noisy mini-batch SGD against noisy local SGD, with and without trust in a server.

Both spend the same number of gradients in a round: a batch of K records at once, or E local steps of K/E each. Every
ε, round count, δ = n⁻² and K = n√ε/(2√R) is as in their Appendix H, at the sizes of the data here.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from epsilond.accountants.theorems.papers.lowy_razaviyayn.experiments import APPENDIX_H, SETTINGS, ExperimentInputs
from epsilond.simulators.algorithms.local_sgd import LocalSgdRun
from epsilond.simulators.algorithms.mb_sgd import MbSgdRun
from epsilond.simulators.algorithms.shuffled_mb_sgd import ShuffledMbSgdRun
from epsilond.simulators.problems.data_sets import PAIRS, DataSetProblem
from epsilond.witness.cells import CellAnswer
from epsilond.witness.experiment import Axis, Cell, Claimed, Finding, Preset
from epsilond.witness.findings import duel, falling, printed_noise, score, score_beside
from epsilond.witness.risks.answer import Measured
from epsilond.witness.risks.measurement import RiskSimulation

MINI_BATCH, LOCAL, SHUFFLED, PRINTED = (
    "mini-batch SGD",
    "local SGD",
    "mini-batch SGD, shuffled",
    "mini-batch SGD, printed noise",
)
ARMS = (MINI_BATCH, LOCAL, SHUFFLED, PRINTED)
LOCAL_STEPS = 5
STEPS = (0.016, 0.08, 0.4, 2.0, 10.0)
"""Step sizes, times the problem's own: η of mini-batch SGD, and E times that of local SGD."""


@dataclass(frozen=True, kw_only=True)
class Silos:
    """One data set, dealt to silos, over ε and a second axis: the silos of a round, or how many there are."""

    panel: Axis
    problems: dict[int, DataSetProblem] = field(hash=False)
    """By the value of the second axis."""
    participants: Callable[[int], int]
    epsilons: tuple[float, ...]
    rounds: int
    measure: str
    what: str
    step: float
    """The middle of the step sizes that are tried: about 1/β."""
    source: str
    stands_in_for: str

    def cells(self, repetitions: int, seed: int) -> tuple[Cell, ...]:
        """One for each silo count, arm, ε and step size."""
        return tuple(
            self._cell(value, arm, epsilon, step, repetitions, seed)
            for value in self.problems
            for arm in ARMS
            for epsilon in self.epsilons
            for step in STEPS
        )

    def _cell(self, value: int, arm: str, epsilon: float, step: float, repetitions: int, seed: int) -> Cell:
        problem = self.problems[value]
        kept = problem.dealt - problem.tested
        delta = kept**-2.0
        participants, eta = self.participants(value), step * self.step
        batch, std = _printed(_lipschitz(problem), kept, self.rounds, epsilon, delta)
        shape: dict[str, Any] = {"rounds": self.rounds, "participants": participants}
        local = min(LOCAL_STEPS, batch)
        runs: dict[str, Callable[[], Any]] = {
            MINI_BATCH: lambda: MbSgdRun(**shape, batch_size=batch, step_size=eta),
            LOCAL: lambda: LocalSgdRun(**shape, local_steps=local, batch_size=batch // local, step_size=eta / local),
            SHUFFLED: lambda: ShuffledMbSgdRun(**shape, batch_size=batch, step_size=eta),
            PRINTED: lambda: MbSgdRun(**shape, batch_size=batch, step_size=eta, noise_std=std),
        }
        printed = arm == PRINTED
        return Cell(
            place={self.panel.name: value, "arm": arm, "epsilon": epsilon, "step": step},
            simulation=RiskSimulation(
                run=runs[arm](),
                problem=problem,
                epsilon=None if printed else epsilon,
                delta=None if printed else delta,
                repetitions=repetitions,
                seed=seed,
                points=1,
                alternatives=("non-private",) if arm in (MINI_BATCH, LOCAL) else (),
            ),
            claimed=Claimed(epsilon=epsilon, delta=delta) if printed else None,
        )

    def judge(self, cells: Sequence[CellAnswer]) -> tuple[Finding, ...]:
        """The paper's claims, each from the bands of the cells that it speaks of."""
        read = score(self.measure)
        lines = {
            (arm, value): [
                measured
                for cell in cells
                if cell.place["arm"] == arm
                and cell.place[self.panel.name] == value
                and (measured := read(cell)) is not None
            ]
            for arm in ARMS
            for value in self.problems
        }

        def flat(arm: str) -> list[Measured]:
            return [measured for value in self.problems for measured in lines[arm, value]]

        plain = score_beside("non-private", self.measure)
        free = [measured for cell in cells if cell.place["arm"] == LOCAL and (measured := plain(cell)) is not None]
        return (
            duel(
                "Private mini-batch SGD predicts better than private local SGD at the same ε.",
                list(zip(flat(MINI_BATCH), flat(LOCAL), strict=True)),
                names=("mini-batch SGD", "local SGD"),
                what=self.what,
            ),
            duel(
                "Private mini-batch SGD predicts better than local SGD without noise.",
                list(zip(flat(MINI_BATCH), free, strict=True)),
                names=("private mini-batch SGD", "local SGD without noise"),
                what=self.what,
            ),
            falling(
                "More privacy costs accuracy: the error falls as ε grows.",
                [lines[MINI_BATCH, value] for value in self.problems],
                what=self.what,
            ),
            printed_noise(cells, "The printed noise of the experiments is private at the ε on their axes."),
            duel(
                "A shuffler that is trusted in place of the server buys accuracy.",
                list(zip(flat(SHUFFLED), flat(MINI_BATCH), strict=True)),
                names=("shuffled mini-batch SGD", "mini-batch SGD without trust"),
                what=self.what,
            ),
        )

    def preset(self, name: str, title: str, *, repetitions: int) -> Preset:
        """The experiment under a name."""
        return Preset(
            name=name,
            title=title,
            summary=f"{self.what} of mini-batch and local SGD at certified noise, shuffled, and at the printed noise",
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


@lru_cache(maxsize=64)
def _lipschitz(problem: DataSetProblem) -> float:
    return problem.build().constants.lipschitz


def _printed(lipschitz: float, samples: int, rounds: int, epsilon: float, delta: float) -> tuple[int, float]:
    """K and σ of Appendix H."""
    inputs = ExperimentInputs(
        epsilon=epsilon, delta=delta, samples_per_client=samples, rounds=rounds, lipschitz=lipschitz
    )
    found = APPENDIX_H.evaluate(inputs).outputs
    return int(found["batch_size"]), float(found["noise_std"])


HELD_OUT = 0.2
MNIST, INSURANCE = SETTINGS["mnist"], SETTINGS["insurance"]
DIGITS = (
    "No package ships MNIST, of which the paper has 25 silos of 1238 images (50 principal components), one odd and one"
    " even digit in each: here are 25 silos of 54 of scikit-learn's digits (64 pixels), dealt in the same way, a fifth"
    " of each held out. Rounds, batch sizes, δ = n⁻² and the printed noise follow the paper's formulas at these sizes."
    " With a twentieth of the records noise weighs more at the same ε: of the paper's claims those about order can be"
    " tested here, not its figures. Protected is a record, against a server that sees every message."
)
"""What is instead of the paper's data in every one of the digits' experiments."""


def _digits(loss: str, participants: Sequence[int], epsilons: Sequence[float]) -> Silos:
    problem = DataSetProblem(
        data_set="digits",
        loss=loss,  # type: ignore[arg-type]
        clients=PAIRS,
        split="odd-even-pairs",
        held_out=HELD_OUT,
        diameter=20.0,
    )
    own = (
        "Stands for no figure: it asks the questions of Figures 3 to 5 (odd against even digits) of all ten digits by"
        " softmax regression, with all silos in each round. "
        if loss == "softmax"
        else "Stands for Figures 3 to 5: test error of logistic regression over ε, by how many silos are in a round. "
    )
    return Silos(
        panel=Axis(name="participants", title="silos in a round"),
        problems=dict.fromkeys(participants, problem),
        participants=lambda count: count,
        epsilons=tuple(epsilons),
        rounds=MNIST["rounds"],
        measure="test_error",
        what="test error",
        step=4.0 if loss == "logistic" else 2.0,
        source="Lowy and Razaviyayn 2023, " + ("beside Figures 3 to 5" if loss == "softmax" else "Figures 3 to 5"),
        stands_in_for=own + DIGITS,
    )


def _regression(silos: Sequence[int], epsilons: Sequence[float]) -> Silos:
    return Silos(
        panel=Axis(name="silos", title="silos"),
        problems={
            count: DataSetProblem(data_set="diabetes", clients=count, split="by-label", held_out=HELD_OUT, diameter=2.0)
            for count in silos
        },
        participants=lambda count: count,
        epsilons=tuple(epsilons),
        rounds=INSURANCE["rounds"],
        measure="test_rrmse",
        what="RRMSE",
        step=1.0,
        source="Lowy and Razaviyayn 2023, Figures 6 to 8",
        stands_in_for="Stands for Figures 6 to 8: relative root mean square error (RRMSE) of linear regression over ε."
        " No package ships the paper's 1338 records of medical costs with 7 features: here are 442 of scikit-learn's"
        " diabetes with 10, sorted by their target and dealt in that order to 3, 5 and 10 silos, a fifth of each silo's"
        " held out. The model is the same. An RRMSE of 1 is what the mean of the training targets reaches; a silo has"
        " so few records that at small ε certified noise leaves hardly more. Protected is a record, against a server"
        " that sees every message.",
    )


LOGISTIC = _digits("logistic", sorted(MNIST["participants"]), MNIST["epsilons"]).preset(
    "lowy-logistic", "Odd against even digits: private mini-batch SGD and local SGD", repetitions=MNIST["trials"]
)
SOFTMAX = _digits("softmax", [PAIRS], MNIST["epsilons"]).preset(
    "lowy-softmax", "Ten digits by softmax: private mini-batch SGD and local SGD", repetitions=MNIST["trials"]
)
REGRESSION = _regression((3, 5, 10), INSURANCE["epsilons"]).preset(
    "lowy-regression", "Linear regression: private mini-batch SGD and local SGD", repetitions=INSURANCE["trials"]
)
SHORT = _digits("logistic", [PAIRS], (MNIST["epsilons"][0], MNIST["epsilons"][-1])).preset(
    "lowy-logistic-short", "Odd against even digits at two values of ε: a first look", repetitions=5
)
PRESETS: tuple[Preset, ...] = (LOGISTIC, SOFTMAX, REGRESSION, SHORT)
