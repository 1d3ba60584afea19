"""Interface between an algorithm and the witness: a run, its cost, and the excess risk measured during the run."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np

from epsilond.simulators.problems.problem import Floats, SimulatedProblem

AnyRun: TypeAlias = Any
"""A request of an algorithm's `run` class."""


@dataclass(frozen=True)
class Work:
    """Estimated cost of one repetition of a simulated run, known before the start.

    Attributes:
        operations: array entries that numpy computes or draws. One core handles about 1e8 per second.
        calls: calls of numpy, at about 2e5 per second. Repetitions that run together share them.
        bytes: largest memory in use at one time, in bytes.
    """

    operations: float
    calls: float
    bytes: float


@dataclass(frozen=True)
class Curves:
    """Measurements of the repetitions of one simulated run: excess risks, diagnostics, scores and models.

    The excess risk of a model is its expected loss minus the least expected loss.

    Attributes:
        rounds: rounds after which the excess risk was measured; the last entry is the end of the run.
        excess: excess risk of the output that a run of that many rounds has, (repetitions, len(rounds)).
        diagnostics: one number per repetition for each name, for example the largest gradient norm or the fraction of
            clipped gradients.
        scores: scores of each repetition's output on held-out records, by name; empty if the problem holds out none.
        models: output of each repetition, (repetitions, …, d), for d coordinates. For personalised models the clients'
            own models.
    """

    rounds: tuple[int, ...]
    excess: Floats
    diagnostics: Mapping[str, Floats] = field(default_factory=dict)
    scores: Mapping[str, Floats] = field(default_factory=dict)
    models: Floats | None = None


class ExcessCurve:
    """A recorder of the excess risks of all repetitions of one run, after some of its rounds.

    Args:
        problem: learning problem.
        rounds: rounds after which the excess risk is measured, from 1 on.
    """

    def __init__(self, problem: SimulatedProblem, rounds: Sequence[int]) -> None:
        self._problem = problem
        self._rounds = tuple(sorted(rounds))
        self._excess_risks: list[Floats] = []

    def measure(self, number: int, models: Floats) -> None:
        """Measure the excess risk after a round, if the round is one of the measured ones.

        Args:
            number: number of the round, from 1 on; larger than in the call before.
            models: output of each repetition after this round, (repetitions, d).
        """
        if number in self._rounds:
            self._excess_risks.append(nan_to_infinity(self._problem.excess(models)))

    def curves(self, output: Floats, diagnostics: Mapping[str, Floats]) -> Curves:
        """Return the measurements of the finished run, with the scores of its output on held-out records.

        Held-out records are records of the problem that no client trains on.

        Args:
            output: final model of each repetition, (repetitions, d), for d coordinates.
            diagnostics: one number per repetition for each name, for example the largest gradient norm.

        Returns:
            The excess risks with their rounds, the diagnostics, the scores and the final models.
        """
        return Curves(
            rounds=self._rounds,
            excess=np.stack(self._excess_risks, axis=1),
            diagnostics=diagnostics,
            scores=self._problem.scores(output),
            models=output,
        )


def nan_to_infinity(values: Floats) -> Floats:
    """Replace NaN, which the overflow of a diverging run causes, by infinity.

    Args:
        values: numbers of any shape.

    Returns:
        A new array of the same shape.
    """
    return np.where(np.isnan(values), np.inf, values)


@dataclass(frozen=True, kw_only=True)
class SimulatedAlgorithm:
    """An algorithm that can be simulated, as functions of a learning problem and of a run's parameters.

    One repetition is simulated per generator. Repetition i draws only from generator i, and its result does not depend
    on the number of repetitions.

    Attributes:
        name: name of the algorithm, the default of the field `algorithm` of its runs.
        title: short title.
        run: request class with the parameters of a run.
        problems: request classes of the problems that the algorithm supports.
        simulate: function of the problem, the run, one generator per repetition, and the rounds after which the risk is
            measured. The run's last round is among them.
        rounds: function that returns the number of rounds, after a check that the run fits the problem.
        work: function that estimates the cost of one repetition.
        alternatives: function that returns runs to compare with, by name: `non-private`, and the baselines of the
            paper. The noise of the run must be known.
        alternative_names: all names that may occur.
        titles: short title of each alternative.
        planned_alternatives: function that returns runs of the same cost as `alternatives`, for a run of unknown noise.
            None if every name has an alternative, and each costs as much as the run itself.
    """

    name: str
    title: str
    run: type
    problems: tuple[type, ...]
    simulate: Callable[[SimulatedProblem, AnyRun, Sequence[np.random.Generator], tuple[int, ...]], Curves]
    rounds: Callable[[SimulatedProblem, AnyRun], int]
    work: Callable[[SimulatedProblem, AnyRun], Work]
    alternatives: Callable[[AnyRun], Mapping[str, AnyRun]]
    alternative_names: tuple[str, ...] = ("non-private",)
    titles: Mapping[str, str] = field(default_factory=lambda: {"non-private": "same steps, without noise"})
    planned_alternatives: Callable[[AnyRun], Mapping[str, AnyRun]] | None = None

    def costs(self, problem: SimulatedProblem, run: object, wanted: Sequence[str]) -> tuple[Work, ...]:
        """Estimate the computing work of one repetition of a run, and of the runs that it is compared with.

        Args:
            problem: learning problem.
            run: the run; its noise may be unknown.
            wanted: names of the requested alternatives.

        Returns:
            The estimated work of the run, followed by the work of each requested alternative that applies.
        """
        work = self.work(problem, run)
        if self.planned_alternatives is None:  # then each alternative costs as much as the run
            return (work,) * (1 + len(wanted))
        alternatives = self.planned_alternatives(run)
        works_of_alternatives = [self.work(problem, alternatives[name]) for name in alternatives if name in wanted]
        return (work, *works_of_alternatives)
